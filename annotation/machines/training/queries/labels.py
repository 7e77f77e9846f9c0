"""The labels that a checker may learn from: one per unit and dimension, as of a moment, with the unit's group."""

from __future__ import annotations

from collections import defaultdict
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
    TrainedModel,
    Unit,
    UnitKind,
)
from annotation.task_types import TaskType

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
    items = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    units = Unit.objects.published().filter(kind=kind.unit_kind, pk__in=items.values("unit_id")).order_by("pk")
    for unit, *keys in units.values_list("pk", *GROUPS[kind.unit_kind]):
        known = _labels_of(kind, unit, decisions, votes, found)
        if known:
            found.labels[unit] = known
            found.groups[unit] = next(key for key in keys if key is not None)
    return found


def _labels_of(kind: TaskType, unit: int, decisions: dict, votes: Votes, found: TrainingLabels) -> dict[str, str]:
    """A dimension that is asked under a condition has a label only where the condition's label allows it, or where
    nothing at all is known about the condition."""
    known: dict[str, str] = {}
    for dimension in sorted(kind.asked_dimensions, key=lambda one: one.asked_when is not None):
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
    return {slug: label for slug, label in known.items() if kind.dimension(slug).role}


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
    rows = Judgement.objects.filter(
        revision__annotation__item__project=project,
        revision__annotation__is_surplus=False,
        revision__pk__lte=moment.revision,
    ).exclude(revision__annotation__item__state__in=Item.LEFT_OUT)
    # Annotation -> revision number -> labels.
    known: dict[int, dict[int, list]] = defaultdict(lambda: defaultdict(list))
    touched: dict[int, set[int]] = defaultdict(set)
    excused = _shown_only_untrained(project)
    columns = ("unit_id", "dimension", "label", "revision__annotation_id", "revision__number")
    columns += (
        "revision__suggestion_shown",
        Coalesce("revision__annotation__rater__origin_kind", "revision__annotation__rater__kind"),
    )
    for unit, dimension, label, annotation, number, shown, rater in rows.values_list(*columns).iterator(10_000):
        known[annotation][number].append((unit, dimension, label))
        lost = shown is None and rater == Rater.Kind.MEMBER
        if (shown or lost) and annotation not in excused:
            touched[annotation].add(number)
    votes: Votes = defaultdict(lambda: defaultdict(int))
    for annotation, revisions in known.items():
        usable = set(revisions) if include_touched else set(revisions) - touched[annotation]
        found.touched += max(revisions) in touched[annotation]
        for unit, dimension, label in revisions[max(usable)] if usable else ():
            votes[unit, dimension][label] += 1
    return votes


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
