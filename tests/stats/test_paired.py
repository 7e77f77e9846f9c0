import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score
from statsmodels.stats.contingency_tables import mcnemar

from analysis.stats import (
    benjamini_hochberg,
    correlation_difference,
    equivalence,
    holm,
    labeller_difference,
    pearson,
    spearman,
    steiger_test,
    williams_test,
)

LABELS = ("no", "maybe", "yes")


def three_columns(n: int = 300, right: tuple[float, float] = (0.8, 0.6), seed: int = 3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    return truth, *(np.where(rng.random(n) < share, truth, rng.integers(0, 3, n)) for share in right)


def test_differences_are_those_of_scikit_learn():
    truth, a, b = three_columns()
    found = labeller_difference(truth, a, b, LABELS)
    assert found.accuracy.estimate == pytest.approx(accuracy_score(truth, a) - accuracy_score(truth, b))
    by_hand = f1_score(truth, a, average="macro") - f1_score(truth, b, average="macro")
    assert found.macro_f1.estimate == pytest.approx(by_hand)
    interval = found.accuracy.confidence_interval()
    assert interval.low < found.accuracy.estimate < interval.high


def test_mcnemar_is_that_of_statsmodels():
    truth, a, b = three_columns(right=(0.7, 0.6))
    found = labeller_difference(truth, a, b, LABELS)
    right = [[sum((a == truth) & (b == truth)), found.only_a_right], [found.only_b_right, 0]]
    assert found.mcnemar.p_value == pytest.approx(mcnemar(right, exact=True).pvalue)


def test_permutation_holds_its_level_and_finds_a_real_difference():
    truth, a, b = three_columns()
    assert labeller_difference(truth, a, b, LABELS).permutation.p_value < 0.01
    same = [
        labeller_difference(*three_columns(80, (0.6, 0.6), seed), LABELS, n_permutations=200).permutation.p_value
        for seed in range(200)
    ]
    # 200 tests at .05 reject 10 on average; 3 and 19 are the .5 and 99.5 % points of the binomial distribution.
    assert 3 <= sum(p <= 0.05 for p in same) <= 19


def test_a_permutation_of_clusters_swaps_them_whole():
    """Two clusters: of the 4 ways to swap, 2 give the largest difference in size, so p is near 1/2 and no smaller."""
    truth = np.zeros(40, dtype=int)
    a, b, cluster = np.zeros(40, dtype=int), np.ones(40, dtype=int), np.repeat([0, 1], 20)
    found = labeller_difference(truth, a, b, LABELS, cluster)
    assert 0.45 < found.permutation.p_value < 0.55
    assert labeller_difference(truth, a, b, LABELS).permutation.p_value < 0.01


def test_units_without_all_three_are_left_out():
    truth, a, b = (column.copy() for column in three_columns(50))
    truth[:5], a[3:9], b[40] = -1, -1, -1
    found = labeller_difference(truth, a, b, LABELS)
    assert found.accuracy.n_pairable == 40 and found.accuracy.n_left_out == 10
    nothing = labeller_difference([-1], [0], [0], LABELS)
    assert nothing.accuracy.undefined and np.isnan(nothing.mcnemar.p_value) and np.isnan(nothing.permutation.p_value)


def test_labellers_who_never_differ():
    found = labeller_difference([0, 1, 2], [0, 1, 1], [0, 1, 1], LABELS)
    assert (found.mcnemar.p_value, found.permutation.p_value, found.macro_f1.estimate) == (1.0, 1.0, 0.0)


def test_williams_and_steiger_outside_numbers():
    """The example of r.test in R's psych package: n = 103, correlations .4 and .5, between the scores .1."""
    found = williams_test(0.4, 0.5, 0.1, 103)
    assert (round(found.statistic, 2), round(found.p_value, 2)) == (-0.89, 0.37)
    assert round(steiger_test(0.4, 0.5, 0.1, 103).statistic, 2) == -0.89


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_tests_for_correlations_hold_their_level(coefficient):
    rng, rejected = np.random.default_rng(11), {"williams": 0, "steiger": 0}
    for _ in range(300):
        people = rng.normal(size=60)
        a, b = (0.5 * people + rng.normal(size=60) for _ in range(2))
        found = correlation_difference(a, b, people + 10, coefficient)
        rejected["williams"] += found.williams.p_value <= 0.05
        rejected["steiger"] += found.steiger.p_value <= 0.05
    # 300 tests at .05: 15 on average; 6 and 26 are the .5 and 99.5 % points of the binomial distribution.
    assert all(6 <= number <= 26 for number in rejected.values())


@pytest.mark.parametrize(("coefficient", "measure"), [("pearson", pearson), ("spearman", spearman)])
def test_the_difference_is_that_of_the_two_correlations(coefficient, measure):
    rng = np.random.default_rng(2)
    people = rng.integers(0, 6, 200)
    a, b = people + rng.normal(0, 1, 200), people + rng.normal(0, 3, 200)
    a[3], people[7] = np.nan, -1
    found = correlation_difference(a, b, people, coefficient, cluster=np.arange(200) // 4)
    kept = np.isfinite(a) & (people >= 0)
    expected = measure(a[kept], people[kept]).estimate - measure(b[kept], people[kept]).estimate
    assert found.difference.estimate == pytest.approx(expected)
    interval = found.difference.confidence_interval(400)
    assert interval.n_clusters == 50 and interval.low < expected < interval.high and interval.low > 0
    assert found.williams.p_value < 0.001 and found.difference.n_left_out == 2


def test_resamples_draw_the_same_items_for_both_scores():
    """Were they drawn apart, a score and itself times two would differ in a resample."""
    rng = np.random.default_rng(4)
    people = rng.integers(0, 3, 60)
    a = people + rng.normal(size=60)
    interval = correlation_difference(a, 2 * a, people).difference.confidence_interval(100)
    assert interval.undefined.startswith("every resample gives the same figure")
    reordered = correlation_difference(a, -a, people, "spearman").difference
    alone = spearman(a, people).estimate
    assert reordered.estimate == pytest.approx(2 * alone)


def test_undefined_differences_of_correlations():
    few = correlation_difference([1, 2, 3], [3, 2, 1], [0, 1, 2])
    assert "four" in few.difference.undefined and np.isnan(few.williams.p_value)
    flat = correlation_difference([1.0] * 9, list(range(9)), list(range(9)))
    assert "same" in flat.difference.undefined
    same = correlation_difference(list(range(9)), list(range(9)), [0, 1, 2, 1, 2, 3, 2, 3, 1])
    assert same.difference.estimate == 0 and same.williams.undefined


def test_equivalence_needs_the_interval_within_the_margin():
    truth, a, _ = three_columns(600)
    b = a.copy()
    b[:5] = (b[:5] + 1) % 3
    difference = labeller_difference(truth, a, b, LABELS).accuracy
    assert equivalence(difference, 0.05).equivalent is True
    assert equivalence(difference, 0.001).equivalent is False
    assert equivalence(labeller_difference([-1], [0], [0], LABELS).accuracy, 0.1).equivalent is None
    with pytest.raises(ValueError, match="margin"):
        equivalence(difference, 0)


def test_adjusted_p_values():
    p = np.random.default_rng(9).random(12) ** 2
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))
    from statsmodels.stats.multitest import multipletests

    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    with_gap = np.insert(p, 4, np.nan)
    assert np.isnan(holm(with_gap)[4]) and np.delete(holm(with_gap), 4) == pytest.approx(holm(p))
    assert holm([]).shape == (0,)
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])
