"""The labelling page and its fragments: what they hold, what they cost, and what they never tell."""

import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.machines.runs.checker_inputs import checker_inputs
from annotation.models import Assignment, Evidence, Project, Revision, Unit
from annotation.work import assigning
from tests.factories import (
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_suggestions,
    make_user,
)
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db


def make_person(prefill="off", n=6, overlap=2, identifier="claim-evidence/six-way/1", **fields):
    dataset = make_dataset()
    if identifier.startswith("triplets"):
        make_responses_with_triplets(dataset, n)
    else:
        make_claim_evidence(dataset, n)
    users = [make_user(), make_user()]
    project = make_project(dataset, identifier, overlap=overlap, annotators=users, prefill=prefill, **fields)
    return tuple(Annotator(user, project) for user in users)


def test_the_page_holds_the_first_item_its_payload_progress_and_guidelines():
    person, _ = make_person(guidelines="**Read** twice.")
    html = person.page().content.decode()
    assert "<strong>Read</strong> twice." in html
    assert f'data-next-url="/api/v1/projects/{person.project.slug}/work/next"' in html
    assert 'data-submit-url="/api/v1/assignments/__assignment__/submit"' in html
    payload = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    held = Assignment.objects.get(state="leased")
    assert payload["assignment"] == str(held.uuid)
    assert held.item.anchor.evidence.text in html and held.item.anchor.evidence.claim.text in html
    assert [dimension["slug"] for dimension in payload["dimensions"]] == ["relevance", "stance"]
    assert payload["dimensions"][1]["asked_when"] == {"dimension": "relevance", "labels": ["relevant"]}
    assert [label["key"] for label in payload["dimensions"][0]["labels"]] == ["1", "2"]


def test_the_claims_verdict_and_the_models_name_are_never_shown():
    for identifier, secret in (
        ("claim-evidence/six-way/1", "half-true-verdict"),
        ("triplets/-/1", "secret-model-name"),
    ):
        person, _ = make_person(identifier=identifier)
        person.page()
        while (given := person.next())["state"] == "item":
            person.submit(given["payload"], want_next=True)
        assert not any(secret in text for text in person.received)


def test_triplets_are_shown_beside_answer_and_passages():
    person, _ = make_person(identifier="triplets/-/1", n=1)
    given = person.next()
    for words in ("Question 0?", "Answer 0.", "Passage 0 of 0.", "Passage 1 of 0.", "head 2", "tail 2"):
        assert words in given["html"]
    assert 'data-field="passage-1"' in given["html"]


def test_submitting_brings_the_next_item_along_and_not_the_one_on_the_screen():
    person, _ = make_person()
    first = person.next()["payload"]
    second = person.next(ahead=1, after=first["assignment"])["payload"]
    answer = person.submit(first, want_next=True, after=second["assignment"]).json()
    assert answer["ahead"]["state"] == "item"
    assert len({first["item"], second["item"], answer["ahead"]["payload"]["item"]}) == 3


def test_the_end_of_the_work_is_told_and_so_is_waiting_for_others():
    ann, bob = make_person(n=1, overlap=1)
    taken = ann.next()["payload"]
    waiting = bob.next()
    assert waiting["state"] == "empty" and waiting["retry_seconds"] > 0
    done = ann.submit(taken, want_next=True).json()["ahead"]
    assert (done["state"], done["retry_seconds"]) == ("empty", 0)
    assert "All done" in done["html"]
    assert "Nothing for you right now" in waiting["html"]
    assert "All done" in ann.page().content.decode()


def test_a_beacon_gives_back_what_was_fetched_ahead():
    person, _ = make_person()
    first = person.next()["payload"]
    ahead = person.next(ahead=1, after=first["assignment"])["payload"]
    person.client.handler.enforce_csrf_checks = True
    person.page()
    token = person.client.cookies["csrftoken"].value
    path = f"/api/v1/assignments/{ahead['assignment']}/release"
    assert person.client.post(path, {}).status_code == 403
    response = person.client.post(path, {"csrfmiddlewaretoken": token})
    assert response.json() == {"status": "released"}
    assert Assignment.objects.get(uuid=ahead["assignment"]).state == "open"


def test_progress_counts_own_and_team():
    ann, bob = make_person(n=3, overlap=2)
    progress = None
    for _ in range(2):
        progress = ann.submit(ann.next()["payload"]).json()["progress"]
    assert progress["mine"] == 2 and progress["mine_total_open"] == 1
    assert progress["team_total"] == 6 and progress["team_done"] >= 2


# ---- suggestions, by arm ----


def labels_of(suggestions):
    return {(one["unit"], one["dimension"]): one["label"] for one in suggestions}


def test_shown_suggestions_come_with_the_item_and_are_noted_as_seen():
    person, _ = make_person("shown")
    run = make_suggestions(person.project)
    payload = person.next()["payload"]
    assert [one["label"] for one in payload["suggestions"]] == ["not_relevant"]
    assert payload["suggestions"][0]["checker"] == "fake" and payload["suggestions"][0]["score"] == 0.875
    held = Assignment.objects.get(uuid=payload["assignment"])
    assert held.exposure == [{"run": str(run.uuid), "suggestions": 1}] and held.suggestions_shown_at is None
    asked = person.suggestions(payload, answers_to(payload)).json()["suggestions"]
    assert [one["label"] for one in asked] == ["not_relevant", "supports"]
    person.next()  # a page that is loaded anew carries fewer, and takes nothing back
    held.refresh_from_db()
    assert held.exposure == [{"run": str(run.uuid), "suggestions": 2}] and held.suggestions_shown_at is None
    person.post(payload["assignment"], "shown", {"at": timezone.now().isoformat(), "suggestions": True})
    held.refresh_from_db()
    assert held.suggestions_shown_at is not None
    assert person.submit(payload).json()["suggestions"] == []
    assert Revision.objects.get().suggestion_shown is True


@pytest.mark.parametrize(
    ("says", "was_shown"),
    [({"suggestions_shown_at": "2026-01-01T10:00:00Z"}, True), ({"suggestions_shown_at": None}, False), ({}, None)],
    ids=["painted", "not painted", "does not say"],
)
def test_an_answer_says_what_its_page_painted_where_the_note_of_it_got_lost(says, was_shown):
    person, _ = make_person("shown")
    make_suggestions(person.project)
    person.submit(person.next()["payload"], **says)
    assert Revision.objects.get().suggestion_shown is was_shown
    row = Assignment.objects.get(state="done")
    # By a clock that is behind: not before the person had the item.
    assert row.suggestions_shown_at == (row.leased_at if was_shown else None)


def test_a_note_that_comes_after_its_answer_is_kept_and_leaves_the_answer_as_it_was_given():
    person, _ = make_person("shown")
    make_suggestions(person.project)
    payload = person.next()["payload"]
    person.submit(payload, suggestions_shown_at=None)
    person.post(payload["assignment"], "shown", {"at": timezone.now().isoformat(), "suggestions": True})
    assert Revision.objects.get().suggestion_shown is False
    done = Assignment.objects.get(state="done")
    assert done.suggestions_shown_at is not None and done.shown_at is None and done.lease_expires_at is None
    person.submit(payload, answers_to(payload, choice=1), suggestions_shown_at=None)
    assert list(Revision.objects.order_by("number").values_list("suggestion_shown", flat=True)) == [False, True]


def test_nobody_elses_item_and_no_item_without_suggestions_is_noted_as_painted():
    ann, bob = make_person("shown")
    payload = ann.next()["payload"]  # there is no run yet
    make_suggestions(ann.project)
    ann.post(payload["assignment"], "shown", {"suggestions": True})
    mine = bob.next()["payload"]
    ann.post(mine["assignment"], "shown", {"suggestions": True})
    assert not Assignment.objects.filter(suggestions_shown_at__isnull=False).exists()


def test_what_somebody_saw_who_held_an_item_meanwhile_is_not_what_its_late_author_saw():
    ann, bob = make_person("shown", overlap=1)
    make_suggestions(ann.project)
    late = ann.next()["payload"]
    for person in (ann, bob):
        given = person.next()["payload"]
        assert given["assignment"] == late["assignment"]
        if person is bob:
            bob.post(given["assignment"], "shown", {"suggestions": True})
        Assignment.objects.filter(uuid=late["assignment"]).update(
            lease_expires_at=timezone.now() - timedelta(seconds=1)
        )
        assert assigning.return_expired_leases() == 1
    assert ann.submit(late, suggestions_shown_at=None).json()["surplus"] is False
    row = Assignment.objects.get(uuid=late["assignment"])
    assert (row.exposure, row.suggestions_shown_at) == ([], None)
    assert Revision.objects.get().suggestion_shown is None


def test_what_is_painted_is_never_in_the_future_and_never_anything_but_an_instant():
    person, _ = make_person("shown")
    make_suggestions(person.project)
    payload = person.next()["payload"]
    refused = person.submit(payload, suggestions_shown_at="9999-12-31T23:59:59-14:00")
    assert [error["field"] for error in refused.json()["errors"]] == ["suggestions_shown_at"]
    person.submit(payload, suggestions_shown_at="2190-01-01T00:00:00Z")
    assert Assignment.objects.get(state="done").suggestions_shown_at <= timezone.now()


ASKED = [{"dimension": "relevance", "label": "relevant"}]


def test_whoever_holds_an_item_no_more_is_told_no_suggestion():
    ann, bob = make_person("shown", overlap=1)
    make_suggestions(ann.project)
    payload = ann.next()["payload"]
    asked = [ASKED[0] | {"unit": payload["units"][0]}]
    assert bob.suggestions(payload, asked).status_code == 404
    assert Assignment.objects.get(uuid=payload["assignment"]).exposure[0]["suggestions"] == 1
    Assignment.objects.filter(uuid=payload["assignment"]).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert assigning.return_expired_leases() == 1
    assert ann.suggestions(payload, asked).status_code == 404
    assert bob.next()["payload"]["assignment"] == payload["assignment"]
    assert bob.suggestions(payload, asked).status_code == 200
    assert ann.suggestions(payload, asked).status_code == 404
    assert bob.skip(payload).status_code == 200
    assert bob.suggestions(payload, asked).status_code == 404


@pytest.mark.parametrize(
    "answers",
    [None, {}, "x", [1], [{}], [ASKED[0]], [ASKED[0] | {"unit": 1}], [ASKED[0] | {"unit": None}]],
)
def test_answers_that_are_none_are_refused_by_name(answers):
    person, _ = make_person("shown")
    make_suggestions(person.project)
    refused = person.suggestions(person.next()["payload"], answers)
    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["answers"]


def test_what_a_reply_about_a_changed_answer_carries_is_noted():
    person, _ = make_person("after")
    make_suggestions(person.project)
    payload = person.next()["payload"]
    for choice, n in ((1, 1), (0, 2), (1, 2)):
        reply = person.submit(payload, answers_to(payload, choice)).json()
        assert len(reply["suggestions"]) == (1 if choice else 2)
        assert [seen["suggestions"] for seen in Assignment.objects.get(state="done").exposure] == [n]


def test_without_a_suggestion_nothing_counts_as_shown():
    person, _ = make_person("shown")
    person.submit(person.next()["payload"])
    assert Revision.objects.get().suggestion_shown is False


def test_after_the_first_answer_suggestions_come_with_the_reply_and_only_then():
    person, _ = make_person("after")
    make_suggestions(person.project)
    payload = person.next()["payload"]
    assert payload["suggestions"] == [] and "supports" not in json.dumps(payload["suggestions"])
    body = {"client_id": "6f9619ff-8b86-4d01-b42d-00c04fc964ff"}
    reply = person.submit(payload, **body).json()
    assert set(labels_of(reply["suggestions"]).values()) == {"not_relevant", "supports"}
    assert person.submit(payload, **body).json()["suggestions"] == reply["suggestions"]
    assert Assignment.objects.get(state="done").suggestions_shown_at is None  # the page may have gone on without them
    assert person.item(payload["assignment"]).json()["payload"]["suggestions"] == reply["suggestions"]
    at = timezone.now().isoformat()
    again = person.submit(payload, answers_to(payload, choice=1), suggestions_shown_at=at).json()
    assert again["revision"] == 2
    assert list(Revision.objects.order_by("number").values_list("suggestion_shown", flat=True)) == [False, True]
    assert Assignment.objects.get(state="done").suggestions_shown_at.isoformat() == at


CHECKER = "checker-that-must-stay-hidden"


@pytest.mark.parametrize("prefill", ["off", "after"])
def test_no_response_tells_withheld_suggestions_or_anybody_elses_labels(prefill):
    ann, bob = make_person(prefill, n=8)
    make_suggestions(ann.project, checker=CHECKER)
    remark = "a remark that only its author sees"
    while (given := bob.next())["state"] == "item":
        bob.submit(given["payload"], comment=remark)
    ann.page()
    payload = ann.next()["payload"]
    for _ in range(3):
        ann.next(ahead=1, after=payload["assignment"])
        ann.post(payload["assignment"], "shown", {"at": timezone.now().isoformat(), "suggestions": True})
        ann.item(payload["assignment"])
        ann.submit(payload, [])
        ann.submit(payload, text_hash="0" * 64)
        ann.skip(payload, want_next=True)
        payload = ann.next()["payload"]
        assert payload["answers"] == [] and payload["suggestions"] == []
    assert not any(CHECKER in text or remark in text or "0.875" in text for text in ann.received)
    assert not Assignment.objects.filter(rater__user=ann.user, suggestions_shown_at__isnull=False).exists()
    # The person's own first answer is what reveals them, in that arm alone.
    reply = ann.submit(payload, want_next=True)
    assert (CHECKER in reply.content.decode()) == (prefill == "after")
    assert CHECKER not in json.dumps(reply.json()["ahead"])
    assert not any(remark in text for text in ann.received)


# ---- costs ----


@pytest.mark.parametrize(("identifier", "n"), [("claim-evidence/six-way/1", 12), ("triplets/-/1", 12)])
def test_the_queries_of_submit_and_next_are_few_and_do_not_grow(identifier, n, monkeypatch):
    # What is looked for again after some seconds, which four requests may take.
    monkeypatch.setattr("annotation.work.assigning.EXPIRY_CHECK_SECONDS", 60.0)
    monkeypatch.setattr("annotation.work.queries.work.SHORTEST_SECONDS", 60.0)
    person, _ = make_person(identifier=identifier, n=n)
    payload = person.next()["payload"]
    counts = []
    for _ in range(4):
        with CaptureQueriesContext(connection) as queries:
            reply = person.submit(payload, want_next=True).json()
        counts.append(len(queries))
        payload = reply["ahead"]["payload"]
    assert counts[1] == counts[2] == counts[3] <= 40, counts


def test_a_paused_project_says_so_and_not_that_others_have_the_rest():
    person, _ = make_person()
    Project.objects.filter(pk=person.project.pk).update(state=Project.State.PAUSED)
    given = person.next()
    assert given["state"] == "empty" and "The project is paused" in given["html"]
    assert "with other people" not in given["html"]


def test_people_and_checkers_count_the_passages_alike():
    person, _ = make_person(identifier="triplets/-/1", n=1)
    rows = list(Evidence.objects.order_by("id"))
    assert len(rows) > 1
    for place, row in enumerate(rows):
        row.rank = None if place == 0 else len(rows) - place
        row.save()
    shown = re.findall(r'data-field="passage-\d+"[^>]*>([^<]+)<', person.next()["html"])
    unit = Unit.objects.filter(kind="triplet").first()
    given = checker_inputs(person.project.type, [unit.pk])[unit.pk].fields["passages"]
    assert tuple(shown) == given == tuple(row.text for row in (*rows[:0:-1], rows[0]))
