"""Bootstrap for statistics that see their data only through sums.

Drawing units and computing the statistic anew for every resample is what makes the usual loop slow. Here a unit enters
only through its row of features (counts, coincidences, a confusion cell), units with the same row are one class, and
resampling n units is one multinomial draw over the classes. Resampling clusters is the same with each cluster's sum of
rows. The statistic is then computed for a whole batch of resamples at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Protocol

import numpy as np
import scipy
from threadpoolctl import ThreadpoolController

from analysis.stats.resampling.intervals import Interval, interval_method, resampled_interval

# Numbers held by one batch of resamples (32 MB as float64); bounds memory for any number of units.
BATCH_NUMBERS = 4_000_000
# The same of draws and their sums, which are quicker where a cache holds them; the draws are the same.
DRAWN_NUMBERS = 1_000_000
# A binomial draw for one class costs about as much as this many plain draws with counting.
DRAWS_PER_BINOMIAL = 16
# Beyond so many members nothing is left out one by one: skewness moves an interval by 1 / sqrt(members).
LEFT_OUT_MEMBERS = 20_000
# The same where every member's leaving costs a pass over all units.
LEFT_OUT_WEIGHTS = 1_000
# Up to so many clusters times patterns a full table is quicker than a sparse one.
FULL_TABLE = 100_000


class Sample(Protocol):
    """Data that can be resampled: by units, or by clusters where it has them."""

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        """How many units or clusters are drawn in one resample, and whether they are clusters."""

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        """The statistic in each resample, (n_resamples,), nan where undefined."""


class SkewSample(Sample, Protocol):
    """Data that can also say how skewed the statistic is, so that its interval is accelerated."""

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        """How far the statistic falls when a member is left out, and of how many members that is true; both empty where
        there are so many members that it makes no difference."""


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
        ``(n_resamples, n_features)`` sums to ``(n_resamples,)`` values, nan where undefined, without warnings. Several
        figures that share their resamples are ``(n_resamples, n_figures)``; such a sample is no single `Estimate`'s.
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
        return len(self.members(clusters)[1]), clusters and self.cluster is not None

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        features, index = self.members(clusters)
        batches = draw_weights(index, len(features), n_resamples, rng, self.work_per_row)
        return np.concatenate([self.statistic(weights @ features) for weights in batches])

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        return centred_influences(*self.values_without(clusters))

    def values_without(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        """The statistic without a member of each kind, and how many members are of that kind; both empty where there
        are so many that it makes no difference."""
        if self.n_drawn(clusters)[0] > LEFT_OUT_MEMBERS:
            return NO_INFLUENCE
        features, index = self.members(clusters)
        times = np.bincount(index, minlength=len(features)).astype(float)
        features, times = features[times > 0], times[times > 0]
        batch = max(1, DRAWN_NUMBERS // max(features.shape[1], self.work_per_row))
        total = times @ features
        parts = [self.statistic(total - features[start : start + batch]) for start in range(0, len(features), batch)]
        return np.concatenate(parts), times

    def members(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        """What is drawn: the sums of each kind of member, and the kind of each member."""
        if clusters and self.cluster is not None:
            return self._cluster_members
        return self.features, self.pattern

    @cached_property
    def _cluster_members(self) -> tuple[np.ndarray, np.ndarray]:
        return sum_by_cluster(self.features, self.pattern, self.cluster)


class PartedSample(Sample, Protocol):
    """Data of several parts that are resampled each by itself: the smallest may decide how well the spread is known."""

    def effective_n(self, clusters: bool) -> float:
        """Units or clusters of one sample whose spread would be known as well; see `effective_n_of_parts`."""


NO_INFLUENCE = (np.zeros(0), np.zeros(0))


def centred_influences(left_out: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Influences from the statistic without each kind of member; kinds without which it is undefined are dropped."""
    defined = ~np.isnan(left_out)
    if not defined.any():
        return NO_INFLUENCE
    value, times = left_out[defined], times[defined]
    return times @ value / times.sum() - value, times


def effective_n_of_parts(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """One more than the degrees of freedom of a variance that is the sum of the parts' variances.

    ``(sum V_k)^2 / sum (V_k^2 / (n_k - 1)) + 1`` with the variance ``V_k = n_k / (n_k - 1) sum d^2`` of the part's
    influences d (Welch 1947, Satterthwaite 1946).

    Parameters
    ----------
    parts : pairs of (m,) arrays
        Influences on the whole figure, and of how many members each is true.

    Returns
    -------
    float
        At least 2; infinite where no part has an influence.

    References
    ----------
    Welch (1947), Biometrika 34(1-2), 28-35; doi:10.1093/biomet/34.1-2.28.

    Examples
    --------
    Two alike parts of ten know their spread as one sample of nineteen does; a part of three decides where it spreads
    most.

    >>> ten = np.tile([1.0, -1.0], 5), np.ones(10)
    >>> three = np.array([40.0, -40.0, 0.0]), np.ones(3)
    >>> round(effective_n_of_parts([ten, ten]), 1), round(effective_n_of_parts([ten, three]), 1)
    (19.0, 3.0)
    """
    n = np.array([times.sum() for _, times in parts])
    squares = np.array([times @ influence**2 for influence, times in parts])
    known = (n > 1) & (squares > 0)
    if not known.any():
        return np.inf
    variance = squares[known] * n[known] / (n[known] - 1)
    return max(2.0, float(variance.sum() ** 2 / (variance**2 / (n[known] - 1)).sum()) + 1)


def influences_of_weights(
    statistic: Callable[[np.ndarray], np.ndarray], group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Influences of the members (clusters, or single units) under a statistic of the units' weights.

    Parameters
    ----------
    statistic : callable
        ``(batch, n_units)`` weights to ``(batch,)`` values.
    group : (n_units,) int array
        The member of each unit, 0 to n_members - 1.
    """
    n_members = int(group.max(initial=-1)) + 1
    if n_members > LEFT_OUT_WEIGHTS:
        return NO_INFLUENCE
    batch = max(1, BATCH_NUMBERS // 16 // max(len(group), 1))
    parts = [
        statistic((group[None, :] != np.arange(start, min(start + batch, n_members))[:, None]).astype(float))
        for start in range(0, n_members, batch)
    ]
    return centred_influences(np.concatenate(parts), np.ones(n_members)) if parts else NO_INFLUENCE


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
    n_clusters, n_patterns = int(dense.max(initial=-1)) + 1, len(features)
    tag = _tags(n_patterns)  # whose sums wrap around
    if n_clusters * n_patterns <= FULL_TABLE:
        times = np.bincount(dense * n_patterns + pattern, minlength=n_clusters * n_patterns)
        table = times.reshape(n_clusters, n_patterns)
        content = table.astype(np.uint64) @ tag
        _, first, kind = np.unique(content, return_index=True, return_inverse=True)
        return table[first].astype(float) @ features, kind
    table = scipy.sparse.csr_array((np.ones(len(pattern)), (dense, pattern)), shape=(n_clusters, n_patterns))
    table.sum_duplicates()
    # Every cluster has at least one entry, so reduceat meets no empty row.
    content = np.add.reduceat(tag[table.indices] * table.data.astype(np.uint64), table.indptr[:-1])
    _, first, kind = np.unique(content, return_index=True, return_inverse=True)
    return np.asarray(table[first] @ features), kind


@lru_cache(maxsize=16)
def _tags(n_patterns: int) -> np.ndarray:
    return np.random.default_rng(20250704).integers(0, 2**64, n_patterns, dtype=np.uint64)


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
    batch = max(1, min(n_resamples, DRAWN_NUMBERS // max(n_classes, work_per_row, 1)))
    own_class = n_classes == n and bool((index == np.arange(n)).all())
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        if multinomial:
            yield rng.multinomial(n, share, size=size).astype(float)
            continue
        if size * max(n, n_classes) <= DRAWN_NUMBERS:  # small data: all draws at once, which are the same draws
            drawn = rng.integers(0, n, (size, n))
            place = (drawn if own_class else index[drawn]) + np.arange(size)[:, None] * n_classes
            counts = np.bincount(place.ravel(), minlength=size * n_classes)
            yield counts.reshape(size, n_classes).astype(float)
            continue
        weights = np.empty((size, n_classes))
        for row in weights:
            drawn = rng.integers(0, n, n)
            row[:] = np.bincount(drawn if own_class else index[drawn], minlength=n_classes)
        yield weights


def shares_clusters(sample: Sample, clusters: bool) -> bool:
    """Whether clusters are drawn that have several units: where each has one, a reason or note speaks of units."""
    n_drawn, clustered = sample.n_drawn(clusters)
    return clustered and n_drawn < sample.n_drawn(False)[0]


def bootstrap_interval(
    sample: Sample, estimate: float, n_resamples: int, level: float, seed: int, clusters: bool
) -> Interval:
    """Expanded BCa bootstrap interval (see `resampled_interval`); without acceleration for data that do not say how
    skewed they are.

    Undefined with fewer than two units (or clusters) to draw from, because every resample would be the sample itself,
    with fewer than two defined resamples, and where all resamples give the same figure.

    Parameters
    ----------
    sample : Sample
    estimate : float
        The statistic of the data as they are.
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
    are_shared = shares_clusters(sample, clusters)
    if n_drawn < 2:
        reason = f"fewer than two {'clusters' if are_shared else 'units'} to resample"
        return undefined_interval(sample, level, clusters, reason)
    with one_blas_thread():
        values = sample.values(n_resamples, np.random.default_rng(seed), clusters)
        influence = sample.influences(clusters) if hasattr(sample, "influences") else NO_INFLUENCE
        n_effective = sample.effective_n(clusters) if hasattr(sample, "effective_n") else n_drawn
    n_effective = min(n_effective, n_drawn)
    return resampled_interval(values, estimate, influence, n_drawn, clustered, level, n_effective, are_shared)


def undefined_interval(sample: Sample, level: float, clusters: bool, reason: str) -> Interval:
    """No interval, for this reason, where nothing was resampled."""
    n_drawn, clustered = sample.n_drawn(clusters)
    method = interval_method(shares_clusters(sample, clusters))
    return Interval(np.nan, np.nan, level, method, 0, 0, n_drawn if clustered else None, reason)


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
    note : str
        A warning about every interval of the figure; empty if there is none.
    """

    estimate: float
    undefined: str = ""
    n_units: int
    n_pairable: int
    n_labels: int
    left_out: dict[str, int]
    sample: Sample = field(repr=False)
    note: str = ""

    @property
    def n_left_out(self) -> int:
        return sum(self.left_out.values())

    def confidence_interval(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> Interval:
        """Bootstrap interval over the units that enter the figure, or over their clusters; see `resampled_interval`.

        Units left out of the figure are not drawn. An undefined figure has an undefined interval.
        """
        if self.undefined:
            return undefined_interval(self.sample, level, clusters, self.undefined)
        interval = bootstrap_interval(self.sample, self.estimate, n_resamples, level, seed, clusters)
        return replace(interval, note="; ".join(filter(None, (interval.note, self.note)))) if self.note else interval


def divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, nan without a warning where the denominator is 0."""
    shape = np.broadcast(numerator, denominator).shape
    return np.divide(numerator, denominator, out=np.full(shape, np.nan), where=np.not_equal(denominator, 0))
