"""A ratio of sums with an interval that few differing rows do not make too narrow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class PaddedRatio:
    """`estimate` is the ratio as the rows give it; `middle` and `error` are those with added rows, on which an interval
    rests. `n_effective` rows of equal weight would hold as much."""

    estimate: float
    middle: float
    error: float
    n_effective: float

    def ends(
        self, reach: float, error: float | None = None, freedom: float | None = None, level: float = 0.95
    ) -> tuple[float, float]:
        """The t interval, within -reach to reach; by default with the error and the freedom of the rows."""
        from scipy.special import stdtrit

        freedom = self.n_effective - 1 if freedom is None else freedom
        half = float(stdtrit(freedom, (1 + level) / 2)) * (self.error if error is None else error)
        return max(-reach, self.middle - half), min(reach, self.middle + half)


def padded_ratio(
    difference: np.ndarray, weight: np.ndarray, reach: float = 1.0, cluster: np.ndarray | None = None
) -> PaddedRatio:
    """``sum difference / sum weight`` over rows or clusters, with its linearised error.

    As for a difference of paired shares (Agresti and Min 2005), two rows of ordinary weight are added: half a row that
    differs by `reach`, half a row by minus that, and one that does not differ. So rows that all say the same do not
    claim certainty.

    Parameters
    ----------
    difference, weight : (n_rows,) float arrays
        Rows of weight 0 do not count; at least one must.
    reach : float
        The largest possible difference of a row of weight 1.
    cluster : (n_rows,) array, optional
        Values are then summed by cluster first.

    References
    ----------
    Agresti and Min (2005), Statistics in Medicine 24(5), 729-740; doi:10.1002/sim.1781.

    Examples
    --------
    >>> found = padded_ratio(np.zeros(20), np.ones(20))
    >>> found.estimate, round(found.error, 4), round(found.n_effective, 1)
    (0.0, 0.0455, 20.0)
    """
    sums = np.stack([difference, weight], axis=1).astype(float)
    if cluster is not None:
        _, place = np.unique(cluster, return_inverse=True)
        sums = np.stack([np.bincount(place, column) for column in sums.T], axis=1)
    difference, weight = sums[sums[:, 1] > 0].T
    total = float(weight.sum())
    size = float((weight**2).sum()) / total
    n, grown = total / size, total + 2 * size
    middle = float(difference.sum()) / grown
    residual = difference - middle * weight
    added = size**2 * (0.5 * (reach - middle) ** 2 + 0.5 * (reach + middle) ** 2 + middle**2)
    more = n / (n - 1) if n > 1 else math.inf
    return PaddedRatio(
        estimate=float(difference.sum()) / total,
        middle=middle,
        error=math.sqrt(more * float((residual**2).sum()) + added) / grown,
        n_effective=n,
    )
