"""Cochran's Q: outside numbers, every permutation by hand, and its level where skill differs from claim to claim."""

import itertools
import warnings

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q

from analysis.stats import labeller_difference, several_labellers
from analysis.stats.resampling import paired_permutation

LABELS = ("a", "b", "c")


def answers(rng, n, chances, n_labels=3):
    """A reference and labellers that are right with these chances."""
    truth = rng.integers(0, n_labels, n)
    wrong = (truth + rng.integers(1, n_labels, (len(chances), n))) % n_labels
    return truth, np.where(rng.random((len(chances), n)) < np.array(chances)[:, None], truth, wrong)


@pytest.mark.parametrize("seed", range(5))
def test_q_is_that_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    truth, said = answers(rng, 60, (0.6, 0.7, 0.8, 0.65))
    found, expected = several_labellers(truth, said, LABELS), cochrans_q((said == truth).T)
    assert found.cochran.statistic == pytest.approx(expected.statistic)
    assert found.cochran.p_value == pytest.approx(expected.pvalue)
    assert found.n_right == tuple((said == truth).sum(axis=1)) and found.n_pairable == 60


def test_cochrans_own_example():
    """Cochran (1950), table 2: four media, 69 specimens; Q = 8.05 with three degrees of freedom."""
    rows = [(1, 1, 1, 1, 4), (1, 1, 0, 1, 2), (0, 1, 1, 1, 3), (0, 1, 0, 1, 1), (0, 0, 0, 0, 59)]
    right = np.array([row[:4] for row in rows for _ in range(row[4])])
    found = several_labellers(np.ones(69, dtype=int), right.T, ("no", "yes"))
    assert found.n_right == (6, 10, 7, 10) and found.n_discordant == 6
    assert found.cochran.statistic == pytest.approx(8.05, abs=0.005)
    assert found.cochran.p_value == pytest.approx(0.045, abs=0.0005)


def by_hand(right, cluster) -> float:
    """Share of all ways to permute the labellers in each cluster that give as large a Q, one by one."""
    names, k = sorted(set(cluster)), right.shape[1]
    observed, as_large = cochrans_q(right).statistic, []
    for orders in itertools.product(itertools.permutations(range(k)), repeat=len(names)):
        moved = np.array([row[list(orders[names.index(name)])] for row, name in zip(right, cluster, strict=True)])
        as_large.append(cochrans_q(moved).statistic >= observed - 1e-9)
    return float(np.mean(as_large))


@pytest.mark.parametrize("seed", range(4))
def test_permutation_is_that_of_all_swaps_of_whole_clusters_by_hand(seed):
    rng = np.random.default_rng(seed)
    cluster = np.array([3, 3, 1, 2, 2, 2, 4, 4, 1])
    truth, said = answers(rng, 9, (0.9, 0.4, 0.5))
    found = several_labellers(truth, said, LABELS, cluster).permutation
    assert found.exact and found.n_permutations <= 6**3
    assert found.p_value == pytest.approx(by_hand((said == truth).T, cluster))


def test_drawn_permutations_give_nearly_the_p_of_all(monkeypatch):
    rng = np.random.default_rng(3)
    truth, said = answers(rng, 60, (0.45, 0.5, 0.7))
    cluster = np.arange(60) // 10
    every, drawn, again = (
        several_labellers(truth, said, LABELS, cluster, n, seed).permutation
        for n, seed in ((6**5, 0), (2000, 1), (2000, 1))
    )
    assert every.exact and not drawn.exact and drawn == again
    assert drawn.p_value == pytest.approx(every.p_value, abs=3 * np.sqrt(every.p_value / 2000))
    monkeypatch.setattr("analysis.stats.accuracy.cochran_q.BATCH_FLIPS", 50)  # what is held at once changes nothing
    assert several_labellers(truth, said, LABELS, cluster, 2000, 1).permutation == drawn


def test_two_labellers_are_mcnemars_without_correction():
    rng = np.random.default_rng(5)
    truth, (a, b) = answers(rng, 200, (0.6, 0.7))
    found, pair = several_labellers(truth, (a, b), LABELS), labeller_difference(truth, a, b, LABELS)
    only_a, only_b = pair.only_a_right, pair.only_b_right
    assert found.n_discordant == only_a + only_b
    assert found.cochran.statistic == pytest.approx((only_a - only_b) ** 2 / (only_a + only_b))


def test_the_order_of_labellers_and_units_changes_nothing():
    rng = np.random.default_rng(6)
    truth, said = answers(rng, 50, (0.5, 0.6, 0.9))
    order = rng.permutation(50)
    found, other = several_labellers(truth, said, LABELS), several_labellers(truth[order], said[::-1, order], LABELS)
    assert found.cochran.statistic == pytest.approx(other.cochran.statistic)
    assert found.n_right == other.n_right[::-1]
    assert found.permutation.p_value == pytest.approx(other.permutation.p_value, abs=0.02)


def test_undefined_left_out_and_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        missing = several_labellers([0, -1, 1], [[0, 0, -1], [1, 1, 1], [0, 0, 0]], "ab")
        assert (missing.n_pairable, missing.n_right) == (1, (1, 0, 1))
        assert missing.left_out == {"without reference and every prediction": 2}
        none = several_labellers([0, 1], [[0, -1], [-1, 1], [0, 1]], "ab")
        alike = several_labellers([0, 1, 1], [[0, 1, 0]] * 3, "ab")
        for found, reason in ((none, "no unit has a reference and every"), (alike, "right on the same units")):
            for test in (found.cochran, found.permutation):
                assert test.undefined.startswith(reason) or reason in test.undefined
                assert np.isnan(test.p_value) and np.isnan(test.statistic)
        # One cluster: permuting it permutes the labellers, and says nothing.
        one = several_labellers([0, 0], [[0, 0], [1, 1], [1, 0]], "ab", [5, 5]).permutation
        assert np.isnan(one.p_value) and "one unit or cluster only" in one.undefined
        # Each labeller is right as often in every cluster, so nothing can be swapped.
        even = several_labellers([0] * 3, [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "ab", [1, 1, 1])
        assert even.cochran.statistic == 0.0 and "changes nothing" in even.permutation.undefined
    with pytest.raises(ValueError, match="two at least, not 1"):
        several_labellers([0], [[0]], "ab")
    with pytest.raises(ValueError, match="differ in length"):
        several_labellers([0, 1], [[0], [0, 1]], "ab")
    with pytest.raises(ValueError, match="n_permutations"):
        several_labellers([0], [[0], [1]], "ab", n_permutations=0)


def test_many_labellers_of_one_cluster_need_none_of_their_orders():
    """Fifteen labellers have a million million orders; permuting one cluster alone changes nothing."""
    said = np.arange(15)[:, None] < np.array([3, 8, 12])
    found = several_labellers([1, 1, 1], said.astype(int), "ab", [0, 0, 0])
    assert found.permutation.undefined and found.permutation.n_permutations == 0
    assert not several_labellers([1, 1, 1], said.astype(int), "ab", n_permutations=99).permutation.exact


def test_swapping_whole_clusters_holds_the_level_where_skill_differs_from_claim_to_claim():
    """Each labeller knows some claims and not others: Cochran's Q takes their units as independent, and finds too much.
    400 studies at 5 %: 10 to 31 are the .5 and 99.5 % points of the binomial distribution."""
    rng, rejected = np.random.default_rng(9), np.zeros(2, dtype=int)
    for seed in range(400):
        cluster = np.repeat(np.arange(40), 4)
        knows = rng.random((3, 40)) < 0.5
        chance = np.where(knows, 0.95, 0.4)[:, cluster]
        said = (rng.random(chance.shape) < chance).astype(int)
        found = several_labellers(np.ones(160, dtype=int), said, ("no", "yes"), cluster, 199, seed)
        rejected += [found.cochran.p_value <= 0.05, found.permutation.p_value <= 0.05]
    assert rejected[0] > 60 and 10 <= rejected[1] <= 31


def test_a_planted_difference_is_found():
    rng = np.random.default_rng(10)
    truth, said = answers(rng, 200, (0.6, 0.6, 0.8))
    found = several_labellers(truth, said, LABELS, np.arange(200) // 2)
    assert found.cochran.p_value < 0.001 and found.permutation.p_value == pytest.approx(1 / 2001, abs=0.002)
    assert paired_permutation.PairedTest is type(found.permutation)
