"""The permutation test of agreement where units come in clusters: a rater's labels of a cluster move together."""

import itertools

import numpy as np
import pytest

from analysis.stats import Labels, agreement_permutation_test, krippendorff_alpha


def labels_of(table: np.ndarray, cluster: np.ndarray) -> Labels:
    rater, unit = np.indices(table.shape)
    return Labels(unit.ravel(), rater.ravel(), table.ravel(), table.shape[1], ("no", "yes"), cluster=cluster)


def test_p_is_the_share_of_all_orders_of_clusters():
    """Five claims of two units each; all 120 orders of one person's claims against the other's."""
    cluster = np.arange(10) // 2
    table = np.array([[1, 1, 0, 0, 1, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0, 0, 1, 1, 1]])
    observed = krippendorff_alpha(labels_of(table, cluster)).estimate
    reached = []
    for order in itertools.permutations(range(5)):
        moved = table[1].reshape(5, 2)[list(order)].ravel()
        reached.append(krippendorff_alpha(labels_of(np.array([table[0], moved]), cluster)).estimate >= observed - 1e-9)
    test = agreement_permutation_test(labels_of(table, cluster), n_permutations=4_000)
    assert test.p_value == pytest.approx(np.mean(reached), abs=0.02) and "together" in test.null


def test_habits_by_claim_are_no_agreement():
    """Each person gives one label throughout a claim: 60 units are six claims, and chance may well make them agree."""
    cluster = np.arange(60) // 10
    a, b = np.repeat([1, 1, 1, 0, 0, 0], 10), np.repeat([1, 1, 0, 0, 0, 1], 10)
    by_claim = agreement_permutation_test(labels_of(np.array([a, b]), cluster))
    by_unit = agreement_permutation_test(labels_of(np.array([a, b]), np.arange(60)))
    assert by_claim.p_value > 0.4 and by_unit.p_value < 0.05


def test_one_cluster_cannot_move():
    table = np.array([[1, 0, 1, 0], [1, 0, 0, 1]])
    assert "no permutation changes" in agreement_permutation_test(labels_of(table, np.zeros(4, dtype=int))).undefined
