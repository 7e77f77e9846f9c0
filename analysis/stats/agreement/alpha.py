"""Krippendorff's alpha for nominal, ordinal, interval and ratio labels with any pattern of missing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.counts import CountPatterns, count_patterns
from analysis.stats.agreement.linearisation import Linearised
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import SumSample, divide

NO_PAIR = "no unit has two labels"
ONE_VALUE = "only one label was used, so there is no disagreement to expect by chance (0/0)"
SAME_VALUE = "all labels that were used stand for one number, so there is no disagreement to expect by chance (0/0)"

LARGEST = 1e100  # of numbers that are squared and added as they are


@dataclass(frozen=True, eq=False, kw_only=True)
class Alpha(Linearised):
    """Alpha with its two parts, ``estimate = 1 - observed / expected`` (Krippendorff's D_o and D_e)."""

    level: str
    observed: float
    expected: float


def krippendorff_alpha(labels: Labels, level: str = "nominal", values: Sequence[float] | None = None) -> Alpha:
    """Krippendorff's alpha.

    ``alpha = 1 - (n - 1) sum_{c<k} o_ck d_ck / sum_{c<k} n_c n_k d_ck`` with coincidences
    ``o_ck = sum_u n_uc n_uk / (n_u - 1)`` over units with at least two labels, marginals ``n_c`` and ``n`` over the
    same units, and the squared difference d of the level:

    - nominal: 1 for different labels;
    - ordinal: ``(n_c / 2 + n_{c+1} + ... + n_k / 2)^2``, by the order of `labels.categories`. It depends on the
      marginals, so every bootstrap resample has its own;
    - interval: ``(v_c - v_k)^2``;
    - ratio: ``((v_c - v_k) / (v_c + v_k))^2``, 0 for two zeros.

    Parameters
    ----------
    labels : Labels
        Units with fewer than two labels are left out.
    level : {'nominal', 'ordinal', 'interval', 'ratio'}
    values : sequence of float, one per category, optional
        Numbers behind the categories, for interval and ratio. By default the categories read as numbers.

    Returns
    -------
    Alpha
        At most 1. Undefined where no unit has two labels, and where the units with two labels use only one label, or
        labels of one number such as 1 and 1.0 (0/0): such data say nothing about reliability, so it is neither 1 nor 0.
        `standard_error` and `analytic_interval` are Gwet's linearisation; at the ordinal level units also move it
        through the distances.

    Raises
    ------
    ValueError
        Unknown level; categories that are not numbers (interval, ratio); negative values (ratio).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability, https://repository.upenn.edu/asc_papers/43,
    sections C and D; Krippendorff (2018), Content Analysis, 4th ed., chapter 12. Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th ed., section 5.3 (standard error), as the package irrCAC computes it.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdde", "xyxyxyxyx", "112213331", "123")
    >>> alpha = krippendorff_alpha(labels, "ordinal")
    >>> round(alpha.estimate, 4), alpha.n_pairable, alpha.left_out
    (0.4167, 4, {'one label only': 1})
    """
    if level == "ordinal":
        labels.refuse_unordered(level)
    return alpha_of(labels, level, None if level == "ordinal" else fixed_distance(level, labels.categories, values))


def alpha_of(labels: Labels, level: str, between: np.ndarray | None) -> Alpha:
    """Alpha with fixed differences between categories, (n_categories, n_categories); None are those of the ordinal
    level."""
    patterns = count_patterns(labels)
    pairable = patterns.with_at_least(2)
    used = pairable.counts.any(axis=0)
    counts = pairable.counts[:, used].astype(float)
    distance = None if between is None else between[np.ix_(used, used)]
    features, disagreements, work = _ordinal(counts) if distance is None else _fixed(counts, distance)
    sample = SumSample(features, pairable.index, pairable.cluster, lambda sums: _alpha(*disagreements(sums)), work)
    observed, expected = (float(part[0]) for part in disagreements(sample.sums()))
    return Alpha(
        estimate=sample.value(),
        undefined=_undefined(pairable, int(used.sum()), expected),
        n_units=labels.n_units,
        n_pairable=len(pairable.index),
        n_labels=pairable.n_labels,
        left_out=patterns.left_out(2),
        sample=sample,
        level=level,
        observed=observed,
        expected=expected,
        moves=lambda: (_moves(counts, pairable.times, distance), pairable.times),
    )


def _undefined(pairable: CountPatterns, n_used: int, expected: float) -> str:
    if not len(pairable.index):
        return NO_PAIR
    if n_used == 1:
        return ONE_VALUE
    return "" if expected > 0 else SAME_VALUE


def _alpha(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return 1 - divide(observed, np.where(expected > 0, expected, 0))


Parts = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _fixed(counts: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, Parts, int]:
    """Features and D_o, D_e for distances fixed beforehand: a unit adds its disagreement and its counts."""
    others = np.maximum(counts.sum(axis=1) - 1, 1)
    disagreement = ((counts @ distance) * counts).sum(axis=1) / others

    def parts(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        marginal = sums[:, 1:]
        n = marginal.sum(axis=1)
        chance = ((marginal @ distance) * marginal).sum(axis=1)
        return divide(sums[:, 0], n), divide(chance, n * (n - 1))

    return np.column_stack([disagreement, counts]), parts, 2 * len(distance) + 1


def _ordinal(counts: np.ndarray) -> tuple[np.ndarray, Parts, int]:
    """Features and D_o, D_e of the ordinal level: a unit adds its counts and its coincidences of unequal labels.

    The ordinal distance of c and k is the squared difference of their mean ranks in the marginals.
    """
    n_used = counts.shape[1]
    low, high = np.triu_indices(n_used, k=1)
    others = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    coincidences = counts[:, low] * counts[:, high] / others

    def parts(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        marginal, unequal = sums[:, :n_used], sums[:, n_used:]
        n = marginal.sum(axis=1)
        rank = np.cumsum(marginal, axis=1) - marginal / 2
        distance = (rank[:, high] - rank[:, low]) ** 2
        observed = 2 * (unequal * distance).sum(axis=1)
        chance = 2 * (marginal[:, low] * marginal[:, high] * distance).sum(axis=1)
        return divide(observed, n), divide(chance, n * (n - 1))

    return np.column_stack([counts, coincidences]), parts, n_used + 4 * len(low)


def _moves(counts: np.ndarray, times: np.ndarray, distance: np.ndarray | None) -> np.ndarray:
    """How far a unit of each pattern moves alpha, times the number of units; `distance` None is the ordinal one's.

    With n labels, O the sum of the units' disagreements and C that of all pairs of labels, ``1 - n O / C`` is alpha but
    for n - 1 in the place of n. A unit moves all three; what n - 1 adds is the last term (irrCAC).
    """
    per_unit, marginal = counts.sum(axis=1), times @ counts
    n = marginal.sum()
    ordinal = distance is None
    if ordinal:
        rank = np.cumsum(marginal) - marginal / 2
        distance = (rank[:, None] - rank[None, :]) ** 2
    own = ((counts @ distance) * counts).sum(axis=1) / (per_unit - 1)
    chance_of_label = distance @ marginal
    observed, chance = times @ own, marginal @ chance_of_label
    more_observed, more_chance = own, 2 * counts @ chance_of_label
    if ordinal:
        coincidences = (counts * (times / (per_unit - 1))[:, None]).T @ counts
        more_observed = more_observed + counts @ _by_rank(coincidences, rank)
        more_chance = more_chance + counts @ _by_rank(np.outer(marginal, marginal), rank)
    ratio = n * observed / chance
    moved = ratio * more_chance / chance - (per_unit * observed + n * more_observed) / chance
    labels_of_mean = n / times.sum()
    return times.sum() * moved - ratio * (per_unit / labels_of_mean - 1) / n


def _by_rank(pairs: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Derivative of ``sum_ck pairs_ck (rank_c - rank_k)^2`` by the marginals on which the ranks depend, (q,)."""
    by_rank = 4 * (pairs.sum(axis=1) * rank - pairs @ rank)
    return np.cumsum(by_rank[::-1])[::-1] - by_rank / 2


def fixed_distance(level: str, categories: tuple[str, ...], values: Sequence[float] | None = None) -> np.ndarray:
    """Squared differences between categories, (n_categories, n_categories), of a level other than the ordinal one.

    In the unit of the largest number where it is so large that squares would overflow: alpha is the same in any unit.
    """
    if level == "nominal":
        return 1.0 - np.eye(len(categories))
    if level not in ("interval", "ratio"):
        raise ValueError(f"level must be nominal, ordinal, interval or ratio, not {level!r}")
    value = _category_values(categories, values)
    if len(value) and np.abs(value).max() > LARGEST:
        value = value / np.abs(value).max()
    difference = value[:, None] - value[None, :]
    if level == "ratio":
        if (value < 0).any():
            raise ValueError("the ratio level needs values of at least 0")
        total = value[:, None] + value[None, :]
        difference = np.divide(difference, total, out=np.zeros_like(difference), where=total != 0)
    return difference**2


def _category_values(categories: tuple[str, ...], values: Sequence[float] | None) -> np.ndarray:
    try:
        value = np.array([float(v) for v in (categories if values is None else values)])
    except ValueError:
        raise ValueError(f"categories {list(categories)} are not numbers; give values") from None
    if len(value) != len(categories) or not np.isfinite(value).all():
        raise ValueError("values must be one finite number per category")
    return value
