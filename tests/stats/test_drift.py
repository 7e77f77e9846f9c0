"""Agreement over one's own sequence, before and after, and shares of attention checks: planted and published."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats.annotators.drift import change, drift
from analysis.stats.resampling.wilson import wilson_interval


def test_a_planted_trend_is_recovered_by_order_not_by_row():
    """Agreement falls from 0.9 to 0.5 over 400 answers: slope -0.4, quarters 0.85, 0.75, 0.65, 0.55."""
    rng = np.random.default_rng(4)
    moment = rng.permutation(400)
    share = (rng.random(400) < 0.9 - 0.4 * moment / 399).astype(float)
    found = drift(share, moment, np.arange(400) // 2)
    assert found.trend.low < -0.4 < found.trend.high < 0
    for block, expected in zip(found.blocks, (0.85, 0.75, 0.65, 0.55), strict=True):
        interval = block.confidence_interval()
        assert interval.low < expected < interval.high and block.n_units == 100


def test_the_slope_is_scipys_and_its_error_heteroscedastic():
    """Each answer its own cluster: White's errors with the factor n / (n - 2), from their formula."""
    rng = np.random.default_rng(1)
    share = rng.random(50)
    found = drift(share, np.arange(50), np.arange(50)).trend
    line = stats.linregress(np.arange(50) / 49, share)
    assert found.estimate == pytest.approx(line.slope)
    x = np.arange(50) / 49 - 0.5
    residual = share - line.intercept - line.slope * np.arange(50) / 49
    white = np.sqrt((x**2 * residual**2).sum() / (x**2).sum() ** 2 * 50 / 48)
    assert found.standard_error == pytest.approx(white)


def test_trends_without_drift_are_found_in_one_of_twenty():
    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        found = drift((rng.random(60) < 0.7).astype(float), np.arange(60), np.arange(60) // 2).trend
        hits += found.p_value < 0.05
    assert hits / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_new_version_that_helps_everybody_is_seen_although_people_differ():
    rng = np.random.default_rng(6)
    rater, after = np.repeat(np.arange(12), 80), np.tile(np.arange(80) >= 40, 12)
    level = np.linspace(0.4, 0.7, 12)[rater]
    share = (rng.random(960) < level + 0.15 * after).astype(float)
    together = change(share, after, np.tile(np.arange(80), 12), rater)
    assert together.low < 0.15 < together.high and together.low > 0
    one = change(share[:80], after[:80], np.arange(80))
    assert one.estimate == pytest.approx(share[40:80].mean() - share[:40].mean())


def test_undefined_and_refused():
    assert len(drift([1.0, 0.0], [1, 2], [0, 1]).blocks) == 2
    alone = drift([np.nan, np.nan], [1, 2], [0, 1], n_blocks=1)
    assert alone.blocks[0].undefined and alone.trend.undefined and alone.trend.n_left_out == 2
    assert drift([], [], []).trend.undefined
    assert change([1.0, 0.0], [1, 1], [0, 1]).undefined
    assert "nobody has both" in change([1.0, 0.0, 1.0], [1, 0, 0], [0, 1, 2], ["a", "b", "b"]).undefined
    with pytest.raises(ValueError, match="differ in length"):
        drift([1.0], [1, 2], [0, 1])
    with pytest.raises(ValueError, match="at least 1 block"):
        drift([1.0], [1], [0], n_blocks=0)


@pytest.mark.parametrize(
    ("cases", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_newcombes_published_interval(cases, n, low, high):
    found = wilson_interval(cases, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_without_trials_and_at_the_edges():
    assert wilson_interval(0, 0).undefined and np.isnan(wilson_interval(0, 0).low)
    assert wilson_interval(9, 9).high == 1 and wilson_interval(0, 9).low == 0
    with pytest.raises(ValueError, match="3 cases among 2"):
        wilson_interval(3, 2)
