"""Numbers that take a look at a whole project or data set, such as how many judgements are done.

Of a small one they are counted when they are asked for. Of a large one nobody counts inside a request: readers get
what a worker last counted, with its age, and one who finds it old asks for a new count. Of several workers that are
asked one counts, and not more than a small share of the time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.db import models, transaction
from django.db.models import Case, Exists, FilteredRelation, OuterRef, Q, When
from django.utils import timezone
from django.utils.module_loading import import_string

from annotation.models import Dataset, Item, KeptCount, Project, Unit
from annotation.webhooks.events import BROKER_RETRIES

log = logging.getLogger(__name__)

SMALL = 2000  # up to so many items, or units of a data set, are counted inside a request
# Counting anew may take this share of a worker's time, and comes at most this often.
COUNTING_SHARE = 0.05
SHORTEST_WAIT = timedelta(seconds=5)
# A process asks for a count at most this often; the message is dropped where workers have their hands full.
ASKED_SECONDS = 3
EXPIRES_SECONDS = 60.0
# A worker that has counted for longer is taken to be dead.
HELD = timedelta(minutes=10)


@dataclass(frozen=True)
class Count:
    """`function` is the path of what counts: from a list of projects or data sets to the numbers by their ids, as JSON.
    `version` is the path of what changes with the numbers, where they need no new count while it stays."""

    function: str
    version: str = ""
    of: type[models.Model] = Project
    held: timedelta = HELD

    @property
    def owner(self) -> str:
        """What a kept count calls what it is of."""
        return self.of._meta.model_name

    def count(self, owners: list) -> dict[int, Any]:
        return import_string(self.function)(owners)

    def large(self):
        """A condition of projects or data sets: whether they have too much to be counted inside a request."""
        rows = Item if self.of is Project else Unit
        beyond = rows.objects.filter(**{self.owner: OuterRef("pk")}).order_by("pk")[SMALL : SMALL + 1]
        return Exists(beyond)


LABELS = "annotation.work.queries.work.label_version"
COUNTS = {
    "progress": Count("annotation.work.queries.work.count_progress"),
    "members": Count("annotation.projects.queries.members.count_work"),
    "people": Count("analysis.progress.counting.count_people", held=timedelta(hours=1)),
    "missing-items": Count("annotation.projects.item_making.count_missing"),
    "training-labels": Count("annotation.machines.training.queries.models.count_labels", LABELS),
    "not-in-files": Count("annotation.exports.tools.count_held", LABELS),
    "release": Count("analysis.releases.missing.count_contents", LABELS),
    "guideline-answers": Count("annotation.projects.queries.guidelines.count_answers", LABELS),
    "pairs-material": Count("annotation.imports.pairs.queries.count_material", of=Dataset),
    "content": Count("annotation.datasets.queries.count_content", of=Dataset),
}


@dataclass(frozen=True)
class Counted:
    """`values` is None where a large project or data set has not been counted yet; `counted_at` None: just now."""

    values: Any
    counted_at: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        return self.values is None


def counted(name: str, owner: Project | Dataset) -> Counted:
    return counted_of(name, [owner])[owner.pk]


def counted_of(name: str, owners: Iterable) -> dict[int, Counted]:
    """By id; one query besides those that count the small ones, however many there are."""
    count, owners = COUNTS[name], {owner.pk: owner for owner in owners}
    rows = count.of.objects.filter(pk__in=owners).order_by()
    rows = rows.annotate(kept=FilteredRelation("kept_counts", condition=Q(kept_counts__name=name)))
    is_large = Case(When(kept__isnull=False, then=True), default=count.large(), output_field=models.BooleanField())
    found, now = {}, timezone.now()
    columns = ("pk", "is_large", "kept__values", "kept__counted_at", "kept__due_at")
    for pk, large, values, counted_at, due_at in rows.annotate(is_large=is_large).values_list(*columns):
        if large:
            found[pk] = Counted(values, counted_at)
            if due_at is None or due_at <= now:
                ask(name, pk)
    small = [owner for pk, owner in owners.items() if pk not in found]
    new = count.count(small) if small else {}
    return found | {pk: Counted(values) for pk, values in new.items()}


def ask(name: str, pk: int) -> None:
    """Send a worker to count; a message that is lost is sent again by a later reader."""
    if cache.add(f"asked-for:{name}:{pk}", True, ASKED_SECONDS):
        transaction.on_commit(lambda: _send(name, pk))


def _send(name: str, pk: int) -> None:
    try:
        current_app.send_task("annotation.count", args=[name, pk], expires=EXPIRES_SECONDS, retry_policy=BROKER_RETRIES)
    except Exception as error:  # every transport fails in its own way, and a reader has the last numbers
        log.warning("The broker took no message to count %s: %s", name, error)


def count_anew(name: str, pk: int) -> bool:
    """Count where it is due and no other worker does; whether this one did."""
    count = COUNTS[name]
    owner = count.of.objects.filter(count.large(), pk=pk).first()
    of_it = KeptCount.objects.filter(**{count.owner: pk}, name=name)
    if owner is None:  # it is gone, or small by now
        of_it.delete()
        return False
    KeptCount.objects.bulk_create([KeptCount(**{count.owner: owner}, name=name)], ignore_conflicts=True)
    now = timezone.now()
    free = Q(held_until=None) | Q(held_until__lt=now)
    if not of_it.filter(free, due_at__lte=now).update(held_until=now + count.held):
        return False
    row, started = of_it.get(), time.perf_counter()
    version = import_string(count.version)(owner) if count.version else None
    is_same = row.values is not None and version is not None and version == row.version
    values = row.values if is_same else count.count([owner])[pk]
    spent = timedelta(seconds=time.perf_counter() - started)
    mine = of_it.filter(held_until=row.held_until)
    # Where more changed meanwhile, it is due again at once.
    mine.filter(due_at=row.due_at).update(due_at=timezone.now() + max(SHORTEST_WAIT, spent / COUNTING_SHARE))
    return bool(mine.update(values=values, version=version, counted_at=now, held_until=None))


def changed(*, project_id: int | None = None, dataset_id: int | None = None) -> None:
    """After a job changed much: who looks next asks for new numbers."""
    of_it = Q(project__isnull=False, project=project_id) | Q(dataset__isnull=False, dataset=dataset_id)
    of_it |= Q(project__isnull=False, project__dataset=dataset_id)
    KeptCount.objects.filter(of_it).update(due_at=timezone.now())
