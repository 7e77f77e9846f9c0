"""Figures of every kind of task: agreement, comparison and rates, and the coarser labels that follow from grades."""

import html
import json

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.figures.items import Filter, Items
from analysis.reports.labels.derived import with_derived
from analysis.reports.metrics import get_report
from analysis.reports.stored import stored_report
from analysis.sources.database import DatabaseSource
from annotation.jobs import lifecycle
from annotation.models import Annotation, Decision, Item, Judgement, Response, Revision
from annotation.projects.item_making import anchors_in
from annotation.task_types import task_type
from tests.factories import make_dataset, make_project, make_suggestions
from tests.kinds import EACH_KIND, answer_all, bring_in, make_kind_dataset, make_kind_project, records
from tests.world.labels import items_of, make_rater, of_dimension, of_name
from tests.world.remembered import remembered

UNSEEN = {"runs": []}  # whoever decided had been shown no suggestion
pytestmark = pytest.mark.django_db
GRADES = ("perfect", "acceptable", "incorrect", "missing")
P, A, W, M = GRADES
OUTCOME = {P: "correct", A: "correct", W: "hallucinate", M: "abstain"}


def say(item: Item, rater, dimension: str, label: str, index: int = 0) -> None:
    annotation, is_new = Annotation.objects.get_or_create(item=item, rater=rater)
    revision = (
        Revision.objects.create(annotation=annotation, number=1, suggestion_shown=False)
        if is_new
        else annotation.revisions.get()
    )
    unit = item.item_units.order_by("index")[index].unit_id
    Judgement.objects.create(revision=revision, unit_id=unit, dimension=dimension, label=label)


# Grades of six answers (two questions, three models) by three people; None where one did not judge.
TABLE = (
    (P, A, P),
    (W, W, M),
    (M, M, M),
    (A, P, None),
    (P, A, W),  # a tie of grades, and two to one for correct
    (None, None, W),
)


@pytest.fixture
@remembered
def graded():
    project = make_kind_project("answer-grade/-/1")
    people = [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]
    for item, row in zip(items_of(project), TABLE, strict=True):
        for rater, label in zip(people, row, strict=True):
            if label:
                say(item, rater, "grade", label)
    return project


def coded(table, categories) -> np.ndarray:
    return np.array(
        [[np.nan if one is None else categories.index(one) for one in row] for row in zip(*table, strict=True)]
    )


def test_agreement_on_grades_and_on_what_follows_from_them(graded):
    report = get_report("agreement").compute(graded)
    assert [one["dimension"] for one in report["dimensions"]] == ["grade", "grade.outcome"]
    grade, outcome = report["dimensions"]
    assert (grade["derived_from"], outcome["derived_from"]) == (None, "grade")
    assert outcome["title"] == "Outcome, derived from Grade"
    assert [(one["label"], one["n"]) for one in outcome["labels"]] == [
        ("correct", 7),
        ("hallucinate", 4),
        ("abstain", 4),
    ]
    assert grade["n_labels"] == outcome["n_labels"] == 15
    # By hand, the mean over items of the share of agreeing pairs, of grades and of outcomes.
    by_hand = {"grade": (1 / 3 + 1 / 3 + 1 + 0 + 0) / 5, "grade.outcome": (1 + 1 / 3 + 1 + 1 + 1 / 3) / 5}
    for dimension, table, categories in (
        (grade, TABLE, GRADES),
        (outcome, [[one and OUTCOME[one] for one in row] for row in TABLE], ("correct", "hallucinate", "abstain")),
    ):
        figures = dimension["figures"]
        assert of_name(figures, "percent_agreement")["estimate"] == pytest.approx(by_hand[dimension["dimension"]])
        alpha = krippendorff.alpha(
            coded(table, categories), value_domain=range(len(categories)), level_of_measurement="nominal"
        )
        assert of_name(figures, "krippendorff_alpha_nominal")["estimate"] == pytest.approx(alpha)
        assert of_name(figures, "krippendorff_alpha_nominal")["n_pairable"] == 5
    # Anna and Ben share five outcomes: correct 3 : 3, hallucinate 1 : 1, abstain 1 : 1, all alike.
    kappa = {frozenset((pair["a"], pair["b"])): pair["estimate"] for pair in outcome["pairs"]}
    assert kappa[frozenset(("Anna", "Ben"))] == 1.0
    # Anna and Cleo share four: both say correct once and abstain once. Chance: (2*1 + 1*1 + 1*2) / 16.
    assert kappa[frozenset(("Anna", "Cleo"))] == pytest.approx((2 / 4 - 5 / 16) / (1 - 5 / 16))
    items = Items.from_json(report["behind"])
    disagree = [items.count(Filter({dimension: "disagree"})) for dimension in ("grade", "grade.outcome")]
    assert disagree == [4, 2]


def test_a_checker_is_compared_on_grades_and_on_what_follows_from_them(graded):
    run = make_suggestions(graded, labels={"grade": A})
    report = get_report("comparison").compute(graded, run=str(run.uuid))
    grade, outcome = (of_dimension(report, name) for name in ("grade", "grade.outcome"))
    # Majorities of grades: perfect, incorrect, missing, tie, tie, incorrect; the checker says acceptable to all.
    assert (grade["votes"]["decided"], grade["votes"]["tied"], grade["accuracy"]["estimate"]) == (4, 2, 0.0)
    # Of outcomes: correct, hallucinate, abstain, correct, correct, hallucinate; the checker says correct to all.
    assert (outcome["votes"]["decided"], outcome["votes"]["tied"]) == (6, 0)
    assert outcome["accuracy"]["estimate"] == 0.5
    assert outcome["confusion"] == [[3, 0, 0], [2, 0, 0], [1, 0, 0]]
    assert [one["label"] for one in outcome["labels"]] == ["correct", "hallucinate", "abstain"]
    assert outcome["macro_f1"]["estimate"] == pytest.approx((2 * 3 / (3 + 6) + 0 + 0) / 3)
    assert outcome["derived_from"] == "grade"
    for item in items_of(graded):
        Decision.objects.create(
            project=graded, unit=item.anchor, dimension="grade", method="adjudicated", label=P, seen=UNSEEN
        )
    decided = get_report("comparison").compute(graded, run=str(run.uuid), reference="adjudicated")
    assert of_dimension(decided, "grade")["accuracy"]["estimate"] == 0.0
    assert of_dimension(decided, "grade.outcome")["accuracy"]["estimate"] == 1.0


def test_rates_of_grades_count_missing_answers_and_outcomes_of_each_model(graded):
    report = get_report("rates").compute(graded)
    assert (report["unit_words"], report["response_words"], report["has_abstained"]) == ("answers", "answers", False)
    [setting] = report["settings"]
    assert setting["setting"] == "noisy" and setting["excluded"] == []
    unnamed, a, b = setting["models"]
    assert (unnamed["name"], a["name"], b["name"]) == ("", "model-a", "model-b")
    assert (a["abstained"], a["n_abstained"]) == (None, None)
    # Of model-a's answers (1st and 4th) one majority is perfect and one is tied; both outcomes are correct.
    assert (a["n_pending"], a["shares"][P]["estimate"]) == (1, 1.0)
    [outcome] = setting["derived"]
    shares = {
        model["name"]: {name: one["estimate"] for name, one in model["shares"].items()} for model in outcome["models"]
    }
    assert shares == {
        "model-a": {"correct": 1.0, "hallucinate": 0.0, "abstain": 0.0},
        "model-b": {"correct": 0.5, "hallucinate": 0.5, "abstain": 0.0},
        "": {"correct": 0.0, "hallucinate": 0.5, "abstain": 0.5},
    }
    assert outcome["mean"]["shares"]["correct"]["estimate"] == pytest.approx(0.5)


def test_a_model_whose_answers_all_wait_for_a_label_says_so(graded):
    Judgement.objects.filter(unit__response__model="model-a").delete()
    [setting] = get_report("rates").compute(graded)["settings"]
    a = next(one for one in setting["models"] if one["name"] == "model-a")
    assert (a["n_pending"], a["shares"][P]["estimate"]) == (2, None)
    assert a["shares"][P]["undefined"] == "none of its responses has a decided label"
    assert setting["mean"]["shares"][P]["undefined"] == "no value for at least one model"


def test_the_command_prints_derived_figures_under_their_own_name(graded, capsys):
    call_command("report", graded.slug, "agreement")
    told = capsys.readouterr().out
    assert "Grade: 15 labels" in told and "Outcome, derived from Grade: 15 labels" in told
    call_command("report", graded.slug, "rates")
    told = capsys.readouterr().out
    assert "Outcome, derived from Grade" in told and "no name" in told and "abstained" not in told
    call_command("report", graded.slug, "agreement", format="json")
    assert [one["derived_from"] for one in json.loads(capsys.readouterr().out)["dimensions"]] == [None, "grade"]


def test_documents_of_several_methods_are_told_apart():
    project = make_kind_project("evidence-inclusion/-/1")
    Response.objects.filter(key="c1/d0").update(method="Query2doc")
    rater = make_rater(project)
    for item, label in zip(items_of(project), ("included", "not_included"), strict=True):
        say(item, rater, "inclusion", label)
    report = get_report("rates").compute(project)
    assert (report["unit_words"], report["response_words"]) == ("documents", "documents")
    [setting] = report["settings"]
    found = {(one["model"], one["method"]): one["shares"]["included"]["estimate"] for one in setting["models"]}
    assert found == {("model-a", "HyDE"): 1.0, ("model-a", "Query2doc"): 0.0}
    assert [one["name"] for one in setting["models"]] == ["model-a · HyDE", "model-a · Query2doc"]


def test_an_answer_to_a_question_without_aspects_has_nothing_to_judge_and_is_no_abstention():
    dataset = make_kind_dataset(1)
    bring_in(dataset, [record for record in records(1, prefix="bare-") if "Aspect" not in type(record).__name__])
    project = make_kind_project("aspect-coverage/-/1", dataset=dataset)
    rater = make_rater(project)
    say(items_of(project)[0], rater, "coverage", "covered", 0)
    say(items_of(project)[0], rater, "coverage", "not_covered", 1)
    [setting] = get_report("rates").compute(project)["settings"]
    assert (setting["n_responses"], setting["n_without_units"], setting["n_pending"]) == (6, 3, 2)
    a = next(one for one in setting["models"] if one["name"] == "model-a")
    assert a["shares"]["covered"]["estimate"] == 0.5 and a["abstained"] is None


@EACH_KIND
def test_frames_and_reports_of_every_kind_with_nothing_in_them(identifier):
    kind = task_type(identifier)
    project = make_project(make_dataset(), identifier)
    units = DatabaseSource(project).unit_frame(kind.unit_kind)
    assert {"unit", "unit_key", "item", "cluster", "source"} <= set(units.columns) and units.empty
    report = get_report("agreement").compute(project)
    assert report["n_units"] == 0 and all(one["n_labels"] == 0 for one in report["dimensions"])
    run = make_suggestions(project)
    compared = get_report("comparison").compute(project, run=str(run.uuid))
    assert [one["accuracy"]["estimate"] for one in compared["dimensions"]] == [None] * len(report["dimensions"])
    if kind.anchor_kind == "response":
        assert get_report("rates").compute(project)["settings"] == []


@EACH_KIND
def test_every_unit_has_its_cluster_and_figures_can_be_computed(identifier):
    kind = task_type(identifier)
    project = make_kind_project(identifier)
    units = DatabaseSource(project).unit_frame(kind.unit_kind)
    assert set(units["item"]) == set(project.items.filter(unit_count__gt=0).values_list("pk", flat=True))
    assert units["cluster"].notna().all() and units["cluster"].nunique() in (2, 4)
    assert anchors_in(project.dataset_id, kind).count() == project.items.count()
    answer_all(project)
    report = get_report("agreement").compute(project)
    for dimension in report["dimensions"]:
        figure = of_name(dimension["figures"], "percent_agreement")
        assert figure["n_units"] == len(units)
        assert not figure["undefined"] or with_derived(kind).dimension(dimension["dimension"]).asked_when
    assert report["dimensions"][0]["figures"][0]["estimate"] < 1
    run = make_suggestions(project)
    compared = get_report("comparison").compute(project, run=str(run.uuid))
    assert all(
        one["n_suggestions"]
        for one in compared["dimensions"]
        if not with_derived(kind).dimension(one["dimension"]).asked_when
    )
    assert json.dumps([report, compared])
    if kind.anchor_kind == "response":
        rates = get_report("rates").compute(project)
        assert json.dumps(rates)
        for setting in rates["settings"]:
            for model in setting["models"]:
                shares = [one["estimate"] for one in model["shares"].values()]
                assert shares[0] is None or sum(shares) == pytest.approx(1)


@EACH_KIND
def test_the_units_behind_a_figure_are_shown_with_their_words(identifier, client):
    project = make_kind_project(identifier)
    answer_all(project)
    client.force_login(project.created_by)
    report = stored_report(project, "agreement", {"raters": "all"}, project.created_by)
    lifecycle.run_here(report.job)
    report.refresh_from_db()
    figure = f"{report.result['dimensions'][-1]['dimension']}=agree"
    address = f"/projects/{project.slug}/behind/agreement/"
    with CaptureQueriesContext(connection) as captured:
        page = client.get(address, {"report": report.parameters_hash, "figure": figure})
    assert page.status_code == 200 and len(captured) < 20
    rows = page.context["rows"]
    assert [row.unit.pk for row in rows] == get_report("agreement").units_behind(report.behind, figure)[:50]
    shown = html.unescape(page.content.decode())
    assert all(row.texts and row.texts[0].text in shown for row in rows)
