"""Study links: what researchers make, extend and end."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from django.db.models import F
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation import editing
from annotation.models import Assignment, Project, SettingsChange, StudyLink, User
from annotation.participation import steps
from annotation.projects.limits import quotas

MOST_PLACES = 100_000
MOST_MINUTES = 366 * 24 * 60
_EDITED = ("title", "places", "expires_at", "group", "most_items", "minutes", "panel", "parameters", "endings")


class LinkError(Exception):
    """The link cannot be changed so; the message is for the researcher."""


def end_of(day: date) -> datetime:
    """The first moment after the day."""
    return datetime.combine(day + timedelta(days=1), time(), tzinfo=timezone.get_default_timezone())


def make_link(project: Project, by: User, **values) -> StudyLink:
    """A new link of the project, open at once. `values` are fields of the link that researchers choose."""
    link = StudyLink.objects.create(project=project, created_by=by, **values)
    steps.set_step(project, steps.FINISH, True)
    _record(link, by, {}, values_of(link))
    return link


def update_link(link: StudyLink, by: User, **values) -> StudyLink:
    """Change what researchers choose. LinkError where fewer places are wanted than are taken."""
    with editing.locked(link):
        if values.get("places", link.places) < link.places_used:
            raise LinkError(f"{link.places_used} places are taken already")
        before = values_of(link)
        for name, value in values.items():
            setattr(link, name, value)
        link.save(update_fields=list(values))
        _record(link, by, before, values_of(link))
    return link


def close_link(link: StudyLink, by: User) -> None:
    """Nobody else joins by it; who has joined goes on."""
    if StudyLink.objects.filter(pk=link.pk, closed_at=None).update(closed_at=timezone.now()):
        _record(link, by, {"state": "open"}, {"state": "closed"})


def reopen_link(link: StudyLink, by: User) -> None:
    if StudyLink.objects.filter(pk=link.pk).exclude(closed_at=None).update(closed_at=None):
        _record(link, by, {"state": "closed"}, {"state": "open"})


def obstacle(link: StudyLink) -> str:
    """Why nobody can join by the link now, in a sentence for a person who wants to; empty where they can."""
    project = link.project
    if link.closed_at is not None or project.state == Project.State.CLOSED:
        return _("This study is closed, and takes no more participants.")
    if day := _last_day_over(link):
        return _("The link to this study has expired: {day} was its last day.").format(day=date_format(day, "j F Y"))
    if project.state == Project.State.PREPARING:
        return _("This study has not begun yet. Please come back later.")
    if project.state == Project.State.PAUSED:
        return _("This study is paused. Please come back later.")
    if link.places_used >= link.places:
        return _("This study is full: all places are taken.")
    if not _needs_answers(link):
        return _("This study has all the answers that it needs, and takes no more participants.")
    return ""


def _last_day_over(link: StudyLink) -> date | None:
    """Of the link or of the group that people join by it, where that is over."""
    if link.expires_at is not None and link.expires_at <= timezone.now():
        return link.last_day
    quota = quotas.group_quota(link.project, link.group)
    return quota.until if quota is not None and quota.is_over else None


def _needs_answers(link: StudyLink) -> bool:
    """Whether anything is left that a person could be given now or once others give it back: who joins for nothing
    would be led to the end at once, and paid."""
    places = Assignment.objects.filter(project=link.project_id)
    held = places.filter(state=Assignment.State.LEASED).exclude(reason__in=Assignment.NO_WORK)
    if not (places.filter(state=Assignment.State.OPEN).exists() or held.exists()):
        return False
    quota = quotas.group_quota(link.project, link.group)
    if quota is None or not quota.answers:
        return True
    done = quotas.answers_of(link.project_id, link.group).filter(state=Assignment.State.DONE)
    return done.count() < quota.answers


def state_of(link: StudyLink) -> str:
    """One word for lists: why nobody can join, or `open`."""
    if link.closed_at is not None:
        return "closed"
    if _last_day_over(link):
        return "expired"
    return "full" if link.places_used >= link.places else "open"


def take_place(link: StudyLink) -> bool:
    """Take one of the places, in a transaction of the caller's. False where none is left, or the link was closed."""
    free = StudyLink.objects.filter(pk=link.pk, closed_at=None, places_used__lt=F("places"))
    return bool(free.update(places_used=F("places_used") + 1))


def values_of(link: StudyLink) -> dict:
    """What the history shows of the link."""
    values = {name: getattr(link, name) for name in _EDITED} | {"signed": bool(link.signing_key)}
    return {
        name: str(value) if isinstance(value, datetime) else _in_words(value) if isinstance(value, dict) else value
        for name, value in values.items()
    }


def _in_words(value: dict) -> list[str]:
    return [f"{name}: {one}" for name, one in sorted(value.items())]


def _record(link: StudyLink, by: User, before: dict, after: dict) -> None:
    editing.record(by, link.project, SettingsChange.What.STUDY_LINK, before, after, link.title)
