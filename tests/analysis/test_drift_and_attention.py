"""Annotators over time, across versions of the guidelines, and on units with known answers."""

import copy
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.figures.items import Filter, Items
from analysis.figures.results import from_json
from analysis.figures.tables import Table
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.people.annotators import work_over_time
from analysis.reports.people.annotators.work_over_time import WorkDrift
from annotation.jobs import lifecycle
from annotation.models import Decision, Job
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
START = datetime(2026, 3, 1, tzinfo=UTC)
N = 60


def truth(number: int) -> str:
    return (YES, NO)[number % 2]


def other(label: str) -> str:
    return NO if label == YES else YES


@pytest.fixture
@remembered
def project():
    """Anna and Ben are always right, in the order of the file. Cleo works backwards: her last answers, on the first
    items, are wrong more and more often. Everybody's second half is under version 2 of the guidelines."""
    rng = np.random.default_rng(3)
    project = project_of(N, claims=N)
    for name in ("Anna", "Ben", "Cleo"):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            place = N - 1 - number if name == "Cleo" else number
            is_wrong = name == "Cleo" and rng.random() < 0.8 * place / N
            label = other(truth(number)) if is_wrong else truth(number)
            moment = START + timedelta(minutes=place)
            say(item, rater, label, submitted_at=moment, guideline_version=1 + (place >= N // 2))
    return project


def relevance(project) -> dict:
    return of_dimension(get_report("annotators").compute(project), "relevance")


def over_time(drift: dict) -> tuple[WorkDrift, list]:
    """What a question says of change over time, and the tables of its section."""
    drift = from_json(drift, WorkDrift)
    parts = work_over_time.drift_parts("Relevance", drift)
    return drift, [part.grid() for part in parts if isinstance(part, Table)]


def test_a_planted_drift_is_found_in_each_persons_own_sequence(project):
    drift = relevance(project)["drift"]
    people = {one["name"]: one for one in drift["people"]}
    assert people["Cleo"]["trend"]["high"] < 0 and people["Cleo"]["n"] == N
    first, *_, last = (block["estimate"] for block in people["Cleo"]["blocks"])
    assert first > last + 0.3
    # Cleo's late errors are on Anna's first items, so Anna's agreement with her rises.
    assert people["Anna"]["trend"]["estimate"] > 0
    assert sum(block["agreement"]["n_pairable"] for block in drift["blocks"]) == 3 * N
    assert drift["within"]["interval"]["n_clusters"] == [3, N]
    table = over_time(drift)[1][0]
    assert table.columns[2:5] == ("First quarter", "First quarter, low", "First quarter, high")
    for row, one in zip(table.rows[1:], drift["people"], strict=True):
        ends = [cell for block in one["blocks"] for cell in (block["estimate"], block["low"], block["high"])]
        assert [getattr(cell, "value", cell) for cell in row[2:14]] == ends  # some with a note on the few units
    assert table.rows[1][0].name == drift["people"][0]["name"] and len(table.rows[0]) == len(table.columns)
    assert table.rows[0][3] == drift["blocks"][0]["agreement"]["low"] is not None


def test_people_whose_answers_are_about_few_claims_are_warned_of(project):
    """The same answers, about twelve claims: their intervals say more than they know."""
    many = relevance(project)["drift"]
    assert "claims or questions: with ten" not in over_time(many)[1][0].note
    few = copy.deepcopy(many)
    for one in few["people"][:2]:
        one["trend"]["interval"]["n_clusters"] = [12]
    assert " 2 answered about fewer than 20 claims or questions: with ten" in over_time(few)[1][0].note
    clusters = ("claim or question", "claims or questions")
    words = [work_over_time.methods([over_time(drift)[0]], clusters) for drift in (many, few)]
    assert ["fewer than 20 claims or questions" in text for text in words] == [False, True]


def test_agreement_by_version_and_its_change_within_people(project):
    drift = relevance(project)["drift"]
    one, two = drift["versions"]
    assert (one["version"], one["n"], two["version"], two["n"]) == (1, 90, 2, 90)
    assert one["change"] is None
    # As many answers by each under either version: within people the change is that of the means.
    assert two["change"]["estimate"] == pytest.approx(two["agreement"]["estimate"] - one["agreement"]["estimate"])


def test_few_answers_and_such_without_a_moment_are_counted():
    project = project_of(5, claims=5)
    for rater in (make_rater(project), make_rater(project)):
        for number, item in enumerate(items_of(project)):
            say(item, rater, YES, submitted_at=START + timedelta(minutes=number) if number else None)
    drift = relevance(project)["drift"]
    assert (drift["n"], drift["n_undated"], drift["n_few"]) == (8, 2, 2) and drift["people"] == []
    assert drift["within"]["undefined"] and drift["versions"] == []


def test_without_moments_there_is_no_drift():
    project = project_of(3)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            say(item, rater, YES)
    assert "both a time" in relevance(project)["drift"]["undefined"]
    assert relevance(project)["attention"] == []


def failed_by(person: str, method: str) -> Filter:
    said = {"rater": person, "dimension": "relevance", f"{method}.known": "failed"}
    return Filter({f"relevance.known.{method}": "yes"}, (said,))


def test_known_answers_are_counted_per_person_with_wilsons_interval(project):
    """12 known answers; Cleo's are compared one by one. Newcombe (1998) has the formula: 12 of 12 lies in .757..1."""
    items = items_of(project)
    for number in range(0, N, 5):
        Decision.objects.create(
            project=project, unit=items[number].anchor, dimension="relevance", label=truth(number), method="imported"
        )
    report = get_report("annotators").compute(project)
    [group] = of_dimension(report, "relevance")["attention"]
    assert (group["method"], group["n_units"]) == ("imported", 12)
    people = {one["name"]: one for one in group["people"]}
    anna, cleo = people["Anna"], people["Cleo"]
    assert (anna["n"], anna["n_right"], anna["n_failed"]) == (12, 12, 0)
    assert (anna["share"]["low"], anna["share"]["high"]) == pytest.approx((0.7575, 1), abs=1e-4)
    items_behind = Items.from_json(report["behind"])
    failed = items_behind.units_of(failed_by(cleo["id"], "imported"))
    assert len(failed) == cleo["n_failed"] > 0 and cleo["n_right"] + cleo["n_failed"] == 12
    assert (
        items_behind.count(Filter({"relevance.known.imported": "yes"})) == 12 and group["people"][0]["name"] == "Cleo"
    )


def test_page_command_and_the_items_behind(client, project, capsys):
    items = items_of(project)
    for number in range(10):
        Decision.objects.create(
            project=project, unit=items[number].anchor, dimension="relevance", label=truth(number), method="adjudicated"
        )
    client.force_login(project.created_by)
    address = reverse("project_annotators", args=[project.slug])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    stored = StoredReport.objects.get()
    assert all(
        title in page for title in ("Relevance: over time", "Relevance: known answers", "so neither is independent")
    )
    [group] = of_dimension(stored.result, "relevance")["attention"]
    cleo = next(one for one in group["people"] if one["name"] == "Cleo")
    behind = reverse("project_behind", args=[project.slug, "annotators"])
    figure = failed_by(cleo["id"], "adjudicated").encoded
    answer = client.get(behind, {"report": stored.parameters_hash, "figure": figure}).content.decode()
    assert "Annotator: Cleo, Question: Relevance, by adjudicated decisions: not the known answer" in answer
    assert "Decision, adjudicated" in answer
    call_command("report", project.slug, "annotators", "--format", "json")
    assert json.loads(capsys.readouterr().out)["dimensions"] == stored.result["dimensions"]
    call_command("report", project.slug, "annotators", "--format", "md")
    assert "agreement by version of the guidelines" in capsys.readouterr().out
    call_command("report", project.slug, "annotators", "--format", "methods")
    words = capsys.readouterr().out
    assert "own sequence of answers" in words and "adjudicated decisions" in words and "version of the guide" in words
