"""Reads about projects: progress of one person and of the team, who is in."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db.models import Count, Max, Q

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER
from annotation.models import Assignment, Case, Item, Membership, Project, Rater, Revision, User
from annotation.projects import cases, options
from annotation.projects.queries.outlook import Outlook, outlooks
from annotation.task_types import TaskType

# Counts that take so long are kept, for so long that counting takes this share of the time.
LONG_SECONDS, COUNTING_SHARE = 0.1, 0.005
STUCK_LISTED = 10
COUNTED = (Assignment.State.OPEN, Assignment.State.LEASED, Assignment.State.DONE)


@dataclass
class ProjectRow:
    """A project as a person sees it in a list: their roles, what they did, how far all are."""

    project: Project
    type: TaskType
    roles: list[str] = field(default_factory=list)
    mine_done: int = 0
    team_done: int = 0
    team_total: int = 0
    waiting: int = 0  # items that wait for an adjudicator, shown to those who label nothing there themselves
    outlook: Outlook | None = None  # of an annotator

    @property
    def link(self) -> str:
        return self.outlook.link(self.mine_done) if self.outlook else ""


def _team(ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """By project the judgements that are planned and done: one query. What took long to count is kept for a while."""
    kept = cache.get_many([f"judgements:{pk}" for pk in ids])
    found = {pk: kept[f"judgements:{pk}"] for pk in ids if f"judgements:{pk}" in kept}
    counted = Assignment.objects.filter(project__in=[pk for pk in ids if pk not in found], state__in=COUNTED)
    started = time.perf_counter()
    of_project = counted.order_by().values_list("project_id")
    counts = of_project.annotate(n=Count("pk"), done=Count("pk", filter=Q(state=Assignment.State.DONE)))
    new = {pk: (total, done) for pk, total, done in counts}
    if (spent := time.perf_counter() - started) > LONG_SECONDS:
        cache.set_many({f"judgements:{pk}": counts for pk, counts in new.items()}, min(900, spent / COUNTING_SHARE))
    return found | new


def project_rows(user: User, projects: Iterable[Project]) -> list[ProjectRow]:
    """One row per project, with seven queries however many there are."""
    rows = {project.pk: ProjectRow(project, project.type) for project in projects}
    memberships = Membership.objects.filter(project__in=rows, user=user, is_active=True).order_by("role")
    for project_id, role in memberships.values_list("project_id", "role"):
        rows[project_id].roles.append(role)
    if user.is_superuser:
        for row in rows.values():
            row.roles = sorted({*row.roles, RESEARCHER})
    for project_id, (total, done) in _team(rows).items():
        rows[project_id].team_total, rows[project_id].team_done = total, done
    mine = Assignment.objects.filter(rater__in=Rater.objects.filter(user=user), state=Assignment.State.DONE)
    for project_id, done in mine.filter(project__in=rows).order_by().values_list("project_id").annotate(Count("pk")):
        rows[project_id].mine_done = done
    desks = [pk for pk, row in rows.items() if ADJUDICATOR in row.roles and ANNOTATOR not in row.roles]
    waiting = Case.objects.filter(cases.WAITING, project__in=desks).order_by().values_list("project_id")
    for project_id, number in waiting.annotate(Count("pk")):
        rows[project_id].waiting = number
    for project_id, outlook in outlooks(user, [row.project for row in rows.values()]).items():
        rows[project_id].outlook = outlook
    return list(rows.values())


@dataclass
class ItemCounts:
    total: int = 0
    stuck: int = 0
    retired: int = 0
    without_units: int = 0
    skips: int = 0
    flagged: int = 0


def item_counts(project: Project) -> ItemCounts:
    items = project.items.aggregate(
        total=Count("pk"),
        stuck=Count("pk", filter=Q(state=Item.State.STUCK)),
        retired=Count("pk", filter=Q(state=Item.State.RETIRED)),
        without_units=Count("pk", filter=Q(unit_count=0)),
    )
    skips = project.assignments.filter(state=Assignment.State.SKIPPED).aggregate(
        skips=Count("pk"), flagged=Count("pk", filter=Q(is_flagged=True))
    )
    return ItemCounts(**items, **skips)


def stuck_items(project: Project) -> list[Item]:
    return list(project.items.filter(state=Item.State.STUCK).order_by("position")[:STUCK_LISTED])


@dataclass
class MemberRow:
    user: User
    roles: list[str] = field(default_factory=list)
    former_roles: list[str] = field(default_factory=list)
    done: int = 0
    leased: int = 0
    skipped: int = 0
    last_done_at: object = None


def member_rows(project: Project) -> list[MemberRow]:
    """Everybody who is or was in the project, with what they did as annotators."""
    rows: dict[int, MemberRow] = {}
    for membership in project.memberships.select_related("user").order_by("user__name", "user__username", "role"):
        row = rows.setdefault(membership.user_id, MemberRow(membership.user))
        (row.roles if membership.is_active else row.former_roles).append(membership.role)
    work = (
        project.assignments.filter(rater__user__isnull=False)
        .order_by()
        .values_list("rater__user_id")
        .annotate(
            done=Count("pk", filter=Q(state=Assignment.State.DONE)),
            leased=Count("pk", filter=Q(state=Assignment.State.LEASED)),
            skipped=Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
            last=Max("done_at"),
        )
    )
    for user_id, done, leased, skipped, last in work:
        if user_id in rows:
            row = rows[user_id]
            row.done, row.leased, row.skipped, row.last_done_at = done, leased, skipped, last
    return list(rows.values())


def outside_raters(project: Project) -> dict[str, int]:
    """How many raters came with imported files, by kind."""
    counts = project.raters.exclude(kind=Rater.Kind.MEMBER).order_by().values_list("kind").annotate(Count("pk"))
    return dict(counts)


def questions_changed_for(project: Project, user: User) -> bool:
    """Whether the project has asked differently since this person last labelled in it."""
    if not project.options_version:
        return False
    own = Revision.objects.filter(annotation__rater__project=project, annotation__rater__user=user)
    last = own.order_by("-pk").values_list("metadata", flat=True).first()
    return last is not None and options.named_version(last) < project.options_version
