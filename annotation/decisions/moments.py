"""Answers and decisions as of a moment: the newest revision and decision then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, Max, OuterRef, QuerySet, Subquery

from annotation.models import Decision, Project, Revision, RuleRun, set_name
from annotation.task_types.base import CANNOT_JUDGE

# Where several decisions stand for a unit, the first of these is the one exported; of several rules, the first by name.
DECISION_ORDER = (
    Decision.Method.ADJUDICATED,
    Decision.Method.IMPORTED,
    Decision.Method.RULE,
    Decision.Method.MAJORITY,
)


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """Of a project some items, and of these some answers, by the database's numbers."""

    items: frozenset[int]
    annotations: frozenset[int]


@dataclass(frozen=True, slots=True)
class Moment:
    """`part` is what is read of the project; None: all of it."""

    revision: int
    decision: int
    part: ExportedPart | None = None

    @classmethod
    def now(cls, project: Project, part: ExportedPart | None = None) -> Moment:
        of_answers = Revision.objects.filter(annotation__item__project=OuterRef("pk"))
        newest = [
            rows.order_by().values(place).annotate(newest=Max("id")).values("newest")
            for rows, place in (
                (of_answers, "annotation__item__project"),
                (Decision.objects.filter(project=OuterRef("pk")), "project"),
            )
        ]
        revision, decision = Project.objects.filter(pk=project.pk).values_list(*map(Subquery, newest)).get()
        return cls(revision or 0, decision or 0, part)


def decision_sets(project: Project) -> list[str]:
    """The sets of decisions of a project by their names: those of people and files, then those of rules."""
    of_project = Decision.objects.filter(project=OuterRef("pk"), is_latest=True)
    known = {one.value: Exists(of_project.filter(method=one)) for one in DECISION_ORDER[:2]}
    plain = Project.objects.filter(pk=project.pk).annotate(**known).values(*known).get()
    rules = RuleRun.objects.filter(project=project).order_by("name").values_list("name", flat=True).distinct()
    return [
        *(name for name, is_there in plain.items() if is_there),
        *(set_name(Decision.Method.RULE.value, name) for name in rules),
    ]


def sets_in_order(names: Iterable[str]) -> list[str]:
    """Sets of decisions by their names; the first is the one that stands where several decided."""
    place = {str(method): index for index, method in enumerate(DECISION_ORDER)}
    return sorted(names, key=lambda name: (place[name.partition(":")[0]], name))


def set_title(name: str) -> str:
    method, _, rule = name.partition(":")
    return f"Decisions of the rule {rule}" if rule else f"{Decision.Method(method).label} decisions"


def majority(votes: dict[str, int]) -> str | None:
    """The one most frequent label; None where there is none or several."""
    votes = {label: count for label, count in votes.items() if label != CANNOT_JUDGE}
    most = max(votes.values(), default=0)
    top = [label for label, count in votes.items() if count == most]
    return top[0] if len(top) == 1 else None


def decisions_at(moment: Moment, rows: QuerySet[Decision]) -> dict[tuple[int, str], list[Decision]]:
    """By unit and dimension the decisions that were in force then, the one that stands for the unit first."""
    newest = {
        (row.unit_id, row.dimension, row.method, row.rule): row
        for row in rows.filter(pk__lte=moment.decision).order_by("number")
    }
    found: dict[tuple[int, str], list[Decision]] = defaultdict(list)
    for row in sorted(newest.values(), key=lambda row: (DECISION_ORDER.index(row.method), row.rule)):
        if not row.is_withdrawn:
            found[row.unit_id, row.dimension].append(row)
    return found
