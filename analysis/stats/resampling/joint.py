"""Intervals of several figures of the same units, all from the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.stats.resampling.bootstrap import (
    NO_INFLUENCE,
    SumSample,
    centred_influences,
    one_blas_thread,
    shares_clusters,
)
from analysis.stats.resampling.intervals import Interval, interval_method, resampled_interval


def joint_intervals(
    sample: SumSample,
    estimates: Sequence[float] | np.ndarray,
    informs: Callable[[np.ndarray], np.ndarray],
    *,
    reasons: Sequence[str] = (),
    few: str = "to resample",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    clusters: bool = True,
) -> tuple[Interval, ...]:
    """Bootstrap intervals of figures that are functions of the same sums, for the price of one.

    Units (or clusters) are drawn from all that enter, so how many have something to say of a figure varies as it would
    in new data; a resample without any leaves that figure out. Intervals are expanded BCa (see `resampled_interval`),
    by the number of units or clusters that the figure rests on.

    Parameters
    ----------
    sample : SumSample
        Whose statistic is (n_resamples, n_figures).
    estimates : (n_figures,) float array
        The figures of the data as they are.
    informs : callable
        ``(n, n_features)`` sums of single members to ``(n, n_figures)`` or ``(n, 1)`` bools: whether the member has
        something to say of the figure.
    reasons : sequence of str, optional
        Why a figure is undefined, "" where it is not.
    few : str
        What fewer than two units or clusters do, for the reason.
    n_resamples, level, seed : int, float, int
    clusters : bool
        Draw whole clusters where there are any; otherwise single units.

    Returns
    -------
    tuple of Interval
        One per figure. Undefined where the figure is, where it rests on fewer than two units or clusters, and where
        every resample gives the same.

    Raises
    ------
    ValueError
        A level outside 0..1, or no resample.

    Examples
    --------
    Two means, the second over every other unit: the features are value, 1, and both again where the second counts.

    >>> value, second = np.arange(40.0), np.arange(40) % 2
    >>> features = np.column_stack([value, np.ones(40), value * second, second])
    >>> sample = SumSample(features, np.arange(40), None, lambda sums: sums[:, ::2] / sums[:, 1::2], 2)
    >>> first, other = joint_intervals(sample, [19.5, 20.0], lambda sums: sums[:, 1::2] > 0)
    >>> round(first.high - first.low), round(other.high - other.low)
    (8, 12)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
    n_figures, clustered = len(estimates), clusters and sample.cluster is not None
    are_shared = shares_clusters(sample, clusters)
    rests_on = _rests_on(sample, informs, clusters, n_figures)
    values = np.full((n_resamples, n_figures), np.nan)
    without, times = NO_INFLUENCE
    if rests_on.max(initial=0) > 1:
        with one_blas_thread():
            values = sample.values(n_resamples, np.random.default_rng(seed), clusters)
            without, times = sample.values_without(clusters)

    def interval(place: int) -> Interval:
        n = int(rests_on[place])
        reason = reasons[place] if len(reasons) else ""
        if not reason and n < 2:
            reason = f"fewer than two {'clusters' if clustered else 'units'} {few}"
        if reason:
            return Interval(np.nan, np.nan, level, interval_method(are_shared), 0, 0, n if clustered else None, reason)
        influence = centred_influences(without[:, place], times) if len(times) else NO_INFLUENCE
        estimate = float(estimates[place])
        return resampled_interval(values[:, place], estimate, influence, n, clustered, level, None, are_shared)

    return tuple(interval(place) for place in range(n_figures))


def _rests_on(
    sample: SumSample, informs: Callable[[np.ndarray], np.ndarray], clusters: bool, n_figures: int
) -> np.ndarray:
    """How many units or clusters have something to say of each figure, (n_figures,) int."""
    if not len(sample.pattern):
        return np.zeros(n_figures, dtype=int)
    sums, kind = sample.members(clusters)
    return np.broadcast_to(np.bincount(kind, minlength=len(sums)) @ informs(sums), n_figures).astype(int)
