"""Decisions are only added: with who, when, why and what they had been shown."""

import threading

import pytest
from django.db import connection
from django.urls import reverse

from annotation.decisions import adjudicating, queries
from annotation.models import Decision, Item, Membership, Rater
from annotation.projects import cases
from tests import factories
from tests.world import client_of
from tests.world.labels import items_of, make_rater, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def project(db):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 2)
    project = factories.make_project(dataset, order="file")
    for name, stance in (("Anna", "supports"), ("Ben", "refutes")):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", stance)
    cases.recount(project)
    for name in ("judge", "second"):
        factories.join(project, factories.make_user(name), Membership.Role.ADJUDICATOR)
    return project


def judge(project, name="judge"):
    return project.memberships.get(user__name=name).user


def decide(client, item: Item, label="supports", **more):
    values = {"unit": item.key, "dimension": "stance", "label": label} | more
    answer = client.post(reverse("api_decisions", args=[item.project.slug]), values, "application/json")
    assert answer.status_code == 200
    return answer


def withdraw(client, item: Item, number: int):
    values = {"unit": item.key, "dimension": "stance", "number": number}
    assert client.post(reverse("item_withdraw", args=[item.project.slug, item.uuid]), values).status_code == 302


def rows(**fields) -> list[Decision]:
    return list(Decision.objects.filter(**fields).order_by("pk"))


def test_every_decision_and_withdrawal_stays_and_the_newest_stands(project):
    item, client = items_of(project)[0], client_of(judge(project))
    decide(client, item, "supports", note="first")
    decide(client_of(judge(project, "second")), item, "refutes", note="second thoughts")
    withdraw(client, item, 2)
    assert [(row.number, row.label, row.is_withdrawn, row.is_latest, row.note) for row in rows()] == [
        (1, "supports", False, False, "first"),
        (2, "refutes", False, False, "second thoughts"),
        (3, "", True, True, ""),
    ]
    assert [row.decided_by.name for row in rows()] == ["judge", "second", "judge"]
    assert all(row.method == "adjudicated" and row.decided_at for row in rows())
    assert list(queries.find_items(project, filter="undecided")) == items_of(project)
    decide(client, item, "supports", reason="slip")
    assert [row.number for row in Decision.objects.in_force()] == [4]
    assert "A slip" in client.get(reverse("item_detail", args=[project.slug, item.uuid])).content.decode()
    assert list(queries.find_items(project, filter="undecided")) == items_of(project)[1:]


def test_the_same_decision_sent_twice_is_one(project):
    item, client = items_of(project)[0], client_of(judge(project))
    decide(client, item)
    withdraw(client, item, 1)
    withdraw(client, item, 1)
    assert len(rows()) == 2


def test_a_decision_says_what_its_page_had_shown(project):
    """Nothing before any page; then others' labels with names, and what each checker said by then."""
    item, other = items_of(project)
    client, user = client_of(judge(project)), judge(project)
    adjudicating.decide(project, user, item.anchor, "stance", "supports")
    assert rows()[0].seen == {"labels": False, "names": False, "runs": []}
    run = factories.make_suggestions(project)
    assert client.get(reverse("item_detail", args=[project.slug, item.uuid])).status_code == 200
    later = factories.make_suggestions(project, checker="lexical")
    decide(client, item, "refutes")
    assert rows()[1].seen == {"labels": True, "names": True, "runs": [{"run": str(run.uuid), "checker": "fake"}]}
    # What another item's page showed says nothing of this one, and another person's page neither.
    adjudicating.decide(project, user, other.anchor, "stance", "refutes")
    assert rows()[2].seen == {"labels": False, "names": False, "runs": []}
    adjudicating.decide(project, judge(project, "second"), item.anchor, "stance", "refutes")
    assert rows()[3].seen["runs"] == []
    client.get(reverse("item_detail", args=[project.slug, item.uuid]))
    decide(client, item, "refutes")
    assert {one["run"] for one in rows()[4].seen["runs"]} == {str(run.uuid), str(later.uuid)}


def test_a_suggestion_seen_while_labelling_counts_as_seen(project):
    item, user = items_of(project)[0], judge(project)
    run = factories.make_suggestions(project)
    mine = item.assignments.first()
    mine.rater = Rater.objects.create(project=project, user=user, kind="member", name="judge")
    mine.state, mine.exposure = "done", [{"run": str(run.uuid), "suggestions": 2}]
    mine.save()
    adjudicating.decide(project, user, item.anchor, "stance", "supports")
    assert rows()[0].seen["runs"] == []  # handed out, and never painted
    mine.suggestions_shown_at = rows()[0].decided_at
    mine.save()
    adjudicating.decide(project, user, item.anchor, "stance", "supports")
    assert [one["run"] for one in rows()[1].seen["runs"]] == [str(run.uuid)]


def test_whoever_only_decides_is_no_annotator_in_lists(project):
    page = reverse("project_agreement", args=[project.slug])
    client = client_of(project.created_by)
    before = client.get(page).content.decode()
    adjudicating.decide(project, judge(project), items_of(project)[0].anchor, "stance", "supports")
    rater = Rater.objects.get(user=judge(project))
    assert "Anna" in before
    assert rater.pseudonym not in client.get(page).content.decode()


@pytest.mark.django_db(transaction=True)
def test_two_adjudicators_at_once_are_both_kept_in_order(project):
    item = items_of(project)[0]
    clients = [client_of(judge(project, name)) for name in ("judge", "second")]
    gate, answers = threading.Barrier(2), []

    def work(client, labels):
        gate.wait()
        for label in labels:
            answers.append(decide(client, item, label).status_code)
        connection.close()

    said = ("supports", "refutes") * 5, ("insufficient-supports", "insufficient-refutes") * 5
    threads = [threading.Thread(target=work, args=pair) for pair in zip(clients, said, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 20
    assert [row.number for row in rows()] == list(range(1, 21))
    assert [row.is_latest for row in rows()] == [False] * 19 + [True]
    for name, labels in zip(("judge", "second"), said, strict=True):
        assert [row.label for row in rows(decided_by__name=name)] == list(labels)
