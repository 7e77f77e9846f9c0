"""Means and standard deviations of many columns in many groups, with intervals from one set of resamples.

A table of context characteristics by stance and by source has hundreds of means over the same pairs. Clusters are
drawn once for all of them, and what a cluster adds to every sum is a row of one sparse table, so a resample of the
whole table is one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from .bootstrap import divide, draw_weights, one_blas_thread

NOTHING = "no value is defined"
ONE_CLUSTER = "fewer than two clusters to resample"
ONE_UNIT = "fewer than two units to resample"


@dataclass(frozen=True, eq=False)
class MeanIntervals:
    """Percentile bootstrap intervals of a table of means.

    Attributes
    ----------
    low, high : (n_groups, n_columns) float arrays
        nan where undefined: see `undefined`.
    undefined : (n_groups, n_columns) array of str
        Why there is no interval; empty where there is one.
    n_undefined : (n_groups, n_columns) int array
        Resamples in which the group had no value; they are left out of the quantiles.
    level : float
    n_resamples : int
    method : str
    n_clusters : int or None
        Clusters that were drawn from; None where single units were.
    """

    low: np.ndarray
    high: np.ndarray
    undefined: np.ndarray
    n_undefined: np.ndarray
    level: float
    n_resamples: int
    method: str
    n_clusters: int | None


@dataclass(frozen=True, eq=False)
class GroupedMeans:
    """Means of columns in groups.

    Attributes
    ----------
    mean, sd : (n_groups, n_columns) float arrays
        The sd divides by n - 1 and is nan for fewer than two values.
    n, n_missing : (n_groups, n_columns) int arrays
        Values that enter, and units of the group whose value is undefined.
    n_clusters : (n_groups, n_columns) int array
        Clusters (or units) with a value.
    """

    mean: np.ndarray
    sd: np.ndarray
    n: np.ndarray
    n_missing: np.ndarray
    n_clusters: np.ndarray
    clustered: bool
    sums: sparse.csr_array = field(repr=False)  # (2 cells, n_clusters): what a cluster adds to totals, then to counts

    def confidence_intervals(self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0) -> MeanIntervals:
        """Clusters (or units, where there are no clusters) are drawn from all that have a value anywhere in the table,
        so how many of a group are drawn varies, as it would in new data.

        Undefined for a group with values in fewer than two clusters, where every resample would give the same mean.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level}")
        if n_resamples < 1:
            raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
        shape, cells = self.mean.shape, self.mean.size
        n_drawn = self.sums.shape[1]
        values = np.full((cells, n_resamples), np.nan)
        if n_drawn and cells:
            rng, start = np.random.default_rng(seed), 0
            members = np.arange(n_drawn)
            with one_blas_thread():
                for weights in draw_weights(members, n_drawn, n_resamples, rng, max(n_drawn, 2 * cells)):
                    drawn = self.sums @ np.ascontiguousarray(weights.T)
                    values[:, start : start + len(weights)] = divide(drawn[:cells], drawn[cells:])
                    start += len(weights)
        few = (self.n_clusters < 2).reshape(cells)
        low_high = np.full((2, cells), np.nan)
        if (~few).any():
            tails = [(1 - level) / 2, (1 + level) / 2]
            low_high[:, ~few] = np.nanquantile(values[~few], tails, axis=1)
        why = np.where(
            self.n == 0, NOTHING, np.where(few.reshape(shape), ONE_CLUSTER if self.clustered else ONE_UNIT, "")
        )
        what = "clusters" if self.clustered else "units"
        return MeanIntervals(
            low=low_high[0].reshape(shape),
            high=low_high[1].reshape(shape),
            undefined=why,
            n_undefined=np.isnan(values).sum(axis=1).reshape(shape),
            level=level,
            n_resamples=n_resamples,
            method=f"percentile bootstrap over {what}",
            n_clusters=n_drawn if self.clustered else None,
        )


def grouped_means(
    values: Sequence | np.ndarray, groups: Sequence | np.ndarray, cluster: Sequence[int] | np.ndarray | None = None
) -> GroupedMeans:
    """Mean and standard deviation of every column in every group.

    Parameters
    ----------
    values : (n, n_columns) float array
        nan where undefined: left out of that column alone, and counted.
    groups : (n, n_groups) bool array
        A unit may be in several groups, so one call serves stances, sources and all units together.
    cluster : (n,) int array, optional
        What units come in, such as the claim of a piece of evidence; intervals then resample clusters.

    Returns
    -------
    GroupedMeans

    Raises
    ------
    ValueError
        Infinite values, or lengths that differ.

    References
    ----------
    Percentile bootstrap over clusters: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 8, 13.

    Examples
    --------
    >>> found = grouped_means([[1.0], [3.0], [np.nan]], [[True, False], [True, False], [True, True]])
    >>> found.mean.tolist(), found.n.tolist(), found.n_missing.tolist()
    ([[2.0], [nan]], [[2], [0]], [[1], [1]])
    """
    table, member = np.asarray(values, dtype=float), np.asarray(groups, dtype=bool)
    if table.ndim != 2 or member.ndim != 2 or len(table) != len(member):
        raise ValueError(f"values and groups have a row per unit each, not the shapes {table.shape} and {member.shape}")
    if cluster is not None and len(cluster) != len(table):
        raise ValueError("cluster and values differ in length")
    if np.isinf(table).any():
        raise ValueError("values are finite, or nan where undefined")
    has = ~np.isnan(table)
    # Deviations from a column's mean keep their digits where a sum of squares of the values themselves would not.
    centre = divide(np.where(has, table, 0).sum(axis=0), has.sum(axis=0))
    centre = np.where(np.isnan(centre), 0, centre)
    deviation = np.where(has, table - centre, 0)
    weight = member.T.astype(float)
    n = (weight @ has).round().astype(int)
    total, square = weight @ deviation, weight @ deviation**2
    mean = divide(total, n)
    rest = np.maximum(square - np.where(n > 0, total, 0) * np.where(n > 0, mean, 0), 0)
    sd = np.sqrt(divide(rest, np.where(n > 1, n - 1, 0)))
    return GroupedMeans(
        mean=mean + centre,
        sd=sd,
        n=n,
        n_missing=member.sum(axis=0)[:, None] - n,
        **_by_cluster(np.where(has, table, 0), has, member, cluster),
    )


def _by_cluster(table: np.ndarray, has: np.ndarray, member: np.ndarray, cluster: np.ndarray | None) -> dict:
    """What each cluster adds to the total and the count of every cell (group by column), as a sparse table."""
    anywhere = np.flatnonzero(has.any(axis=1) & member.any(axis=1))
    if cluster is None:
        of_row = np.arange(len(anywhere))
    else:
        of_row = np.unique(np.asarray(cluster)[anywhere], return_inverse=True)[1]
    n_drawn = int(of_row.max()) + 1 if len(of_row) else 0
    n_groups, n_columns = member.shape[1], table.shape[1]
    in_cluster = sparse.csr_array(
        (np.ones(len(of_row)), (of_row, np.arange(len(of_row)))), shape=(n_drawn, len(of_row))
    )
    totals, counts = [], []
    for group in range(n_groups):
        mine = member[anywhere, group, None]
        for found, column in ((totals, np.where(mine, table[anywhere], 0)), (counts, mine & has[anywhere])):
            found.append((in_cluster @ sparse.csr_array(column.astype(float))).T)
    empty = sparse.csr_array((0, n_drawn))
    sums = sparse.csr_array(sparse.vstack([*totals, *counts]) if totals else empty)
    n_cells = n_groups * n_columns
    held = np.diff(sums[n_cells:].indptr).reshape(n_groups, n_columns)
    return {"sums": sums, "n_clusters": held.astype(int), "clustered": cluster is not None}
