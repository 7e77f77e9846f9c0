"""Correlations on the comparison: tested, adjusted, within sources, and at segment and system level."""

import random

import pytest

from analysis.reports.metrics import get_report
from analysis.reports.tables import tables_of
from analysis.reports.tabular import Table, as_markdown
from analysis.reports.text import as_text
from analysis.templatetags.figures import table_rows
from annotation.models import Response, Unit
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
    assert of_dimension(result, "relevance")["associations"] is None
    assert "could the correlations with follows be chance?" in as_text(result)
    by_chance = of_dimension(comparison(run, score="wanders"), "stance")["associations"]["tests"]
    assert min(test["p_value"] for test in by_chance) > 0.05


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
    assert items["p_value"] == pytest.approx(2 / 24)
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
