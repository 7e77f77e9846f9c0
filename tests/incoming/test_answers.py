"""Hostile values in what the labelling page sends: refused with the field's name, and nothing is stored."""

import json
import uuid

import pytest

from annotation.models import Assignment, Revision
from tests import factories
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db
NO_UUID = "x" * 36


@pytest.fixture
def ann():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    person = factories.make_user("ann")
    return Annotator(person, factories.make_project(dataset, annotators=[person]))


def fields(response) -> set[str]:
    assert response.status_code == 422, response.content
    return {error["field"] for error in response.json()["errors"]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"shown_at": "9999-12-31T23:59:59-14:00"}, "shown_at"),
        ({"shown_at": "0001-01-01T00:00:00+14:00"}, "shown_at"),
        ({"submitted_at": "2200-01-01T00:00:00Z"}, "submitted_at"),
        ({"submitted_at": "1899-12-31T23:59:59Z"}, "submitted_at"),
        ({"shown_at": "2026-01-01T00:00:00+23:59"}, "shown_at"),
        ({"shown_at": "2026-01-01T00:00:00+99:99"}, "shown_at"),
        ({"shown_at": "2026-W01-1T00:00:00Z"}, "shown_at"),
        ({"shown_at": ["2026-01-01T00:00:00Z"]}, "shown_at"),
        ({"active_ms": 2**62}, "active_ms"),
        ({"active_ms": True}, "active_ms"),
        ({"guideline_version": 2**40}, "guideline_version"),
        ({"comment": "a\ud800b"}, "comment"),
        ({"free_text": "\udfff"}, "free_text"),
        ({"text_hash": "\ud800"}, "text_hash"),
        ({"client_id": "{" + str(uuid.UUID(int=7)) + "}"}, "client_id"),
        ({"after": NO_UUID, "want_next": True}, "after"),
        ({"after": 7, "want_next": True}, "after"),
    ],
    ids=str,
)
def test_a_value_that_could_not_be_read_back_is_refused_by_its_field(ann, body, field):
    payload = ann.next()["payload"]
    assert fields(ann.submit(payload, **body)) == {field}
    assert not Revision.objects.exists()
    assert ann.submit(payload).status_code == 200


@pytest.mark.parametrize("deep", [40, 1_000, 100_000])
def test_json_nested_deep_is_refused(ann, deep):
    payload = ann.next()["payload"]
    raw = json.dumps({"client_id": str(uuid.uuid4()), "judgements": 0}).replace("0}", "[" * deep + "]" * deep + "}")
    path = f"/api/v1/assignments/{payload['assignment']}/submit"
    response = ann.client.post(path, raw, content_type="application/json")
    assert fields(response) <= {"judgements", ""}
    assert "nested" in response.json()["errors"][0]["message"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5_000, "-" + "9" * 30])
def test_numbers_that_are_none_are_refused(ann, number):
    payload = ann.next()["payload"]
    path = f"/api/v1/assignments/{payload['assignment']}/submit"
    response = ann.client.post(path, f'{{"client_id": {number}}}', content_type="application/json")
    assert response.status_code == 422


@pytest.mark.parametrize("reason", ["a\ud800", "a\0", 5, "x" * 3_000])
def test_a_reason_to_skip_is_text_that_can_be_stored(ann, reason):
    payload = ann.next()["payload"]
    assert fields(ann.skip(payload, reason)) == {"reason"}
    assert Assignment.objects.get(uuid=payload["assignment"]).state == Assignment.State.LEASED


@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_flag_needs_a_reason(ann, reason):
    payload = ann.next()["payload"]
    refused = ann.skip(payload, reason, flag=True)
    assert fields(refused) == {"reason"} and refused.json()["errors"][0]["message"] == "A flag needs a reason"
    assert Assignment.objects.get(uuid=payload["assignment"]).state == Assignment.State.LEASED
    assert ann.skip(payload, "half of it is missing", flag=True).status_code == 200
    assert ann.skip(payload, reason).status_code == 200


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "soon", 5, "2026-01-01T00:00:00"])
def test_when_an_item_was_shown_is_an_instant(ann, at):
    payload = ann.next(ahead=1)["payload"]
    assert fields(ann.post(payload["assignment"], "shown", {"at": at})) == {"at"}


def test_after_in_an_address_is_a_uuid(ann):
    first = ann.next()["payload"]["assignment"]
    path = f"/api/v1/projects/{ann.project.slug}/work/next"
    assert fields(ann.client.get(path, {"ahead": "1", "after": NO_UUID})) == {"after"}
    assert ann.next(ahead=1, after=first)["payload"]["assignment"] != first


def test_extremes_that_are_allowed_are_given_back(ann):
    payload = ann.next()["payload"]
    instants = {"shown_at": "1900-01-01T00:00:00Z", "submitted_at": "2199-12-31T23:59:59.999999+00:00"}
    answer = ann.submit(payload, answers_to(payload), comment="\U0001f9ca\ufffe", **instants)
    assert answer.status_code == 200
    [stored] = Revision.objects.all()
    assert (stored.shown_at.year, stored.submitted_at.year, stored.comment) == (1900, 2199, "\U0001f9ca\ufffe")
    assert ann.item(payload["assignment"]).json()["payload"]["comment"] == "\U0001f9ca\ufffe"
