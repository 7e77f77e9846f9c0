"""How common a label is, from few labels by people and all of a checker's."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from scipy.stats import t

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.rates.prevalence.powered import Judged, means
from analysis.reports.rates.prevalence.report import NEXT, RULES, LabelShare, Mean, QuestionPrevalence
from analysis.stats import prediction_powered_mean
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
N, BY_PEOPLE = 40, 16


def is_relevant(number: int) -> bool:
    return number % 4 != 0


def says_relevant(number: int) -> bool:
    return is_relevant(number) != (number % 5 == 0)


@pytest.fixture
def run():
    project = project_of(N, claims=N)
    anna = make_rater(project, "Anna")
    for number, item in enumerate(items_of(project)[:BY_PEOPLE]):
        say(item, anna, *(("relevant", "supports") if is_relevant(number) else ("not_relevant",)))
    run = make_suggestions(project, checker="first", labels={"relevance": "relevant", "stance": "supports"})
    for number, item in enumerate(items_of(project)):
        label = "relevant" if says_relevant(number) else "not_relevant"
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(label=label)
    return run


def report_of(run, **parameters):
    return get_report("prevalence").compute(run.project, run=str(run.uuid), **parameters)


def test_figures_are_those_of_the_statistic_and_units_are_counted(run):
    dimension = of_dimension(report_of(run), "relevance")
    assert (dimension["n_both"], dimension["n_others"], dimension["n_neither"]) == (BY_PEOPLE, N - BY_PEOPLE, 0)
    relevant = dimension["labels"][0]
    human = np.array([is_relevant(number) for number in range(BY_PEOPLE)], dtype=float)
    machine = np.array([says_relevant(number) for number in range(N)], dtype=float)
    expected = prediction_powered_mean(human, machine[:BY_PEOPLE], machine[BY_PEOPLE:])
    assert relevant["powered"]["estimate"] == pytest.approx(expected.estimate)
    assert relevant["people"]["estimate"] == human.mean() and relevant["n_by_people"] == human.sum()
    assert relevant["checker"]["estimate"] == pytest.approx(machine.mean())
    alone = prediction_powered_mean(machine, machine, machine[:0], power=0)
    assert (relevant["checker"]["low"], relevant["checker"]["high"]) == pytest.approx((alone.low, alone.high), rel=0.02)
    assert 0 <= relevant["powered"]["low"] < relevant["powered"]["high"] <= 1


def test_a_question_that_is_not_asked_has_none_of_its_labels(run):
    """The stance is asked of relevant evidence only: its shares are of all units, so together they are relevance's."""
    report = report_of(run)
    stance = of_dimension(report, "stance")
    supports = next(row for row in stance["labels"] if row["label"] == "supports")
    relevant = of_dimension(report, "relevance")["labels"][0]
    assert stance["n_both"] == BY_PEOPLE and supports["people"]["estimate"] == relevant["people"]["estimate"]
    assert supports["powered"]["estimate"] == pytest.approx(relevant["powered"]["estimate"])
    nobody = next(row for row in stance["labels"] if row["label"] == "refutes")["people"]
    assert nobody["estimate"] == 0 and nobody["low"] is None and "the same value" in nobody["interval"]["undefined"]
    items = Items.from_json(report["behind"])
    assert items.count(Filter({"stance.judged": "others"})) == N - BY_PEOPLE


def test_people_count_by_their_shares_and_a_tie_is_half_a_label(run):
    """Ben labels Anna's first eight units and disagrees on three of them: ties count half, and none is left out."""
    ben = make_rater(run.project, "Ben")
    for number, item in enumerate(items_of(run.project)[:8]):
        yes = is_relevant(number) != (number in (1, 2, 4))
        say(item, ben, *(("relevant", "supports") if yes else ("not_relevant",)))
    report = report_of(run)
    relevance, stance = (of_dimension(report, name) for name in ("relevance", "stance"))
    value = np.array([0.5 if number in (1, 2, 4) else is_relevant(number) for number in range(BY_PEOPLE)], dtype=float)
    people = relevance["labels"][0]["people"]
    assert (people["n"], relevance["n_both"], relevance["n_divided"]) == (BY_PEOPLE, BY_PEOPLE, 3)
    assert people["estimate"] == pytest.approx(value.mean())
    half = t.ppf(0.975, BY_PEOPLE - 1) * value.std(ddof=1) / np.sqrt(BY_PEOPLE)
    assert people["high"] - people["estimate"] == pytest.approx(min(half, 1 - value.mean()), rel=0.05)
    # Who finds a unit not relevant votes for no stance of it.
    supports = next(row for row in stance["labels"] if row["label"] == "supports")
    assert supports["people"]["estimate"] == pytest.approx(value.mean())


def test_what_is_left_out_stands_in_the_first_sentence(run):
    Suggestion.objects.filter(run=run, unit__in=[item.anchor_id for item in items_of(run.project)[:3]]).delete()
    begins = get_report("prevalence").page_of(report_of(run)).answer.sentences[0]
    assert "if people labelled a random sample; left out: 3 units without the checker's label." in begins


def test_labels_that_the_checker_touched_count_only_when_asked(run):
    ben = make_rater(run.project, "Ben")
    say(items_of(run.project)[N - 1], ben, "relevant", shown=True)
    assert of_dimension(report_of(run), "relevance")["n_both"] == BY_PEOPLE
    assert of_dimension(report_of(run, touched=True), "relevance")["n_both"] == BY_PEOPLE + 1


def test_nobody_labelled_anything_yet():
    project = project_of(4)
    run = make_suggestions(project, checker="first")
    row = of_dimension(report_of(run), "relevance")["labels"][0]
    assert row["powered"]["estimate"] is None and "fewer than two" in row["people"]["undefined"]
    assert row["checker"]["estimate"] == 0 and "by the checker, all units" in row["checker"]["interval"]["undefined"]


def test_a_checker_that_said_nothing_or_too_little_has_no_interval():
    nothing, every = np.zeros(3, dtype=bool), np.ones(3, dtype=bool)
    cases = ((nothing, None, "nothing has the checker's label"), (np.arange(3) == 0, 1.0, "fewer than two"))
    for by_checker, estimate, reason in cases:
        found = means(np.zeros(3), np.ones(3), Judged(every, by_checker, np.arange(3)), "by {} none has").checker
        assert (found.estimate, found.low) == (estimate, None) and reason in found.interval.undefined
        assert bool(found.undefined) == (estimate is None)


def test_page_and_command(client, run, capsys):
    project = run.project
    client.force_login(project.created_by)
    address = reverse("project_prevalence", args=[project.slug])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    stored = StoredReport.objects.get()
    powered = of_dimension(stored.result, "relevance")["labels"][0]["powered"]
    assert f"{powered['estimate']:.3f}" in page and f"--run {run.uuid}" in page
    alone = of_dimension(stored.result, "relevance")["labels"][0]["checker"]
    assert f"[{alone['low']:.3f}, {alone['high']:.3f}]" in page
    call_command("report", project.slug, "prevalence", "--run", "first", "--format", "json")
    assert json.loads(capsys.readouterr().out) == stored.result
    for form in ("table", "md", "csv", "latex"):
        call_command("report", project.slug, "prevalence", "--format", form)
        assert "Relevant" in capsys.readouterr().out
    behind = reverse("project_behind", args=[project.slug, "prevalence"])
    answer = client.get(
        behind, {"report": stored.parameters_hash, "figure": "relevance.judged=others"}
    ).content.decode()
    assert f"{N - BY_PEOPLE} units" in answer and "Relevance: labelled by the checker only" in answer
    with pytest.raises(CommandError, match="run is one of first 1"):
        call_command("report", project.slug, "prevalence", "--run", "nobody")


def test_without_a_run_the_page_says_so(client):
    project = project_of(2)
    client.force_login(project.created_by)
    page = client.get(reverse("project_prevalence", args=[project.slug])).content.decode()
    assert "has no finished checker run that gives labels" in page
    assert reverse("project_runs", args=[project.slug]) in page.partition('id="main"')[2]


def question(estimates, by_people=20, n_both=20) -> QuestionPrevalence:
    """A question whose labels have these estimates, each with the interval by both and by people alone."""

    def mean(value, width):
        ends = {} if value is None else {"low": value - width, "high": value + width}
        return Mean(estimate=value, undefined="" if ends else "too few", n=n_both, n_others=9, n_clusters=None, **ends)

    return QuestionPrevalence(
        dimension="d",
        title="Stance",
        derived_from=None,
        responses=None,
        n_both=n_both,
        n_others=9,
        n_people=0,
        n_neither=0,
        n_tied=0,
        n_divided=0,
        n_undecided=0,
        labels=[
            LabelShare(
                label=str(place),
                title=f"label {place}",
                n_by_people=by_people,
                powered=mean(value, together),
                people=mean(value, 0.1),
                checker=mean(value, 0.1),
            )
            for place, (value, together) in enumerate(estimates)
        ],
    )


@pytest.mark.parametrize(
    ("asked", "says", "next_step"),
    [
        (question([(None, 0)], n_both=0), "cannot be estimated: too few", "label units that the checker has labelled"),
        (question([(0.2, 0.05), (0.6, 0.05)]), "label 1, with an estimated share of 0.600 [0.550, 0.650]", ""),
        (question([(0.6, 0.2)], by_people=4), "does not make the interval narrower", "fewer than ten by people"),
    ],
)
def test_the_page_begins_with_its_answer(asked, says, next_step):
    assert says in first_that_applies(RULES, asked)
    assert next_step in first_that_applies(NEXT, asked) and bool(next_step) == bool(first_that_applies(NEXT, asked))
