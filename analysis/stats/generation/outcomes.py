"""Shares of outcomes by group: how often answers are correct, abstain or hallucinate, by sufficiency of the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, Interval, SumSample, divide

NO_UNIT = "the group has no unit with an outcome"


@dataclass(frozen=True, eq=False, kw_only=True)
class Share(Estimate):
    """A share of units: `n_hits` are counted.

    Where no unit is counted, or every one, resampling knows no other share; the interval is then Clopper and Pearson's
    exact one with as many trials as there are units, or clusters, because units of one cluster may all be alike.
    """

    n_hits: int

    def confidence_interval(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> Interval:
        interval = super().confidence_interval(n_resamples, level, seed, clusters)
        if self.undefined or self.estimate not in (0.0, 1.0):
            return interval
        trials, clustered = self.sample.n_drawn(clusters)
        farther = ((1 - level) / 2) ** (1 / trials)
        low, high = (0.0, 1 - farther) if self.estimate == 0.0 else (farther, 1.0)
        method = f"Clopper-Pearson over {'clusters' if clustered else 'units'}"
        return Interval(low, high, level, method, 0, 0, trials if clustered else None)


@dataclass(frozen=True, eq=False)
class OutcomeShares:
    """Shares of each outcome in each group.

    Attributes
    ----------
    outcomes, groups : tuple of str
    counts : (n_groups, n_outcomes) int array
    """

    outcomes: tuple[str, ...]
    groups: tuple[str, ...]
    counts: np.ndarray
    _pattern: np.ndarray
    _cluster: np.ndarray | None
    _left_out: dict[str, int]
    _n_units: int

    def share(self, outcome: str, group: str) -> Share:
        """The outcome's share of the group's units; undefined for a group without units."""
        row, column = self.groups.index(group), self.outcomes.index(outcome)
        k = len(self.outcomes)
        mine = self._pattern // k == row
        n, hits = int(self.counts[row].sum()), int(self.counts[row, column])
        sample = SumSample(
            np.array([[0.0, 1.0], [1.0, 1.0]]),
            (self._pattern[mine] % k == column).astype(np.int64),
            None if self._cluster is None else self._cluster[mine],
            lambda sums: divide(sums[:, 0], sums[:, 1]),
        )
        return Share(
            estimate=hits / n if n else np.nan,
            undefined="" if n else NO_UNIT,
            n_units=n,
            n_pairable=n,
            n_labels=n,
            left_out={},
            sample=sample,
            n_hits=hits,
        )

    def difference(self, outcome: str, first: str, second: str) -> Estimate:
        """The outcome's share in the group `first` minus that in `second`; clusters are drawn once for both."""
        k, column = len(self.outcomes), self.outcomes.index(outcome)
        rows = [self.groups.index(group) for group in (first, second)]
        cells = np.arange(len(self.groups) * k)
        features = np.column_stack(
            [part for row in rows for part in ((cells == row * k + column), (cells // k == row))]
        ).astype(float)
        used = np.isin(self._pattern // k, rows)
        n = [int(self.counts[row].sum()) for row in rows]
        sample = SumSample(
            features,
            self._pattern[used],
            None if self._cluster is None else self._cluster[used],
            lambda sums: divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3]),
        )
        return Estimate(
            estimate=sample.value(),
            undefined="" if all(n) else NO_UNIT,
            n_units=self._n_units,
            n_pairable=sum(n),
            n_labels=sum(n),
            left_out=self._left_out,
            sample=sample,
        )


def outcome_shares(
    outcome: Sequence[int] | np.ndarray,
    outcomes: Sequence[str],
    group: Sequence[int] | np.ndarray,
    groups: Sequence[str],
    cluster: Sequence[int] | np.ndarray | None = None,
) -> OutcomeShares:
    """Count outcomes by group.

    Parameters
    ----------
    outcome : (n_units,) int array
        Codes into `outcomes`, -1 where the unit has none.
    group : (n_units,) int array
        Codes into `groups`, -1 for none. Units without an outcome or a group are left out and counted.
    cluster : (n_units,) int array, optional
        What units come in, such as the question that several models answered.

    Raises
    ------
    ValueError
        Codes out of range, or columns of different lengths.

    References
    ----------
    Joren et al. (2025), Sufficient Context: A New Lens on Retrieval Augmented Generation Systems, arXiv:2411.06037 (the
    shares of correct, abstaining and hallucinating answers by sufficiency). The exact interval: Clopper and Pearson
    (1934), Biometrika 26(4), 404-413; doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> result = outcome_shares([0, 1, 0, 0], ["right", "wrong"], [0, 0, 1, 1], ["enough", "too little"])
    >>> result.share("right", "enough").estimate, result.difference("right", "enough", "too little").estimate
    (0.5, -0.5)
    """
    outcomes, groups = tuple(outcomes), tuple(groups)
    outcome = code_column(outcome, len(outcomes), "outcome")
    group = code_column(group, len(groups), "group")
    if len(outcome) != len(group) or (cluster is not None and len(cluster) != len(group)):
        raise ValueError("outcome, group and cluster must be columns of one length")
    used = (outcome >= 0) & (group >= 0)
    reasons = {"no outcome": int((outcome < 0).sum()), "no group": int(((outcome >= 0) & (group < 0)).sum())}
    pattern = (group[used].astype(np.int64) * len(outcomes) + outcome[used]).astype(np.int64)
    counts = np.bincount(pattern, minlength=len(groups) * len(outcomes)).reshape(len(groups), len(outcomes))
    return OutcomeShares(
        outcomes=outcomes,
        groups=groups,
        counts=counts,
        _pattern=pattern,
        _cluster=None if cluster is None else np.asarray(cluster)[used],
        _left_out={reason: n for reason, n in reasons.items() if n},
        _n_units=len(outcome),
    )
