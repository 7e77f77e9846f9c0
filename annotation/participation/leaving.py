"""How a participation ends."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from annotation.models import Participation, StudyLink

State = Participation.State
# After these, another person can have the place.
FREES_PLACE = frozenset({State.RETURNED, State.WITHDRAWN})


def end(participation: Participation, state: str) -> bool:
    """Store how it ended, in a transaction of the caller's. False where it had ended already: only a withdrawal may
    still follow."""
    rows = Participation.objects.filter(pk=participation.pk)
    before = State.ACTIVE
    if not rows.filter(state=before).update(state=state, ended_at=timezone.now()):
        if state != State.WITHDRAWN:
            return False
        before = rows.values_list("state", flat=True).get()
        if not rows.exclude(state=state).update(state=state, ended_at=timezone.now()):
            return False
    participation.refresh_from_db(fields=["state", "ended_at"])
    if state in FREES_PLACE and before not in FREES_PLACE:
        StudyLink.objects.filter(pk=participation.link_id, places_used__gt=0).update(places_used=F("places_used") - 1)
    return True
