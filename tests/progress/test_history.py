"""What changes a project is in its history, which can be narrowed and downloaded."""

import csv
from io import StringIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import editing
from annotation.jobs import lifecycle
from annotation.models import Membership, SettingsChange
from annotation.participation import links
from annotation.projects import guidelines, invitations, managing
from annotation.work import reserving
from annotation.work.learning import keys
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
What = SettingsChange.What


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def project(lead):
    dataset = make_dataset()
    make_claim_evidence(dataset, 4)
    made = make_project(dataset, overlap=1, annotators=[make_user("ann")])
    join(made, lead, Membership.Role.RESEARCHER)
    SettingsChange.objects.all().delete()
    return made


def key_of(project, item):
    dimension = project.type.asked_dimensions[0]
    return [{"unit": item.key, "dimension": dimension.slug, "label": dimension.shown_labels[0].value}]


def change_everything(project, lead) -> None:
    managing.update_project(project, lead, pay_rate=2, pay_currency="EUR")
    managing.pause_project(project, lead)
    managing.open_project(project, lead)
    guidelines.publish(project, lead, "Read three times.")
    ben = make_user("ben")
    managing.set_roles(project, ben, ["annotator"], lead)
    invitation = invitations.invite(lead, "cleo@example.org", project=project, roles=["adjudicator"])
    invitations.accept(invitation, make_user("cleo"))
    links.make_link(project, lead, title="=Open", places=3)
    item = project.items.order_by("position").last()
    key = keys.set_apart(project, item, lead, "check", key_of(project, item))
    keys.put_back(project, key.item, lead)
    first = project.items.order_by("position").first()
    rules = {first.pk: reserving.ItemRule((project.raters.first().pk,), (), {})}
    lifecycle.work_on(reserving.start(project, rules, lead).pk)


def rows_of(client, project, query: str = "") -> list[dict]:
    reply = client.get(f"/projects/{project.slug}/settings/history.csv{query}")
    return list(csv.DictReader(StringIO(reply.content.decode())))


def test_each_kind_of_change_is_there_with_who_did_it(project, lead):
    change_everything(project, lead)
    rows = rows_of(client_of(lead), project)
    whats = {row["what"] for row in rows}
    assert whats >= {What.SETTINGS, What.STATE, What.GUIDELINES, What.ROLES, What.STUDY_LINK, What.KEYS, What.ITEMS}
    assert {row["who"] for row in rows} == {"lead", "cleo"}
    [rate] = [row for row in rows if row["name"] == "Rate"]
    assert (rate["before"], rate["after"]) == ("0.00", "2")
    assert [row["after"] for row in rows if row["what"] == What.STATE] == ["open", "paused"]
    assert {(row["about"], row["after"]) for row in rows if row["what"] == What.ROLES} == {
        ("ben", "annotator"),
        ("cleo", "adjudicator"),
    }
    assert {row["about"] for row in rows if row["what"] == What.STUDY_LINK} == {"'=Open"}
    keyed = [row for row in rows if row["what"] == What.KEYS]
    assert [(row["name"], row["after"]) for row in keyed] == [("Put back", "1"), ("Check", "1")]
    assert not any(item.key in str(keyed) for item in project.items.all()), "its reader may still label it"
    [item] = [row for row in rows if row["what"] == What.ITEMS]
    assert item["name"] == "Reserving items"


def test_it_is_narrowed_by_kind_and_person(project, lead):
    change_everything(project, lead)
    client, place = client_of(lead), f"/projects/{project.slug}/settings/history/"
    assert {row["what"] for row in rows_of(client, project, "?what=state")} == {"state"}
    assert {row["about"] for row in rows_of(client, project, "?person=CLEO")} == {"cleo"}
    page = client.get(f"{place}?what=roles&person=ben").content.decode()
    assert "Roles: ben" in page and "cleo" not in page and "1 found" in page
    assert client.get(f"{place}?what=secrets").status_code == 400
    assert "No changes match" in client.get(f"{place}?person=nobody").content.decode()


def test_imports_into_the_data_set_and_releases_are_there(project, lead):
    dataset = project.dataset
    editing.record(dataset.owner, dataset, What.IMPORT, {}, {"Import": 12})
    editing.record(dataset.owner, dataset, What.DATASET, {"title": "a"}, {"title": "b"})
    assert [row["what"] for row in rows_of(client_of(lead), project)] == [What.IMPORT]


def test_a_page_has_40_rows_and_its_queries_do_not_grow(project, lead):
    client, place = client_of(lead), f"/projects/{project.slug}/settings/history/"

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(place)
        return len(found)

    managing.pause_project(project, lead)
    before = queries()
    for number in range(60):
        editing.record(make_user(), project, What.SETTINGS, {"title": number}, {"title": number + 1})
    assert queries() == before
    assert client.get(place).content.decode().count("<tr><td") == 40
