"""Moving last days to a later day at once: the project's, those of groups, and those of study links."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date

from django.utils import timezone

from annotation import editing
from annotation.models import Membership, Project, StudyLink, User
from annotation.participation import links
from annotation.projects import managing
from annotation.projects.limits import last_day, quotas

PROJECT, GROUP, LINK = "project", "group", "link"


class ExtendingError(Exception):
    """What was asked for cannot be done; the message is for the person who asked."""


@dataclass(frozen=True)
class Deadline:
    """`key` is its name in forms; `about` says whom or what the day is about."""

    key: str
    title: str
    day: date
    about: str

    @property
    def is_over(self) -> bool:
        return self.day < timezone.localdate()


def deadlines(project: Project) -> list[Deadline]:
    found = []
    if project.last_day:
        places = "it is open" if project.state == Project.State.OPEN else f"it stays {project.state} until it is opened"
        found.append(Deadline(PROJECT, "The project", project.last_day, places))
    for name, quota in quotas.parse(project.group_quotas).items():
        if quota.until:
            n = _annotators_in(project, name)
            about = f"{n:,} annotator{'s' * (n != 1)}"
            found.append(Deadline(f"{GROUP} {name}", f"Group {name}", quota.until, about))
    for link in _links(project):
        free = link.places - link.places_used
        about = f"{free:,} place{'s' * (free != 1)} left" + (", and the link is closed" if link.closed_at else "")
        found.append(Deadline(f"{LINK} {link.uuid}", f"Study link {link.title}", link.last_day, about))
    return found


def _links(project: Project) -> list[StudyLink]:
    return list(project.study_links.exclude(expires_at=None).order_by("pk"))


def _annotators_in(project: Project, group: str) -> int:
    active = project.memberships.filter(role=Membership.Role.ANNOTATOR, is_active=True, user__is_active=True)
    return project.raters.filter(group=group, is_excluded=False, user__in=active.values("user")).count()


def chosen(project: Project, keys: Collection[str], day: date) -> list[Deadline]:
    """Those that move to the day, as they are now. ExtendingError where one ends later, or there is none such."""
    if problem := last_day.why_not(day, None):
        raise ExtendingError(problem)
    found = [one for one in deadlines(project) if one.key in keys]
    if len(found) < len(set(keys)):
        raise ExtendingError("One of these has no last day any more: choose again")
    for one in found:
        if one.day >= day:
            raise ExtendingError(f"{one.title} has {one.day:%-d %B %Y} already: choose a later day, or leave it out")
    return found


def digest(moved: Collection[Deadline], day: date) -> str:
    """Of what a page says that moving these does."""
    return editing.digest_of([[one.key, one.day.isoformat(), one.about] for one in moved] + [day.isoformat()])


def extend(project: Project, by: User, keys: Collection[str], day: date, expected: str) -> int:
    """Move these last days, all or none: how many. ExtendingError where it is not what the page said (`digest`)."""
    with editing.locked(project):
        moved = chosen(project, keys, day)
        if digest(moved, day) != expected:
            raise ExtendingError("Nothing is moved yet: something changed since the effect was shown, look at it again")
        changes: dict = {"last_day": day} if PROJECT in keys else {}
        had = quotas.parse(project.group_quotas)
        later = {name: replace(quota, until=day) for name, quota in had.items() if f"{GROUP} {name}" in keys}
        if later:
            changes["group_quotas"] = quotas.written(had | later)
        if changes:
            managing.update_project(project, by, **changes)
        for link in _links(project):
            if f"{LINK} {link.uuid}" in keys:
                links.update_link(link, by, expires_at=links.end_of(day))
        return len(moved)
