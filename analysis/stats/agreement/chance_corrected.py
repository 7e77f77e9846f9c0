"""Agreement corrected for chance otherwise than by kappa: Gwet's AC1 and AC2, Brennan-Prediger, Scott's pi.

All three stay near the percent agreement where nearly everybody gives one label, which is where kappas fall to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.agreement.counts import CountPatterns, count_patterns
from analysis.stats.agreement.linearisation import Linearised, moves_of_corrected
from analysis.stats.agreement.percent import NO_PAIR
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import SumSample, divide

WEIGHTS = (None, "linear", "quadratic", "ordinal")
NO_CHOICE = "there is one label only, so agreement could not fail (0/0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class ChanceCorrected(Linearised):
    """``estimate = (observed - expected) / (1 - expected)``, weighted where `weights` says so."""

    name: str
    weights: str | None
    observed: float
    expected: float


def gwet_ac(labels: Labels, weights: str | None = None) -> ChanceCorrected:
    """Gwet's AC1, or AC2 with weights.

    ``P_a`` is the mean over units with two labels of ``sum_c n_uc (n*_uc - 1) / (n_u (n_u - 1))`` with
    ``n*_uc = sum_k w_ck n_uk``; ``P_e = T / (q (q - 1)) sum_c p_c (1 - p_c)`` with q labels, T the sum of all weights
    and p_c the mean over units with a label of ``n_uc / n_u``.

    Parameters
    ----------
    labels : Labels
        Any pattern of missing labels. Every category counts for q, whether it was used or not.
    weights : {None, 'linear', 'quadratic', 'ordinal'}
        1 on the diagonal; off it ``1 - |i - j| / (q - 1)``, its square's, or ``1 - m (m + 1) / (q (q - 1))`` with
        ``m = |i - j|``, by the order of `labels.categories`.

    Returns
    -------
    ChanceCorrected
        At most 1. Undefined where no unit has two labels, and with one category.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1), 29-48; doi:10.1348/000711006X126600.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdd", "xyxyxyxy", "+++++++-", "-+")
    >>> round(gwet_ac(labels).estimate, 4)
    0.68
    """

    def expected(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        q = len(weight)
        return weight.sum() / (q * (q - 1)) * (prevalence * (1 - prevalence)).sum(axis=1)

    def influence(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        q = len(weight)
        return weight.sum() / (q * (q - 1)) * (1 - prevalence)

    return _corrected(labels, "Gwet's AC1" if weights is None else "Gwet's AC2", weights, expected, influence)


def brennan_prediger(labels: Labels, weights: str | None = None) -> ChanceCorrected:
    """Brennan and Prediger's coefficient: every label equally likely by chance, ``P_e = T / q^2``.

    Parameters, `P_a` and weights as in `gwet_ac`; without weights ``P_e = 1 / q``. Also called Bennett's S, and the
    G index for two labels.

    References
    ----------
    Brennan and Prediger (1981), Educational and Psychological Measurement 41(3), 687-699;
    doi:10.1177/001316448104100307. Gwet (2014), chapter 4.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdd", "xyxyxyxy", "+++++++-", "-+")
    >>> brennan_prediger(labels).estimate
    0.5
    """

    def expected(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.full(len(prevalence), weight.sum() / len(weight) ** 2)

    def influence(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.zeros(len(weight))

    return _corrected(labels, "Brennan-Prediger", weights, expected, influence)


def scott_pi(labels: Labels, rater_a: int | str, rater_b: int | str) -> ChanceCorrected:
    """Scott's pi of two raters over the units both labelled: ``P_e = sum_c ((a_c + b_c) / 2)^2``.

    Parameters
    ----------
    labels : Labels
    rater_a, rater_b : int or str
        By code, or by name where the labels carry names.

    Returns
    -------
    ChanceCorrected
        Undefined where the two share no unit and where both use one and the same label only (0/0).

    Raises
    ------
    ValueError
        Exchangeable raters, an unknown rater, the same rater twice.

    References
    ----------
    Scott (1955), Public Opinion Quarterly 19(3), 321-325; doi:10.1086/266577.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbccdd", "xyxyxyxy", "+++++---", "-+")
    >>> round(scott_pi(labels, "x", "y").estimate, 4)
    0.4667
    """
    codes = labels.rater_code(rater_a), labels.rater_code(rater_b)
    if codes[0] == codes[1]:
        raise ValueError(f"pi needs two raters, not {labels.rater_name(codes[0])!r} twice")
    rows = np.isin(labels.rater, codes)
    both = np.bincount(labels.unit[rows], minlength=labels.n_units) == 2
    shared = labels.select_units(both)
    rows = np.isin(shared.rater, codes)
    pair = replace(shared, unit=shared.unit[rows], rater=shared.rater[rows], value=shared.value[rows])

    def expected(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return ((prevalence @ weight) * prevalence).sum(axis=1)

    def influence(prevalence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return weight @ prevalence

    pi = _corrected(pair, "Scott's pi", None, expected, influence)
    left_out = {"not labelled by both": labels.n_units - int(both.sum())}
    return replace(pi, n_units=labels.n_units, left_out={reason: n for reason, n in left_out.items() if n})


Chance = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _corrected(labels: Labels, name: str, weights: str | None, expected: Chance, influence: Chance) -> ChanceCorrected:
    """`expected` gives P_e from (n, q) prevalences; `influence` its derivative's part per category, (q,), by which a
    unit moves it."""
    labels.refuse_unordered(weights)
    weight = agreement_weights(weights, len(labels.categories))
    patterns = count_patterns(labels)
    labelled, pairable = patterns.with_at_least(1), patterns.with_at_least(2)
    features = _features(labelled, weight)

    def parts(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        prevalence = divide(sums[:, 2:], sums[:, 2:].sum(axis=1, keepdims=True))
        chance = expected(prevalence, weight) if len(weight) > 1 else np.ones(len(sums))
        return divide(sums[:, 0], sums[:, 1]), chance

    def statistic(sums: np.ndarray) -> np.ndarray:
        observed, chance = parts(sums)
        # Without rounding, chance that is 1 in exact arithmetic would leave a quotient of two rounding errors.
        return divide(observed - chance, np.where(np.isclose(chance, 1, rtol=0, atol=1e-12), 0, 1 - chance))

    sample = SumSample(features, labelled.index, labelled.cluster, statistic)
    observed, chance = (float(part[0]) for part in parts(sample.sums()))
    estimate = sample.value()
    undefined = "" if not np.isnan(estimate) else NO_PAIR if not len(pairable.index) else NO_CHOICE

    def moves() -> tuple[np.ndarray, np.ndarray]:
        times = labelled.times
        slope = influence(times @ features[:, 2:] / times.sum(), weight)
        return moves_of_corrected(features, estimate, chance, slope, times), times

    return ChanceCorrected(
        estimate=estimate,
        undefined=undefined,
        n_units=labels.n_units,
        n_pairable=len(pairable.index),
        n_labels=labelled.n_labels,
        left_out=patterns.left_out(2),
        sample=sample,
        name=name,
        weights=weights,
        observed=observed,
        expected=chance,
        moves=moves,
    )


def _features(labelled: CountPatterns, weight: np.ndarray) -> np.ndarray:
    """Per pattern: its weighted share of agreeing pairs, 1 where there is a pair, and the shares of the categories."""
    n, counts = labelled.n_raters, labelled.counts
    agreeing = (counts * (counts @ weight - 1)).sum(axis=1)
    pairs = n * (n - 1)
    share = np.divide(agreeing, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return np.column_stack([share, pairs > 0, counts / n[:, None]])


def agreement_weights(weights: str | None, n_categories: int) -> np.ndarray:
    """How much two labels agree, (q, q): 1 for equal ones, by their distance on the scale else. See `gwet_ac`.

    ValueError for unknown weights.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be None, 'linear', 'quadratic' or 'ordinal', not {weights!r}")
    position = np.arange(n_categories)
    distance = np.abs(position[:, None] - position[None, :]).astype(float)
    if weights is None:
        return (distance == 0).astype(float)
    if weights == "ordinal":
        distance = distance * (distance + 1) / 2
    elif weights == "quadratic":
        distance = distance**2
    return 1 - distance / max(distance.max(initial=0), 1)
