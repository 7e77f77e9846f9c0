"""Data on which other tools go wrong: sparse overlap, missing labels, one rater, one label, ties, gaps, two units."""

import warnings

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from analysis.stats import (
    Labels,
    agreement_difference,
    agreement_permutation_test,
    agreement_with_others,
    alternative_annotator_test,
    areas,
    benjamini_hochberg,
    benjamini_yekutieli,
    brennan_prediger,
    calibration,
    classification,
    cohen_kappa,
    cohen_kappa_table,
    correlation_difference,
    dawid_skene,
    fleiss_kappa,
    gwet_ac,
    holm,
    kendall_tau_b,
    krippendorff_alpha,
    labeller_difference,
    mace,
    majority,
    pearson,
    percent_agreement,
    pooled_percent_agreement,
    scott_pi,
    spearman,
    steiger_test,
    threshold_sweep,
    williams_test,
)

from .samples import from_counts, from_matrix, random_matrix

SIX = (
    "refutes",
    "insufficient-refutes",
    "insufficient-contradictory",
    "insufficient-neutral",
    "insufficient-supports",
    "supports",
)
ALL = {
    "percent": percent_agreement,
    "pooled percent": pooled_percent_agreement,
    "alpha": krippendorff_alpha,
    "ordinal alpha": lambda labels: krippendorff_alpha(labels, "ordinal"),
    "Fleiss": fleiss_kappa,
    "AC1": gwet_ac,
    "AC2": lambda labels: gwet_ac(labels, "ordinal"),
    "Brennan-Prediger": brennan_prediger,
}
CORRECTED_BY_HABITS = ("alpha", "ordinal alpha", "Fleiss")


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def two_raters(a: str, b: str, categories: str = "abc") -> Labels:
    units = [*range(len(a)), *range(len(b))]
    return Labels.from_columns(units, ["x"] * len(a) + ["y"] * len(b), a + b, categories)


def three_of_six(n: int = 60) -> np.ndarray:
    """Six raters, of whom three label each unit: no unit has all of them, some pairs share few units."""
    rng = np.random.default_rng(1)
    matrix = random_matrix(rng, 6, n, 4, 0, 0.6)
    for column in matrix.T:
        column[rng.permutation(6)[:3]] = np.nan
    return matrix


def test_three_of_six_raters_and_no_unit_with_all():
    matrix = three_of_six()
    labels = from_matrix(matrix, "1234")
    assert np.isnan(matrix).any(axis=0).all()
    counts = np.array([(matrix == value).sum(axis=0) for value in (1, 2, 3, 4)]).T
    assert fleiss_kappa(labels).estimate == pytest.approx(fleiss_of_statsmodels(counts), abs=1e-12)
    for level in ("nominal", "ordinal", "interval"):
        package = krippendorff.alpha(matrix, level_of_measurement=level)
        assert krippendorff_alpha(labels, level).estimate == pytest.approx(package, abs=1e-12)
    pairs = cohen_kappa_table(labels, "quadratic")
    assert len(pairs) == 15
    for pair in pairs:
        a, b = matrix[[int(pair.rater_a), int(pair.rater_b)]]
        shared = ~np.isnan(a) & ~np.isnan(b)
        assert pair.n_pairable == shared.sum() and pair.n_left_out == (~shared).sum()
        expected = cohen_kappa_score(a[shared], b[shared], labels=[1, 2, 3, 4], weights="quadratic")
        assert pair.estimate == pytest.approx(expected, abs=1e-12)


def test_raters_who_never_meet_have_no_kappa_but_count_for_alpha():
    labels = Labels.from_columns("aabbccdd", "wxwxyzyz", "++--+--+", "-+")
    assert [(pair.rater_a, pair.rater_b) for pair in cohen_kappa_table(labels)] == [("w", "x"), ("y", "z")]
    assert cohen_kappa(labels, "w", "z").undefined == "the two raters share no unit"
    assert krippendorff_alpha(labels).n_pairable == 4


@pytest.mark.parametrize("measure", ALL.values(), ids=ALL)
def test_one_rater_only_agrees_with_nobody(measure):
    found = measure(Labels.from_columns("abcd", "xxxx", "+-+-", "-+"))
    assert np.isnan(found.estimate) and found.undefined == "no unit has two labels"
    assert found.left_out == {"one label only": 4} and found.n_pairable == 0
    interval = found.confidence_interval()
    assert np.isnan(interval.low) and interval.undefined == found.undefined


def test_one_rater_only_in_tests_and_models():
    labels = Labels.from_columns("abcd", "xxxx", "+-+-", "-+")
    assert cohen_kappa_table(labels) == ()
    assert agreement_permutation_test(labels).undefined == "no unit has two labels"
    assert agreement_with_others(labels)[0].undefined == "nobody else labelled any of these units"
    assert alternative_annotator_test(labels, np.zeros(4, dtype=int), min_units=2).passes is None
    assert majority(labels).n_single == 4
    assert dawid_skene(labels).label.tolist() == mace(labels).label.tolist() == [1, 0, 1, 0]


def test_a_label_nobody_used_counts_only_where_the_measure_says_so():
    """Alpha, Fleiss and percent do not see it; AC and Brennan-Prediger take it for a label that chance could give."""
    a, b = "aabbabab", "aabbabba"
    used, more = two_raters(a, b, "ab"), two_raters(a, b, "abc")
    for name in ("percent", "alpha", "ordinal alpha", "Fleiss"):
        assert ALL[name](more).estimate == pytest.approx(ALL[name](used).estimate, abs=1e-12)
    assert brennan_prediger(used).estimate == pytest.approx(2 * 0.75 - 1)
    assert brennan_prediger(more).estimate == pytest.approx((0.75 - 1 / 3) / (1 - 1 / 3))
    assert gwet_ac(more).estimate == pytest.approx((0.75 - 0.25) / (1 - 0.25))  # P_e = (1/4 + 1/4) / 2
    against = classification([0, 0, 1, 1], [0, 1, 1, 1], "abc")
    assert against.macro_f1.estimate == pytest.approx((2 / 3 + 4 / 5) / 2) and np.isnan(against.labels[2].f1)
    assert dawid_skene(more).prevalence[2] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("measure", ALL, ids=ALL)
def test_perfect_agreement_on_one_label(measure):
    """Percent agreement, AC and Brennan-Prediger are 1; measures corrected by the raters' habits are undefined (0/0),
    neither 1 nor 0. No interval is given: there is nothing that resampling could vary."""
    found = ALL[measure](two_raters("aaaaa", "aaaaa"))
    if measure in CORRECTED_BY_HABITS:
        assert np.isnan(found.estimate) and "only one label was used" in found.undefined
    else:
        assert found.estimate == pytest.approx(1) and not found.undefined
    interval = found.confidence_interval(100)
    assert np.isnan(interval.low) and np.isnan(interval.high) and interval.undefined


def test_perfect_agreement_on_one_label_between_two_people():
    labels = two_raters("aaaaa", "aaaaa")
    for found in (cohen_kappa(labels, "x", "y"), cohen_kappa(labels, "x", "y", "linear"), scott_pi(labels, "x", "y")):
        assert np.isnan(found.estimate) and found.undefined
    test = agreement_permutation_test(labels)
    assert np.isnan(test.p_value) and "only one label" in test.undefined


@pytest.mark.parametrize("measure", ALL.values(), ids=ALL)
def test_agreement_of_100_percent_is_1_and_claims_no_certainty(measure):
    """An interval from 1 to 1 would be one; of 20 units that all agree, up to 13.9 % of such units may still not
    (1 - 0.05 ** (1 / 20), the rule of three)."""
    found = measure(two_raters("abcab" * 4, "abcab" * 4))
    assert found.estimate == pytest.approx(1)
    interval = found.confidence_interval()
    assert np.isnan(interval.low) and "none of 20 units" in interval.undefined and "13.9%" in interval.undefined


def test_a_rater_with_one_label_agrees_by_chance_only():
    labels = two_raters("aaaaaa", "aabbcb")
    assert cohen_kappa(labels, "x", "y").estimate == pytest.approx(0, abs=1e-12)
    assert cohen_kappa(labels, "x", "y", "quadratic").estimate == pytest.approx(0, abs=1e-12)
    package = krippendorff.alpha([[0] * 6, [0, 0, 1, 1, 2, 1]], level_of_measurement="nominal")
    assert krippendorff_alpha(labels).estimate == pytest.approx(package)
    test = agreement_permutation_test(labels, n_permutations=99)
    assert np.isnan(test.p_value) and (test.n_movable, test.n_labels) == (0, 12)  # alpha is the same wherever y's stand
    one_sided = classification([0, 0, 1, 1, 2, 1], [0] * 6, "abc")
    assert one_sided.mcc.undefined and np.isnan(one_sided.labels[1].precision) and one_sided.labels[1].recall == 0
    assert np.isfinite(dawid_skene(labels).competence).all()


def test_ties_at_the_majority_are_nobodys_and_the_order_of_labels_does_not_break_them():
    for categories in ("ab", "ba"):
        vote = majority(Labels.from_columns("uuvvv", "xyxyz", "abaab", categories))
        assert vote.code[0] == -1 and vote.tied.tolist() == [True, False]
        assert categories[vote.code[1]] == "a"
    posterior = dawid_skene(Labels.from_columns("uuvv", "xyxy", "abba", "ab")).posterior
    assert posterior[0] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_an_abstention_is_no_label_and_is_counted():
    """A labeller who says nothing is neither right nor wrong there; one who says 'unknown' has said something."""
    silent = classification([0, 1, 1, 0], [0, -1, 1, -1], ("no", "yes"))
    assert silent.accuracy.estimate == 1 and silent.accuracy.left_out == {"no prediction": 2}
    spoken = classification([0, 1, 1, 0], [0, 2, 1, 2], ("no", "yes", "unknown"))
    assert spoken.accuracy.estimate == 0.5 and spoken.accuracy.left_out == {}
    both = labeller_difference([0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1], ("no", "yes"))
    assert both.accuracy.n_pairable == 2 and both.accuracy.n_left_out == 2
    paired = Labels.from_columns("uuv", "xyx", "+-+", "-+")
    assert percent_agreement(paired).left_out == {"one label only": 1}


@pytest.mark.parametrize(
    ("unit", "rater", "message"),
    [
        (["1", "1"], ["x", "x"], "unit '1' is labelled twice by 'x'"),
        ([1, "1"], ["x", "y"], "unit 1 and unit '1' are written alike"),
        (["u", "u"], [7, "7"], "rater 7 and rater '7' are written alike"),
        (["u", None], ["x", "y"], "row 2 has no unit"),
        (["u", float("nan")], ["x", "y"], "row 2 has no unit"),
        (["u", "v"], [None, "y"], "row 1 has no rater"),
    ],
)
def test_repeated_and_missing_ids_are_refused_by_name(unit, rater, message):
    with pytest.raises(ValueError, match=message):
        Labels.from_columns(unit, rater, ["+", "-"], "-+")


def test_an_id_repeated_in_another_cluster_is_refused():
    with pytest.raises(ValueError, match="unit 'e1' is in two clusters"):
        Labels.from_columns(["e1", "e1"], ["x", "y"], ["+", "-"], "-+", cluster=["claim 1", "claim 2"])


def test_strings_that_sort_differently_from_their_order():
    """As text "10" comes before "9" and "high" before "low"; the scale's order is the one given."""
    numbers = [str(value) for value in range(1, 12)]
    a, b = ["1", "9", "10", "11", "2", "10", "9", "11"], ["2", "10", "10", "9", "1", "11", "9", "11"]
    units, raters = [*range(8), *range(8)], ["x"] * 8 + ["y"] * 8
    labels = Labels.from_columns(units, raters, a + b, numbers)
    codes = [[int(value) for value in column] for column in (a, b)]
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(*codes, weights=weights, labels=range(1, 12))
        assert cohen_kappa(labels, "x", "y", weights).estimate == pytest.approx(expected, abs=1e-12)
    expected = krippendorff.alpha(np.array(codes), level_of_measurement="ordinal")
    assert krippendorff_alpha(labels, "ordinal").estimate == pytest.approx(expected, abs=1e-12)
    assert krippendorff_alpha(labels, "interval").estimate == pytest.approx(
        krippendorff.alpha(np.array(codes), level_of_measurement="interval"), abs=1e-12
    )
    by_text = Labels.from_columns(units, raters, a + b, sorted(numbers))
    for measure in (lambda found: cohen_kappa(found, "x", "y", "linear"), ALL["ordinal alpha"], ALL["AC2"]):
        assert measure(by_text).estimate != pytest.approx(measure(labels).estimate, abs=1e-3)


def test_six_ordered_labels_of_which_two_are_never_used():
    """Gaps keep their places for weights by position, and have none for alpha, whose distances are by ranks."""
    rng = np.random.default_rng(4)
    truth = rng.choice([0, 1, 3, 5], 80)
    other = np.where(rng.random(80) < 0.7, truth, rng.choice([0, 1, 3, 5], 80))
    value = np.concatenate([truth, other])
    labels = Labels(np.tile(np.arange(80), 2), np.repeat([0, 1], 80), value, 80, SIX)
    for weights in (None, "linear", "quadratic"):
        expected = cohen_kappa_score(truth, other, weights=weights, labels=range(6))
        assert cohen_kappa(labels, 0, 1, weights).estimate == pytest.approx(expected, abs=1e-12)
    package = krippendorff.alpha(np.array([truth, other]), value_domain=list(range(6)), level_of_measurement="ordinal")
    assert krippendorff_alpha(labels, "ordinal").estimate == pytest.approx(package, abs=1e-12)
    four = Labels(labels.unit, labels.rater, np.searchsorted([0, 1, 3, 5], value), 80, tuple("abcd"))
    assert krippendorff_alpha(four, "ordinal").estimate == pytest.approx(package, abs=1e-12)
    assert gwet_ac(four, "ordinal").estimate != pytest.approx(gwet_ac(labels, "ordinal").estimate, abs=1e-3)
    assert cohen_kappa(four, 0, 1, "linear").estimate != pytest.approx(
        cohen_kappa(labels, 0, 1, "linear").estimate, abs=1e-3
    )


def test_empty_strata_are_undefined_with_a_reason():
    labels = from_matrix(three_of_six(), "1234", np.arange(60) // 3)
    nothing = labels.select_units(np.zeros(60, dtype=bool))
    for measure in ALL.values():
        found = measure(nothing)
        assert np.isnan(found.estimate) and found.undefined and found.n_units == 0
        assert found.confidence_interval().undefined == found.undefined
    empty = Labels(
        labels.unit[:0], labels.rater[:0], labels.value[:0], 60, labels.categories, labels.cluster, False, (), "012345"
    )
    found = agreement_difference(krippendorff_alpha, labels, empty)
    assert np.isnan(found.estimate) and found.undefined == "no unit has two labels"
    assert (
        classification([], [], "ab").accuracy.undefined and areas(np.zeros(0), np.zeros(0, dtype=int)).roc_auc.undefined
    )
    assert majority(nothing).code.shape == (0,) and dawid_skene(nothing).undefined == "no unit has a label"


def test_a_constant_score_ranks_nothing():
    score, label = np.full(12, 0.7), np.tile([0, 1, 2], 4)
    for measure in (pearson, spearman, kendall_tau_b):
        found = measure(score, label)
        assert np.isnan(found.estimate) and found.undefined == "the score is the same for every item"
        assert found.confidence_interval().undefined == found.undefined
        assert measure(label, np.ones(12, dtype=int)).undefined == "the label is the same for every item"
    both = correlation_difference(score, np.arange(12.0), label)
    assert both.difference.undefined and np.isnan(both.williams.p_value) and np.isnan(both.steiger.p_value)
    truth = (label == 2).astype(int)
    found = areas(score, truth)
    assert found.roc_auc.estimate == roc_auc_score(truth, score) == 0.5
    assert found.average_precision.estimate == pytest.approx(1 / 3)
    assert threshold_sweep(score, truth).f1.estimate == pytest.approx(0.5)  # everything is taken for the label
    known = calibration(truth, np.column_stack([1 - score, score]))
    assert [one.n for one in known.bins] == [0] * 6 + [12] + [0] * 3
    assert known.ece.estimate == pytest.approx(0.7 - 1 / 3)


def test_p_values_at_the_edge():
    assert holm([0.0, 1.0, 0.6]).tolist() == [0.0, 1.0, 1.0]
    assert benjamini_hochberg([0.0, 1.0, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert benjamini_yekutieli([0.05], 0.05).tolist() == [True]  # at the threshold is rejected
    assert benjamini_yekutieli([np.nan, np.nan], 0.05).tolist() == [False, False]
    assert agreement_permutation_test(two_raters("ab" * 30, "ab" * 30), n_permutations=9).p_value == 0.1
    alike = labeller_difference([0, 1] * 10, [0, 1] * 10, [0, 1] * 10, "ab", n_permutations=9)
    assert alike.mcnemar.undefined and alike.permutation.undefined
    apart = labeller_difference([0, 1] * 10, [0, 1] * 10, [1, 0] * 10, "ab", n_permutations=9)
    assert apart.mcnemar.p_value == pytest.approx(2 * 0.5**20) and apart.permutation.p_value == 0.1
    for test in (williams_test, steiger_test):
        assert np.isnan(test(0.5, 0.5, 1.0, 30).p_value) and test(0.5, 0.5, 1.0, 30).undefined
        assert test(0.5, 0.5, 0.2, 30).p_value == 1.0
        assert 0 <= test(0.99, -0.99, -0.97, 10_000).p_value < 1e-12


def test_two_units():
    """The smallest data that anything can be said of: figures by hand, and intervals from end to end or none."""
    labels = two_raters("ab", "aa", "ab")
    assert percent_agreement(labels).estimate == 0.5 and cohen_kappa(labels, "x", "y").estimate == 0
    assert krippendorff_alpha(labels).estimate == pytest.approx(
        krippendorff.alpha([[0, 1], [0, 0]], level_of_measurement="nominal")
    )
    interval = percent_agreement(labels).confidence_interval()
    assert (interval.low, interval.high) == (0, 1) and interval.note.startswith("rests on only 2 units")
    analytic = gwet_ac(labels).analytic_interval()
    assert analytic.high == 1 and analytic.low < -1
    assert pearson([1, 2], [0, 1]).undefined == "fewer than three items have both a score and a label"
    assert classification([0, 1], [0, 0], "ab").accuracy.estimate == 0.5
    assert "no permutation changes agreement" in agreement_permutation_test(labels, n_permutations=19).undefined
    fisher = scipy_stats.fisher_exact([[1, 0], [0, 1]], "greater").pvalue
    same = agreement_permutation_test(two_raters("ab", "ab", "ab"), n_permutations=1999)
    assert same.p_value == pytest.approx(fisher, abs=0.04)


def test_from_counts_no_votes_at_all_and_one_vote_each():
    for counts in ([[0, 0], [0, 0]], [[1, 0], [0, 1]]):
        for measure in ALL.values():
            assert measure(from_counts(counts)).undefined == "no unit has two labels"
