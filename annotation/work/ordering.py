"""The order of work, changed while it goes on: at random, as in the file, by how sure checkers are, or by how different
texts are.

Every item gets a place in the band of its priority. A share of the items stays at random places among the others, so
that labels given so far are not only of hard items: which ones depends on the project's seed and the item's key alone
(`is_in_random_share`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import IntegrityError, connection, transaction
from django.db.models import F, OuterRef, Subquery

from annotation import editing
from annotation.jobs import lifecycle
from annotation.models import (
    Assignment,
    Case,
    CheckerRun,
    Chunk,
    Item,
    ItemUnit,
    Job,
    Project,
    SettingsChange,
    Suggestion,
    User,
)
from annotation.projects.item_making import BAND, position_of, seeded
from annotation.projects.prefill import prefill_runs
from annotation.work import diversity

ITEMS_AT_ONCE = 1000
Progress = Callable[[int, int, str], None]  # items done, of so many, and words
RANDOM, FILE, UNCERTAIN, DIVIDED, DIVERSE = "random", "file", "uncertain", "divided", "diverse"
_MOVE = """
WITH new (id, place) AS (VALUES {rows})
UPDATE annotation_item SET position = new.place FROM new WHERE annotation_item.id = new.id
"""


class OrderingError(Exception):
    """What was asked for cannot be done; the message is for the person who asked."""


def runs_for(project: Project) -> list[CheckerRun]:
    """Finished runs that give labels, the newest first."""
    done = prefill_runs(project).filter(job__state=Job.State.DONE)
    return list(done.order_by("-created_at", "-pk"))


def newest_runs(project: Project) -> list[CheckerRun]:
    """Of each checker the newest of these."""
    found: dict[str, CheckerRun] = {}
    for run in runs_for(project):
        found.setdefault(run.checker, run)
    return list(found.values())


def start(project: Project, by: User, order: str, run: CheckerRun | None = None, random_percent: int = 20) -> Job:
    """Order the items in the background, with this share of them at random places. OrderingError where the order needs
    runs that there are not."""
    runs = {UNCERTAIN: [run] if run else [], DIVIDED: newest_runs(project)}.get(order, [])
    if order == UNCERTAIN and not runs:
        raise OrderingError("Choose the run of a checker that gives labels with probabilities")
    if order == DIVIDED and len(runs) < 2:
        raise OrderingError("This needs finished runs of two checkers that give labels")
    percent = random_percent if ORDERS[order].score else 0
    named = {"order": order, "runs": [str(one.uuid) for one in runs], "random_percent": percent}
    with transaction.atomic():
        job = lifecycle.create_job(
            Job.Kind.ORDERING, by, chunks=[({}, 0)], project=project, parameters=named | {"epoch": project.queue_epoch}
        )
        words = ORDERS[order].title + (f", {percent} % at random" if percent else "")
        editing.record(by, project, SettingsChange.What.SETTINGS, {}, {"order of work": words})
    return job


def is_in_random_share(project: Project, key: str, percent: int) -> bool:
    return 100 * seeded(project.seed, "order-share", key) / 2**63 < percent


def places(
    project: Project, order: str, runs: list[CheckerRun], percent: int, epoch: int, progress: Progress
) -> dict[int, int]:
    """By item, its place in a band. Items without a score stay at random places, too."""
    rows = Item.objects.filter(project=project).order_by().values_list("pk", "key", "anchor_id")
    items = {pk: (key, anchor) for pk, key, anchor in rows.iterator(chunk_size=10_000)}
    drawn = {pk: seeded(project.seed, "order", key) % BAND / BAND for pk, (key, _) in items.items()}
    if order == FILE:
        drawn = {pk: float(anchor) for pk, (_, anchor) in items.items()}
    by_draw = {pk: items[pk][1] for pk in sorted(items, key=drawn.__getitem__)}
    score = ORDERS[order].score
    scores = {
        pk: score
        for pk, score in (score(project, runs, by_draw, progress) if score else {}).items()
        if pk in items and not is_in_random_share(project, items[pk][0], percent)
    }
    ranked = sorted(scores, key=lambda pk: (-scores[pk], drawn[pk]))
    ahead = drawn | {pk: (rank + 0.5) / len(ranked) for rank, pk in enumerate(ranked)}
    step = BAND // (len(items) + 1)
    # Items are moved some at a time, and no two may be on one place meanwhile: places differ from those of before.
    return {
        pk: rank * step + seeded(project.seed, f"place-{epoch}", items[pk][0]) % step
        for rank, pk in enumerate(sorted(items, key=lambda pk: (ahead[pk], pk)))
    }


def _items_of_units(project: Project) -> dict[int, int]:
    rows = ItemUnit.objects.filter(item__project=project).order_by().values_list("unit", "item")
    return dict(rows.iterator(chunk_size=10_000))


def _uncertainty(project: Project, runs: list[CheckerRun], *_: object) -> dict[int, float]:
    """By item, one less the probability of the label that the run is least certain of."""
    item_of, found = _items_of_units(project), {}
    rows = Suggestion.objects.filter(run__in=runs, probability__isnull=False).order_by()
    for unit, probability in rows.values_list("unit", "probability").iterator(chunk_size=10_000):
        if unit in item_of and math.isfinite(probability):
            item = item_of[unit]
            found[item] = max(found.get(item, 0.0), 1 - probability)
    return found


def _division(project: Project, runs: list[CheckerRun], *_: object) -> dict[int, float]:
    """By item, the entropy of the runs' labels where they differ most, of what two or more runs answered."""
    item_of, found = _items_of_units(project), {}
    votes: dict[tuple[int, str], Counter] = defaultdict(Counter)
    rows = Suggestion.objects.filter(run__in=runs).order_by()
    for unit, dimension, label in rows.values_list("unit", "dimension", "label").iterator(chunk_size=10_000):
        if unit in item_of:
            votes[unit, dimension][label] += 1
    for (unit, _), labels in votes.items():
        total = sum(labels.values())
        if total > 1:
            bits = -sum(n / total * math.log2(n / total) for n in labels.values())
            found[item_of[unit]] = max(found.get(item_of[unit], 0.0), bits)
    return found


def _diversity(
    project: Project, _runs: list[CheckerRun], by_draw: dict[int, int], progress: Progress
) -> dict[int, float]:
    """By item, how early its text is taken as the farthest from those before; all others come after these at random."""
    ahead = diversity.most_different(project, list(by_draw.values()), progress)
    items = list(by_draw)
    return dict.fromkeys(items, -math.inf) | {items[place]: -float(rank) for rank, place in enumerate(ahead)}


@dataclass(frozen=True)
class Order:
    """`score` gives the items that come first, by the greatest: of the project, runs, the anchor units by item in drawn
    order, and what to tell how far it is. None: no item is put first, and no share has to be kept at random."""

    title: str
    score: Callable[..., dict[int, float]] | None = None


ORDERS = {
    RANDOM: Order("At random, by the seed"),
    FILE: Order("As in the file"),
    UNCERTAIN: Order("Where a checker is least certain first", _uncertainty),
    DIVIDED: Order("Where checkers differ most first", _division),
    DIVERSE: Order("Most different texts first", _diversity),
}


def _moves(project: Project, by_item: dict[int, int]) -> Iterator[list[tuple[int, int]]]:
    priorities = dict(Item.objects.filter(project=project).exclude(priority=0).values_list("pk", "priority"))
    rows = [(pk, position_of(priorities.get(pk, 0), place)) for pk, place in sorted(by_item.items())]
    for start_at in range(0, len(rows), ITEMS_AT_ONCE):
        yield rows[start_at : start_at + ITEMS_AT_ONCE]


def _move(project: Project, rows: list[tuple[int, int]]) -> None:
    def move(part: list[tuple[int, int]]) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            # Without casts PostgreSQL takes the numbers of a list for small ones.
            values = ", ".join(["(CAST(%s AS bigint), CAST(%s AS bigint))"] * len(part))
            cursor.execute(_MOVE.format(rows=values), [value for row in part for value in row])

    with transaction.atomic():
        try:
            move(rows)
        except IntegrityError:  # two items on one place, once in a very long while
            for pk, position in rows:
                while Item.objects.filter(project=project, position=position).exclude(pk=pk).exists():
                    position += 1
                move([(pk, position)])
        ids = [pk for pk, _ in rows]
        position = Item.objects.filter(pk=OuterRef("item")).values("position")
        for model in (Assignment, Case):
            model.objects.filter(item__in=ids).update(position=Subquery(position))


class OrderingHandler:
    """One chunk: the places follow from what is stored, so a second attempt moves items to where the first one did."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        project, named = chunk.job.project, chunk.job.parameters
        runs = list(CheckerRun.objects.filter(project=project, uuid__in=named["runs"]))
        by_item = places(project, named["order"], runs, named["random_percent"], named["epoch"], lease.progress)
        moved = 0
        for rows in _moves(project, by_item):
            _move(project, rows)
            moved += len(rows)
            lease.progress(moved, len(by_item), f"{moved:,} of {len(by_item):,} items")
        with transaction.atomic():
            Project.objects.filter(pk=project.pk).update(queue_epoch=F("queue_epoch") + 1)
            Job.objects.filter(pk=chunk.job_id).update(result={"items": moved})
            lease.complete()

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        job.refresh_from_db(fields=["result"])
        return job.result

    def clean_up(self, job: Job) -> None:
        """Items that were moved have their new places; starting again moves all of them."""


HANDLER = OrderingHandler()
