"""The alternative annotator test of a project's checkers: verdicts, who takes part, and what it is computed from."""

import json
import math
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from scipy import stats

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.results import Figure
from analysis.models import StoredReport
from analysis.reports.checkers.alternative_annotator.report import (
    NEXT,
    RULES,
    CheckerTest,
    StandInQuestion,
    ToPass,
    labels_to_pass,
)
from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.analysis.test_prefill_trial import show
from tests.factories import make_suggestions
from tests.world.labels import in_order_of_keys, items_of, make_rater, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
N = 32
WRONG = {"Anna": 4, "Ben": 5, "Cleo": 6}  # every so many items


def truth(number: int) -> str:
    return YES if number % 2 else NO


def label_of(number: int, name: str) -> str:
    return truth(number) if number % WRONG[name] else (NO if truth(number) == YES else YES)


@pytest.fixture
@remembered
def project():
    project = project_of(N, claims=N)
    for name in WRONG:
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            say(item, rater, label_of(number, name))
    return project


def run_that_says(project, checker: str, say_of):
    run = make_suggestions(project, checker=checker, labels={"relevance": YES, "stance": "supports"})
    for number, item in enumerate(items_of(project)):
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(label=say_of(number))
    return run


def report_of(project, **parameters):
    return get_report("alternative-annotator").compute(project, **parameters)


def closer_is(run, person: str, side: str) -> Filter:
    return Filter(judgements=({"rater": person, "dimension": "relevance", f"test.{run.uuid}": side},))


def units_behind(report: dict, wanted: Filter) -> list[int]:
    return Items.from_json(report["behind"]).units_of(wanted)


def test_a_good_checker_passes_and_a_contrary_one_does_not_each_by_hand(project):
    good = run_that_says(project, "good", truth)
    bad = run_that_says(project, "bad", lambda number: NO if truth(number) == YES else YES)
    report = report_of(project, epsilon=0.1)
    rows = {row["run"]: row for row in of_dimension(report, "relevance")["checkers"]}
    first, second = rows[str(good.uuid)], rows[str(bad.uuid)]
    assert (first["passes"], second["passes"]) == (True, False)
    assert first["winning_rate"]["estimate"] == 1.0 and second["winning_rate"]["estimate"] == 0.0
    anna = next(one for one in first["people"] if one["name"] == "Anna")
    # By hand: closeness to Ben and Cleo, a tie counting for both; scipy's one-sided t test of the differences.
    checker, person, differences = 0, 0, []
    for number in range(N):
        others = [label_of(number, name) for name in ("Ben", "Cleo")]
        of_checker, of_person = (others.count(said) for said in (truth(number), label_of(number, "Anna")))
        checker += of_checker >= of_person
        person += of_person >= of_checker
        differences.append(int(of_person >= of_checker) - int(of_checker >= of_person))
    for found, wins in ((anna["model_wins"], checker), (anna["person_wins"], person)):
        assert found["estimate"] == wins / N and found["low"] < wins / N < found["high"]
        assert found["interval"]["n_resamples"] == 1000
    assert anna["p_value"] == pytest.approx(stats.ttest_1samp(differences, 0.1, alternative="less").pvalue)
    behind = units_behind(report, closer_is(good, anna["id"], "checker"))
    closer = [item for item, d in zip(items_of(project), differences, strict=True) if d < 0]
    assert behind == in_order_of_keys(closer)
    assert anna["n_model_ahead"] == len(behind)


def test_the_discount_decides_and_wrong_ones_are_refused(project):
    run_that_says(project, "fair", lambda number: label_of(number, "Ben"))
    strict, generous = (of_dimension(report_of(project, epsilon=e), "relevance")["checkers"][0] for e in (0.0, 1.0))
    assert strict["passes"] is False and generous["passes"] is True
    for wrong in ({"epsilon": 2.0}, {"epsilon": float("nan")}, {"scoring": "odd"}, {"min_units": 1}):
        with pytest.raises(ValueError):
            report_of(project, **wrong)


def test_people_with_few_units_are_named_and_where_nobody_is_left_it_is_undefined(project):
    run_that_says(project, "good", truth)
    dan = make_rater(project, "Dan")
    for item in items_of(project)[:3]:
        say(item, dan, YES)
    row = of_dimension(report_of(project), "relevance")["checkers"][0]
    assert [(one["name"], one["n_units"]) for one in row["left_out"]] == [("Dan", 3)] and len(row["people"]) == 3
    row = of_dimension(report_of(project, min_units=40), "relevance")["checkers"][0]
    assert row["passes"] is None and "nobody has 40 units" in row["undefined"]


def test_slots_are_nobody_and_touched_labels_do_not_count():
    project = project_of(3)
    run_that_says(project, "good", truth)
    slot, anna = make_rater(project, "vote 1", "slot"), make_rater(project, "Anna")
    row = of_dimension(report_of(project), "relevance")["checkers"][0]
    assert "there are none yet" in row["undefined"]
    for item in items_of(project):
        say(item, slot, YES)
    row = of_dimension(report_of(project), "relevance")["checkers"][0]
    assert "does not say who voted" in row["undefined"]
    say(items_of(project)[0], anna, YES, shown=True)
    row = of_dimension(report_of(project), "relevance")["checkers"][0]
    assert (row["n_labels"], row["n_labels_touched"]) == (0, 1)


def test_touched_labels_count_where_asked():
    """Half of what Anna says was said with the checker's suggestion in view."""
    project = project_of(2 * N, claims=2 * N)
    run_that_says(project, "good", truth)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    for number, item in enumerate(items_of(project)):
        say(item, anna, truth(number), shown=number < N)
        say(item, ben, truth(number) if number % 5 else NO)
    untouched, touched = report_of(project), report_of(project, touched=True)
    assert (untouched["touched"], touched["touched"]) == (False, True)
    rows = [of_dimension(report, "relevance")["checkers"][0] for report in (untouched, touched)]
    run = project.checker_runs.get()
    for report, n_counted in ((untouched, N), (touched, 2 * N)):
        items = Items.from_json(report["behind"])
        counting = items.counting(closer_is(run, anna.pseudonym, "tied"))
        said = [one for unit in items.units for one in items.judgements_on(unit) if one["rater"] == anna.pseudonym]
        assert sum(one[counting] == "yes" for one in said) == n_counted and len(said) == 2 * N
        assert sum(one[counting] == "given after the suggestion" for one in said) == 2 * N - n_counted
    assert [(row["n_labels"], row["n_labels_touched"]) for row in rows] == [(3 * N, N), (4 * N, 0)]
    assert [row["advantage"]["n_pairable"] for row in rows] == [N, 2 * N]
    words = [get_report("alternative-annotator").methods(report) for report in (untouched, touched)]
    assert "or labels that the checker's suggestion had touched." in words[0]
    assert "labels that the checker's suggestion had touched count too." in words[1]


def test_how_many_more_labels_would_decide_an_open_case(project):
    """A checker that is right a little more often than people, at a discount too small for so few units to show it."""
    run_that_says(project, "fair", lambda number: truth(number) if number % 8 else label_of(number, "Anna"))
    row = next(
        row
        for epsilon in (0.15, 0.1, 0.05, 0.0)
        if (row := of_dimension(report_of(project, epsilon=epsilon), "relevance")["checkers"][0])["passes"] is False
    )
    missing = math.ceil(len(row["people"]) / 2) - sum(one["rejected"] for one in row["people"])
    open_cases = [one for one in row["people"] if one["n_needed"]]
    assert open_cases and all(one["n_more"] == one["n_needed"] - one["n_units"] > 0 for one in open_cases)
    assert row["to_pass"] == {"people": missing, "units": sorted(one["n_more"] for one in open_cases)[:missing]}
    assert labels_to_pass(ToPass(**row["to_pass"])).startswith(f"{sum(row['to_pass']['units']):,} of ")
    decided = of_dimension(report_of(project, epsilon=1.0), "relevance")["checkers"][0]
    assert decided["passes"] and decided["to_pass"] is None
    run_that_says(project, "bad", lambda number: NO if truth(number) == YES else YES)
    hopeless = {row["checker"]: row for row in of_dimension(report_of(project), "relevance")["checkers"]}["bad"]
    assert hopeless["passes"] is False and hopeless["to_pass"] is None  # no number of labels would show it


def test_page_and_command(client, project, capsys):
    client.force_login(project.created_by)
    address = reverse("project_alternative_annotator", args=[project.slug])
    page = client.get(address).content.decode()
    assert "No checker that gives labels has finished a run" in page
    assert reverse("project_runs", args=[project.slug]) in page.partition('id="main"')[2]
    with pytest.raises(CommandError, match="No checker that gives labels"):
        call_command("report", project.slug, "alternative-annotator")
    run = run_that_says(project, "good", truth)
    client.get(address, {"epsilon": "0.2"})
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address, {"epsilon": "0.2"}).content.decode()
    stored = StoredReport.objects.get(name="alternative-annotator")
    assert "<td>yes</td>" in page and "Anna" in page and "--epsilon 0.2 " in page
    assert "Relevance: good 1 may stand in for a person by the alternative annotator test: winning rate 1.000" in page
    call_command("report", project.slug, "alternative-annotator", "--epsilon", "0.2", "--format", "json")
    assert json.loads(capsys.readouterr().out) == stored.result
    anna = of_dimension(stored.result, "relevance")["checkers"][0]["people"][0]
    behind = reverse("project_behind", args=[project.slug, "alternative-annotator"])
    figure = closer_is(run, anna["id"], "checker").encoded
    answer = client.get(behind, {"report": stored.parameters_hash, "figure": figure})
    words = answer.content.decode()
    assert f"Annotator: {anna['name']}, " in words
    assert "good 1 against the annotator: the checker is closer to the others" in words
    back = answer.context["back"]
    assert client.get(back).context["report"] == stored  # the very choices that the figure was made with
    for form in ("table", "md", "csv", "latex"):
        call_command("report", project.slug, "alternative-annotator", "--format", form)
        said = capsys.readouterr().out  # files name people by pseudonym
        assert project.raters.get(name="Cleo").pseudonym in said and "Cleo" not in said
    assert client.get(address, {"epsilon": "7"}).status_code == 404


def test_each_run_is_held_against_the_labels_that_it_did_not_touch(project):
    """What Anna says after one checker's suggestion does not count against that checker, and counts against another."""
    runs = [run_that_says(project, checker, truth) for checker in ("seen", "unseen")]
    anna, item = project.raters.get(name="Anna"), items_of(project)[0]
    show(say(item, anna, YES if label_of(0, "Anna") == NO else NO, shown=True), runs[0], "after")
    items = Items.from_json(report_of(project, min_units=2)["behind"])
    for run, label in ((runs[0], label_of(0, "Anna")), (runs[1], YES if label_of(0, "Anna") == NO else NO)):
        counting = items.counting(closer_is(run, anna.pseudonym, "tied"))
        mine = [
            one for one in items.judgements_on(item.anchor_id) if one["rater"] == anna.pseudonym and counting in one
        ]
        assert [(one["label"], one[counting]) for one in mine] == [(label, "yes")]


def question(*checkers) -> StandInQuestion:
    """Checkers by what they are called, with their winning rates and what would decide an open case."""

    def figure(value):
        return Figure(
            estimate=value, undefined="" if value is not None else "nobody", n_pairable=9, low=value, high=value
        )

    return StandInQuestion(
        dimension="d",
        derived_from=None,
        title="Stance",
        scored_by="equal",
        checkers=[
            CheckerTest(
                run=name,
                checker=name,
                version="1",
                n_suggestions=9,
                passes=None if rate is None else rate >= 0.5,
                to_pass=to_pass,
                undefined="nobody" if rate is None else "",
                winning_rate=figure(rate),
                advantage=figure(rate),
                people=[],
                left_out=[],
                n_labels=9,
                n_labels_touched=0,
                n_strays=0,
            )
            for name, rate, to_pass in checkers
        ],
    )


OPEN = ToPass(people=2, units=[30, 40])


@pytest.mark.parametrize(
    ("asked", "says", "next_step"),
    [
        (question(("a", None, None)), "Stance: no checker could be tested: nobody.", "have two people or more label"),
        (question(("a", 0.5, None), ("b", 1.0, None)), "b 1 may stand in for a person.*So may a 1\\.", ""),
        (
            question(("a", 0.4, OPEN)),
            "not shown that a 1 may stand in.*winning rate 0.400",
            "collect more labels on stance, 70 of 2 people",
        ),
        (question(("a", 0.1, None), ("b", 0.2, None)), "any checker, the nearest b 1, may", "try another checker"),
    ],
)
def test_the_page_begins_with_its_answer(asked, says, next_step):
    assert re.search(says, first_that_applies(RULES, asked))
    found = first_that_applies(NEXT, asked)
    assert next_step in found and bool(next_step) == bool(found)


def test_runs_that_judge_by_retrieved_passages_are_tested_where_there_are_no_others(project):
    """Claims are judged alone, so that every checker of them needs passages: the page broke without a checker."""
    run = run_that_says(project, "retrieving", truth)
    run.provenance |= {"retrieved": {"retrieval": "x", "first": 3}}
    run.save(update_fields=["provenance"])

    def tested() -> set[str]:
        return {one["checker"] for one in of_dimension(report_of(project), "relevance")["checkers"]}

    assert tested() == {"retrieving"}
    other = run_that_says(project, "alone", truth)
    assert tested() == {"alone"}
    run.delete()
    other.provenance |= {"calibration": {"version": 1, "part": "tune"}}
    other.save(update_fields=["provenance"])
    with pytest.raises(ValueError, match="its runs try prompts on a part"):
        report_of(project)
