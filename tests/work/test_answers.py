"""Submitting over HTTP: what is taken, what is refused and why, and what happens the second time."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Annotation, Assignment, Judgement, Rater, Revision, Span
from annotation.work.queries import work
from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_user,
)
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db

TEXT = "Emoji 🧊 and e\u0301 and שלום: frozen."


@pytest.fixture
def project():
    dataset = make_dataset()
    make_claim_evidence(dataset, 3, texts=[TEXT] * 3)
    return make_project(dataset, overlap=2, annotators=[make_user("ann"), make_user("bob")])


@pytest.fixture
def ann(project):
    return Annotator(project.memberships.get(user__name="ann").user, project)


@pytest.fixture
def bob(project):
    return Annotator(project.memberships.get(user__name="bob").user, project)


def span(start, end, text=TEXT, **changes):
    return {"field": "evidence", "start": start, "end": end, "quote": text[start:end]} | changes


def test_an_answer_is_stored_with_labels_spans_times_and_guidelines(ann):
    ann.acknowledge()
    payload = ann.next()["payload"]
    at = timezone.now()
    response = ann.submit(
        payload,
        answers_to(payload, spans=[span(6, 7), span(12, 14)]),
        shown_at=(at - timedelta(seconds=9)).isoformat(),
        submitted_at=at.isoformat(),
        active_ms=7500,
        comment="clear",
        guideline_version=1,
    )
    assert response.status_code == 200
    assert response.json() | {"progress": None} == {
        "status": "saved",
        "revision": 1,
        "surplus": False,
        "suggestions": [],
        "prefill": "off",
        "progress": None,
        "ahead": None,
        "guidelines": None,
    }
    assert response.json()["progress"]["mine"] == 1
    revision = Revision.objects.get()
    assert (revision.active_ms, revision.comment, revision.guideline_version) == (7500, "clear", 1)
    assert revision.text_hash == payload["text_hash"] and revision.suggestion_shown is False
    labels = Judgement.objects.values_list("dimension", "label")
    assert dict(labels) == {"relevance": "relevant", "stance": "refutes"}
    quotes = Span.objects.order_by("start").values_list("quote", flat=True)
    assert list(quotes) == ["🧊", "e\u0301"]
    assignment = Assignment.objects.get(uuid=payload["assignment"])
    assert (assignment.state, assignment.lease_expires_at) == ("done", None)


def test_a_dimension_that_is_not_asked_stays_absent(ann):
    payload = ann.next()["payload"]
    assert ann.submit(payload, answers_to(payload, choice=1)).status_code == 200
    assert list(Judgement.objects.values_list("dimension", "label")) == [("relevance", "not_relevant")]


def relevant(payload, **stance):
    judgements = answers_to(payload)
    judgements[1] |= stance
    return judgements


BAD_ANSWERS = {
    "no stance": (lambda p: answers_to(p)[:1], "stance", "", "Stance has no answer"),
    "nothing": (lambda p: [], "relevance", "", "Relevance has no answer"),
    "stance though irrelevant": (
        lambda p: [answers_to(p)[0] | {"label": "not_relevant"}, answers_to(p)[1]],
        "stance",
        "",
        "Stance is not asked here",
    ),
    "unknown label": (lambda p: relevant(p, label="maybe"), "stance", "label", "no such label"),
    "unknown unit": (lambda p: [*answers_to(p), answers_to(p)[0] | {"unit": "x"}], "relevance", "", "not on the page"),
    "unknown dimension": (lambda p: [*answers_to(p), answers_to(p)[0] | {"dimension": "x"}], "x", "", "not asked"),
    "twice": (lambda p: [*answers_to(p), answers_to(p)[0]], "relevance", "", "answered twice"),
    "span of the claim": (lambda p: relevant(p, spans=[span(0, 2, field="claim")]), "stance", "spans", "takes none"),
    "wrong quote": (lambda p: relevant(p, spans=[span(0, 2, quote="XX")]), "stance", "spans", "does not quote"),
    "UTF-16 offsets": (lambda p: relevant(p, spans=[span(6, 8, quote="🧊")]), "stance", "spans", "does not quote"),
    "empty span": (lambda p: relevant(p, spans=[span(3, 3)]), "stance", "spans", "outside its text"),
    "span beyond the end": (lambda p: relevant(p, spans=[span(0, 999)]), "stance", "spans", "outside its text"),
    "negative span": (lambda p: relevant(p, spans=[span(-3, 2)]), "stance", "spans", "outside its text"),
    "span twice": (lambda p: relevant(p, spans=[span(0, 2), span(0, 2)]), "stance", "spans", "twice"),
    "span with true as a number": (lambda p: relevant(p, spans=[span(True, 2)]), "stance", "spans", "whole numbers"),
    "spans of relevance": (
        lambda p: [answers_to(p)[0] | {"spans": [span(0, 2)]}, answers_to(p)[1]],
        "relevance",
        "spans",
        "do not belong",
    ),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_refused_with_its_place_and_reason_and_stores_nothing(ann, name):
    make, dimension, field, words = BAD_ANSWERS[name]
    payload = ann.next()["payload"]
    response = ann.submit(payload, make(payload))
    assert response.status_code == 422
    errors = response.json()["errors"]
    assert any(
        error["dimension"] == dimension and error["field"] == field and words in error["message"] for error in errors
    ), errors
    assert not Revision.objects.exists()
    assert ann.submit(payload).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"client_id": "no"}, "client_id"),
        ({"client_id": None}, "client_id"),
        ({"client_id": 5}, "client_id"),
        ({"shown_at": "yesterday"}, "shown_at"),
        ({"shown_at": "2026-01-01T10:00:00"}, "shown_at"),
        ({"submitted_at": 5}, "submitted_at"),
        ({"active_ms": -1}, "active_ms"),
        ({"active_ms": 2**70}, "active_ms"),
        ({"comment": 7}, "comment"),
        ({"comment": "a\0b"}, "comment"),
        ({"judgements": "all"}, "judgements"),
        ({"judgements": [7]}, "judgements"),
    ],
)
def test_a_malformed_request_is_refused_by_field(ann, body, field):
    payload = ann.next()["payload"]
    response = ann.submit(payload, **body)
    assert response.status_code == 422
    assert field in {error["field"] for error in response.json()["errors"]}


def test_what_is_no_json_object_is_refused(ann):
    payload = ann.next()["payload"]
    for content in (b"[1]", b"{", b"\xff"):
        path = f"/api/v1/assignments/{payload['assignment']}/submit"
        assert ann.client.post(path, content, content_type="application/json").status_code == 422


def test_the_same_request_again_gets_the_same_answer_and_another_body_is_a_conflict(ann):
    payload = ann.next()["payload"]
    client_id = str(uuid.uuid4())
    first = ann.submit(payload, client_id=client_id)
    again = ann.submit(payload, client_id=client_id, active_ms=99, want_next=True)
    other = ann.submit(payload, answers_to(payload, choice=1), client_id=client_id)
    assert (first.status_code, again.status_code, other.status_code) == (200, 200, 409)
    assert first.json()["revision"] == again.json()["revision"] == 1
    assert again.json()["ahead"]["state"] == "item"
    assert Revision.objects.count() == 1


def test_a_client_id_of_somebody_else_is_a_conflict(ann, bob):
    client_id = str(uuid.uuid4())
    assert ann.submit(ann.next()["payload"], client_id=client_id).status_code == 200
    assert bob.submit(bob.next()["payload"], client_id=client_id).status_code == 409


def test_a_changed_answer_is_a_new_revision_and_the_old_one_stays(ann):
    payload = ann.next()["payload"]
    ann.submit(payload)
    response = ann.submit(payload, answers_to(payload, choice=1), comment="on second thought")
    assert response.json()["revision"] == 2
    assert list(Revision.objects.order_by("number").values_list("number", "is_latest")) == [(1, False), (2, True)]
    assert Judgement.objects.count() == 3
    seen = ann.item(payload["assignment"]).json()["payload"]
    assert (seen["revision"], seen["comment"]) == (2, "on second thought")
    assert [row["label"] for row in seen["answers"]] == ["not_relevant"]


def test_texts_that_changed_since_they_were_shown_are_a_conflict(ann):
    payload = ann.next()["payload"]
    assert ann.submit(payload, text_hash="0" * 64).status_code == 409
    assert not Revision.objects.exists()


def test_an_answer_under_the_minimum_time_is_refused_until_the_time_has_passed(ann, project):
    project.minimum_seconds = 30
    project.save()
    payload = ann.next()["payload"]
    assert payload["minimum_seconds"] == 30
    now = timezone.now()
    assert ann.submit(payload, active_ms=500, shown_at=now.isoformat()).status_code == 422
    ann.post(payload["assignment"], "shown", {"at": now.isoformat()})
    assert ann.submit(payload, shown_at=(now - timedelta(hours=1)).isoformat()).status_code == 422
    Assignment.objects.filter(uuid=payload["assignment"]).update(shown_at=now - timedelta(seconds=31))
    assert ann.submit(payload).status_code == 200
    assert ann.submit(payload, answers_to(payload, choice=1)).status_code == 200


def lose_lease(payload):
    Assignment.objects.filter(uuid=payload["assignment"]).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_a_late_answer_takes_its_place_back_while_that_is_open(ann):
    from annotation.work import assigning

    payload = ann.next()["payload"]
    lose_lease(payload)
    assert assigning.return_expired_leases() == 1
    response = ann.submit(payload)
    assert (response.status_code, response.json()["surplus"]) == (200, False)
    assert Assignment.objects.get(uuid=payload["assignment"]).state == "done"


def test_a_late_answer_whose_place_is_taken_is_kept_as_surplus(project, ann, bob):
    from annotation.work import assigning

    payload = ann.next()["payload"]
    others = Assignment.objects.filter(item__assignments__uuid=payload["assignment"], state="open")
    others.update(state="cancelled")  # no place is left besides the one that was taken
    lose_lease(payload)
    assigning.return_expired_leases()
    taken = bob.next()["payload"]
    assert taken["assignment"] == payload["assignment"]
    response = ann.submit(payload)
    assert (response.status_code, response.json()["surplus"]) == (200, True)
    assert bob.submit(taken).json()["surplus"] is False
    surplus = Annotation.objects.get(is_surplus=True)
    assert surplus.assignment is None and surplus.rater.user == ann.user
    assert ann.item(payload["assignment"]).json()["payload"]["revision"] == 1
    # Who answered an item is not given it again, even without a row of theirs.
    for _ in range(2):
        nxt = ann.next()["payload"]
        assert nxt["item"] != payload["item"]
        ann.submit(nxt)
    assert ann.next()["state"] == "empty"


def test_an_answer_after_a_skip_fills_the_place_that_the_skip_opened_and_is_surplus_once_that_is_taken(ann, bob):
    payload = ann.next()["payload"]
    ann.skip(payload, "unclear", flag=True)
    response = ann.submit(payload)
    assert (response.status_code, response.json()["surplus"]) == (200, False)
    row = Assignment.objects.get(uuid=payload["assignment"])
    assert (row.state, row.skip_reason, row.is_flagged) == ("done", "", False)
    assert Assignment.objects.filter(item=row.item).exclude(state="cancelled").count() == 2

    payload = ann.next()["payload"]
    ann.skip(payload)
    Assignment.objects.filter(item__assignments__uuid=payload["assignment"], state="open").update(state="cancelled")
    assert ann.submit(payload).json()["surplus"] is True
    assert Assignment.objects.get(uuid=payload["assignment"]).state == "skipped"


def test_a_page_of_triplets_needs_a_label_for_each_of_them():
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 1, triplets=3)
    user = make_user()
    project = make_project(dataset, "triplets/-/1", annotators=[user])
    person = Annotator(user, project)
    payload = person.next()["payload"]
    assert len(payload["units"]) == 3
    refused = person.submit(payload, answers_to(payload)[:2])
    assert [error["unit"] for error in refused.json()["errors"]] == [payload["units"][2]]
    assert person.submit(payload).status_code == 200
    assert Judgement.objects.count() == 3


def test_each_revision_raises_the_label_version(project, ann):
    before = work.label_version(project)
    payload = ann.next()["payload"]
    ann.submit(payload)
    middle = work.label_version(project)
    ann.submit(payload, answers_to(payload, choice=1))
    assert before < middle < work.label_version(project)
    assert Rater.objects.get(user=ann.user).label_version == 2


def test_only_annotators_of_the_project_can_say_anything(project, ann):
    payload = ann.next()["payload"]
    outsider = Annotator(make_user("outsider"), project)
    researcher = Annotator(project.created_by, project)
    for person in (outsider, researcher):
        for what in ("submit", "skip", "shown", "release"):
            assert person.post(payload["assignment"], what, {}).status_code == 404
        assert person.item(payload["assignment"]).status_code == 404
    assert outsider.page().status_code == 404
    assert researcher.page().status_code == 403
    ann.client.logout()
    assert ann.submit(payload).status_code == 401
    assert ann.page().status_code == 302


@pytest.mark.on_postgresql
@pytest.mark.parametrize("is_on", [True, False])
def test_postgresql_plans_the_statements_of_an_answer_once(ann, settings, is_on):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans each statement anew")
    settings.PREPARED_STATEMENTS = is_on
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
        for _ in range(3):
            ann.submit(ann.next()["payload"])
        cursor.execute(
            "SELECT COUNT(*) FROM pg_prepared_statements WHERE statement LIKE '%INTO \"annotation_revision\"%'"
        )
        assert cursor.fetchone() == (int(is_on),)
        for _ in range(3):
            cursor.execute("SELECT 'outside such a view' WHERE 1 = %s", [1])
        cursor.execute("SELECT COUNT(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT ''outside%'")
        assert cursor.fetchone() == (0,)
