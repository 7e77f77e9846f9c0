"""Cohen's kappa of two raters, plain and weighted, and of every pair of raters who share units."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from analysis.stats.agreement.linearisation import symmetric_interval
from analysis.stats.agreement.percent import RATIO, PercentAgreement, ratio_of_sums
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate, Interval, SumSample, divide

NO_SHARED = "the two raters share no unit"
FLEISS_COHEN_EVERITT = "large sample, normal distribution (Fleiss, Cohen and Everitt 1969)"
# With agreement weights of these kinds, two raters never differ more than twice as much as by chance: by the triangle
# inequality with an independent copy of either, and for squares since kappa is 2 cov / (var + var + difference^2).
LEAST_KAPPA = -1.0
ONE_VALUE = "both raters used one and the same label only, so all agreement is expected by chance (0/0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class CohenKappa(Estimate):
    """Kappa of a pair, with the confusion table it comes from.

    `table[i, j]` counts the units that `rater_a` gave ``categories[i]`` and `rater_b` ``categories[j]``; `agreement` is
    the share of equal labels.
    """

    rater_a: str
    rater_b: str
    weights: str | None
    table: np.ndarray
    agreement: float
    places: np.ndarray  # of the categories on their scale

    def percent_agreement(self) -> PercentAgreement:
        """`agreement` with its interval: the share of the shared units with equal labels. Undefined where there are
        none. `standard_error` and `analytic_interval` are those of a share of independent units.

        Examples
        --------
        >>> labels = Labels.from_columns("aabbccdd", "xyxyxyxy", "++++--+-", "-+")
        >>> share = cohen_kappa(labels, "x", "y").percent_agreement()
        >>> share.estimate, share.n_pairable
        (0.75, 4)
        """
        # Two kinds of units are quicker to draw than all cells of the table.
        equal = (self.sample.features[:, 0] == 0).astype(np.int64)[self.sample.pattern]
        share, times = np.array([0.0, 1.0]), np.bincount(equal, minlength=2)
        return PercentAgreement(
            estimate=self.agreement,
            undefined="" if self.n_pairable else NO_SHARED,
            n_units=self.n_units,
            n_pairable=self.n_pairable,
            n_labels=self.n_labels,
            left_out=self.left_out,
            sample=SumSample(np.array([[0.0, 1.0], [1.0, 1.0]]), equal, self.sample.cluster, ratio_of_sums),
            weighting="pairs",
            moves=lambda: (share - self.agreement, times),
            analytic_method=RATIO,
            lowest=0.0,
        )

    @cached_property
    def standard_error(self) -> float:
        """Of many independent units, by Fleiss, Cohen and Everitt (1969), not supposing that kappa is 0; nan where
        it is undefined.

        With shares o of the confusion table, its margins a and b, agreement weights ``w = 1 - disagreement / largest``,
        ``P_o = sum w o`` and ``P_e = sum w a b``, it is ``sqrt(var(g) / n) / (1 - P_e)^2`` over the table's units with
        ``g_ij = w_ij (1 - P_e) - (sum_k w_ik b_k + sum_k w_kj a_k) (1 - P_o)``.
        """
        if self.undefined:
            return np.nan
        n = self.table.sum()
        share = self.table / n
        distance = _disagreement_weights(self.weights, self.places)
        weight = 1 - distance / (distance.max() or 1)
        a, b = share.sum(axis=1), share.sum(axis=0)
        observed, chance = (weight * share).sum(), a @ weight @ b
        own = weight * (1 - chance) - ((weight @ b)[:, None] + (a @ weight)[None, :]) * (1 - observed)
        mean = (share * own).sum()
        return float(np.sqrt((share * (own - mean) ** 2).sum() / n) / (1 - chance) ** 2)

    def analytic_interval(self, level: float = 0.95) -> Interval:
        """``estimate -+ z standard_error``, cut off at -1 and 1. Units are taken as independent and many: where they
        come in clusters, or are few, use `confidence_interval`. Undefined where the two always agree."""
        return symmetric_interval(self, NormalDist().inv_cdf, FLEISS_COHEN_EVERITT, level, lowest=LEAST_KAPPA)


def cohen_kappa(
    labels: Labels,
    rater_a: int | str,
    rater_b: int | str,
    weights: str | None = None,
    values: Sequence[float] | np.ndarray | None = None,
) -> CohenKappa:
    """Cohen's kappa of two raters over the units both labelled.

    ``kappa = 1 - sum_ij w_ij o_ij / sum_ij w_ij a_i b_j`` with the shares o of the confusion table, its row and column
    shares a and b, and disagreement weights w: 1 off the diagonal, ``|i - j|`` (linear) or ``(i - j)^2`` (quadratic)
    for positions i and j in `labels.categories`, or for their `values`.

    Parameters
    ----------
    labels : Labels
    rater_a, rater_b : int or str
        By code, or by name where the labels carry names.
    weights : {None, 'linear', 'quadratic'}
    values : (n_categories,) float array, optional
        The categories' values on a scale, where they are not equally far apart.

    Returns
    -------
    CohenKappa
        From -1 to 1. Undefined where the two share no unit and where both use one and the same label only (0/0).

    Raises
    ------
    ValueError
        Exchangeable raters, an unknown rater, the same rater twice, unknown weights.

    References
    ----------
    Cohen (1960), Educational and Psychological Measurement 20(1), 37-46; doi:10.1177/001316446002000104.
    Cohen (1968), Psychological Bulletin 70(4), 213-220; doi:10.1037/h0026256.
    Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72(5), 323-327; doi:10.1037/h0028106 (standard error).

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdd", "xyxyxyxy", "++++--+-", "-+")
    >>> kappa = cohen_kappa(labels, "x", "y")
    >>> round(kappa.estimate, 4), kappa.agreement
    (0.5, 0.75)
    """
    labels.refuse_unordered(weights)
    a, b = labels.rater_code(rater_a), labels.rater_code(rater_b)
    if a == b:
        raise ValueError(f"kappa needs two raters, not {labels.rater_name(a)!r} twice")
    rows_a, rows_b = (np.flatnonzero(labels.rater == rater) for rater in (a, b))
    unit, in_a, in_b = np.intersect1d(labels.unit[rows_a], labels.unit[rows_b], assume_unique=True, return_indices=True)
    coded = labels.value[rows_a[in_a]], labels.value[rows_b[in_b]]
    only_a, only_b = len(rows_a) - len(unit), len(rows_b) - len(unit)
    places = np.arange(len(labels.categories)) if values is None else np.asarray(values, dtype=float)
    return _kappa_of_pair(labels, a, b, *coded, unit, only_a, only_b, weights, places)


def cohen_kappa_table(
    labels: Labels, weights: str | None = None, pairs: Collection[tuple[int, int]] | None = None
) -> tuple[CohenKappa, ...]:
    """Cohen's kappa of every pair of raters who share at least one unit, by rater code.

    Work and memory grow with the pairs of labels that exist, not with raters times units.

    Parameters
    ----------
    labels : Labels
    weights : {None, 'linear', 'quadratic'}
    pairs : collection of (int, int), optional
        Only these pairs, as `shared_units` names them.

    Returns
    -------
    tuple of CohenKappa
        Empty where no two raters share a unit.

    Raises
    ------
    ValueError
        Exchangeable raters, unknown weights.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdd", "xyxyxyyz", "++++--+-", "-+")
    >>> [(k.rater_a, k.rater_b, k.n_pairable) for k in cohen_kappa_table(labels)]
    [('x', 'y', 3), ('y', 'z', 1)]
    """
    labels.refuse_exchangeable()
    labels.refuse_unordered(weights)
    places = np.arange(len(labels.categories))
    _disagreement_weights(weights, places)  # refuses unknown weights even without any pair
    pair, value_a, value_b, unit = _label_pairs(labels)
    if pairs is not None:
        kept = np.isin(pair, [a * labels.n_raters + b for a, b in pairs])
        pair, value_a, value_b, unit = pair[kept], value_a[kept], value_b[kept], unit[kept]
    if not len(pair):
        return ()
    order = np.argsort(pair, kind="stable")
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    per_rater = np.bincount(labels.rater, minlength=labels.n_raters)
    results = []
    for rows in np.split(order, starts[1:]):
        first, second = divmod(int(pair[rows[0]]), labels.n_raters)
        only_a, only_b = int(per_rater[first]) - len(rows), int(per_rater[second]) - len(rows)
        results.append(
            _kappa_of_pair(
                labels, first, second, value_a[rows], value_b[rows], unit[rows], only_a, only_b, weights, places
            )
        )
    return tuple(results)


def shared_units(labels: Labels) -> dict[tuple[int, int], int]:
    """How many units each pair of raters both labelled, without any kappa: that of every pair takes long where there
    are many raters.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    dict of (int, int) to int
        By codes of raters, the lower one first; pairs without a shared unit are left out.

    Raises
    ------
    ValueError
        Exchangeable raters.

    Examples
    --------
    >>> shared_units(Labels.from_columns("aabbccdd", "xyxyxyyz", "++++--+-", "-+"))
    {(0, 1): 3, (1, 2): 1}
    """
    labels.refuse_exchangeable()
    pair, n = np.unique(_label_pairs(labels)[0], return_counts=True)
    a, b = np.divmod(pair, max(labels.n_raters, 1))
    return dict(zip(zip(a.tolist(), b.tolist(), strict=True), n.tolist(), strict=True))


def _label_pairs(labels: Labels) -> tuple[np.ndarray, ...]:
    """Every pair of labels of one unit: the raters (the lower one times the number of raters, plus the higher one),
    their values, the unit."""
    order = np.lexsort((labels.rater, labels.unit))
    unit, rater, value = labels.unit[order], labels.rater[order], labels.value[order]
    firsts, seconds = [], []
    for offset in range(1, int(np.bincount(unit).max(initial=0))):
        first = np.flatnonzero(unit[:-offset] == unit[offset:])
        firsts.append(first)
        seconds.append(first + offset)
    first = np.concatenate(firsts) if firsts else np.zeros(0, dtype=np.intp)
    second = np.concatenate(seconds) if seconds else np.zeros(0, dtype=np.intp)
    pair = rater[first].astype(np.int64) * labels.n_raters + rater[second]
    return pair, value[first], value[second], unit[first]


def _kappa_of_pair(
    labels: Labels,
    a: int,
    b: int,
    value_a: np.ndarray,
    value_b: np.ndarray,
    unit: np.ndarray,
    only_a: int,
    only_b: int,
    weights: str | None,
    places: np.ndarray,
) -> CohenKappa:
    n_categories = len(labels.categories)
    weight = _disagreement_weights(weights, places)
    name_a, name_b = labels.rater_name(a), labels.rater_name(b)
    cell, pattern = np.unique(value_a.astype(np.int64) * n_categories + value_b, return_inverse=True)
    sample = SumSample(
        features=_features(*np.divmod(cell, n_categories), weight),
        pattern=pattern,
        cluster=None if labels.cluster is None else labels.cluster[unit],
        statistic=lambda sums: _kappa(sums, weight),
    )
    table = np.zeros((n_categories, n_categories), dtype=np.int64)
    table.flat[cell] = np.bincount(pattern)
    estimate = sample.value()
    left_out = {
        f"labelled by {name_a} only": only_a,
        f"labelled by {name_b} only": only_b,
        "labelled by neither": labels.n_units - only_a - only_b - len(unit),
    }
    return CohenKappa(
        estimate=estimate,
        undefined="" if not np.isnan(estimate) else ONE_VALUE if len(unit) else NO_SHARED,
        n_units=labels.n_units,
        n_pairable=len(unit),
        n_labels=2 * len(unit),
        left_out={reason: n for reason, n in left_out.items() if n},
        sample=sample,
        rater_a=name_a,
        rater_b=name_b,
        weights=weights,
        table=table,
        agreement=float(np.trace(table) / len(unit)) if len(unit) else np.nan,
        places=places,
    )


def _features(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Per confusion cell: its disagreement, and the labels of either rater as indicator columns."""
    one_of = np.eye(len(weight))
    return np.column_stack([weight[a, b], one_of[a], one_of[b]])


def _kappa(sums: np.ndarray, weight: np.ndarray) -> np.ndarray:
    counts_a, counts_b = np.split(sums[:, 1:], 2, axis=1)
    chance = ((counts_a @ weight) * counts_b).sum(axis=1)
    return 1 - divide(counts_a.sum(axis=1) * sums[:, 0], chance)


def _disagreement_weights(weights: str | None, places: np.ndarray) -> np.ndarray:
    distance = np.abs(places[:, None] - places[None, :])
    known = {None: (distance > 0).astype(float), "linear": distance.astype(float), "quadratic": distance**2.0}
    if weights not in known:
        raise ValueError(f"weights must be None, 'linear' or 'quadratic', not {weights!r}")
    return known[weights]
