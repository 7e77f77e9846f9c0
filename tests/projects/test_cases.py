"""What waits for adjudicators is stored with every answer, flag and decision, and is what a recount finds."""

import io
import json
import random
import threading
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from analysis.rules.running import run_rule
from annotation.access import assignment_for
from annotation.decisions import adjudicating, desk
from annotation.formats.records import AnnotationRecord, JudgementRecord
from annotation.imports import external_labels
from annotation.models import Case, Decision, Disagreement, Item, Membership, Shown
from annotation.projects import cases
from annotation.projects.item_making import retire_items_of
from annotation.projects.options import set_options
from annotation.task_types import task_type
from annotation.work import assigning
from annotation.work.annotating import submit
from tests import factories
from tests.world import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    people = [factories.make_user(name) for name in ("ann", "ben")]
    project = factories.make_project(dataset, annotators=people, overlap=2, order="file")
    for name in ("judge", "second"):
        factories.join(project, factories.make_user(name), Membership.Role.ADJUDICATOR)
    return project


def member(project, name):
    return project.memberships.get(user__username__startswith=name).user


def answer(project, name, stance="supports", relevance="relevant", comment="", spans=()):
    assignment = assigning.take(project, member(project, name))
    key = assignment.item.key
    said = [{"unit": key, "dimension": "relevance", "label": relevance}]
    said += [{"unit": key, "dimension": "stance", "label": stance, "spans": list(spans)}] if stance else []
    user = member(project, name)
    submit(
        assignment_for(user, assignment.uuid),
        user,
        {"client_id": str(uuid.uuid4()), "judgements": said, "comment": comment},
    )
    return assignment


def disagree(project):
    """On every item Ann says that it supports, and Ben that it refutes."""
    for _ in range(3):
        answer(project, "ann", "supports", spans=())
        answer(project, "ben", "refutes")


def post(project, name, way, body=None):
    address = f"/projects/{project.slug}/adjudication/{way}"
    return client_of(member(project, name)).post(address, json.dumps(body or {}), content_type="application/json")


def decided(payload, label="supports", **more):
    unit = payload["units"][0]
    judgements = [
        {"unit": unit, "dimension": "relevance", "label": "relevant"},
        {"unit": unit, "dimension": "stance", "label": label},
    ]
    return {"basis": payload["basis"], "judgements": judgements} | more


def test_answers_make_cases_and_a_recount_finds_no_difference(project):
    answer(project, "ann", "supports")
    assert not Case.objects.exists()
    answer(project, "ben", "refutes")
    case = Case.objects.get()
    assert (case.undecided, case.entropy, case.is_commented) == (1, 1.0, False)
    answer(project, "ann", comment="Which port?")
    assert Case.objects.get(is_commented=True).undecided == 0
    assignment = assigning.take(project, member(project, "ben"))
    assigning.skip(assignment, assignment.rater.user, "odd", flag=True)
    assert Case.objects.get(is_flagged=True).item == assignment.item
    assert list(cases.mismatches(project)) == []

    Case.objects.filter(pk=case.pk).update(undecided=3)  # a sum that is wrong, and a row that should not be
    other = Case.objects.get(is_flagged=True)
    place = {"unit": other.item.anchor, "dimension": "stance", "distance": 1, "entropy": 1}
    marks = {"is_tied": False, "is_settled": False, "has_decision": False}
    Disagreement.objects.create(case=other, project=project, **place, **marks)
    with pytest.raises(CommandError, match="--mend"):
        call_command("check_cases", stdout=(said := io.StringIO()))
    assert "2 of 2 cases differ" in said.getvalue() and "its sums" in said.getvalue()
    assert "stored 1 of 1 undecided, distance 1, entropy 1, flagged, commented; counted 0 of 0" in said.getvalue()
    call_command("check_cases", project.slug, "--mend", stdout=(said := io.StringIO()))
    assert "mended" in said.getvalue() and list(cases.mismatches(project)) == []
    assert Case.objects.get(pk=case.pk).undecided == 1 and Disagreement.objects.get().case == case
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        call_command("check_cases", "nowhere")
    # The list of flagged items has one once, however many flagged it.
    other.item.assignments.update(is_flagged=True)
    page = client_of(member(project, "judge")).get(f"/projects/{project.slug}/items/", {"filter": "flagged"})
    assert other.item.assignments.count() > 1 and [row.item for row in page.context["rows"]] == [other.item]
    assert page.context["page"].paginator.count == 1


def test_each_answer_skip_edit_and_decision_adds_to_what_a_recount_would_find(project):
    """Twenty-odd changes in an order of chance; after each the stored rows are those that a recount makes."""
    chance, users = random.Random(3), {name: member(project, name) for name in ("ann", "ben")}
    adjudicator, held = member(project, "judge"), []
    for _ in range(24):
        name = chance.choice(["ann", "ben"])
        assignment = assigning.take(project, users[name])
        if assignment is not None and (not held or chance.random() < 0.7):
            held.append((name, assignment.uuid))
            if chance.random() < 0.1:
                assigning.skip(assignment, users[name], "odd", flag=True)
                continue
        name, uuid_ = held[-1] if chance.random() < 0.5 else chance.choice(held)
        held_by = assignment_for(users[name], uuid_)
        unit, relevance = held_by.item.key, chance.choice(["relevant", "not_relevant"])
        said = [{"unit": unit, "dimension": "relevance", "label": relevance}]
        if relevance == "relevant":
            said.append({"unit": unit, "dimension": "stance", "label": chance.choice(["supports", "refutes"])})
        comment = "Which port?" if chance.random() < 0.2 else ""
        submit(held_by, users[name], {"client_id": str(uuid.uuid4()), "judgements": said, "comment": comment})
        if chance.random() < 0.3:
            ties = chance.choice(["first", "undecided"])
            run_rule(project, None, f"most-{ties}", "majority", {"ties": ties})
        if chance.random() < 0.2:
            label = chance.choice(["relevant", "not_relevant"])
            adjudicating.decide(project, adjudicator, held_by.item.anchor, "relevance", label)
        assert list(cases.mismatches(project)) == []
    assert Disagreement.objects.filter(is_settled=True).exists() and Case.objects.filter(is_waiting=True).exists()


def test_imported_labels_hidden_questions_and_retired_items_are_counted_too(project):
    disagree(project)
    first, second, _ = project.items.order_by("position")
    said = (JudgementRecord(first.key, "relevance", "not_relevant"),)
    external_labels.bring_in(project, [AnnotationRecord(first.key, "Cleo", said)], names_are_pseudonyms=False)
    assert Disagreement.objects.get(dimension="relevance").case_id == first.pk and desk.length(project) == 3
    assert list(cases.mismatches(project)) == []
    set_options(project, project.created_by, {"hidden": ["stance"]})
    project.refresh_from_db()
    assert desk.length(project) == 1 and list(cases.mismatches(project)) == []
    set_options(project, project.created_by, {})
    project.refresh_from_db()
    assert desk.length(project) == 3
    retire_items_of([second.anchor_id])
    assert desk.length(project) == 2 and list(cases.mismatches(project)) == []


def test_letters_hide_who_answered_first(project):
    """Ann always comes first, and is A of some items and B of others."""
    disagree(project)
    judge, item, people = member(project, "judge"), project.items.first(), set()
    for _ in range(30):
        item.uuid = uuid.uuid4()  # what letters hang on, besides the adjudicator
        [(letter, first), _] = desk.said_about(item, judge)
        people.add((letter, first.annotation.rater.user_id))
    assert people == {("A", member(project, name).pk) for name in ("ann", "ben")}


def test_distances_are_steps_of_the_scale():
    kind = task_type("claim-evidence/six-way/1")
    stance = kind.dimension("stance")
    first, last = stance.values[0], stance.values[-1]
    steps = len(stance.values) - 1
    assert cases.distance(stance, {first, last}) == (steps if stance.level != "nominal" else 1)
    assert cases.distance(stance, {first}) == 0
    assert cases.entropy({"a": 2, "b": 1}) == pytest.approx(0.918296)


def test_two_adjudicators_never_have_the_same_item(project):
    disagree(project)
    first = post(project, "judge", "next/").json()
    second = post(project, "second", "next/").json()
    assert first["payload"]["item"] != second["payload"]["item"] and first["waiting"] == 3
    again = post(project, "judge", "next/").json()
    assert again["payload"]["item"] == first["payload"]["item"]
    other = post(project, "second", f"items/{first['payload']['item']}/decide/", decided(first["payload"]))
    assert other.status_code == 409 and "Another adjudicator" in other.json()["message"]
    assert not Decision.objects.exists()
    Case.objects.update(held_until="2020-01-01T00:00:00Z")  # a lease that ran out keeps nobody from deciding
    assert (
        post(project, "second", f"items/{first['payload']['item']}/decide/", decided(first["payload"])).status_code
        == 200
    )


@pytest.mark.django_db(transaction=True)
def test_two_adjudicators_at_once_share_the_queue_and_each_item_is_decided_once(project):
    factories.make_claim_evidence(project.dataset, 9, prefix="more-")
    factories.make_items(project)
    while project.items.filter(case=None).exists():
        answer(project, "ann", "supports")
        answer(project, "ben", "refutes")
    gate, decisions = threading.Barrier(2), {"judge": [], "second": []}

    def work(name):
        gate.wait()
        while (given := post(project, name, "next/").json())["state"] == "item":
            item = given["payload"]["item"]
            reply = post(project, name, f"items/{item}/decide/", decided(given["payload"]))
            decisions[name].append((item, reply.status_code))
        connection.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in decisions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [one for said in decisions.values() for one in said]
    assert {status for _, status in everything} == {200} and all(decisions.values())
    assert sorted(item for item, _ in everything) == sorted(map(str, project.items.values_list("uuid", flat=True)))
    assert desk.length(project) == 0 and list(cases.mismatches(project)) == []


def test_nothing_names_anybody_until_it_is_asked_for(project):
    disagree(project)
    reply = post(project, "judge", "next/")
    payload = reply.json()["payload"]
    assert b"ann" not in json.dumps(payload["said"]).encode() and payload["answers"] == []
    assert sorted(one["letter"] for one in payload["said"]) == ["A", "B"]
    assert set(Shown.objects.values_list("what", flat=True)) == {Shown.UNNAMED_LABELS}
    assert post(project, "judge", "next/").json()["payload"]["said"] == payload["said"]  # letters stay
    post(project, "judge", f"items/{payload['item']}/decide/", decided(payload))
    assert {(row.seen["labels"], row.seen["names"]) for row in Decision.objects.all()} == {(True, False)}
    names = post(project, "judge", f"items/{payload['item']}/reveal/", {"what": "names"}).json()["names"]
    assert sorted(names) == ["A", "B"] and Shown.objects.filter(what=Shown.LABELS).count() == 1


def test_a_decision_takes_the_item_off_the_queue_and_undo_brings_it_back(project):
    disagree(project)
    payload = post(project, "judge", "next/").json()["payload"]
    body = decided(payload, reason="slip", note="Ben misread", for_guidelines=True)
    way = f"items/{payload['item']}/"
    done = post(project, "judge", f"{way}decide/", body).json()["done"]
    stored = Decision.objects.in_force().get(dimension="stance")
    assert (stored.label, stored.reason, stored.note, stored.for_guidelines) == (
        "supports",
        "slip",
        "Ben misread",
        True,
    )
    assert post(project, "judge", f"{way}decide/", body).json()["done"] == done  # a repeated request
    assert Decision.objects.count() == 2 and desk.length(project) == 2 and list(cases.mismatches(project)) == []
    page = client_of(member(project, "judge")).get(f"/projects/{project.slug}/adjudication/guidelines/")
    assert "Ben misread" in page.content.decode()
    assert post(project, "judge", f"{way}undo/", {"done": done}).status_code == 200
    assert not Decision.objects.in_force().exists() and desk.length(project) == 3
    assert post(project, "judge", f"{way}undo/", {"done": done}).status_code == 409


def test_an_adjudicator_drops_an_item_or_says_that_no_label_is_right(project, tmp_path):
    disagree(project)
    payloads = []
    for outcome in ("dropped", "no-answer"):
        payload = post(project, "judge", "next/").json()["payload"]
        body = {"basis": payload["basis"], "outcome": outcome, "judgements": []}
        body |= {"reason": "bad-item", "for_guidelines": outcome == "no-answer"}
        replies = [post(project, "judge", f"items/{payload['item']}/decide/", body) for _ in range(2)]
        assert replies[0].status_code == 200 and replies[0].json() == replies[1].json()  # a repeated request
        payloads.append(payload)
    stored = Decision.objects.in_force().order_by("pk").values_list("unit__key", "dimension", "outcome", "label")
    dropped, _ = payloads
    assert [row[1:] for row in stored] == [
        ("relevance", "dropped", ""),
        ("stance", "dropped", ""),
        ("stance", "no-answer", ""),  # of relevance all say the same
    ]
    assert desk.length(project) == 1 and list(cases.mismatches(project)) == []
    page = client_of(member(project, "judge")).get(f"/projects/{project.slug}/adjudication/guidelines/")
    assert "<td>No Answer</td>" in page.content.decode()
    again = post(project, "judge", f"items/{dropped['item']}/").json()["payload"]
    assert again["outcome"] == "Dropped" and again["answers"] == []
    # It is so in files, and comes back.
    call_command("export_dataset", project.slug, tmp_path, kinds=["jsonl"], without_label="leave-out", verbosity=0)
    assert len((tmp_path / "claims.jsonl").read_text().splitlines()) == 0
    lines = [json.loads(line) for line in (tmp_path / "decisions.jsonl").read_text().splitlines()]
    assert sorted(one["outcome"] for one in lines) == ["dropped", "dropped", "no-answer"]
    # A label decided later takes its place, and undoing that brings it back.
    body = decided(again, "supports")
    later = post(project, "judge", f"items/{dropped['item']}/decide/", body).json()["done"]
    assert set(Decision.objects.in_force().exclude(label="").values_list("label", flat=True)) == {
        "relevant",
        "supports",
    }
    assert post(project, "judge", f"items/{dropped['item']}/undo/", {"done": later}).status_code == 200
    assert Decision.objects.in_force().filter(outcome="dropped").count() == 2
    wrong = {"basis": again["basis"], "outcome": "lost", "judgements": []}
    assert post(project, "judge", f"items/{dropped['item']}/decide/", wrong).status_code == 422


@pytest.mark.parametrize("done", [[1], [{"unit": ["x"], "dimension": {}}], [{"unit": None, "dimension": "\x00"}]])
def test_an_undo_of_nothing_that_was_decided_is_refused(project, done):
    disagree(project)
    payload = post(project, "judge", "next/").json()["payload"]
    assert post(project, "judge", f"items/{payload['item']}/undo/", {"done": done}).status_code == 422


def test_a_rules_run_settles_what_differs(project):
    disagree(project)
    run_rule(project, None, "most", "majority", {"ties": "first"})
    assert desk.length(project) == 0 and list(cases.mismatches(project)) == []


def test_an_answer_that_came_meanwhile_is_said_and_nothing_is_stored(project):
    disagree(project)
    payload = post(project, "judge", "next/").json()["payload"]
    item = Item.objects.get(uuid=payload["item"])
    assignment = item.assignments.filter(rater__user=member(project, "ben")).get()
    said = [{"unit": item.key, "dimension": "relevance", "label": "not_relevant"}]
    user = member(project, "ben")
    submit(assignment_for(user, assignment.uuid), user, {"client_id": str(uuid.uuid4()), "judgements": said})
    reply = post(project, "judge", f"items/{item.uuid}/decide/", decided(payload))
    assert reply.status_code == 409 and not Decision.objects.exists()
    fresh = reply.json()["payload"]
    assert fresh["basis"] != payload["basis"] and fresh["differing"][0]["dimension"] == "relevance"
    # What a decision says is not asked differs no longer.
    unit = fresh["units"][0]
    body = {"basis": fresh["basis"], "judgements": [{"unit": unit, "dimension": "relevance", "label": "not_relevant"}]}
    assert post(project, "judge", f"items/{item.uuid}/decide/", body).status_code == 200
    assert desk.length(project) == 2 and list(cases.mismatches(project)) == []


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"judgements": None},
        {"judgements": [{"unit": [], "dimension": "stance", "label": "supports"}]},
        {"note": 3},
        {"reason": "because", "judgements": []},
        {"judgements": [], "note": "\x00"},
        {"basis": {}, "judgements": []},
    ],
)
def test_what_is_sent_wrong_is_refused(project, body):
    disagree(project)
    payload = post(project, "judge", "next/").json()["payload"]
    address = f"/projects/{project.slug}/adjudication/items/{payload['item']}/decide/"
    client = client_of(member(project, "judge"))
    reply = client.post(address, json.dumps(body), content_type="application/json")
    assert reply.status_code in (400, 422, 409) and not Decision.objects.exists()
    assert (
        client.post(
            f"/projects/{project.slug}/adjudication/next/?beyond=-1", "{}", content_type="application/json"
        ).status_code
        == 400
    )
