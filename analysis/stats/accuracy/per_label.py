"""Intervals for precision, recall and F1 of every label, all from the same resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.accuracy.confusion import Classification, f1_of
from analysis.stats.resampling.bootstrap import SumSample, divide
from analysis.stats.resampling.intervals import Interval
from analysis.stats.resampling.joint import joint_intervals

FIGURES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class LabelIntervals:
    """Intervals of one label's `LabelFigures`."""

    label: str
    precision: Interval
    recall: Interval
    f1: Interval


def label_intervals(
    result: Classification, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
) -> tuple[LabelIntervals, ...]:
    """Bootstrap intervals of ``result.labels``.

    Units (or clusters, where `result` has them) are drawn from all that enter, so how many have a label varies as it
    would in new data; a resample without any leaves the figure out. The resamples are those of `result`'s macro-F1.
    Intervals are expanded BCa (see `resampled_interval`), by the number of units or clusters that the figure rests on:
    those with the label predicted (precision), in the reference (recall), or on either side (F1).

    Parameters
    ----------
    result : Classification
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
    >>> result = classification([0, 0, 0, 1, 1, 1] * 20, [0, 0, 1, 1, 1, 0] * 20, ["no", "yes"])
    >>> no, yes = label_intervals(result)
    >>> round(result.labels[0].recall, 3), round(no.recall.low, 2), round(no.recall.high, 2)
    (0.667, 0.52, 0.78)
    """
    names = [(row, name) for name in FIGURES for row in result.labels]
    intervals = joint_intervals(
        label_sample(result),
        [getattr(row, name) for row, name in names],
        _has_label,
        reasons=[row.undefined.get(name, "") for row, name in names],
        few="have the label",
        n_resamples=n_resamples,
        level=level,
        seed=seed,
        clusters=clusters,
    )
    k = len(result.categories)
    return tuple(LabelIntervals(label, *intervals[place::k]) for place, label in enumerate(result.categories))


def label_sample(result: Classification) -> SumSample:
    """`result`'s units under precision of every label, recall of every label and F1 of every label: values are
    (n_resamples, 3 n_categories)."""
    work = len(FIGURES) * len(result.categories)
    return replace(result.accuracy.sample, statistic=_figures, work_per_row=work)


def _figures(sums: np.ndarray) -> np.ndarray:
    hits, support, predicted = np.split(sums, 3, axis=1)
    return np.hstack([divide(hits, predicted), divide(hits, support), f1_of(hits, support, predicted)])


def _has_label(sums: np.ndarray) -> np.ndarray:
    """Whether units or clusters of these sums have something to say of each figure."""
    _, support, predicted = np.split(sums, 3, axis=1)
    return np.hstack([predicted, support, support + predicted]) > 0
