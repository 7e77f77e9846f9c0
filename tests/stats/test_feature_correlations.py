"""Tables of correlations: against scipy 1.17's spearmanr and pearsonr, jackknifes, and planted data."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis.stats import benjamini_hochberg, holm
from analysis.stats.correlation.features import (
    CONSTANT_FEATURE,
    CONSTANT_OUTCOME,
    NO_VARIANCE,
    TOO_FEW_CLUSTERS,
    TOO_FEW_UNITS,
    feature_correlations,
)

PACKAGE = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}


def tied(seed=0, n=120):
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.integers(0, 4, n), rng.normal(size=n).round(1), rng.random(n)]).astype(float)
    outcome = (features[:, 0] + 3 * rng.normal(size=n)).round()
    features[rng.random(features.shape) < 0.1] = np.nan
    outcome[:3] = np.nan
    return features, outcome, rng.integers(-1, 2, n)


@pytest.mark.parametrize("coefficient", ["spearman", "pearson"])
def test_coefficients_and_plain_p_values_are_scipys(coefficient):
    features, outcome, stratum = tied()
    found = feature_correlations(features, outcome, stratum, 2, coefficient=coefficient, test="units")
    for row, column in itertools.product(range(2), range(3)):
        used = (stratum == row) & ~np.isnan(outcome) & ~np.isnan(features[:, column])
        expected = PACKAGE[coefficient](features[used, column], outcome[used])
        assert found.estimate[row, column] == pytest.approx(expected.statistic, abs=1e-12)
        assert found.p_value[row, column] == pytest.approx(expected.pvalue, abs=1e-12)
        assert found.n[row, column] == used.sum()
    assert np.array_equal(found.p_units, found.p_value)
    assert found.p_holm.ravel().tolist() == holm(found.p_value.ravel()).tolist()
    assert found.p_bh.ravel().tolist() == benjamini_hochberg(found.p_value.ravel()).tolist()


@pytest.mark.parametrize(("coefficient", "within"), [("spearman", 0.04), ("pearson", 1e-9)])
def test_standard_errors_are_those_of_leaving_out_a_cluster(coefficient, within):
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(80), 4)
    shared_part = rng.normal(size=(80, 2))[cluster]
    x = (shared_part[:, 0] + rng.normal(size=320)).round(1)
    y = (shared_part[:, 1] + 0.4 * x + rng.normal(size=320)).round(1)
    found = feature_correlations(x[:, None], y, np.zeros(320, int), 1, cluster, coefficient)
    left = [PACKAGE[coefficient](x[cluster != one], y[cluster != one]).statistic for one in range(80)]
    jackknife = np.sqrt(79 / 80 * ((left - np.mean(left)) ** 2).sum())
    assert found.standard_error[0, 0] == pytest.approx(jackknife, rel=within)
    assert found.n_clusters[0, 0] == 80


def test_the_permutation_test_counts_arrangements():
    """Of the 24 orders of four values two are as far from chance as 1, 2, 3, 4 itself."""
    found = feature_correlations(
        [[1], [2], [3], [4]], [1, 2, 3, 4], [0] * 4, 1, test="permutation", n_permutations=4999
    )
    assert found.p_value[0, 0] == pytest.approx(2 / 24, abs=0.015)
    assert found.p_units[0, 0] == 0
    again = feature_correlations(
        [[1], [2], [3], [4]], [1, 2, 3, 4], [0] * 4, 1, test="permutation", n_permutations=4999
    )
    assert found.p_value[0, 0] == again.p_value[0, 0]


def without_correlation(rng, n_clusters, of_feature, of_outcome):
    """Two columns that share nothing but the clusters that they both depend on."""
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 9, n_clusters))
    parts = rng.normal(size=(n_clusters, 2))[cluster] * np.sqrt([of_feature, of_outcome])
    own = rng.normal(size=parts.shape) * np.sqrt([1 - of_feature, 1 - of_outcome])
    return cluster, *(parts + own).T


@pytest.mark.parametrize("coefficient", ["spearman", "pearson"])
def test_clustered_tests_hold_their_level_where_plain_ones_do_not(coefficient):
    """A feature of the claim (its length), and an outcome of which half is the claim's."""
    rng, n_runs, rejected, plain, covered = np.random.default_rng(7), 1000, 0, 0, 0
    for _ in range(n_runs):
        cluster, x, y = without_correlation(rng, 40, 1.0, 0.5)
        found = feature_correlations(x[:, None], y, np.zeros(len(x), int), 1, cluster, coefficient)
        rejected += found.p_value[0, 0] < 0.05
        plain += found.p_units[0, 0] < 0.05
        low, high = found.confidence_intervals()
        covered += low[0, 0] <= 0 <= high[0, 0]
    assert 0.02 <= rejected / n_runs <= 0.065
    assert plain / n_runs > 0.2
    assert 0.91 <= covered / n_runs <= 0.97


def test_a_side_that_varies_in_one_cluster_alone_has_no_interval():
    x, y = np.array([1, 2, 0, 0, 0, 0, 0, 0.0]), np.array([1, 2, 3, 1, 2, 3, 1, 5.0])
    found = feature_correlations(x[:, None], y, np.zeros(8, int), 1, np.repeat(np.arange(4), 2), "pearson")
    assert not np.isnan(found.estimate[0, 0]) and np.isnan(found.standard_error[0, 0])
    assert np.isnan(found.confidence_intervals()).all()


def test_a_planted_correlation_is_found_and_covered():
    """Of normal variables with correlation rho, Spearman's coefficient is 6 / pi arcsin(rho / 2)."""
    rng, covered, n_runs = np.random.default_rng(2), 0, 300
    truth = 6 / np.pi * np.arcsin(0.25)
    for _ in range(n_runs):
        x = rng.normal(size=250)
        y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=250)
        found = feature_correlations(x[:, None], y, np.zeros(250, int), 1)
        low, high = found.confidence_intervals()
        covered += low[0, 0] <= truth <= high[0, 0]
        assert found.p_value[0, 0] < 1e-4
    assert 0.92 <= covered / n_runs <= 0.98


def test_what_is_undefined_says_why():
    features = np.array([[1, 1, np.nan], [2, 1, np.nan], [3, 1, 4]], dtype=float)
    found = feature_correlations(features, [1, 2, 2], [0, 0, 0], 2, [0, 0, 1])
    assert found.reason[0].tolist() == ["", CONSTANT_FEATURE, TOO_FEW_UNITS]
    assert found.reason[1].tolist() == [TOO_FEW_UNITS] * 3 and found.n[1].tolist() == [0, 0, 0]
    assert found.p_reason[0, 0] == TOO_FEW_CLUSTERS and np.isnan(found.p_value[0, 0])
    assert np.isnan(found.confidence_intervals()[0][0, 0])
    assert feature_correlations([[1], [2], [3]], [5, 5, 5], [0] * 3, 1).reason[0, 0] == CONSTANT_OUTCOME
    cancelling = feature_correlations(
        [[1], [1], [2], [2]] * 3, [1, 2, 1, 2] * 3, [0] * 12, 1, np.repeat([0, 1, 2], 4), "pearson"
    )
    assert (cancelling.estimate[0, 0], cancelling.p_reason[0, 0]) == (pytest.approx(0), NO_VARIANCE)
    perfect = feature_correlations(np.arange(10.0)[:, None], np.arange(10.0), [0] * 10, 1)
    assert perfect.estimate[0, 0] == 1 and perfect.p_value[0, 0] < 0.05 and perfect.p_units[0, 0] == 0
    assert feature_correlations(np.zeros((0, 2)), [], [], 1).reason.tolist() == [[TOO_FEW_UNITS] * 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"coefficient": "kendall"}, "coefficient is one of"),
        ({"test": "t"}, "test is one of"),
        ({"n_permutations": 0}, "n_permutations"),
        ({"outcome": [1.0]}, "row per unit"),
        ({"outcome": [1.0, np.inf]}, "finite"),
        ({"cluster": [1]}, "differ in length"),
        ({"stratum": [0, 3]}, "stratum"),
    ],
)
def test_wrong_arguments_are_refused(changed, message):
    arguments = {"features": [[1.0], [2.0]], "outcome": [1.0, 2.0], "stratum": [0, 0], "n_strata": 1} | changed
    with pytest.raises(ValueError, match=message):
        feature_correlations(**arguments)
