"""What waits for adjudicators, item by item (`Case`): counted anew from answers, flags and decisions in the
transaction that stores one of these.

Whoever counts has locked the item, or the project where it is about many of its items: of two people who answer one
item at the same moment the second sees what the first one said.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Count, Q

from annotation.models import Project
from annotation.task_types import Dimension, TaskType

ITEMS_AT_ONCE = 1000
PROJECTS, ITEMS = 1601, 1602  # spaces of advisory locks
SETTLING = ("adjudicated", "rule")  # methods whose decisions settle a disagreement


@dataclass(frozen=True)
class CaseState:
    """What a case says about an item."""

    undecided: int = 0
    distance: float = 0.0
    entropy: float = 0.0
    is_flagged: bool = False
    is_commented: bool = False

    @property
    def is_open(self) -> bool:
        return bool(self.undecided or self.is_flagged or self.is_commented)


FIELDS = tuple(CaseState.__dataclass_fields__)


def lock(project_id: int, item_id: int | None = None) -> None:
    """Wait for others who count this item, or with none named all items of the project, until the transaction ends."""
    if connection.vendor != "postgresql":
        return  # SQLite has one writer
    with connection.cursor() as cursor:
        if item_id is None:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [PROJECTS, project_id % 2**31])
        else:
            cursor.execute(
                "SELECT pg_advisory_xact_lock_shared(%s, %s), pg_advisory_xact_lock(%s, %s)",
                [PROJECTS, project_id % 2**31, ITEMS, item_id % 2**31],
            )


def answered(project: Project, item_id: int, *, is_alone: bool) -> None:
    """After an answer was stored. `is_alone`: a first answer without a comment, which matters only beside others."""
    lock(project.pk, item_id)
    if is_alone and apps.get_model("annotation", "Annotation").objects.filter(item=item_id).count() < 2:
        return
    count(project, project.type, [item_id])


def recount(project: Project, items: Iterable[int] | None = None) -> None:
    """Count these items anew, or all of the project. Comes last in a transaction: it makes others wait."""
    with transaction.atomic():
        ids = None if items is None else list(items)
        lock(project.pk, ids[0] if ids is not None and len(ids) == 1 else None)
        for part in parts(project.pk, ids):
            count(project, project.type, part)


def touched_by(project: Project, reopened: list[int]) -> list[int]:
    """Items whose case decisions on many units may have changed: those that have one, and those of units that a
    decision was withdrawn from."""
    known = set(apps.get_model("annotation", "Case").objects.filter(project=project).values_list("pk", flat=True))
    of_units = apps.get_model("annotation", "ItemUnit").objects.filter(item__project=project)
    for start in range(0, len(reopened), ITEMS_AT_ONCE):
        part = reopened[start : start + ITEMS_AT_ONCE]
        known.update(of_units.filter(unit__in=part).values_list("item", flat=True))
    return sorted(known)


def parts(project_id: int, ids: list[int] | None, model=None) -> Iterator[list[int]]:
    model = model or (lambda name: apps.get_model("annotation", name))
    if ids is None:
        said = model("Annotation").objects.filter(item__project=project_id).order_by().values("item")
        several = said.annotate(n=Count("pk")).filter(n__gt=1).values_list("item", flat=True)
        commented = (
            model("Revision")
            .objects.filter(annotation__item__project=project_id, is_latest=True)
            .exclude(comment="")
            .values_list("annotation__item", flat=True)
        )
        flagged = model("Assignment").objects.filter(project=project_id, is_flagged=True).values_list("item", flat=True)
        known = model("Case").objects.filter(project=project_id).values_list("pk", flat=True)
        ids = sorted({*several, *commented, *flagged, *known})
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        yield ids[start : start + ITEMS_AT_ONCE]


def count(project, kind: TaskType, ids: list[int], model=None) -> None:
    """Store the cases of these items. `model` names tables as they were, for migrations."""
    model = model or (lambda name: apps.get_model("annotation", name))
    cases = model("Case").objects
    known = {case.pk: case for case in cases.filter(pk__in=ids)}
    seen = {pk: (case.seen_flags, case.seen_revision) for pk, case in known.items()}
    changed, new = [], []
    for pk, standing in standings(project.pk, kind, ids, seen, model).items():
        case = known.get(pk)
        if case is None and standing.is_open:
            new.append(model("Case")(item_id=pk, project_id=project.pk, **vars(standing)))
        elif case is not None and any(getattr(case, name) != getattr(standing, name) for name in FIELDS):
            for name in FIELDS:
                setattr(case, name, getattr(standing, name))
            changed.append(case)
    if new:
        cases.bulk_create(new)
    if changed:
        cases.bulk_update(changed, FIELDS)


def standings(project_id: int, kind: TaskType, ids: list[int], seen: Mapping, model=None) -> dict[int, CaseState]:
    """What follows from what is stored about these items: five queries. `seen` has the flags and the newest revision
    that adjudicators have seen to, by item."""
    model = model or (lambda name: apps.get_model("annotation", name))
    live = set(model("Item").objects.filter(pk__in=ids).exclude(state="retired").values_list("pk", flat=True))
    dimensions = {one.slug: one for one in kind.asked_dimensions if not one.takes_text}
    judgements = model("Judgement").objects.filter(
        revision__is_latest=True, revision__annotation__is_surplus=False, revision__annotation__item__in=live
    )
    votes: dict[tuple, Counter] = defaultdict(Counter)
    for item, unit, dimension, label in judgements.values_list(
        "revision__annotation__item", "unit", "dimension", "label"
    ):
        if dimension in dimensions:
            votes[item, unit, dimension][label] += 1
    differing = {place: labels for place, labels in votes.items() if len(labels) > 1}
    decided = {}
    if differing:
        rows = model("Decision").objects.filter(
            project=project_id, unit__in={unit for _, unit, _ in differing}, is_latest=True, is_withdrawn=False
        )
        for unit, dimension, label in (
            rows.filter(method__in=SETTLING).order_by("-method").values_list("unit", "dimension", "label")
        ):
            decided[unit, dimension] = label  # an adjudicator's comes last
    open_places = defaultdict(list)
    for (item, unit, dimension), labels in differing.items():
        if not _is_settled(kind, dimensions[dimension], unit, decided):
            open_places[item].append((distance(dimensions[dimension], labels), entropy(labels)))
    newest = (
        model("Revision")
        .objects.filter(annotation__item__in=live, is_latest=True)
        .exclude(comment="")
        .values_list("annotation__item", "pk")
    )
    comments: dict[int, int] = {}
    for item, revision in newest:
        comments[item] = max(revision, comments.get(item, 0))
    flags = dict(
        model("Assignment")
        .objects.filter(item__in=live, is_flagged=True)
        .order_by()
        .values_list("item")
        .annotate(n=Count("pk"))
    )
    found = {}
    for item in ids:
        places = open_places.get(item, [])
        seen_flags, seen_revision = seen.get(item, (0, 0))
        found[item] = CaseState(
            undecided=len(places),
            distance=max((far for far, _ in places), default=0.0),
            entropy=max((bits for _, bits in places), default=0.0),
            is_flagged=flags.get(item, 0) > seen_flags,
            is_commented=comments.get(item, 0) > seen_revision,
        )
    return found


def _is_settled(kind: TaskType, dimension: Dimension, unit: int, decided: Mapping) -> bool:
    """Whether it was decided, or a decision says that it is not asked."""
    if (unit, dimension.slug) in decided:
        return True
    on = dimension.asked_when and dimension.asked_when.dimension
    return (unit, on) in decided and not kind.is_asked(dimension, {on: decided[unit, on]})


def distance(dimension: Dimension, labels: Iterable[str]) -> float:
    """How far the answers that lie farthest apart are: steps of an ordered scale or of a number's range, labels that
    one answer of several has and another has not, and 1 where labels have no order."""
    answers = sorted(labels)
    if dimension.takes_number:
        step = (dimension.number.step if dimension.number else None) or 1
        numbers = [float(answer) for answer in answers if _is_number(answer)]
        return round((max(numbers) - min(numbers)) / step, 6) if len(numbers) > 1 else float(len(answers) > 1)
    if dimension.takes_several:
        sets = [set(dimension.chosen(answer)) for answer in answers]
        return float(max((len(a ^ b) for a in sets for b in sets), default=0))
    places = {value: place for place, value in enumerate(dimension.values)}
    if dimension.level != "nominal" and all(answer in places for answer in answers):
        return float(max(places[one] for one in answers) - min(places[one] for one in answers))
    return float(len(answers) > 1)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def entropy(labels: Mapping[str, int]) -> float:
    total = sum(labels.values())
    return round(-sum(n / total * math.log2(n / total) for n in labels.values()) + 0.0, 6)


def differences(project: Project) -> list[tuple[int, dict, dict]]:
    """Items whose case is not what follows from what is stored: item, stored, recomputed."""
    found = []
    cases = apps.get_model("annotation", "Case").objects.filter(project=project)
    for part in parts(project.pk, None):
        stored = {case.pk: case for case in cases.filter(pk__in=part)}
        seen = {pk: (case.seen_flags, case.seen_revision) for pk, case in stored.items()}
        for pk, standing in standings(project.pk, project.type, part, seen).items():
            case = stored.get(pk)
            now = CaseState(**{name: getattr(case, name) for name in FIELDS}) if case else CaseState()
            if now != standing:
                found.append((pk, vars(now), vars(standing)))
    return found


WAITING = Q(undecided__gt=0) | Q(is_flagged=True) | Q(is_commented=True)

MAX_COUNTED = 10_000


def waiting(project: Project) -> int:
    """How many items wait for an adjudicator, counted as far as MAX_COUNTED + 1."""
    found = apps.get_model("annotation", "Case").objects.filter(WAITING, project=project)
    return found.order_by()[: MAX_COUNTED + 1].count()
