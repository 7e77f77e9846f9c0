"""Pages of work and who does them.

An item is born with exactly its planned number of open assignments. Taking work claims one row; skipping closes the row
(which bars the skipper, since a rater can hold one row per item) and adds an open one. So the number of judgements is
kept by rows, not by counting.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from .content import Unit
from .projects import Project, Rater


class Item(models.Model):
    class State(models.TextChoices):
        ACTIVE = "active"
        STUCK = "stuck"  # a place is open and no annotator is left for it (annotation.projects.reach)
        RETIRED = "retired"  # its content was superseded
        APART = "apart", "Set apart"  # its right answers are known (ItemKey); it is no work, and in no figure

    LEFT_OUT = (State.RETIRED, State.APART)  # of work, agreement, exports and releases

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="items")
    anchor = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="anchored_items")
    key = models.CharField(max_length=400)  # the anchor's key
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    position = models.BigIntegerField()  # order of work, smallest first, unique in the project
    priority = models.IntegerField(default=0)
    planned = models.PositiveSmallIntegerField()  # judgements this item was meant to get; 0 for an item without units
    is_multiple = models.BooleanField(default=True)  # drawn for more than one judgement
    unit_count = models.PositiveIntegerField(default=1)
    extra_before = models.PositiveSmallIntegerField(default=0)  # judgements asked for later, where a release comes from

    class Meta:
        constraints = [
            # A check may be a copy of an item whose answers stay what they are.
            models.UniqueConstraint(
                fields=["project", "anchor"], condition=~Q(state="apart"), name="one_item_per_anchor"
            ),
            models.UniqueConstraint(fields=["project", "position"], name="one_item_per_position"),
        ]
        indexes = [
            models.Index(fields=["project", "key"], name="item_by_key"),
            # What the list is narrowed to that few items are.
            models.Index(fields=["project", "position"], name="stuck_items", condition=Q(state="stuck")),
            models.Index(fields=["project", "position"], name="retired_items", condition=Q(state="retired")),
            models.Index(fields=["project", "position"], name="empty_items", condition=Q(unit_count=0)),
        ]

    def __str__(self) -> str:
        return self.key


class ItemExclusion(models.Model):
    """That a person is not to get an item."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="exclusions")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="excluded_once")]

    def __str__(self) -> str:
        return f"{self.item_id} not to {self.rater_id}"


class ItemKey(models.Model):
    """The right answers of an item that is set apart: each member who is given it answers it on an assignment of their
    own."""

    class Purpose(models.TextChoices):
        TRAINING = "training", "Training"
        QUALIFICATION = "qualification", "Qualification"
        CHECK = "check", "Check"

    item = models.OneToOneField(Item, on_delete=models.CASCADE, primary_key=True, related_name="item_key")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="item_keys")
    purpose = models.CharField(max_length=13, choices=Purpose.choices)
    # [{"unit": its key, "dimension", "label", "spans"}], as `answer_rules.check_key` returns them.
    answers = models.JSONField(default=list)
    reason = models.TextField(blank=True)  # Markdown, shown with the right answers
    is_loud = models.BooleanField(default=False)  # the text itself says what to answer
    # The item that this is a copy of: it had answers, and goes on as it is.
    original = models.ForeignKey(Item, on_delete=models.PROTECT, null=True, related_name="copies")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["project", "purpose"], name="keys_by_purpose")]

    def __str__(self) -> str:
        return f"{self.purpose}: {self.item_id}"


class ItemWords(models.Model):
    """What an item is found by, in lower case (`annotation.projects.searching`)."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="words")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=1200)  # lower case may be longer
    title = models.TextField()

    def __str__(self) -> str:
        return self.key


class ItemUnit(models.Model):
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="item_units")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="item_units")
    index = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "unit"], name="unit_once_per_item")]

    def __str__(self) -> str:
        return f"{self.item_id}/{self.index}"


class Assignment(models.Model):
    class State(models.TextChoices):
        OPEN = "open"
        LEASED = "leased"
        DONE = "done"
        SKIPPED = "skipped"
        CANCELLED = "cancelled"

    class Reason(models.TextChoices):
        PLANNED = "planned"
        REPLACES_SKIP = "replaces-skip"
        EXTRA = "extra"  # one more judgement was asked for
        FURTHER = "further"  # answers differed (annotation.work.further)
        # Of items that are set apart: made for one person when they are given the item.
        TRAINING = "training"
        QUALIFICATION = "qualification"
        CHECK = "check"

    LEARNING = (Reason.TRAINING, Reason.QUALIFICATION)  # before work
    NO_WORK = (*LEARNING, Reason.CHECK)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="assignments")
    position = models.BigIntegerField()  # the item's, repeated here for the index that work is taken from
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    reason = models.CharField(max_length=20, choices=Reason.choices, default=Reason.PLANNED)
    note = models.TextField(blank=True)  # why an extra judgement was asked for
    # Whose it is while it is open, where it is not anybody's (annotation.work.reserving): a person's, or a group's.
    reserved_rater = models.ForeignKey(Rater, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    reserved_group = models.CharField(max_length=200, blank=True, default="", db_default="")
    # Came back after a lease or a skip: searched first, because it may lie behind everybody's cursor.
    returned = models.BooleanField(default=False)
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, null=True, related_name="assignments")
    leased_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    shown_at = models.DateTimeField(null=True)  # null while only fetched ahead
    done_at = models.DateTimeField(null=True)
    skip_reason = models.TextField(blank=True)
    is_flagged = models.BooleanField(default=False)
    # A skip for later: while the item has a place, the person gets it again when they have nothing else.
    is_parked = models.BooleanField(default=False, db_default=False)
    # What the person could see of a checker: the arm, when a suggestion was first shown, and which.
    prefill_arm = models.CharField(max_length=10, choices=Project.ARMS, default=Project.Prefill.OFF)
    suggestions_shown_at = models.DateTimeField(null=True)
    exposure = models.JSONField(default=list)  # [{"run": uuid, "suggestions": the most in one reply}]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "rater"], condition=Q(rater__isnull=False), name="one_assignment_per_person_and_item"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "cancelled"], rater=None, lease_expires_at=None)
                | Q(state="leased", rater__isnull=False, lease_expires_at__isnull=False)
                | Q(state__in=["done", "skipped"], rater__isnull=False, lease_expires_at=None),
                name="assignment_state_fits_rater",
            ),
        ]
        indexes = [
            models.Index(fields=["project", "position", "id"], condition=Q(state="open"), name="open_work"),
            models.Index(
                fields=["project", "position", "id"], condition=Q(state="open", returned=True), name="returned_work"
            ),
            models.Index(fields=["project", "lease_expires_at"], condition=Q(state="leased"), name="leases"),
            models.Index(fields=["rater", "state", "done_at"], name="work_of_a_rater"),
            models.Index(fields=["project", "item"], condition=Q(is_flagged=True), name="flagged_work"),
            models.Index(fields=["project", "item"], condition=Q(state="skipped"), name="skipped_work"),
            models.Index(fields=["project", "item"], condition=Q(reason="further"), name="further_work"),
            models.Index(
                fields=["project", "item"],
                condition=Q(state__in=["open", "leased"]) & (Q(reserved_rater__isnull=False) | ~Q(reserved_group="")),
                name="reserved_work",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.state}"
