"""Home leads on to the project with work, says what is new, and folds what is over."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Annotation, Guideline, Item, Project
from annotation.projects import guidelines, managing
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    made = make_dataset(make_user("lead"))
    make_claim_evidence(made, 3)
    return made


@pytest.fixture
def ann():
    return make_user("ann")


def test_home_leads_to_the_project_that_was_worked_on_last_and_has_work(dataset, ann):
    early, late, over = (
        make_project(dataset, overlap=1, annotators=[ann], slug=slug) for slug in ("early", "late", "over")
    )
    home = Annotator(ann, early).client

    def lead():
        return home.get("/").context["lead_on"]

    assert (lead().project.pk, lead().has_begun) == (early.pk, False)
    for project in (early, over, late):
        person = Annotator(ann, project)
        person.submit(person.next()["payload"])
    Annotation.objects.filter(item__project=over).update(created_at=timezone.now() + timedelta(hours=1))
    assert (lead().project.pk, lead().has_begun) == (over.pk, True)
    managing.close_project(over)
    assert lead().project.pk == late.pk
    assert "2 items left for you" in re.sub(r"\s+", " ", home.get("/").content.decode())
    for project in (early, late):
        managing.pause_project(project)
    assert lead() is None


def test_newer_guidelines_are_news_until_they_are_acknowledged(dataset, ann):
    project = make_project(dataset, annotators=[ann])
    person = Annotator(ann, project)

    def news():
        return [one.text for one in person.client.get("/").context["news"]]

    guidelines.publish(project, dataset.owner, "Read three times.")
    assert news() == []  # they have read no guidelines yet
    person.acknowledge(2)
    guidelines.publish(project, dataset.owner, "Read four times.")
    assert news() == ["The guidelines have changed: version 3"]
    Guideline.objects.update(created_at=timezone.now() - timedelta(days=15))
    assert news() == []
    Guideline.objects.update(created_at=timezone.now())
    person.acknowledge(3)
    assert news() == []


def test_decisions_on_own_items_are_news_where_the_project_shows_them_until_they_are_looked_at(dataset, ann):
    project = make_project(dataset, overlap=1, annotators=[ann])
    person = Annotator(ann, project)
    payload = person.next()["payload"]
    person.submit(payload)
    item = Item.objects.get(assignments__uuid=payload["assignment"])
    other = project.items.exclude(pk=item.pk).first()
    for one in (item, other):
        project.decisions.create(unit=one.anchor, dimension="relevance", method="adjudicated", label="relevant")

    def news():
        return [(one.text, one.url) for one in person.client.get("/").context["news"]]

    assert news() == []
    Project.objects.filter(pk=project.pk).update(shows_decisions=True)
    address = f"/projects/{project.slug}/my-work/?filter=decided"
    assert news() == [("1 of your answers has a new decision", address)]
    assert [row.item.pk for row in person.client.get(address).context["rows"]] == [item.pk]
    person.item(payload["assignment"])
    assert news() == []


def test_finished_and_closed_projects_are_folded_and_others_are_not(dataset, ann):
    work, finished, closed, paused = (
        make_project(dataset, overlap=1, annotators=[ann], slug=slug)
        for slug in ("work", "finished", "closed", "paused")
    )
    person = Annotator(ann, finished)
    for _ in range(3):
        person.submit(person.next()["payload"])
    managing.close_project(closed)
    managing.pause_project(paused)
    found = person.client.get("/").context
    assert {row.project.title for row in found["folded"]} == {"Finished", "Closed"}
    assert [row.project.title for _, rows in found["groups"] for row in rows] == ["Paused", "Work"]
    lead = Annotator(dataset.owner, work).client.get("/").context
    assert {row.project.title for row in lead["folded"]} == {"Closed"}


def test_many_projects_are_searched_and_grouped(dataset, ann):
    for number in range(9):
        make_project(dataset, annotators=[ann], slug=f"wave-{number}", with_items=False)
    Project.objects.update(state=Project.State.OPEN)
    client = Annotator(ann, None).client
    assert 'name="group"' not in client.get("/").content.decode()
    paused = make_project(dataset, annotators=[ann], slug="winter")
    managing.pause_project(paused)
    assert 'name="group"' in client.get("/").content.decode()
    found = client.get("/", {"search": "wint"}).context
    assert [row.project.title for row in found["rows"]] == ["Winter"]
    grouped = client.get("/", {"group": "state"}).context["groups"]
    assert [(name, len(rows)) for name, rows in grouped] == [("Open", 9), ("Paused", 1)]
    assert client.get("/", {"group": "owner"}).status_code == 400
    # The data set's name is for its researchers.
    assert dataset.title not in client.get("/", {"group": "dataset"}).content.decode()
