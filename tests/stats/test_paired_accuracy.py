"""Accuracies of two labellers on the same units, and of one against always giving a label: exact tests."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar

from analysis.stats import holm, majority_baseline, paired_accuracy
from analysis.stats.resampling.sign_flips import sign_flip_test


@pytest.mark.parametrize(("only_a", "only_b"), [(9, 2), (3, 3), (40, 61), (1, 0)])
def test_of_single_units_it_is_mcnemars_exact_test(only_a, only_b):
    a = np.repeat([0, 1, 0], [only_a, only_b, 20])
    b = np.repeat([1, 0, 0], [only_a, only_b, 20])
    found = paired_accuracy(np.zeros(len(a), dtype=int), a, b, 2)
    assert (found.only_a_right, found.only_b_right) == (only_a, only_b)
    expected = mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue
    assert found.test.p_value == pytest.approx(min(expected, 1))
    assert found.test.statistic == pytest.approx((only_a - only_b) / len(a))


def test_of_clusters_it_tries_all_signs_as_scipy_does():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(12), 3)
    difference = rng.integers(-1, 2, 36) + (rng.random(36) < 0.3)
    sums = np.bincount(cluster, difference)
    every = scipy_stats.permutation_test(
        (sums, np.zeros(12)), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples", n_resamples=2**13
    )
    found = sign_flip_test("", difference, cluster)
    assert 0 < found.p_value < 1 and found.exact
    assert found.p_value == pytest.approx(every.pvalue)


def test_many_clusters_are_counted_as_exactly():
    size = np.array([1] * 4_000 + [2] * 1_000)
    signs = np.where(np.arange(5_000) % 50 < 26, 1, -1)
    found = sign_flip_test("", size * signs)
    z = abs((size * signs).sum()) - 0.999
    assert found.p_value == pytest.approx(2 * scipy_stats.norm.sf(z / np.sqrt((size**2).sum())), rel=0.01)


def test_above_the_baseline_is_above_every_label():
    reference = [0] * 50 + [1] * 40 + [2] * 10
    predicted = [0] * 45 + [1] * 5 + [1] * 35 + [0] * 5 + [2] * 5 + [0] * 5
    found = majority_baseline(reference, predicted, 3)
    assert (found.label, found.share, found.accuracy) == (0, 0.5, 0.85)
    # Right where label 0 is wrong in 40 units, wrong where it is right in 5.
    assert found.test.p_value == pytest.approx(mcnemar([[0, 40], [5, 0]], exact=True).pvalue)


def test_below_the_baseline_counts_every_label_that_might_have_been_the_most_frequent():
    reference = [0] * 50 + [1] * 40 + [2] * 10
    predicted = [1] * 40 + [0] * 10 + [0] * 30 + [1] * 10 + [0] * 10
    found = majority_baseline(reference, predicted, 3)
    assert found.test.statistic == pytest.approx(-0.3)
    assert found.test.p_value == pytest.approx(3 * mcnemar([[0, 10], [40, 0]], exact=True).pvalue)


def test_units_without_one_of_them_do_not_count():
    found = paired_accuracy([0, 0, -1, 0, 0], [0, -1, 0, 0, 1], [1, 0, 0, 0, -1], 2)
    assert (found.n_pairable, found.accuracy_a, found.accuracy_b) == (2, 1.0, 0.5)


@pytest.mark.parametrize(
    ("reference", "a", "b", "says"),
    [
        ([-1, 0], [0, -1], [0, 0], "no unit has"),
        ([0, 1], [0, 0], [0, 0], "right on the same units"),
    ],
)
def test_nothing_to_tell_apart_is_undefined(reference, a, b, says):
    assert says in paired_accuracy(reference, a, b, 2).test.undefined
    assert "one unit or cluster" in paired_accuracy([0, 0], [0, 0], [1, 1], 2, [7, 7]).test.undefined
    assert "no unit has" in majority_baseline([-1], [0], 2).test.undefined


def test_a_checker_of_the_same_skill_is_better_than_neither_of_two_people():
    """2,000 items: where the checker is held against the majority of both, which is right more often, and each person
    against the other one, their intervals do not overlap."""
    from benchmarks.studies.verdicts import Design, against_people, unpaired

    people, checker, claim = Design(2, 2_000).draw(np.random.default_rng(3))
    assert unpaired(people, checker, claim, 2)
    assert np.nanmin(against_people(people, checker, claim, 2)) > 0.05


def test_verdicts_are_adjusted_for_the_number_of_people():
    assert holm([0.02, 0.03, 0.9]).round(2).tolist() == [0.06, 0.06, 0.9]
