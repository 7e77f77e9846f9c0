"""Percent agreement: how often two labels of one unit are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bootstrap import Estimate, SumSample, divide
from .counts import CountPatterns, count_patterns
from .labels import Labels

NO_PAIR = "no unit has two labels"


@dataclass(frozen=True, eq=False, kw_only=True)
class PercentAgreement(Estimate):
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
        Between 0 and 1; undefined where no unit has two labels.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76(5), eq. 2 and 3;
    doi:10.1037/h0031619.

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
        Between 0 and 1; undefined where no unit has two labels.

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
    return PercentAgreement(
        estimate=estimate,
        undefined=NO_PAIR if np.isnan(estimate) else "",
        n_units=labels.n_units,
        n_pairable=len(pairable.index),
        n_labels=pairable.n_labels,
        left_out=patterns.left_out(2),
        sample=sample,
        weighting=weighting,
    )


def ratio_of_sums(sums: np.ndarray) -> np.ndarray:
    """First column over second, nan where the second is 0."""
    return divide(sums[:, 0], sums[:, 1])
