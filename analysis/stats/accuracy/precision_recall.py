"""How well one label is found: precision, recall and F1 of a label against the rest, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_PAIR = "no unit has both a reference and a prediction"
NEVER_PREDICTED = "the label is never predicted (0/0)"
NEVER_TRUE = "no reference has the label (0/0)"
NEVER_EITHER = "neither side has the label (0/0)"


@dataclass(frozen=True, eq=False)
class Detection:
    """Figures of one label, and the four counts that they come from."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    accuracy: Estimate
    n_hits: int
    n_false: int
    n_missed: int
    n_rest: int


def detection(
    reference: Sequence[int] | np.ndarray,
    predicted: Sequence[int] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Detection:
    """Find one label: ``precision = h / (h + f)``, ``recall = h / (h + m)``, ``F1 = 2 h / (2 h + f + m)`` with h hits,
    f false ones and m missed ones; accuracy is the share of equal answers.

    Parameters
    ----------
    reference, predicted : (n_units,) int arrays
        1 for the label, 0 for another, -1 for none; units without both are left out and counted.
    cluster : (n_units,) int array, optional
        Intervals then resample clusters.

    Returns
    -------
    Detection
        A figure is undefined where its denominator is 0.

    Raises
    ------
    ValueError
        Other codes, or columns of different lengths.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7.

    Examples
    --------
    >>> result = detection([1, 1, 0, 0, -1], [1, 0, 1, 0, 1])
    >>> result.f1.estimate, result.accuracy.estimate, result.f1.left_out
    (0.5, 0.5, {'no reference': 1})
    """
    reference = code_column(reference, 2, "reference")
    predicted = code_column(predicted, 2, "predicted")
    if len(reference) != len(predicted) or (cluster is not None and len(cluster) != len(reference)):
        raise ValueError("reference, predicted and cluster must be columns of one length")
    both = (reference >= 0) & (predicted >= 0)
    reasons = {
        "no reference": int(((reference < 0) & (predicted >= 0)).sum()),
        "no prediction": int(((reference >= 0) & (predicted < 0)).sum()),
        "neither reference nor prediction": int(((reference < 0) & (predicted < 0)).sum()),
    }
    # Patterns 0 to 3: rest, false, missed, hit.
    pattern = (2 * reference[both] + predicted[both]).astype(np.int64)
    rest, false, missed, hits = np.bincount(pattern, minlength=4).tolist()
    drawn_from = None if cluster is None else np.asarray(cluster)[both]

    def estimate(undefined: str, statistic) -> Estimate:
        sample = SumSample(np.eye(4), pattern, drawn_from, statistic)
        value = sample.value()
        return Estimate(
            estimate=value,
            undefined="" if np.isfinite(value) else undefined if len(pattern) else NO_PAIR,
            n_units=len(reference),
            n_pairable=len(pattern),
            n_labels=2 * len(pattern),
            left_out={reason: n for reason, n in reasons.items() if n},
            sample=sample,
        )

    return Detection(
        precision=estimate(NEVER_PREDICTED, lambda sums: divide(sums[:, 3], sums[:, 3] + sums[:, 1])),
        recall=estimate(NEVER_TRUE, lambda sums: divide(sums[:, 3], sums[:, 3] + sums[:, 2])),
        f1=estimate(NEVER_EITHER, lambda sums: divide(2 * sums[:, 3], 2 * sums[:, 3] + sums[:, 1] + sums[:, 2])),
        accuracy=estimate(NO_PAIR, lambda sums: divide(sums[:, 0] + sums[:, 3], sums.sum(axis=1))),
        n_hits=hits,
        n_false=false,
        n_missed=missed,
        n_rest=rest,
    )
