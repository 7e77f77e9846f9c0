"""Expanded BCa intervals against scipy's BCa, Student's t interval, and what can be counted."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import Labels, agreement_difference, areas, calibration, classification, percent_agreement
from analysis.stats.resampling.bootstrap import SumSample, divide
from analysis.stats.resampling.intervals import acceleration, expanded_tail, resampled_interval

NOBODY = np.zeros(0), np.zeros(0)


def variance_of(sums: np.ndarray) -> np.ndarray:
    n, total, squares = sums.T
    return squares / n - (total / n) ** 2


def of_moments(x: np.ndarray, statistic) -> SumSample:
    return SumSample(np.column_stack([np.ones(len(x)), x, x**2]), np.arange(len(x)), None, statistic)


def test_without_expansion_it_is_the_bca_interval_of_scipy():
    """scipy 1.17, 20,000 resamples of 60 exponential values; the variance is skewed enough for BCa to differ."""
    x = np.random.default_rng(1).exponential(size=60)
    theirs = stats.bootstrap((x,), np.var, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
    sample = of_moments(x, variance_of)
    values = sample.values(20_000, np.random.default_rng(3), True)
    ours = resampled_interval(values, sample.value(), sample.influences(True), 60, False, 0.95, n_effective=1e9)
    plain = np.quantile(values, [0.025, 0.975])
    assert ours.low == pytest.approx(theirs.confidence_interval.low, rel=0.02)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, rel=0.02)
    assert abs(ours.high - plain[1]) > 0.1 * plain[1]


def test_expanded_it_is_about_students_interval_for_the_mean_of_few_values():
    x = np.array([-1.6, -1.1, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1.1, 1.6])
    sample = of_moments(x, lambda sums: divide(sums[:, 1], sums[:, 0]))
    values = sample.values(20_000, np.random.default_rng(4), True)
    ours = resampled_interval(values, 0.0, sample.influences(True), 10, False, 0.95)
    low, high = stats.t.interval(0.95, 9, loc=0, scale=stats.sem(x))
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=0.04)
    plain = np.quantile(values, [0.025, 0.975])
    assert plain[1] < 0.85 * high  # what a plain percentile interval would have been


@pytest.mark.parametrize("n", [3, 10, 25, 200])
def test_an_expanded_tail_is_students_tail_on_the_scale_of_the_resamples(n):
    expected = stats.norm.cdf(-stats.t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)))
    assert expanded_tail(n, 0.95) == pytest.approx(expected, rel=1e-12)
    assert expanded_tail(n, 0.95) < 0.025


def test_few_resamples_leave_as_much_outside_as_many():
    """Of 39 values the first and the last are cut off: 1 / 40 on either side of what a further value would be."""
    rng = np.random.default_rng(5)
    outside = []
    for _ in range(2000):
        values = rng.normal(size=39)
        interval = resampled_interval(values, float(np.median(values)), NOBODY, 10**9, False, 0.95)
        outside.append(not interval.low <= rng.normal() <= interval.high)
    assert np.mean(outside) == pytest.approx(0.05, abs=0.015)


def test_a_sixth_of_the_skewness_and_nothing_where_nothing_is_left_out():
    x = np.random.default_rng(6).exponential(size=50)
    influence = x - x.mean()
    assert acceleration(influence, np.ones(50)) == pytest.approx(stats.skew(x) / (6 * np.sqrt(50)))
    assert acceleration(*NOBODY) == 0 and acceleration(np.zeros(3), np.ones(3)) == 0


def test_influences_are_those_of_a_loop_over_clusters():
    rng = np.random.default_rng(7)
    unit, cluster = np.arange(40), np.repeat(np.arange(10), 4)
    value = rng.integers(0, 2, (2, 40))
    labels = Labels(np.tile(unit, 2), np.repeat([0, 1], 40), value.ravel(), 40, ("-", "+"), cluster)
    influence, times = percent_agreement(labels).sample.influences(True)
    without = [percent_agreement(labels.select_units(cluster != c)).estimate for c in range(10)]
    expected = np.mean(without) - np.array(without)
    assert np.sort(np.repeat(influence, times.astype(int))) == pytest.approx(np.sort(expected))


def test_a_difference_is_as_sure_as_its_smaller_side():
    """Four clusters against forty: the interval must be wider than resampling forty-four clusters alike would make it,
    and says that it rests on few."""
    rng = np.random.default_rng(8)
    value = np.where(rng.random(132) < 0.6, 0, rng.integers(0, 3, 132))
    cluster = np.repeat(np.arange(44), 3)
    a, b = (
        Labels(
            np.tile(np.arange(132), 2), np.repeat([0, 1], 132), np.concatenate([np.zeros(132, int), value]), 132, "abc"
        )
        for _ in range(2)
    )
    a, b = (
        Labels(one.unit[keep], one.rater[keep], one.value[keep], 132, ("a", "b", "c"), cluster)
        for one, keep in ((a, a.unit < 12), (b, b.unit >= 12))
    )
    found = agreement_difference(percent_agreement, a, b)
    interval = found.confidence_interval(4000)
    assert found.sample.effective_n(True) < 6 and interval.n_clusters == 44
    assert "clusters and may be too narrow" in interval.note
    alike = resampled_interval(
        found.sample.values(4000, np.random.default_rng(0), True), found.estimate, NOBODY, 44, True, 0.95
    )
    assert interval.high - interval.low > 1.1 * (alike.high - alike.low)


def test_figures_bring_their_own_warnings():
    rng = np.random.default_rng(9)
    truth = (np.arange(200) < 12).astype(int)
    score = truth + rng.normal(size=200)
    assert (
        areas(score, truth)
        .roc_auc.confidence_interval(50)
        .note.endswith("only 12 units on one side, so the interval may cover less than it says")
    )
    share = 1 / (1 + np.exp(-score))
    ece = calibration(truth, np.column_stack([1 - share, share])).ece
    assert "larger and never smaller" in ece.confidence_interval(50).note
    rare = classification(np.where(np.arange(200) < 6, 1, 0), (score > 1).astype(int), "ab")
    assert "fewer than 10 units" in rare.macro_f1.confidence_interval(50).note
    assert rare.accuracy.confidence_interval(50).note == ""
