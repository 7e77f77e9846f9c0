"""The list of items, one item with all that was said, and adjudication."""

import uuid

import pytest

from annotation.access import assignment_for
from annotation.decisions import adjudicating, queries
from annotation.models import Decision, Item, LabelAccess, Membership
from annotation.work import annotating, assigning
from tests import factories
from tests.world import client_of

pytestmark = pytest.mark.django_db
LABEL_WORDS = ("Supports", "Refutes", ">differ<")


def say(project, annotator, stance: str) -> None:
    assignment = assignment_for(annotator, assigning.take(project, annotator).uuid)
    unit = assignment.item.key
    judgements = [
        {"unit": unit, "dimension": "relevance", "label": "relevant", "spans": []},
        {"unit": unit, "dimension": "stance", "label": stance, "spans": []},
    ]
    annotating.submit(assignment, annotator, {"client_id": str(uuid.uuid4()), "judgements": judgements})


@pytest.fixture
def project():
    """Two items in the order of the file: people differ on the first and agree on the second."""
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 2)
    annotators = [factories.make_user("anna"), factories.make_user("ben")]
    project = factories.make_project(dataset, annotators=annotators, order="file")
    factories.join(project, factories.make_user("judge"), Membership.Role.ADJUDICATOR)
    for annotator, stances in zip(annotators, [("supports", "refutes"), ("refutes", "refutes")], strict=True):
        for stance in stances:
            say(project, annotator, stance)
    return project


def member(project, role: str):
    return project.memberships.filter(role=role).first().user


def test_the_list_finds_disagreement_and_forgets_it_once_decided(project):
    first, second = project.items.order_by("position")
    assert list(queries.find_items(project, filter="disagreed")) == [first]
    assert list(queries.find_items(project, filter="undecided")) == [first]
    client = client_of(member(project, "adjudicator"))
    before = type(project).objects.get().label_version
    said = {"unit": first.key, "dimension": "stance", "label": "insufficient-supports", "note": "half of it"}
    assert client.post(f"/api/v1/projects/{project.slug}/decisions/", said, "application/json").status_code == 200
    decision = Decision.objects.get()
    assert (decision.method, decision.label, decision.note) == ("adjudicated", "insufficient-supports", "half of it")
    assert decision.decided_by.user == member(project, "adjudicator")
    assert type(project).objects.get().label_version > before
    assert list(queries.find_items(project, filter="undecided")) == []
    assert list(queries.find_items(project, filter="disagreed")) == [first]


def test_the_list_shows_labels_disagreement_and_decision(project):
    first, second = project.items.order_by("position")
    judge, client = member(project, "adjudicator"), client_of(member(project, "researcher"))
    adjudicating.decide(project, judge, first.anchor, "stance", "insufficient-supports", "")
    one, other = client.get(f"/projects/{project.slug}/items/").context["rows"]
    assert one.labels == ["Relevant 2", "Refutes, Supports"] and one.differing == 1
    assert one.decisions == ["Leans in favour"]
    assert other.labels == ["Relevant 2", "Refutes 2"] and not other.differing and not other.decisions
    # Who labelled here and has seen no labels of others opens them on purpose.
    annotator = member(project, "annotator")
    factories.join(project, annotator, Membership.Role.ADJUDICATOR)
    page = client_of(annotator).get(f"/projects/{project.slug}/items/").content.decode()
    assert not any(word in page for word in LABEL_WORDS) and not LabelAccess.objects.filter(user=annotator).exists()


def test_a_decision_can_be_changed_and_withdrawn(project):
    item = project.items.order_by("position").first()
    client = client_of(member(project, "adjudicator"))
    api = f"/api/v1/projects/{project.slug}/decisions/"
    values = {"unit": item.key, "dimension": "stance"}
    client.post(api, values | {"label": "supports"}, "application/json")
    client.post(api, values | {"label": "refutes"}, "application/json")
    assert Decision.objects.in_force().get().label == "refutes"
    client.post(f"/projects/{project.slug}/items/{item.uuid}/withdraw/", values | {"number": 2})
    assert not Decision.objects.in_force().exists()


@pytest.mark.parametrize("change", [{"label": "perhaps"}, {"dimension": "mood"}, {"unit": "elsewhere"}])
def test_decisions_fit_the_task_type_and_the_project(project, change):
    item = project.items.order_by("position").first()
    values = {"unit": item.key, "dimension": "stance", "label": "supports"} | change
    client = client_of(member(project, "adjudicator"))
    assert client.post(f"/api/v1/projects/{project.slug}/decisions/", values, "application/json").status_code == 422
    assert not Decision.objects.exists()


def test_an_items_page_shows_everybodys_answers(project):
    run = factories.make_suggestions(project, labels={"relevance": "relevant", "stance": "supports"})
    item = project.items.order_by("position").first()
    page = client_of(member(project, "researcher")).get(f"/projects/{project.slug}/items/{item.uuid}/").content.decode()
    for words in ("anna", "ben", "Supports", "Refutes", run.checker, "harbour stayed open", "differ"):
        assert words in page


def test_who_still_labels_sees_no_labels_and_not_where_people_disagree(project):
    researcher = member(project, "researcher")
    factories.join(project, researcher, Membership.Role.ANNOTATOR)
    item = project.items.order_by("position").first()
    assigning.ask_for_one_more(item, "", researcher)
    client = client_of(researcher)
    page = client.get(f"/projects/{project.slug}/items/")
    assert page.status_code == 200 and not any(word in page.content.decode() for word in LABEL_WORDS)
    assert client.get(f"/projects/{project.slug}/items/?filter=disagreed").status_code == 403
    assert client.get(f"/projects/{project.slug}/items/{item.uuid}/").status_code == 403


@pytest.mark.parametrize("filter", ["password", "item__project__created_by__password", "state"])
def test_only_known_filters_are_accepted(project, filter):
    client = client_of(member(project, "researcher"))
    assert client.get(f"/projects/{project.slug}/items/", {"filter": filter}).status_code == 400


@pytest.mark.parametrize("filter", list(queries.FILTERS | queries.LABEL_FILTERS))
def test_every_filter_runs(project, filter):
    client = client_of(member(project, "researcher"))
    assert client.get(f"/projects/{project.slug}/items/", {"filter": filter, "search": "c0"}).status_code == 200


def test_the_key_is_searched(project):
    first = project.items.order_by("position").first()
    assert first in queries.find_items(project, search=first.key.upper())
    assert not queries.find_items(project, search="no such key").exists()


def test_next_goes_through_the_same_list(project):
    first, second = project.items.order_by("position")
    assert queries.neighbours(project, first) == (None, second)
    assert queries.neighbours(project, first, filter="disagreed") == (None, None)


def test_the_items_of_a_list_can_be_moved_to_the_front_and_back(client):
    researcher, annotator = factories.make_user(), factories.make_user()
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 12)
    project = factories.make_project(dataset, overlap=1, annotators=[annotator], researchers=[researcher], order="file")
    wanted = Item.objects.filter(project=project).order_by("position").last()
    first = Item.objects.filter(project=project).order_by("position").first()
    client.force_login(researcher)
    address = f"/projects/{project.slug}/items/priority/"
    page = client.post(address, {"search": wanted.key, "filter": "", "priority": "10"}, follow=True)
    assert "1 item is now assigned first" in page.content.decode()
    assert assigning.take(project, annotator).item == wanted
    client.post(address, {"search": wanted.key, "filter": "", "priority": "0"})
    assert Item.objects.filter(project=project).order_by("position").first() == first
    assert client.post(address, {"search": "", "filter": "", "priority": "99"}).status_code == 400
    assert client.post(address, {"search": "", "filter": "invented", "priority": "10"}).status_code == 400
