"""The last day on which people label in a project, or a group of them, in the server's time zone, and what becomes of
the project then."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.utils import timezone

from annotation.models import Project, Rater, User
from annotation.projects.limits import quotas


def is_over(project: Project) -> bool:
    return project.last_day is not None and project.last_day < timezone.localdate()


def why_not(last_day: date | None, before: date | None) -> str:
    """Why a project cannot get this last day; empty where it can. One that it has already may be over."""
    if last_day is not None and last_day != before and last_day < timezone.localdate():
        return "The last day is over: choose today or a later day"
    return ""


def why_not_of_groups(quotas_text: str, before: str) -> str:
    """The same of the last days of groups."""
    had = quotas.parse(before)
    for name, quota in quotas.parse(quotas_text).items():
        if problem := why_not(quota.until, had[name].until if name in had else None):
            return f"Group {name}: {problem[0].lower()}{problem[1:]}"
    return ""


def of_person(user: User, projects: Iterable[Project]) -> dict[int, date]:
    """By open project with a last day, the person's: the project's or that of their group. One query where a group has
    one."""
    opened = [one for one in projects if one.state == Project.State.OPEN]
    days = {one.pk: [one.last_day] for one in opened}
    with_groups = {one.pk: found for one in opened if (found := quotas.parse(one.group_quotas))}
    if any(quota.until for found in with_groups.values() for quota in found.values()):
        raters = Rater.objects.filter(user=user, project__in=with_groups).values_list("project", "group")
        for project, group in raters:
            days[project].append(with_groups[project].get(group, quotas.Quota()).until)
    return {pk: min(found) for pk, both in days.items() if (found := [*filter(None, both)])}


def why_not_open(project: Project) -> str:
    """Why the project cannot be opened: it would be paused or closed again at once."""
    if is_over(project) and project.at_last_day != Project.AtLastDay.NOTHING:
        return f"The last day was {project.last_day:%-d %B %Y}: choose a later one under Settings first"
    return ""


def reached() -> list[Project]:
    """Open projects whose last day is over and that do not stay open then."""
    rows = Project.objects.filter(state=Project.State.OPEN, last_day__lt=timezone.localdate())
    return list(rows.exclude(at_last_day=Project.AtLastDay.NOTHING).order_by("pk"))
