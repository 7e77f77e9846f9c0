"""A checker beside everybody: every person, a model of the people, other checkers and scores, with tests adjusted for
their number and pictures to take away."""

from urllib.parse import urlencode

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from sklearn.metrics import accuracy_score, f1_score, precision_recall_curve, roc_curve
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar
from statsmodels.stats.multitest import multipletests

from analysis.figures.pictures import files, from_dict
from analysis.reports.metrics import get_report
from analysis.stats import Labels, correlation_difference, dawid_skene, several_labellers
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.analysis.test_behind import opened
from tests.factories import make_suggestions
from tests.world import client_of
from tests.world.labels import items_of, make_rater, make_scores, of_dimension, of_name, project_of, say, units_behind
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
N = 24
TRUTH = [number % 3 != 0 for number in range(N)]
# Who errs where: Anna never, Ben on every sixth, Cleo on every fourth item.
PEOPLE = {"Anna": 0, "Ben": 6, "Cleo": 4}
CHECKERS = {"first": 5, "second": 3, "third": 2}


def errs(every: int) -> list[bool]:
    return [truth != bool(every and number % every == 1) for number, truth in enumerate(TRUTH)]


def majority_of_people() -> np.ndarray:
    """Anna stands alone on the items on which both others err."""
    return sum(np.array(errs(every), dtype=int) for every in PEOPLE.values()) >= 2


def labels_of(said: list[bool]) -> list[str]:
    return [YES if one else NO for one in said]


def run_of(project, checker: str, said: list[bool]):
    run = make_suggestions(project, checker=checker, labels={"relevance": YES, "stance": "supports"})
    for item, one in zip(items_of(project), said, strict=True):
        share = 0.9 - 0.02 * (item.position % 7) if one else 0.1 + 0.03 * (item.position % 9)
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(
            label=YES if one else NO, probability=max(share, 1 - share), probabilities={YES: share, NO: 1 - share}
        )
    return run


@remembered
def make_project():
    project = project_of(N, claims=N)
    for name, every in PEOPLE.items():
        rater = make_rater(project, name)
        for item, label in zip(items_of(project), labels_of(errs(every)), strict=True):
            say(item, rater, label)
    return project


@remembered
def make_runs():
    project = make_project()
    return project, {name: run_of(project, name, errs(every)) for name, every in CHECKERS.items()}


@pytest.fixture
def with_runs(request, db):
    """The project, and its runs where a test asks for them."""
    return make_runs() if "runs" in request.fixturenames else (make_project(), {})


@pytest.fixture
def project(with_runs):
    return with_runs[0]


@pytest.fixture
def runs(with_runs):
    return with_runs[1]


def compare(run, **options):
    return get_report("comparison").compute(run.project, run=str(run.uuid), all=True, **options)


def test_a_person_is_held_against_the_majority_of_the_others(project, runs):
    found = of_dimension(compare(runs["first"]), "relevance")["labellers"]
    rows = {row["name"]: row for row in found["labellers"]}
    assert set(rows) == {"first 1", "second 1", "third 1", "Anna", "Ben", "Cleo"}
    anna, ben, cleo = (np.array(errs(every)) for every in PEOPLE.values())
    agree = anna == cleo  # of two others there is a majority where they agree
    assert rows["Ben"]["accuracy"]["estimate"] == pytest.approx((ben == anna)[agree].mean())
    assert rows["Ben"]["accuracy"]["n_pairable"] == agree.sum() < N
    majority = majority_of_people()
    first = np.array(errs(5))
    assert rows["first 1"]["accuracy"]["estimate"] == pytest.approx(accuracy_score(majority, first))
    assert rows["first 1"]["macro_f1"]["estimate"] == pytest.approx(f1_score(majority, first, average="macro"))


def test_every_checker_is_held_against_every_person(project, runs):
    found = of_dimension(compare(runs["second"]), "relevance")["labellers"]
    assert found["people"] == ["Anna", "Ben", "Cleo"]
    checkers = [row["name"] for row in found["labellers"] if row["kind"] == "checker"]
    assert checkers[0] == "second 1"  # the run itself comes first
    for checker, cells in zip(checkers, found["against_people"], strict=True):
        said = np.array(errs(CHECKERS[checker.removesuffix(" 1")]))
        for person, cell in zip(PEOPLE, cells, strict=True):
            expected = (np.array(errs(PEOPLE[person])) == said).mean()
            assert (cell["estimate"], cell["n_pairable"]) == (pytest.approx(expected), N)


def test_the_posterior_of_dawid_skene_can_be_the_reference(project, runs):
    rows = [(unit, name, label) for name in PEOPLE for unit, label in enumerate(labels_of(errs(PEOPLE[name])))]
    units, raters, values = zip(*rows, strict=True)
    fit = dawid_skene(Labels.from_columns(units, raters, values, categories=(YES, NO)))
    first = np.array([0 if one else 1 for one in errs(5)])
    report = compare(runs["first"], reference="dawid-skene")
    relevance = of_dimension(report, "relevance")
    assert report["reference_title"] == "Most probable label by Dawid-Skene"
    assert relevance["accuracy"]["estimate"] == pytest.approx(accuracy_score(fit.label, first))
    expected = fit.posterior[np.arange(N), first].mean()
    found = relevance["labellers"]["posterior"]["expected_accuracy"][0]
    assert found["estimate"] == pytest.approx(expected, abs=1e-6)


def test_nobody_can_be_modelled_who_is_a_slot(client, project, runs):
    other = project_of(3)
    slot = make_rater(other, "1", kind="slot")
    for item in items_of(other):
        say(item, slot, YES)
    run = make_suggestions(other, checker="first", labels={"relevance": YES})
    with pytest.raises(ValueError, match="the raters here are slots, not people; choose the"):
        compare(run, reference="dawid-skene")
    client.force_login(other.created_by)
    page = reverse("project_comparison", args=[other.slug])
    assert "dawid-skene" not in client.get(page).content.decode()
    assert client.get(page + "?reference=dawid-skene").status_code == 404
    client.force_login(project.created_by)
    assert "dawid-skene" in client.get(reverse("project_comparison", args=[project.slug])).content.decode()


def test_tests_against_all_other_checkers_are_adjusted_for_their_number(project, runs):
    report = compare(runs["first"])
    rivals = of_dimension(report, "relevance")["rivals"]
    assert [row["name"] for row in rivals] == ["third 1", "second 1"]  # the newest first
    majority = majority_of_people()
    right = {name: np.array(errs(every)) == majority for name, every in CHECKERS.items()}
    raw = []
    for row in rivals:
        name = row["name"].removesuffix(" 1")
        table = [
            [np.sum(right["first"] & right[name]), np.sum(right["first"] & ~right[name])],
            [np.sum(~right["first"] & right[name]), np.sum(~right["first"] & ~right[name])],
        ]
        raw.append(mcnemar(table, exact=True).pvalue)
    tests = [row["tests"][0] for row in rivals]
    assert [test["p_value"] for test in tests] == pytest.approx(raw)
    tables = {one.title: one for one in get_report("comparison").tables(report)}
    table = tables["Relevance: tests of the differences from every other checker"]
    assert "McNemar's test treats units as independent" in table.note
    assert [one["dimension"] for one in report["dimensions"]] == ["relevance"]  # nobody gave a stance
    assert report["families"]["rivals"] == 2
    assert [test["holm"] for test in tests] == pytest.approx(multipletests(raw, method="holm")[1])
    by_bh = multipletests(raw, method="fdr_bh")[1]
    assert [test["benjamini_hochberg"] for test in tests] == pytest.approx(by_bh)


def test_three_checkers_are_first_asked_whether_they_differ_at_all(project, runs):
    report = compare(runs["first"])
    found = of_dimension(report, "relevance")["several"]
    majority = majority_of_people()
    right = np.array([np.array(errs(CHECKERS[name])) == majority for name in ("first", "third", "second")])
    assert [(row["name"], row["n_right"]) for row in found["runs"]] == [
        (f"{name} 1", n) for name, n in zip(("first", "third", "second"), right.sum(axis=1).tolist(), strict=True)
    ]
    by_swaps, cochran = found["tests"]
    expected = cochrans_q(right.T)
    assert (cochran["statistic"], cochran["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    # Other permutations are drawn: three standard errors.
    again = several_labellers(np.ones(N, dtype=int), right.astype(int), (NO, YES), seed=1).permutation.p_value
    assert by_swaps["p_value"] == pytest.approx(again, abs=0.034) and by_swaps["n_permutations"] == 2000
    assert report["families"]["several"] == 1 and cochran["holm"] == cochran["p_value"]  # nobody gave a stance
    titles = [table.title for table in get_report("comparison").tables(report)]
    place = titles.index("Relevance: 3 checkers at once, accuracy")
    assert titles[place + 1] == "Relevance: first 1 and every other checker"
    said = get_report("comparison").methods(report)
    assert "Whether first 1, third 1 and second 1 were equally often right was tested first" in said
    assert len(units_behind(report, "relevance.several=yes")) == found["n_pairable"] == N
    answer = opened(project, "comparison", "relevance.several=yes", run=str(runs["first"].uuid), all=True)
    assert "Relevance by people and by every checker" in answer.content.decode()
    asked = {"run": str(runs["first"].uuid), "all": 1}
    page = client_of(project.created_by).get(reverse("project_comparison", args=[project.slug]), asked)
    assert "Relevance: 3 checkers at once, accuracy" in page.content.decode()


def test_two_checkers_need_no_test_of_all_at_once(project):
    runs = [run_of(project, name, errs(CHECKERS[name])) for name in ("first", "second")]
    report = compare(runs[0])
    assert of_dimension(report, "relevance")["several"] is None
    assert not any("at once" in table.title for table in get_report("comparison").tables(report))
    assert "equally often right" not in get_report("comparison").methods(report)


def test_differences_are_called_equivalent_by_the_margin_alone(project, runs):
    wide, narrow = (
        of_dimension(compare(runs["first"], other=str(runs["second"].uuid), margin=margin), "relevance")["versus"]
        for margin in (0.9, 0.001)
    )
    assert wide["figures"][0]["equivalence"]["equivalent"] is True
    found = narrow["figures"][0]["equivalence"]
    assert found["equivalent"] is False and found["low"] < narrow["figures"][0]["estimate"] < found["high"]
    with pytest.raises(ValueError, match="above 0, not 0"):
        compare(runs["first"], margin=0.0)


@pytest.fixture
@remembered
def scored():
    """A run with two scores, and somebody who puts stances in an order."""
    project = project_of(N, claims=N)
    anna = make_rater(project, "Anna")
    places = ["refutes", "insufficient-neutral", "supports"]
    for number, item in enumerate(items_of(project)):
        say(item, anna, YES, places[number % 3])
    run = make_suggestions(project, checker="first", labels={"relevance": YES, "stance": "supports"})
    units = [item.anchor_id for item in items_of(project)]
    make_scores(run, "support", {unit: number % 3 + 0.4 * (number % 5) for number, unit in enumerate(units)})
    make_scores(run, "length", {unit: number % 3 + 1.5 * (number % 7) for number, unit in enumerate(units)})
    return run


def test_two_scores_are_compared_by_swaps_of_claims_by_williams_and_steiger(scored, capsys):
    report = compare(scored, other_score="length", margin=0.5)
    found = of_dimension(report, "stance")["scores"]
    place = [
        scored.project.type.dimension("stance").values.index(one)
        for one in ("refutes", "insufficient-neutral", "supports")
    ]
    a, b, label = (
        np.array(column, dtype=float)
        for column in zip(
            *((n % 3 + 0.4 * (n % 5), n % 3 + 1.5 * (n % 7), place[n % 3]) for n in range(N)), strict=True
        )
    )
    for row in found:
        expected = correlation_difference(a, b, label, row["name"])
        assert row["estimate"] == pytest.approx(expected.difference.estimate)
        by_swaps, *others = [test["p_value"] for test in row["tests"]]
        known = [] if row["name"] == "kendall_tau_b" else [expected.williams.p_value, expected.steiger.p_value]
        assert others == pytest.approx(known)
        # Other swaps of as many claims are drawn: three standard errors.
        assert by_swaps == pytest.approx(expected.permutation.p_value, abs=0.012)
        assert [test["n_permutations"] for test in row["tests"]] == [2000, *[None for _ in known]]
        assert row["equivalence"]["equivalent"] is not None
    assert [row["name"] for row in found] == ["pearson", "spearman", "kendall_tau_b"]
    assert report["score_pair"] == [["support", ""], ["length", ""]]
    assert of_dimension(report, "relevance")["scores"] == []  # relevant or not is no order
    tables = {table.title: table for table in get_report("comparison").tables(report)}
    tests = tables["Stance: tests of the difference between support and length"]
    assert [row[:2] for row in tests.rows[:2]] == [("Pearson", "paired permutation"), ("Pearson", "Williams's t")]
    assert [row[:2] for row in tests.rows[6:]] == [("Kendall's tau-b", "paired permutation")]
    assert "Williams's t and Steiger's Z treat units as independent" in tests.note
    names = ("--run", "first", "--other-score", "length", "--margin", "0.5")
    for form in ("table", "md", "latex", "csv"):
        call_command("report", scored.project.slug, "comparison", *names, "--format", form)
        assert "paired permutation" in capsys.readouterr().out


def test_scores_of_units_of_one_claim_are_swapped_together():
    """Six claims leave 32 swaps that differ by more than the sign: all are tried, and none beats the data's."""
    project = project_of(N, claims=6)
    anna = make_rater(project, "Anna")
    for number, item in enumerate(items_of(project)):
        say(item, anna, YES, ("refutes", "insufficient-neutral", "supports")[number % 3])
    run = make_suggestions(project, checker="first", labels={"relevance": YES, "stance": "supports"})
    units = [item.anchor_id for item in items_of(project)]
    make_scores(run, "support", {unit: number % 3 + 0.1 * (number % 5) for number, unit in enumerate(units)})
    make_scores(run, "length", {unit: number % 7 for number, unit in enumerate(units)})
    report = compare(run, other_score="length")
    test = of_name(of_dimension(report, "stance")["scores"], "pearson")["tests"][0]
    assert (test["name"], test["exact"], test["n_permutations"]) == ("paired permutation", True, 32)
    assert test["p_value"] == 1 / 32
    assert "(all 32 swaps; Deutsch" in get_report("comparison").methods(report)


def test_a_score_is_not_compared_with_itself(scored):
    with pytest.raises(ValueError, match="cannot be compared with itself"):
        compare(scored, score="length", other_score="length")
    with pytest.raises(ValueError, match="no score 'size'; it has support, length"):
        compare(scored, other_score="size")


def test_curves_are_those_of_scikit_learn_and_hold_their_numbers(project, runs):
    report = compare(runs["first"])
    pictures = {picture.name: picture for picture in get_report("comparison").pictures(report)}
    truth = majority_of_people()
    score = [
        0.9 - 0.02 * (item.position % 7) if one else 0.1 + 0.03 * (item.position % 9)
        for item, one in zip(items_of(project), errs(5), strict=True)
    ]
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=False)
    drawn = np.array(pictures["roc-relevance"].series[0].points)
    np.testing.assert_allclose(drawn, np.column_stack([fpr, tpr]), atol=1e-6)
    precision, recall, _ = precision_recall_curve(truth, score)
    drawn = np.array(pictures["precision-recall-relevance"].series[0].points)
    np.testing.assert_allclose(drawn[::-1], np.column_stack([recall, precision])[:-1], atol=1e-6)
    assert f"n = {N}" in pictures["roc-relevance"].caption and "untouched labels" in pictures["roc-relevance"].caption
    confusion = pictures["confusion-relevance"]
    assert [list(row) for row in confusion.values] == of_dimension(report, "relevance")["confusion"]
    for counts, figures in zip(confusion.values, confusion.figures, strict=True):
        assert [len(units_behind(report, one)) if one else 0 for one in figures] == list(counts)
    labellers = pictures["labellers-relevance"]
    assert [item.n for item in labellers.items][:1] == [N] and len(labellers.items) == 6


def test_the_page_shows_all_of_it_and_gives_pictures_as_files(client, project, runs, monkeypatch):
    client.force_login(project.created_by)
    page = reverse("project_comparison", args=[project.slug]) + f"?run={runs['first'].uuid}&all=1"
    client.get(page)
    assert lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT)).state == Job.State.DONE
    shown = client.get(page).content.decode()
    assert 'id="plot-roc-relevance-title"' in shown and "ROC curves, each label against the rest" in shown
    assert "compared with every other checker" in shown and "every checker against every single person" in shown
    assert "Adjusted for the 2 tests of this kind" in shown and " style=" not in shown
    report = project.stored_reports.get()
    assert from_dict(report.pictures["confusion-relevance"]["spec"]).values[0][0] > 0
    assert (
        f"/behind/comparison/?report={report.parameters_hash}&amp;figure=relevance.people%3Drelevant%26relevance.checker%3Drelevant"
        in (report.pictures["confusion-relevance"]["svg"])
    )

    def address(name, form, of=report.parameters_hash):
        return reverse("project_picture", args=[project.slug, "comparison", name, form]) + f"?report={of}"

    assert address("roc-relevance", "pdf").replace("&", "&amp;") in shown
    response = client.get(address("confusion-relevance", "svg"))
    assert (response.status_code, response["Content-Type"]) == (200, "image/svg+xml")
    assert response["Content-Disposition"].endswith(f'"{project.slug}-comparison-confusion-relevance.svg"')
    assert b"shares of the" in response.content
    numbers = client.get(address("confusion-relevance", "csv")).content.decode().splitlines()
    assert numbers[0].startswith("table,people,first 1,units,share of the row") and numbers[1].endswith(
        f"Relevant,Relevant,12,{12 / 14}"
    )
    for ending, kind, words in (("md", "text/markdown", "| Relevant |"), ("tex", "text/x-tex", r"\midrule")):
        response = client.get(address("confusion-relevance", ending))
        assert response["Content-Type"] == f"{kind}; charset=utf-8" and words in response.content.decode()
        assert response["Content-Disposition"].endswith(f'-confusion-relevance.{ending}"')
    of_page = urlencode({"version": report.computed_at.isoformat()})
    assert f"{address('roc-relevance', 'tex')}&{of_page}".replace("&", "&amp;") in shown
    assert client.get(f"{address('roc-relevance', 'tex')}&{of_page}").status_code == 200
    assert client.get(f"{address('roc-relevance', 'tex')}&version=1999-12-31").status_code == 410
    for wrong in (address("roc-stance", "svg"), address("roc-relevance", "gif"), address("roc-relevance", "svg", "x")):
        assert client.get(wrong).status_code == 404
    monkeypatch.setattr(files, "SECONDS", 0.01)
    monkeypatch.setattr("analysis.pages.pictures.drawn_file", lambda spec, form: files.drawn_file(spec, form, 0.01))
    late = client.get(address("roc-relevance", "png"))
    assert late.status_code == 503 and "took longer than 0.01 s" in late.content.decode()


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(files.NotDrawn, match="no kind of picture 'pie'"):
        files.drawn_file({"kind": "pie"}, "svg")
