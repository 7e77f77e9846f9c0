"""Three labellers or more against the same people: are they equally often right, or do they differ at all?

Tests of every pair answer another question, and some pair of many differs by chance: ask this first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import scipy

from analysis.stats.labels import code_column
from analysis.stats.resampling.paired_permutation import (
    BATCH_FLIPS,
    NOTHING_TO_SWAP,
    ONE_TO_SWAP,
    PairedTest,
    undefined_test,
)

COCHRAN, PERMUTATION = "Cochran's Q", "permutation of Cochran's Q"
NO_SHARED = "no unit has a reference and every prediction"
NONE_DISCORDANT = "the labellers are right on the same units, so nothing tells them apart (0/0)"


@dataclass(frozen=True, kw_only=True)
class SeveralLabellers:
    """Whether labellers are right equally often, on the units that have a reference and every prediction.

    Attributes
    ----------
    n_right : tuple of int
        Units that each labeller is right on.
    n_units, n_pairable : int
        Units that were looked at, and those that enter.
    n_discordant : int
        Of the latter those that some are right on and others are not: the only ones that say anything.
    left_out : dict of str to int
    cochran : PairedTest
        Q, and its p by the chi-squared distribution with one degree of freedom less than there are labellers.
    permutation : PairedTest
        The same statistic; whole clusters change places.
    """

    n_right: tuple[int, ...]
    n_units: int
    n_pairable: int
    n_discordant: int
    left_out: dict[str, int]
    cochran: PairedTest
    permutation: PairedTest


def several_labellers(
    reference: Sequence[int] | np.ndarray,
    predictions: Sequence[Sequence[int] | np.ndarray],
    categories: Sequence[str],
    cluster: Sequence[int] | np.ndarray | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
) -> SeveralLabellers:
    """Accuracies of k labellers against the same reference: Cochran's Q.

    With G_j the units that labeller j is right on, L_i the labellers that are right on unit i and T the sum of either,
    ``Q = (k - 1) (k sum_j G_j^2 - T^2) / (k T - sum_i L_i^2)``. For two labellers it is McNemar's test without its
    correction. It treats units as independent, and is an approximation with few discordant ones.

    In the permutation test the labellers' answers to a unit, or to all units of a cluster, change places among them,
    which under H0 is as good; the L_i stay as they are, so only the G_j decide. ``p = (1 + b) / (1 + n)`` with b of n
    drawn permutations whose Q is at least as large. Permuting all clusters alike changes nothing, so g clusters have
    ``(k!)**(g - 1)`` permutations; if that is no more than `n_permutations` all are tried, the data among them, and p
    is their share.

    Parameters
    ----------
    reference : (n_units,) int array
        Codes into `categories`, -1 for none.
    predictions : k sequences of n_units ints
        The same of every labeller; units without all of them are left out and counted.
    categories : sequence of str
    cluster : (n_units,) int array, optional
    n_permutations, seed : int

    Returns
    -------
    SeveralLabellers
        Both tests are undefined where no unit has everything, and where all labellers are right on the same units; the
        permutation test also where they are so, or equally often so, in all clusters but one.

    Raises
    ------
    ValueError
        Fewer than two labellers, columns of different lengths, codes out of range.

    References
    ----------
    Cochran (1950), The comparison of percentages in matched samples, Biometrika 37(3/4), 256-266;
    doi:10.1093/biomet/37.3-4.256.

    Examples
    --------
    >>> result = several_labellers([0, 0, 0, 0, 0, 0], [[0] * 6, [0, 0, 0, 0, 1, 1], [1] * 6], ["no", "yes"])
    >>> result.n_right, round(result.cochran.statistic, 4), round(result.cochran.p_value, 4)
    ((6, 4, 0), 9.3333, 0.0094)
    """
    k, n_permutations = len(predictions), int(n_permutations)
    if k < 2:
        raise ValueError(f"labellers are compared with each other, so there are two at least, not {k}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, not {n_permutations}")
    truth = code_column(reference, len(categories), "reference")
    predicted = [code_column(column, len(categories), "a prediction") for column in predictions]
    if {len(column) for column in predicted} != {len(truth)} or (cluster is not None and len(cluster) != len(truth)):
        raise ValueError("reference, predictions and cluster differ in length")
    has_all = (truth >= 0) & np.all([column >= 0 for column in predicted], axis=0)
    right = np.column_stack([column == truth for column in predicted])[has_all].astype(np.int64)
    drawn_from = np.arange(len(right)) if cluster is None else np.asarray(cluster)[has_all]
    per_unit = right.sum(axis=1)
    n_discordant = int(((per_unit > 0) & (per_unit < k)).sum())
    undefined = NO_SHARED if not len(right) else NONE_DISCORDANT if not n_discordant else ""
    left_out = int((~has_all).sum())
    tests = (undefined_test(COCHRAN, undefined), undefined_test(PERMUTATION, undefined))
    if not undefined:
        by_labeller, total = right.sum(axis=0), int(right.sum())
        q = (k - 1) * float(k * (by_labeller**2).sum() - total**2) / float(k * total - (per_unit**2).sum())
        tests = (
            PairedTest(name=COCHRAN, statistic=q, p_value=float(scipy.special.chdtrc(k - 1, q))),
            _permuted(q, right, drawn_from, n_permutations, seed),
        )
    return SeveralLabellers(
        n_right=tuple(right.sum(axis=0).tolist()),
        n_units=len(truth),
        n_pairable=len(right),
        n_discordant=n_discordant,
        left_out={"without reference and every prediction": left_out} if left_out else {},
        cochran=tests[0],
        permutation=tests[1],
    )


def _permuted(q: float, right: np.ndarray, cluster: np.ndarray, n_permutations: int, seed: int) -> PairedTest:
    k = right.shape[1]
    dense = np.unique(cluster, return_inverse=True)[1]
    table = np.zeros((int(dense.max()) + 1, k), dtype=np.int64)
    np.add.at(table, dense, right)
    differs = (table != table[:, :1]).any(axis=1)
    fixed, table = table[~differs].sum(axis=0), table[differs]
    if len(table) < 2:
        return undefined_test(PERMUTATION, ONE_TO_SWAP if len(table) else NOTHING_TO_SWAP)
    observed = int(((fixed + table.sum(axis=0)) ** 2).sum())
    free, rng = len(table) - 1, np.random.default_rng(seed)
    exact = free * math.log(math.factorial(k)) <= math.log(n_permutations) + 1e-9
    if exact:
        orders = np.array(list(permutations(range(k))))
        others = [row[orders] for row in table[1:]]
        sums = [fixed + table[0] + np.sum(chosen, axis=0, dtype=np.int64) for chosen in product(*others)]
        p_value, n = float(np.mean([int((totals**2).sum()) >= observed for totals in sums])), len(sums)
    else:
        n, as_far = n_permutations, 0
        batch = max(1, BATCH_FLIPS // table.size)
        for start in range(0, n, batch):
            size = min(batch, n - start)
            drawn = rng.permuted(np.broadcast_to(table, (size, *table.shape)), axis=2).sum(axis=1) + fixed
            as_far += int(((drawn**2).sum(axis=1) >= observed).sum())
        p_value = (1 + as_far) / (1 + n)
    return PairedTest(name=PERMUTATION, statistic=q, p_value=p_value, n_permutations=n, exact=exact)
