"""Annotators are shown what was decided of items that they have answered, where the project says so; nothing else."""

import pytest

from analysis.sources.database import DatabaseSource
from annotation.decisions import adjudicating
from annotation.models import LabelAccess, Revision, Shown
from annotation.projects import managing
from tests.blindness.planted import make_planted, marker
from tests.blindness.test_annotators import Browser, leaks
from tests.factories import make_user
from tests.kinds import EACH_KIND
from tests.work.browser import answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db


def answer_two(person) -> list[dict]:
    payloads = []
    for _ in range(2):
        payload = person.next()["payload"]
        for choice in range(6):
            if person.submit(payload, answers_to(payload, choice)).status_code == 200:
                break
        payloads.append(payload)
    return payloads


@EACH_KIND
def test_the_decision_comes_with_items_that_were_answered_and_counts_as_exposure(identifier):
    planted = make_planted(identifier)
    project = planted.project
    person = Browser(planted.annotator, project)
    first, second = answer_two(person)
    held = [given["payload"]] if (given := person.next())["state"] == "item" else []

    def decision_on(payload) -> bool:
        return 'aria-label="Decision"' in person.item(payload["assignment"]).json()["html"]

    assert not decision_on(first)  # off by default
    managing.update_project(project, shows_decisions=True)
    assert decision_on(first) and not any(map(decision_on, held))
    # Of others it tells nothing: not who decided, nor a note, nor what anybody said.
    assert leaks(person.received, planted) == set() and not any(marker("decision") in text for text in person.received)
    shown = Shown.objects.filter(user=planted.annotator)
    assert [(row.what, str(row.item.uuid)) for row in shown] == [(Shown.DECISION, first["item"])]
    # A change of that item is marked and left out by default figures; others are not.
    for payload in (first, second, *held):
        for choice in range(6):
            if person.submit(payload, answers_to(payload, choice)).status_code == 200:
                break
    latest = Revision.objects.filter(annotation__rater__user=planted.annotator, is_latest=True)
    marked = {str(one.annotation.item.uuid) for one in latest if one.labels_seen}
    assert marked == {first["item"]} and latest.count() == 2 + len(held)
    assert len(DatabaseSource(project).labels_seen()) == 1
    assert not LabelAccess.objects.filter(user=planted.annotator).exists()


def test_what_came_with_a_file_is_no_decision_to_be_shown_and_a_reason_is(settings):
    planted = make_planted("claim-evidence/six-way/1")
    project = planted.project
    project.decisions.filter(method="adjudicated").delete()
    managing.update_project(project, shows_decisions=True)
    person = Browser(planted.annotator, project)
    first, _ = answer_two(person)
    html = person.item(first["assignment"]).json()["html"]
    assert 'aria-label="Decision"' not in html and not Shown.objects.filter(user=planted.annotator).exists()
    unit = project.items.get(uuid=first["item"]).item_units.get().unit
    adjudicating.decide(project, planted.adjudicator, unit, "stance", "refutes", marker("note"), reason="ambiguous")
    html = person.item(first["assignment"]).json()["html"]
    assert "Stance: <b>Refutes</b>" in html and "Truly ambiguous" in html and marker("note") not in html


def test_the_setting_is_on_the_projects_page_and_in_the_api():
    project = make_planted("claim-evidence/six-way/1").project
    client = client_of(project.created_by)
    page = client.get(f"/projects/{project.slug}/settings/").content.decode()
    assert "Show annotators what was decided of items that they have answered" in page
    api = f"/api/v1/projects/{project.slug}/settings/"
    assert client.post(api, {"shows_decisions": True}, content_type="application/json").status_code == 200
    assert client.get(api).json()["shows_decisions"] is True
    assert client_of(make_user()).get(api).status_code == 404
