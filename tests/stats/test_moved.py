"""Two measurements of the same units: figures by numpy and scipy, and intervals that each has by itself."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import moved, pearson


def two(n=300, seed=2):
    rng = np.random.default_rng(seed)
    before = rng.normal(5, 2, n)
    return before, 0.7 * before + rng.normal(1, 1, n), np.arange(n) // 3


@pytest.mark.parametrize("in_clusters", [False, True])
def test_figures_are_those_of_numpy_and_lie_within_intervals_of_the_right_width(in_clusters):
    before, now, cluster = two()
    found = moved(before, now, cluster if in_clusters else None)
    assert found.before[0].estimate == pytest.approx(before.mean()) and found.n == 300
    assert found.moved.estimate == pytest.approx(np.abs(now - before).mean())
    assert found.pearson[0].estimate == pytest.approx(np.corrcoef(before, now)[0, 1])
    # Units are independent here, so Student's interval of a mean is about as wide.
    expected = stats.t.interval(0.95, 299, now.mean(), now.std(ddof=1) / 300**0.5)
    assert (found.now[0].interval.low, found.now[0].interval.high) == pytest.approx(expected, abs=0.08)
    assert found.now[0].interval.n_clusters == (100 if in_clusters else None)
    alone = pearson(before, now, cluster if in_clusters else None).confidence_interval()
    ends = found.pearson[0].interval.low, found.pearson[0].interval.high
    assert ends == pytest.approx((alone.low, alone.high), abs=0.02)


def test_large_values_keep_their_digits():
    before, now, cluster = two()
    near, far = moved(before, now, cluster), moved(before + 1e7, now + 1e7, cluster)
    assert far.pearson[0].estimate == pytest.approx(near.pearson[0].estimate, abs=1e-6)
    assert far.pearson[0].interval.low == pytest.approx(near.pearson[0].interval.low, abs=1e-6)
    assert far.now[0].interval.high - 1e7 == pytest.approx(near.now[0].interval.high, abs=1e-6)


def test_several_columns_have_half_the_sum_of_their_distances():
    rng = np.random.default_rng(3)
    before, now = rng.dirichlet([1, 2, 3], 50), rng.dirichlet([3, 2, 1], 50)
    found = moved(before, now)
    assert found.moved.estimate == pytest.approx(np.abs(before - now).sum(axis=1).mean() / 2)
    assert [one.estimate for one in found.now] == pytest.approx(now.mean(axis=0))
    assert all(one.interval.low < one.estimate < one.interval.high for one in (*found.before, *found.now, found.moved))


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        ([], [], "no unit has both"),
        ([1.0], [2.0], "fewer than two units have both"),
        ([3.0, 3.0, 3.0], [1.0, 2.0, 3.0], "one of the two is the same for every unit"),
    ],
)
def test_undefined_says_why(before, now, reason):
    [correlation] = moved(before, now).pearson
    assert np.isnan(correlation.estimate) and correlation.undefined == correlation.interval.undefined == reason


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="differ in shape"):
        moved([1.0, 2.0], [1.0])
