"""Reads of the work itself: how far it is, what is left for whom, and which labels reports have seen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.jobs import counts
from annotation.models import Annotation, Assignment, Case, Item, ItemExclusion, Participation, Project, Rater
from annotation.projects import cases
from annotation.projects.limits import quotas
from annotation.projects.queries.projects import team_of
from annotation.work import assigning, reserving
from annotation.work.learning import giving

# A count may take this share of the time between two counts.
COUNTING_SHARE = 0.005
SHORTEST_SECONDS = 2.0
LONGEST_SECONDS = 900.0
# Above this many open rows "left for you" is a bound instead of a count.
EXACT_LIMIT = 2000
RECENT = timedelta(minutes=2)
_DONE_SINCE = (
    "SELECT COUNT(*) FROM annotation_assignment WHERE rater_id = %s AND state = 'done' AND done_at > %s "
    "AND reason NOT IN ('training', 'qualification')"
)


def label_version(project: Project) -> int:
    """Grows with every committed change of the project's labels, suggestions and decisions: reports are cached by it.

    The sum of the project's own counter (imports, decisions, runs, retired items) and of one counter per rater, which
    the submit path raises in the transaction that stores a revision. Nobody's submit waits for another's.
    """
    own = Project.objects.filter(pk=project.pk).values_list("label_version", flat=True).get()
    return own + (Rater.objects.filter(project=project).aggregate(total=Sum("label_version"))["total"] or 0)


def progress(project: Project, rater: Rater) -> dict:
    """`mine`: answered by this person, exact. The others may be some seconds old:
    `mine_total_open`: items left that this person could still get; `team_done` of `team_total` judgements."""
    mine = done_by(rater)
    counted = _team(project)
    left, mine_then = (0, 0) if project.state == Project.State.CLOSED else _left(project, rater, counted)
    left = max(0, left - max(0, mine - mine_then))
    most, of_group = _limits(project, rater)
    if most is not None:
        left = min(left, max(0, most - mine))
    return {
        "mine": mine,
        "mine_total_open": left if of_group is None else min(left, of_group),
        "team_done": max(counted["done"], mine),
        "team_total": max(counted["total"], mine),
    }


def _limits(project: Project, rater: Rater) -> list[int | None]:
    """How many items the rater may have, by their study link and the project's quotas, and how many answers their group
    may still give; asked with every answer, so it is kept."""
    if not project.study_steps and not quotas.are_set(project):
        return [None, None]
    return _kept(f"limits:{rater.pk}", lambda: _count_limits(project, rater))


def _count_limits(project: Project, rater: Rater) -> list[int | None]:
    own = Participation.objects.filter(project=project, user=rater.user_id)
    by_link = own.values_list("link__most_items", flat=True).first() if project.study_steps else None
    limits = [one for one in (by_link, quotas.person_limit(project, rater.group)) if one is not None]
    return [min(limits, default=None), quotas.group_left(project, rater)]


def done_by(rater: Rater) -> int:
    """Rows this person has answered; checks are among them, or the number would tell them from work. What is older
    than two minutes is counted once an hour, the rest each time."""
    name = f"done-by:{rater.pk}"
    done = Assignment.objects.filter(rater=rater, state=Assignment.State.DONE)
    done = done.exclude(reason__in=Assignment.LEARNING)
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


def count_progress(projects: Iterable[Project]) -> dict[int, dict[str, int]]:
    """Assignments by state, items by what becomes of them, and those that are flagged and that wait for an adjudicator:
    four queries. Of projects with checks, those that are done and that are expected, with two more: numbers that left
    them out would tell checks from work."""
    projects = list(projects)
    of_projects = {"project__in": [project.pk for project in projects]}
    found = {pk: Counter() for pk in of_projects["project__in"]}
    assignments = Assignment.objects.filter(**of_projects).order_by().values_list("project_id", "state")
    is_work = ~Q(reason__in=Assignment.NO_WORK)
    numbers = {
        "n": Count("pk", filter=is_work),
        "checks": Count("pk", filter=Q(reason=Assignment.Reason.CHECK)),
    }
    for pk, state, n, checks in assignments.annotate(**numbers):
        found[pk][state] = n
        found[pk]["checks_done"] += checks if state == Assignment.State.DONE else 0
    items = Item.objects.filter(**of_projects).order_by().values_list("project_id", "state")
    for pk, state, n, empty in items.annotate(n=Count("pk"), empty=Count("pk", filter=Q(unit_count=0))):
        found[pk] += Counter({"items": n, f"{state}_items": n, "items_without_units": empty})
        found[pk]["to_judge"] += n - empty if state == Item.State.ACTIVE else 0
    for project in projects:
        if project.check_every:
            counted = found[project.pk]
            places = counted["open"] + counted["leased"] + counted["done"]
            counted["checks_expected"] = giving.expected_checks(project, places)
        else:
            del found[project.pk]["checks_done"]
    flagged = Assignment.objects.filter(is_flagged=True, **of_projects).order_by().values_list("project_id")
    for pk, n in flagged.annotate(n=Count("item", distinct=True)):
        found[pk]["flagged_items"] = n
    waiting = Case.objects.filter(cases.WAITING, **of_projects).order_by().values_list("project_id")
    for pk, n in waiting.annotate(n=Count("pk")):
        found[pk]["waiting"] = n
    return {pk: dict(numbers) for pk, numbers in found.items()}


def _team(project: Project) -> dict:
    def count() -> dict:
        numbers = counts.counted("progress", project).values or {}
        done, total = team_of(numbers)
        return {"done": done, "total": total} | {name: numbers.get(name, 0) for name in ("open", "to_judge")}

    return _kept(f"team:{project.pk}", count)


def _left(project: Project, rater: Rater, team: dict) -> list[int]:
    """Items with a place for this person, and how many they had answered when that was counted."""

    def count() -> list[int]:
        mine, waiting = done_by(rater), holds(rater).count() + assigning.parked(rater.pk).count()
        if project.reserves_items:
            return [open_items_for(rater).count() + waiting, mine]
        if team["open"] > EXACT_LIMIT:
            had = Assignment.objects.filter(rater=rater).exclude(reason__in=Assignment.LEARNING).count()
            return [min(team["open"], max(0, team["to_judge"] - had) + assigning.parked(rater.pk).count()), mine]
        left = open_items_for(rater)[:EXACT_LIMIT].count()
        return [left + giving.checks_to_come(project, rater, left) + waiting, mine]

    return _kept(f"left:{rater.pk}", count)


def open_items_for(rater: Rater):
    """Items with an open place that this person may still take, found by their places."""
    own = Assignment.objects.filter(item=OuterRef("item"), rater=rater)
    answer = Annotation.objects.filter(item=OuterRef("item"), rater=rater)
    places = Assignment.objects.filter(
        ~Exists(own), ~Exists(answer), project=rater.project_id, state=Assignment.State.OPEN
    )
    if rater.project.reserves_items:
        away = ItemExclusion.objects.filter(item=OuterRef("item"), rater=rater)
        places = places.filter(reserving.takeable_by(rater.pk), ~Exists(away))
    return places.order_by().values("item").distinct()


def holds(rater: Rater):
    held = Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED)
    return held.exclude(reason__in=Assignment.LEARNING)


def answers_of(rater: Rater) -> QuerySet[Annotation]:
    """What this person answered: checks are among it, training and qualification are not."""
    return Annotation.objects.filter(rater=rater).exclude(assignment__reason__in=Assignment.LEARNING)


def own_answers(
    rater: Rater, before: UUID | None = None, count: int = 20, *, upto: UUID | None = None
) -> tuple[list[str], bool]:
    """Assignments whose items this person answered, oldest first: the last `count` of all, of those before another one,
    or of those up to one; and whether there are older ones. Annotation.DoesNotExist where the person has not answered
    it.

    The order is that of the first answers. What was kept as surplus has no place of its own: its item is opened by any.
    """
    own = answers_of(rater)
    if named := before or upto:
        reached = own.filter(item__assignments__uuid=named).values_list("pk", flat=True).get()
        own = own.filter(pk__lt=reached) if before else own.filter(pk__lte=reached)
    of_item = Assignment.objects.filter(item=OuterRef("item")).order_by("pk").values("uuid")[:1]
    place = Coalesce("assignment__uuid", Subquery(of_item))
    places = list(own.order_by("-pk").annotate(place=place).values_list("place", flat=True)[: count + 1])
    return [str(uuid) for uuid in reversed(places[:count])], len(places) > count
