"""The last day on which people label in a project, in the server's time zone, and what becomes of the project then."""

from __future__ import annotations

from datetime import date

from django.utils import timezone

from annotation.models import Project


def is_over(project: Project) -> bool:
    return project.last_day is not None and project.last_day < timezone.localdate()


def why_not(last_day: date | None, before: date | None) -> str:
    """Why a project cannot get this last day; empty where it can. One that it has already may be over."""
    if last_day is not None and last_day != before and last_day < timezone.localdate():
        return "The last day is over: choose today or a later day"
    return ""


def why_not_open(project: Project) -> str:
    """Why the project cannot be opened: it would be paused or closed again at once."""
    if is_over(project) and project.at_last_day != Project.AtLastDay.NOTHING:
        return f"The last day was {project.last_day:%-d %B %Y}: choose a later one under Settings first"
    return ""


def reached() -> list[Project]:
    """Open projects whose last day is over and that do not stay open then."""
    rows = Project.objects.filter(state=Project.State.OPEN, last_day__lt=timezone.localdate())
    return list(rows.exclude(at_last_day=Project.AtLastDay.NOTHING).order_by("pk"))
