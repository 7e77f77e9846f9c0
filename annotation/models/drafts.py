"""What extractors proposed and what became of it. Drafts are no content: annotators meet only what a researcher has
accepted and published."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from .content import Question, Response
from .jobs import Job
from .projects import Project
from .runs import MachineRun


class ExtractionRun(MachineRun):
    """One extractor with one set of parameters over the answers, or the questions, of a project's data set."""

    machine = "extractor"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="extraction_runs")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="extraction_run")
    kind = models.CharField(max_length=20)  # of the pieces: triplet, atomic_claim, aspect
    extractor = models.CharField(max_length=80)

    @property
    def failures(self):
        """The sources without an answer."""
        return self.sources.exclude(reason="")


class ExtractedSource(models.Model):
    """A text that a run has dealt with: how it came out, and the prompt as sent for those that are kept to look at."""

    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="sources")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, null=True, related_name="+")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=80, blank=True)  # of the failure; empty where it was answered
    message = models.TextField(blank=True)
    is_permanent = models.BooleanField(default=False)
    trace = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "response"], name="response_once_per_run"),
            models.UniqueConstraint(fields=["run", "question"], name="question_once_per_run"),
            models.CheckConstraint(
                condition=Q(response=None, question__isnull=False) | Q(response__isnull=False, question=None),
                name="extracted_source_is_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response or self.question} in {self.run_id}"


class Draft(models.Model):
    """A piece that an extractor proposed, or that a researcher added by hand (then without a run)."""

    class State(models.TextChoices):
        PROPOSED = "proposed"
        ACCEPTED = "accepted"
        DROPPED = "dropped"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="drafts")
    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, null=True, related_name="drafts")
    kind = models.CharField(max_length=20)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, null=True, related_name="+")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True, related_name="+")
    index = models.PositiveIntegerField()
    parts = models.JSONField()  # as proposed; never rewritten
    edited = models.JSONField(null=True)  # as a researcher put it, where that differs
    start = models.PositiveIntegerField(null=True)  # where in the response it comes from, in code points
    end = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PROPOSED)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)
    published_key = models.CharField(max_length=400, blank=True)  # of the content that it became

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "response", "index"], name="draft_of_response_once"),
            models.UniqueConstraint(fields=["run", "question", "index"], name="draft_of_question_once"),
            models.CheckConstraint(
                condition=Q(response=None, question__isnull=False) | Q(response__isnull=False, question=None),
                name="draft_has_one_source",
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", reviewed_at=None) | (~Q(state="proposed") & Q(reviewed_at__isnull=False)),
                name="draft_review_fits_state",
            ),
        ]
        indexes = [models.Index(fields=["project", "kind", "state"], name="drafts_to_review")]

    def __str__(self) -> str:
        return " | ".join((self.edited or self.parts).values())
