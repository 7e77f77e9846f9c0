"""Errors of a labeller on a scale: in all, and at each value of the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.means import grouped_means
from analysis.stats.resampling.padded import padded_ratio

NO_UNIT = "no unit has both values"
TOO_FEW = "too few units (or clusters) for an interval"


@dataclass(frozen=True, kw_only=True)
class ScaleError:
    """Mean error (labeller minus reference) of `n` units with its interval, and the mean absolute error with its own;
    nan where `undefined` gives a reason. `value` is the reference's, None of all units."""

    value: float | None
    n: int
    mean: float
    low: float
    high: float
    absolute: float
    absolute_low: float
    absolute_high: float
    undefined: str = ""


@dataclass(frozen=True)
class ErrorsAlong:
    """`all` units, and those at each value of the reference (`at`). `n_left_out` units lack a value."""

    all: ScaleError
    at: tuple[ScaleError, ...]
    n_left_out: int


def errors_along(
    labeller: np.ndarray, reference: np.ndarray, scale: np.ndarray, cluster: np.ndarray | None = None
) -> ErrorsAlong:
    """Mean error and mean absolute error of a labeller, in all and by the value of the reference.

    A reference between two values of the scale, such as a mean of people, counts at the nearer one (the lower one if
    both are as near). At the ends of a scale an error can go in one direction only, so even a labeller without bias is
    above the reference at the lowest value and below it at the highest.

    Intervals of mean errors are those of `padded_ratio`, with rows added that differ by the whole scale: of few unequal
    rows all may lie on one side by chance. Those of mean absolute errors are of `grouped_means`.

    Parameters
    ----------
    labeller, reference : (n_units,) float arrays
        nan where there is none.
    scale : (n_values,) float array
        The values of the scale, in order.
    cluster : (n_units,) array, optional

    Returns
    -------
    ErrorsAlong

    Examples
    --------
    >>> found = errors_along(np.array([2.0, 2, 3, 5]), np.array([1.0, 1, 3, 4.5]), np.arange(1.0, 6))
    >>> found.all.mean, [(one.value, one.mean) for one in found.at]
    (0.625, [(1.0, 1.0), (3.0, 0.0), (4.0, 0.5)])
    """
    labeller, reference = np.asarray(labeller, dtype=float), np.asarray(reference, dtype=float)
    scale = np.asarray(scale, dtype=float)
    both = np.isfinite(labeller) & np.isfinite(reference)
    labeller, reference = labeller[both], reference[both]
    cluster = None if cluster is None else np.asarray(cluster)[both]
    n_left_out = int((~both).sum())
    if not both.any():
        names = ("mean", "low", "high", "absolute", "absolute_low", "absolute_high")
        nothing = ScaleError(value=None, n=0, undefined=NO_UNIT, **dict.fromkeys(names, math.nan))
        return ErrorsAlong(nothing, (), n_left_out)
    error = labeller - reference
    reach = float(max(labeller.max(), reference.max(), *scale) - min(labeller.min(), reference.min(), *scale))
    at = np.abs(reference[:, None] - scale[None, :]).argmin(axis=1)
    used = np.unique(at)
    groups = np.column_stack([np.ones(len(error), dtype=bool), at[:, None] == used[None, :]])
    means = grouped_means(np.abs(error)[:, None], groups, cluster)
    rows = [
        _error(value, error, group, reach, cluster, float(means.mean[place, 0]), interval)
        for place, (value, group, (interval,)) in enumerate(
            zip([None, *scale[used].tolist()], groups.T, means.confidence_intervals(), strict=True)
        )
    ]
    return ErrorsAlong(rows[0], tuple(rows[1:]), n_left_out)


def _error(value, error: np.ndarray, group: np.ndarray, reach: float, cluster, absolute: float, interval) -> ScaleError:
    found = padded_ratio(error * group, group.astype(float), reach, cluster)
    is_known = found.n_effective >= 2
    low, high = found.ends(reach) if is_known else (math.nan, math.nan)
    return ScaleError(
        value=value,
        n=int(group.sum()),
        mean=found.estimate,
        low=low,
        high=high,
        absolute=absolute,
        absolute_low=interval.low,
        absolute_high=interval.high,
        undefined="" if is_known else TOO_FEW,
    )
