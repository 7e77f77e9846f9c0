import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import correlation_test, kendall_tau_b, pearson, spearman

COEFFICIENTS = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_tau_b": lambda x, y: stats.kendalltau(x, y).statistic,
}
OURS = {"pearson": pearson, "spearman": spearman, "kendall_tau_b": kendall_tau_b}


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32))
def test_few_items_have_the_exact_p_of_scipy(coefficient, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=5).round(1), rng.integers(0, 3, 5)
    found = correlation_test(x, y, coefficient)
    if found.undefined:
        return
    theirs = COEFFICIENTS[coefficient]
    exact = stats.permutation_test(
        (x,), lambda z: abs(theirs(z, y)), permutation_type="pairings", n_resamples=np.inf, alternative="greater"
    )
    assert found.exact and found.n_permutations == 120
    # Where nothing is correlated all orders are as far out; scipy tells them apart by rounding.
    expected = exact.pvalue if abs(found.statistic) > 1e-12 else 1.0
    assert found.p_value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("many_values", [False, True])
def test_many_items_have_nearly_the_asymptotic_p(coefficient, many_values):
    rng = np.random.default_rng(5)
    label = rng.normal(10, 1, 150) if many_values else rng.integers(0, 4, 150)
    score = 0.1 * label + rng.normal(size=150)
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}[coefficient]
    found = correlation_test(score, label, coefficient, n_permutations=3000)
    assert found.statistic == pytest.approx(OURS[coefficient](score, label).estimate)
    assert found.p_value == pytest.approx(theirs(score, label).pvalue, abs=0.03)
    assert not found.exact and found.n_fixed == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_p_is_never_zero(coefficient):
    found = correlation_test(np.arange(50.0), np.arange(50), coefficient, n_permutations=99)
    assert (found.statistic, found.p_value) == (pytest.approx(1), 0.01)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_difference_between_strata_is_no_correlation_within_them(coefficient):
    rng = np.random.default_rng(2)
    stratum = np.repeat(["a", "b", "c"], 40)
    high = np.repeat([0, 5, 10], 40)
    score, label = rng.normal(size=120) + high, rng.integers(0, 3, 120) + high
    plain, within = correlation_test(score, label, coefficient), correlation_test(score, label, coefficient, stratum)
    assert plain.p_value == 0.001
    assert within.p_value > 0.05 and abs(within.statistic) < 0.2 < plain.statistic
    assert within.null == "labels permuted within strata"


def test_clusters_move_whole_and_the_test_holds_its_level():
    """Four items of a cluster share most of score and label: as single items they would seem to correlate."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(25), 4)
    p_values = {"clustered": [], "plain": []}
    for _ in range(200):
        score, label = (np.repeat(rng.normal(size=25), 4) + rng.normal(0, 0.3, 100) for _ in range(2))
        p_values["clustered"].append(correlation_test(score, label, "pearson", None, cluster, 99).p_value)
        p_values["plain"].append(correlation_test(score, label, "pearson", None, None, 99).p_value)
    share = {name: np.mean(np.array(found) <= 0.05) for name, found in p_values.items()}
    assert share["clustered"] < 0.09  # 0.05 and three standard errors are 0.096
    assert share["plain"] > 0.2


def test_clusters_are_swapped_with_clusters_of_their_size_and_the_rest_stay():
    score, label = np.arange(7.0), [0, 1, 2, 0, 1, 2, 0]
    found = correlation_test(score, label, cluster=[1, 1, 2, 2, 3, 3, 3])
    assert (found.n_items, found.n_fixed) == (7, 3)
    assert found.p_value > 0.4  # of the two orders of two clusters one is the data themselves
    stuck = correlation_test(score, label, cluster=[1, 1, 1, 1, 3, 3, 3])
    assert stuck.undefined.startswith("no two clusters") and np.isnan(stuck.p_value)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_undefined_tests_say_why_and_never_warn(coefficient):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for score, label, stratum, reason in (
            ([], [], None, "fewer than three"),
            ([1.0, 2.0], [0, 1], None, "fewer than three"),
            ([1.0, 1.0, 1.0], [0, 1, 2], None, "the score is the same"),
            ([1.0, 1.0, 2.0, 2.0], [0, 1, 0, 1], [1, 1, 2, 2], "the score is the same for all items of each"),
            ([1.0, 2.0, 1.0, 2.0], [1, 1, 0, 0], [1, 1, 2, 2], "the label is the same for all items of each"),
        ):
            found = correlation_test(score, label, coefficient, stratum)
            assert np.isnan(found.p_value) and found.undefined.startswith(reason)


def test_items_without_both_do_not_matter():
    score, label = [1.0, np.nan, 2.0, 3.0, 9.0, 5.0], [0, 1, 1, 2, -1, 2]
    assert correlation_test(score, label).p_value == correlation_test([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 2]).p_value


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match="coefficient must be one of"):
        correlation_test([1.0], [1], "gamma")
    with pytest.raises(ValueError, match="n_permutations"):
        correlation_test([1.0], [1], n_permutations=0)
    with pytest.raises(ValueError, match="stratum and score differ"):
        correlation_test([1.0, 2.0], [1, 2], stratum=[1])
