"""Correlations on the comparison: tested, adjusted, within sources, and at segment and system level."""

import random

import numpy as np
import pytest
from scipy import stats

from analysis.figures.tabular import Grid, as_markdown
from analysis.reports.metrics import get_report
from analysis.reports.text import as_text
from analysis.stats import correlation_test, holm
from analysis.templatetags.figures import table_rows
from annotation.models import Judgement, Response, Unit
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, make_scores, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
YES = "relevant"
STANCES = ("refutes", "insufficient-refutes", "insufficient-neutral", "insufficient-supports", "supports")
E, N, C = "entailment", "neutral", "contradiction"


def _columns(project, values: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Source, score and the place of the one label of each unit."""
    items = list(items_of(project))
    said = _stances_of(project, [item.anchor_id for item in items])
    sources = [item.anchor.evidence.claim.source for item in items]
    score = [values[item.anchor_id] for item in items]
    scale = project.type.dimension("stance").values
    return np.array(sources), np.array(score), np.array([scale.index(one) for one in said])


def _partial(source, x, y) -> float:
    """Pearson's correlation of what least squares on the sources leaves."""
    dummies = (source[:, None] == np.unique(source)).astype(float)
    left = [side - dummies @ np.linalg.lstsq(dummies, side, rcond=None)[0] for side in (x, y)]
    return stats.pearsonr(*left).statistic


def _pairs_within(source, x, y) -> float:
    """Tau-b over pairs of one source."""
    pairs = [(i, j) for i in range(len(x)) for j in range(i) if source[i] == source[j]]
    a, b = (np.array([np.sign(side[i] - side[j]) for i, j in pairs]) for side in (x, y))
    return (a * b).sum() / np.sqrt((a != 0).sum() * (b != 0).sum())


PLAIN = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
PARTIALS = (
    _partial,
    lambda source, x, y: _partial(source, stats.rankdata(x), stats.rankdata(y)),
    _pairs_within,
)


def comparison(run, **options):
    result = get_report("comparison").compute(run.project, run=str(run.uuid), all=True, **options)
    assert [len(row) for table in get_report("comparison").tables(result) for row in table.rows] == [
        len(table.columns) for table in get_report("comparison").tables(result) for _ in table.rows
    ]
    return result


def test_a_score_that_follows_the_stance_is_told_from_one_that_does_not():
    rng = random.Random(1)
    project = project_of(30, claims=10)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    rater = make_rater(project)
    follows, wanders = {}, {}
    for item in items_of(project):
        place = rng.randrange(5)
        say(item, rater, YES, STANCES[place])
        follows[item.anchor_id], wanders[item.anchor_id] = place + rng.random() * 2, rng.random()
    make_scores(run, "follows", follows)
    make_scores(run, "wanders", wanders)
    found = of_dimension(result := comparison(run, score="follows"), "stance")["associations"]
    assert [test["title"] for test in found["tests"]] == ["Pearson", "Spearman", "Kendall's tau-b"]
    assert result["families"]["associations"] == 3
    for test in found["tests"]:
        assert (test["p_value"], test["n_items"], test["n_fixed"], test["n_permutations"]) == (0.001, 30, 0, 999)
        assert test["holm"] == pytest.approx(0.003) and test["benjamini_hochberg"] == pytest.approx(0.001)
        assert "whole clusters" in test["null"]
    spearman = next(one for one in of_dimension(result, "stance")["correlations"] if one["name"] == "spearman")
    assert found["tests"][1]["statistic"] == pytest.approx(spearman["estimate"])
    # Claims of this world come from two sources.
    assert [(row["over"], row["coefficient"]) for row in found["levels"]] == [
        (over, one["title"]) for over in ("within sources (partial)", "mean of sources") for one in found["tests"]
    ]
    # A source has five claims only, so intervals are wide.
    assert all(0.4 < row["low"] < row["estimate"] > 0.75 for row in found["levels"])
    within, means = found["levels"][:3], found["levels"][3:]
    assert [row["test"] for row in means] == [None] * 3 and result["families"]["within"] == 3
    for row in within:
        assert row["test"]["p_value"] == row["test"]["benjamini_hochberg"] == 0.001
        assert row["test"]["holm"] == pytest.approx(0.003)
        assert row["test"]["statistic"] == pytest.approx(row["estimate"])
        assert row["test"]["null"].endswith("among clusters of the same size and strata")
    # Against other packages' figures of the same units: SciPy's in each source, and partial ones over all of them.
    source, score, place = _columns(project, follows)
    for row, partial, plain in zip(within, PARTIALS, PLAIN, strict=True):
        assert row["estimate"] == pytest.approx(partial(source, score, place)), row["coefficient"]
        each = [plain(score[source == name], place[source == name]).statistic for name in np.unique(source)]
        mean = next(one for one in means if one["coefficient"] == row["coefficient"])
        assert mean["estimate"] == pytest.approx(np.mean(each))
    assert of_dimension(result, "relevance")["associations"] is None
    assert "could the correlations with follows be chance?" in as_text(result)
    by_chance = of_dimension(comparison(run, score="wanders"), "stance")["associations"]["tests"]
    assert min(test["p_value"] for test in by_chance) > 0.05


def test_a_score_that_only_tells_sources_apart_is_no_more_than_chance_within_them():
    rng = random.Random(5)
    project = project_of(60, claims=20)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    rater, values = make_rater(project), {}
    for item in items_of(project):
        is_second = item.anchor.evidence.claim.source.startswith("source1")
        say(item, rater, YES, rng.choice(STANCES[2:] if is_second else STANCES[:3]))
        values[item.anchor_id] = rng.random() + 2 * is_second
    make_scores(run, "place", values)
    result = comparison(run)
    found = of_dimension(result, "stance")["associations"]
    for plain, row in zip(found["tests"], found["levels"], strict=False):
        assert plain["title"] == row["coefficient"]
        assert plain["p_value"] == 0.001 and plain["statistic"] > 0.4
        assert row["test"]["p_value"] > 0.05 and row["low"] < 0 < row["high"] and abs(row["test"]["statistic"]) < 0.3
    within = found["levels"][1]["test"]
    # The p value is that of the statistic over the same units, whatever order they stand in.
    units = [item.anchor_id for item in items_of(project)]
    claims = [item.anchor.evidence.claim for item in items_of(project)]
    places = [STANCES.index(one) for one in _stances_of(project, units)]
    again = correlation_test(
        [values[unit] for unit in units], places, "spearman", [c.source for c in claims], [c.key for c in claims]
    )
    assert again.statistic == pytest.approx(within["statistic"])
    assert again.p_value == pytest.approx(within["p_value"], abs=0.06)
    table = next(one for one in get_report("comparison").tables(result) if "segment and system level" in one.title)
    row = next(row for row in table.rows if row[1:3] == ("within sources (partial)", "Spearman"))
    assert row[table.columns.index("p")] == within["p_value"]
    assert row[table.columns.index("Holm")] == within["holm"] >= within["p_value"]
    assert "among clusters of the same size and strata" in table.note
    assert "within sources (partial correlations) by permutations" in get_report("comparison").methods(result)


def _stances_of(project, units: list[int]) -> list[str]:
    said = dict(Judgement.objects.filter(dimension="stance").values_list("unit", "label"))
    return [said[unit] for unit in units]


def test_p_values_within_strata_are_adjusted_over_all_strata():
    """Three models in two settings: six tests within strata are one family, the three of the models' means another."""
    rng = random.Random(6)
    project = project_of(18, "triplets/-/1", triplets=2)
    for number, response in enumerate(Response.objects.order_by("pk")):
        setting = ("zero", "noisy")[number // 3 % 2]
        Response.objects.filter(pk=response.pk).update(model="abc"[number % 3], context_setting=setting)
    run = make_suggestions(project, labels={E: E})
    rater, values = make_rater(project), {}
    for item in items_of(project):
        labels = {index: rng.choice((E, N, C)) for index in range(2)}
        say(item, rater, labels=labels)
        units = item.item_units.order_by("index").values_list("unit_id", flat=True)
        values |= {unit: (labels[index] == E) / 2 + rng.random() for index, unit in enumerate(units)}
    make_scores(run, "support", values)
    result = comparison(run)
    tests = [row["test"] for row in of_dimension(result, E)["associations"]["levels"] if row["test"]]
    within = [test for test in tests if test["name"] == "permutation within strata"]
    assert (result["families"]["within"], result["families"]["systems"]) == (len(within), len(tests) - len(within))
    assert [len(within), len(tests)] == [6, 9]
    assert sorted(test["holm"] for test in within) == pytest.approx(
        holm([test["p_value"] for test in sorted(within, key=lambda test: test["p_value"])]).tolist()
    )
    note = next(one.note for one in get_report("comparison").tables(result) if "segment and system level" in one.title)
    assert "Adjusted for all 6 tests within strata and for all 3 tests at system level of this page." in note


def test_scores_of_what_models_wrote_are_seen_over_pieces_and_over_models():
    rng = random.Random(2)
    project = project_of(24, "triplets/-/1", triplets=3)
    for number, response in enumerate(Response.objects.order_by("pk")):
        Response.objects.filter(pk=response.pk).update(model="abcd"[number % 4])
    run = make_suggestions(project, labels={E: E})
    rater = make_rater(project)
    support = {}
    for item in items_of(project):
        units = list(item.item_units.order_by("index").values_list("unit_id", flat=True))
        model = "abcd".index(Unit.objects.get(pk=units[0]).triplet.response.model)
        labels = {index: E if index < model else rng.choice((N, C)) for index in range(3)}
        say(item, rater, labels=labels)
        support |= {unit: (labels[index] == E) + rng.random() for index, unit in enumerate(units)}
    make_scores(run, "support", support)
    dimension = of_dimension(comparison(run), E)
    assert dimension["correlations"] == [] and dimension["associations"]["tests"] == []
    levels = dimension["associations"]["levels"]
    segment = [(row["over"], row["coefficient"]) for row in levels if row["level"] == "segment"]
    assert segment == [
        (over, coefficient)
        for over in ("all units", "within models (partial)", "mean of models", "mean of claims or questions")
        for coefficient in ("Pearson", "Spearman", "Kendall's tau-b")
    ]
    system = {(row["coefficient"], row["drawn"]): row for row in levels if row["level"] == "system"}
    assert len(system) == 9
    items = system["Spearman", "claims or questions"]
    assert items["estimate"] == 1 and items["n_labels"] == 4
    assert items["test"]["p_value"] == pytest.approx(2 / 24) and items["test"]["n_permutations"] == 24
    assert system["Pearson", "models"]["estimate"] > 0.8


def test_two_models_have_no_system_level():
    project = project_of(4, "triplets/-/1", triplets=2)
    run = make_suggestions(project, labels={E: E})
    rater = make_rater(project)
    for item in items_of(project):
        say(item, rater, labels={0: E, 1: C})
    make_scores(run, "support", {unit.pk: 1.0 * unit.pk for unit in Unit.objects.filter(kind="triplet")})
    assert of_dimension(comparison(run), E)["associations"] is None


def test_a_small_p_value_does_not_seem_to_be_zero():
    table = Grid("Tests", ("Test", "p", "Difference"), [("orders of seven", 2 / 5040, 0.0)])
    assert "4e-04" in table_rows(table) and "0.000" in table_rows(table)
    assert "0.0004" in as_markdown([table])
    assert "2e-05" in as_markdown([Grid("Tests", ("Test", "p"), [("a", 0.00002)])])
