import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import kendall_tau_b, pearson, spearman

COEFFICIENTS = [(pearson, stats.pearsonr), (spearman, stats.spearmanr), (kendall_tau_b, stats.kendalltau)]
OURS = [pearson, spearman, kendall_tau_b]


@pytest.mark.parametrize(("ours", "theirs"), COEFFICIENTS)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 60), st.integers(2, 7), st.integers(0, 3))
def test_equals_scipy_with_and_without_ties(ours, theirs, seed, n, n_levels, decimals):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_levels, n)
    score = np.round(label * rng.normal() + rng.normal(0, 1, n), decimals)
    result = ours(score, label)
    if np.ptp(label) == 0 or np.ptp(score) == 0:
        assert np.isnan(result.estimate)
        return
    assert result.estimate == pytest.approx(theirs(score, label).statistic, abs=1e-9)


@pytest.mark.parametrize("ours", OURS)
def test_scale_and_order_of_items_do_not_matter(ours):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 5, 50)
    score = label + rng.normal(0, 2, 50)
    order = rng.permutation(50)
    before = ours(score, label).estimate
    assert ours(1e9 + 1e-3 * score[order], label[order]).estimate == pytest.approx(before, abs=1e-3)
    assert ours(-score, label).estimate == pytest.approx(-before, abs=1e-12)


@pytest.mark.parametrize("ours", OURS)
def test_missing_scores_and_labels_are_left_out_and_counted(ours):
    complete = ours([0.1, 0.5, 0.2, 0.9], [0, 1, 1, 2])
    result = ours([0.1, np.nan, 0.5, 0.2, np.inf, 0.9, 3.0, np.nan], [0, 2, 1, 1, 0, 2, -1, -1])
    assert result.estimate == pytest.approx(complete.estimate)
    assert (result.n_units, result.n_pairable) == (8, 4)
    assert result.left_out == {"no score": 2, "no label": 1, "neither score nor label": 1}


@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize(
    ("score", "label", "reason"),
    [
        ([], [], "fewer than three items"),
        ([1.0, 2.0], [0, 1], "fewer than three items"),
        ([0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2], [0, 1, 2], "the score is the same"),
        ([1.0, 2.0, 3.0], [1, 1, 1], "the label is the same"),
    ],
)
def test_undefined_correlations_say_why_and_never_warn(ours, score, label, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ours(score, label)
        assert np.isnan(result.confidence_interval().low)
    assert np.isnan(result.estimate) and result.undefined.startswith(reason)


@pytest.mark.parametrize("ours", OURS)
def test_constant_resamples_are_counted_as_undefined(ours):
    interval = ours([0.1, 0.1, 0.1, 0.3], [0, 0, 1, 2]).confidence_interval(4000)
    # A resample without the fourth item has a constant score: (3/4)^4 = .316; all four the fourth: .004.
    assert interval.n_undefined / 4000 == pytest.approx(0.316 + 0.004, abs=0.03)
    assert -1 <= interval.low <= interval.high <= 1


def test_monotone_scores_have_rank_correlation_one():
    score, label = np.exp(np.arange(8.0)), np.arange(8)
    assert spearman(score, label).estimate == kendall_tau_b(score, label).estimate == 1
    assert pearson(score, label).estimate < 0.9


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError):
        pearson([1.0, 2.0], [0])
    with pytest.raises(ValueError):
        spearman([1.0, 2.0], [0, 1], cluster=[0])


@pytest.mark.parametrize("measure", [pearson, spearman])
def test_two_scores_of_many_values_take_memory_in_proportion_to_the_items(measure):
    """A table of items by distinct labels would take 7 GB here."""
    import tracemalloc

    rng = np.random.default_rng(1)
    score = rng.normal(size=30_000)
    other = score + rng.normal(size=30_000) + 10
    tracemalloc.start()
    found = measure(score, other)
    interval = found.confidence_interval(20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert interval.low < found.estimate < interval.high
    assert peak < 500_000_000
