"""How far a labeller is from people on a scale, against how far people are from each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.padded import padded_ratio

# With fewer rows (or clusters) the interval is not trusted.
LEAST_ROWS = 20
# From so many people on they are taken as a sample of people, and not only the rows as a sample of rows.
SAMPLED_PEOPLE = 5
NO_PAIR = "no row has a value of the labeller and of two people"
TOO_FEW = f"fewer than {LEAST_ROWS} rows have values of two people"
TOO_FEW_CLUSTERS = f"the rows lie in fewer than {LEAST_ROWS} clusters, or one cluster outweighs the others"


@dataclass(frozen=True, kw_only=True)
class DistanceGap:
    """`estimate` is the labeller's mean distance to a person (`labeller`) minus that of the other people to the same
    person (`people`), over the same rows; `low` and `high` are its 95 % interval, nan where `undefined` gives a reason.

    `n` rows have a value of the labeller and of two people; `n_effective` of equal weight would hold as much.
    `is_of_people` says whether the interval also holds for other people than these. `labeller_ends` and `people_ends`
    are the intervals of either mean distance, over rows (or clusters) alone.
    """

    labeller: float
    people: float
    estimate: float
    low: float
    high: float
    n: int
    n_effective: float
    is_of_people: bool
    labeller_ends: tuple[float, float] = (math.nan, math.nan)
    people_ends: tuple[float, float] = (math.nan, math.nan)
    undefined: str = ""


def distance_gap(
    people: np.ndarray,
    labeller: np.ndarray,
    reach: float,
    cluster: np.ndarray | None = None,
    are_exchangeable: bool = False,
) -> DistanceGap:
    """Mean ``|labeller - person|`` minus mean ``|other person - person|`` over the same persons and rows.

    With n_u people on row u, a row adds ``sum_i |x_u - y_ui|`` and ``sum_{i != k} |y_uk - y_ui| / (n_u - 1)``, and n_u
    to the denominator. The error is linearised over rows, or clusters (`padded_ratio`). With at least SAMPLED_PEOPLE
    people, the jackknife variance over people, ``(P - 1) / P sum_i (d_-i - mean)^2``, is added, and the degrees of
    freedom are those of Satterthwaite (1946).

    Parameters
    ----------
    people : (n_people, n_rows) float array
        nan where a person has no value.
    labeller : (n_rows,) float array
        nan where there is none.
    reach : float
        The length of the scale: the largest possible distance.
    cluster : (n_rows,) array, optional
    are_exchangeable : bool
        Rows of `people` are no persons, but places for unnamed people: they are never taken as a sample.

    Returns
    -------
    DistanceGap
        Undefined where no row has the labeller and two people; without an interval where fewer than LEAST_ROWS
        effective rows, or clusters, have.

    References
    ----------
    Agresti and Min (2005), Statistics in Medicine 24(5), 729-740; doi:10.1002/sim.1781 (added rows). Satterthwaite
    (1946), Biometrics Bulletin 2(6), 110-114; doi:10.2307/3002019.

    Examples
    --------
    >>> people = np.tile([[1.0, 2, 3, 4], [2, 2, 3, 5]], 10)
    >>> found = distance_gap(people, np.tile([1.0, 2, 3, 4], 10), 4)
    >>> found.labeller, found.people, found.estimate
    (0.25, 0.5, -0.25)
    """
    people, labeller = np.asarray(people, dtype=float), np.asarray(labeller, dtype=float)
    rows = np.isfinite(labeller) & (np.isfinite(people).sum(axis=0) > 1)
    people, labeller, n = people[:, rows], labeller[rows], int(rows.sum())
    cluster = None if cluster is None else np.asarray(cluster)[rows]
    if not n:
        nothing = dict.fromkeys(("labeller", "people", "estimate", "low", "high"), math.nan)
        return DistanceGap(n=0, n_effective=0.0, is_of_people=False, undefined=NO_PAIR, **nothing)
    has_value = np.isfinite(people)
    count = has_value.sum(axis=0)
    value, person = _packed(people, has_value, count)
    has = np.isfinite(value)
    own = np.where(has, np.abs(value - labeller), 0.0)
    # The sum of the distances of each one to the others of the row.
    among = sum(np.where(has & np.isfinite(other), np.abs(value - other), 0.0) for other in value)
    of_labeller, of_people = own.sum(axis=0), among.sum(axis=0) / (count - 1)
    found = padded_ratio(of_labeller - of_people, count, reach, cluster)
    n_people = int(has_value.any(axis=1).sum())
    is_of_people = n_people >= SAMPLED_PEOPLE and not are_exchangeable
    known = {
        "labeller": float(of_labeller.sum() / count.sum()),
        "people": float(of_people.sum() / count.sum()),
        "estimate": found.estimate,
        "n": n,
        "n_effective": found.n_effective,
        "is_of_people": is_of_people,
    }
    if found.n_effective < LEAST_ROWS:
        reason = TOO_FEW if cluster is None else TOO_FEW_CLUSTERS
        return DistanceGap(low=math.nan, high=math.nan, undefined=reason, **known)
    for name, sums in (("labeller_ends", of_labeller), ("people_ends", of_people)):
        low, high = padded_ratio(sums, count, reach, cluster).ends(reach)
        known[name] = max(0.0, low), high
    error, freedom = found.error, found.n_effective - 1
    if is_of_people:
        of_rows, by_people = error**2, _variance_over_people(own, among, count, person, has)
        total = of_rows + by_people
        freedom = total**2 / (of_rows**2 / freedom + by_people**2 / (n_people - 1))
        error = math.sqrt(total)
    low, high = found.ends(reach, error, freedom)
    return DistanceGap(low=low, high=high, **known)


def _packed(people: np.ndarray, has_value: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of each row in its first places, and who gave them: of many people few label one row."""
    first = np.argsort(~has_value, axis=0, kind="stable")[: int(count.max())]
    return np.take_along_axis(people, first, axis=0), first


def _variance_over_people(
    own: np.ndarray, among: np.ndarray, count: np.ndarray, person: np.ndarray, has: np.ndarray
) -> float:
    """The jackknife variance of the gap over people. Without a person, a row loses their distances to the others in
    both directions, and does not count at all where only one person is left."""
    before = own.sum(axis=0) - among.sum(axis=0) / (count - 1)
    left = np.maximum(count - 2, 1)
    after = np.where(count > 2, own.sum(axis=0) - own - (among.sum(axis=0) - 2 * among) / left, 0.0)
    weight = np.where(count > 2, count - 1, 0)
    _, who = np.unique(person[has], return_inverse=True)
    change, less = (
        np.bincount(who, column[has]) for column in (before - after, np.broadcast_to(count - weight, own.shape))
    )
    remaining = count.sum() - less
    without = (before.sum() - change)[remaining > 0] / remaining[remaining > 0]
    n = len(without)
    return float((n - 1) / n * ((without - without.mean()) ** 2).sum()) if n > 1 else 0.0
