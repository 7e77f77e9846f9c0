"""Reads about projects: progress of one person and of the team, who is in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from django.db.models import Count

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER
from annotation.jobs import counts
from annotation.jobs.counts import Counted
from annotation.models import Assignment, Item, Membership, Project, Rater, Revision, User
from annotation.projects import options
from annotation.projects.limits import last_day
from annotation.projects.queries.outlook import Outlook, outlooks
from annotation.task_types import TaskType

STUCK_LISTED = 10
PLANNED = (Assignment.State.OPEN, Assignment.State.LEASED, Assignment.State.DONE)


@dataclass
class ProjectRow:
    """A project as a person sees it in a list: their roles, what they did, how far all are."""

    project: Project
    type: TaskType
    roles: list[str] = field(default_factory=list)
    mine_done: int = 0
    counted: Counted = Counted({})
    waiting: int = 0  # items that wait for an adjudicator, shown to those who label nothing there themselves
    outlook: Outlook | None = None  # of an annotator
    last_day: date | None = None  # of this person, where the project is open

    @property
    def link(self) -> str:
        return self.outlook.link(self.mine_done) if self.outlook else ""

    @property
    def numbers(self) -> dict[str, int]:
        return self.counted.values or {}

    @property
    def has_items(self) -> bool:
        """What is too large to be counted yet has some."""
        return self.counted.is_waiting or bool(self.numbers.get("items"))

    @property
    def team_done(self) -> int:
        return team_of(self.numbers)[0]

    @property
    def team_total(self) -> int:
        return team_of(self.numbers)[1]


def team_of(numbers: Mapping[str, int]) -> tuple[int, int]:
    """How many judgements are done, and how many are planned or done, of what `work.count_progress` counts. Checks are
    among them: numbers without them would tell checks from work."""
    done = numbers.get(Assignment.State.DONE, 0) + numbers.get("checks_done", 0)
    planned = sum(numbers.get(state, 0) for state in PLANNED)
    return done, max(done, planned + numbers.get("checks_expected", 0))


def project_rows(user: User, projects: Iterable[Project]) -> list[ProjectRow]:
    """One row per project, with as many queries however many there are."""
    rows = {project.pk: ProjectRow(project, project.type) for project in projects}
    memberships = Membership.objects.filter(project__in=rows, user=user, is_active=True).order_by("role")
    for project_id, role in memberships.values_list("project_id", "role"):
        rows[project_id].roles.append(role)
    if user.is_superuser:
        for row in rows.values():
            row.roles = sorted({*row.roles, RESEARCHER})
    for project_id, counted in counts.counted_of("progress", [row.project for row in rows.values()]).items():
        rows[project_id].counted = counted
    mine = Assignment.objects.filter(rater__in=Rater.objects.filter(user=user), state=Assignment.State.DONE)
    mine = mine.exclude(reason__in=Assignment.LEARNING)
    for project_id, done in mine.filter(project__in=rows).order_by().values_list("project_id").annotate(Count("pk")):
        rows[project_id].mine_done = done
    for row in rows.values():
        if ADJUDICATOR in row.roles and ANNOTATOR not in row.roles:
            row.waiting = row.numbers.get("waiting", 0)
    for project_id, outlook in outlooks(user, [row.project for row in rows.values()]).items():
        rows[project_id].outlook = outlook
    for project_id, day in last_day.of_person(user, [row.project for row in rows.values()]).items():
        rows[project_id].last_day = day
    return list(rows.values())


def effects_of_moves(counted: Counted, annotators: int) -> dict[str, str]:
    """What pausing, closing and opening a project does, in sentences with its numbers where they are known."""
    left = held = None
    if not counted.is_waiting:
        left, held = (counted.values.get(state, 0) for state in (Assignment.State.OPEN, Assignment.State.LEASED))
    places, items = _counted(left, "place"), _counted(held, "item")
    people = _counted(annotators, "annotator")
    return {
        "open": f"Opening assigns the {places} that {_are(left)} open to {people}.",
        "pause": f"Pausing assigns nothing more: {places} {_wait(left)} for {people}. The {items} that they hold can "
        "still be answered.",
        "close": f"Closing ends the work of {people}: {places} {_stay(left)} open. Answers to the {items} that they "
        "hold are kept.",
    }


def _counted(n: int | None, one: str) -> str:
    return f"{one}s" if n is None else f"{n:,} {one}{'s' * (n != 1)}"


def _are(n: int | None) -> str:
    return "is" if n == 1 else "are"


def _wait(n: int | None) -> str:
    return "waits" if n == 1 else "wait"


def _stay(n: int | None) -> str:
    return "stays" if n == 1 else "stay"


def holders(project: Project) -> int:
    """How many people hold items."""
    held = Assignment.objects.filter(project=project, state=Assignment.State.LEASED)
    return held.order_by().values("rater").distinct().count()


def count_annotators(project: Project) -> int:
    """Without those whose answers are in no figure, such as test participants."""
    excluded = Rater.objects.filter(project=project, is_excluded=True, user__isnull=False).values("user")
    return project.memberships.filter(role=Membership.Role.ANNOTATOR, is_active=True).exclude(user__in=excluded).count()


def stuck_items(project: Project) -> list[Item]:
    return list(project.items.filter(state=Item.State.STUCK).order_by("position")[:STUCK_LISTED])


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
