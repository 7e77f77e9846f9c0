"""How a participation ends: what is stored, and what goes back to others."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.models import Assignment, Participation, StudyLink
from annotation.projects import cases, reach
from annotation.projects.item_making import reopen

State = Participation.State
# After these, another person can have the place.
FREES_PLACE = frozenset({State.SCREENED_OUT, State.RETURNED, State.TIMED_OUT, State.WITHDRAWN})


def end(participation: Participation, state: str) -> bool:
    """Store how it ended; what the person holds goes back to the others, and so does the place where another person can
    have it. Late answers are still stored. False where it had ended already: only a withdrawal may still follow."""
    rows = Participation.objects.filter(pk=participation.pk)
    with transaction.atomic():
        before = rows.select_for_update(no_key=True).values_list("state", flat=True).get()
        if before != State.ACTIVE and (state != State.WITHDRAWN or before == state):
            return False
        rows.update(state=state, ended_at=timezone.now())
        if state in FREES_PLACE and before not in FREES_PLACE and not participation.is_test:
            StudyLink.objects.filter(pk=participation.link_id, places_used__gt=0).update(
                places_used=F("places_used") - 1
            )
        project_id = participation.project_id
        cases.lock(project_id)  # before places, as answers do
        held = Assignment.objects.filter(project=project_id, rater__user=participation.user_id)
        reopen(held.filter(state=Assignment.State.LEASED))
        reach.check_project(project_id)
    participation.refresh_from_db(fields=["state", "ended_at"])
    return True


def timed_out() -> QuerySet[Participation]:
    """Participations that have taken longer than their link allows."""
    return Participation.objects.filter(state=State.ACTIVE, due_at__lte=timezone.now())


def end_timed_out(link: StudyLink | None = None) -> int:
    """End those that have timed out: of one link, or of all. Returns how many."""
    rows = timed_out() if link is None else timed_out().filter(link=link)
    return sum(end(one, State.TIMED_OUT) for one in rows)
