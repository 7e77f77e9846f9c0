"""Reads of the work itself: how far it is, what is left for whom, and which labels reports have seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Annotation, Assignment, Item, Project, Rater
from annotation.work.queries import unit_words

# A count may take this share of the time between two counts, so that a big project does not count all day.
COUNTING_SHARE = 0.005
SHORTEST_SECONDS = 2.0
LONGEST_SECONDS = 900.0
LONG_SECONDS, KEPT_SECONDS = 0.1, 3600
# Above this many open rows "left for you" is a bound instead of a count.
EXACT_LIMIT = 50_000
RECENT = timedelta(minutes=2)
_DONE_SINCE = "SELECT COUNT(*) FROM annotation_assignment WHERE rater_id = %s AND state = 'done' AND done_at > %s"


def label_version(project: Project) -> int:
    """Grows with every committed change of the project's labels, suggestions and decisions: reports are cached by it.

    The sum of the project's own counter (imports, decisions, runs, retired items) and of one counter per rater, which
    the submit path raises in the transaction that stores a revision. Nobody's submit waits for another's.
    """
    own = Project.objects.filter(pk=project.pk).values_list("label_version", flat=True).get()
    return own + (Rater.objects.filter(project=project).aggregate(total=Sum("label_version"))["total"] or 0)


def kept_counts(project: Project, name: str, count: Callable[[Project], dict[str, int]]) -> dict[str, int]:
    """What is counted of a project's labels; where that takes long, it is kept until one of them changes."""
    name = f"{name}:{project.pk}:{label_version(project)}"
    found = cache.get(name)
    if found is None:
        started = time.perf_counter()
        found = count(project)
        if time.perf_counter() - started > LONG_SECONDS:
            cache.set(name, found, KEPT_SECONDS)
    return found


def progress(project: Project, rater: Rater) -> dict:
    """`mine`: answered by this person, exact. The others may be some seconds old:
    `mine_total_open`: items left that this person could still get; `team_done` of `team_total` judgements."""
    mine = done_by(rater)
    counted = _team(project)
    left, mine_then = (0, 0) if project.state == Project.State.CLOSED else _left(project, rater, counted["open"])
    return {
        "mine": mine,
        "mine_total_open": max(0, left - max(0, mine - mine_then)),
        "team_done": max(counted["done"], mine),
        "team_total": max(counted["total"], mine),
    }


def done_by(rater: Rater) -> int:
    """Rows this person has answered. What is older than two minutes is counted once an hour, the rest each time."""
    name = f"done-by:{rater.pk}"
    done = Assignment.objects.filter(rater=rater, state=Assignment.State.DONE)
    kept = cache.get(name)
    if kept is None or kept[2] < time.time() - 600:
        until = timezone.now() - RECENT
        kept = [done.filter(done_at__lte=until).count(), until.isoformat(), time.time()]
        cache.set(name, kept, 3600)
    base, until = kept[0], datetime.fromisoformat(kept[1])
    with connection.cursor() as cursor:  # by hand: it is counted with every answer
        cursor.execute(_DONE_SINCE, [rater.pk, connection.ops.adapt_datetimefield_value(until)])
        return base + cursor.fetchone()[0]


def _kept(name: str, count):
    """The result of `count()`, kept for as long as it was expensive."""
    value = cache.get(name)
    if value is None:
        started = time.perf_counter()
        value = count()
        spent = time.perf_counter() - started
        cache.set(name, value, min(LONGEST_SECONDS, max(SHORTEST_SECONDS, spent / COUNTING_SHARE)))
    return value


def _team(project: Project) -> dict:
    def count() -> dict:
        states = dict(
            Assignment.objects.filter(project=project).values_list("state").annotate(rows=Count("pk")).order_by()
        )
        done, opened = states.get("done", 0), states.get("open", 0)
        return {"done": done, "open": opened, "total": done + opened + states.get("leased", 0)}

    return _kept(f"team:{project.pk}", count)


def _left(project: Project, rater: Rater, opened: int) -> list[int]:
    """Items with a place for this person, and how many they had answered when that was counted."""

    def count() -> list[int]:
        mine = done_by(rater)
        if opened > EXACT_LIMIT:
            items = _kept(f"items:{project.pk}", lambda: project.items.filter(unit_count__gt=0, state="active").count())
            return [min(opened, max(0, items - Assignment.objects.filter(rater=rater).count())), mine]
        return [open_items_for(rater).count() + holds(rater).count(), mine]

    return _kept(f"left:{rater.pk}", count)


def open_items_for(rater: Rater):
    """Items with an open place that this person may still take."""
    return Item.objects.filter(
        Exists(Assignment.objects.filter(item=OuterRef("pk"), state=Assignment.State.OPEN)),
        ~Exists(Assignment.objects.filter(item=OuterRef("pk"), rater=rater)),
        ~Exists(Annotation.objects.filter(item=OuterRef("pk"), rater=rater)),
        project=rater.project_id,
    )


def holds(rater: Rater):
    return Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED)


def own_answers(rater: Rater, before: UUID | None = None, count: int = 20) -> tuple[list[str], bool]:
    """Assignments whose items this person answered, oldest first: the last `count` of all, or of those before another
    one; and whether there are older ones. Annotation.DoesNotExist where the person has not answered `before`.

    The order is that of the first answers. What was kept as surplus has no place of its own: its item is opened by any.
    """
    own = Annotation.objects.filter(rater=rater)
    if before is not None:
        reached = own.filter(item__assignments__uuid=before).values_list("pk", flat=True).get()
        own = own.filter(pk__lt=reached)
    of_item = Assignment.objects.filter(item=OuterRef("item")).order_by("pk").values("uuid")[:1]
    place = Coalesce("assignment__uuid", Subquery(of_item))
    places = list(own.order_by("-pk").annotate(place=place).values_list("place", flat=True)[: count + 1])
    return [str(uuid) for uuid in reversed(places[:count])], len(places) > count


def own_rows(rater: Rater):
    """What this person answered or skipped, newest first; `has_place` of a skip: whether the item still has one."""
    states = [Assignment.State.DONE, Assignment.State.SKIPPED]
    place = Assignment.objects.filter(item=OuterRef("item"), state=Assignment.State.OPEN)
    rows = Assignment.objects.filter(rater=rater, state__in=states).select_related("item")
    return rows.annotate(has_place=Exists(place)).order_by("-done_at", "-pk")


def with_titles(project: Project, rows: list[Assignment]) -> list[tuple[Assignment, str]]:
    words = unit_words.words_of(project.type.anchor_kind, [row.item.anchor_id for row in rows])
    return [(row, words[row.item.anchor_id][0]) for row in rows]
