import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import item_correlation, system_correlation, system_means
from analysis.stats.correlation.systems import weighted_correlation

THEIRS = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_tau_b": lambda x, y: stats.kendalltau(x, y).statistic,
}


def world(n_items=30, n_systems=6, seed=0, spread=1.0):
    """Rows of systems on the same items; hard items are hard for all."""
    rng = np.random.default_rng(seed)
    system, item = (column.ravel() for column in np.meshgrid(np.arange(n_systems), np.arange(n_items)))
    label = spread * system + rng.normal(size=n_items)[item] * 3 + rng.normal(size=len(item))
    return label + rng.normal(size=len(item)), label, system, item


@pytest.mark.parametrize("coefficient", THEIRS)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 9))
def test_weights_stand_for_repeated_systems(coefficient, seed, n):
    rng = np.random.default_rng(seed)
    x, y, weights = rng.integers(0, 6, n) / 4, rng.normal(size=n).round(), rng.integers(0, 3, n)
    one, other = np.repeat(x, weights), np.repeat(y, weights)
    found = weighted_correlation(coefficient, x[None, :], y[None, :], weights[None, :].astype(float))[0]
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(THEIRS[coefficient](one, other), abs=1e-9)


@pytest.mark.parametrize("coefficient", THEIRS)
def test_the_value_is_the_correlation_of_the_systems_means(coefficient):
    score, label, system, item = world(spread=0.4)
    found = system_correlation(score, label, system, item, coefficient)
    means = [[column[system == s].mean() for s in range(6)] for column in (score, label)]
    assert found.by_item.estimate == pytest.approx(THEIRS[coefficient](*means))
    assert found.score_means == pytest.approx(means[0]) and found.label_means == pytest.approx(means[1])
    assert (found.by_both.n_pairable, found.by_both.n_labels, found.n_of_system.tolist()) == (180, 6, [30] * 6)


def test_intervals_equal_a_plain_loop_and_say_what_they_draw():
    score, label, system, item = world(n_items=20, n_systems=5, spread=0.5)
    tables = [column.reshape(20, 5) for column in (score, label)]
    found = system_correlation(score, label, system, item, "pearson")
    rng = np.random.default_rng(1)
    for name, figure in (("items", found.by_item), ("systems", found.by_system), ("systems and items", found.by_both)):
        drawn = []
        for _ in range(3000):
            rows = rng.integers(0, 20, 20) if "items" in name else np.arange(20)
            columns = rng.integers(0, 5, 5) if "systems" in name else np.arange(5)
            x, y = (table[np.ix_(rows, columns)].mean(axis=0) for table in tables)
            if np.ptp(x) > 0 and np.ptp(y) > 0:
                drawn.append(np.corrcoef(x, y)[0, 1])
        values = figure.sample.values(3000, np.random.default_rng(2), True)
        tails = [0.025, 0.2, 0.8, 0.975]
        assert np.nanquantile(values, tails) == pytest.approx(np.quantile(drawn, tails), abs=0.05)
        interval = figure.confidence_interval(500)
        assert f"over {name}" in interval.method and interval.low < figure.estimate < interval.high
    both = found.by_both.confidence_interval(3000)
    assert [both.low, both.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.05)


@pytest.mark.parametrize("coefficient", THEIRS)
def test_the_mean_over_items_is_scipys_within_each(coefficient):
    score, label, system, item = world(n_items=40, n_systems=7, seed=3)
    score, label = score.round(), label.round()
    score[item == 1], label[item == 2] = 5, 0.1 + 0.2  # constant sides
    score[(item == 3) & (system > 1)] = np.nan  # two rows are left
    label[(item == 4) & (system == 0)] = np.nan
    label[(item == 2) & (system == 0)] = 0.3  # the same but for rounding
    order = np.random.default_rng(0).permutation(len(item))
    found = item_correlation(*(column[order] for column in (score, label, item)), coefficient)
    both = np.isfinite(score) & np.isfinite(label)
    each = [THEIRS[coefficient](score[here], label[here])
            for one in range(40) if one not in (1, 2, 3) for here in [both & (item == one)]]  # fmt: skip
    assert found.estimate == pytest.approx(np.mean(each))
    assert (found.n_units, found.n_pairable) == (280, 37 * 7 - 1)
    assert found.left_out == {"no score": 5, "no label": 1, "in items without a correlation": 16}
    drawn = found.sample.values(4000, np.random.default_rng(0), True)
    assert drawn.std() == pytest.approx(np.std(each) / np.sqrt(len(each)), rel=0.05)
    assert found.confidence_interval(50).n_clusters == 37
    nothing = item_correlation([1.0, 2.0], [1, 2], "ab", coefficient)
    assert np.isnan(nothing.estimate) and nothing.undefined.startswith("no item has three")


def test_missing_rows_and_systems_without_a_correlation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = system_correlation([1.0, 2.0, np.nan], [1.0, 2.0, 3.0], "abc", [1, 1, 1])
        flat = system_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "abc", [1, 1, 1])
        none = system_correlation([], [], [], [])
        assert np.isnan(few.by_both.confidence_interval().low)
    assert few.by_both.undefined.startswith("fewer than three systems")
    assert few.by_both.left_out == {"no score": 1} and few.systems == ("a", "b")
    assert flat.by_item.undefined == "the score is the same for every system"
    assert none.by_item.undefined
    # Equal means that are added up in another order are equal.
    same = system_correlation([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 5, 5, 5], [1, 2, 3] * 3, "aaabbbccc", [1, 2, 3] * 3)
    assert same.by_item.undefined == "the label is the same for every system"
    assert same.score_means[0] == pytest.approx(same.score_means[1])


def test_means_of_systems_and_their_mean():
    value = [1, 0, np.nan, 1, 1, 0]
    found = system_means(value, "aaabbc", [1, 2, 3, 1, 2, 1], systems="abcd")
    assert [one.estimate for one in found.means[:3]] == [0.5, 1.0, 0.0]
    assert found.means[0].left_out == {"no value": 1} and found.means[0].n_units == 3
    assert found.means[3].undefined == "no item of the system has a value"
    assert found.mean.undefined == "no value for at least one system"
    assert system_means(value, "aaabbc", [1, 2, 3, 1, 2, 1]).mean.estimate == 0.5
    with pytest.raises(ValueError, match="system 'c' has values"):
        system_means(value, "aaabbc", [1] * 6, systems="ab")
    assert system_means([], [], []).mean.undefined == "no system"


def test_items_without_a_value_are_not_drawn():
    """Ninety questions whose answers nobody has judged do not make ten judged ones say more."""
    _, label, system, item = world(n_items=10, spread=0.0)
    few = system_means(label, system, item).mean.confidence_interval()
    waiting = system_means([*label, *[np.nan] * 90], [*system, *[system[0]] * 90], [*item, *range(100, 190)])
    interval = waiting.mean.confidence_interval()
    assert (interval.low, interval.high, interval.n_clusters) == (few.low, few.high, 10)
    assert waiting.mean.n_left_out == 90
    assert system_means([np.nan], "a", [1]).mean.confidence_interval().undefined


def test_hard_items_are_hard_for_all_systems_in_a_resample():
    """Systems that differ by nothing but noise: drawn apart, the mean over 6 of them would seem 6 times as sure."""
    _, label, system, item = world(n_items=60, spread=0.0)
    found = system_means(label, system, item)
    interval = found.mean.confidence_interval(2000)
    of_items = label.reshape(60, 6).mean(axis=1)
    expected = 2 * 1.96 * of_items.std() / np.sqrt(60)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.1)
    assert interval.n_clusters == 60
