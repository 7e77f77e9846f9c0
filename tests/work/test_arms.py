"""A trial of suggestions: the arm of each answer is drawn from the seed, stored, blind until its time, and analysed."""

import random
from collections import Counter
from hashlib import blake2b

import numpy as np
import pytest
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.stats import suggestion_effect
from annotation.models import Assignment, Decision, Item, Project, Suggestion
from annotation.projects import managing
from annotation.projects.prefill import arm_of
from annotation.projects.raters import rater_of
from annotation.work import assigning
from tests.factories import MORE_SETTINGS, make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.work.browser import Annotator, answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db


def study(n: int, people: int = 2, shown: int = 40, after: int = 30, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n, claims=n)
    users = [make_user() for _ in range(people)]
    fields = {"overlap": people, "prefill": "drawn", "order": "file", "seed": 7} | fields
    project = make_project(
        dataset, annotators=users, prefill_shown_percent=shown, prefill_after_percent=after, **fields
    )
    make_suggestions(project)
    return project, [Annotator(user, project) for user in users]


def drawn_again(seed: int, key: str, pseudonym: str, shown: int, after: int) -> str:
    """As the documentation says, with nothing of Assay's."""
    digest = blake2b(f"{seed}\0arm\0{key}\0{pseudonym}".encode(), digest_size=8).digest()
    percent = 100 * (int.from_bytes(digest, "big") >> 1) / 2**63
    return "shown" if percent < shown else "after" if percent < shown + after else "off"


def test_the_arm_is_drawn_when_an_item_is_taken_and_can_be_drawn_again():
    project, (ann, bob) = study(30)
    for person in (ann, bob):
        for _ in range(30):
            payload = person.next()["payload"]
            assert bool(payload["suggestions"]) == (arm_now(payload) == "shown") and payload["prefill"] == ""
            reply = person.submit(payload).json()
            assert reply["prefill"] == arm_now(payload)
            assert bool(reply["suggestions"]) == (reply["prefill"] == "after")
    rows = Assignment.objects.values_list("prefill_arm", "item__key", "rater__pseudonym")
    assert all(arm == drawn_again(7, key, pseudonym, 40, 30) for arm, key, pseudonym in rows)
    assert Counter(arm for arm, *_ in rows).keys() == {"off", "shown", "after"}
    by_item = {}
    for arm, key, _ in rows:
        by_item.setdefault(key, set()).add(arm)
    assert any(len(arms) == 2 for arms in by_item.values())


def arm_now(payload) -> str:
    return Assignment.objects.get(uuid=payload["assignment"]).prefill_arm


def test_shares_are_those_of_the_settings():
    project = Project(seed=3, prefill="drawn", prefill_shown_percent=20, prefill_after_percent=30)
    arms = Counter(arm_of(project, f"c{number}", f"r-{number % 7}") for number in range(5000))
    assert {name: round(n / 5000, 1) for name, n in arms.items()} == {"off": 0.5, "shown": 0.2, "after": 0.3}
    project.prefill_shown_percent, project.prefill_after_percent = 100, 0
    assert {arm_of(project, f"c{number}", "r") for number in range(50)} == {"shown"}
    project.prefill = "after"
    assert arm_of(project, "c", "r") == "after"


def test_before_an_answer_nothing_tells_the_arms_without_suggestions_apart():
    project, (ann, _) = study(40)
    seen = {}
    for _ in range(40):
        payload = ann.next()["payload"]
        arm = arm_now(payload)
        if arm != "shown":
            seen.setdefault(arm, []).append({name for name, value in payload.items() if value not in ([], "", None)})
        ann.submit(payload)
    assert len(seen) == 2 and all(one == seen["off"][0] for arm in seen.values() for one in arm)


def test_an_item_comes_back_in_the_same_arm_and_to_another_person_in_theirs():
    project, (ann, bob) = study(6, shown=50, after=0, overlap=1)
    for item in Item.objects.all():
        row = Assignment.objects.get(item=item)
        for person in (ann, bob):
            rater = rater_of(project, person.user)
            row.rater, row.state, row.item_key = rater, "open", item.key
            assigning._lease(row, project, row.item.project.created_at, ahead=False)
            assert row.prefill_arm == arm_of(project, item.key, rater.pseudonym)
        Assignment.objects.filter(pk=row.pk).update(state="open", rater=None, lease_expires_at=None, leased_at=None)


def test_a_late_answer_that_takes_a_place_keeps_its_authors_arm():
    project, (ann, bob) = study(8, shown=50, after=0, overlap=1)
    for _ in range(8):
        late = ann.next()["payload"]
        row = Assignment.objects.get(uuid=late["assignment"])
        drawn = row.prefill_arm
        assigning.release_item(row.item)
        Assignment.objects.filter(pk=row.pk).update(prefill_arm="after")  # of another who held it meanwhile
        assert ann.submit(late).json()["surplus"] is False
        row.refresh_from_db()
        assert (row.state, row.prefill_arm) == ("done", drawn)


def test_shares_above_the_whole_are_refused_wherever_they_are_set():
    project, _ = study(1, shown=50, after=0)
    with pytest.raises(managing.ProjectError, match="more than 100 %"):
        managing.update_project(project, prefill_shown_percent=80, prefill_after_percent=30)
    client = client_of(project.created_by)
    settings = MORE_SETTINGS | {"title": "Ice", "prefill": "drawn", "minimum_seconds": 0, "lease_minutes": 60}
    settings |= {"prefill_run": project.prefill_run_id, "prefill_shown_percent": 80, "prefill_after_percent": 30}
    page = client.post(reverse("project_settings", args=[project.slug]), settings)
    assert "The shares of the arms are more than 100 %" in page.content.decode()
    settings["prefill_after_percent"] = 20
    assert client.post(reverse("project_settings", args=[project.slug]), settings).status_code == 302
    assert "<dd><bdi>80 %</bdi></dd>" in client.get(f"/projects/{project.slug}/").content.decode()
    assert client.get(reverse("project_settings", args=[project.slug])).status_code == 200


def run_trial(follow: float):
    """Ten people who know seven answers in ten; of a suggestion that they see they take this share as it is. Half
    of the suggestions are wrong."""
    chance = random.Random(5)
    project, people = study(24, people=10, shown=50, after=20)
    labels = ("relevant", "not_relevant")
    for number, person in enumerate(people):  # the arms depend on it
        project.raters.filter(pk=rater_of(project, person.user).pk).update(pseudonym=f"r-{number}")
    for number, item in enumerate(Item.objects.order_by("position")):
        truth = number % 2
        suggested = truth if number // 2 % 2 else 1 - truth
        Suggestion.objects.filter(unit=item.anchor, dimension="relevance").update(label=labels[suggested])
        Decision.objects.create(
            project=project, unit=item.anchor, dimension="relevance", label=labels[truth], method="imported"
        )
    truths = {str(item.uuid): number % 2 for number, item in enumerate(Item.objects.order_by("position"))}
    for person in people:
        while (given := person.next())["state"] == "item":
            payload = given["payload"]
            said = truths[payload["item"]] if chance.random() < 0.7 else 1 - truths[payload["item"]]
            seen = [labels.index(one["label"]) for one in payload["suggestions"] if one["dimension"] == "relevance"]
            at = {"suggestions_shown_at": given_at(person, payload) if seen else None}
            if seen and chance.random() < follow:
                said = seen[0]
            person.submit(payload, answers_to(payload, said), **at)
    return project, get_report("prefill-trial").compute(project, reference="imported")


def test_without_an_effect_the_trial_finds_one_in_five_studies_of_a_hundred():
    """Of twelve people and thirty items, in arms as they are drawn."""
    rng, n_studies = np.random.default_rng(9), 400
    rejected = []
    for study_number in range(n_studies):
        project = Project(seed=study_number, prefill="drawn", prefill_shown_percent=50)
        person, item = (one.ravel() for one in np.meshgrid(np.arange(12), np.arange(30)))
        arms = [arm_of(project, f"c{one}", f"r-{who}") for who, one in zip(person, item, strict=True)]
        seen = np.array(arms) == "shown"
        ease, skill = rng.normal(0, 0.15, 30)[item], rng.normal(0, 0.1, 12)[person]
        agrees = rng.random(len(item)) < np.clip(0.6 + ease + skill, 0, 1)
        rejected.append(suggestion_effect(agrees, seen, item % 2, person, item).strata["all"].difference.p_value < 0.05)
    assert np.mean(rejected) <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / n_studies)


def given_at(person, payload) -> str:
    person.post(payload["assignment"], "shown", {"suggestions": True})
    return Assignment.objects.get(uuid=payload["assignment"]).suggestions_shown_at.isoformat()


@pytest.mark.slow
@pytest.mark.parametrize(("follow", "is_found"), [(0.8, True), (0.0, False)])
def test_the_report_finds_an_anchoring_effect_where_there_is_one(follow, is_found):
    """Where people follow four in five, they agree with .86 of wrong suggestions instead of .3, and with .94 of right
    ones instead of .7."""
    project, report = run_trial(follow)
    question = next(one for one in report["dimensions"] if one["dimension"] == "relevance")
    effect = {row["stratum"]: row["difference"] for row in question["strata"]}
    assert (effect["wrong"]["low"] > 0) == is_found
    planted = {"wrong": follow * 0.7, "right": follow * 0.3}
    for name, value in planted.items():
        assert effect[name]["low"] < value < effect[name]["high"]
    n_shown = Assignment.objects.filter(project=project, prefill_arm="shown", state="done").count()
    assert report["n_seen"] == n_shown and report["n_unknown"] == 0
    [note] = [note for note in report["notes"] if note.startswith("Chance decided")]
    assert not [note for note in report["notes"] if "by what was drawn" in note]
