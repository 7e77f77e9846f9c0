"""The one button that a project's overview, a finished report and a finished export lead on with."""

import re

import pytest

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Job, Membership, Project
from annotation.projects import managing
from tests import factories
from tests.world import client_of, label_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    return factories.make_user("rosa", is_staff=True)


@pytest.fixture
def dataset(rosa):
    dataset = factories.make_dataset(rosa)
    factories.make_claim_evidence(dataset, 2)
    return dataset


def page_of(user, project, where: str = "") -> str:
    response = client_of(user).get(f"/projects/{project.slug}/{where}")
    assert response.status_code == 200
    return response.content.decode()


def next_of(page: str) -> list[tuple[str, str]]:
    """Address and words of the links that are primary buttons."""
    return re.findall(r'<a class="button primary" href="([^"]*)">([^<]*)', page)


def test_nothing_is_said_to_be_missing_while_items_are_created(rosa, dataset):
    for identifier in ("claim-evidence/six-way/1", "triplets/-/1", "aspect-coverage/-/1"):
        project = factories.make_project(dataset, identifier, with_items=False, state=Project.State.PREPARING)
        for page in (page_of(rosa, project), client_of(rosa).get("/").content.decode()):
            assert "reating items" in page or "items are ready" in page
            assert "othing to judge" not in page and "obody labels here" not in page
        assert next_of(page_of(rosa, project)) == []


def test_no_checker_is_proposed_for_questions_that_none_answers(rosa, dataset):
    tone = {"name": "Tone", "version": 1, "page": "claim"}
    labels = [{"value": one, "title": one} for one in ("calm", "loud")]
    tone |= {"questions": [{"slug": "tone", "title": "Tone", "labels": labels}]}
    project = factories.make_label_set_project(tone, ["It froze."], overlap=1)
    managing.add_member(project, factories.make_user("ann"), Membership.Role.ANNOTATOR)
    overview = page_of(project.created_by, project)
    assert next_of(overview) == [] and "Start a checker" not in overview
    runs = page_of(project.created_by, project, "runs/")
    assert "which no checker answers" in runs and "Start a retrieval" not in runs


def test_the_overview_leads_from_people_to_the_agreement(rosa, dataset):
    project = factories.make_project(dataset, overlap=1)
    address = f"/projects/{project.slug}/"
    assert next_of(page_of(rosa, project)) == [(f"{address}start/", "Invite annotators")]
    ann = factories.make_user("ann")
    managing.add_member(project, ann, Membership.Role.ANNOTATOR)
    assert next_of(page_of(rosa, project)) == [(f"{address}runs/", "Start a checker")]
    assert next_of(page_of(ann, project)) == [(f"{address}work/", "Start labelling")]
    label_one(project, ann)
    assert next_of(page_of(rosa, project)) == [(f"{address}agreement/", "See the agreement")]


def test_who_still_labels_is_led_to_labelling_alone(rosa, dataset):
    """And not by whether others have answered."""
    ann = factories.make_user("ann")
    project = factories.make_project(dataset, overlap=2, annotators=[rosa, ann])
    before = next_of(page_of(rosa, project))
    label_one(project, ann)
    assert next_of(page_of(rosa, project)) == before == [(f"/projects/{project.slug}/work/", "Start labelling")]


def test_a_project_without_items_leads_to_where_they_come_from(rosa):
    dataset = factories.make_dataset(rosa)
    project = factories.make_project(dataset)
    assert next_of(page_of(rosa, project)) == [(f"/projects/{project.slug}/retrieval/", "Retrieve evidence")]


def test_a_finished_export_leads_to_a_release(rosa, dataset):
    project = factories.make_project(dataset, overlap=0)
    assert next_of(page_of(rosa, project, "exports/")) == []
    Job.objects.create(kind=Job.Kind.EXPORT, state=Job.State.DONE, project=project, created_by=rosa)
    page = page_of(rosa, project, "exports/")
    assert next_of(page) == [(f"/projects/{project.slug}/releases/", "Freeze a release")]
    assert page.count("primary") == 1


def test_a_finished_report_leads_to_the_next_question(rosa, dataset):
    people = [factories.make_user(name) for name in ("ann", "ben")]
    project = factories.make_project(dataset, annotators=people)
    for person in people:
        label_one(project, person)
    managing.close_project(project)
    assert next_of(page_of(rosa, project, "agreement/")) == []
    lifecycle.run_here(Job.objects.latest("pk"))
    found = next_of(page_of(rosa, project, "agreement/"))
    assert found == [(f"/projects/{project.slug}/releases/", "Freeze a release")]  # no run to compare with
    run = suggesting.start_run(project, rosa, "lexical", wake_workers=False)
    lifecycle.run_here(run.job)
    assert next_of(page_of(rosa, project, "agreement/")) == [
        (f"/projects/{project.slug}/comparison/", "Compare with a checker")
    ]
