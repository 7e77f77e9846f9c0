"""Two measurements of the same units: their means, how far one lies from the other, and their correlation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.stats.resampling.bootstrap import SumSample, divide
from analysis.stats.resampling.intervals import Interval
from analysis.stats.resampling.joint import joint_intervals

NO_UNIT = "no unit has both"
FEW_UNITS = "fewer than two units have both"
CONSTANT = "one of the two is the same for every unit"
# Rounding must not make a correlation of a constant.
ROUNDING = 1e-12


@dataclass(frozen=True)
class MovedFigure:
    """`estimate` is nan where `undefined` gives a reason; so are the ends of `interval`."""

    estimate: float
    undefined: str
    interval: Interval | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Moved:
    """`before` and `now` hold a mean per column, `moved` is the mean distance, `pearson` a correlation per column."""

    n: int
    before: tuple[MovedFigure, ...]
    now: tuple[MovedFigure, ...]
    moved: MovedFigure
    pearson: tuple[MovedFigure, ...]
    sample: SumSample = field(repr=False)


def moved(
    before: np.ndarray,
    now: np.ndarray,
    cluster: np.ndarray | None = None,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Moved:
    """Means of columns measured twice, the mean distance of the two, and Pearson's correlation of each column.

    The distance of a unit is ``|now - before|`` for one column, and half the sum of these over several, which for
    probabilities is the total variation.

    Parameters
    ----------
    before, now : (n_units,) or (n_units, n_columns) float arrays
        Defined everywhere.
    cluster : (n_units,) int array, optional
    n_resamples : int
        0 leaves the intervals out: they are None.
    level, seed : float, int

    Returns
    -------
    Moved
        Each figure with its interval over units, or over clusters, all from the same resamples (`joint_intervals`).
        Everything is undefined without a unit, a correlation also with one, and where a column is constant.

    Raises
    ------
    ValueError
        Shapes that do not fit.

    Examples
    --------
    >>> result = moved([1.0, 2.0, 4.0], [2.0, 2.0, 6.0], n_resamples=0)
    >>> round(result.now[0].estimate, 3), result.moved.estimate, round(result.pearson[0].estimate, 3)
    (3.333, 1.0, 0.945)
    """
    sides = [np.asarray(side, dtype=float) for side in (before, now)]
    x, y = (side[:, None] if side.ndim == 1 else side for side in sides)
    if x.shape != y.shape or (cluster is not None and len(cluster) != len(x)):
        raise ValueError("before, now and cluster differ in shape")
    n, k = x.shape
    distance = np.abs(x - y).sum(axis=1) / (1 if k == 1 else 2)
    # Correlations are of what is left about the means, which keeps the digits of scores that are all large.
    centre = [side.mean(axis=0) if n else np.zeros(k) for side in (x, y)]
    a, b = x - centre[0], y - centre[1]
    features = np.column_stack([a, b, distance, a * a, b * b, a * b, np.ones(n)])

    def figures(sums: np.ndarray) -> np.ndarray:
        total = sums[:, -1:]
        mean_a, mean_b = divide(sums[:, :k], total), divide(sums[:, k : 2 * k], total)
        squares_a, squares_b, both = (
            divide(sums[:, 2 * k + 1 + place * k : 2 * k + 1 + (place + 1) * k], total) for place in range(3)
        )
        spread_a, spread_b = squares_a - mean_a**2, squares_b - mean_b**2
        varies = (spread_a > ROUNDING * squares_a) & (spread_b > ROUNDING * squares_b)
        pearson = divide(both - mean_a * mean_b, np.sqrt(np.where(varies, spread_a * spread_b, 0)))
        means = mean_a + centre[0], mean_b + centre[1], divide(sums[:, 2 * k : 2 * k + 1], total)
        return np.hstack([*means, np.clip(pearson, -1, 1)])

    sample = SumSample(features, np.arange(n), cluster, figures, work_per_row=6 * k)
    estimates = figures(sample.sums())[0] if n else np.full(3 * k + 1, np.nan)
    constant = np.ptp(x, axis=0) * np.ptp(y, axis=0) == 0 if n else np.ones(k, dtype=bool)
    estimates[2 * k + 1 :][constant] = np.nan
    no_pearson = [FEW_UNITS if n == 1 else CONSTANT if is_constant else "" for is_constant in constant]
    reasons = [""] * (2 * k + 1) + no_pearson if n else [NO_UNIT] * (3 * k + 1)
    intervals = (
        joint_intervals(
            sample,
            estimates,
            lambda sums: sums[:, -1:] > 0,
            reasons=reasons,
            n_resamples=n_resamples,
            level=level,
            seed=seed,
        )
        if n_resamples
        else (None,) * len(reasons)
    )
    measured = tuple(
        MovedFigure(float(estimate), reason, interval)
        for estimate, reason, interval in zip(estimates, reasons, intervals, strict=True)
    )
    return Moved(
        n=n,
        before=measured[:k],
        now=measured[k : 2 * k],
        moved=measured[2 * k],
        pearson=measured[2 * k + 1 :],
        sample=sample,
    )
