"""Answers that changed after a decision about their unit: it was made of others than there are now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from annotation.decisions.moments import sets_in_order
from annotation.models import Annotation, Decision, Judgement, Revision, answered_at


@dataclass(frozen=True, slots=True)
class RevisedAnswer:
    """One annotation's labels of a place; empty where it had none."""

    annotation: int
    unit: int
    dimension: str
    then: str  # at the decision
    now: str


def standing_at(decided_at: datetime, history: Sequence[tuple[int, datetime | None]]) -> int | None:
    """The number of the revision that stood then, of one annotation's numbers with their times; None where it had
    none, or nobody knows."""
    numbers = [number for number, at in history if at is not None and at <= decided_at]
    return max(numbers, default=None)


def revised_answers(item: int, decisions: Iterable[Decision]) -> list[RevisedAnswer]:
    """The answers to an item that are others now than at the decision that stands for their place. `decisions` are
    those in force. Decisions without a known time are passed over."""
    standing: dict[tuple[int, str], Decision] = {}
    by_set = {name: place for place, name in enumerate(sets_in_order({one.set_name for one in decisions}))}
    for one in sorted(decisions, key=lambda one: by_set[one.set_name]):
        standing.setdefault((one.unit_id, one.dimension), one)
    times = {place: one.decided_at for place, one in standing.items() if one.decided_at is not None}
    several = Annotation.objects.filter(item=item, is_surplus=False).annotate(n=Count("revisions")).filter(n__gt=1)
    numbers: dict[int, list[tuple[int, datetime | None]]] = {}
    if times:
        rows = Revision.objects.filter(annotation__in=several.values("pk")).order_by("number")
        for annotation, number, at in rows.values_list("annotation_id", "number", answered_at()):
            numbers.setdefault(annotation, []).append((number, at))
    if not numbers:
        return []
    judged = Judgement.objects.filter(revision__annotation__in=list(numbers))
    columns = ("revision__annotation_id", "revision__number", "unit_id", "dimension", "label")
    labels = {tuple(place): label for *place, label in judged.values_list(*columns)}
    found = []
    for annotation, history in sorted(numbers.items()):
        last = history[-1][0]
        for (unit, dimension), decided_at in sorted(times.items()):
            number = standing_at(decided_at, history)
            if number is None or number == last:
                continue
            then, now = (labels.get((annotation, one, unit, dimension), "") for one in (number, last))
            if then != now:
                found.append(RevisedAnswer(annotation, unit, dimension, then, now))
    return found
