"""Percentile bootstrap for statistics that see their data only through sums.

Drawing units and computing the statistic anew for every resample is what makes the usual loop slow. Here a unit enters
only through its row of features (counts, coincidences, a confusion cell), units with the same row are one class, and
resampling n units is one multinomial draw over the classes. Resampling clusters is the same with each cluster's sum of
rows. The statistic is then computed for a whole batch of resamples at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

# Numbers held by one batch of resamples (32 MB as float64); bounds memory for any number of units.
BATCH_NUMBERS = 4_000_000
# A binomial draw for one class costs about as much as this many plain draws with counting.
DRAWS_PER_BINOMIAL = 16


@dataclass(frozen=True)
class Interval:
    """A confidence interval and how it was made.

    `low` and `high` are nan where `undefined` gives a reason. `n_undefined` resamples had no defined value and are left
    out of the quantiles. `n_clusters` is None when single units were resampled.
    """

    low: float
    high: float
    level: float
    method: str
    n_resamples: int
    n_undefined: int
    n_clusters: int | None
    undefined: str = ""


class Sample(Protocol):
    """Data that can be resampled: by units, or by clusters where it has them."""

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        """How many units or clusters are drawn in one resample, and whether they are clusters."""

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        """The statistic in each resample, (n_resamples,), nan where undefined."""


@dataclass(frozen=True, eq=False)
class SumSample:
    """Units that enter a statistic only through sums of feature rows.

    Parameters
    ----------
    features : (n_patterns, n_features) float array
        What a unit of each pattern adds to the sums.
    pattern : (n,) int array
        Pattern of each unit that takes part.
    cluster : (n,) int array or None
    statistic : callable
        ``(n_resamples, n_features)`` sums to ``(n_resamples,)`` values, nan where undefined, without warnings.
    work_per_row : int
        Numbers that `statistic` holds for one resample, so that batches stay bounded.
    """

    features: np.ndarray
    pattern: np.ndarray
    cluster: np.ndarray | None
    statistic: Callable[[np.ndarray], np.ndarray]
    work_per_row: int = 1

    def sums(self) -> np.ndarray:
        """Sums over the data as they are, (1, n_features)."""
        return np.bincount(self.pattern, minlength=len(self.features))[None, :].astype(float) @ self.features

    def value(self) -> float:
        """The statistic of the data as they are."""
        return float(self.statistic(self.sums())[0])

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        if clusters and self.cluster is not None:
            return len(np.unique(self.cluster)), True
        return len(self.pattern), False

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        features, index = self.features, self.pattern
        if clusters and self.cluster is not None:
            features, index = sum_by_cluster(features, index, self.cluster)
        batches = draw_weights(index, len(features), n_resamples, rng, self.work_per_row)
        return np.concatenate([self.statistic(weights @ features) for weights in batches])


def one_blas_thread() -> AbstractContextManager:
    """A second thread gains little on such thin products, and costs much while another process has the core."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def sum_by_cluster(features: np.ndarray, pattern: np.ndarray, cluster: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Feature sums of the distinct clusters, and which of them each cluster is.

    Two clusters holding the same patterns equally often are the same for any sum. They are found by adding up one
    random 64-bit number per pattern: in a million clusters, different contents meet in one sum with a chance below
    1e-7.

    Returns
    -------
    (n_kinds, n_features) float array, (n_clusters,) int array
    """
    _, dense = np.unique(cluster, return_inverse=True)
    n_clusters = int(dense.max()) + 1
    table = sparse.csr_array((np.ones(len(pattern)), (dense, pattern)), shape=(n_clusters, len(features)))
    table.sum_duplicates()
    tag = np.random.default_rng(20250704).integers(0, 2**64, len(features), dtype=np.uint64)
    # Sums wrap around, and every cluster has at least one entry, so reduceat meets no empty row.
    content = np.add.reduceat(tag[table.indices] * table.data.astype(np.uint64), table.indptr[:-1])
    _, first, kind = np.unique(content, return_index=True, return_inverse=True)
    return np.asarray(table[first] @ features), kind


def draw_weights(
    index: np.ndarray, n_classes: int, n_resamples: int, rng: np.random.Generator, work_per_row: int = 1
) -> Iterator[np.ndarray]:
    """How often each class occurs in each resample of ``len(index)`` members, in batches of bounded size.

    Parameters
    ----------
    index : (n,) int array
        Class of each member; every member is equally likely in every draw.

    Yields
    ------
    (batch, n_classes) float array
    """
    n = len(index)
    multinomial = n_classes * DRAWS_PER_BINOMIAL < n
    share = np.bincount(index, minlength=n_classes) / n
    batch = int(np.clip(BATCH_NUMBERS // max(n_classes, work_per_row, 1), 1, n_resamples))
    own_class = n_classes == n and bool((index == np.arange(n)).all())
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        if multinomial:
            yield rng.multinomial(n, share, size=size).astype(float)
            continue
        weights = np.empty((size, n_classes))
        for row in weights:
            drawn = rng.integers(0, n, n)
            row[:] = np.bincount(drawn if own_class else index[drawn], minlength=n_classes)
        yield weights


def percentile_interval(sample: Sample, n_resamples: int, level: float, seed: int, clusters: bool) -> Interval:
    """Percentile bootstrap interval (Efron and Tibshirani 1993, section 13.3).

    Undefined with fewer than two units (or clusters) to draw from, because every resample would be the sample itself,
    and with fewer than two defined resamples.

    Parameters
    ----------
    sample : Sample
    n_resamples : int
    level : float
        Between 0 and 1, such as 0.95.
    seed : int
        The same seed and data give the same interval.
    clusters : bool
        Draw whole clusters where the data have them; otherwise single units.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
    n_drawn, clustered = sample.n_drawn(clusters)
    what = "clusters" if clustered else "units"
    method = f"percentile bootstrap over {what}"
    n_clusters = n_drawn if clustered else None
    if n_drawn < 2:
        reason = f"fewer than two {what} to resample"
        return Interval(np.nan, np.nan, level, method, 0, 0, n_clusters, reason)
    with one_blas_thread():
        values = sample.values(n_resamples, np.random.default_rng(seed), clusters)
    defined = values[~np.isnan(values)]
    n_undefined = n_resamples - len(defined)
    if len(defined) < 2:
        reason = "the figure is undefined in nearly every resample"
        return Interval(np.nan, np.nan, level, method, n_resamples, n_undefined, n_clusters, reason)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method, n_resamples, n_undefined, n_clusters)


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """A figure with what it was computed from. Every measure's result extends it.

    Attributes
    ----------
    estimate : float
        nan where `undefined` gives a reason.
    n_units : int
        Units that were looked at.
    n_pairable : int
        Units that enter the figure.
    n_labels : int
        Labels (or scores) that enter the figure.
    left_out : dict of str to int
        Units that do not enter the figure, counted by reason.
    """

    estimate: float
    undefined: str = ""
    n_units: int
    n_pairable: int
    n_labels: int
    left_out: dict[str, int]
    sample: Sample = field(repr=False)

    @property
    def n_left_out(self) -> int:
        return sum(self.left_out.values())

    def confidence_interval(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> Interval:
        """Percentile bootstrap interval over the units that enter the figure, or over their clusters.

        Units left out of the figure are not drawn. An undefined figure has an undefined interval.
        """
        if self.undefined:
            n_drawn, clustered = self.sample.n_drawn(clusters)
            method = f"percentile bootstrap over {'clusters' if clustered else 'units'}"
            return Interval(np.nan, np.nan, level, method, 0, 0, n_drawn if clustered else None, self.undefined)
        return percentile_interval(self.sample, n_resamples, level, seed, clusters)


def divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, nan without a warning where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator != 0)
