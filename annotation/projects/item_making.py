"""Pages of work for a project's content: one item per anchor unit, born with exactly its planned open assignments.

Order and drawing depend on the project's seed and the anchor's key alone, so they are the same on any database and for
content that arrives later. Work goes in short transactions; making items twice makes none twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from annotation.bulk import MANY_ROWS, bulk_insert, refresh_statistics, reserve_ids
from annotation.models import Annotation, Assignment, Case, Item, ItemUnit, ItemWords, Project, Unit
from annotation.projects import cases, searching
from annotation.task_types import TaskType

BATCH = 2000
# SQLite has one writer: between batches others may write, for about as long as a submit waits to try again.
PAUSE_SECONDS = 0.02

# A position is the priority's band and, in it, a place. Smallest first; all are above a new annotator's cursor (-1).
BAND = 2**51
MAX_PRIORITY = 1000


@dataclass(frozen=True)
class Made:
    items: int = 0
    assignments: int = 0
    without_units: int = 0

    def plus(self, other: Made) -> Made:
        return Made(
            self.items + other.items,
            self.assignments + other.assignments,
            self.without_units + other.without_units,
        )


def seeded(seed: int, purpose: str, key: str) -> int:
    """63 bits that depend on nothing but their arguments."""
    digest = blake2b(f"{seed}\0{purpose}\0{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def place_of(project: Project, key: str, unit_id: int) -> int:
    if project.order == Project.Order.FILE:
        return unit_id % BAND
    return seeded(project.seed, "order", key) % BAND


def is_drawn_for_multiple(project: Project, key: str) -> bool:
    return seeded(project.seed, "multiple", key) / 2**63 < project.multiple_share


def planned_for(project: Project, is_drawn: bool) -> int:
    return project.overlap if is_drawn else min(project.overlap, project.other_overlap)


def position_of(priority: int, place: int) -> int:
    if abs(priority) > MAX_PRIORITY:
        raise ValueError(f"Priorities lie between {-MAX_PRIORITY} and {MAX_PRIORITY}")
    return (MAX_PRIORITY - priority) * BAND + place


# (kind of anchor, kind of unit) -> how a unit of the page is joined to the anchor's row, and the order of the page's
# units. An anchor that is its own unit needs no line.
UNITS_OF: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("response", "triplet"): ("triplet__response", ("triplet__index",)),
    ("response", "sub_sentence"): ("sub_sentence__response", ("sub_sentence__index",)),
    ("response", "response_aspect"): ("response", ("aspect__index",)),
    ("question", "aspect"): ("aspect__question", ("aspect__index",)),
}


# Anchors that a project can collect later, by kind, with what the data set must have for that: evidence is retrieved
# for claims, responses are written to questions or, as documents, made up for claims.
COLLECTED_FOR = {"evidence": "claim", "response": "question"}


def can_collect(dataset_id: int, description: TaskType) -> bool:
    """Whether what items are made from can be retrieved or generated in the project."""
    if description.anchor_kind not in COLLECTED_FOR:
        return False
    parent = description.anchor_parent or COLLECTED_FOR[description.anchor_kind]
    return Unit.objects.published().filter(dataset=dataset_id, kind=parent).exists()


def anchor_link(description: TaskType) -> str:
    """From a unit to the row that its item's anchor stands for."""
    if description.anchor_kind == description.unit_kind:
        return description.anchor_kind
    return UNITS_OF[description.anchor_kind, description.unit_kind][0]


def units_of(description: TaskType, anchors: list[tuple], piece_set: str = "") -> dict[int, list[int]]:
    """Unit ids by anchor id, for anchors given as (unit id, key, id of the anchor's row); pieces of one set."""
    units: dict[int, list[int]] = {unit_id: [] for unit_id, _, _ in anchors}
    if description.anchor_kind == description.unit_kind:
        return {unit_id: [unit_id] for unit_id in units}
    link, order = UNITS_OF[description.anchor_kind, description.unit_kind]
    anchor_of = {row_id: unit_id for unit_id, _, row_id in anchors}
    rows = (
        Unit.objects.published()
        .filter(kind=description.unit_kind, **{f"{link}__in": list(anchor_of)})
        .in_set(description.unit_kind, piece_set)
        .order_by(link, *order, "id")
        .values_list(f"{link}_id", "id")
    )
    for row_id, unit_id in rows:
        units[anchor_of[row_id]].append(unit_id)
    return units


def anchors_in(dataset_id: int, description: TaskType, piece_set: str = "") -> QuerySet[Unit]:
    """The units of a data set that items of the task type are made from; pieces of one set."""
    kind = description.anchor_kind
    anchors = Unit.objects.published().filter(dataset=dataset_id, kind=kind).in_set(kind, piece_set)
    if description.anchor_parent:
        anchors = anchors.filter(**{f"{description.anchor_kind}__{description.anchor_parent}__isnull": False})
    return anchors


def count_anchors(project: Project) -> int:
    return anchors_in(project.dataset_id, project.type, project.piece_set).count()


def count_missing(projects: Iterable[Project]) -> dict[int, int]:
    """By project, rows of the data set from which an item would be made and none is."""
    return {one.pk: count_anchors(one) - _count_items(one) for one in projects}


def _count_items(project: Project) -> int:
    copies = project.item_keys.filter(original__isnull=False, item__anchor__superseded_at=None)
    return project.items.filter(anchor__superseded_at=None).count() - copies.count()


def plan(project: Project, *, on_progress: Callable[[int], None] | None = None, batch: int = BATCH) -> Made:
    """Make the items that the project lacks. `on_progress` hears after each batch how many anchors were looked at,
    and may raise to stop; what was made stays and is not made again."""
    description = project.type
    made, seen, last = Made(), 0, 0
    while True:
        # Anchors are read outside the write transaction; the unique anchor of an item guards against a second maker.
        anchors = list(
            anchors_in(project.dataset_id, description, project.piece_set)
            .filter(id__gt=last)
            .order_by("id")
            .values_list("id", "key", f"{description.anchor_kind}_id")[:batch]
        )
        if not anchors:
            break
        last = anchors[-1][0]
        seen += len(anchors)
        made = made.plus(_make(project, description, anchors))
        if on_progress is not None:
            on_progress(seen)
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            time.sleep(PAUSE_SECONDS)
    if made.items >= MANY_ROWS:
        refresh_statistics(Unit, Item, ItemUnit, ItemWords, Assignment)
    return made


def _make(project: Project, description: TaskType, anchors: list[tuple]) -> Made:
    units = units_of(description, anchors, project.piece_set)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).only("id").get(pk=project.pk)  # one maker at a time
        have = dict(
            Item.objects.filter(project=project, anchor__in=[anchor[0] for anchor in anchors]).values_list(
                "anchor_id", "unit_count"
            )
        )
        filled = _fill(
            project, {anchor: units[anchor] for anchor, count in have.items() if not count and units[anchor]}
        )
        anchors = [anchor for anchor in anchors if anchor[0] not in have]
        positions = _free_positions(project, anchors)
        ids = reserve_ids(Item, len(anchors))
        items, words, item_units, assignments = [], [], [], []
        titles = searching.titles_of(description.anchor_kind, [unit_id for unit_id, *_ in anchors])
        without_units = 0
        for item_id, position, (unit_id, key, _) in zip(ids, positions, anchors, strict=True):
            of_item = units[unit_id]
            drawn = is_drawn_for_multiple(project, key)
            planned = planned_for(project, drawn) if of_item else 0
            without_units += not of_item
            items.append((item_id, project.pk, unit_id, key, position, planned, drawn, len(of_item)))
            words.append((item_id, project.pk, key.casefold(), titles[unit_id]))
            item_units += [(item_id, unit, index) for index, unit in enumerate(of_item)]
            assignments += [(project.pk, item_id, position)] * planned
        bulk_insert(
            Item, items, ["id", "project_id", "anchor_id", "key", "position", "planned", "is_multiple", "unit_count"]
        )
        bulk_insert(ItemWords, words, ["item_id", "project_id", "key", "title"])
        bulk_insert(ItemUnit, item_units, ["item_id", "unit_id", "index"])
        bulk_insert(Assignment, assignments, ["project_id", "item_id", "position"])
    return Made(len(items), len(assignments), without_units).plus(filled)


def _fill(project: Project, units: dict[int, list[int]]) -> Made:
    """Give items that had nothing to judge the units that their anchors have got since, and their assignments."""
    if not units:
        return Made()
    items = list(Item.objects.filter(project=project, anchor__in=list(units), unit_count=0, state=Item.State.ACTIVE))
    item_units, assignments = [], []
    for item in items:
        of_item = units[item.anchor_id]
        item.unit_count = len(of_item)
        item.planned = planned_for(project, item.is_multiple)
        item_units += [(item.pk, unit, index) for index, unit in enumerate(of_item)]
        assignments += [(project.pk, item.pk, item.position)] * item.planned
    with connection.cursor() as cursor:
        cursor.executemany(
            f'UPDATE "{Item._meta.db_table}" SET unit_count = %s, planned = %s WHERE id = %s',
            [(item.unit_count, item.planned, item.pk) for item in items],
        )
    bulk_insert(ItemUnit, item_units, ["item_id", "unit_id", "index"])
    bulk_insert(Assignment, assignments, ["project_id", "item_id", "position"])
    return Made(len(items), len(assignments))


def _free_positions(project: Project, anchors: list[tuple]) -> list[int]:
    """A position for each anchor. Two keys very rarely fall on one place; the later then takes the next free one."""
    wanted = [position_of(0, place_of(project, key, unit_id)) for unit_id, key, _ in anchors]
    used = set(Item.objects.filter(project=project, position__in=wanted).values_list("position", flat=True))
    positions = []
    for position in wanted:
        while position in used:
            position += 1
            if Item.objects.filter(project=project, position=position).exists():
                used.add(position)
        used.add(position)
        positions.append(position)
    return positions


def retire_items_of(unit_ids: Iterable[int]) -> int:
    """Take items off the queue whose content was superseded. Returns how many were retired.

    What was judged stays, and an answer to a page that is open now is still accepted. An item nobody has
    judged or has before them, and whose anchor is still the newest, goes on with the newest units instead.
    """
    unit_ids = list(unit_ids)
    retired = 0
    for start in range(0, len(unit_ids), 1000):
        touched = unit_ids[start : start + 1000]
        with transaction.atomic():
            items = list(
                Item.objects.filter(item_units__unit__in=touched)
                .union(Item.objects.filter(anchor__in=touched))
                .values_list("id", flat=True)
            )
            # An answer that is being stored counts its item's case first, or finds the item retired.
            for project in sorted(set(Item.objects.filter(pk__in=items).values_list("project", flat=True))):
                cases.lock(project)
            live = Item.objects.filter(pk__in=items).exclude(state=Item.State.RETIRED)
            refreshed = _refresh_units(live)
            going = live.exclude(pk__in=refreshed)
            projects = set(going.values_list("project_id", flat=True))
            Assignment.objects.filter(item__in=going, state=Assignment.State.OPEN).update(
                state=Assignment.State.CANCELLED, returned=False
            )
            retired += Item.objects.filter(pk__in=list(going.values_list("pk", flat=True))).update(
                state=Item.State.RETIRED
            )
            Project.objects.filter(pk__in=projects).update(label_version=F("label_version") + 1)
            Case.objects.filter(item__in=items, item__state__in=Item.LEFT_OUT).delete()
    return retired


def reopen(assignments: QuerySet[Assignment]) -> int:
    """Return leased assignments to the queue; those of items that are no work are cancelled."""
    free = {"rater": None, "leased_at": None, "lease_expires_at": None}
    no_work = Q(item__state__in=Item.LEFT_OUT)
    cancelled = assignments.filter(no_work).update(state=Assignment.State.CANCELLED, **free)
    return cancelled + assignments.exclude(no_work).update(state=Assignment.State.OPEN, returned=True, **free)


def _refresh_units(items) -> list[int]:
    refreshed = []
    untouched = (
        items.filter(anchor__superseded_at=None)
        .exclude(pk__in=Annotation.objects.filter(item__in=items).values("item_id"))
        .exclude(pk__in=Assignment.objects.filter(item__in=items, rater__isnull=False).values("item_id"))
        .select_related("project", "anchor")
    )
    for item in untouched:
        anchor = item.anchor
        description = item.project.type
        row_id = getattr(anchor, f"{description.anchor_kind}_id")
        units = units_of(description, [(anchor.pk, anchor.key, row_id)], item.project.piece_set)[anchor.pk]
        if not units:
            continue
        ItemUnit.objects.filter(item=item).delete()
        ItemUnit.objects.bulk_create(ItemUnit(item=item, unit_id=unit, index=n) for n, unit in enumerate(units))
        Item.objects.filter(pk=item.pk).update(unit_count=len(units))
        refreshed.append(item.pk)
    return refreshed
