import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import ttost_paired

from analysis.stats import (
    benjamini_hochberg,
    equivalence,
    holm,
    labeller_difference,
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
    assert found.macro_f1.estimate == 0.0 and np.isnan([found.mcnemar.p_value, found.permutation.p_value]).all()
    assert "right on the same units" in found.mcnemar.undefined
    assert "changes nothing" in found.permutation.undefined
    # In one unit alone every swap is as far from 0 as what was found, whatever that is.
    once = labeller_difference([0, 1, 2], [0, 1, 1], [0, 1, 2], LABELS)
    assert np.isnan(once.permutation.p_value) and "one unit or cluster only" in once.permutation.undefined


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


@pytest.mark.parametrize("shares", [(0.8, 0.78), (0.7, 0.73), (0.6, 0.6)])
def test_equivalence_decides_as_statsmodels_does_by_two_t_tests(shares):
    """At the margin where the verdict turns (the farther end of the 90 % interval) statsmodels' p is 0.05. Of 2,000
    resamples the share beyond an end has a standard error of 0.005, and three of these are allowed."""
    truth, a, b = three_columns(4000, shares)
    right = [(column == truth).astype(float) for column in (a, b)]
    difference = labeller_difference(truth, a, b, LABELS, n_permutations=1).accuracy
    interval = equivalence(difference, 0.5).interval
    turning = max(abs(interval.low), abs(interval.high))
    assert ttost_paired(*right, -turning, turning)[0] == pytest.approx(0.05, abs=0.015)
    decided = 0
    for margin in np.linspace(0.25, 2, 15) * turning:
        p = ttost_paired(*right, -margin, margin)[0]
        if abs(p - 0.05) > 0.015:
            assert equivalence(difference, margin).equivalent is bool(p < 0.05)
            decided += 1
    assert decided >= 12


def test_few_swaps_are_all_tried():
    """Four units differ: of the eight swaps that differ by more than the sign one gives a difference as large."""
    truth = [0, 0, 1, 1, 2, 2, 0, 1]
    found = labeller_difference(truth, truth, [0, 1, 1, 0, 2, 0, 0, 2], LABELS).permutation
    assert (found.exact, found.n_permutations, found.p_value) == (True, 8, 1 / 8)


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
