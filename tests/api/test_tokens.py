"""Personal tokens: made and revoked on a page, and what they open."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from django.utils import timezone

from annotation.models import ApiToken
from annotation.projects import tokens
from tests.api.programs import Program, problem_of
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    dataset = make_dataset()
    make_claim_evidence(dataset, 4)
    return make_project(dataset, annotators=[make_user("ann")], researchers=[make_user("res")], slug="frost")


def person(project, name):
    return project.memberships.get(user__name=name).user


def test_a_token_is_shown_once_and_only_its_hash_is_kept(project):
    client = client_of(person(project, "res"))
    page = client.post("/account/tokens/", {"name": "My notebook", "scopes": ["read"], "days": 7}).content.decode()
    [text] = re.findall(r"assay_[\w-]{43}", page)
    token = ApiToken.objects.get()
    assert text not in client.get("/account/tokens/").content.decode()
    assert not any(text == str(value) for value in vars(token).values())
    assert Program(None, text=text).read("projects/")["results"][0]["slug"] == "frost"
    assert token.expires_at - token.created_at < timedelta(days=7, minutes=1)
    client.post(f"/account/tokens/{token.uuid}/revoke/")
    page = client.get("/account/tokens/").content.decode()
    token.refresh_from_db()
    assert "revoked" in page and token.revoked_at.strftime("%b %Y") in page
    assert problem_of(Program(None, text=text).get("/api/v1/projects/"), 401)["detail"] == "The token was revoked"


def test_the_form_says_what_is_missing(project):
    client = client_of(person(project, "res"))
    page = client.post("/account/tokens/", {"name": "x", "scopes": ["everything"], "days": 4000})
    assert set(page.context["form"].errors) == {"scopes", "days"} and not ApiToken.objects.exists()


def test_tokens_that_do_not_work_are_refused_with_the_reason(project):
    res = person(project, "res")
    token, text = tokens.make_token(res, "old", ["read"], 1)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    expired = Program(res, text=text).get("/api/v1/projects/")
    assert "expired" in problem_of(expired, 401)["detail"]
    assert expired["WWW-Authenticate"].startswith("Bearer")
    unknown = Program(res, text="assay_" + "x" * 43)
    assert problem_of(unknown.get("/api/v1/projects/frost/"), 401)["detail"] == "There is no such token"
    assert problem_of(unknown.get("/api/v1/projects/frost/work/next"), 401)
    for path in ("projects/", "projects/frost/work/next"):
        nobody = Client().get(f"/api/v1/{path}")
        assert problem_of(nobody, 401) and nobody["WWW-Authenticate"].startswith("Bearer")
    working = Program(res)
    res.is_active = False
    res.save()
    assert "not active" in problem_of(working.get("/api/v1/projects/"), 401)["detail"]


def test_a_token_never_gives_more_than_its_owner_has(project):
    outsider, ann = Program(make_user("eve")), Program(person(project, "ann"))
    assert outsider.read("projects/")["results"] == []
    problem_of(outsider.get("/api/v1/projects/frost/"), 404)
    problem_of(ann.get("/api/v1/projects/frost/annotations/"), 403)
    assert "seed" not in ann.read("projects/frost/")
    project.memberships.filter(user__name="ann").update(is_active=False)
    assert problem_of(ann.get("/api/v1/projects/frost/"), 403)["detail"].startswith("You no longer label")


def test_every_route_asks_for_a_scope(project):
    """By what the resolver has, not by a list that somebody keeps."""
    routes = [
        (str(resolver.pattern) + str(entry.pattern), entry.callback)
        for resolver in get_resolver().url_patterns
        if str(resolver.pattern) == "api/v1/"
        for entry in resolver.url_patterns
    ]
    without = Program(person(project, "res"), text=tokens.make_token(person(project, "res"), "none", [], 1)[1])
    opened = []
    for pattern, _ in routes:
        address = re.sub(r"<uuid:\w+>", "00000000-0000-0000-0000-000000000000", pattern)
        address = re.sub(r"<int:\w+>", "1", re.sub(r"<slug:\w+>", "frost", address))
        for verb in ("get", "post"):
            answer = getattr(without, verb)(f"/{address}", content_type="application/json")
            if answer.status_code not in (302, 403, 405):  # a page asks people to sign in
                opened.append(f"{verb} {address}: {answer.status_code}")
            elif answer.status_code != 302 and pattern != "api/v1/docs/":
                problem_of(answer, answer.status_code)
    assert len(routes) > 30 and opened == []


def test_scopes_are_told_apart(project):
    res, ann = person(project, "res"), person(project, "ann")
    reader, annotator = Program(res, "read"), Program(ann, "annotate")
    refused = problem_of(reader.send("projects/frost/runs/", {"checker": "lexical"}), 403)
    assert refused["scope"] == "write"
    assert problem_of(annotator.get("/api/v1/projects/"), 403)["scope"] == "read"
    assert problem_of(reader.get("/api/v1/projects/frost/work/next"), 403)["scope"] == "annotate"
    given = annotator.read("projects/frost/work/next")
    body = {"client_id": "6f9619ff-8b86-4d01-b42d-00c04fc964ff", "judgements": answers_to(given["payload"])}
    path = f"assignments/{given['payload']['assignment']}/submit"
    body["text_hash"] = given["payload"]["text_hash"]
    assert [annotator.send(path, body).json()["revision"] for _ in range(2)] == [1, 1]
    missing = problem_of(
        annotator.send(path, body | {"judgements": [], "client_id": body["client_id"][:-1] + "0"}), 422
    )
    assert missing["errors"][0]["dimension"] == "relevance"
    other = annotator.read("projects/frost/work/next")["payload"]
    path, key = f"assignments/{other['assignment']}/skip", {"Idempotency-Key": "skip-1"}
    problem_of(annotator.send(path, {"reason": "x" * 3000}, **key), 422)  # had no effect, so its key is free
    first, again = (annotator.send(path, {"reason": "torn", "want_next": True}, **key) for _ in range(2))
    assert first.json()["ahead"]["payload"]["assignment"] != other["assignment"]
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert "another request" in problem_of(annotator.send(path, {"reason": "wet"}, **key), 422)["detail"]


def test_a_session_needs_its_csrf_token_and_a_token_takes_no_session(project):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person(project, "res"))
    assert problem_of(browser.post("/api/v1/projects/frost/runs/", "{}", content_type="application/json"), 403)
    # Beside a session the token counts: its owner is asked, within its scopes.
    both = Program(person(project, "ann"), "read")
    both.force_login(person(project, "res"))
    assert both.get("/api/v1/projects/frost/items/").status_code == 403


def test_the_last_use_is_written_once_a_day(project, monkeypatch):
    res = person(project, "res")
    program = Program(res)
    noon = timezone.now().replace(hour=12)
    monkeypatch.setattr(timezone, "now", lambda: noon)  # no midnight comes in between
    for writes in (1, 0):
        with CaptureQueriesContext(connection) as queries:
            program.read("projects/frost/")
        assert sum(query["sql"].startswith("UPDATE") for query in queries) == writes
    assert ApiToken.objects.get().last_used_on == noon.date()
    page = client_of(res).get("/account/tokens/").content.decode()
    assert f"<td>{noon.day} {noon:%b %Y}</td>" in page and "never" not in page


def test_each_token_has_a_limit_of_its_own(project, settings):
    settings.ACCOUNT_RATE_LIMITS = {"api": "3/m/key"}
    res = person(project, "res")
    busy, other = Program(res), Program(res)
    assert [busy.get("/api/v1/projects/").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    refused = busy.get("/api/v1/projects/frost/work/next")
    assert problem_of(refused, 429) and int(refused["Retry-After"]) > 0
    assert other.get("/api/v1/projects/").status_code == 200


def test_one_person_has_so_many_tokens_at_most(project, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", 2)
    client = client_of(person(project, "res"))
    for _ in range(3):
        page = client.post("/account/tokens/", {"name": "x", "scopes": ["read"], "days": 7})
    assert "revoke some" in page.content.decode() and ApiToken.objects.count() == 2
