"""The labels that a checker may learn from: one per unit and dimension, as of a moment, with the unit's group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models.functions import Coalesce

from annotation.decisions.moments import Moment, decisions_at, majority
from annotation.models import (
    Annotation,
    CheckerRun,
    Decision,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Revision,
    TrainedModel,
    Unit,
    UnitKind,
)
from annotation.task_types import Dimension, TaskType

# What a unit hangs below, seen from it: the claim or question. Units of one group share texts, and are trained on or
# tested together. The first of these that a unit has.
_OF_RESPONSE = ("question__key", "claim__key")
GROUPS: dict[str, tuple[str, ...]] = {
    UnitKind.EVIDENCE: (
        "evidence__claim__key",
        "evidence__question__key",
        "evidence__atomic_claim__response__question__key",
        "evidence__atomic_claim__response__claim__key",
        "evidence__aspect__question__key",
    ),
    UnitKind.PAIR: (
        "pair__response__claim__key",
        "pair__evidence__claim__key",
        "pair__response__question__key",
        "pair__evidence__question__key",
        "key",
    ),
    UnitKind.CLAIM: ("claim__key",),
    UnitKind.QUESTION: ("question__key",),
    UnitKind.ASPECT: ("aspect__question__key",),
    UnitKind.RESPONSE: tuple(f"response__{name}" for name in _OF_RESPONSE),
    UnitKind.RESPONSE_ASPECT: tuple(f"response__{name}" for name in _OF_RESPONSE),
    UnitKind.TRIPLET: tuple(f"triplet__response__{name}" for name in _OF_RESPONSE),
    UnitKind.SUB_SENTENCE: tuple(f"sub_sentence__response__{name}" for name in _OF_RESPONSE),
    UnitKind.ATOMIC_CLAIM: tuple(f"atomic_claim__response__{name}" for name in _OF_RESPONSE),
    UnitKind.COMPARISON: ("comparison__question__key",),
}
# Kind of a checker in the registry whose suggestions may have taught people what it learnt from them.
TRAINED = "trained"
Votes = dict[tuple[int, str], dict[str, int]]


@dataclass(slots=True)
class TrainingLabels:
    """Labels by unit id (in its order) and dimension, groups by unit id, and what was left out.

    `touched`: annotations left out, or used in an older revision, because a trained checker's suggestion was or may
    have been shown with them (used all the same where asked for). `ties`: units and dimensions without a majority.
    """

    labels: dict[int, dict[str, str]] = field(default_factory=dict)
    groups: dict[int, str] = field(default_factory=dict)
    touched: int = 0
    ties: int = 0

    def of(self, dimension: str) -> tuple[list[str], list[str]]:
        """Labels and groups of a dimension's units."""
        found = [(known[dimension], self.groups[unit]) for unit, known in self.labels.items() if dimension in known]
        return [label for label, _ in found], [group for _, group in found]


def training_labels(project: Project, source: str, moment: Moment, *, include_touched: bool = False) -> TrainingLabels:
    """As of `moment`, whatever was said since. Surplus annotations and retired items are left out."""
    kind = project.type
    found = TrainingLabels()
    decisions: dict[tuple[int, str], str] = {}
    votes: Votes = {}
    if source != TrainedModel.Source.MAJORITY:
        decisions = _decisions(project, moment, source)
    if source in (TrainedModel.Source.MAJORITY, TrainedModel.Source.BOTH):
        votes = _votes(project, moment, found, include_touched)
    # A condition comes before what is asked under it.
    dimensions = sorted(kind.asked_dimensions, key=lambda one: one.asked_when is not None)
    items = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    units = Unit.objects.published().filter(kind=kind.unit_kind, pk__in=items.values("unit_id")).order_by("pk")
    for unit, *keys in units.values_list("pk", *GROUPS[kind.unit_kind]).iterator(10_000):
        known = _labels_of(kind, dimensions, unit, decisions, votes, found)
        if known:
            found.labels[unit] = known
            found.groups[unit] = next(key for key in keys if key is not None)
    return found


def _labels_of(
    kind: TaskType,
    dimensions: Sequence[Dimension],
    unit: int,
    decisions: dict,
    votes: Votes,
    found: TrainingLabels,
) -> dict[str, str]:
    """A dimension that is asked under a condition has a label only where the condition's label allows it, or where
    nothing at all is known about the condition."""
    known: dict[str, str] = {}
    for dimension in dimensions:
        condition = dimension.asked_when
        if condition and not kind.is_asked(dimension, known):
            before = (unit, condition.dimension)
            if condition.dimension in known or before in decisions or before in votes:
                continue
        label = decisions.get((unit, dimension.slug))
        if label == "":  # dropped, or without an answer: no majority takes its place
            continue
        if label is None and (of_unit := votes.get((unit, dimension.slug))):
            label = majority(of_unit)
            found.ties += label is None and bool(dimension.role)
        if label is not None:
            known[dimension.slug] = label
    return {one.slug: known[one.slug] for one in dimensions if one.role and one.slug in known}


def _decisions(project: Project, moment: Moment, source: str) -> dict[tuple[int, str], str]:
    """Those that stand, or those of the one set that `source` names; empty where a unit is dropped."""
    rows = Decision.objects.filter(project=project)
    rows = rows if source in TrainedModel.Source.values else rows.of_set(source)
    found = decisions_at(moment, rows)
    return {place: of_place[0].label for place, of_place in found.items()}


def _votes(project: Project, moment: Moment, found: TrainingLabels, include_touched: bool) -> Votes:
    """The last revision of every annotation, or its last one before a trained checker's suggestion was shown with it.

    The same rule as for comparing people with a checker: what is not known of a member counts as shown, imported labels
    that say nothing were made without this project's checkers, and suggestions known to be another checker's are none.
    """
    usable = _usable_revisions(project, moment, found, include_touched)
    votes: Votes = {}
    rows = Judgement.objects.filter(revision__annotation__item__project=project, revision__pk__lte=moment.revision)
    columns = ("revision_id", "unit_id", "dimension", "label")
    for revision, unit, dimension, label in rows.values_list(*columns).iterator(10_000) if usable else ():
        if revision in usable:
            of_unit = votes.get((unit, dimension))
            if of_unit is None:
                votes[unit, dimension] = {label: 1}
            else:
                of_unit[label] = of_unit.get(label, 0) + 1
    return votes


def _usable_revisions(project: Project, moment: Moment, found: TrainingLabels, include_touched: bool) -> set[int]:
    """At most one of each annotation."""
    rows = Revision.objects.filter(
        annotation__item__project=project, annotation__is_surplus=False, pk__lte=moment.revision
    ).exclude(annotation__item__state__in=Item.LEFT_OUT)
    rater = Coalesce("annotation__rater__origin_kind", "annotation__rater__kind")
    columns = ("pk", "annotation_id", "suggestion_shown", rater)
    excused = _shown_only_untrained(project)
    usable, last = set(), None
    # The newest of each annotation first.
    for pk, annotation, shown, kind in rows.order_by("annotation_id", "-number").values_list(*columns).iterator(10_000):
        is_touched = annotation not in excused and (shown or (shown is None and kind == Rater.Kind.MEMBER))
        if annotation != last:
            last, is_found = annotation, False
            found.touched += is_touched
        if not is_found and (include_touched or not is_touched):
            usable.add(pk)
            is_found = True
    return usable


def _shown_only_untrained(project: Project) -> set[int]:
    """Annotations whose shown suggestions are all known to be of checkers that were not trained here."""
    untrained = {
        str(uuid)
        for uuid in CheckerRun.objects.filter(project=project).exclude(checker=TRAINED).values_list("uuid", flat=True)
    }
    rows = Annotation.objects.filter(item__project=project, assignment__suggestions_shown_at__isnull=False).values_list(
        "pk", "assignment__exposure"
    )
    brought = Annotation.objects.filter(item__project=project, origin__exposures__isnull=False)
    rows = [*rows, *((pk, origin["exposures"]) for pk, origin in brought.values_list("pk", "origin"))]
    return {pk for pk, exposure in rows if exposure and all(shown.get("run") in untrained for shown in exposure)}
