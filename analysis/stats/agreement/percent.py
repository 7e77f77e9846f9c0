"""Percent agreement: how often two labels of one unit are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.counts import ONE_LABEL, CountPatterns, count_patterns
from analysis.stats.agreement.linearisation import GWET, Linearised
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import SumSample, divide

NO_PAIR = "no unit has two labels"
RATIO = "linearisation of a ratio, t distribution (Cochran 1977)"


@dataclass(frozen=True, eq=False, kw_only=True)
class PercentAgreement(Linearised):
    """`weighting` says whether every unit counts the same ('units') or every pair of labels does ('pairs')."""

    weighting: str


def percent_agreement(labels: Labels) -> PercentAgreement:
    """Mean over units of each unit's share of agreeing pairs of labels.

    For unit u with counts n_uc and n_u labels the share is ``sum_c n_uc (n_uc - 1) / (n_u (n_u - 1))``; units count the
    same however many labels they have. Not corrected for chance.

    Parameters
    ----------
    labels : Labels
        Any pattern of missing labels; units with fewer than two are left out.

    Returns
    -------
    PercentAgreement
        Between 0 and 1; undefined where no unit has two labels. `standard_error` and `analytic_interval` are Gwet's, of
        all units with a label: those with one only widen them.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76(5), eq. 2 and 3;
    doi:10.1037/h0031619. Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 (standard error).

    Examples
    --------
    Three votes with one agreeing pair of three, and two votes that agree: (1/3 + 1) / 2.

    >>> labels = Labels.from_columns("aaabb", "xyzxy", "+--++", "-+")
    >>> round(percent_agreement(labels).estimate, 4)
    0.6667
    """
    patterns = count_patterns(labels)
    agreeing, pairs = agreeing_pairs(patterns.with_at_least(2))
    features = np.column_stack([agreeing / pairs, np.ones(len(pairs))])
    return _result(labels, patterns, features, "units")


def pooled_percent_agreement(labels: Labels) -> PercentAgreement:
    """Share of agreeing pairs among all pairs of labels of one unit.

    A unit with n labels counts as n (n - 1) / 2 pairs, so much-labelled units weigh more than in `percent_agreement`;
    the two are equal when all units have the same number of labels.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    PercentAgreement
        Between 0 and 1; undefined where no unit has two labels. `standard_error` and `analytic_interval` are those of a
        ratio of sums over the units with two labels.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd ed., section 6.4 (standard error).

    Examples
    --------
    One agreeing pair of three, and one of one: 2 / 4.

    >>> labels = Labels.from_columns("aaabb", "xyzxy", "+--++", "-+")
    >>> pooled_percent_agreement(labels).estimate
    0.5
    """
    patterns = count_patterns(labels)
    features = np.column_stack(agreeing_pairs(patterns.with_at_least(2)))
    return _result(labels, patterns, features, "pairs")


def agreeing_pairs(patterns: CountPatterns) -> tuple[np.ndarray, np.ndarray]:
    """Agreeing pairs and all pairs within one unit of each pattern, (n_patterns,) each."""
    n = patterns.n_raters
    return (patterns.counts * (patterns.counts - 1)).sum(axis=1) / 2, n * (n - 1) / 2


def _result(labels: Labels, patterns: CountPatterns, features: np.ndarray, weighting: str) -> PercentAgreement:
    pairable = patterns.with_at_least(2)
    sample = SumSample(features, pairable.index, pairable.cluster, ratio_of_sums)
    estimate = sample.value()

    def moves() -> tuple[np.ndarray, np.ndarray]:
        """A unit with one label, which shows no agreement, counts for Gwet as one that could have had a pair."""
        times = pairable.times
        if weighting == "pairs":
            return (features[:, 0] - estimate * features[:, 1]) / (times @ features[:, 1] / times.sum()), times
        single = patterns.left_out(2).get(ONE_LABEL, 0)
        per_pairable = (times.sum() + single) / times.sum()
        return np.append(per_pairable * features[:, 0], 0.0) - estimate, np.append(times, single)

    return PercentAgreement(
        estimate=estimate,
        undefined=NO_PAIR if np.isnan(estimate) else "",
        n_units=labels.n_units,
        n_pairable=len(pairable.index),
        n_labels=pairable.n_labels,
        left_out=patterns.left_out(2),
        sample=sample,
        weighting=weighting,
        moves=moves,
        analytic_method=RATIO if weighting == "pairs" else GWET,
        lowest=0.0,
    )


def ratio_of_sums(sums: np.ndarray) -> np.ndarray:
    """First column over second, nan where the second is 0."""
    return divide(sums[:, 0], sums[:, 1])
