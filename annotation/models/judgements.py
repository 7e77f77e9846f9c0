"""People's answers. An edit is a new revision; nothing is overwritten and nothing acknowledged is dropped."""

import re
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .content import Unit
from .projects import Project, Rater
from .work import Assignment, Item, ItemKey

LONGEST_OPEN = timedelta(days=366)  # of an item in a browser; more is a clock that was set


class Annotation(models.Model):
    """One rater's answers to one item, through its revisions."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="annotations")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="annotations")
    # None for imported annotations and for late answers that came when all places were taken.
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, null=True, related_name="annotation")
    is_surplus = models.BooleanField(default=False)  # outside the planned number and outside default figures
    # What a release says of an answer, which has no assignment here: {"arm", "exposures": [{"run", "checker",
    # "shown_at"}], "further": whether it was asked for because answers differed}, each where it is known.
    origin = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="one_annotation_per_rater_and_item")]
        indexes = [models.Index(fields=["rater", "created_at"], name="answers_of_a_rater")]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.item_id}"


class Revision(models.Model):
    annotation = models.ForeignKey(Annotation, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    is_latest = models.BooleanField(default=True)
    client_id = models.UUIDField(unique=True, null=True)  # null for imported revisions
    body_hash = models.CharField(max_length=64, blank=True)  # tells a repeated request from a clash of ids
    # By the browser's clock, which may be wrong, or as a file says; `answered_at` and `opened_at` are what is read.
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
        indexes = [models.Index(fields=["annotation"], condition=Q(labels_seen=True), name="said_after_others")]

    def __str__(self) -> str:
        return f"{self.annotation_id}, revision {self.number}"


def answered_at(of: str = "") -> models.Case:
    """When a revision was given (`of` leads to it, such as `revisions__`): when the server received it, or what its
    file says of an imported one, null where that says nothing."""
    return models.Case(
        models.When(Q(**{f"{of}client_id": None}), then=F(f"{of}submitted_at")),
        default=F(f"{of}received_at"),
    )


def opened_at(of: str = "") -> models.Case:
    """When the item of a revision was shown, by the same clock as `answered_at`: as long before it as by the browser's
    clock. Null where that is not known, or no time that an item is open."""
    shown, submitted = F(f"{of}shown_at"), F(f"{of}submitted_at")
    is_open = Q(**{f"{of}shown_at__lte": submitted, f"{of}shown_at__gt": submitted - LONGEST_OPEN})
    return models.Case(
        models.When(Q(**{f"{of}client_id": None}), then=shown),
        models.When(is_open, then=F(f"{of}received_at") - (submitted - shown)),
        output_field=models.DateTimeField(null=True),
    )


class Judgement(models.Model):
    """One answer, written as `Dimension.answer_of` does. A dimension that was not asked has no judgement: 'not
    applicable' is not a label."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="judgements")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="judgements")
    dimension = models.CharField(max_length=40)
    label = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["revision", "unit", "dimension"], name="one_label_per_dimension")
        ]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.label}"


class Span(models.Model):
    """Code points of a shown text, half open, with the quoted text so that a shift cannot go unnoticed. One place may
    have several labels, and one label several severities, each in a row."""

    judgement = models.ForeignKey(Judgement, on_delete=models.PROTECT, related_name="spans")
    field = models.CharField(max_length=40)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    label = models.CharField(max_length=80, blank=True, default="", db_default="")  # empty: the question has none
    severity = models.CharField(max_length=80, blank=True, default="", db_default="")  # of an error
    reason = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgement", "field", "start", "end", "label", "severity"], name="span_once"
            ),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="span_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.field}[{self.start}:{self.end}]"


class KeyResult(models.Model):
    """How a person's first answer to an item that is set apart compares with its key; in qualification, of each try.
    It is kept as it was when the key changes."""

    revision = models.OneToOneField(Revision, on_delete=models.PROTECT, primary_key=True, related_name="key_result")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="key_results")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="key_results")
    purpose = models.CharField(max_length=13, choices=ItemKey.Purpose.choices)
    attempt = models.PositiveSmallIntegerField(default=1)  # the try that it belongs to
    right = models.PositiveIntegerField()
    asked = models.PositiveIntegerField()  # answers that the key has
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["rater", "purpose", "attempt"], name="key_results_of_a_rater")]

    def __str__(self) -> str:
        return f"{self.right} of {self.asked}"


class DecisionQuerySet(models.QuerySet):
    def in_force(self) -> "DecisionQuerySet":
        """The newest row of each place and method, where it is not withdrawn."""
        return self.filter(is_latest=True, is_withdrawn=False)

    def of_set(self, name: str) -> "DecisionQuerySet":
        """Those of one set: a method's, or `rule:NAME` those of the rule with that name."""
        method, _, rule = name.partition(":")
        return self.filter(method=method, rule=rule)


class RuleRun(models.Model):
    """A rule, by its name, as it was run once. It is stored with the decisions that it made, or not at all."""

    NAME_CHARS = 40

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rule_runs")
    name = models.SlugField(max_length=NAME_CHARS)
    version = models.PositiveIntegerField()  # 1, 2, ... of the name
    kind = models.CharField(max_length=20)  # a name in analysis.rules.kinds.KINDS
    parameters = models.JSONField(default=dict)
    # The newest revision and decision that it knew.
    moment = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    # The first labelled units that it left undecided: [{"question", "unit", "votes",
    # "posterior" where a model gave one}].
    left_open = models.JSONField(default=list, db_default=[])
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="rule_version_once")]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"

    @classmethod
    def is_name(cls, name: str) -> bool:
        return len(name) <= cls.NAME_CHARS and bool(re.fullmatch(r"[a-z0-9][a-z0-9-]*", name))


class Decision(models.Model):
    """What stands for the unit, with the method that made it: a label, that no answer is right, or that the unit is
    dropped. Rows are only added: a new decision or a withdrawal adds the next one. Each rule has rows of its own,
    in addition to those of people and of other rules."""

    class Method(models.TextChoices):
        ADJUDICATED = "adjudicated"
        IMPORTED = "imported"
        RULE = "rule"
        MAJORITY = "majority"

    class Outcome(models.TextChoices):
        LABEL = "label"
        NO_ANSWER = "no-answer"
        DROPPED = "dropped"

    class Reason(models.TextChoices):
        UNCLEAR = "guideline-unclear", "The guidelines are unclear"
        SLIP = "slip", "A slip"
        AMBIGUOUS = "ambiguous", "Truly ambiguous"
        BAD_ITEM = "bad-item", "A bad item"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="decisions")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="decisions")
    dimension = models.CharField(max_length=40)
    method = models.CharField(max_length=40, choices=Method.choices)
    rule = models.CharField(max_length=RuleRun.NAME_CHARS, blank=True, default="", db_default="")  # its name, if any
    rule_run = models.ForeignKey(RuleRun, on_delete=models.PROTECT, null=True, related_name="decisions")
    number = models.PositiveIntegerField(default=1)  # 1, 2, ... of the unit, dimension, method and rule
    is_latest = models.BooleanField(default=True)
    is_withdrawn = models.BooleanField(default=False)
    outcome = models.CharField(
        max_length=10, choices=Outcome.choices, default=Outcome.LABEL, db_default=Outcome.LABEL.value
    )
    label = models.TextField(blank=True)  # empty: withdrawn, or another outcome
    posterior = models.FloatField(null=True)  # of the label, where a model of raters gave it one
    decided_by = models.ForeignKey(Rater, on_delete=models.PROTECT, null=True, related_name="decisions")
    note = models.TextField(blank=True)
    reason = models.CharField(max_length=20, blank=True, default="", db_default="", choices=Reason.choices)
    # [{"field", "start", "end", "quote", "label" where spans have labels}], as spans of judgements are.
    spans = models.JSONField(default=list, db_default=[])
    for_guidelines = models.BooleanField(default=False, db_default=False)  # an example that the guidelines need
    # What Assay had shown the person of this item: {"labels": others' labels, "names": of whom, "runs": [{"run",
    # "checker"}]}; null: not known.
    seen = models.JSONField(null=True)
    decided_at = models.DateTimeField(null=True)  # null: not known, as in most files
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "unit", "dimension", "method", "rule", "number"], name="decision_number_once"
            ),
            models.UniqueConstraint(
                fields=["project", "unit", "dimension", "method", "rule"],
                condition=Q(is_latest=True),
                name="one_latest_decision_per_method",
            ),
            models.CheckConstraint(
                condition=Q(is_withdrawn=True, label="", outcome="label")
                | (Q(is_withdrawn=False, outcome="label") & ~Q(label=""))
                | Q(Q(is_withdrawn=False, label="") & ~Q(outcome="label")),
                name="decision_has_its_label",
            ),
            models.CheckConstraint(condition=Q(rule="") | Q(method="rule"), name="only_rules_have_names"),
        ]
        indexes = [
            models.Index(
                fields=["project", "method", "rule", "dimension"],
                name="decisions_by_set",
                condition=Q(is_latest=True),
            ),
            models.Index(
                fields=["project", "id"], name="guideline_examples", condition=Q(for_guidelines=True, is_latest=True)
            ),
        ]

    def __str__(self) -> str:
        label = "withdrawn" if self.is_withdrawn else self.label or self.outcome
        return f"{self.dimension}: {label} ({self.set_name})"

    @property
    def set_name(self) -> str:
        """What the set of decisions is called that it belongs to."""
        return set_name(self.method, self.rule)


def set_name(method: str, rule: str) -> str:
    return f"{method}:{rule}" if rule else method


class Shown(models.Model):
    """That Assay showed a person something about an item besides its texts: others' labels with or without their names,
    the decision, or the suggestions of a run. It decides which adjudications are compared with which checkers, and
    which changed answers are marked."""

    LABELS = "labels"
    UNNAMED_LABELS = "unnamed-labels"
    DECISION = "decision"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    # None: of every item, as a release's files do.
    item = models.ForeignKey(Item, on_delete=models.CASCADE, null=True, related_name="+")
    what = models.CharField(max_length=36)  # the run's UUID, or one of these words
    first_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "item", "what"], name="shown_once"),
            models.UniqueConstraint(
                fields=["user", "project", "what"], condition=Q(item=None), name="shown_of_every_item_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.what} to {self.user_id}"


class Case(models.Model):
    """An item that waits for an adjudicator: answers differ, an annotator flagged it or wrote a comment, or a
    model of raters takes its label to be improbable, be everybody of one mind.
    It follows from answers, flags and decisions (`annotation.projects.cases`), and is stored with each of these so that
    nobody has to look through all judgements for the next one. It adds up the item's disagreements, and stays when all
    of them are decided."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, primary_key=True, related_name="case")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="cases")
    position = models.BigIntegerField(default=0)  # the item's, repeated here for the index of the list
    differing = models.PositiveIntegerField(default=0)  # units and dimensions that differ
    undecided = models.PositiveIntegerField(default=0)  # those of them that nobody decided
    distance = models.FloatField(default=0)  # how far the answers to one of these lie apart, in steps of the scale
    entropy = models.FloatField(default=0)  # of the answers to one of these, in bits
    is_flagged = models.BooleanField(default=False)
    is_commented = models.BooleanField(default=False)
    # Since a snapshot found a label that nobody decided improbable, until an adjudicator or a rule decides.
    is_improbable = models.BooleanField(default=False, db_default=False)
    is_waiting = models.GeneratedField(
        expression=Q(undecided__gt=0) | Q(is_flagged=True) | Q(is_commented=True) | Q(is_improbable=True),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    # Of the newest snapshot, taken by a job: the lowest posterior that a model of raters gives a label of the item, and
    # the greatest entropy of a checker's probabilities, in bits. Null: not known.
    posterior = models.FloatField(null=True)
    uncertainty = models.FloatField(null=True)
    snapshot_at = models.DateTimeField(null=True)
    # What an adjudicator has seen to: flags and comments up to these wait no longer.
    seen_flags = models.PositiveIntegerField(default=0)
    seen_revision = models.PositiveBigIntegerField(default=0)
    since = models.DateTimeField(auto_now_add=True)
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    held_until = models.DateTimeField(null=True)

    class Meta:
        # Each order of the queue, with what it can be narrowed to: only the index is read until the first one is found.
        indexes = [
            models.Index(
                "project",
                F("distance").desc(),
                "item",
                "is_flagged",
                "is_commented",
                name="cases_by_distance",
                condition=Q(is_waiting=True),
            ),
            models.Index(
                "project",
                F("entropy").desc(),
                "item",
                "distance",
                "is_flagged",
                "is_commented",
                name="cases_by_entropy",
                condition=Q(is_waiting=True),
            ),
            models.Index(
                fields=["project", "since", "item", "distance", "is_flagged", "is_commented"],
                name="cases_by_age",
                condition=Q(is_waiting=True),
            ),
            models.Index(
                fields=["project", "posterior", "item"], name="cases_by_posterior", condition=Q(posterior__isnull=False)
            ),
            models.Index(
                "project",
                F("uncertainty").desc(),
                "item",
                name="cases_by_uncertainty",
                condition=Q(uncertainty__isnull=False),
            ),
            models.Index(fields=["holder", "project"], name="held_cases", condition=Q(holder__isnull=False)),
            models.Index(
                fields=["project", "position", "undecided"], name="differing_cases", condition=Q(differing__gt=0)
            ),
            models.Index(fields=["project", "position"], name="commented_cases", condition=Q(is_commented=True)),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.undecided} undecided"


class Disagreement(models.Model):
    """A unit and dimension of a case on which answers in force differ. Where there is no row, they agree or there is
    one answer at most."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="disagreements", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="+")
    dimension = models.CharField(max_length=40)
    distance = models.FloatField()
    entropy = models.FloatField()
    is_tied = models.BooleanField()  # several labels are the most frequent
    # By a person or a rule, or because a decision says that it is not asked; and by anything, imported ones included.
    is_settled = models.BooleanField()
    has_decision = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "unit", "dimension"], name="disagreement_once")]
        indexes = [
            models.Index(
                fields=["project", "dimension"], name="open_ties", condition=Q(is_tied=True, has_decision=False)
            )
        ]

    def __str__(self) -> str:
        return f"{self.dimension} of {self.unit_id}"
