"""The people of a project in pages, with their work; and the project's own numbers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.core.cache import cache
from django.core.paginator import Paginator
from django.utils import timezone

from analysis.progress.counting import PersonFigures
from analysis.progress.pace import Pace, pace_of
from analysis.progress.standouts import MIN_CHECKS, MIN_ITEMS, standouts
from analysis.stats.shares import wilson_ends
from annotation.jobs import counts
from annotation.jobs.counts import Counted
from annotation.models import Assignment, Membership, Project, User
from annotation.projects.limits import quotas

PER_PAGE = 40
MOST_NAMED = 5


@dataclass(frozen=True)
class PersonShare:
    """Of items or checks, with Wilson's 95 % interval; of shares that are no whole numbers it is a little too wide."""

    cases: float
    n: int
    least: int  # fewer are shown in grey

    @property
    def value(self) -> float:
        return self.cases / self.n if self.n else -1.0

    @property
    def is_grey(self) -> bool:
        return self.n < self.least

    @property
    def ends(self) -> str:
        low, high = (round(100 * end) for end in wilson_ends(self.cases, self.n))
        return f"{low}–{high} %"

    @property
    def percent(self) -> str:
        return f"{100 * self.value:.0f} %"

    @property
    def counted(self) -> str:
        return f"{self.cases:.0f} of {self.n:,}"


@dataclass
class PersonRow:
    """`reasons`: why the person needs a look."""

    user_id: int
    name: str
    pseudonym: str
    group: str
    figures: PersonFigures = field(default_factory=PersonFigures)
    reasons: list[str] = field(default_factory=list)
    user: User | None = None  # of those on the page

    @property
    def checks(self) -> PersonShare:
        return PersonShare(*self.figures.checks, MIN_CHECKS)

    @property
    def others(self) -> PersonShare:
        return PersonShare(*self.figures.others, MIN_ITEMS)

    @property
    def decided(self) -> PersonShare:
        return PersonShare(*self.figures.decided, MIN_ITEMS)

    @property
    def followed(self) -> PersonShare:
        return PersonShare(*self.figures.followed, MIN_ITEMS)

    @property
    def halves(self) -> tuple[PersonShare, PersonShare]:
        return PersonShare(*self.figures.first, MIN_ITEMS), PersonShare(*self.figures.second, MIN_ITEMS)

    @property
    def change(self) -> float | None:
        """Of agreement with others from the first half of the items to the second, in points."""
        first, second = self.halves
        return 100 * (second.value - first.value) if first.n and second.n else None

    @property
    def has_few_halves(self) -> bool:
        return sum(half.n for half in self.halves) < 2 * MIN_ITEMS

    @property
    def hours(self) -> float:
        return self.figures.seconds / 3600

    @property
    def last_at(self) -> datetime | None:
        return datetime.fromisoformat(self.figures.last) if self.figures.last else None


@dataclass(frozen=True)
class Sort:
    """`of_labels`: for those who may see labels."""

    title: str
    key: Callable[[PersonRow], object]
    highest_first: bool = True
    of_labels: bool = False


# What the list can be sorted by, by the name in the address. The first one is the order without a choice.
SORTS = {
    "look": Sort("", lambda row: len(row.reasons), of_labels=True),
    "person": Sort("Person", lambda row: row.name.casefold(), highest_first=False),
    "items": Sort("Items", lambda row: row.figures.items),
    "time": Sort("Time", lambda row: row.figures.median or 0.0),
    "hours": Sort("Hours", lambda row: row.figures.seconds),
    "checks": Sort("Checks", lambda row: row.checks.value, highest_first=False, of_labels=True),
    "others": Sort("With others", lambda row: row.others.value, highest_first=False, of_labels=True),
    "decided": Sort("With decisions", lambda row: row.decided.value, highest_first=False, of_labels=True),
    "followed": Sort("With suggestions", lambda row: row.followed.value, of_labels=True),
    "drift": Sort("Drift", lambda row: row.change if row.change is not None else 0.0, False, True),
    "skips": Sort("Skips", lambda row: row.figures.skips),
    "flags": Sort("Flags", lambda row: row.figures.flags),
    "comments": Sort("Comments", lambda row: row.figures.comments),
    "last": Sort("Last seen", lambda row: row.figures.last or ""),
}


@dataclass
class ProjectProgress:
    """Of a project as last counted; its people are there where they are asked for."""

    counted: Counted
    items: Mapping[str, int]
    groups: list[tuple[str, list[int]]]
    days: list[tuple[str, int]]
    done: int
    total: int
    pace: Pace
    per_hour: float | None
    people: list[PersonRow] = field(default_factory=list)


def figures_of(counted: Counted) -> dict[str, PersonFigures]:
    people = (counted.values or {}).get("people", {})
    return {who: PersonFigures(*values) for who, values in people.items()}


def people_of(project: Project, counted: Counted) -> list[PersonRow]:
    """All who have ever been annotators here, by name: one query."""
    figures = figures_of(counted)
    reasons = (
        cache.get_or_set(f"standouts:{project.pk}:{counted.counted_at.timestamp()}", lambda: standouts(figures))
        if counted.counted_at
        else standouts(figures)
    )
    raters = project.raters.filter(user__isnull=False)
    tests = project.participations.filter(is_test=True).values("user")
    columns = ("user_id", "name", "user__name", "user__username", "pseudonym", "group")
    rows = []
    for user_id, name, own, username, pseudonym, group in raters.exclude(user__in=tests).values_list(*columns):
        row = PersonRow(user_id, name or own or username, pseudonym, group)
        row.figures, row.reasons = figures.get(str(user_id), row.figures), reasons.get(str(user_id), [])
        rows.append(row)
    return sorted(rows, key=SORTS["person"].key)


def progress_of(project: Project, counted: Counted) -> ProjectProgress:
    values = counted.values or {}
    places, days = values.get("places", {}), values.get("days", {})
    remaining = places.get(Assignment.State.OPEN, 0) + places.get(Assignment.State.LEASED, 0)
    done, total = values.get("team", (0, 0))
    figures = figures_of(counted).values()
    seconds, answered = sum(one.seconds for one in figures), sum(one.items for one in figures)
    return ProjectProgress(
        counted=counted,
        items=values.get("items", {}),
        groups=list(values.get("groups", {}).items()),
        days=sorted(days.items(), reverse=True)[:14],
        done=done,
        total=total,
        pace=pace_of(days, remaining, timezone.now().date()),
        per_hour=3600 * answered / seconds if seconds else None,
    )


def lack_of_room(project: Project, rows: Iterable[PersonRow], remaining: int) -> int:
    """How many of the remaining judgements nobody may give, since people and groups are at their limits, so that more
    people or higher limits are needed; at least so many: nobody is counted out for what they have answered already."""
    if not quotas.are_set(project):
        return 0
    active = project.memberships.filter(role=Membership.Role.ANNOTATOR, is_active=True, user__is_active=True)
    active = set(active.values_list("user_id", flat=True))
    room, answered = defaultdict(float), Counter()
    limits = {group: quotas.person_limit(project, group) for group in {row.group for row in rows}}
    for row in rows:
        answered[row.group] += row.figures.items
        if row.user_id in active:
            limit = limits[row.group]
            room[row.group] += math.inf if limit is None else max(0, limit - row.figures.items)
    for group in room:
        if quota := quotas.group_quota(project, group):
            most = max(0, quota.answers - answered[group]) if quota.answers else math.inf
            room[group] = 0 if quota.is_over else min(room[group], most)
    return max(0, remaining - int(min(remaining, sum(room.values()))))


def counted_people(project: Project) -> Counted:
    return counts.counted("people", project)


def found_in(rows: list[PersonRow], search: str) -> list[PersonRow]:
    """Those with all words of the search in their name or group."""
    words = search.casefold().split()
    return [row for row in rows if all(word in f"{row.name} {row.group}".casefold() for word in words)]


def page_of(rows: list[PersonRow], sort: str, *, is_reversed: bool, number: object):
    """A page of the people in an order, with their accounts: one query, and none of an empty page."""
    by = SORTS[sort]
    ordered = sorted(rows, key=by.key, reverse=by.highest_first != is_reversed)
    page = Paginator(ordered, PER_PAGE).get_page(number)
    users = User.objects.in_bulk([row.user_id for row in page.object_list])
    for row in page.object_list:
        row.user = users[row.user_id]
    return page


def sentence_of(rows: list[PersonRow]) -> str:
    """Who needs a look, and why."""
    found = [row for row in rows if row.reasons]
    compared = [row for row in rows if not (row.checks.is_grey and row.others.is_grey and row.decided.is_grey)]
    if not compared:
        return f"Nobody has {MIN_ITEMS} items with another answer, or {MIN_CHECKS} checks, yet: none are compared."
    if not found:
        return f"No one of {len(compared):,} people differs from the others or has changed."
    named = "; ".join(f"{row.name} {' and '.join(row.reasons)}" for row in found[:MOST_NAMED])
    more = f"; and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    return f"{len(found):,} of {len(compared):,} people need{'s' if len(found) == 1 else ''} a look: {named}{more}."
