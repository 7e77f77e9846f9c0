"""How many items a person and a group may have in a project.

A person has no more than the setting `person_most_items`, the share `person_most_percent` of the items, and what the
quota of their group says of each member. A group has no more answers than its quota (`group_quotas`), and gets no items
after its last day. What is held counts with what is answered, so the limits hold when people take items at the same
moment: a person's rater is locked then, and so is the group's row.

Nothing here counts a group each time: `GroupSpare` says how many more items the group can surely have, and the answers
are counted only when that is used up. What comes back meanwhile is found by the next count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from annotation import incoming
from annotation.models import Assignment, GroupSpare, Item, Project, Rater

SETTINGS = ("person_most_items", "person_most_percent", "group_quotas")
MOST = 10_000_000
COUNTED_STATES = (Assignment.State.LEASED, Assignment.State.DONE)
# The outlooks of who gets nothing more.
PERSON_DONE, GROUP_DONE, GROUP_WAITS, GROUP_OVER = "share", "group-share", "waiting", "group-last-day"
EXAMPLES = "“experts: 200” or “crowd: 1000, 10 each, until 2026-12-24”"


@dataclass(frozen=True)
class Quota:
    """Of a group: answers in all and items of each member (0: no limit), and the last day on which it gets items."""

    answers: int = 0
    each: int = 0
    until: date | None = None

    def __str__(self) -> str:
        parts = (self.answers, self.each and f"{self.each} each", self.until and f"until {self.until.isoformat()}")
        return ", ".join(str(part) for part in parts if part)

    @property
    def is_over(self) -> bool:
        return self.until is not None and self.until < timezone.localdate()


@lru_cache(maxsize=1000)
def parse(text: str) -> Mapping[str, Quota]:
    """Quotas such as `experts: 200; crowd: 1000, 10 each, until 2026-12-24`. Refused where one is not written so."""
    found: dict[str, Quota] = {}
    for part in filter(None, map(str.strip, text.replace("\n", ";").split(";"))):
        name, _, limits = (piece.strip() for piece in part.rpartition(":"))
        try:
            pairs = [_limit_of(piece.strip()) for piece in limits.split(",")]
        except ValueError:
            pairs = []
        if not name or not pairs or len(dict(pairs)) < len(pairs):
            raise incoming.Refused(f"has {part!r}, which is no quota such as {EXAMPLES}")
        if name in found:
            raise incoming.Refused(f"has two quotas of the group {name!r}")
        found[name] = Quota(**dict(pairs))
    return found


def _limit_of(text: str) -> tuple[str, int | date]:
    """What it limits, and by what. ValueError where it is none."""
    if text.startswith("until "):
        return "until", date.fromisoformat(text.removeprefix("until ").strip())
    number = text.removesuffix("each").strip()
    if not (number.isascii() and number.isdecimal() and len(number) <= len(str(MOST)) and 0 < int(number) <= MOST):
        raise ValueError(text)
    return "each" if text.endswith("each") else "answers", int(number)


def written(quotas: Mapping[str, Quota]) -> str:
    """As `parse` reads them."""
    return "; ".join(f"{name}: {quota}" for name, quota in quotas.items())


def are_set(project: Project) -> bool:
    return bool(project.person_most_items or project.person_most_percent or project.group_quotas)


def group_quota(project: Project, group: str) -> Quota | None:
    return parse(project.group_quotas).get(group) if group and project.group_quotas else None


def person_limit(project: Project, group: str) -> int | None:
    """How many items one person of the group may have; None where there is no limit."""
    quota = group_quota(project, group)
    limits = [project.person_most_items, quota.each if quota else 0]
    if project.person_most_percent:
        items = _count_items(project.pk, project.created_at, project.queue_epoch)
        limits.append(max(1, math.floor(items * project.person_most_percent / 100)))
    return min(filter(None, limits), default=None)


@lru_cache(maxsize=1000)
def _count_items(project_id: int, _created_at: object, _queue_epoch: int) -> int:
    """Counted again when items are added, which raises the project's `queue_epoch`."""
    items = Item.objects.filter(project=project_id, unit_count__gt=0).exclude(state__in=Item.LEFT_OUT)
    return items.count()


def items_of(rater_id: int) -> QuerySet[Assignment]:
    """What a person holds or has answered of work and checks."""
    rows = Assignment.objects.filter(rater=rater_id, state__in=COUNTED_STATES)
    return rows.exclude(reason__in=Assignment.LEARNING)


def answers_of(project_id: int, group: str) -> QuerySet[Assignment]:
    """What the group's members hold or have answered, checks apart, but for those whose answers are left out."""
    members = Rater.objects.filter(project=project_id, group=group, is_excluded=False, user__isnull=False)
    rows = Assignment.objects.filter(rater__in=members, state__in=COUNTED_STATES)
    return rows.exclude(reason__in=Assignment.NO_WORK)


def may_take(project: Project, rater: Rater) -> bool:
    """Whether the person may be given one more item, which is then counted. In the transaction that gives it, after
    the rater was locked; the group's row is locked here."""
    quota = group_quota(project, rater.group)
    if quota is not None and quota.is_over:
        return False
    limit = person_limit(project, rater.group)
    if limit is not None and _count_items_of(rater.pk) >= limit:
        return False
    return rater.is_excluded or not (quota and quota.answers) or _take_spare(project, rater.group, quota)


# By hand, like all statements of taking an item.
_ITEMS_OF = """
SELECT COUNT(*) FROM annotation_assignment
WHERE rater_id = %s AND state IN ('leased', 'done') AND reason NOT IN ('training', 'qualification')
"""
_SPARE = 'UPDATE annotation_groupspare SET spare = spare - 1 WHERE project_id = %s AND "group" = %s AND spare > 0'


def _count_items_of(rater_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_ITEMS_OF, [rater_id])
        return cursor.fetchone()[0]


def _take_spare(project: Project, group: str, quota: Quota) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_SPARE, [project.pk, group])
        if cursor.rowcount:
            return True
    rows = GroupSpare.objects.select_for_update(no_key=True).filter(project=project, group=group)
    row = rows.first()
    if row is None:
        GroupSpare.objects.get_or_create(project=project, group=group)
        row = rows.get()
    if not row.spare:
        row.spare = max(0, quota.answers - answers_of(project.pk, group).count())
    if not row.spare:
        return False
    GroupSpare.objects.filter(pk=row.pk).update(spare=row.spare - 1)
    return True


def count_anew(project: Project) -> None:
    """After a change of quotas, or of who is in a group."""
    GroupSpare.objects.filter(project=project).update(spare=0)


def group_left(project: Project, rater: Rater) -> int | None:
    """How many answers the person's group may still give, beyond what others hold; None where there is no limit."""
    quota = group_quota(project, rater.group)
    if quota is not None and quota.is_over:
        return items_of(rater.pk).filter(state=Assignment.State.LEASED).count()
    if quota is None or not quota.answers:
        return None
    rows = answers_of(project.pk, rater.group)
    return max(0, quota.answers - rows.exclude(rater=rater, state=Assignment.State.LEASED).count())


def why_nothing(project: Project, rater: Rater) -> str:
    """The outlook of a person who holds nothing and is at a limit; empty where they may have more items."""
    quota = group_quota(project, rater.group)
    if quota is not None and quota.is_over:
        return GROUP_OVER
    limit = person_limit(project, rater.group)
    if limit is not None and items_of(rater.pk).count() >= limit:
        return PERSON_DONE
    if quota is None or not quota.answers:
        return ""
    rows = answers_of(project.pk, rater.group)
    if rows.count() < quota.answers:
        return ""
    # What others hold may come back.
    is_held = rows.filter(state=Assignment.State.LEASED).exclude(rater=rater).exists()
    return GROUP_WAITS if is_held else GROUP_DONE
