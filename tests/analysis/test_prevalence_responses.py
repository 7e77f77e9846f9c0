"""How common a label is with the response as the unit, where units are pieces of responses."""

import json

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from django.urls import reverse
from msgspec import to_builtins

from analysis.figures.items import Filter, Items
from analysis.models import StoredReport
from analysis.reports.labels.reference import Reference
from analysis.reports.labels.votes import Votes
from analysis.reports.metrics import get_report
from analysis.reports.rates.prevalence.responses import _by_whole_raters, response_shares
from analysis.stats import prediction_powered_mean
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from annotation.task_types import task_type
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

E, N, C = "entailment", "neutral", "contradiction"
KIND = task_type("triplets/-/1")
[DIMENSION] = KIND.dimensions
CODE = {label: DIMENSION.values.index(label) for label in (E, N, C)}
WORST = CODE[C]


def frame(pieces, clusters):
    """A unit per piece of each response."""
    response = np.repeat(np.arange(len(pieces)), pieces)
    names = np.array([f"r{number:05}" for number in range(len(pieces))])
    return pd.DataFrame(
        {"unit": np.arange(len(response)), "response": names[response], "cluster": np.asarray(clusters)[response]}
    )


def shares(units, people, checker) -> tuple[dict, Items]:
    items, (code, not_asked) = Items(units["unit"].tolist()), people
    none = np.zeros(len(units), dtype=bool)
    votes = Votes.of_decisions(DIMENSION, Reference(code, none, none, not_asked))
    return to_builtins(response_shares(items, DIMENSION, units, votes, checker)), items


def found_of(pieces, clusters, people, checker):
    units = frame(pieces, clusters)
    asked = np.zeros(len(units), dtype=bool)
    return shares(units, (np.array(people), asked), (np.array(checker), asked))


def test_by_hand():
    """Seven responses of two, one, two, one, two, one and one pieces to four questions. People labelled the first four
    as a whole and the fifth in part; the checker all but the fourth."""
    e, n, c, no = CODE[E], CODE[N], CODE[C], -1
    people = [c, e, c, e, n, e, c, no, no, no]
    checker = [c, c, c, e, c, no, c, n, c, e]
    found, items = found_of([2, 1, 2, 1, 2, 1, 1], [0, 0, 1, 1, 2, 2, 3], people, checker)
    assert {name: found[f"n_{name}"] for name in ("both", "others", "people", "neither", "partly")} == {
        "both": 3, "others": 3, "people": 1, "neither": 0, "partly": 1
    }  # fmt: skip
    assert (found["n"], found["n_pieces"]) == (7, 10)
    row = found["labels"][WORST]
    human, machine, others = np.array([0.5, 1, 0]), np.array([1, 1, 0.5]), np.array([0.5, 1, 0])
    share = row["share"]
    assert share["people"]["estimate"] == pytest.approx((0.5 + 1 + 0 + 0) / 4) and share["people"]["n"] == 4
    assert share["checker"]["estimate"] == pytest.approx((1 + 1 + 0.5 + 0.5 + 1 + 0) / 6)
    weight = np.mean((human - 0.5) * (machine - machine.mean())) / (2 * np.append(machine, others).var(ddof=1))
    assert share["powered"]["power"] == pytest.approx(weight) and 0 < weight < 1
    assert share["powered"]["estimate"] == pytest.approx(0.5 + weight * (0.5 - 2.5 / 3))
    # Questions are kept together: of the labelled the first two are one question, and the third one of its own; of the
    # others the fifth and sixth are one, and the seventh one.
    with_clusters = prediction_powered_mean(human, machine, others, np.array([0, 0, 1]), np.array([2, 2, 3]))
    assert share["powered"]["n_clusters"] == with_clusters.n_clusters == 4
    assert share["powered"]["high"] == pytest.approx(min(with_clusters.high, 1))
    assert share["people"]["n_clusters"] == 2
    any_of = row["any"]
    assert any_of["people"]["estimate"] == pytest.approx(2 / 4) and row["n_by_people"] == 2
    assert any_of["checker"]["estimate"] == pytest.approx(5 / 6)
    nobody = found["labels"][CODE[N]]["any"]
    assert nobody["people"]["estimate"] == pytest.approx(1 / 4) and not nobody["people"]["undefined"]
    assert items.units_of(Filter({"entailment.partly": "yes"})) == [6, 7]
    by = {side: items.units_of(Filter({"entailment.responses": side})) for side in ("people", "both", "others")}
    assert by == {"people": [5], "both": [0, 1, 2, 3, 4], "others": [6, 7, 8, 9]}


def planted(rng, n, n_labelled):
    """Responses of one to five pieces, three to a question that is easy or hard; a checker that finds too much."""
    clusters = np.arange(n) // 3
    pieces = rng.integers(1, 6, n)
    units = frame(pieces, clusters)
    cluster, response = units["cluster"].to_numpy(), np.repeat(np.arange(n), pieces)
    chance = rng.beta(1, 5, clusters[-1] + 1)[cluster] + 0.3 * (pieces[response] > 3)
    truth = np.where(rng.random(len(units)) < chance, CODE[C], CODE[E])
    said = np.where((truth == CODE[E]) & (rng.random(len(units)) < 0.2), CODE[C], truth)
    said = np.where((truth == CODE[C]) & (rng.random(len(units)) < 0.1), CODE[E], said)
    labelled = rng.permutation(clusters[-1] + 1)[: n_labelled // 3]
    asked = np.zeros(len(units), dtype=bool)
    people = np.where(np.isin(cluster, labelled), truth, -1), asked
    true = pd.DataFrame({"response": response, "bad": truth == CODE[C]}).groupby("response")["bad"]
    return units, people, (said, asked), {"share": true.mean().mean(), "any": true.any().mean()}


@pytest.mark.parametrize("measure", ["share", "any"])
def test_planted_rates_are_found_though_the_checker_alone_is_far_off(measure):
    """A few hundred labelled responses in thousands: intervals hold the truth as often as they say, and are narrower
    than people's alone."""
    truth = planted(np.random.default_rng(99), 150_000, 300)[3][measure]
    rng, hits, narrower, off, runs = np.random.default_rng(1), 0, [], [], 120
    for _ in range(runs):
        units, people, checker, _ = planted(rng, 1500, 210)
        row = shares(units, people, checker)[0]["labels"][WORST][measure]
        powered, alone = row["powered"], row["people"]
        hits += powered["low"] <= truth <= powered["high"]
        narrower.append((powered["high"] - powered["low"]) / (alone["high"] - alone["low"]))
        off.append(row["checker"]["estimate"] - truth)
    assert hits / runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
    assert np.mean(narrower) < 0.85 and np.min(off) > 0.07


def test_units_that_are_responses_or_belong_to_none_have_no_such_figures(db):
    project = project_of(4, claims=4)
    run = make_suggestions(project, checker="first")
    report = get_report("prevalence").compute(project, run=str(run.uuid))
    assert [dimension["responses"] for dimension in report["dimensions"]] == [None, None]
    titles = [table.title for table in get_report("prevalence").tables(report)]
    assert len(titles) == 4 and not [title for title in titles if "response" in title]  # shares and counts


@pytest.fixture
def run(db):
    """Eight answers of two triplets, one of one, one of three, and two with none; the checker says contradiction of all
    first triplets."""
    project = project_of(12, "triplets/-/1", triplets=[2] * 8 + [1, 3, 0, 0])
    anna = make_rater(project, "Anna")
    items = [item for item in items_of(project) if item.item_units.exists()]
    for number, item in enumerate(items[:5]):
        say(item, anna, labels={0: C if number < 3 else E, 1: C if number == 0 else N})
    say(items[5], anna, labels={0: C})
    run = make_suggestions(project, checker="first", labels={E: E})
    Suggestion.objects.filter(run=run, unit__triplet__index=0).update(label=C)
    return run


def test_report_page_files_and_command(client, run, capsys):
    project = run.project
    report = get_report("prevalence").compute(project, run=str(run.uuid))
    dimension = of_dimension(report, E)
    responses = dimension["responses"]
    assert (responses["n"], responses["n_both"], responses["n_others"], responses["n_partly"]) == (10, 5, 5, 1)
    assert report["n_responses_without"] == 2 and report["unit_words"] == "triplets"
    row = responses["labels"][WORST]
    assert row["share"]["people"]["estimate"] == pytest.approx((1 + 0.5 + 0.5 + 0 + 0) / 5)
    assert row["any"]["people"]["estimate"] == pytest.approx(3 / 5) and row["any"]["checker"]["estimate"] == 1
    assert "by the checker all responses have the same value" in row["any"]["checker"]["interval"]["undefined"]
    assert row["share"]["checker"]["estimate"] == pytest.approx((8 * 0.5 + 1 + 1 / 3) / 10)
    said = get_report("prevalence").methods(report)
    assert "The mean over 10 responses of the share of their triplets" in said
    assert "Responses that people labelled in part (at most 1) count as unlabelled." in said
    assert "Responses without triplets (2) are left out." in said

    client.force_login(project.created_by)
    address = reverse("project_prevalence", args=[project.slug])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    assert "mean share of a response&#x27;s triplets" in page
    assert f'<td class="num">{row["share"]["people"]["estimate"]:.3f} <span' in page
    stored = StoredReport.objects.get()
    behind = reverse("project_behind", args=[project.slug, "prevalence"])
    figure = {"report": stored.parameters_hash, "figure": f"{E}.partly=yes"}
    answer = client.get(behind, figure).content.decode()
    assert "2 units" in answer and "in responses labelled by people in part" in answer
    call_command("report", project.slug, "prevalence", "--run", "first", "--format", "json")
    assert json.loads(capsys.readouterr().out) == stored.result
    for form in ("table", "md", "csv", "latex"):
        call_command("report", project.slug, "prevalence", "--format", form)
        printed = capsys.readouterr().out
        assert "mean share of a response's triplets" in printed and "responses with any such" in printed


def test_people_who_label_a_response_as_a_whole_count_alike():
    """Of two responses of two pieces, two people label the first as a whole: one finds a contradiction, the other none.
    Of the second each labels one piece, so nobody knows it as a whole."""
    units, items = frame([2, 2], [0, 1]), Items([0, 1, 2, 3])
    rows = [(0, 0, C), (1, 0, E), (0, 1, E), (1, 1, E), (2, 0, C), (3, 1, C)]
    unit, rater, label = zip(*rows, strict=True)
    votes = Votes(np.array(unit), np.array(rater), np.array([CODE[one] for one in label]), 4, len(DIMENSION.labels))
    checker = np.full(4, CODE[E]), np.zeros(4, dtype=bool)
    found = response_shares(items, DIMENSION, units, votes, checker)
    worst = next(row for row in found.labels if row.label == C)
    assert (found.n_both, found.n_others, found.n_partly) == (1, 1, 1)
    assert (worst.share.people.n, worst.any.people.n) == (1, 1)
    of_whole = _by_whole_raters(votes, np.array([0, 0, 1, 1]), np.array([2, 2]))
    assert of_whole[0].tolist() == [2, 0]
    assert (of_whole[1][0, WORST], of_whole[2][0, WORST]) == (0.5, 0.5)
