"""Soft labels: scipy's entropy and Wasserstein distance from outside, values worked out by hand, undefined cases."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from analysis.stats import soft_label_comparison


def drawn(n=200, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(5, rng.dirichlet(np.ones(n_labels)), n)
    return counts, rng.dirichlet(np.ones(n_labels), n), rng


def test_each_mean_is_that_of_scipy_unit_by_unit():
    counts, q, _ = drawn()
    values = [4.0, 1.0, 2.5, 9.0]  # in any order, unequal steps
    found = soft_label_comparison(counts, q, values)
    p = counts / counts.sum(axis=1, keepdims=True)
    # Cross-entropy is the entropy of people plus the divergence, both scipy's.
    cross = [scipy_stats.entropy(a) + scipy_stats.entropy(a, b) for a, b in zip(p, q, strict=True)]
    apart = [scipy_stats.wasserstein_distance(values, values, a, b) for a, b in zip(p, q, strict=True)]
    assert found.labeller.cross_entropy.estimate == pytest.approx(np.mean(cross))
    assert found.labeller.wasserstein.estimate == pytest.approx(np.mean(apart))
    assert found.labeller.manhattan.estimate == pytest.approx(np.abs(p - q).sum() / len(p))
    assert found.people_entropy.estimate == pytest.approx(scipy_stats.entropy(p, axis=1).mean())
    assert found.labeller_entropy.estimate == pytest.approx(scipy_stats.entropy(q, axis=1).mean())
    gap = found.labeller_entropy.estimate - found.people_entropy.estimate
    assert found.entropy_difference.estimate == pytest.approx(gap)
    expected = scipy_stats.spearmanr(scipy_stats.entropy(p, axis=1), scipy_stats.entropy(q, axis=1)).statistic
    assert found.entropy_correlation.estimate == pytest.approx(expected)


def test_values_worked_out_by_hand():
    # People 3:1 and 2:2; the labeller is right about the first, and sure of the first label in the second.
    found = soft_label_comparison([[3, 1], [2, 2]], [[0.75, 0.25], [0.9, 0.1]], values=[1, 3])
    first = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    second = -(0.5 * np.log(0.9) + 0.5 * np.log(0.1))
    assert found.labeller.cross_entropy.estimate == pytest.approx((first + second) / 2)
    assert found.labeller.manhattan.estimate == pytest.approx((0 + 0.8) / 2)
    assert found.labeller.wasserstein.estimate == pytest.approx((0 + 0.4 * 2) / 2)
    assert found.people_entropy.estimate == pytest.approx((first + np.log(2)) / 2)
    # The mean distribution is 0.625 to 0.375.
    assert found.constant.manhattan.estimate == pytest.approx((0.25 + 0.25) / 2)
    swapped = soft_label_comparison([[1, 3], [2, 2]], [[0.25, 0.75], [0.1, 0.9]], values=[3, 1])
    assert swapped.labeller.wasserstein.estimate == found.labeller.wasserstein.estimate


def test_labels_without_probabilities_have_no_cross_entropy_unless_everybody_agrees():
    certain = np.eye(2)[[0, 1, 0]]
    found = soft_label_comparison([[3, 0], [1, 2], [2, 0]], certain)
    assert np.isnan(found.labeller.cross_entropy.estimate) and "1 of 3 units" in found.labeller.cross_entropy.undefined
    assert np.isnan(found.labeller.cross_entropy.low)
    assert found.labeller.manhattan.estimate == pytest.approx(2 / 3 / 3)
    assert found.labeller_entropy.estimate == 0 and found.entropy_correlation.undefined
    assert found.labeller.wasserstein is None
    assert soft_label_comparison([[3, 0], [0, 2]], np.eye(2)).labeller.cross_entropy.estimate == 0


def test_units_with_one_person_or_without_the_labeller_are_left_out_and_counted():
    found = soft_label_comparison([[1, 0], [2, 1], [2, 1], [0, 0]], [[1, 0], [np.nan] * 2, [0.5, 0.5], [1, 0]])
    assert found.n == 1
    assert found.left_out == {"fewer than two people": 2, "no labeller": 1}
    nobody = soft_label_comparison([[1, 0]], [[1, 0]])
    assert "no unit has labels of two people" in nobody.people_entropy.undefined
    for wrong in ([[-0.1, 1.1]], [[0, 0]]):
        with pytest.raises(ValueError, match="not below 0"):
            soft_label_comparison([[1, 1]], wrong)
    with pytest.raises(ValueError, match="one shape"):
        soft_label_comparison([[1, 1]], [[1, 0, 0]])
    with pytest.raises(ValueError, match="entry for each label"):
        soft_label_comparison([[1, 1]], [[1, 0]], values=[1])


def test_intervals_allow_for_clusters():
    counts, q, _ = drawn(40)
    ten_times = np.repeat(np.arange(40), 10)
    many, clustered, once = (
        soft_label_comparison(counts[rows], q[rows], cluster=cluster).labeller.manhattan
        for rows, cluster in ((ten_times, None), (ten_times, ten_times), (np.arange(40), None))
    )
    assert clustered.n_clusters == (40,)
    assert clustered.high - clustered.low == pytest.approx(once.high - once.low, rel=0.02)
    assert many.high - many.low < 0.5 * (clustered.high - clustered.low)
    apart = np.abs(counts / 5 - q).sum(axis=1)
    ends = scipy_stats.t.interval(0.95, 39, apart.mean(), scipy_stats.sem(apart))
    assert (once.low, once.high) == pytest.approx(ends)


SHARES, GIVEN = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.3, 0.2])


def mean_distance_of_four_people() -> float:
    """Over all ways in which they can answer."""
    ways = [(a, b, 4 - a - b) for a in range(5) for b in range(5 - a)]
    chances = scipy_stats.multinomial.pmf(ways, 4, SHARES)
    return float(chances @ np.abs(np.array(ways) / 4 - GIVEN).sum(axis=1))


def test_the_interval_holds_the_truth_in_95_percent_of_studies():
    rng, truth, held = np.random.default_rng(5), mean_distance_of_four_people(), 0
    for _ in range(1000):
        found = soft_label_comparison(rng.multinomial(4, SHARES, 80), np.tile(GIVEN, (80, 1)))
        held += found.labeller.manhattan.low <= truth <= found.labeller.manhattan.high
    assert held >= 930  # of an expected 950; fewer have a chance of 0.3 %
