"""What people said. An edit is a new revision; nothing is overwritten and nothing acknowledged is dropped."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .content import Unit
from .projects import Project, Rater
from .work import Assignment, Item


class Annotation(models.Model):
    """All that one rater said about one item, through its revisions."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="annotations")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="annotations")
    # None for imported annotations and for late answers that came when all places were taken.
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, null=True, related_name="annotation")
    is_surplus = models.BooleanField(default=False)  # outside the planned number and outside default figures
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="one_annotation_per_rater_and_item")]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.item_id}"


class Revision(models.Model):
    annotation = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    is_latest = models.BooleanField(default=True)
    client_id = models.UUIDField(unique=True, null=True)  # null for imported revisions
    body_hash = models.CharField(max_length=64, blank=True)  # tells a repeated request from a clash of ids
    shown_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(auto_now_add=True)
    active_ms = models.PositiveBigIntegerField(null=True)
    guideline_version = models.PositiveIntegerField(null=True)  # the one that the author last acknowledged, if any
    text_hash = models.CharField(max_length=64, blank=True)  # of the texts as they were judged
    # Whether a suggestion had been shown to this person on this item when the revision was made; null: not known.
    suggestion_shown = models.BooleanField(null=True)
    # Whether Assay had served this person others' labels of the project before this revision; null: not known.
    labels_seen = models.BooleanField(null=True)
    comment = models.TextField(blank=True)
    metadata = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotation", "number"], name="revision_number_once"),
            models.UniqueConstraint(fields=["annotation"], condition=Q(is_latest=True), name="one_latest_revision"),
        ]

    def __str__(self) -> str:
        return f"{self.annotation_id}, revision {self.number}"


class Judgement(models.Model):
    """One label. A dimension that was not asked has no judgement: 'not applicable' is not a label."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="judgements")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="judgements")
    dimension = models.CharField(max_length=40)
    label = models.CharField(max_length=80)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["revision", "unit", "dimension"], name="one_label_per_dimension")
        ]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.label}"


class Span(models.Model):
    """Code points of a shown text, half open, with the quoted text so that a shift cannot go unnoticed."""

    judgement = models.ForeignKey(Judgement, on_delete=models.PROTECT, related_name="spans")
    field = models.CharField(max_length=40)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["judgement", "field", "start", "end"], name="span_once"),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="span_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.field}[{self.start}:{self.end}]"


class Decision(models.Model):
    """A label that stands for the unit, each with the method that made it."""

    class Method(models.TextChoices):
        ADJUDICATED = "adjudicated"
        MAJORITY = "majority"
        IMPORTED = "imported"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="decisions")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="decisions")
    dimension = models.CharField(max_length=40)
    label = models.CharField(max_length=80)
    method = models.CharField(max_length=40, choices=Method.choices)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "unit", "dimension", "method"], name="one_decision_per_method")
        ]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.label} ({self.method})"
