"""Paired permutation: the labels or scores of two labellers for a unit, or for a whole cluster of units, change
places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.bootstrap import one_blas_thread

BATCH_FLIPS = 2_000_000
NOTHING_TO_SWAP = "swapping changes nothing in any unit or cluster"
ONE_TO_SWAP = "swapping changes something in one unit or cluster only, which makes no other difference in size"


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """A test's statistic and two-sided p value; both nan where `undefined` gives a reason.

    A permutation test says how many swaps it tried, and whether these are all there are (`exact`); others try none.
    """

    name: str
    statistic: float
    p_value: float
    undefined: str = ""
    n_permutations: int = 0
    exact: bool = False


def undefined_test(name: str, reason: str) -> PairedTest:
    return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined=reason)


@dataclass(frozen=True, eq=False)
class Swaps:
    """Sums over units, a's columns before b's, and what each cluster changes in them when its a and b are swapped.

    `change` has a row for each cluster that changes anything at all: swapping the others is no permutation.
    """

    total: np.ndarray
    change: np.ndarray

    @classmethod
    def from_features(cls, features: np.ndarray, pattern: np.ndarray, cluster: np.ndarray | None) -> Swaps:
        """`features` are (n_patterns, 2 k), `pattern` the row of each unit; without `cluster` single units swap."""
        half = features.shape[1] // 2
        swapped = np.hstack([features[:, half:], features[:, :half]])
        group = np.unique(cluster, return_inverse=True)[1] if cluster is not None else np.arange(len(pattern))
        change = np.zeros((int(group.max(initial=-1)) + 1, 2 * half))
        np.add.at(change, group, (swapped - features)[pattern])
        return cls(features[pattern].sum(axis=0), change[(np.abs(change) > 1e-9).any(axis=1)])


def swap_test(
    name: str, swaps: Swaps, difference: Callable[[np.ndarray], np.ndarray], n_permutations: int, seed: int
) -> PairedTest:
    """`flip_test` of what is a function of sums.

    Parameters
    ----------
    difference : callable
        From sums (batch, 2 k) to differences (batch,), whose sign turns where the halves are swapped.
    """

    def flipped_difference(flips: np.ndarray) -> np.ndarray:
        return difference(swaps.total + flips.astype(float) @ swaps.change)

    return flip_test(name, len(swaps.change), flipped_difference, n_permutations, seed)


def flip_test(
    name: str,
    n_clusters: int,
    difference: Callable[[np.ndarray], np.ndarray],
    n_permutations: int,
    seed: int,
    work_per_row: int = 1,
) -> PairedTest:
    """Two-sided test that a and b are exchangeable in every cluster.

    Swapping a cluster or not is as likely. ``p = (1 + b) / (1 + n)`` with b of n drawn swaps whose difference is at
    least as large in size. Swapping all clusters only turns the sign around, so with g of them there are ``2**(g - 1)``
    swaps; if that is no more than `n_permutations` all are tried, the data among them, and p is their share.
    A swap without a difference (0/0) counts as large, so that p is rather too large than too small.

    Parameters
    ----------
    n_clusters : int
        Clusters in which swapping changes anything.
    difference : callable
        From which clusters are swapped, (batch, n_clusters) bool, to differences (batch,), whose sign turns where all
        are.
    work_per_row : int
        Numbers that `difference` holds for one row, so that batches stay bounded.

    Returns
    -------
    PairedTest
        Undefined with fewer than two clusters: every swap is then as large as what was found.
    """
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, not {n_permutations}")
    if n_clusters < 2:
        return undefined_test(name, ONE_TO_SWAP if n_clusters else NOTHING_TO_SWAP)
    observed = float(difference(np.zeros((1, n_clusters), dtype=bool))[0])
    bar = abs(observed) * (1 - 1e-9) - 1e-12  # equal differences can differ by rounding
    free = n_clusters - 1
    exact = n_clusters <= 32 and 2**free <= n_permutations
    batch = max(1, BATCH_FLIPS // max(n_clusters, work_per_row, 1))
    as_far, n = 0, 2**free if exact else n_permutations
    rng = np.random.default_rng(seed)
    with one_blas_thread():
        for start in range(0, n, batch):
            size = min(batch, n - start)
            if exact:
                flips = np.zeros((size, n_clusters), dtype=bool)
                flips[:, 1:] = (np.arange(start, start + size)[:, None] >> np.arange(free)) & 1
            else:
                flips = rng.random((size, n_clusters)) < 0.5
            as_far += int((~(np.abs(difference(flips)) < bar)).sum())
    p_value = as_far / n if exact else (1 + as_far) / (1 + n)
    return PairedTest(name=name, statistic=observed, p_value=p_value, n_permutations=n, exact=exact)
