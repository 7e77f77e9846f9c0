"""The adjudicators' queue: what it is narrowed to, its orders, and the snapshot of posteriors and of checkers."""

import io
import json
import random

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.rules.running import run_rule
from analysis.rules.snapshots import take_snapshot
from annotation.jobs import lifecycle
from annotation.models import Assignment, Case, Decision, Job, Shown, Suggestion, Thread
from annotation.projects import cases
from tests import factories
from tests.rules.test_rules import say
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

# What three people say of each piece of evidence.
STANCES = (
    ("supports", "supports", "refutes"),
    ("supports", "refutes"),
    ("refutes", "insufficient-refutes", "refutes"),
    ("insufficient-neutral", "insufficient-supports"),
    ("supports", "supports", "supports"),
    ("refutes", "refutes", "refutes"),
)


@pytest.fixture
def study():
    dataset = factories.make_dataset()
    units = factories.make_claim_evidence(dataset, len(STANCES) + 1)
    project = factories.make_project(dataset, overlap=0)
    judge = factories.join(project, factories.make_user("judge"), "adjudicator")
    for number, (unit, stances) in enumerate(zip(units, STANCES, strict=False)):
        for person, stance in enumerate(stances):
            comment = "Which harbour?" if (number, person) == (4, 0) else ""
            say(project, unit, f"p{person}", comment, relevance="relevant", stance=stance)
    item = project.items.get(item_units__unit=units[5])
    rater = project.raters.first()
    skipped = {"state": "skipped", "is_flagged": True, "skip_reason": "Two claims"}
    Assignment.objects.create(item=item, project=project, rater=rater, position=item.position, **skipped)
    cases.recount(project)
    return project, units, client_of(judge)


def queue(study, **narrowed) -> list[str]:
    """Keys of the items as one who leaves each for later gets them."""
    project, _, client = study
    asked, found = "&".join(f"{name}={value}" for name, value in narrowed.items()), []
    address = f"/projects/{project.slug}/adjudication/next/?{asked}"
    while True:
        reply = client.post(address, json.dumps({"passed": found}), content_type="application/json").json()
        if reply["state"] == "empty":
            keys = dict(project.items.values_list("uuid", "key"))
            return [next(key for uuid, key in keys.items() if str(uuid) == one) for one in found]
        found.append(reply["payload"]["item"])


def test_the_queue_is_narrowed_and_ordered(study):
    assert queue(study, which="differing") == ["c0/e0", "c1/e1", "c2/e2", "c0/e3"]  # 5, 5, 1 and 1 steps apart
    assert queue(study, which="differing", order="entropy") == ["c1/e1", "c0/e3", "c0/e0", "c2/e2"]
    assert queue(study, which="differing", beyond="1") == ["c0/e0", "c1/e1"]
    assert queue(study, which="flagged", beyond="1") == []  # the two add up
    assert queue(study, which="flagged") == ["c2/e5"] and queue(study, which="commented") == ["c1/e4"]
    [_, _, client], body = study, json.dumps({"passed": []})
    address = f"/projects/{study[0].slug}/adjudication/next/?which=flagged"
    payload = client.post(address, body, content_type="application/json").json()["payload"]
    assert payload["skips"] == [{"reason": "Two claims", "is_flag": True}]
    Case.objects.filter(item__key="c0/e3").update(since="2020-01-01T00:00:00Z")
    assert queue(study, order="age")[0] == "c0/e3" and len(queue(study)) == 6


def test_a_snapshot_orders_the_queue_by_posterior_and_by_the_checkers_uncertainty(study):
    project, units, client = study
    here = f"/projects/{project.slug}/adjudication/"
    assert "have not been computed yet" in client.get(f"{here}?order=posterior").content.decode()
    assert queue(study, which="improbable") == []
    factories.make_suggestions(project)
    for number, unit in enumerate(units):
        sure = 0.5 + number * 0.07
        Suggestion.objects.filter(unit=unit).update(probabilities={"supports": sure, "refutes": 1 - sure})
    assert client.post(f"{here}snapshot/").status_code == 302
    job = lifecycle.run_here(Job.objects.get(kind="snapshot"))
    assert job.state == "done" and job.result["cases"] == job.result["posterior"] == job.result["uncertainty"] == 6
    stored = dict(Case.objects.values_list("item__key", "posterior"))
    # Of nothing the model is surer than of what three people say alike.
    assert stored["c1/e4"] == stored["c2/e5"] == max(stored.values()) and min(stored.values()) > 0
    for key, posterior in (("c1/e1", 0.55), ("c0/e3", 0.7)):
        Case.objects.filter(item__key=key).update(posterior=posterior, is_improbable=True)
        stored[key] = posterior
    by_posterior = queue(study, order="posterior")
    assert [stored[key] for key in by_posterior] == sorted(stored.values())
    assert by_posterior[:2] == ["c1/e1", "c0/e3"]
    low = queue(study, which="improbable", order="posterior")
    assert low == [key for key in by_posterior if stored[key] < 0.8]
    assert queue(study, order="uncertainty") == ["c0/e0", "c1/e1", "c2/e2", "c0/e3", "c1/e4", "c2/e5"]
    # Later items come last, and the page says as of when the others are.
    for person, stance in enumerate(("supports", "refutes")):
        say(project, units[6], f"p{person}", relevance="relevant", stance=stance)
    cases.recount(project)
    assert queue(study, order="posterior") == [*by_posterior, "c0/e6"]
    assert "Later items come last" in client.get(f"{here}?order=posterior").content.decode()
    counts = []
    for asked in ("order=distance", "order=posterior", "order=uncertainty&which=improbable"):
        with CaptureQueriesContext(connection) as queries:
            client.post(f"{here}next/?{asked}", "{}", content_type="application/json")
        counts.append(len(queries))
    assert max(counts) <= counts[0] + 1


def test_what_all_agree_on_waits_where_it_is_improbable_until_somebody_decides():
    """Ann labels at random, Ben always says the same: what the two say alike is no more probable for it."""
    dataset = factories.make_dataset()
    stances = ("supports", "refutes", "insufficient-neutral")
    units = factories.make_claim_evidence(dataset, 40)
    project = factories.make_project(dataset, overlap=0)
    judge = factories.join(project, factories.make_user("judge"), "adjudicator")
    chance = random.Random(5)
    for number, unit in enumerate(units):
        truth = chance.choice(stances)
        said = [truth, truth, chance.choice(stances), "supports"]
        # Two good annotators, and on some units only the two bad ones.
        pairs = list(zip(("good", "better", "ann", "ben"), said, strict=True))
        for name, stance in pairs if number % 4 else pairs[2:]:
            say(project, unit, name, stance=stance)
    cases.recount(project)
    alike = [unit for unit in units[::4] if not Case.objects.filter(item__anchor=unit).exists()]
    counts = take_snapshot(project)
    improbable = Case.objects.filter(is_improbable=True, undecided=0)
    assert counts["improbable"] > improbable.count() > 0
    assert set(improbable.values_list("item__anchor", flat=True)) <= {unit.pk for unit in alike}
    study = project, units, client_of(judge)
    keys = set(improbable.values_list("item__key", flat=True))
    assert keys <= set(queue(study, which="improbable")) and keys <= set(queue(study))
    call_command("check_cases", project.slug, stdout=(said := io.StringIO()))
    assert said.getvalue().startswith(f"{project.slug}: 0 of ")
    # A look does not settle it, a decision does, and undoing that brings it back.
    key, client = min(keys), study[2]
    here = f"/projects/{project.slug}/adjudication/items/{project.items.get(key=key).uuid}/"

    def post(way, body):
        return client.post(f"{here}{way}", json.dumps(body), content_type="application/json")

    payload = post("", {}).json()["payload"]
    assert 0 < payload["improbable"] < 0.8 and payload["optional_units"] == []
    assert post("decide/", {"basis": payload["basis"], "judgements": []}).status_code == 422
    place = {"unit": payload["units"][0]}
    labels = [
        place | {"dimension": "relevance", "label": "relevant"},
        place | {"dimension": "stance", "label": "refutes"},
    ]
    done = post("decide/", {"basis": payload["basis"], "judgements": labels}).json()["done"]
    assert not improbable.filter(item__key=key).exists() and key not in queue(study, which="improbable")
    assert take_snapshot(project)["improbable"] == counts["improbable"] - 1
    Case.objects.filter(item__key=key).update(posterior=0.5)
    post("undo/", {"done": done})
    assert improbable.filter(item__key=key).exists()
    run_rule(project, None, "most", "majority", {"ties": "first"})
    assert not Case.objects.filter(is_waiting=True).exists() and take_snapshot(project)["improbable"] == 0


def test_what_checkers_said_comes_when_it_is_asked_for_and_is_noted_with_the_decision(study):
    project, _, client = study
    run = factories.make_suggestions(project)
    quoted = {"field": "evidence", "start": 0, "end": 3, "quote": "The"}
    run.suggestions.filter(dimension="stance").update(explanation="It says so.", spans=[quoted])
    here = f"/projects/{project.slug}/adjudication/"

    def post(way, body):
        return client.post(f"{here}{way}", json.dumps(body), content_type="application/json").json()

    given = post("next/", {})
    payload = given["payload"]
    assert payload["suggestions"] == [] and "fake" not in given["html"]
    assert not Shown.objects.filter(what=str(run.uuid)).exists()
    found = post(f"items/{payload['item']}/reveal/", {"what": "checkers"})["suggestions"]
    assert {one["checker"] for one in found} == {"fake 1"}
    assert {one["letter"] for one in found} == {"a"}
    assert [(one.get("explanation"), one["spans"]) for one in found if one["dimension"] == "stance"] == [
        ("It says so.", [quoted])
    ]
    assert Shown.objects.filter(what=str(run.uuid), item__uuid=payload["item"]).count() == 1
    place = {"unit": payload["units"][0]}
    said = [
        place | {"dimension": "relevance", "label": "relevant"},
        place | {"dimension": "stance", "label": "refutes"},
    ]
    post(f"items/{payload['item']}/decide/", {"basis": payload["basis"], "judgements": said})
    decision = Decision.objects.get(dimension="stance")
    assert [one["checker"] for one in decision.seen["runs"]] == ["fake"] and decision.seen["names"] is False


def test_the_page_of_an_item_links_to_its_comments_without_names(study):
    project, units, client = study
    item = project.items.get(item_units__unit=units[4])
    address = f"/projects/{project.slug}/adjudication/items/{item.uuid}/"
    assert "Comments:" not in client.post(address, "{}", content_type="application/json").json()["html"]
    rater = project.raters.first()
    thread = Thread.objects.create(project=project, item=item, rater=rater, changed_at=timezone.now())
    html = client.post(address, "{}", content_type="application/json").json()["html"]
    assert f"/comments/{thread.uuid}/" in html and "unanswered" in html and rater.name not in html
