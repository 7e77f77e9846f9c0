"""Correlations on the comparison: tested, adjusted, within sources, and at segment and system level."""

import random

import pytest

from analysis.reports.metrics import get_report
from analysis.reports.tables import tables_of
from analysis.reports.tabular import Table, as_markdown
from analysis.reports.text import as_text
from analysis.stats import correlation_test, holm
from analysis.templatetags.figures import table_rows
from annotation.models import Judgement, Response, Unit
from tests.analysis.world import items_of, make_rater, make_scores, of_dimension, project_of, say
from tests.factories import make_suggestions

pytestmark = pytest.mark.django_db
YES = "relevant"
STANCES = ("refutes", "insufficient-refutes", "insufficient-neutral", "insufficient-supports", "supports")
E, N, C = "entailment", "neutral", "contradiction"


def comparison(run, **options):
    result = get_report("comparison").compute(run.project, run=str(run.uuid), **options)
    assert [len(row) for table in tables_of(result) for row in table.rows] == [
        len(table.columns) for table in tables_of(result) for _ in table.rows
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
    assert [row["over"] for row in found["levels"]] == ["within sources (partial)", "mean of sources"]
    assert all(0.6 < row["low"] < row["estimate"] for row in found["levels"])
    within, mean = found["levels"]
    assert mean["test"] is None and result["families"]["within"] == 1
    assert within["test"]["p_value"] == within["test"]["holm"] == within["test"]["benjamini_hochberg"] == 0.001
    assert within["test"]["statistic"] == pytest.approx(within["estimate"])
    assert within["test"]["null"].endswith("among clusters of the same size and strata")
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
    plain, within = found["tests"][1], found["levels"][0]["test"]
    assert plain["p_value"] == 0.001 and plain["statistic"] > 0.5
    assert within["p_value"] > 0.05 and abs(within["statistic"]) < 0.3
    # The p value is that of the statistic over the same units, whatever order they stand in.
    units = [item.anchor_id for item in items_of(project)]
    claims = [item.anchor.evidence.claim for item in items_of(project)]
    places = [STANCES.index(one) for one in _stances_of(project, units)]
    again = correlation_test(
        [values[unit] for unit in units], places, "spearman", [c.source for c in claims], [c.key for c in claims]
    )
    assert again.statistic == pytest.approx(within["statistic"])
    assert again.p_value == pytest.approx(within["p_value"], abs=0.06)
    table = next(one for one in tables_of(result) if "segment and system level" in one.title)
    row = next(row for row in table.rows if row[1] == "within sources (partial)")
    assert row[table.columns.index("p")] == row[table.columns.index("Holm")] == within["p_value"]
    assert "among clusters of the same size and strata" in table.note
    assert "Spearman's within sources (the partial correlation) by permutations" in get_report("comparison").methods(
        result
    )


def _stances_of(project, units: list[int]) -> list[str]:
    said = dict(Judgement.objects.filter(dimension="stance").values_list("unit", "label"))
    return [said[unit] for unit in units]


def test_p_values_within_strata_are_adjusted_over_all_strata():
    """Three models in two settings: two tests within strata are one family, the three of the models' means another."""
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
    assert [len(within), len(tests)] == [2, 5]
    assert sorted(test["holm"] for test in within) == pytest.approx(
        holm([test["p_value"] for test in sorted(within, key=lambda test: test["p_value"])]).tolist()
    )
    note = next(one.note for one in tables_of(result) if "segment and system level" in one.title)
    assert "Adjusted for all 2 tests within strata and for all 3 tests at system level of this page." in note


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
    segment = [row["over"] for row in levels if row["level"] == "segment"]
    assert segment == ["all units", "within models (partial)", "mean of models"]
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
    table = Table("Tests", ("Test", "p", "Difference"), [("orders of seven", 2 / 5040, 0.0)])
    assert "4e-04" in table_rows(table) and "0.000" in table_rows(table)
    assert "0.0004" in as_markdown([table])
    assert "2e-05" in as_markdown([Table("Tests", ("Test", "p"), [("a", 0.00002)])])
