"""The exact test of paired differences: all signs of all clusters, counted rather than drawn."""

from __future__ import annotations

import numpy as np

from analysis.stats.resampling.paired_permutation import NOTHING_TO_SWAP, ONE_TO_SWAP, PairedTest, undefined_test


def sign_flip_test(name: str, difference: np.ndarray, cluster: np.ndarray | None = None) -> PairedTest:
    """Two-sided test that differences of pairs are as likely positive as negative, cluster by cluster.

    The same null hypothesis as in `flip_test`, for integer differences: the sum of a cluster of size d is ``+d`` or
    ``-d`` with equal chance. Sums of k clusters of one size follow a binomial distribution, and those of several sizes
    its convolutions, so p is the share of all ``2**g`` signs whose sum is at least as large in size. Of differences of
    -1, 0 and 1 of single units it is McNemar's exact test.

    Parameters
    ----------
    difference : (n,) int array
    cluster : (n,) array, optional

    Returns
    -------
    PairedTest
        Its statistic is the mean difference. Undefined with fewer than two clusters that have a difference.

    Examples
    --------
    Three clusters, whose sums are 2, 1 and 1: two of eight signs have a sum of 4 in size.

    >>> sign_flip_test("exact", np.array([1, 1, 1, 1, 0]), np.array([0, 0, 1, 2, 2])).p_value
    0.25
    """
    difference = np.asarray(difference, dtype=np.int64)
    group = np.arange(len(difference)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    sums = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, group, difference)
    size, times = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    if times.sum() < 2 and (cluster is not None or not len(size)):
        return undefined_test(name, ONE_TO_SWAP if len(size) else NOTHING_TO_SWAP)
    from scipy import signal, stats

    chance = np.ones(1)  # of each sum, from the most negative one on, in steps of two
    for step, k in zip(size.tolist(), times.tolist(), strict=True):
        mine = np.zeros(step * k + 1)
        mine[::step] = stats.binom.pmf(np.arange(k + 1), k, 0.5)
        chance = np.maximum(signal.convolve(chance, mine), 0) if len(chance) > 1 else mine
    total, at = int(size @ times), abs(int(sums.sum()))
    value = np.arange(-total, total + 1, 2)
    p_value = min(1.0, float(chance[np.abs(value) >= at].sum()))
    return PairedTest(name=name, statistic=float(difference.mean()), p_value=p_value, exact=True)
