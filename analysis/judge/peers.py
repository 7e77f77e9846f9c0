"""A judge against several people, each held against the same others.

Where people disagree, nobody's labels are the truth, and a judge as good as a person would fail a bound that a person
would fail too. So the judge is held against each person in turn, as every other person is, and only the difference
counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.padded import padded_ratio

MARGIN = 0.1
LEAST_ROWS = 20.0  # of the kind that a share is about; with fewer its interval is not trusted
TOO_FEW = f"fewer than {LEAST_ROWS:.0f} rows of its kind have two people"
TOO_FEW_CLUSTERS = f"its rows lie in fewer than {LEAST_ROWS:.0f} clusters, or one cluster outweighs the others"


@dataclass(frozen=True)
class Gap:
    """How often the judge gives a label where a person does, less how often the other people do, over the same persons
    and rows. `n` counts rows, `n_effective` those that would hold as much where each had one person."""

    judge: float
    people: float
    value: float
    low: float
    high: float
    n: int
    n_effective: float
    reason: str = ""

    def rows_needed(self, bound: float) -> int | None:
        """Further rows after which the interval leaves the bound out, the difference being what it is."""
        gap = abs(self.value - bound)
        if gap < 0.005:
            return None  # so near that no number of rows is worth naming
        grown = ((self.high - self.low) / 2 / gap) ** 2 if not math.isnan(self.low) else 1.0
        return max(1, math.ceil(self.n * max(grown, LEAST_ROWS / max(self.n_effective, 1.0))) + 1 - self.n)


def gap_of(
    people: np.ndarray, judge: np.ndarray, is_given: np.ndarray, cluster: np.ndarray | None, level: float = 0.95
) -> Gap:
    """The gap of one label's sensitivity, or of its specificity.

    The ratio of sums over rows or clusters, with its linearised variance and a t interval (`padded_ratio`).

    Parameters
    ----------
    people : (n_people, n_rows) bool array
        Whether a person's label is such that it counts as agreement: the label itself, or for specificity another one.
        Where `is_given` is False for all reasons but a missing label, it does not matter.
    judge : (n_rows,) bool array
        The same of the judge's label.
    is_given : (n_people, n_rows) bool array
        Where a person has a label. Rows with fewer than two of them, and rows without the judge's, must be left out.
    cluster : (n_rows,) array, optional
    level : float
        Of the interval.

    Returns
    -------
    Gap
        Undefined where no row counts; no interval where fewer than `LEAST_ROWS` rows, or clusters, do.
    """
    others = is_given.sum(axis=0) - 1  # of a person who has a label
    agreeing = (people & is_given).sum(axis=0)
    of_judge = agreeing * judge.astype(float)
    of_people = agreeing * (agreeing - 1) / others
    n = int((agreeing > 0).sum())
    if not n:
        return Gap(math.nan, math.nan, math.nan, math.nan, math.nan, 0, 0.0, "no row counts")
    found = padded_ratio(of_judge - of_people, agreeing, cluster=cluster)
    total = float(agreeing.sum())
    known = {"judge": float(of_judge.sum()) / total, "people": float(of_people.sum()) / total}
    known |= {"value": found.estimate, "n": n, "n_effective": found.n_effective}
    if found.n_effective < LEAST_ROWS:
        reason = TOO_FEW if cluster is None else TOO_FEW_CLUSTERS
        return Gap(low=math.nan, high=math.nan, reason=reason, **known)
    low, high = found.ends(1.0, level=level)
    return Gap(low=low, high=high, **known)
