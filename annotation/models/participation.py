"""Study links, and the people who came by one."""

import uuid
from datetime import date, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .people import new_token
from .projects import Project, Rater


class StudyLink(models.Model):
    """A link by which people join a project as annotators, without an account or with theirs, until its places are
    taken."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="study_links")
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    token = models.CharField(max_length=64, unique=True, default=new_token)
    title = models.CharField(max_length=200)
    places = models.PositiveIntegerField()
    # Counted by the statement that takes a place, so that no more get in than there are, however many ask at once.
    places_used = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    group = models.CharField(max_length=200, blank=True)  # of the raters who come by it
    most_items = models.PositiveIntegerField(null=True)  # that one person gets; null: as many as there are
    minutes = models.PositiveIntegerField(null=True)  # that one person has; null: no limit
    panel = models.CharField(max_length=20, blank=True)  # a name in annotation.participation.panels; empty: none
    # Where the panel leaves them to the link: the names of its URL parameters, by what they hold.
    parameters = models.JSONField(default=dict, blank=True)
    # With which the panel signs its URLs, so it is kept as it is; shown to nobody.
    signing_key = models.CharField(max_length=200, blank=True)
    # What participants take back to the panel: a code or a URL, by how their participation ended.
    endings = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(places_used__lte=F("places")), name="no_more_people_than_places")
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def last_day(self) -> date | None:
        """The day after which nobody can join."""
        return self.expires_at and timezone.localdate(self.expires_at - timedelta(seconds=1))


class Participation(models.Model):
    """That a person came into a project by a study link, once per project, and how it ended."""

    class State(models.TextChoices):
        ACTIVE = "active"
        COMPLETE = "complete"
        SCREENED_OUT = "screened-out", "Screened out"
        FAILED = "failed", "Failed checks"
        RETURNED = "returned"
        TIMED_OUT = "timed-out", "Timed out"
        WITHDRAWN = "withdrawn", "Withdrew consent"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="participations")
    link = models.ForeignKey(StudyLink, on_delete=models.CASCADE, related_name="participations")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="participations")
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Of the code that signs in who has no password; the code itself is shown once. Empty: the account has other ways.
    return_digest = models.CharField(max_length=64, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(null=True)  # when the time is up that the link gave them; null: no limit
    state = models.CharField(max_length=12, choices=State.choices, default=State.ACTIVE)
    ended_at = models.DateTimeField(null=True)
    # What a panel calls the person, its study and the visit. They stay here: no export and no release has them.
    panel_participant = models.CharField(max_length=200, blank=True)
    panel_study = models.CharField(max_length=200, blank=True)
    panel_session = models.CharField(max_length=200, blank=True)
    is_test = models.BooleanField(default=False)  # a researcher who plays a participant

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="participation_once_per_project"),
            models.UniqueConstraint(
                fields=["return_digest"], condition=~Q(return_digest=""), name="return_code_of_one_person"
            ),
            models.UniqueConstraint(
                fields=["project", "panel_participant"],
                condition=~Q(panel_participant=""),
                name="panel_participant_once_per_project",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} by {self.link}"


class ConsentForm(models.Model):
    """A version of what people consent to. The newest one is asked for; an empty one asks for nothing."""

    class OnWithdrawal(models.TextChoices):
        KEEP = "keep", _("Answers are kept under a pseudonym")
        REMOVE = "remove", _("Answers are left out of all figures, exports and releases made afterwards")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="consent_forms")
    version = models.PositiveIntegerField()
    markdown = models.TextField(blank=True)
    on_withdrawal = models.CharField(max_length=10, choices=OnWithdrawal.choices)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "version"], name="consent_version_once")]

    def __str__(self) -> str:
        return f"{self.project}, consent form {self.version}"


class Consent(models.Model):
    """That a person consented to a version."""

    form = models.ForeignKey(ConsentForm, on_delete=models.CASCADE, related_name="consents")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="consents")
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["form", "rater"], name="consent_once_per_version")]

    def __str__(self) -> str:
        return f"{self.rater} to {self.form}"


class ConsentWithdrawal(models.Model):
    """That a person withdrew their consent, or a researcher did so for them. It stays."""

    rater = models.OneToOneField(Rater, on_delete=models.CASCADE, related_name="withdrawal")
    on_withdrawal = models.CharField(max_length=10, choices=ConsentForm.OnWithdrawal.choices)  # as was promised
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    # When the person was given the items whose places went to others, in seconds since 1970: hours count from these.
    given_at = models.JSONField(default=list, db_default=[])

    def __str__(self) -> str:
        return f"{self.rater}, {self.on_withdrawal}"


class Questionnaire(models.Model):
    """A version of the questions that people answer about themselves. The newest one of each moment is asked."""

    class Moment(models.TextChoices):
        SCREENING = "screening", "Before the first item"
        CLOSING = "closing", "After the last item"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="questionnaires")
    moment = models.CharField(max_length=10, choices=Moment.choices)
    version = models.PositiveIntegerField()  # 1, 2, ... of the moment
    label_set = models.CharField(max_length=80, blank=True)  # TaskType.identifier; empty: nobody is asked any more
    screens_out = models.JSONField(default=dict, blank=True)  # {question: labels; one of them ends the participation}
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "moment", "version"], name="questionnaire_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.project}, {self.moment} {self.version}"


class QuestionnaireAnswer(models.Model):
    """What a person answered, once per moment."""

    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT, related_name="answers")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="questionnaire_answers")
    moment = models.CharField(max_length=10, choices=Questionnaire.Moment.choices)  # the questionnaire's
    answers = models.JSONField(default=dict)  # {question: answer, written as `Dimension.answer_of` does}
    is_screened_out = models.BooleanField(default=False)
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rater", "moment"], name="questionnaire_answered_once")]

    def __str__(self) -> str:
        return f"{self.rater}, {self.moment}"
