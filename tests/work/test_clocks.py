"""A browser's clock that is an hour off: times, pay and what was seen are by the server's."""

from datetime import datetime, timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from analysis.progress import people
from annotation.models import Annotation, Assignment, Project, opened_at
from tests.factories import make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.work.browser import Annotator

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def ann():
    dataset = make_dataset()
    make_claim_evidence(dataset, 3)
    project = make_project(dataset, prefill="shown", annotators=[make_user("ann")], minimum_seconds=20)
    make_suggestions(project)
    person = Annotator(project.memberships.get(user__name="ann").user, project)
    person.acknowledge()
    return person


@pytest.mark.parametrize("hours", [-1, 1])
def test_an_answer_from_a_clock_that_is_an_hour_off_has_the_servers_times(ann, hours):
    off = timedelta(hours=hours)

    def by_their_clock(moment: datetime) -> str:
        return (moment + off).isoformat()

    payload = ann.next()["payload"]
    opened = timezone.now()
    ann.post(payload["assignment"], "shown", {"at": by_their_clock(opened), "suggestions": True})
    times = {"shown_at": by_their_clock(opened), "suggestions_shown_at": by_their_clock(opened), "active_ms": 9000}
    soon = by_their_clock(opened + timedelta(seconds=9))
    assert ann.submit(payload, submitted_at=soon, **times).status_code == 422, "too soon, whatever the clock says"
    # The server sees 30 seconds pass.
    for name in ("leased_at", "shown_at", "suggestions_shown_at"):
        Assignment.objects.filter(uuid=payload["assignment"]).update(**{name: F(name) - timedelta(seconds=30)})
    later = by_their_clock(opened + timedelta(seconds=30))
    assert ann.submit(payload, submitted_at=later, **times).status_code == 200
    row, now = Assignment.objects.get(uuid=payload["assignment"]), timezone.now()
    assert row.leased_at <= row.shown_at <= row.done_at <= now
    assert row.leased_at <= row.suggestions_shown_at <= row.done_at
    shown = Annotation.objects.values_list(opened_at("revisions__"), flat=True).get()
    assert abs((row.done_at - shown) - timedelta(seconds=30)) < timedelta(seconds=1)
    Project.objects.update(pay_per="hour")
    [person] = people.people_of(ann.project, people.counted_people(ann.project))
    assert 30 <= person.figures.seconds < 60
