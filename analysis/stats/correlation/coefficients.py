"""Correlation of an automatic score with an ordinal human label: Pearson, Spearman, Kendall's tau-b.

In a bootstrap resample an item only changes its weight (how often it was drawn). Order and ties of the items are
therefore found once, and every resample is a few cumulative sums of weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.stats.resampling.bootstrap import BATCH_NUMBERS, Estimate, divide, draw_weights, influences_of_weights

TOO_FEW = "fewer than three items have both a score and a label"
CONSTANT_SCORE = "the score is the same for every item"
# Up to so many distinct labels a product with a table of indicators is quicker than sorting.
FEW_PARTS = 64
CONSTANT_LABEL = "the label is the same for every item"


@dataclass(frozen=True, eq=False, kw_only=True)
class Correlation(Estimate):
    """`coefficient` is 'pearson', 'spearman' or 'kendall_tau_b'."""

    coefficient: str


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Items that have both a score and a label, sorted by score; ties in the score form groups."""

    score: np.ndarray
    label: np.ndarray
    cluster: np.ndarray | None
    group: np.ndarray = field(init=False)
    level: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.score, kind="stable")
        for name in ("score", "label", "cluster"):
            column = getattr(self, name)
            object.__setattr__(self, name, None if column is None else column[order])
        object.__setattr__(self, "group", np.unique(self.score, return_inverse=True)[1])
        object.__setattr__(self, "level", np.unique(self.label, return_inverse=True)[1])


@dataclass(frozen=True, eq=False)
class WeightSample:
    """Items under a statistic of their weights, ``(batch, n_items)`` to ``(batch,)``."""

    items: ScoredItems
    statistic: Callable[[ScoredItems, np.ndarray], np.ndarray]

    def value(self) -> float:
        return float(self.statistic(self.items, np.ones((1, len(self.items.score))))[0])

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        if clusters and self.items.cluster is not None:
            return len(np.unique(self.items.cluster)), True
        return len(self.items.score), False

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        member = self._members(clusters)
        members = np.arange(int(member.max()) + 1)
        # A statistic holds a few arrays the size of the weights; small batches also stay in the processor's cache.
        work = max(len(member), min(16 * len(member), BATCH_NUMBERS // 16))
        batches = draw_weights(members, len(members), n_resamples, rng, work)
        return np.concatenate([self.statistic(self.items, weights[:, member]) for weights in batches])

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        return influences_of_weights(lambda weights: self.statistic(self.items, weights), self._members(clusters))

    def _members(self, clusters: bool) -> np.ndarray:
        """What is drawn as one, per item: its cluster, or itself."""
        if clusters and self.items.cluster is not None:
            return np.unique(self.items.cluster, return_inverse=True)[1]
        return np.arange(len(self.items.score))


def pearson(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Correlation:
    """Pearson's product-moment correlation of a score with the position of an ordinal label.

    It takes the label's positions as equally spaced; see `spearman` where they are not.

    Parameters
    ----------
    score : (n_items,) float array
        Infinite and missing (nan) scores are left out and counted.
    label : (n_items,) int or float array
        Position of the label on its scale, -1 where there is none; or a second score, nan (or infinite) where there is
        none. Only whole numbers are places: a float below 0 is a value like any other.
    cluster : (n_items,) int array, optional
        Intervals then resample clusters.

    Returns
    -------
    Correlation
        Between -1 and 1. Undefined with fewer than three items, a constant score, or a constant label.

    References
    ----------
    Pearson (1896), Philosophical Transactions A 187, 253-318; doi:10.1098/rsta.1896.0007.

    Examples
    --------
    >>> result = pearson([0.1, 0.4, 0.35, 0.8], [0, 1, 1, 2])
    >>> round(result.estimate, 4), result.n_pairable
    (0.9863, 4)
    """
    return _correlate(score, label, cluster, "pearson", _pearson)


def spearman(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Correlation:
    """Spearman's rank correlation: Pearson's correlation of mean ranks, ties sharing their mean.

    Ranks are taken anew in every resample. Parameters, missing values and undefined cases as in `pearson`.

    Returns
    -------
    Correlation

    References
    ----------
    Spearman (1904), American Journal of Psychology 15(1), 72-101; doi:10.2307/1412159.

    Examples
    --------
    >>> round(spearman([0.1, 0.4, 0.35, 0.8], [0, 1, 1, 2]).estimate, 4)
    0.9487
    """
    return _correlate(score, label, cluster, "spearman", _spearman)


def kendall_tau_b(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Correlation:
    """Kendall's tau-b, ``(C - D) / sqrt((pairs - ties in score) (pairs - ties in label))``.

    C and D count the pairs of items that score and label order alike and unlike. In a resample an item drawn twice
    forms a pair tied on both sides. Work per resample is the number of items times the number of distinct labels.
    Parameters, missing values and undefined cases as in `pearson`.

    Returns
    -------
    Correlation

    References
    ----------
    Kendall (1945), Biometrika 33(3), 239-251; doi:10.1093/biomet/33.3.239.

    Examples
    --------
    >>> round(kendall_tau_b([0.1, 0.4, 0.35, 0.8], [0, 1, 1, 2]).estimate, 4)
    0.9129
    """
    return _correlate(score, label, cluster, "kendall_tau_b", _kendall_tau_b)


def known_items(score, label, **columns) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    """Both columns as floats, where an item has a value in both, and the others counted by reason.

    `columns` are further columns (or None) that must be as long. ValueError for columns that do not fit.
    """
    score, label = np.asarray(score, dtype=float), np.asarray(label)
    if score.ndim != 1 or score.shape != label.shape:
        raise ValueError(f"score and label must be columns of one length, not {score.shape} and {label.shape}")
    for name, column in columns.items():
        if column is not None and len(column) != len(score):
            raise ValueError(f"{name} and score differ in length")
    are_places = label.dtype.kind in "iu"
    label = label.astype(float)
    has_score = np.isfinite(score)
    has_label = label >= 0 if are_places else np.isfinite(label)
    left_out = {
        "no score": int((~has_score & has_label).sum()),
        "no label": int((has_score & ~has_label).sum()),
        "neither score nor label": int((~has_score & ~has_label).sum()),
    }
    return score, label, has_score & has_label, {reason: n for reason, n in left_out.items() if n}


def _correlate(score, label, cluster, coefficient: str, statistic: Callable) -> Correlation:
    score, label, both, left_out = known_items(score, label, cluster=cluster)
    items = ScoredItems(score[both], label[both], None if cluster is None else np.asarray(cluster)[both])
    undefined = why_undefined(items)
    sample = WeightSample(items, statistic)
    return Correlation(
        estimate=np.nan if undefined else sample.value(),
        undefined=undefined,
        n_units=len(score),
        n_pairable=len(items.score),
        n_labels=len(items.score),
        left_out=left_out,
        sample=sample,
        coefficient=coefficient,
    )


def why_undefined(items: ScoredItems) -> str:
    """The reason why these items have no correlation; empty where they have one."""
    if len(items.score) < 3:
        return TOO_FEW
    if items.score[0] == items.score[-1]:
        return CONSTANT_SCORE
    return CONSTANT_LABEL if items.level.max() == 0 else ""


def _pearson(items: ScoredItems, weights: np.ndarray) -> np.ndarray:
    x, y = standardised(items.score), standardised(items.label)
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = (
        weights @ np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    ).T
    return ratio(
        n * sum_xy - sum_x * sum_y,
        np.where(_n_drawn_of(weights, items.group) > 1, n * sum_xx - sum_x**2, 0),
        np.where(_n_drawn_of(weights, items.level) > 1, n * sum_yy - sum_y**2, 0),
    )


def _spearman(items: ScoredItems, weights: np.ndarray) -> np.ndarray:
    """Weighted Pearson correlation of mean ranks, which average to (n + 1) / 2 whatever the ties."""
    group, level = sums_of(weights, items.group), sums_of(weights, items.level)
    rank_x, rank_y = centred_ranks(group), centred_ranks(level)
    # One product of ranks per item would need the ranks spread over items; summing weighted label ranks per score
    # group first needs them once.
    weighted_y = sums_of(weights * rank_y[:, items.level], items.group)
    return ratio(
        (rank_x * weighted_y).sum(axis=1),
        (group * rank_x**2).sum(axis=1),
        (level * rank_y**2).sum(axis=1),
    )


def centred_ranks(weights: np.ndarray) -> np.ndarray:
    """Mean rank of each part less the mean of all ranks, from the parts' weights in the order of their values."""
    return np.cumsum(weights, axis=1) - weights / 2 - weights.sum(axis=1, keepdims=True) / 2


def _kendall_tau_b(items: ScoredItems, weights: np.ndarray) -> np.ndarray:
    return ratio(*kendall_parts(items, weights))


def kendall_parts(items: ScoredItems, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``C - D``, and the pairs of items not tied in the score, and in the label; each (batch,)."""
    group, level = sums_of(weights, items.group), sums_of(weights, items.level)
    balance, below = np.zeros(len(weights)), np.zeros_like(group)
    for position in range(level.shape[1]):
        here = sums_of(weights * (items.level == position), items.group)
        above = group - below - here
        lower_score = np.cumsum(below - above, axis=1)
        balance += (here[:, 1:] * lower_score[:, :-1]).sum(axis=1)
        below = below + here
    n = weights.sum(axis=1)
    return balance, (n**2 - (group**2).sum(axis=1)) / 2, (n**2 - (level**2).sum(axis=1)) / 2


def sums_of(weights: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Sums of weights by part, (batch, n_parts). `part` is sorted (score groups), or else anything (labels)."""
    n_parts = int(part.max()) + 1
    if n_parts == len(part) and part[0] == 0 and part[-1] == n_parts - 1 and (np.diff(part) > 0).all():
        return weights
    if (np.diff(part) >= 0).all():
        return np.add.reduceat(weights, np.flatnonzero(np.diff(part, prepend=-1)), axis=1)
    if n_parts > FEW_PARTS:  # a table of all items by all parts would be as large as the items squared
        order = np.argsort(part, kind="stable")
        return np.add.reduceat(weights[:, order], np.flatnonzero(np.diff(part[order], prepend=-1)), axis=1)
    return weights @ (part[:, None] == np.arange(n_parts)).astype(float)


def _n_drawn_of(weights: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Number of distinct parts that a resample drew from: rounding hides a constant column, counting does not."""
    return (sums_of(weights, part) > 0).sum(axis=1)


def standardised(column: np.ndarray) -> np.ndarray:
    """Centred and scaled, so that sums of squares keep their digits; a correlation does not change."""
    centred = column - column.mean()
    return centred / np.abs(centred).max()


def ratio(covariance: np.ndarray, variance_x: np.ndarray, variance_y: np.ndarray) -> np.ndarray:
    return np.clip(divide(covariance, np.sqrt(np.maximum(variance_x, 0) * np.maximum(variance_y, 0))), -1, 1)


STATISTICS = {"pearson": _pearson, "spearman": _spearman, "kendall_tau_b": _kendall_tau_b}
