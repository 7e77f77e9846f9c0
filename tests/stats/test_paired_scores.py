import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

from analysis.stats import correlation_difference, kendall_tau_b, pearson, spearman, steiger_test, williams_test
from analysis.stats.resampling import paired_permutation
from benchmarks.studies import planted

COEFFICIENTS = ("pearson", "spearman", "kendall_tau_b")


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
        found = correlation_difference(a, b, people + 10, coefficient, n_permutations=1)
        rejected["williams"] += found.williams.p_value <= 0.05
        rejected["steiger"] += found.steiger.p_value <= 0.05
    # 300 tests at .05: 15 on average; 6 and 26 are the .5 and 99.5 % points of the binomial distribution.
    assert all(6 <= number <= 26 for number in rejected.values())


@pytest.mark.parametrize(
    ("coefficient", "measure"), [("pearson", pearson), ("spearman", spearman), ("kendall_tau_b", kendall_tau_b)]
)
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
    assert found.permutation.p_value < 0.01 and found.difference.n_left_out == 2
    if coefficient == "kendall_tau_b":
        assert "tau-b is not" in found.williams.undefined and found.steiger.undefined == found.williams.undefined
    else:
        assert found.williams.p_value < 0.001


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_ratings_below_zero_count_like_those_above(coefficient):
    """z-scores are ratings on another scale: every figure and test is that of the same ratings moved above 0."""
    rng = np.random.default_rng(7)
    people = rng.normal(size=100)
    a, b = people + rng.normal(0, 1, 100), people + rng.normal(0, 3, 100)
    below, above = (correlation_difference(a, b, people + shift, coefficient, n_permutations=99) for shift in (0, 10))
    assert below.difference.n_pairable == 100 and not below.difference.left_out
    assert below.permutation.p_value == above.permutation.p_value < 0.05
    assert below.difference.estimate == pytest.approx(above.difference.estimate)
    missing = people.copy()
    missing[:3] = np.nan
    assert correlation_difference(a, b, missing, coefficient, n_permutations=1).difference.n_left_out == 3


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


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_decide_whether_a_perfect_correlation_has_a_test(seed):
    rng = np.random.default_rng(seed)
    people = rng.exponential(size=int(rng.integers(4, 30)))
    score = people + rng.normal(size=len(people))
    opposite = correlation_difference(score, 1 - 0.3 * score, people, n_permutations=20)
    assert "opposites" in opposite.williams.undefined and np.isnan(opposite.williams.p_value)
    assert not opposite.steiger.undefined and opposite.difference.estimate == pytest.approx(2 * opposite.with_a)
    same = correlation_difference(score, 0.7 * score + 2, people, n_permutations=20)
    assert "the scores are the same" in same.williams.undefined and same.steiger.undefined == same.williams.undefined
    perfect = correlation_difference(0.3 * people + 1, score, people, n_permutations=20)
    assert "a perfect correlation" in perfect.steiger.undefined and perfect.williams.p_value < 1


def by_hand(a, b, label, coefficient: str, cluster) -> float:
    """Share of all ways to swap whole clusters that give a difference as large, one by one."""
    a, b = (np.asarray(column, dtype=float) for column in (a, b))
    if coefficient != "pearson":
        a, b, label = (stats.rankdata(column) for column in (a, b, label))
    correlation = stats.kendalltau if coefficient == "kendall_tau_b" else stats.pearsonr

    def difference(of_a, of_b) -> float:
        return abs(correlation(of_a, label).statistic - correlation(of_b, label).statistic)

    if coefficient != "kendall_tau_b":
        a, b = ((column - column.mean()) / column.std() for column in (a, b))
    observed = difference(a, b)
    as_large, names = [], sorted(set(cluster))
    for flips in itertools.product((False, True), repeat=len(names)):
        flipped = np.array([flips[names.index(name)] for name in cluster])
        of_a, of_b = np.where(flipped, b, a), np.where(flipped, a, b)
        as_large.append(difference(of_a, of_b) >= observed - 1e-9)
    return float(np.mean(as_large))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("seed", range(4))
def test_permutation_is_that_of_all_swaps_by_hand(coefficient, seed):
    rng = np.random.default_rng(seed)
    cluster = np.array([3, 3, 1, 2, 2, 2, 5, 4, 4, 1])
    label = rng.integers(0, 4, 10)
    a, b = (5 * label + rng.integers(0, 12, 10)).astype(float), rng.normal(100, 30, 10).round(-1)  # with ties
    found = correlation_difference(a, b, label, coefficient, cluster).permutation
    assert found.exact and found.n_permutations == 2**4
    assert found.p_value == pytest.approx(by_hand(a, b, label, coefficient, cluster))
    a, b, label = a[:8], b[:8], label[:8]
    alone = correlation_difference(a, b, label, coefficient).permutation
    assert alone.exact and alone.p_value == pytest.approx(by_hand(a, b, label, coefficient, np.arange(8)))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_drawn_swaps_give_nearly_the_p_of_all(coefficient, monkeypatch):
    rng = np.random.default_rng(8)
    label = rng.integers(0, 5, 14)
    a, b = label + rng.normal(0, 1, 14), label + rng.normal(0, 3, 14)
    every, drawn, other = (
        correlation_difference(a, b, label, coefficient, n_permutations=n, seed=seed).permutation
        for n, seed in ((2**13, 0), (1000, 1), (1000, 2))
    )
    assert every.exact and not drawn.exact and drawn.n_permutations == 1000
    # Three standard errors of 1,000 draws.
    assert drawn.p_value == pytest.approx(every.p_value, abs=3 * np.sqrt(every.p_value / 1000))
    assert drawn.p_value != other.p_value
    monkeypatch.setattr(paired_permutation, "BATCH_FLIPS", 100)  # what is held at once changes nothing
    assert correlation_difference(a, b, label, coefficient, n_permutations=1000, seed=1).permutation == drawn


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_permutation_finds_a_planted_difference_and_its_p_is_never_zero(coefficient):
    rng = np.random.default_rng(21)
    p = []
    for _ in range(50):
        data = planted.scored(rng, 80)  # b follows the quality half as much as a
        columns = data.a, data.b, data.label, coefficient, data.cluster
        p.append(correlation_difference(*columns, n_permutations=199).permutation.p_value)
    assert np.mean(np.array(p) <= 0.05) > 0.8 and min(p) == 1 / 200


def test_a_cluster_is_swapped_whole():
    """Two clusters leave two swaps that differ by more than the sign, so that p cannot be below 1/2."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 5, 60)
    a, b = label + rng.normal(0, 0.5, 60), rng.normal(size=60)
    alone = correlation_difference(a, b, label).permutation
    pair = correlation_difference(a, b, label, cluster=np.repeat([0, 1], 30)).permutation
    assert alone.p_value < 0.001 and (pair.p_value, pair.n_permutations, pair.exact) == (0.5, 2, True)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_permutations_that_cannot_be_made_say_why_and_never_warn(coefficient):
    label, a = [0, 1, 2, 1, 2, 3], [1.0, 2.0, 2.0, 3.0, 5.0, 4.0]
    other = [2.0, 1.0, 3.0, 3.0, 4.0, 5.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for columns, cluster, reason in (
            (([], [], []), None, "fewer than four"),
            (([1.0, 2.0], [2.0, 1.0], [0, 1]), None, "fewer than four"),
            ((a, [7.0] * 6, label), None, "one of the three columns is the same"),
            ((a, other, [2] * 6), None, "one of the three columns is the same"),
            ((a, [3 * x + 1 for x in a], label), None, "both scores are the same on every item"),
            ((a, other, label), [0] * 6, "the scores differ in one item or cluster only"),
        ):
            found = correlation_difference(*columns, coefficient, cluster).permutation
            assert found.undefined.startswith(reason) and np.isnan(found.p_value) and found.n_permutations == 0
    with pytest.raises(ValueError, match="n_permutations"):
        correlation_difference(a, other, label, coefficient, n_permutations=0)


def test_a_swap_that_leaves_a_score_constant_counts_as_large():
    """The scores differ on the first and the last item. Swapping one of them leaves a score of zeros, which correlates
    with nothing (0/0): as nobody knows, it speaks against a difference."""
    a, b, label = [1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], [3, 1, 0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = correlation_difference(a, b, label).permutation
    assert (found.n_permutations, found.p_value) == (2, 1.0)
