"""Means over repeated generations by hand, and Mann-Whitney's U against published and simulated numbers."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from analysis.stats.correlation.rank_sum import mann_whitney
from analysis.stats.generation.repetitions import repeated_difference, repeated_macro_f1, repeated_mean


def test_mean_and_standard_error_over_repetitions_by_hand():
    found = repeated_mean([1, 0, 1, 1, 0, 0], list("abcabc"), [1, 1, 1, 2, 2, 2])
    assert found.per_repetition == {1: pytest.approx(2 / 3), 2: pytest.approx(1 / 3)}
    # sd of (2/3, 1/3) is sqrt(1/18); divided by sqrt(2).
    assert (found.estimate, found.standard_error) == (pytest.approx(0.5), pytest.approx(1 / 6))
    assert (found.n_queries, found.n_pairable) == (3, 6)
    alone = repeated_mean([1, 0], list("ab"), [1, 1])
    assert alone.estimate == 0.5 and np.isnan(alone.standard_error)


def test_a_repetition_without_values_is_left_out_and_nothing_at_all_is_undefined():
    found = repeated_mean([0.5, np.nan], list("ab"), [1, 2])
    assert found.estimate == 0.5 and np.isnan(found.per_repetition[2]) and found.left_out == {"no value": 1}
    none = repeated_mean([np.nan], ["a"], [1])
    assert np.isnan(none.estimate) and none.undefined == "no query has a value"
    assert none.confidence_interval().undefined == none.undefined
    assert repeated_mean([], [], []).undefined


def test_the_interval_draws_queries_and_not_repetitions():
    """Eight equal repetitions of 100 queries: the interval is that of 100 values, and the standard error is 0."""
    value = np.random.default_rng(0).random(100)
    rows = np.tile(value, 8)
    found = repeated_mean(rows, np.tile(np.arange(100), 8).tolist(), np.repeat(np.arange(8), 100).tolist())
    interval = found.confidence_interval(n_resamples=4000)
    assert found.standard_error == pytest.approx(0) and interval.n_clusters == 100
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * value.std() / 10, rel=0.06)


def test_macro_f1_is_scikit_learns_in_each_repetition():
    rng = np.random.default_rng(1)
    truth, says, repetition = rng.integers(0, 3, 120), rng.integers(0, 3, 120), np.repeat([0, 1, 2], 40)
    query = np.tile(np.arange(40), 3).tolist()
    found = repeated_macro_f1(truth, says, "abc", query, repetition.tolist())
    each = [f1_score(truth[repetition == r], says[repetition == r], average="macro") for r in range(3)]
    assert list(found.per_repetition.values()) == pytest.approx(each)
    assert found.estimate == pytest.approx(np.mean(each))
    assert found.standard_error == pytest.approx(np.std(each, ddof=1) / 3**0.5)
    open_ones = repeated_macro_f1([0, -1, 1], [0, 1, -1], "abc", ["x", "y", "z"], [1, 1, 1])
    assert open_ones.left_out == {"no reference": 1, "no prediction": 1} and open_ones.estimate == 1


def test_a_difference_draws_queries_that_are_in_both_once():
    """The second figure is the first less one tenth for the same queries: their difference does not vary."""
    value, query = np.random.default_rng(2).random(50), list(range(50))
    first, second = (repeated_mean(value - off, query, [1] * 50) for off in (0, 0.1))
    found = repeated_difference(first, second)
    interval = found.confidence_interval(200)
    assert found.estimate == pytest.approx(0.1) and interval.undefined.startswith("every resample gives the same")
    apart = repeated_difference(first, repeated_mean(value - 0.1, [f"q{one}" for one in query], [1] * 50))
    wide = apart.confidence_interval(1000)
    assert wide.high - wide.low == pytest.approx(2 * 1.96 * value.std() * (2 / 50) ** 0.5, rel=0.12)


def test_wrong_rows_are_refused():
    with pytest.raises(ValueError, match="twice in one repetition"):
        repeated_mean([1, 0], ["a", "a"], [1, 1])
    with pytest.raises(ValueError, match="one length"):
        repeated_mean([1], ["a", "b"], [1])
    with pytest.raises(ValueError, match="codes outside"):
        repeated_macro_f1([3], [0], "abc", ["a"], [1])


def test_u_is_that_of_the_worked_example_in_r():
    """R's help page of wilcox.test (Hollander and Wolfe 1973, 69f): W = 35, exact one-sided p = 0.1272, so 0.2544."""
    x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    y = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = mann_whitney(x + y, [1] * 10 + [0] * 5)
    assert (found.u, found.method) == (35, "exact")
    assert found.p_value == pytest.approx(0.2544, abs=5e-5)
    assert found.estimate == pytest.approx(35 / 50) and found.rank_biserial == pytest.approx(0.4)


def test_repetitions_of_one_claim_count_once():
    rng = np.random.default_rng(3)
    value, first = rng.random(40), (np.arange(40) % 2)
    once = mann_whitney(value, first)
    again = mann_whitney(np.tile(value, 8), np.tile(first, 8), np.tile(np.arange(40), 8).tolist())
    assert (again.u, again.p_value, again.n_first) == (once.u, once.p_value, 20) and again.n_in_both == 0
    assert mann_whitney(np.tile(value, 8), np.tile(first, 8)).p_value < once.p_value
    both = mann_whitney([1, 0, 0.5], [1, 0, 0], ["a", "a", "b"])
    assert both.n_in_both == 1 and (both.n_first, both.n_second) == (1, 2)


def test_an_empty_group_is_undefined_and_rows_without_a_group_are_counted():
    found = mann_whitney([1, 2, np.nan], [1, -1, 1])
    assert found.undefined == "one of the two groups has no value" and np.isnan(found.p_value)
    assert found.left_out == {"no group": 1, "no value": 1}
    flat = mann_whitney(np.ones(30), np.arange(30) % 2)
    assert (flat.estimate, flat.p_value) == (0.5, 1.0)
    with pytest.raises(ValueError, match="neither group"):
        mann_whitney([1.0], [2])
