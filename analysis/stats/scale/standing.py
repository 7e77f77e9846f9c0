"""How a labeller stands to people on a scale: the verdict, and the figures that it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.cohen import LEAST_KAPPA, CohenKappa, cohen_kappa
from analysis.stats.labels import Labels
from analysis.stats.resampling.intervals import Interval
from analysis.stats.scale.distances import LEAST_ROWS, TOO_FEW_CLUSTERS, DistanceGap, distance_gap

USABLE, NOT_USABLE, UNDECIDED = "usable", "not usable", "undecided"
CLOSER, AS_CLOSE, FARTHER, UNKNOWN = "closer", "as close", "farther", "unknown"
# Of weighted kappa with one person: what Williamson, Xi and Breyer (2012) ask of automated scores.
FLOOR = 0.7
# Of the distance with several people, in steps of the scale.
MARGIN = 0.1
RESAMPLES = 1000
TOO_FEW_ROWS = f"fewer than {LEAST_ROWS} rows have both values"
# A scale of more values has steps of a tenth of its length.
MOST_STEPS = 10


def step_of(values: np.ndarray) -> float:
    """A step of the scale: the smallest difference between two of its values; with more than MOST_STEPS + 1 values, a
    MOST_STEPS-th of its length. 1 for a single value.

    >>> step_of(np.array([1.0, 2, 4, 5])), step_of(np.array([0.0, 0.5, 1])), step_of(np.arange(0.0, 101))
    (1.0, 0.5, 10.0)
    """
    values = np.unique(values)
    if len(values) < 2:
        return 1.0
    return float(np.diff(values).min() if len(values) <= MOST_STEPS + 1 else np.ptp(values) / MOST_STEPS)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaleStanding:
    """A labeller against one person (`gap` is None) or several.

    `kappa` has quadratic weights; with several people it is that of all pairs of the labeller and a person.
    `kappa_low` and `kappa_high` are its 95 % interval. `bound` is the floor of kappa, with several people the margin in
    steps; `step` is a step's length. `n` rows count, in `n_clusters` clusters (None where
    each row is one).
    """

    kappa: CohenKappa
    kappa_low: float
    kappa_high: float
    kappa_undefined: str
    gap: DistanceGap | None
    bound: float
    step: float
    n: int
    n_clusters: int | None

    @property
    def margin(self) -> float:
        """In the unit of the scale."""
        return self.bound * self.step

    @property
    def is_above_chance(self) -> bool:
        return self.kappa_low > 0

    @property
    def verdict(self) -> str:
        if self.gap is None:
            return self._by(-self.kappa_high, -self.kappa_low, -self.bound)
        if self.kappa_high < 0 or (self.kappa.undefined and self.n):
            return NOT_USABLE
        found = self._by(self.gap.low, self.gap.high, self.margin)
        return UNDECIDED if found == USABLE and not self.is_above_chance else found

    @staticmethod
    def _by(low: float, high: float, bound: float) -> str:
        return USABLE if high < bound else NOT_USABLE if low > bound else UNDECIDED

    @property
    def closeness(self) -> str:
        """To a person, against that of people to each other."""
        gap = self.gap
        if gap is None or math.isnan(gap.low):
            return UNKNOWN
        if gap.high < 0:
            return CLOSER
        return FARTHER if gap.low > 0 else AS_CLOSE if gap.high < self.margin else UNKNOWN

    @property
    def n_more(self) -> int | None:
        """Further rows after which the interval would leave the bound out, the figures being what they are; None where
        they are too near it to say."""
        if self.gap is not None:
            value, half, bound, unit = self.gap.estimate, (self.gap.high - self.gap.low) / 2, self.margin, self.step
        else:
            value, half, bound, unit = self.kappa.estimate, math.nan, self.bound, 1.0
            half = value - self.kappa_low if value > bound else self.kappa_high - value
        if math.isnan(value) or abs(value - bound) < 0.005 * unit:
            return None
        grown = 1.0 if math.isnan(half) else (half / abs(value - bound)) ** 2
        return max(1, math.ceil(max(self.n * grown, LEAST_ROWS)) + 1 - self.n)


def scale_standing(
    people: np.ndarray,
    labeller: np.ndarray,
    scale: np.ndarray,
    cluster: np.ndarray | None = None,
    bound: float | None = None,
    are_exchangeable: bool = False,
) -> ScaleStanding:
    """Whether a labeller's values on a scale may stand in for people's.

    With one person: usable where the 95 % interval of weighted kappa lies above `bound`, not usable where it lies
    below. With several: usable where the interval of the difference of distances (`distance_gap`) lies below `bound`
    steps and kappa's above 0, not usable where the former lies above. Between these the rows do not decide.

    Kappa's interval allows for one more row that differs by the whole scale, since of few rows none may show a rare
    large error: ``low = k - sqrt((k - l)^2 + (t R^2 / (n D))^2)`` with the bootstrap's lower end l, the scale's length
    R, the squared difference D that is expected by chance, and the t quantile of n rows (or clusters); the upper end
    likewise. Both are cut off at -1 and 1, beyond which no kappa lies.

    Parameters
    ----------
    people : (n_people, n_rows) float array
        Values on the scale, nan where a person has none.
    labeller : (n_rows,) float array
    scale : (n_values,) float array
        All values of the scale that people use.
    cluster : (n_rows,) array, optional
    bound : float, optional
        FLOOR with one person, MARGIN with several by default.
    are_exchangeable : bool
        As for `distance_gap`.

    Returns
    -------
    ScaleStanding
        Undecided with fewer than LEAST_ROWS rows (or clusters).

    References
    ----------
    Williamson, Xi and Breyer (2012), Educational Measurement: Issues and Practice 31(1), 2-13;
    doi:10.1111/j.1745-3992.2011.00223.x.

    Examples
    --------
    >>> judge = np.tile([1.0, 2, 3, 4, 5], 40)
    >>> found = scale_standing(judge[None, :], judge, np.arange(1.0, 6))
    >>> found.verdict, found.kappa.estimate, round(found.kappa_low, 2)
    ('usable', 1.0, 0.96)
    """
    people, labeller = np.asarray(people, dtype=float), np.asarray(labeller, dtype=float)
    has_peers, has_value = len(people) > 1, np.isfinite(people)
    rows = np.isfinite(labeller) & (has_value.sum(axis=0) > (1 if has_peers else 0))
    of_row = np.arange(len(labeller)) if cluster is None else np.asarray(cluster)
    person, row = np.nonzero(has_value & rows)
    theirs, mine = people[person, row], labeller[row]
    values = np.unique(np.concatenate([theirs, mine, np.asarray(scale, dtype=float)]))
    codes = np.searchsorted(values, theirs), np.searchsorted(values, mine)
    labels = Labels.of_two(*codes, tuple(map(str, values.tolist())), of_row[row], ("people", "labeller"))
    kappa = cohen_kappa(labels, 0, 1, "quadratic", values)
    reach = float(np.ptp(values)) if len(values) else 0.0
    interval = kappa.confidence_interval(RESAMPLES)
    n_rows = _effective(of_row[row])
    undefined = kappa.undefined or (
        "" if n_rows >= LEAST_ROWS else TOO_FEW_CLUSTERS if cluster is not None else TOO_FEW_ROWS
    )
    low, high = (math.nan, math.nan) if undefined else _widened(kappa, interval, theirs, mine, reach, n_rows)
    n_clusters = len(np.unique(of_row[rows]))
    chosen = bound if bound is not None else MARGIN if has_peers else FLOOR
    return ScaleStanding(
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        kappa_undefined=undefined,
        gap=distance_gap(people, labeller, reach, cluster, are_exchangeable) if has_peers else None,
        bound=chosen,
        step=step_of(np.asarray(scale, dtype=float)),
        n=int(rows.sum()),
        n_clusters=n_clusters if n_clusters < rows.sum() else None,
    )


def _effective(member: np.ndarray) -> float:
    """How many members of equal size would hold as much."""
    times = np.unique(member, return_counts=True)[1].astype(float)
    return float(times.sum() ** 2 / (times**2).sum()) if len(times) else 0.0


def _widened(
    kappa: CohenKappa, interval: Interval, theirs: np.ndarray, mine: np.ndarray, reach: float, n: float
) -> tuple[float, float]:
    from scipy.special import stdtrit

    chance = float((theirs**2).mean() + (mine**2).mean() - 2 * theirs.mean() * mine.mean())
    added = float(stdtrit(n - 1, 0.975)) * reach**2 / (n * chance)
    below = 0.0 if math.isnan(interval.low) else kappa.estimate - interval.low
    above = 0.0 if math.isnan(interval.high) else interval.high - kappa.estimate
    low, high = kappa.estimate - math.hypot(below, added), kappa.estimate + math.hypot(above, added)
    return max(LEAST_KAPPA, low), min(1.0, high)
