"""Correlation where items come in strata (sources, models, questions): in each, their mean, and within all of them.

Items of all strata taken together can correlate because the strata differ (one source has higher scores and other
labels), or seem not to although they do in every stratum. The two figures here leave the differences out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.correlation.coefficients import (
    STATISTICS,
    TOO_FEW,
    Correlation,
    ScoredItems,
    WeightSample,
    centred_ranks,
    kendall_parts,
    known_items,
    ratio,
    standardised,
    sums_of,
    why_undefined,
)
from analysis.stats.resampling.bootstrap import Estimate

NO_STRATUM = "the correlation is undefined in every stratum"
SAME_SCORE_WITHIN = "the score is the same for all items of each stratum"
SAME_LABEL_WITHIN = "the label is the same for all items of each stratum"
# Sums of squares below this share of their number are rounding.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class StratifiedCorrelation:
    """One coefficient over strata.

    Attributes
    ----------
    coefficient : str
        'pearson', 'spearman' or 'kendall_tau_b'.
    strata : tuple of (hashable, Correlation)
        In each stratum alone, by the order of first appearance.
    mean : Estimate
        Unweighted mean over the strata where it is defined; `n_strata` are they, and `left_out` counts the items of the
        others.
    within : Correlation
        Over all items, with what differs between strata taken out.
    n_strata : int
    """

    coefficient: str
    strata: tuple[tuple[Hashable, Correlation], ...]
    mean: Estimate
    within: Correlation
    n_strata: int


@dataclass(frozen=True, eq=False)
class Strata:
    """Items of all strata, sorted by stratum. `parts` has the places of each stratum's items and the items."""

    score: np.ndarray
    label: np.ndarray
    stratum: np.ndarray
    cluster: np.ndarray | None
    parts: tuple[tuple[np.ndarray, ScoredItems], ...]

    @classmethod
    def sorted(
        cls, score: np.ndarray, label: np.ndarray, stratum: np.ndarray, cluster: np.ndarray | None = None
    ) -> Strata:
        order = np.argsort(stratum, kind="stable")
        score, label, stratum = score[order], label[order], stratum[order]
        starts = np.flatnonzero(np.diff(stratum, prepend=-1))
        parts = []
        for start, size in zip(starts, np.diff(starts, append=len(stratum)), strict=True):
            place = start + np.argsort(score[start : start + size], kind="stable")
            parts.append((place, ScoredItems(score[place], label[place], None)))
        return cls(score, label, stratum, None if cluster is None else cluster[order], tuple(parts))


def stratified_correlation(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    stratum: Sequence[Hashable] | np.ndarray,
    coefficient: str = "spearman",
    cluster: Sequence[Hashable] | np.ndarray | None = None,
) -> StratifiedCorrelation:
    """Correlation of a score with a label in each stratum, their unweighted mean, and within strata.

    `within` is the partial correlation given the stratum. For Pearson every column's mean in the stratum is taken from
    it; for Spearman the same is done to the ranks among all items (the partial rank correlation, the strata being the
    variables held fixed); for Kendall's tau-b only pairs of items of one stratum are counted. With one stratum each of
    them is the plain coefficient.

    Parameters
    ----------
    score, label : (n_items,) arrays
        As in `pearson`; items without both are left out and counted.
    stratum : (n_items,) sequence
        Whose items are compared with each other only.
    coefficient : {'pearson', 'spearman', 'kendall_tau_b'}
    cluster : (n_items,) sequence, optional
        Intervals then resample clusters, over all strata at once; otherwise items. A resample in which a stratum has no
        correlation leaves it out of that mean.

    Returns
    -------
    StratifiedCorrelation
        A stratum is undefined as in `pearson`. `mean` is undefined where every stratum is; `within` where no stratum
        has two scores, or none has two labels.

    References
    ----------
    Pearson and Spearman: partial correlation with indicators of the strata as covariates. Kendall: Quade (1974), in
    Blalock (ed.), Measurement in the Social Sciences, 369-398 (only pairs matched on the third variable count), with
    the ties of tau-b.

    Examples
    --------
    In both sources the score falls as the label rises; taken together it seems to rise.

    >>> result = stratified_correlation([3, 2, 1, 9, 8, 7], [0, 1, 2, 5, 6, 7], "aaabbb", "pearson")
    >>> round(result.mean.estimate, 4), round(result.within.estimate, 4), result.n_strata
    (-1.0, -1.0, 2)
    """
    if coefficient not in STATISTICS:
        raise ValueError(f"coefficient must be one of {', '.join(STATISTICS)}, not {coefficient!r}")
    n_items = len(score)
    score, label, both, left_out = known_items(score, label, stratum=stratum, cluster=cluster)
    names, codes = numbered(stratum)
    drawn_from = None if cluster is None else numbered(cluster)[1]
    strata = Strata.sorted(score[both], label[both], codes[both], None if drawn_from is None else drawn_from[both])
    order = np.argsort(codes, kind="stable")
    places = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if names else []
    each = [
        (name, _one(score, label, place[both[place]], len(place), drawn_from, coefficient))
        for name, place in zip(names, places, strict=True)
    ]
    n_defined = sum(not one.undefined for _, one in each)
    outside = sum(one.n_pairable for _, one in each if one.undefined)
    mean = WeightSample(strata, _mean_over_strata(coefficient))
    within = WeightSample(strata, WITHIN[coefficient])
    why = _why_undefined_within(strata)
    return StratifiedCorrelation(
        coefficient=coefficient,
        strata=tuple(each),
        mean=Estimate(
            estimate=mean.value() if n_defined else np.nan,
            undefined="" if n_defined else NO_STRATUM,
            n_units=n_items,
            n_pairable=len(strata.score) - outside,
            n_labels=len(strata.score) - outside,
            left_out=left_out | ({"in strata without a correlation": outside} if outside else {}),
            sample=mean,
        ),
        within=Correlation(
            estimate=np.nan if why else within.value(),
            undefined=why,
            n_units=n_items,
            n_pairable=len(strata.score),
            n_labels=len(strata.score),
            left_out=left_out,
            sample=within,
            coefficient=coefficient,
        ),
        n_strata=n_defined,
    )


def numbered(names: Sequence[Hashable] | np.ndarray) -> tuple[list[Hashable], np.ndarray]:
    """The distinct names in the order of their first appearance, and the number of each of `names`, (n,)."""
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    return list(numbers), codes


def _one(score, label, place, n_items: int, cluster, coefficient: str) -> Correlation:
    """The coefficient over the items of one stratum, `n_items` in all, those at `place` with a score and a label."""
    items = ScoredItems(score[place], label[place], None if cluster is None else cluster[place])
    undefined = why_undefined(items)
    sample = WeightSample(items, STATISTICS[coefficient])
    left_out = n_items - len(place)
    return Correlation(
        estimate=np.nan if undefined else sample.value(),
        undefined=undefined,
        n_units=n_items,
        n_pairable=len(place),
        n_labels=len(place),
        left_out={"without both score and label": left_out} if left_out else {},
        sample=sample,
        coefficient=coefficient,
    )


def _why_undefined_within(strata: Strata) -> str:
    if len(strata.score) < 3:
        return TOO_FEW
    if all(np.ptp(items.score) == 0 for _, items in strata.parts):
        return SAME_SCORE_WITHIN
    return SAME_LABEL_WITHIN if all(items.level.max() == 0 for _, items in strata.parts) else ""


def _mean_over_strata(coefficient: str):
    statistic = STATISTICS[coefficient]

    def mean(strata: Strata, weights: np.ndarray) -> np.ndarray:
        total, n_defined = np.zeros(len(weights)), np.zeros(len(weights))
        for place, items in strata.parts:
            if why_undefined(items):
                continue
            value = statistic(items, weights[:, place])
            total += np.nan_to_num(value)
            n_defined += ~np.isnan(value)
        return np.divide(total, n_defined, out=np.full(len(weights), np.nan), where=n_defined > 0)

    return mean


def _pearson_within(strata: Strata, weights: np.ndarray) -> np.ndarray:
    return _partial(strata.stratum, weights, standardised(strata.score), standardised(strata.label))


def _spearman_within(strata: Strata, weights: np.ndarray) -> np.ndarray:
    ranks = []
    for column in (strata.score, strata.label):
        part = np.unique(column, return_inverse=True)[1]
        ranks.append(centred_ranks(sums_of(weights, part))[:, part] / len(part))
    return _partial(strata.stratum, weights, *ranks)


def _partial(stratum: np.ndarray, weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted correlation of x and y less their means in the stratum. x and y are (n,) or (batch, n), at most 1."""
    n = sums_of(weights, stratum)
    sum_x, sum_y = sums_of(weights * x, stratum), sums_of(weights * y, stratum)
    share = np.divide(1, n, out=np.zeros_like(n), where=n > 0)
    parts = [
        ((weights * first * second).sum(axis=1) - (sum_first * sum_second * share).sum(axis=1))
        for first, second, sum_first, sum_second in ((x, y, sum_x, sum_y), (x, x, sum_x, sum_x), (y, y, sum_y, sum_y))
    ]
    floor = ROUNDING * weights.sum(axis=1)
    covariance, variance_x, variance_y = parts
    return ratio(covariance, *(np.where(v > floor, v, 0) for v in (variance_x, variance_y)))


def _kendall_within(strata: Strata, weights: np.ndarray) -> np.ndarray:
    parts = [kendall_parts(items, weights[:, place]) for place, items in strata.parts]
    return ratio(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))


WITHIN = {"pearson": _pearson_within, "spearman": _spearman_within, "kendall_tau_b": _kendall_within}
