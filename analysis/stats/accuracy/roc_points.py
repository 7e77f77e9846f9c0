"""The ROC and the precision-recall curve of a score, point by point, for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class CurvePoints:
    """One entry per distinct score, the highest first: what taking everything with at least that score gives.

    `recall` (the true positive rate) over `false_positive_rate` is the ROC curve, which begins at (0, 0); `precision`
    over `recall` is the precision-recall curve, to be drawn by steps. Empty where `undefined` gives a reason.
    """

    threshold: np.ndarray
    false_positive_rate: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    n: int
    n_label: int
    undefined: str = ""

    def thinned(self, at_most: int) -> CurvePoints:
        """At most so many points (2 or more), spread evenly along both curves, the ends among them."""
        if at_most < 2:
            raise ValueError("a curve has at least its two ends")
        if len(self.threshold) <= at_most:
            return self
        columns = (self.false_positive_rate, self.recall, self.precision)
        way = np.concatenate([[0.0], np.cumsum(sum(np.abs(np.diff(column)) for column in columns))])
        kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], at_most)).clip(max=len(way) - 1))
        return CurvePoints(
            threshold=self.threshold[kept],
            false_positive_rate=self.false_positive_rate[kept],
            recall=self.recall[kept],
            precision=self.precision[kept],
            n=self.n,
            n_label=self.n_label,
        )


def curve_points(score: Sequence[float] | np.ndarray, truth: Sequence[int] | np.ndarray) -> CurvePoints:
    """Both curves of one label against the rest; `areas` gives the areas under them, with intervals.

    Equal scores are taken together, so the curves do not depend on the order of units.

    Parameters
    ----------
    score : (n_units,) float array
        nan where there is none; such units are left out.
    truth : (n_units,) int array
        1 for the label, 0 for another, -1 for no answer.

    Returns
    -------
    CurvePoints
        Undefined where no unit has both, and where all of them are of the label or none is.

    Raises
    ------
    ValueError
        Columns of different lengths; another truth than 1, 0 and -1.

    References
    ----------
    Fawcett (2006), An introduction to ROC analysis, algorithm 1; doi:10.1016/j.patrec.2005.10.010. Davis and Goadrich
    (2006), The relationship between precision-recall and ROC curves, ICML.

    Examples
    --------
    >>> result = curve_points([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> result.false_positive_rate.tolist(), result.recall.tolist()
    ([0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0, 1.0])
    """
    score, truth = np.asarray(score, dtype=float), np.asarray(truth)
    if score.shape != truth.shape or score.ndim != 1:
        raise ValueError("score and truth must be columns of one length")
    if not np.isin(truth, (-1, 0, 1)).all():
        raise ValueError("truth is 1, 0, or -1 for no answer")
    both = np.isfinite(score) & (truth >= 0)
    score, is_label = score[both], truth[both] == 1
    n, n_label = len(score), int(is_label.sum())
    if not 0 < n_label < n:
        reason = "all units with a score have the same answer" if n else "no unit has both a score and an answer"
        none = np.zeros(0)
        return CurvePoints(
            threshold=none,
            false_positive_rate=none,
            recall=none,
            precision=none,
            n=n,
            n_label=n_label,
            undefined=reason,
        )
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), n - 1)  # the last unit of each distinct score
    hits, n_selected = np.cumsum(is_label[order])[last], last + 1
    return CurvePoints(
        threshold=score[order][last],
        false_positive_rate=(n_selected - hits) / (n - n_label),
        recall=hits / n_label,
        precision=hits / n_selected,
        n=n,
        n_label=n_label,
    )
