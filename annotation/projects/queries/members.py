"""Who is or was in a project, in pages, with what they did as annotators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.core.paginator import Paginator
from django.db.models import Count, Max, Q

from annotation.jobs import counts
from annotation.jobs.counts import Counted
from annotation.models import Assignment, Project, User

PER_PAGE = 40


@dataclass
class MemberRow:
    """`user` is there for those on the page."""

    user_id: int
    name: str
    roles: list[str] = field(default_factory=list)
    former_roles: list[str] = field(default_factory=list)
    done: int = 0
    leased: int = 0
    skipped: int = 0
    last_done_at: datetime | None = None
    user: User | None = None


# What the list can be sorted by: name in the address -> (title of the column, key, whether the highest come first).
SORTS = {
    "person": ("Person", lambda row: row.name.casefold(), False),
    "roles": ("Roles", lambda row: (not row.roles, row.roles), False),
    "judged": ("Judged", lambda row: row.done, True),
    "assigned": ("Assigned now", lambda row: row.leased, True),
    "skipped": ("Skipped", lambda row: row.skipped, True),
    "last": ("Last answer", lambda row: row.last_done_at.timestamp() if row.last_done_at else 0, True),
}


def count_work(projects: Iterable[Project]) -> dict[int, dict[str, list]]:
    """By project and user: assignments that are done, taken and skipped, and when they last answered."""
    found: dict[int, dict[str, list]] = {project.pk: {} for project in projects}
    work = Assignment.objects.filter(project__in=found, rater__user__isnull=False).order_by()
    work = work.exclude(reason__in=Assignment.NO_WORK)
    numbers = [
        Count("pk", filter=Q(state=state))
        for state in (Assignment.State.DONE, Assignment.State.LEASED, Assignment.State.SKIPPED)
    ]
    rows = work.values("project_id", "rater__user_id").annotate(
        done=numbers[0], leased=numbers[1], skipped=numbers[2], last=Max("done_at")
    )
    for row in rows:
        last = row["last"] and row["last"].isoformat()
        found[row["project_id"]][str(row["rater__user_id"])] = [row["done"], row["leased"], row["skipped"], last]
    return found


def member_pages(project: Project, search: str, sort: str, *, is_reversed: bool) -> tuple[Paginator, Counted]:
    """Those with the words in their name or address; the numbers of their work, where they are not of this moment."""
    found = project.memberships.order_by("role")
    for word in search.split():
        found = found.filter(Q(user__name__icontains=word) | Q(user__username__icontains=word))
    rows: dict[int, MemberRow] = {}
    columns = ("user_id", "user__name", "user__username", "role", "is_active")
    for user_id, name, username, role, is_active in found.values_list(*columns):
        row = rows.setdefault(user_id, MemberRow(user_id, name or username))
        (row.roles if is_active else row.former_roles).append(role)
    counted = counts.counted("members", project)
    for user_id, (done, leased, skipped, last) in (counted.values or {}).items():
        if row := rows.get(int(user_id)):
            row.done, row.leased, row.skipped = done, leased, skipped
            row.last_done_at = last and datetime.fromisoformat(last)
    _, key, highest_first = SORTS[sort]
    by_name = sorted(rows.values(), key=SORTS["person"][1])
    return Paginator(sorted(by_name, key=key, reverse=highest_first != is_reversed), PER_PAGE), counted


def with_users(rows: Iterable[MemberRow]) -> list[MemberRow]:
    """The rows of a page: one query."""
    rows = list(rows)
    users = User.objects.in_bulk([row.user_id for row in rows])
    for row in rows:
        row.user = users[row.user_id]
    return rows
