"""An automatic labeller against a reference: accuracy, macro-F1, per-label figures and the confusion table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_PAIR = "no unit has both a reference and a prediction"
NEVER_PREDICTED = "the label is never predicted (0/0)"
NOT_IN_REFERENCE = "the label does not occur in the reference (0/0)"
ON_NO_SIDE = "the label is on neither side (0/0)"
ONE_LABEL = "the reference or the predictions have one label only (0/0)"
# Below so many units of a label its recall is hardly known, and with it any mean of recalls.
FEW_OF_A_LABEL = 10
RARE_LABEL = (
    f"a label of the reference has fewer than {FEW_OF_A_LABEL} units, so the interval may cover less than it says"
)


@dataclass(frozen=True)
class LabelFigures:
    """One label against the rest; nan where undefined.

    `precision` is undefined for a label never predicted, `recall` for one without support, `f1` for one absent from
    both sides; `undefined` has the reason of each that is. `support` counts references, `predicted` predictions,
    `either` units with the label on at least one side: what recall, precision and F1 rest on.
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    either: int
    undefined: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Classification:
    """Figures of one comparison.

    Attributes
    ----------
    accuracy, macro_f1, balanced_accuracy, mcc : Estimate
        Each with its own interval.
    labels : tuple of LabelFigures
        One per category, in order.
    confusion : (n_categories, n_categories) int array
        Rows are the reference, columns the prediction.
    categories : tuple of str
    """

    accuracy: Estimate
    macro_f1: Estimate
    balanced_accuracy: Estimate
    mcc: Estimate
    labels: tuple[LabelFigures, ...]
    confusion: np.ndarray
    categories: tuple[str, ...]


def classification(
    reference: Sequence[int] | np.ndarray,
    predicted: Sequence[int] | np.ndarray,
    categories: Sequence[str],
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Classification:
    """Compare predicted labels with reference labels.

    Accuracy is the share of equal labels. Per label ``F1 = 2 tp / (2 tp + fp + fn)``. Macro-F1 is the unweighted mean
    of F1 over the labels that occur in the reference or the predictions: a label on one side only counts with F1 = 0, a
    label on neither side (0/0) is left out of the mean. In every bootstrap resample the same rule holds. Balanced
    accuracy is the mean recall over the labels that occur in the reference. Matthews correlation coefficient is the
    form for any number of labels, ``(c s - sum_k p_k t_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2))`` with c
    equal labels of s, and p_k predictions and t_k references of label k.

    Parameters
    ----------
    reference, predicted : (n_units,) int arrays
        Codes into `categories`, -1 for none (see `encode`); units without both are left out and counted.
    categories : sequence of str
    cluster : (n_units,) int array, optional
        Intervals then resample clusters.

    Returns
    -------
    Classification
        All undefined where no unit has both labels; Matthews's coefficient also where either side has one label only.

    References
    ----------
    Sokolova and Lapalme (2009), Information Processing and Management 45(4), table 3 (per-label figures);
    doi:10.1016/j.ipm.2009.03.002. The mean of F1 scores, not the F1 of mean precision and recall: Opitz and Burst
    (2019), arXiv:1911.03347. Matthews's coefficient: Gorodkin (2004), Computational Biology and Chemistry 28(5-6),
    367-374; doi:10.1016/j.compbiolchem.2004.09.006.

    Examples
    --------
    >>> result = classification([0, 0, 1, 1, -1], [0, 1, 1, 1, 0], ["no", "yes", "other"])
    >>> result.accuracy.estimate, round(result.macro_f1.estimate, 4), result.accuracy.left_out
    (0.75, 0.7333, {'no reference': 1})
    """
    categories = tuple(categories)
    k = len(categories)
    reference = code_column(reference, k, "reference")
    predicted = code_column(predicted, k, "predicted")
    if len(reference) != len(predicted):
        raise ValueError("reference and predicted differ in length")
    if cluster is not None and len(cluster) != len(reference):
        raise ValueError("cluster and reference differ in length")
    both = (reference >= 0) & (predicted >= 0)
    left_out = {
        "no reference": int(((reference < 0) & (predicted >= 0)).sum()),
        "no prediction": int(((reference >= 0) & (predicted < 0)).sum()),
        "neither reference nor prediction": int(((reference < 0) & (predicted < 0)).sum()),
    }
    cell, pattern = np.unique(reference[both].astype(np.int64) * k + predicted[both], return_inverse=True)
    features = confusion_features(*np.divmod(cell, k), k)
    confusion = np.zeros((k, k), dtype=np.int64)
    confusion.flat[cell] = np.bincount(pattern)
    drawn_from = None if cluster is None else np.asarray(cluster)[both]

    support = confusion.sum(axis=1)
    rare = RARE_LABEL if ((support > 0) & (support < FEW_OF_A_LABEL)).any() else ""

    def estimate_of(statistic: Callable[[np.ndarray], np.ndarray], note: str = "") -> Estimate:
        sample = SumSample(features, pattern, drawn_from, statistic)
        return Estimate(
            estimate=sample.value(),
            undefined=NO_PAIR if not len(pattern) else ONE_LABEL if np.isnan(sample.value()) else "",
            n_units=len(reference),
            n_pairable=len(pattern),
            n_labels=2 * len(pattern),
            left_out={reason: n for reason, n in left_out.items() if n},
            sample=sample,
            note=note,
        )

    return Classification(
        accuracy=estimate_of(accuracy_of),
        macro_f1=estimate_of(macro_f1_of, rare),
        balanced_accuracy=estimate_of(balanced_accuracy_of, rare),
        mcc=estimate_of(mcc_of),
        labels=_per_label(confusion, categories),
        confusion=confusion,
        categories=categories,
    )


def confusion_features(reference: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    """Per confusion cell: the hit, the reference and the prediction as indicator columns of the labels."""
    one_of = np.eye(k)
    return np.column_stack([one_of[reference] * one_of[predicted], one_of[reference], one_of[predicted]])


def accuracy_of(sums: np.ndarray) -> np.ndarray:
    hits, support, _ = np.split(sums, 3, axis=1)
    return divide(hits.sum(axis=1), support.sum(axis=1))


def macro_f1_of(sums: np.ndarray) -> np.ndarray:
    f1 = f1_of(*np.split(sums, 3, axis=1))
    present = ~np.isnan(f1)
    return divide(np.where(present, f1, 0).sum(axis=1), present.sum(axis=1))


def balanced_accuracy_of(sums: np.ndarray) -> np.ndarray:
    hits, support, _ = np.split(sums, 3, axis=1)
    recall = divide(hits, support)
    present = ~np.isnan(recall)
    return divide(np.where(present, recall, 0).sum(axis=1), present.sum(axis=1))


def mcc_of(sums: np.ndarray) -> np.ndarray:
    hits, support, predicted = np.split(sums, 3, axis=1)
    n = support.sum(axis=1)
    together = hits.sum(axis=1) * n - (support * predicted).sum(axis=1)
    spread = (n**2 - (predicted**2).sum(axis=1)) * (n**2 - (support**2).sum(axis=1))
    return divide(together, np.sqrt(spread))


def f1_of(hits: np.ndarray, support: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """F1 of every label, nan for one that is on neither side."""
    return divide(2 * hits, support + predicted)


def _per_label(confusion: np.ndarray, categories: tuple[str, ...]) -> tuple[LabelFigures, ...]:
    hits, support, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    table = np.column_stack([divide(hits, predicted), divide(hits, support), f1_of(hits, support, predicted)])
    reasons = {"precision": NEVER_PREDICTED, "recall": NOT_IN_REFERENCE, "f1": ON_NO_SIDE}
    return tuple(
        LabelFigures(
            label,
            **dict(zip(reasons, figures, strict=True)),
            support=int(support[place]),
            predicted=int(predicted[place]),
            either=int(support[place] + predicted[place] - hits[place]),
            undefined={
                name: reason if confusion.any() else NO_PAIR
                for (name, reason), value in zip(reasons.items(), figures, strict=True)
                if np.isnan(value)
            },
        )
        for place, (label, figures) in enumerate(zip(categories, table.tolist(), strict=True))
    )
