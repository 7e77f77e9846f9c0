"""Intervals for precision, recall and F1 of every label, all from the same resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .bootstrap import NO_INFLUENCE, SumSample, centred_influences, divide, one_blas_thread
from .confusion import Classification, f1_of
from .intervals import Interval, interval_method, resampled_interval

FIGURES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class LabelIntervals:
    """Intervals of one label's `LabelFigures`."""

    label: str
    precision: Interval
    recall: Interval
    f1: Interval


def label_intervals(
    found: Classification, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
) -> tuple[LabelIntervals, ...]:
    """Bootstrap intervals of ``found.labels``.

    Units (or clusters, where `found` has them) are drawn from all that enter, so how many have a label varies as it
    would in new data; a resample without any leaves the figure out. The resamples are those of `found`'s macro-F1.
    Intervals are expanded BCa (see `resampled_interval`), by the number of units or clusters that the figure rests on:
    those with the label predicted (precision), in the reference (recall), or on either side (F1).

    Parameters
    ----------
    found : Classification
    n_resamples, level, seed : int, float, int
    clusters : bool
        Draw whole clusters where there are any; otherwise single units.

    Returns
    -------
    tuple of LabelIntervals
        One per category. Undefined where the figure is, where it rests on fewer than two units or clusters, and where
        every resample gives the same.

    Examples
    --------
    >>> from analysis.stats import classification
    >>> found = classification([0, 0, 0, 1, 1, 1] * 20, [0, 0, 1, 1, 1, 0] * 20, ["no", "yes"])
    >>> no, yes = label_intervals(found)
    >>> round(found.labels[0].recall, 3), round(no.recall.low, 2), round(no.recall.high, 2)
    (0.667, 0.52, 0.78)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, not {n_resamples}")
    sample, k = label_sample(found), len(found.categories)
    clustered = clusters and sample.cluster is not None
    rests_on = _rests_on(sample, clusters, k)
    values = np.full((n_resamples, len(FIGURES) * k), np.nan)
    without, times = NO_INFLUENCE
    if rests_on.max(initial=0) > 1:
        with one_blas_thread():
            values = sample.values(n_resamples, np.random.default_rng(seed), clusters)
            without, times = sample.values_without(clusters)

    def interval(figure: int, place: int) -> Interval:
        row, name, column = found.labels[place], FIGURES[figure], figure * k + place
        n = int(rests_on[column])
        if reason := row.undefined.get(name) or (_too_few(clustered) if n < 2 else ""):
            return Interval(np.nan, np.nan, level, interval_method(clustered), 0, 0, n if clustered else None, reason)
        influence = centred_influences(without[:, column], times) if len(times) else NO_INFLUENCE
        return resampled_interval(values[:, column], getattr(row, name), influence, n, clustered, level)

    return tuple(
        LabelIntervals(label, *(interval(figure, place) for figure in range(len(FIGURES))))
        for place, label in enumerate(found.categories)
    )


def label_sample(found: Classification) -> SumSample:
    """`found`'s units under precision of every label, recall of every label and F1 of every label: values are
    (n_resamples, 3 n_categories)."""
    work = len(FIGURES) * len(found.categories)
    return replace(found.accuracy.sample, statistic=_figures, work_per_row=work)


def _figures(sums: np.ndarray) -> np.ndarray:
    hits, support, predicted = np.split(sums, 3, axis=1)
    return np.hstack([divide(hits, predicted), divide(hits, support), f1_of(hits, support, predicted)])


def _rests_on(sample: SumSample, clusters: bool, k: int) -> np.ndarray:
    """How many units or clusters have something to say of each figure, (3 k,) int."""
    if not len(sample.pattern):
        return np.zeros(len(FIGURES) * k, dtype=int)
    sums, kind = sample.members(clusters)
    _, support, predicted = np.split(sums, 3, axis=1)
    has = np.hstack([predicted, support, support + predicted]) > 0
    return np.bincount(kind, minlength=len(sums)) @ has


def _too_few(clustered: bool) -> str:
    return f"fewer than two {'clusters' if clustered else 'units'} have the label"
