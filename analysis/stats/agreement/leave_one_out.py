"""How far one rater's labels agree with those that others gave to the same units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.percent import ratio_of_sums
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate, SumSample

NOBODY_ELSE = "nobody else labelled any of these units"


@dataclass(frozen=True, eq=False, kw_only=True)
class OthersAgreement(Estimate):
    """Of one rater; `rater` is its name."""

    rater: str


def shares_of_others(labels: Labels) -> np.ndarray:
    """Of each label, the share of the other labels of its unit that are equal to it.

    Returns
    -------
    (n_labels,) float array
        nan where the unit has no other label.

    Examples
    --------
    >>> labels = Labels.from_columns("aaab", "xyzx", "++-+", "-+")
    >>> shares_of_others(labels).tolist()
    [0.5, 0.5, 0.0, nan]
    """
    q = len(labels.categories)
    cell = labels.unit.astype(np.int64) * q + labels.value
    equal = np.bincount(cell, minlength=labels.n_units * q)[cell] - 1
    others = np.bincount(labels.unit, minlength=labels.n_units)[labels.unit] - 1
    return np.divide(equal, others, out=np.full(labels.n_labels, np.nan), where=others > 0)


def agreement_with_others(labels: Labels) -> tuple[OthersAgreement, ...]:
    """Of each rater, by code: the mean, over the units with labels of others, of the share of others' labels equal to
    it.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    tuple of OthersAgreement
        Undefined for a rater who shares no unit. Not corrected for chance: compare raters on like units only.

    Raises
    ------
    ValueError
        Exchangeable raters.
    """
    labels.refuse_exchangeable()
    shares = shares_of_others(labels)
    return tuple(
        mean_share(shares[rows], _clusters(labels, rows), labels.rater_name(rater))
        for rater in range(labels.n_raters)
        for rows in [labels.rater == rater]
    )


def mean_share(
    shares: Sequence[float] | np.ndarray, cluster: np.ndarray | None = None, name: str = ""
) -> OthersAgreement:
    """Mean of shares with a bootstrap interval; nan ones are left out and counted as without another label."""
    shares = np.asarray(shares, dtype=float)
    has = ~np.isnan(shares)
    distinct, pattern = np.unique(shares[has], return_inverse=True)
    features = np.column_stack([distinct, np.ones(len(distinct))])
    sample = SumSample(features, pattern, None if cluster is None else cluster[has], ratio_of_sums)
    return OthersAgreement(
        estimate=sample.value() if has.any() else np.nan,
        undefined="" if has.any() else NOBODY_ELSE,
        n_units=len(shares),
        n_pairable=int(has.sum()),
        n_labels=int(has.sum()),
        left_out={"without another's label": int((~has).sum())} if not has.all() else {},
        sample=sample,
        rater=name,
    )


def _clusters(labels: Labels, rows: np.ndarray) -> np.ndarray | None:
    return None if labels.cluster is None else labels.cluster[labels.unit[rows]]
