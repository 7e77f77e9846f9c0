"""DRUID's analyses of planted data: claims, conflicts, characteristics, context usage, shifts and correlations."""

import json

import numpy as np
import pytest

from analysis.figures.items import Filter, Items
from analysis.figures.tabular import Grid, Linked, value_of
from analysis.papers.druid.compute import MEASURED_BY
from analysis.papers.druid.offered import FEATURES, model_names
from analysis.papers.druid.result import NO_ANSWERS, NO_FEATURES, NO_PERPLEXITY
from analysis.reports.metrics import get_report
from analysis.sources.outline import Run
from tests.analysis.captions import lacks
from tests.world.druid import SIX, PlantedSource, answer_scores

REPORT = get_report("druid")
FALSE, NONE, TRUE = [0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]
EVEN = [1 / 3, 1 / 3, 1 / 3]


def of_stance(rows, stance):
    return next(row for row in rows if row["stance"] == stance)


def behind(result, **conditions) -> list[int]:
    return Items.from_json(result["behind"]).units_of(Filter(conditions))


def table(result, beginning) -> Grid:
    return next(one for one in REPORT.tables(result) if one.title.startswith(beginning))


def small(**changes) -> PlantedSource:
    """Three claims of two sources; the third claim has evidence for and against it."""
    claim = [0, 0, 1, 1, 2, 2, 2]
    one = ["supports", "not_applicable", "refutes", "refutes", "supports", "refutes", "insufficient-neutral"]
    two = ["supports", "not_applicable", "refutes", "supports", "supports", "refutes", "insufficient-neutral"]
    without = [TRUE, TRUE, TRUE, EVEN, FALSE, FALSE, TRUE]
    with_evidence = [TRUE, TRUE, FALSE, TRUE, TRUE, NONE, NONE]
    scores = [
        ("characteristics", {}, {"claim_length": [9, 9, 5, 5, 7, 7, 7], "entity_overlap": [1, 0, np.nan, 1, 0, 1, 0]}),
        ("answer-probabilities", {"model": "org/tiny", "shots": 3}, answer_scores(without, with_evidence)),
    ]
    arguments = {"claim": claim, "labels": [one, two], "scores": scores, "sources": ["a.org", "b.org", "b.org"]}
    return PlantedSource(**arguments | changes)


def test_claims_conflicts_and_labels_are_counted_by_source():
    result = REPORT.compute(small(gold=[True, False, False, True, False, False, False]))
    everything, b, a = result["content"]["sources"]
    assert [row["source"] for row in (everything, b, a)] == ["", "b.org", "a.org"]
    assert [(row["n_claims"], row["n_pairs"], row["n_gold"]) for row in (everything, b, a)] == [
        (3, 7, 2),
        (2, 5, 1),
        (1, 2, 1),
    ]
    # Of b's two claims one has two stances that are decided, and is in conflict; the other pair of it is a tie.
    assert (b["n_claims_with_both"], b["conflicts"]["n"], b["conflicts"]["estimate"]) == (1, 1, 1.0)
    assert everything["conflicts"]["estimate"] == 0.5  # a's claim has a stance and irrelevant evidence
    assert behind(result, **{"of.b.org": "yes", "conflict": "yes"}) == [4, 5]
    relevance, stance = result["content"]["dimensions"]
    assert [row["n"] for row in relevance["labels"]] == [6, 1]
    assert {row["label"]: row["n"] for row in stance["labels"] if row["n"]} == {
        "supports": 2,
        "refutes": 2,
        "insufficient-neutral": 1,
        "not_applicable": 1,
    }
    assert {row["reason"]: row["n"] for row in stance["without"]} == {"tied": 1, "unlabelled": 0}
    assert behind(result, stance="tied") == [3]
    assert stance["labels"][0]["by_source"] == [2, 0]
    assert result["content"]["verdicts"] == [{"verdict": "True", "n_claims": 2}, {"verdict": "False", "n_claims": 1}]
    (cell,) = [row[3] for row in table(result, "Claims with conflicting").rows if value_of(row[0]) == "b.org"]
    assert cell == Linked(1, "of.b.org=yes&conflict=yes")


def test_alpha_by_source_is_that_of_the_agreement_report():
    source = small()
    result, agreement = REPORT.compute(source), get_report("agreement").compute(source)
    stance = next(one for one in agreement["dimensions"] if one["dimension"] == "stance")
    (nominal,) = [one for one in result["content"]["sources"][0]["alpha"] if one["name"] == "stance, nominal"]
    expected = next(one for one in stance["figures"] if one["name"] == "krippendorff_alpha_nominal")
    assert nominal["estimate"] == expected["estimate"] < 1
    assert "Krippendorff's alpha (relevance, nominal; stance, nominal; stance, ordinal; " in REPORT.methods(result)
    assert (nominal["low"], nominal["high"]) == (expected["low"], expected["high"])


def test_characteristics_have_their_mean_by_stance_and_count_what_is_undefined():
    result = REPORT.compute(small())
    columns = [one["title"] for one in result["described"]["columns"]]
    assert columns == ["Claim length", "Claim entity overlap"]
    groups = {(row["by"], row["group"]): row["cells"] for row in result["described"]["groups"]}
    length, entities = groups["all", ""]
    assert (length["estimate"], length["sd"]) == (7.0, pytest.approx(np.std([9, 9, 5, 5, 7, 7, 7], ddof=1)))
    assert (entities["estimate"], entities["n"], entities["n_undefined"]) == (0.5, 6, 1)
    assert (groups["stance", "refutes"][1]["n"], groups["stance", "refutes"][1]["n_undefined"]) == (1, 1)
    assert groups["source", "a.org"][0]["estimate"] == 9
    assert behind(result, **{"value.entity_overlap": "undefined"}) == [2]
    assert table(result, "Characteristics of evidence (table 10)").rows[1][6] == Linked(
        1, "value.entity_overlap=undefined"
    )


def test_both_conventions_are_named_and_never_mixed():
    for convention, factor in (("mean", 1), ("sum", 3)):
        result = REPORT.compute(small(), acu=convention)
        (model,) = result["usage"]["models"]
        for row in model["stances"]:
            if row["acu_mean"]["n"]:
                assert row["acu_sum"]["estimate"] == pytest.approx(3 * row["acu_mean"]["estimate"])
        picture = next(one for one in REPORT.pictures(result) if one.name == "usage")
        assert picture.values.title == f"acu_{convention}"
        supports = next(item for item in picture.items if item.row == "Supports")
        # One answer stays True; the other goes from 0.1 to 0.8 for True and from 0.8 to 0.1 for False.
        assert supports.value == pytest.approx(factor * np.mean([0, (0.7 / 0.9 + 0.7 / 0.8) / 3]))
    heads = table(result, "Accumulated context usage").columns
    assert {"acu_mean", "acu_mean, SD", "acu_sum", "acu_sum, SD"} <= set(heads)


def test_error_bars_are_standard_deviations_as_in_the_paper_or_intervals_of_the_mean():
    source = planted(n=300, n_claims=60)
    for bars, title in (("sd", "One standard deviation"), ("interval", "95 % interval")):
        result = REPORT.compute(source, bars=bars)
        picture = next(one for one in REPORT.pictures(result) if one.name == "usage")
        assert (picture.style, picture.interval_title) == ("bars", title)
        model = next(one for one in result["usage"]["models"] if one["model"] == "follower")
        cell = of_stance(model["stances"], "refutes")["acu_mean"]
        bar = next(item for item in picture.items if (item.row, item.series) == ("Refutes", "follower"))
        ends = (cell["estimate"] - cell["sd"], cell["estimate"] + cell["sd"])
        assert (bar.low, bar.high) == pytest.approx(ends if bars == "sd" else (cell["low"], cell["high"]))


def test_shifts_and_memory_conflicts_by_stance():
    (model,) = REPORT.compute(small())["usage"]["models"]
    refutes = of_stance(model["shifts"]["rows"], "refutes")
    assert (refutes["before"], refutes["after"], refutes["change"]) == ([1, 0, 1], [1, 1, 0], [0, 1, -1])
    assert (refutes["desired_moves"], refutes["memory_conflicts"]) == (0, 1)
    assert of_stance(model["stances"], "refutes")["memory_conflict"]["estimate"] == 0.5
    supports = of_stance(model["shifts"]["rows"], "supports")
    assert (supports["desired_moves"], supports["memory_conflicts"]) == (2, 1)
    result = REPORT.compute(small())
    assert behind(result, stance="refutes", before0="true") == [2]
    assert behind(result, stance="supports", before0="false") == [4]
    assert behind(result, stance="refutes", after0="none") == [5]
    paper = table(result, "The same in the three rows").plain()
    assert [row[2] for row in paper.rows] == [2, 1, 2]  # pairs; the tie and what is not relevant are in no row
    assert paper.rows[1][3:9] == (0, 0, 1, 1, 0, -1)


def test_zero_denominators_are_stated_and_can_be_opened():
    certain = [[0.0, 0.0, 1.0]] * 7
    scores = [("answer-probabilities", {"model": "sure"}, answer_scores(certain, certain))]
    result = REPORT.compute(small(scores=scores))
    (model,) = result["usage"]["models"]
    assert [row["n"] for row in model["undefined"]] == [0, 7, 0]  # a probability missing, certain, no stance
    assert any("without a denominator: sure: 7" in note for note in result["notes"])
    assert behind(result, usage0=model["undefined"][1]["reason"]) == [0, 1, 2, 3, 4, 5, 6]
    assert of_stance(model["stances"], "")["acu_mean"]["estimate"] is None
    assert table(result, "Accumulated").rows[0][2] == "undefined: no value is defined"
    json.dumps(result, allow_nan=False)


def test_what_is_absent_says_what_to_start():
    result = REPORT.compute(small(scores=[]))
    assert result["notes"] == [NO_ANSWERS, NO_PERPLEXITY, NO_FEATURES]
    assert (result["usage"], result["described"], result["correlations"]) == (None, None, [])
    assert [part.title for part in REPORT.body(result)][-1] == "Stance of evidence by source: pairs with each label"
    part = REPORT.compute(small())["notes"]
    assert part[0] == NO_PERPLEXITY
    rest = [note for note in part if note.startswith("Not measured: ")]
    assert [note.rpartition("start the checker ")[2] for note in rest] == [
        "“Context characteristics” (characteristics).",
        "“References to sources” (source-reference).",
    ]
    assert "Contains hedging" in rest[0] and "Assay's words" not in rest[0]
    assert set(MEASURED_BY) < {feature.score for feature in FEATURES}
    unlabelled = REPORT.compute(small(labels=[[None] * 7]))
    assert unlabelled["notes"][0].startswith("No pair has a stance yet") and unlabelled["usage"] is None
    with pytest.raises(ValueError, match="no evidence yet"):
        REPORT.compute(PlantedSource([], [[]], sources=[]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acu": "average"}, "acu is one of"),
        ({"bars": "se"}, "bars is one of"),
        ({"test": "t"}, "test is one of"),
        ({"correction": "none"}, "correction is one of"),
        ({"alpha": 1.0}, "alpha lies between"),
        ({"probabilities": "x"}, "probabilities is all or one of"),
        ({"characteristics": "x"}, "characteristics is newest or one of"),
        ({"reference": "mine"}, "reference is one of"),
    ],
)
def test_wrong_options_say_what_there_is(options, message):
    with pytest.raises(ValueError, match=message):
        REPORT.compute(small(), **options)


def test_other_task_types_are_refused_in_words():
    source = small(identifier="nli/three-way/1")
    assert "stance of evidence" in REPORT.fits(source.type)
    assert REPORT.fits(small().type) == "" and REPORT.fits(small(identifier="claim-evidence/three-way/1").type) == ""
    with pytest.raises(ValueError, match="judges something else"):
        REPORT.compute(source)


def test_three_way_stances_have_context_usage_too():
    labels = [["supports", "not_enough_info", "refutes", "refutes", "supports", "not_enough_info", "not_enough_info"]]
    result = REPORT.compute(small(labels=labels, identifier="claim-evidence/three-way/1"))
    (model,) = result["usage"]["models"]
    assert of_stance(model["stances"], "not_enough_info")["desired"] == [-1, 1, -1]
    assert of_stance(model["stances"], "not_enough_info")["acu_mean"]["n"] == 3
    assert model["shifts"]["paper"] == []
    assert not any(one.title.startswith("The same in the three rows") for one in REPORT.tables(result))


def test_runs_of_one_model_are_told_apart():
    def run(uuid, **parameters):
        return Run(uuid, "answer-probabilities", "1", parameters, {"model": "org/pythia-410m"})

    assert model_names([run("a" * 8, shots=3)]) == {"a" * 8: "pythia-410m"}
    two = model_names([run("a" * 8, shots=3), run("b" * 8, shots=0)])
    assert list(two.values()) == ["pythia-410m, 3-shot", "pythia-410m, 0-shot"]
    same = model_names([run("a" * 12, shots=3), run("b" * 12, shots=3)])
    assert list(same.values()) == ["pythia-410m (aaaaaaaa)", "pythia-410m (bbbbbbbb)"]
    assert model_names([Run("c", "answer-probabilities-server", "1")]) == {"c": "answer-probabilities-server 1"}


def planted(n=3000, n_claims=400, seed=5) -> PlantedSource:
    """Two models. One follows the evidence: it moves a share of the way that grows with the evidence's length where it
    refutes, and half of the way elsewhere. The other moves at random. The claim's length says nothing of either."""
    rng = np.random.default_rng(seed)
    claim = np.sort(rng.integers(0, n_claims, n))
    stance = np.array(SIX, dtype=object)[rng.integers(0, 6, n)]
    length, claim_length = rng.normal(0, 1, n), rng.normal(0, 1, n_claims)[claim]
    without = rng.dirichlet(np.full(3, 4.0), n)
    towards = np.array([{"refutes": FALSE, "supports": TRUE}.get(one, NONE) for one in stance])
    share = np.where(stance == "refutes", 1 / (1 + np.exp(-length - rng.normal(0, 1, n))), 0.5)[:, None]
    following = without + share * (towards - without)
    scores = [
        ("characteristics", {}, {"evidence_length": length, "claim_length": claim_length}),
        ("answer-probabilities", {"model": "follower"}, answer_scores(without, following)),
        ("answer-probabilities", {"model": "dreamer"}, answer_scores(without, rng.dirichlet(np.full(3, 4.0), n))),
    ]
    return PlantedSource(claim, [stance.tolist()], scores, sources=[f"s{one % 3}.org" for one in range(n_claims)])


def test_planted_context_usage_and_its_one_correlation_are_found():
    source = planted()
    result = REPORT.compute(source)
    by_model = {model["model"]: model for model in result["usage"]["models"]}
    follower, dreamer = by_model["follower"], by_model["dreamer"]
    for stance in ("refutes", "supports", "insufficient-neutral"):
        cell = of_stance(follower["stances"], stance)["acu_mean"]
        assert cell["low"] > 0.2 and cell["sd"] > 0
    (difference,) = result["usage"]["differences"]
    against = difference["rows"][0]["acu_mean"]
    assert (difference["a"], difference["b"]) == ("dreamer", "follower") and against["high"] < 0
    assert against["estimate"] == pytest.approx(
        of_stance(dreamer["stances"], "")["acu_mean"]["estimate"]
        - of_stance(follower["stances"], "")["acu_mean"]["estimate"]
    )
    found = {
        (part["model"], row["stance"], row["feature"]): row for part in result["correlations"] for row in part["rows"]
    }
    assert found["follower", "refutes", "Evidence length"]["spearman"]["estimate"] > 0.5
    significant = {key for key, row in found.items() if row["spearman"]["p_holm"] < 0.05}
    assert significant == {("follower", "refutes", "Evidence length")}
    assert result["correlations"][0]["n_tests"] == {"spearman": 12, "pearson": 12}
    heat = {
        one.title.rpartition(", ")[2]: one for one in REPORT.pictures(result) if one.name.startswith("correlations")
    }
    marks = {
        (row, column): mark
        for row, line in zip(heat["follower"].rows, heat["follower"].marks, strict=True)
        for column, mark in zip(heat["follower"].columns, line, strict=True)
    }
    assert marks["Evidence length", "Refutes"] == "corrected"
    assert [mark for line in heat["dreamer"].marks for mark in line].count("corrected") == 0


def test_correlation_tests_and_corrections_can_be_chosen():
    source = planted(n=300, n_claims=60)
    over_claims, plain = REPORT.compute(source), REPORT.compute(source, test="units", correction="bh")
    assert "over claims" in REPORT.methods(over_claims) and "Holm" in REPORT.methods(over_claims)
    assert "treat pairs as independent" in REPORT.methods(plain) and "Benjamini" in REPORT.methods(plain)
    for one, other in zip(over_claims["correlations"], plain["correlations"], strict=True):
        for row, again in zip(one["rows"], other["rows"], strict=True):
            assert row["spearman"]["estimate"] == again["spearman"]["estimate"]
            assert row["spearman"]["p_units"] == again["spearman"]["p_value"] != row["spearman"]["p_value"]


def test_one_run_can_be_chosen_by_its_uuid():
    source = planted(n=200, n_claims=40)
    offered = REPORT.options[1].offered(source)
    assert list(offered.values()) == ["Every run that has them", "dreamer", "follower"]
    follower = next(uuid for uuid, name in offered.items() if name == "follower")
    result = REPORT.compute(source, probabilities=follower)
    assert [model["model"] for model in result["usage"]["models"]] == ["follower"]
    assert result["usage"]["differences"] == []


def test_every_figure_behind_a_cell_or_picture_is_there_and_has_words():
    result = REPORT.compute(planted(n=300, n_claims=60))
    keys = {
        cell.figure for part in REPORT.tables(result) for row in part.rows for cell in row if isinstance(cell, Linked)
    }
    pictures = REPORT.pictures(result)
    assert len(pictures) > 4 and not any(lacks(one, "Planted evidence") for one in pictures)
    keys |= {item.figure for one in pictures for item in getattr(one, "items", ()) if item.figure}
    keys |= {key for one in pictures for row in getattr(one, "figures", ()) for key in row if key}
    assert keys and all(REPORT.units_behind(result["behind"], one) is not None for one in keys)
    items = Items.from_json(result["behind"])
    words = {key: items.words(Filter.decoded(key)) for key in keys}
    assert all(words.values())
    assert words["stance=supports&usage1=defined"] == "Stance: Supports; Context usage of follower: defined"
    assert words["stance=refutes&after1=none"] == "Stance: Refutes; Answer of follower with the evidence: None"
    assert items.words(Filter({"stance": "tied"})) == "Stance: people are divided"
    n_of = {row["stance"]: row["acu_mean"]["n"] for row in result["usage"]["models"][0]["stances"]}
    n_of.pop("")
    assert {stance: items.count(Filter({"stance": stance, "usage0": "defined"})) for stance in n_of} == n_of


def test_a_first_pass_has_what_needs_no_scores():
    result = REPORT.compute(planted(n=300, n_claims=60), quick=True)
    assert result["content"]["sources"][0]["n_pairs"] == 300 and result["usage"] is None
    assert "still being computed" in result["notes"][0]
    assert [part.title for part in REPORT.body(result)][0].startswith("Claims and evidence")


def test_tables_have_as_many_cells_as_columns():
    result = REPORT.compute(planted(n=300, n_claims=60))
    for part in REPORT.tables(result):
        assert {len(row) for row in part.rows} == {len(part.columns)}, part.title
        assert len(set(part.columns)) == len(part.columns), part.columns  # a program reads a column by its name
        assert all(
            value_of(cell) is None or isinstance(value_of(cell), str | int | float) for row in part.rows for cell in row
        )


def test_characteristics_of_another_data_set_stand_beside():
    """Only what both have measured has two values, and each data set's means are its own."""
    other = small(scores=[("characteristics", {}, {"claim_length": [2] * 6 + [9], "hedging": [1, 0, 0, 0, 0, 0, 0]})])
    other.slug, other.title = "other", "The other"
    source = small(beside=[other, small(identifier="nli/three-way/1")])
    assert REPORT.options[-1].offered(source) == {"": "nothing", "other": "The other"}
    result = REPORT.compute(source, evidence_beside="other")
    rows = table(result, "Characteristics of several data sets").plain().rows
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("Claim length", "Planted evidence", 7.0),
        ("Claim length", "The other", 3.0),
        ("Claim entity overlap", "Planted evidence", 0.5),
        ("Claim entity overlap", "The other", "undefined: not measured"),
        ("Contains hedging", "Planted evidence", "undefined: not measured"),
        ("Contains hedging", "The other", pytest.approx(1 / 7)),
    ]
    pictures = {one.name: one for one in REPORT.pictures(result) if one.name.startswith("beside")}
    assert set(pictures) == {"beside", "beside-0"}
    assert [item.row for item in pictures["beside-0"].items] == ["Planted evidence", "The other"]
    with pytest.raises(ValueError, match="evidence_beside is one of other"):
        REPORT.compute(source, evidence_beside="planted")


def test_every_release_that_is_given_can_stand_beside():
    others = [small(), small()]
    for number, other in enumerate(others):
        other.slug = other.title = f"set-{number}"
    source = small(beside=others)
    source.described = lambda: {"kind": "release"}
    assert list(REPORT.options[-1].offered(source)) == ["", "all", "set-0", "set-1"]
    result = REPORT.compute(source, evidence_beside="all")
    assert [data["project"] for data in result["beside"]] == ["planted", "set-0", "set-1"]


def test_a_single_source_gets_no_rows_beside_those_of_all():
    result = REPORT.compute(small(sources=["a.org"] * 3))
    assert [row["source"] for row in result["content"]["sources"]] == [""]
    assert table(result, "Stance of evidence").columns == ("Label", "Pairs", "Share", "Share, low", "Share, high")
    assert not any(part.title.endswith("by source") for part in REPORT.tables(result)[-8:])
    assert "sources" not in {one.name for one in REPORT.pictures(result)}


def test_shares_of_labels_have_intervals_over_claims():
    source = planted(n=600, n_claims=80)
    result = REPORT.compute(source)
    stance = result["content"]["dimensions"][-1]
    label = next(row for row in stance["labels"] if row["label"] == "refutes")
    share = label["share"]
    assert share["estimate"] == label["n"] / 600 and share["low"] < share["estimate"] < share["high"]
    assert share["interval"]["method"] == "bootstrap over clusters (BCa, expanded)"
    assert share["interval"]["n_clusters"] == len(set(source.claim))
    # Nothing is irrelevant here: what is found in none of so many claims may still be found in some of them.
    nobody = result["content"]["dimensions"][0]["labels"][1]["share"]
    assert (nobody["estimate"], nobody["low"]) == (0, 0) and 0 < nobody["high"] < 0.05
    row = next(row for row in table(result, "Stance of evidence").rows if row[0] == label["title"])
    assert row[2:5] == (share["estimate"], share["low"], share["high"])
    assert "Clopper and Pearson" in REPORT.methods(result)
    refutes, undecided, _ = result["usage"]["models"][0]["shifts"]["paper"]
    conflict = refutes["memory_conflict"]
    assert conflict["estimate"] == refutes["memory_conflicts"] / refutes["n"]
    assert conflict["low"] < conflict["estimate"] < conflict["high"]
    assert undecided["n"] and undecided["memory_conflict"]["low"] is None
    assert "by definition" in undecided["memory_conflict"]["interval"]["undefined"]


def test_a_first_pass_has_shares_without_intervals():
    share = REPORT.compute(small(), quick=True)["content"]["dimensions"][0]["labels"][0]["share"]
    assert share["estimate"] == 6 / 7 and share["low"] is None and share["interval"]["n_resamples"] == 0


def test_where_nobody_labelled_shares_are_undefined_and_say_why():
    result = REPORT.compute(small(labels=[[None] * 7]))
    row = table(result, "Relevance of evidence").rows[0]
    assert row[2:5] == ("undefined: no pair has a label", None, None)
