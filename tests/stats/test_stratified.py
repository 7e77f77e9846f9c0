import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import kendall_tau_b, pearson, spearman, stratified_correlation

OURS = {"pearson": pearson, "spearman": spearman, "kendall_tau_b": kendall_tau_b}


def residuals(column, stratum):
    """What a regression on indicators of the strata leaves."""
    indicators = (stratum[:, None] == np.unique(stratum)).astype(float)
    return column - indicators @ np.linalg.lstsq(indicators, column, rcond=None)[0]


def slow_tau(x, y, stratum):
    balance = n_x = n_y = 0
    for i, j in combinations(range(len(x)), 2):
        if stratum[i] == stratum[j]:
            a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
            balance, n_x, n_y = balance + a * b, n_x + a * a, n_y + b * b
    return balance / np.sqrt(n_x * n_y)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(6, 40), st.integers(1, 5), st.integers(0, 2))
def test_within_is_the_partial_correlation_given_the_stratum(seed, n, n_strata, decimals):
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, n_strata, n)
    x, y = (np.round(rng.normal(size=n) + 2 * stratum, decimals) for _ in range(2))
    found = {name: stratified_correlation(x, y + 0.0, stratum, name).within for name in OURS}
    if found["pearson"].undefined:
        return
    expected = {
        "pearson": stats.pearsonr(residuals(x, stratum), residuals(y, stratum)).statistic,
        "spearman": np.corrcoef(*(residuals(stats.rankdata(c), stratum) for c in (x, y)))[0, 1],
        "kendall_tau_b": slow_tau(x, y, stratum),
    }
    for name, value in expected.items():
        assert found[name].estimate == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("coefficient", OURS)
def test_each_stratum_is_the_plain_coefficient_and_the_mean_is_theirs(coefficient):
    rng = np.random.default_rng(1)
    stratum = np.array(["b"] * 20 + ["a"] * 10 + ["c"] * 2)
    label = rng.integers(0, 4, 32)
    score = label + rng.normal(size=32)
    found = stratified_correlation(score, label, stratum, coefficient)
    assert [name for name, _ in found.strata] == ["b", "a", "c"]
    alone = [OURS[coefficient](score[stratum == name], label[stratum == name]).estimate for name in "ba"]
    assert [one.estimate for _, one in found.strata[:2]] == pytest.approx(alone)
    assert found.strata[2][1].undefined.startswith("fewer than three")
    assert found.mean.estimate == pytest.approx(np.mean(alone))
    assert (found.n_strata, found.mean.n_pairable) == (2, 30)
    assert found.mean.left_out == {"in strata without a correlation": 2}
    assert found.strata[0][1].confidence_interval(50) == OURS[coefficient](score[:20], label[:20]).confidence_interval(
        50
    )


@pytest.mark.parametrize("coefficient", OURS)
def test_one_stratum_is_no_stratum(coefficient):
    rng = np.random.default_rng(4)
    label = rng.integers(0, 4, 30)
    score, cluster = label + rng.normal(size=30), np.repeat(np.arange(10), 3)
    plain = OURS[coefficient](score, label, cluster)
    found = stratified_correlation(score, label, ["all"] * 30, coefficient, cluster)
    assert [found.mean.estimate, found.within.estimate] == pytest.approx([plain.estimate] * 2)
    interval = found.within.confidence_interval(2000)
    assert interval.n_clusters == 10
    expected = plain.confidence_interval(2000)
    assert [interval.low, interval.high] == pytest.approx([expected.low, expected.high], abs=1e-9)


@pytest.mark.parametrize("coefficient", OURS)
def test_intervals_cover_a_planted_correlation_that_the_strata_hide(coefficient):
    rng = np.random.default_rng(7)
    stratum = np.repeat(np.arange(4), 30)
    score = rng.normal(size=120)
    label = score + rng.normal(size=120) - 9 * stratum
    found = stratified_correlation(score + 3 * stratum, label, stratum, coefficient)
    assert OURS[coefficient](score + 3 * stratum, label).estimate < -0.5
    for figure in (found.mean, found.within):
        interval = figure.confidence_interval(200)
        assert 0.1 < interval.low < figure.estimate < interval.high < 0.95


def test_nothing_in_any_stratum_is_undefined_and_never_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        empty = stratified_correlation([], [], [])
        flat = stratified_correlation([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [0, 1, 2, 0, 1, 2], "aaabbb")
        assert np.isnan(flat.mean.confidence_interval().low)
    assert empty.mean.undefined and empty.within.undefined and empty.strata == ()
    assert flat.mean.undefined == "the correlation is undefined in every stratum"
    assert flat.within.undefined == "the score is the same for all items of each stratum"


def test_an_unknown_coefficient_is_refused():
    with pytest.raises(ValueError, match="coefficient must be one of"):
        stratified_correlation([1.0], [1], ["a"], "gamma")
