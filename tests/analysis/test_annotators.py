"""Annotators: competences from planted answers, checkers beside people, speed, and what cannot be said."""

import json
from html import escape

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.results import PENDING, Figure
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.people.annotators.competences import Posterior, RaterCompetence
from analysis.reports.people.annotators.report import NEXT, RULES, RatedQuestion
from analysis.reports.people.annotators.work_over_time import Speed, WorkDrift
from analysis.stats import Labels, dawid_skene, mace
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.analysis.opened_figures import figures
from tests.factories import make_suggestions
from tests.world.labels import in_order_of_keys, items_of, make_rater, of_dimension, project_of, quickly, say
from tests.world.remembered import remembered
from tests.world.study import study

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
N = 24


def report_of(project, **parameters):
    return get_report("annotators").compute(project, **parameters)


def said(number: int, name: str) -> str:
    """Anna and Ben are right but for one item each; Cleo says the contrary on every third."""
    truth = number % 2 == 0
    wrong = {"Anna": number == 1, "Ben": number == 2, "Cleo": number % 3 == 0}[name]
    return YES if truth != wrong else NO


@pytest.fixture
@remembered
def project():
    project = project_of(N, claims=N)
    for name in ("Anna", "Ben", "Cleo"):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            # Cleo hurries where she errs.
            seconds = 3 + number / 10 if name == "Cleo" and number % 3 == 0 else 20 + number
            say(item, rater, said(number, name), active_ms=int(seconds * 1000))
    return project


def by_name(dimension: dict) -> dict[str, dict]:
    return {row["name"]: row for row in dimension["raters"]}


def said_where(person: str, true: str, label: str) -> Filter:
    said = {"rater": person, "dimension": "relevance", "label": label, "counts": "yes"}
    return Filter({"relevance.true": true}, (said,))


def test_competences_are_those_of_the_models_with_intervals_and_confusion(project):
    names = ("Anna", "Ben", "Cleo")
    in_order = sorted(range(N), key=[item.key for item in items_of(project)].__getitem__)
    people = dict(project.raters.values_list("name", "pseudonym"))
    rows = [(number, name, said(number, name)) for number in in_order for name in sorted(names, key=people.get)]
    unit, rater, value = zip(*rows, strict=True)
    coded = Labels.from_columns(unit, rater, value, (YES, NO))
    dimension = of_dimension(report_of(project), "relevance")
    found = by_name(dimension)
    for name, fit in (("dawid_skene", dawid_skene(coded)), ("mace", mace(coded))):
        for person in names:
            code = coded.rater_code(person)
            assert found[person][name]["estimate"] == pytest.approx(fit.competence[code], abs=1e-6)
            assert found[person][name]["low"] <= found[person][name]["high"]
    assert found["Cleo"]["dawid_skene"]["high"] < found["Anna"]["dawid_skene"]["estimate"]
    assert found["Anna"]["n_shared"] == N and sum(map(sum, found["Anna"]["counts"])) == N
    # Cleo agrees with both others on 16 items, on items 1 and 2 with one more or less: by hand.
    shares = [sum(said(number, "Cleo") == said(number, other) for other in ("Anna", "Ben")) / 2 for number in range(N)]
    assert found["Cleo"]["agreement"]["estimate"] == pytest.approx(sum(shares) / N)


def test_cells_of_the_confusion_open_their_units(project):
    report = report_of(project)
    cleo = by_name(of_dimension(report, "relevance"))["Cleo"]
    ids = Items.from_json(report["behind"]).units_of(said_where(cleo["id"], YES, NO))
    expected = in_order_of_keys([item for n, item in enumerate(items_of(project)) if n % 6 == 0])
    assert ids == expected and cleo["counts"][0][1] == len(expected)


def test_a_quick_answer_agrees_less_where_it_was_planted(project):
    speed = of_dimension(report_of(project), "relevance")["speed"]
    people = {row["name"]: row for row in speed["raters"]}
    assert people["Cleo"]["spearman"]["low"] > 0.3 and people["Cleo"]["n"] == N
    assert people["Cleo"]["agreement"]["estimate"] < people["Anna"]["agreement"]["estimate"]
    first, *_, last = speed["quarters"]
    assert first["agreement"]["estimate"] < last["agreement"]["estimate"]
    assert sum(row["agreement"]["n_pairable"] for row in speed["quarters"]) == 3 * N


def test_answers_without_a_time_are_counted_and_left_out():
    project = project_of(3)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            say(item, rater, YES)
    speed = of_dimension(report_of(project), "relevance")["speed"]
    assert speed["undefined"] and speed["n_untimed"] == 6


def test_a_checker_is_one_rater_more_and_labels_that_it_touched_do_not_count(project):
    run = make_suggestions(project, checker="fake", labels={"relevance": YES, "stance": "supports"})
    for number, item in enumerate(items_of(project)):
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(label=said(number, "Anna"))
    anna = project.raters.get(name="Anna")
    say(items_of(project)[5], anna, YES, shown=True)
    plain, with_checker = report_of(project), report_of(project, checkers="with")
    assert len(by_name(of_dimension(plain, "relevance"))) == 3
    dimension = of_dimension(with_checker, "relevance")
    [checker] = [row for row in dimension["raters"] if row["kind"] == "checker"]
    assert checker["n_labels"] == N and checker["dawid_skene"]["estimate"] > 0.9
    # Her first answer, given before she saw anything, stands for the revised one.
    assert by_name(dimension)["Anna"]["n_labels"] == N
    fresh = make_rater(project, "Dan")
    say(items_of(project)[0], fresh, YES, shown=True)
    dimension = of_dimension(report_of(project, checkers="with"), "relevance")
    assert "Dan" not in by_name(dimension)
    # Unless asked: then what people last said counts, Dan's only answer too.
    asked = report_of(project, checkers="with", touched=True)
    assert by_name(of_dimension(asked, "relevance"))["Dan"]["n_labels"] == 1
    without = report_of(project, checkers="with")
    assert (without["n_labels_touched"], asked["n_labels_touched"]) == (1, 0)
    words = [get_report("annotators").methods(report) for report in (without, asked)]
    assert "left out" in words[0] and "counting too" not in words[0]
    assert "counting too" in words[1] and "left out" not in words[1]


def test_shares_of_labels_and_of_what_people_say_have_intervals(project):
    report = report_of(project)
    dimension = of_dimension(report, "relevance")
    for model in dimension["models"]:
        for share in model["prevalence"]:
            assert share["low"] < share["estimate"] < share["high"] and not share["interval"]["undefined"]
    cleo = by_name(dimension)["Cleo"]
    for shares, ends in zip(cleo["confusion"], cleo["confusion_ends"], strict=True):
        for share, (low, high) in zip(shares, ends, strict=True):
            assert low < share < high
    tables = {table.title: table for table in get_report("annotators").tables(report)}
    labels = next(table for title, table in tables.items() if "share of each true label" in title)
    shares = dimension["models"][0]["prevalence"]
    shown = [tuple(getattr(cell, "value", cell) for cell in row[1:4]) for row in labels.rows]
    assert shown == [(one["estimate"], one["low"], one["high"]) for one in shares]
    with quickly():
        first = of_dimension(report_of(project), "relevance")
    assert all(one["interval"]["undefined"] == PENDING for one in first["models"][0]["prevalence"])
    assert all(end is None for row in first["raters"] for ends in row["confusion_ends"] for end in ends)


def test_too_few_shared_units_and_slots_have_no_competence():
    project = project_of(12)
    anna, ben, late = (make_rater(project, name) for name in ("Anna", "Ben", "Late"))
    slot = make_rater(project, "vote 1", "slot")
    for number, item in enumerate(items_of(project)):
        for rater in (anna, ben, slot):
            say(item, rater, YES if number % 2 else NO)
    say(items_of(project)[0], late, NO)
    dimension = of_dimension(report_of(project), "relevance")
    found = by_name(dimension)
    assert "vote 1" not in found and dimension["n_labels_of_slots"] == 12
    assert found["Late"]["mace"]["estimate"] is None and "shares 1 unit with" in found["Late"]["mace"]["undefined"]
    assert found["Anna"]["mace"]["estimate"] > 0.9


@pytest.mark.parametrize(
    ("kinds", "reason"), [(["slot", "slot"], "does not say who voted"), (["member"], "no two of them")]
)
def test_undefined_says_why(kinds, reason):
    project = project_of(3)
    for kind in kinds:
        rater = make_rater(project, kind=kind)
        for item in items_of(project):
            say(item, rater, YES)
    dimension = of_dimension(report_of(project), "relevance")
    assert reason in dimension["undefined"] and dimension["raters"] == []


def test_uncertain_units_come_first_and_all_can_be_had(project):
    dan = make_rater(project, "Dan")
    for number, item in enumerate(items_of(project)):
        say(item, dan, NO if said(number, "Anna") == YES else YES) if number in (4, 6) else None
    some, every = (
        of_dimension(report_of(project, units=units), "relevance")["posterior"] for units in ("uncertain", "all")
    )
    assert len(every["units"]) == every["n_units"] == N and every["n_not_listed"] == 0
    highest = [max(row["dawid_skene"]) for row in every["units"]]
    assert highest == sorted(highest) and len(some["units"]) == some["n_uncertain"]
    with pytest.raises(ValueError, match="units is one of"):
        report_of(project, units="few")


def test_first_figures_are_those_of_the_whole_without_intervals_and_fit_the_page(client, project):
    whole = by_name(of_dimension(report_of(project), "relevance"))
    with quickly():
        first = report_of(project)
    for person, row in by_name(of_dimension(first, "relevance")).items():
        for model in ("dawid_skene", "mace"):
            assert row[model]["estimate"] == whole[person][model]["estimate"] and row[model]["low"] is None
        assert row["agreement"]["estimate"] == whole[person]["agreement"]["estimate"]
    client.force_login(project.created_by)
    address = reverse("project_annotators", args=[project.slug])
    client.get(address)
    first.pop("behind")
    StoredReport.objects.update(result=first, is_partial=True, computed_at=timezone.now())
    page = client.get(address).content.decode()
    assert "Still being computed." in page and f"{whole['Cleo']['dawid_skene']['estimate']:.3f}" in page


def test_the_page_shows_what_the_command_prints(client, project, capsys):
    client.force_login(project.created_by)
    address = reverse("project_annotators", args=[project.slug])
    assert "for the first time" in client.get(address).content.decode()
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    stored = StoredReport.objects.get()
    for row in of_dimension(stored.result, "relevance")["raters"]:
        assert escape(row["name"]) in page and f"{row['dawid_skene']['estimate']:.3f}" in page
    call_command("report", project.slug, "annotators", "--format", "json")
    assert json.loads(capsys.readouterr().out) == stored.result
    behind = reverse("project_behind", args=[project.slug, "annotators"])
    cleo = by_name(of_dimension(stored.result, "relevance"))["Cleo"]
    figure = said_where(cleo["id"], YES, NO).encoded
    answer = client.get(behind, {"report": stored.parameters_hash, "figure": figure}).content.decode()
    assert "4 units" in answer and "Relevance by Dawid-Skene: Relevant" in answer
    assert "Annotator: Cleo, Question: Relevance, Label: Not relevant" in answer
    for form in ("table", "md", "csv", "latex"):
        call_command("report", project.slug, "annotators", "--format", form)
        said = capsys.readouterr().out  # files name people by pseudonym
        assert cleo["id"] in said and "Cleo" not in said
    assert client.get(address, {"units": "all"}).status_code == 404  # the command lists them


def test_with_a_checker_every_figure_opens_what_it_counts():
    """Known answers count what everybody last said, competences what no checker touched."""
    project = study()
    report = get_report("annotators")
    result = report.compute(project, checkers="with", quick=True)
    items, found = Items.from_json(result["behind"]), list(figures(report.page_of(result)))
    assert {place: items.count(wanted) for place, wanted, n, _ in found if n is not None} == {
        place: n for place, _, n, _ in found if n is not None
    }
    [group] = of_dimension(result, "relevance")["attention"]
    assert sum(one["n"] for one in group["people"]) == 3 * group["n_units"]
    touched = [one for unit in items.units for one in items.judgements_on(unit) if one.get("counts") != "yes"]
    assert touched and all(one["counts.known"] == "yes" for one in touched)
    known = Filter({"relevance.known.imported": "yes"})
    assert items.decisions_of(known) == "imported" and items.decisions_of(Filter()) == ""


def question(*accuracies, undefined="", n_uncertain=0) -> RatedQuestion:
    """Annotators a, b, ... with these accuracies and ends; None where one shares too few units."""

    def rater(name, value):
        estimate, low, high = value or (None, None, None)
        figure = Figure(estimate=estimate, low=low, high=high, undefined="" if value else "few")
        nothing = {"n_labels": 9, "n_shared": 9, "n_against": 1, "confusion": [], "confusion_ends": [], "counts": []}
        measures = dict.fromkeys(("agreement", "dawid_skene", "mace"), figure)
        return RaterCompetence(id=name, name=name.upper(), kind="person", **nothing, **measures)

    return RatedQuestion(
        dimension="d",
        derived_from=None,
        title="Stance",
        level="nominal",
        labels=[],
        n_labels=9,
        n_labels_of_slots=0,
        n_raters=len(accuracies),
        n_units_labelled=9,
        n_units_shared=9,
        undefined=undefined,
        raters=[rater(name, value) for name, value in zip("abcdef", accuracies, strict=False)],
        posterior=Posterior(
            n_units=9, n_uncertain=n_uncertain, n_outvoted=0, n_models=0, n_tied=0, units=[], n_not_listed=0
        ),
        speed=Speed(undefined="nothing"),
        drift=WorkDrift(min_answers=20, undefined="nothing"),
        attention=[],
    )


LOW, MIDDLE, HIGH = (0.4, 0.3, 0.5), (0.8, 0.7, 0.9), (0.9, 0.8, 1.0)


@pytest.mark.parametrize(
    ("asked", "says", "next_step"),
    [
        (question(undefined="nobody labels"), "cannot be estimated: nobody labels", "label the same units"),
        (question(None, None), "nobody's accuracy is estimated", "label the same units"),
        (question(MIDDLE, HIGH), "cannot tell who is wrong in a disagreement", ""),
        (question((0.8, None, None), (0.9, None, None), (0.9, None, None)), "runs from 0.800 (a) to 0.900 (c).", ""),
        (
            question(HIGH, LOW, MIDDLE),
            "runs from 0.400 [0.300, 0.500] (b) to 0.900 [0.800, 1.000] (a). b is below the median annotator (by "
            "intervals adjusted for 3 annotators).",
            "read the units on which b disagrees with the majority",
        ),
        # Below the median by an interval of its own, and not once that is adjusted for six annotators.
        (
            question((0.7, 0.61, 0.79), MIDDLE, MIDDLE, MIDDLE, HIGH, HIGH),
            "No annotator is shown to be below the median",
            "",
        ),
        (
            question(HIGH, MIDDLE, HIGH, n_uncertain=3),
            "No annotator is shown to be below the median",
            "adjudicate the 3 units",
        ),
    ],
)
def test_the_page_begins_with_its_answer(asked, says, next_step):
    assert says in first_that_applies(RULES, asked)
    found = first_that_applies(NEXT, asked)
    assert next_step in found and bool(next_step) == bool(found)
