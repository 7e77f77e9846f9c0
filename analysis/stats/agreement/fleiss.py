"""Fleiss' kappa for many raters, also with varying numbers of labels per unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.counts import CountPatterns, count_patterns
from analysis.stats.agreement.linearisation import Linearised, moves_of_corrected
from analysis.stats.agreement.percent import NO_PAIR, agreeing_pairs
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import SumSample, divide

FIXED = "Fleiss 1971"
VARYING = "Fleiss, varying numbers of raters (Gwet 2014)"
ONE_VALUE = "only one label was used, so all agreement is expected by chance (0/0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class FleissKappa(Linearised):
    """`form` names the formula: Fleiss 1971 where all units have equally many labels, else its generalisation."""

    form: str
    observed: float
    expected: float


def fleiss_kappa(labels: Labels) -> FleissKappa:
    """Fleiss' kappa, ``(P - P_e) / (1 - P_e)``.

    P is the mean over units of the share of agreeing pairs (see `percent_agreement`), ``P_e = sum_c p_c^2``. With n
    labels on each of N units ``p_c = sum_u n_uc / (N n)`` (Fleiss 1971, eq. 1 to 7). With varying numbers of labels
    ``p_c`` is the mean over units of ``n_uc / n_u``, taken over every unit with a label, while P is taken over units
    with at least two (Gwet 2014, section 2.5). On equal numbers both are the same.

    Parameters
    ----------
    labels : Labels
        Raters need not be the same from unit to unit.

    Returns
    -------
    FleissKappa
        At most 1. `n_pairable` counts the units with two labels; those with one still enter ``p_c`` and are resampled,
        and `left_out` names them because they show no agreement. Undefined where no unit has two labels, and where only
        one label was used (0/0). `standard_error` and `analytic_interval` are Gwet's for varying numbers of labels.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76(5), 378-382; doi:10.1037/h0031619.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 for the standard error.

    Examples
    --------
    >>> labels = Labels.from_columns("aaabbbccc", "xyzxyzxyz", "++++-----", "-+")
    >>> kappa = fleiss_kappa(labels)
    >>> round(kappa.estimate, 4), kappa.form
    (0.55, 'Fleiss 1971')
    """
    patterns = count_patterns(labels)
    labelled, pairable = patterns.with_at_least(1), patterns.with_at_least(2)
    used = labelled.counts.any(axis=0)
    features = _features(labelled, used)
    sample = SumSample(features, labelled.index, labelled.cluster, _kappa)
    observed, expected = (float(part[0]) for part in _parts(sample.sums()))
    per_unit, estimate = labelled.n_raters, sample.value()

    def moves() -> tuple[np.ndarray, np.ndarray]:
        times = labelled.times
        prevalence = times @ features[:, 2:] / times.sum()
        return moves_of_corrected(features, estimate, expected, prevalence, times), times

    return FleissKappa(
        estimate=estimate,
        undefined=NO_PAIR if not len(pairable.index) else ONE_VALUE if used.sum() == 1 else "",
        n_units=labels.n_units,
        n_pairable=len(pairable.index),
        n_labels=labelled.n_labels,
        left_out=patterns.left_out(2),
        sample=sample,
        form=FIXED if len(np.unique(per_unit[labelled.times > 0])) == 1 else VARYING,
        observed=observed,
        expected=expected,
        moves=moves,
    )


def _features(labelled: CountPatterns, used: np.ndarray) -> np.ndarray:
    """Per pattern: its share of agreeing pairs, 1 where there is a pair, and the shares of the used categories."""
    agreeing, pairs = agreeing_pairs(labelled)
    share = np.divide(agreeing, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return np.column_stack([share, pairs > 0, labelled.counts[:, used] / labelled.n_raters[:, None]])


def _parts(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    prevalence = sums[:, 2:]
    total = prevalence.sum(axis=1, keepdims=True)
    return divide(sums[:, 0], sums[:, 1]), (divide(prevalence, total) ** 2).sum(axis=1)


def _kappa(sums: np.ndarray) -> np.ndarray:
    observed, expected = _parts(sums)
    one_value = (sums[:, 2:] > 0).sum(axis=1) < 2
    return divide(observed - expected, np.where(one_value, 0, 1 - expected))
