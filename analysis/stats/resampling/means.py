"""Means and standard deviations of many columns in many groups, with intervals from one set of resamples.

A table of context characteristics by stance and by source has hundreds of means over the same pairs. Clusters are
drawn once for all of them, and what a cluster adds to every sum is a row of one sparse table, so a resample of the
whole table is one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from analysis.stats.resampling.bootstrap import (
    LEFT_OUT_MEMBERS,
    NO_INFLUENCE,
    centred_influences,
    divide,
    draw_weights,
    one_blas_thread,
)
from analysis.stats.resampling.intervals import Interval, holding, interval_method, resampled_interval

NOTHING = "no value is defined"
ONE_CLUSTER = "fewer than two clusters to resample"
ONE_UNIT = "fewer than two units to resample"


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
    are_shared: bool  # whether some cluster has several rows
    centre: np.ndarray = field(repr=False)  # (n_columns,) what `sums` are relative to
    sums: scipy.sparse.csr_array = field(
        repr=False
    )  # (2 cells, n_clusters): what a cluster adds to totals, then to counts

    def confidence_intervals(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0
    ) -> tuple[tuple[Interval, ...], ...]:
        """An interval for every mean, as the table has them: expanded BCa (see `intervals.resampled_interval`).

        Clusters (or units, where there are no clusters) are drawn from all that have a value anywhere in the table, so
        how many of a group are drawn varies, as it would in new data. Undefined for a group with values in fewer than
        two clusters, where every resample would give the same mean.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level}")
        if n_resamples < 1:
            raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
        values = self._resampled(n_resamples, seed)
        n_groups, n_columns = self.mean.shape
        return tuple(
            tuple(self._interval(row, column, values[row * n_columns + column], level) for column in range(n_columns))
            for row in range(n_groups)
        )

    def _resampled(self, n_resamples: int, seed: int) -> np.ndarray:
        """Every mean in every resample, (n_cells, n_resamples); nan where the group was not drawn."""
        cells, n_drawn = self.mean.size, self.sums.shape[1]
        values = np.full((cells, n_resamples), np.nan)
        if not n_drawn or not cells:
            return values
        rng, start = np.random.default_rng(seed), 0
        with one_blas_thread():
            for weights in draw_weights(np.arange(n_drawn), n_drawn, n_resamples, rng, max(n_drawn, 2 * cells)):
                drawn = self.sums @ np.ascontiguousarray(weights.T)
                values[:, start : start + len(weights)] = divide(drawn[:cells], drawn[cells:])
                start += len(weights)
        return values

    def _interval(self, group: int, column: int, values: np.ndarray, level: float) -> Interval:
        n_clusters = int(self.n_clusters[group, column])
        if n_clusters < 2:
            reason = ONE_CLUSTER if self.are_shared else ONE_UNIT
            reason = reason if self.n[group, column] else NOTHING
            shown = n_clusters if self.clustered else None
            return Interval(np.nan, np.nan, level, interval_method(self.are_shared), 0, 0, shown, reason)
        # What a cluster adds is relative to the column's centre, and so are the resampled means.
        estimate = float(self.mean[group, column] - self.centre[column])
        influence = self._influence(group, column)
        interval = resampled_interval(
            values, estimate, influence, n_clusters, self.clustered, level, None, self.are_shared
        )
        centre = float(self.centre[column])
        interval = replace(interval, low=interval.low + centre, high=interval.high + centre)
        return holding(interval, float(self.mean[group, column]))

    def _influence(self, group: int, column: int) -> tuple[np.ndarray, np.ndarray]:
        cell = group * self.mean.shape[1] + column
        if self.n_clusters[group, column] > LEFT_OUT_MEMBERS:
            return NO_INFLUENCE
        totals, counts = (self.sums[[row]].toarray()[0] for row in (cell, self.mean.size + cell))
        has = counts > 0
        left_out = divide(totals.sum() - totals[has], counts.sum() - counts[has])
        return centred_influences(left_out, np.ones(len(left_out)))


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

    Examples
    --------
    >>> result = grouped_means([[1.0], [3.0], [np.nan]], [[True, False], [True, False], [True, True]])
    >>> result.mean.tolist(), result.n.tolist(), result.n_missing.tolist()
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
    with one_blas_thread():
        n, total, square, raw = (
            weight @ columns for columns in (has.astype(float), deviation, deviation**2, np.where(has, table, 0))
        )
    n = n.round().astype(int)
    mean = divide(total, n)
    rest = np.maximum(square - np.where(n > 0, total, 0) * np.where(n > 0, mean, 0), 0)
    sd = np.sqrt(divide(rest, np.where(n > 1, n - 1, 0)))
    return GroupedMeans(
        mean=divide(raw, n),  # of zeros exactly 0, which the centre plus the mean deviation is not
        sd=sd,
        n=n,
        n_missing=member.sum(axis=0)[:, None] - n,
        centre=centre,
        **_by_cluster(deviation, has, member, cluster),
    )


def _by_cluster(table: np.ndarray, has: np.ndarray, member: np.ndarray, cluster: np.ndarray | None) -> dict:
    """What each cluster adds to the total and the count of every cell (group by column), as a sparse table."""
    anywhere = np.flatnonzero(has.any(axis=1) & member.any(axis=1))
    if cluster is None:
        row_cluster = np.arange(len(anywhere))
    else:
        row_cluster = np.unique(np.asarray(cluster)[anywhere], return_inverse=True)[1]
    n_drawn = int(row_cluster.max()) + 1 if len(row_cluster) else 0
    n_groups, n_columns = member.shape[1], table.shape[1]
    in_cluster = scipy.sparse.csr_array(
        (np.ones(len(row_cluster)), (row_cluster, np.arange(len(row_cluster)))), shape=(n_drawn, len(row_cluster))
    )
    totals, counts = [], []
    for group in range(n_groups):
        mine = member[anywhere, group, None]
        for parts, column in ((totals, np.where(mine, table[anywhere], 0)), (counts, mine & has[anywhere])):
            parts.append((in_cluster @ scipy.sparse.csr_array(column.astype(float))).T)
    empty = scipy.sparse.csr_array((0, n_drawn))
    sums = scipy.sparse.csr_array(scipy.sparse.vstack([*totals, *counts]) if totals else empty)
    n_cells = n_groups * n_columns
    held = np.diff(sums[n_cells:].indptr).reshape(n_groups, n_columns)
    return {"sums": sums, "n_clusters": held.astype(int), "clustered": cluster is not None} | {
        "are_shared": n_drawn < len(row_cluster)
    }
