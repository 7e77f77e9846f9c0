"""Matched documents and claims against counts by hand."""

import numpy as np
import pytest

from analysis.stats.generation.matching import VERDICTS, matched_share


def verdicts(found):
    return [VERDICTS[code] for code in found.verdict]


def test_one_entailed_pair_is_enough_and_one_open_pair_leaves_it_undecided():
    pairs = [(0, 1), (0, 0), (1, 0), (1, 0), (2, -1), (2, 1), (3, 0), (3, -1), (4, -1)]
    group, entailed = zip(*pairs, strict=True)
    found = matched_share(entailed, group, 6)
    assert verdicts(found) == ["matched", "unmatched", "matched", "undecided", "undecided", "unmatched"]
    assert (found.n_matched, found.n_unmatched, found.n_undecided) == (2, 2, 2)
    assert found.estimate == 0.5 and found.left_out == {"undecided": 2}
    assert (found.lowest, found.highest) == (2 / 6, 4 / 6)
    assert (found.n_units, found.n_pairable, found.n_labels) == (6, 4, 5)


def test_without_a_decided_group_the_share_is_undefined():
    found = matched_share([-1, -1], [0, 1], 2)
    assert np.isnan(found.estimate) and found.undefined == "none is decided yet"
    assert (found.lowest, found.highest) == (0, 1)
    assert found.confidence_interval().undefined == found.undefined
    nothing = matched_share([], [], 0)
    assert nothing.undefined and np.isnan(nothing.lowest) and np.isnan(nothing.highest)


def test_the_interval_draws_clusters():
    # 40 claims with two documents each that are both matched or both not: half as much is known as of 80 claims.
    entailed = np.repeat(np.arange(40) % 2, 2)
    alone = matched_share(entailed, np.arange(80), 80).confidence_interval(n_resamples=4000)
    found = matched_share(entailed, np.arange(80), 80, cluster=[f"c{n // 2}" for n in range(80)])
    clustered = found.confidence_interval(n_resamples=4000)
    assert clustered.n_clusters == 40 and found.estimate == 0.5
    # By hand: the deviation of a share of one half is 0.5 / sqrt(n), n 80 and 40.
    assert alone.high - 0.5 == pytest.approx(1.96 * 0.5 / 80**0.5, abs=0.013)
    assert clustered.high - 0.5 == pytest.approx(1.96 * 0.5 / 40**0.5, abs=0.02)


@pytest.mark.parametrize(
    ("entailed", "group", "n", "cluster", "message"),
    [
        ([2], [0], 1, None, "entailed has codes outside"),
        ([1], [1], 1, None, "group has codes outside"),
        ([1], [-1], 1, None, "every pair belongs to a group"),
        ([1, 0], [0], 1, None, "entailed has 2 entries, group 1"),
        ([1], [0], 1, ["a", "b"], "cluster has 2 entries for 1 groups"),
    ],
)
def test_wrong_columns_are_refused(entailed, group, n, cluster, message):
    with pytest.raises(ValueError, match=message):
        matched_share(entailed, group, n, cluster)
