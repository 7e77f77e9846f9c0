"""What researchers decide about a person who has failed the qualification or checks."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation import editing
from annotation.models import Assignment, Participation, Project, Rater, SettingsChange, User
from annotation.work.learning.results import check_reach, give_work_back

# Way -> its title, and the standings in which it is offered; "" is a person who is still learning.
WAYS = {
    "admit": ("Let in without qualification", ("", Rater.Standing.FAILED)),
    "try": ("Give another try", (Rater.Standing.FAILED,)),
    "go-on": ("Let go on", (Rater.Standing.PAUSED, Rater.Standing.ASKED)),
    "pause": ("Pause", (Rater.Standing.ASKED,)),
}


class NotOffered(Exception):
    """The person stands otherwise by now; the message is for the researcher."""


def ways_for(project: Project, rater: Rater) -> list[tuple[str, str]]:
    """What can be decided about the person: names and titles."""
    is_learning = project.has_learning and rater.admitted_at is None
    return [
        (name, title)
        for name, (title, standings) in WAYS.items()
        if rater.standing in standings and (rater.standing or is_learning)
    ]


def decide_standing(project: Project, rater: Rater, way: str, by: User) -> None:
    """Raises NotOffered where the way is not one of `ways_for` any more. It is in the history of the project."""
    with transaction.atomic():
        rater = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
        if way not in dict(ways_for(project, rater)):
            raise NotOffered(f"{rater} stands otherwise by now")
        before, now = rater.standing, timezone.now()
        if before == Rater.Standing.FAILED:
            ended = Participation.objects.filter(project=project, user=rater.user_id, state=Participation.State.FAILED)
            ended.update(state=Participation.State.ACTIVE, ended_at=None)
        rater.standing, rater.standing_at = "", now
        if way == "admit":
            rater.admitted_at = now
            _end_lessons(rater)
        elif way == "try":
            rater.attempt, rater.extra_tries = rater.attempt + 1, rater.extra_tries + 1
        elif way == "pause":
            rater.standing = Rater.Standing.PAUSED
        rater.save(update_fields=["standing", "standing_at", "admitted_at", "attempt", "extra_tries"])
        values = ({"standing": str(before)}, {"standing": WAYS[way][0]})
        editing.record(by, project, SettingsChange.What.LEARNING, *values, about=str(rater))
        transaction.on_commit(lambda: give_work_back(project, rater) if way == "pause" else check_reach(project))


def _end_lessons(rater: Rater) -> None:
    """Items of training and qualification that the person has open are given no more."""
    held = Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED, reason__in=Assignment.LEARNING)
    held.filter(annotation__isnull=False).update(state=Assignment.State.DONE, lease_expires_at=None)
    held.update(state=Assignment.State.CANCELLED, rater=None, leased_at=None, lease_expires_at=None)
