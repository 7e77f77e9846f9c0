"""A project's last day: shown to annotators, and what becomes of the project when it is over."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import tasks
from annotation.models import Project
from annotation.projects import managing
from tests.api.programs import Program, problem_of
from tests.factories import MORE_SETTINGS, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db


def day(days: int):
    return timezone.localdate() + timedelta(days=days)


@pytest.fixture
def project():
    dataset = make_dataset()
    make_claim_evidence(dataset, 2)
    return make_project(dataset, overlap=1, annotators=[make_user("ann")])


def state_after_the_sweep(project) -> str:
    tasks.sweep()
    project.refresh_from_db()
    return project.state


@pytest.mark.parametrize(("action", "state"), [("pause", "paused"), ("close", "closed"), ("none", "open")])
def test_when_the_last_day_is_over_the_project_does_what_was_chosen(project, action, state):
    managing.update_project(project, project.created_by, last_day=day(0), at_last_day=action)
    ann = Annotator(project.memberships.get(role="annotator").user, project)
    held = ann.next()["payload"]
    assert state_after_the_sweep(project) == "open", "the day itself is one to label on"
    Project.objects.filter(pk=project.pk).update(last_day=day(-1))
    assert state_after_the_sweep(project) == state
    assert ann.submit(held).json()["status"] == "saved"
    changes = [one.changes for one in project.settings_changes.filter(what="state")]
    assert changes == ([] if state == "open" else [{"state": ["open", state]}])


def test_a_project_is_opened_again_after_its_last_day_was_moved(project):
    Project.objects.filter(pk=project.pk).update(last_day=day(-1))
    assert state_after_the_sweep(project) == "paused"
    client = client_of(project.created_by)
    page = client.post(f"/projects/{project.slug}/state/", {"move": "open"}, follow=True).content.decode()
    assert "The last day was" in page and state_after_the_sweep(project) == "paused"
    program = Program(project.created_by)
    problem = problem_of(program.send(f"projects/{project.slug}/settings/", {"last_day": "2020-01-01"}), 422)
    assert "The last day is over" in str(problem)
    settings = MORE_SETTINGS | {"title": "A", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    place = f"/projects/{project.slug}/settings/"
    assert "The last day is over" in client.post(place, settings | {"last_day": day(-2)}).content.decode()
    assert client.post(place, settings | {"last_day": day(7).isoformat()}).status_code == 302
    client.post(f"/projects/{project.slug}/state/", {"move": "open"})
    assert state_after_the_sweep(project) == "open"
    assert project.settings_changes.filter(what="settings").get().changes["last_day"] == [
        day(-1).isoformat(),
        day(7).isoformat(),
    ]


def test_annotators_see_the_last_day_and_programs_set_and_remove_it(project):
    program = Program(project.created_by)
    place = f"projects/{project.slug}/settings/"
    assert program.send(place, {"last_day": day(3).isoformat()}).json()["last_day"] == day(3).isoformat()
    client = client_of(project.memberships.get(role="annotator").user)
    words = f"{day(3):%-d %B %Y}"
    home = client.get("/").content.decode()
    assert home.count(f"Until {words}") == 2  # where to go on, and among the projects
    assert words in client.get(f"/projects/{project.slug}/").content.decode()
    assert f"Until {words}" in client.get(f"/projects/{project.slug}/work/").content.decode()
    assert program.send(place, {"last_day": None}).json()["last_day"] is None
    assert "data-last-day" not in client.get("/").content.decode()
