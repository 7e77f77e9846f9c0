"""How well a score tells one label from the rest: areas under ROC and precision-recall curves, and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.bootstrap import (
    BATCH_NUMBERS,
    Estimate,
    SumSample,
    divide,
    draw_weights,
    influences_of_weights,
)
from analysis.stats.resampling.intervals import FEW

ONE_SIDE = "all units with a score have the same answer"
NO_PAIR = "no unit has both a score and an answer"
FEW_FOLDS = "fewer than two units or clusters to fold"


@dataclass(frozen=True, eq=False, kw_only=True)
class Areas:
    """`roc_auc`: the chance that a unit of the label scores higher than another, ties counting half;
    `average_precision`: the area under the precision-recall curve by steps. `share` is the share of the label, which is
    what average precision is by chance."""

    roc_auc: Estimate
    average_precision: Estimate
    share: float


@dataclass(frozen=True, eq=False)
class SortedScores:
    """Scores in falling order, under a statistic of hits and misses at each distinct score."""

    truth: np.ndarray
    start: np.ndarray  # first place of each distinct score
    cluster: np.ndarray | None
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def value(self) -> float:
        return float(self._evaluate(np.ones((1, len(self.truth))))[0])

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        if clusters and self.cluster is not None:
            return len(np.unique(self.cluster)), True
        return len(self.truth), False

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        return np.concatenate([self._evaluate(weights) for weights in self.weights(n_resamples, rng, clusters)])

    def weights(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> Iterator[np.ndarray]:
        """How often each unit occurs in each resample, in batches."""
        group = self._members(clusters)
        members = np.arange(int(group.max()) + 1)
        work = max(len(group), min(16 * len(group), BATCH_NUMBERS // 16))
        for weights in draw_weights(members, len(members), n_resamples, rng, work):
            yield weights[:, group]

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        return influences_of_weights(self._evaluate, self._members(clusters))

    def _members(self, clusters: bool) -> np.ndarray:
        """What is drawn as one, per unit: its cluster, or itself."""
        if clusters and self.cluster is not None:
            return np.unique(self.cluster, return_inverse=True)[1]
        return np.arange(len(self.truth))

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        hits = np.add.reduceat(weights * self.truth, self.start, axis=1)
        every = np.add.reduceat(weights, self.start, axis=1)
        return self.statistic(hits, every - hits)


def _auc(hits: np.ndarray, misses: np.ndarray) -> np.ndarray:
    below = misses.sum(axis=1, keepdims=True) - np.cumsum(misses, axis=1)
    return divide((hits * (below + misses / 2)).sum(axis=1), hits.sum(axis=1) * misses.sum(axis=1))


def _average_precision(hits: np.ndarray, misses: np.ndarray) -> np.ndarray:
    true_positives = np.cumsum(hits, axis=1)
    precision = np.nan_to_num(divide(true_positives, true_positives + np.cumsum(misses, axis=1)))
    # Without a single miss there is nothing to distinguish, in a resample as in the data.
    total = np.where(misses.sum(axis=1) > 0, hits.sum(axis=1), 0)
    return divide((hits * precision).sum(axis=1), total)


def areas(score: np.ndarray, truth: np.ndarray, cluster: np.ndarray | None = None) -> Areas:
    """Areas under the ROC curve and the precision-recall curve of one label against the rest.

    Parameters
    ----------
    score : (n_units,) float array
        nan where there is none.
    truth : (n_units,) int array
        1 for the label, 0 for another, -1 for no answer.
    cluster : (n_units,) int array, optional

    Returns
    -------
    Areas
        Undefined where no unit has both, and where all of them are of the label or none is.

    References
    ----------
    Hanley and McNeil (1982), Radiology 143(1), 29-36; doi:10.1148/radiology.143.1.7063747. Davis and Goadrich (2006),
    The relationship between precision-recall and ROC curves, ICML (why not by straight lines).

    Examples
    --------
    >>> result = areas(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    >>> result.roc_auc.estimate, round(result.average_precision.estimate, 4)
    (0.75, 0.8333)
    """
    score, truth, group, common = _usable(score, truth, cluster)
    order = np.argsort(-score, kind="stable")
    start = np.flatnonzero(np.diff(score[order], prepend=np.inf))
    undefined = common.pop("undefined")
    rarer = int(min(truth.sum(), (1 - truth).sum()))
    note = f"only {rarer} units on one side, so the interval may cover less than it says" if 0 < rarer < FEW else ""
    estimates = []
    for statistic in (_auc, _average_precision):
        sample = SortedScores(truth[order].astype(float), start, None if group is None else group[order], statistic)
        estimate = np.nan if undefined else sample.value()
        estimates.append(Estimate(estimate=estimate, undefined=undefined, sample=sample, note=note, **common))
    share = float(truth.mean()) if len(truth) else np.nan
    return Areas(roc_auc=estimates[0], average_precision=estimates[1], share=share)


def _usable(score, truth, cluster) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, dict]:
    score, truth = np.asarray(score, dtype=float), np.asarray(truth)
    if score.shape != truth.shape or score.ndim != 1 or (cluster is not None and len(cluster) != len(score)):
        raise ValueError("score, truth and cluster must be columns of one length")
    if not np.isin(truth, (-1, 0, 1)).all():
        raise ValueError("truth is 1, 0, or -1 for no answer")
    both = np.isfinite(score) & (truth >= 0)
    kept = truth[both]
    reasons = {"no answer": int((truth < 0).sum()), "no score": int((~np.isfinite(score) & (truth >= 0)).sum())}
    return (
        score[both],
        kept,
        None if cluster is None else np.asarray(cluster)[both],
        {
            "undefined": NO_PAIR if not len(kept) else ONE_SIDE if kept.min() == kept.max() else "",
            "n_units": len(truth),
            "n_pairable": len(kept),
            "n_labels": len(kept),
            "left_out": {reason: n for reason, n in reasons.items() if n},
        },
    )


@dataclass(frozen=True)
class Threshold:
    """Everything with a score of at least `threshold` taken for the label. Precision is nan where that is nothing."""

    threshold: float
    n_taken: int
    precision: float
    recall: float
    f1: float
    accuracy: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdSweep:
    """`rows` are of all units; `f1` and `accuracy` out of fold: each unit judged by a threshold that was chosen without
    it (nor its cluster). `chosen` are the folds' thresholds."""

    rows: tuple[Threshold, ...]
    f1: Estimate
    accuracy: Estimate
    chosen: tuple[float, ...]


def threshold_sweep(
    score: np.ndarray,
    truth: np.ndarray,
    cluster: np.ndarray | None = None,
    thresholds: np.ndarray | None = None,
    n_folds: int = 5,
    seed: int = 0,
) -> ThresholdSweep:
    """Figures at every threshold, and what the best one would have given on units that it was not chosen on.

    A threshold chosen and judged on the same units looks better than it is. Units (or whole clusters) are dealt into
    `n_folds`; for each fold the threshold with the greatest F1 on the others is taken, the lowest of equal ones, and
    applied to it. The folds are pooled before F1 and accuracy are computed.

    Parameters
    ----------
    score, truth, cluster
        As in `areas`.
    thresholds : (m,) float array, optional
        By default 0.05, 0.1, ... 0.95.

    Returns
    -------
    ThresholdSweep
        Undefined as in `areas`, and with fewer than two units or clusters. Intervals resample the pooled judgements;
        that other folds would choose other thresholds is not in them.

    References
    ----------
    Lipton, Elkan and Naryanaswamy (2014), Optimal thresholding of classifiers to maximize F1 measure, ECML PKDD;
    doi:10.1007/978-3-662-44851-9_15.
    """
    score, truth, group, common = _usable(score, truth, cluster)
    grid = np.round(np.arange(0.05, 0.96, 0.05), 2) if thresholds is None else np.asarray(thresholds, dtype=float)
    is_selected = score[:, None] >= grid[None, :]
    is_label = truth == 1
    rows = tuple(_at(float(threshold), is_selected[:, place], is_label) for place, threshold in enumerate(grid))
    members = np.arange(len(truth)) if group is None else np.unique(group, return_inverse=True)[1]
    n_members = int(members.max(initial=-1)) + 1
    undefined = common.pop("undefined") or (FEW_FOLDS if n_members < 2 else "")
    predicted = np.zeros(len(truth), dtype=bool)
    chosen = []
    if not undefined:
        folds = min(n_folds, n_members)
        fold = (np.random.default_rng(seed).permutation(n_members) % folds)[members]
        for number in range(folds):
            rest = fold != number
            best = int(
                np.argmax(np.round([_f1(is_selected[rest, place], is_label[rest]) for place in range(len(grid))], 12))
            )
            chosen.append(float(grid[best]))
            predicted[~rest] = is_selected[~rest, best]
    outcomes = (predicted & is_label, predicted & ~is_label, ~predicted & is_label, ~predicted & ~is_label)
    cells = np.column_stack(outcomes).astype(float)
    distinct, index = np.unique(cells, axis=0, return_inverse=True)

    def estimate(statistic) -> Estimate:
        sample = SumSample(distinct, index, group, statistic)
        return Estimate(estimate=np.nan if undefined else sample.value(), undefined=undefined, sample=sample, **common)

    return ThresholdSweep(
        rows=rows,
        f1=estimate(lambda sums: divide(2 * sums[:, 0], 2 * sums[:, 0] + sums[:, 1] + sums[:, 2])),
        accuracy=estimate(lambda sums: divide(sums[:, 0] + sums[:, 3], sums.sum(axis=1))),
        chosen=tuple(chosen),
    )


def _f1(is_selected: np.ndarray, is_label: np.ndarray) -> float:
    hits, either = (is_selected & is_label).sum(), is_selected.sum() + is_label.sum()
    return float(2 * hits / either) if either else 0.0


def _at(threshold: float, is_selected: np.ndarray, is_label: np.ndarray) -> Threshold:
    hits, n_taken, n_label = int((is_selected & is_label).sum()), int(is_selected.sum()), int(is_label.sum())
    return Threshold(
        threshold=threshold,
        n_taken=n_taken,
        precision=hits / n_taken if n_taken else np.nan,
        recall=hits / n_label if n_label else np.nan,
        f1=2 * hits / (n_taken + n_label) if n_taken + n_label else np.nan,
        accuracy=float((is_selected == is_label).mean()) if len(is_selected) else np.nan,
    )
