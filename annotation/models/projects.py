"""Projects, who works in them, and the raters whose labels they hold."""

import secrets
import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.task_types import TaskType, UnknownTaskTypeError, configured, look_up_in, task_type

from .content import Dataset


class Project(models.Model):
    class State(models.TextChoices):
        PREPARING = "preparing", _("Preparing")  # items are still being made
        OPEN = "open", pgettext_lazy("state", "Open")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    class Prefill(models.TextChoices):
        OFF = "off", "Off: annotators never see suggestions"
        SHOWN = "shown", "Shown: beside the empty form"
        AFTER = "after", "Shown after the first answer, which is kept"
        DRAWN = "drawn", "A trial: one of these, drawn for each item and annotator"

    # What may become of the suggestions on one answer.
    ARMS = Prefill.choices[:3]

    class Order(models.TextChoices):
        RANDOM = "random", _("Random, by the seed")
        FILE = "file", _("As in the file")

    class Further(models.TextChoices):
        OFF = "off", "No"
        TIED = "tied", "Where no label leads"
        DIFFER = "differ", "Wherever answers differ"
        UNCERTAIN = "uncertain", "Where the label is not certain"

    class CheckAction(models.TextChoices):
        NOTHING = "none", "Nothing: the results are listed"
        WARN = "warn", "Warn the person"
        PAUSE = "pause", "Pause the person, and give their open work to others"
        ASK = "ask", "Ask the researchers: the person goes on until they decide"

    class AtLastDay(models.TextChoices):
        NOTHING = "none", "Nothing: annotators see that it is over"
        PAUSE = "pause", "Pause the project"
        CLOSE = "close", "Close the project"

    class PayPer(models.TextChoices):
        ITEM = "item", "Item that was answered"
        HOUR = "hour", "Hour of work"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="projects")
    task_type = models.CharField(max_length=80)  # TaskType.identifier: slug/variant/version
    # The set whose pieces it judges, from its making on; empty: the unnamed one, or it judges no pieces.
    piece_set = models.CharField(max_length=80, blank=True, default="", db_default="")
    # What this project changes about it (task_types/options.py), and the number of that version; 0: nothing, so far.
    options = models.JSONField(default=dict, blank=True)
    options_version = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PREPARING)
    overlap = models.PositiveSmallIntegerField(default=2)  # judgements per item; 0: nobody annotates here
    # Share of items that get `overlap` judgements; the others get `other_overlap`, if that is less.
    multiple_share = models.FloatField(default=1.0)
    other_overlap = models.PositiveSmallIntegerField(default=1, db_default=1)
    # Where a further judgement of an item is asked for (annotation.work.further), on which questions (short names
    # between commas; empty: all), up to how many of an item and of the project (0: no limit).
    further = models.CharField(max_length=10, choices=Further.choices, default=Further.OFF, db_default=Further.OFF)
    further_percent = models.PositiveSmallIntegerField(default=95, db_default=95)  # from which on a label is certain
    further_questions = models.CharField(max_length=400, blank=True, default="", db_default="")
    further_most = models.PositiveSmallIntegerField(default=3, db_default=3)
    further_budget = models.PositiveIntegerField(default=0, db_default=0)
    order = models.CharField(max_length=10, choices=Order.choices, default=Order.RANDOM)
    seed = models.BigIntegerField(default=0)
    prefill = models.CharField(max_length=10, choices=Prefill.choices, default=Prefill.OFF)
    # Where it is drawn, the shares of the arms; the rest sees no suggestions (annotation.projects.prefill).
    prefill_shown_percent = models.PositiveSmallIntegerField(default=50, db_default=50)
    prefill_after_percent = models.PositiveSmallIntegerField(default=0, db_default=0)
    prefill_run = models.ForeignKey(
        "annotation.CheckerRun", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # Whether annotators are shown what was decided of items that they have answered.
    shows_decisions = models.BooleanField(default=False, db_default=False)
    # What annotators are shown of their own work: how often decisions agree with them, and their pay.
    shows_agreement = models.BooleanField(default=False, db_default=False)
    shows_pay = models.BooleanField(default=False, db_default=False)
    lease_minutes = models.PositiveIntegerField(default=60)
    items_ahead = models.PositiveSmallIntegerField(
        default=1, db_default=1
    )  # fetched by a browser before they are needed
    minimum_seconds = models.PositiveIntegerField(default=0)
    # What a person goes through here in addition to work, as named in annotation.participation.steps: a project without
    # it asks no questions about it.
    study_steps = models.JSONField(default=list, blank=True, db_default=[])
    # Whether items are reserved for people or groups, or kept from people (annotation.work.reserving).
    reserves_items = models.BooleanField(default=False, db_default=False)
    # How many items a person and a group may have (annotation.projects.limits.quotas); 0 and empty: no limit.
    person_most_items = models.PositiveIntegerField(default=0, db_default=0)
    person_most_percent = models.PositiveSmallIntegerField(default=0, db_default=0)
    group_quotas = models.TextField(blank=True, default="", db_default="")
    # Until when people label, and what becomes of the project then (annotation.projects.limits.last_day).
    last_day = models.DateField(null=True, blank=True)
    at_last_day = models.CharField(
        max_length=5, choices=AtLastDay.choices, default=AtLastDay.PAUSE, db_default=AtLastDay.PAUSE.value
    )
    # Whether members learn first: it has items for training or qualification (annotation.work.learning).
    has_learning = models.BooleanField(default=False, db_default=False, editable=False)
    pass_percent = models.PositiveSmallIntegerField(default=80, db_default=80)  # of right answers in qualification
    qualification_tries = models.PositiveSmallIntegerField(default=2, db_default=2)
    shows_keys = models.BooleanField(default=True, db_default=True)  # in qualification; training always does
    check_every = models.PositiveIntegerField(default=0, db_default=0)  # one check in so many items; 0: none
    check_action = models.CharField(
        max_length=6, choices=CheckAction.choices, default=CheckAction.NOTHING, db_default=CheckAction.NOTHING.value
    )
    check_failures = models.PositiveSmallIntegerField(default=2, db_default=2)
    check_window = models.PositiveSmallIntegerField(default=5, db_default=5)
    # What people are paid (analysis.progress.pay), and which time between two moments of theirs is a pause.
    pay_currency = models.CharField(max_length=3, blank=True, default="", db_default="")
    pay_rate = models.DecimalField(max_digits=9, decimal_places=2, default=Decimal(0), db_default=Decimal(0))
    pay_per = models.CharField(max_length=4, choices=PayPer.choices, default=PayPer.ITEM, db_default=PayPer.ITEM.value)
    pay_pause_minutes = models.PositiveSmallIntegerField(default=10, db_default=10)
    pay_bonus = models.DecimalField(max_digits=9, decimal_places=2, default=Decimal(0), db_default=Decimal(0))
    pay_bonus_percent = models.PositiveSmallIntegerField(default=0, db_default=0)  # of checks passed, at least
    pay_bonus_items = models.PositiveIntegerField(default=0, db_default=0)  # answered, at least
    # Raised when an assignment behind annotators' cursors may have become takeable: new items, changed priorities.
    queue_epoch = models.PositiveIntegerField(default=0)
    # Raised with every write that can change a figure: reports are cached by it.
    label_version = models.PositiveBigIntegerField(default=0)
    # Of a project that a release made: {"release": its SHA-256, "project": its slug there, "overlap": what was planned
    # there, and what is asked for here}.
    origin = models.JSONField(default=dict, blank=True)
    # The import that is storing labels here. Until it ends, the project is in preparation: nothing reads its labels.
    filled_by = models.ForeignKey(
        "annotation.Job", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    card = models.JSONField(default=dict, blank=True)  # the human parts of its data set card (projects/cards.py)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(multiple_share__gte=0, multiple_share__lte=1), name="multiple_share_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_preparing(self) -> bool:
        """Whether its items are still being made, or an import is storing labels."""
        return self.state == self.State.PREPARING or self.filled_by_id is not None

    @property
    def why_not_ready(self) -> str:
        """Why its labels cannot be read yet; empty where they can."""
        if self.filled_by_id is not None:
            return f"An import is storing labels in {self.title}; try again when it has ended"
        if self.state == self.State.PREPARING:
            return f"The items of {self.title} are still being made; try again when the project is open"
        return ""

    @property
    def planned_overlap(self) -> int:
        """Judgements per item, with those that were planned where the project came from."""
        return self.origin.get("overlap", 0) + self.overlap

    @property
    def lacks_type(self) -> bool:
        """Whether its task type comes from a package that is no longer installed."""
        try:
            task_type(self.task_type)
        except UnknownTaskTypeError:
            return True
        return False

    @property
    def type(self) -> TaskType:
        """The task type as this project asks it."""
        return configured(task_type(self.task_type), self.options)


class LabelSet(models.Model):
    """Questions that a user made (task_types/label_sets.py), frozen: a change is a row of its own. The same content
    is once for each person who has it; what the identifier means is the same in all of these rows."""

    identifier = models.CharField(max_length=80, db_index=True)  # TaskType.identifier
    title = models.CharField(max_length=220)  # the description's name, numbered where another of theirs is called so
    description = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_sets")
    created_at = models.DateTimeField(auto_now_add=True)
    # The version that this one was made from; the newest is what new projects are offered.
    follows = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="followed_by")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["created_by", "identifier"], name="label_set_once_per_person")]

    def __str__(self) -> str:
        return f"{self.title}, version {self.description['version']}"

    @classmethod
    def description_of(cls, identifier: str) -> dict | None:
        """The description that is stored under an identifier; None where there is none."""
        return cls.objects.filter(identifier=identifier).values_list("description", flat=True).first()


look_up_in(LabelSet.description_of)


class Guideline(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    markdown = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"{self.project}, guidelines {self.version}"


class ProjectOptions(models.Model):
    """What a project changed about its task, in versions that stay: a revision names the one that it was asked under
    in its metadata (`options_version`). A revision that names none was asked by the task type as it is."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="options_versions")
    version = models.PositiveIntegerField()
    options = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "version"], name="options_version_once")]

    def __str__(self) -> str:
        return f"{self.project}, options {self.version}"


class Membership(models.Model):
    class Role(models.TextChoices):
        ANNOTATOR = "annotator"
        ADJUDICATOR = "adjudicator"
        RESEARCHER = "researcher"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    is_active = models.BooleanField(default=True)
    # Of a researcher who wants the weekly mail (analysis.progress.mail), with the Monday of the last week it was sent.
    weekly_mail = models.BooleanField(default=False, db_default=False)
    weekly_mailed = models.DateField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user", "role"], name="role_once_per_user")]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} in {self.project}"


def new_pseudonym() -> str:
    return f"r-{secrets.token_hex(4)}"


class Rater(models.Model):
    """The author of labels: a member, a person of an imported file, or a slot where a file does not say who voted.

    Slots are exchangeable: a slot's name is a position, and figures for pairs of raters are not offered for them.
    """

    class Kind(models.TextChoices):
        MEMBER = "member"
        EXTERNAL = "external"
        SLOT = "slot"

    class Standing(models.TextChoices):
        FAILED = "failed", "Not qualified"  # no work
        PAUSED = "paused", "Paused after failed checks"  # no work
        ASKED = "asked", "Failed checks: decide"
        WARNED = "warned", "Warned after failed checks"

    NO_WORK = (Standing.FAILED, Standing.PAUSED)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="raters")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # The role of a person in the release: a member there is one in figures, and nobody's account here.
    origin_kind = models.CharField(max_length=10, choices=Kind.choices, null=True)  # noqa: DJ001 (null: is from here)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="raters")
    name = models.CharField(max_length=200)  # as shown to researchers; external: as in the file
    pseudonym = models.CharField(max_length=200, default=new_pseudonym)  # what exports show
    # Of raters of files: experts, crowd. Exports show it.
    group = models.CharField(max_length=200, blank=True, default="", db_default="")
    # What a release says of a person who has no account here: {"key_results", "skips"}, each where there are any.
    origin = models.JSONField(default=dict, db_default={})
    # Their answers are surplus, in no figure and no file: they withdrew consent, or play a participant.
    is_excluded = models.BooleanField(default=False, db_default=False)
    # Where this annotator's search for work goes on, so that finding work does not slow down with work done.
    cursor = models.BigIntegerField(default=-1)
    cursor_epoch = models.PositiveIntegerField(default=0)
    # Raised with each of the rater's revisions. Summed up with the project's own version it tells stale figures; a
    # counter on the project's row would make all annotators wait for each other.
    label_version = models.PositiveBigIntegerField(default=0)
    # Training, qualification and checks (annotation.work.learning): when the person was through with what comes before
    # work, how they stand since, and at which of their turns a warning is due; the try that they are at, and how many
    # they may have beyond the project's.
    admitted_at = models.DateTimeField(null=True)
    standing = models.CharField(max_length=8, choices=Standing.choices, default="", db_default="", blank=True)
    standing_at = models.DateTimeField(null=True)
    warning_turn = models.PositiveIntegerField(default=0, db_default=0)
    attempt = models.PositiveSmallIntegerField(default=1, db_default=1)
    extra_tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    # Items that they were given where the project has checks, these included: it decides where the next check comes.
    turn = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user"], condition=Q(user__isnull=False), name="one_rater_per_user"
            ),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="pseudonym_once_per_project"),
            models.UniqueConstraint(
                fields=["project", "name"], condition=~Q(kind="member"), name="external_name_once_per_project"
            ),
            models.CheckConstraint(
                condition=Q(kind="member", user__isnull=False) | (~Q(kind="member") & Q(user=None)),
                name="members_have_users",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class GroupSpare(models.Model):
    """How many more items a group with a quota can surely have, without counting its answers again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    group = models.CharField(max_length=200)
    spare = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "group"], name="group_spare_once")]

    def __str__(self) -> str:
        return f"{self.group}: {self.spare}"


class GuidelineAcknowledgement(models.Model):
    """That a rater was shown a version of the guidelines and acknowledged it. An answer carries the version that its
    author's page had acknowledged."""

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="acknowledgements")
    version = models.PositiveIntegerField()
    acknowledged_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rater", "version"], name="version_acknowledged_once")]

    def __str__(self) -> str:
        return f"{self.rater}, guidelines {self.version}"


class LabelAccess(models.Model):
    """That Assay served a person others' labels of a project, and when it first did. Answers that they give or change
    afterwards are marked (`Revision.labels_seen`). It stays, whatever becomes of the membership."""

    class Channel(models.TextChoices):
        PAGE = "page"
        FILE = "file"
        API = "api"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_accesses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_accesses")
    channel = models.CharField(max_length=10, choices=Channel.choices)  # of the first access
    first_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="label_access_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"
