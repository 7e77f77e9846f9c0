"""Means in groups: against numpy, and whether their intervals cover."""

import numpy as np
import pytest

from analysis.stats.means import NOTHING, ONE_CLUSTER, ONE_UNIT, grouped_means


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


def test_an_interval_is_that_of_drawing_clusters_by_hand():
    values, groups, cluster = sample(clusters=12)
    found = grouped_means(values, groups, cluster).confidence_intervals(4000, seed=3)
    rng, members = np.random.default_rng(8), [np.flatnonzero(cluster == one) for one in range(12)]
    drawn = [
        np.nanmean(values[rows][groups[rows, 1], 0])
        for _ in range(4000)
        for rows in [np.concatenate([members[one] for one in rng.integers(0, 12, 12)])]
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert found.low[1, 0] == pytest.approx(low, abs=0.06 * width)
    assert found.high[1, 0] == pytest.approx(high, abs=0.06 * width)
    assert (found.n_clusters, found.method) == (12, "percentile bootstrap over clusters")


def test_intervals_cover_means_of_clustered_values():
    covered, n_runs = 0, 400
    for seed in range(n_runs):
        values, groups, cluster = sample(300, 60, seed)
        found = grouped_means(values, groups[:, :2], cluster).confidence_intervals(400, seed=seed)
        covered += ((found.low <= 1e6) & (found.high >= 1e6)).sum()
    assert 0.92 <= covered / (4 * n_runs) <= 0.97


def test_what_is_undefined_says_why():
    values = [[1.0, np.nan], [3.0, 5.0], [np.nan, np.nan]]
    found = grouped_means(values, [[True, True], [True, False], [False, True]], [7, 7, 8])
    interval = found.confidence_intervals(50)
    assert interval.undefined.tolist() == [[ONE_CLUSTER, ONE_CLUSTER], [ONE_CLUSTER, NOTHING]]
    assert np.isnan(interval.low).all()
    alone = grouped_means(values, [[True], [True], [True]]).confidence_intervals(50)
    assert alone.undefined.tolist() == [["", ONE_UNIT]] and alone.n_clusters is None
    assert (alone.low[0, 0], alone.high[0, 0]) == (1, 3)
    assert alone.n_undefined[0, 1] > 0
    nothing = grouped_means(np.zeros((0, 2)), np.zeros((0, 3), bool)).confidence_intervals(10)
    assert nothing.low.shape == (3, 2) and set(nothing.undefined.ravel()) == {NOTHING}
    assert grouped_means(np.zeros((2, 0)), np.ones((2, 1), bool)).confidence_intervals(10).low.shape == (1, 0)


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
