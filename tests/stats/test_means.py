"""Means in groups: against numpy, and whether their intervals cover."""

import numpy as np
import pytest

from analysis.stats.agreement.leave_one_out import mean_share
from analysis.stats.resampling.means import NOTHING, ONE_CLUSTER, ONE_UNIT, grouped_means


def sample(n=400, clusters=50, seed=0):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, clusters, n)
    values = rng.normal(1e6, 1, (n, 2)) + rng.normal(0, 2, clusters)[cluster, None]
    values[rng.random(values.shape) < 0.2] = np.nan
    groups = np.column_stack([np.ones(n, bool), rng.random(n) < 0.4, np.zeros(n, bool)])
    return values, groups, cluster


def test_means_and_deviations_are_numpys_group_by_group():
    values, groups, cluster = sample()
    found = grouped_means(values, groups, cluster)
    for group in range(2):
        mine = values[groups[:, group]]
        assert found.mean[group] == pytest.approx(np.nanmean(mine, axis=0), abs=1e-8)
        assert found.sd[group] == pytest.approx(np.nanstd(mine, axis=0, ddof=1), abs=1e-8)
        assert found.n[group].tolist() == (~np.isnan(mine)).sum(axis=0).tolist()
        assert (found.n + found.n_missing)[group].tolist() == [len(mine)] * 2
    assert np.isnan(found.mean[2]).all() and found.n[2].tolist() == [0, 0]
    assert np.isnan(grouped_means([[1.0]], [[True]]).sd[0, 0])


def test_the_mean_of_zeros_is_zero_whatever_others_have():
    found = grouped_means([[0.0], [0.0], [0.3], [0.4]], [[True], [True], [False], [False]])
    assert (found.mean[0, 0], found.sd[0, 0]) == (0.0, 0.0)


def test_an_interval_is_that_of_a_single_mean_over_the_same_clusters():
    """`mean_share` draws its own clusters; where every cluster has a value both draw from the same."""
    values, groups, cluster = sample(clusters=12)
    found = grouped_means(values - 1e6, groups, cluster).confidence_intervals(4000, seed=3)
    alone = mean_share(values[:, 0] - 1e6, cluster).confidence_interval(4000, seed=5)
    width = alone.high - alone.low
    assert found[0][0].low == pytest.approx(alone.low, abs=0.07 * width)
    assert found[0][0].high == pytest.approx(alone.high, abs=0.07 * width)
    assert (found[0][0].n_clusters, found[0][0].method) == (12, alone.method)
    shifted = grouped_means(values, groups, cluster).confidence_intervals(4000, seed=3)
    assert shifted[1][1].high - 1e6 == pytest.approx(found[1][1].high, abs=1e-6)


def test_intervals_cover_means_of_clustered_values():
    covered, n_runs = 0, 150
    for seed in range(n_runs):
        values, groups, cluster = sample(300, 60, seed)
        found = grouped_means(values, groups[:, :2], cluster).confidence_intervals(400, seed=seed)
        covered += sum(one.low <= 1e6 <= one.high for row in found for one in row)
    assert 0.91 <= covered / (4 * n_runs) <= 0.98


def test_what_is_undefined_says_why():
    values = [[1.0, np.nan], [3.0, 5.0], [np.nan, np.nan]]
    found = grouped_means(values, [[True, True], [True, False], [False, True]], [7, 7, 8]).confidence_intervals(50)
    assert [[one.undefined for one in row] for row in found] == [[ONE_CLUSTER, ONE_CLUSTER], [ONE_CLUSTER, NOTHING]]
    assert np.isnan(found[0][0].low)
    ((pair, alone),) = grouped_means(values, [[True], [True], [True]]).confidence_intervals(50)
    assert (pair.low, pair.high, pair.n_clusters, alone.undefined) == (1, 3, None, ONE_UNIT)
    (constant,) = grouped_means(np.zeros((30, 1)), np.ones((30, 1), bool)).confidence_intervals(50)[0]
    assert np.isnan(constant.low) and "every resample" in constant.undefined
    nothing = grouped_means(np.zeros((0, 2)), np.zeros((0, 3), bool)).confidence_intervals(10)
    assert [[one.undefined for one in row] for row in nothing] == [[NOTHING] * 2] * 3
    assert grouped_means(np.zeros((2, 0)), np.ones((2, 1), bool)).confidence_intervals(10) == ((),)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="row per unit"):
        grouped_means([[1.0]], [[True], [True]])
    with pytest.raises(ValueError, match="cluster"):
        grouped_means([[1.0]], [[True]], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        grouped_means([[np.inf]], [[True]])
    with pytest.raises(ValueError, match="level"):
        grouped_means([[1.0]], [[True]]).confidence_intervals(level=95)
    with pytest.raises(ValueError, match="n_resamples"):
        grouped_means([[1.0]], [[True]]).confidence_intervals(0)
