"""Reading by the API: who sees what, which filters there are, and that pages cost the same however long they are."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Job, Rater
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    dataset = make_dataset()
    make_claim_evidence(dataset, 6)
    return make_project(dataset, overlap=1, annotators=[make_user("ann")], researchers=[make_user("res")])


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def member(project, name):
    return project.memberships.get(user__name=name).user


@pytest.fixture
def researcher(project):
    return client_of(member(project, "res"))


@pytest.fixture
def answered(project):
    person = Annotator(member(project, "ann"), project)
    while (given := person.next())["state"] == "item":
        person.submit(given["payload"])
    return person


def test_projects_list_those_of_the_person_and_nobody_elses(project, researcher):
    make_project(make_dataset())
    [listed] = researcher.get("/api/v1/projects/").json()["results"]
    assert listed["slug"] == project.slug and "id" not in listed
    assert client_of(make_user()).get("/api/v1/projects/").json()["results"] == []
    assert client_of(make_user()).get(f"/api/v1/projects/{project.slug}/").status_code == 404
    assert Client().get("/api/v1/projects/").status_code == 401


def test_a_project_describes_its_dimensions(project, researcher):
    shown = researcher.get(f"/api/v1/projects/{project.slug}/").json()
    assert [dimension["slug"] for dimension in shown["dimensions"]] == ["relevance", "stance"]
    assert shown["dimensions"][1]["level"] == "ordinal"


def test_items_are_for_researchers_and_filtered_by_allowed_names_only(project, researcher, answered):
    path = f"/api/v1/projects/{project.slug}/items/"
    items = researcher.get(path).json()["results"]
    assert [item["done"] for item in items] == [1] * 6
    assert len(researcher.get(path, {"key": items[0]["key"]}).json()["results"]) == 1
    assert researcher.get(path, {"state": "retired"}).json()["results"] == []
    for bad in ({"state": "x"}, {"project__created_by__password__startswith": "p"}, {"ordering": "id"}):
        assert researcher.get(path, bad).status_code == 400
    assert answered.client.get(path).status_code == 403


def test_annotations_name_people_by_pseudonym_alone(project, researcher, answered):
    response = researcher.get(f"/api/v1/projects/{project.slug}/annotations/")
    rows = response.json()["results"]
    rater = Rater.objects.get(user=answered.user)
    assert len(rows) == 6 and {row["rater"] for row in rows} == {rater.pseudonym}
    assert answered.user.email not in response.content.decode()
    assert rows[0]["judgements"][1] | {"unit": ""} == {
        "unit": "",
        "dimension": "stance",
        "label": "refutes",
        "spans": [],
    }


def test_whoever_has_open_work_sees_no_annotations(project, researcher, answered):
    path = f"/api/v1/projects/{project.slug}/annotations/"
    assert researcher.get(path).status_code == 200
    make_claim_evidence(project.dataset, 1, prefix="new-")
    from tests.factories import make_items

    make_items(project)
    join(project, member(project, "res"), "annotator")
    assert researcher.get(path).status_code == 403
    assert answered.client.get(path).status_code == 403


def test_pages_go_on_by_cursor(project, researcher):
    path = f"/api/v1/projects/{project.slug}/items/"
    first = researcher.get(path, {"page_size": 4}).json()
    second = researcher.get(first["next"]).json()
    keys = [item["key"] for page in (first, second) for item in page["results"]]
    assert len(keys) == len(set(keys)) == 6 and second["next"] is None


@pytest.mark.parametrize("area", ["items", "annotations"])
def test_a_page_costs_the_same_however_many_rows_it_has(project, researcher, answered, area):
    counts = []
    researcher.get(f"/api/v1/projects/{project.slug}/{area}/")  # the first one notes that labels were served
    for size in (1, 6):
        with CaptureQueriesContext(connection) as queries:
            response = researcher.get(f"/api/v1/projects/{project.slug}/{area}/", {"page_size": size})
        assert len(response.json()["results"]) == size
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_job_is_shown_to_whoever_may_see_it(project, researcher):
    job = Job.objects.get(kind="items")
    shown = researcher.get(f"/api/v1/jobs/{job.uuid}/").json()
    assert (shown["state"], shown["result"]["items"]) == ("done", 6)
    assert client_of(make_user()).get(f"/api/v1/jobs/{job.uuid}/").status_code == 404


def test_nothing_can_be_written_through_it(project, researcher):
    paths = (f"projects/{project.slug}/", f"projects/{project.slug}/annotations/", f"projects/{project.slug}/units/")
    for path in paths:
        for method in ("post", "put", "patch", "delete"):
            assert getattr(researcher, method)(f"/api/v1/{path}").status_code == 405
