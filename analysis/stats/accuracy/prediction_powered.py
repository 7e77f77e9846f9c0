"""How common is a label, from few labels by people and many by a machine: prediction-powered inference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

TOO_FEW = "fewer than two units (or clusters) have a person's label"
TOO_FEW_WITH_BOTH = "fewer than two units (or clusters) have both a person's label and the machine's"
TOO_FEW_FOR_SLOPE = "fewer than three units (or clusters) have both a person's label and the machine's"
ONE_VALUE_OF_MACHINE = "the machine gives all units that people labelled one value"
NO_OTHERS = "no unit has a machine's label and none by people, so there is nothing to gain from"


@dataclass(frozen=True, kw_only=True)
class PoweredMean:
    """`estimate` with a 95 % interval (`low`, `high`), all nan where `undefined` gives a reason.

    `power` is lambda: how far the machine's labels are relied on, 0 (not at all) to 1. `n` units have both labels,
    `n_others` the machine's only; `n_clusters` is None where units were taken as independent.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    power: float
    n: int
    n_others: int
    n_clusters: int | None
    undefined: str = ""


def prediction_powered_mean(
    human: np.ndarray,
    machine: np.ndarray,
    others: np.ndarray,
    cluster: np.ndarray | None = None,
    others_cluster: np.ndarray | None = None,
    power: float | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """Mean of what people would say of all units: ``mean(Y - lambda F) + lambda mean(F')``.

    The machine's mean over the other units, corrected by how far it is off where people labelled too. With the lambda
    that the data choose, ``cov(Y, F) / ((1 + n / N) var(F, F'))`` cut to 0..1, the interval is about as wide as that of
    people's labels alone or narrower, however bad the machine. ``lambda = 0`` is people's labels alone.

    Parameters
    ----------
    human, machine : (n,) float arrays
        People's and the machine's values (1 and 0 for a rate) of the units that people labelled.
    others : (N,) float array
        The machine's values of units that nobody labelled.
    cluster, others_cluster : (n,) and (N,) int arrays, optional
        Variances are then of sums over clusters, which may hold units of both kinds, with a t distribution.
    power : float, optional
        A fixed lambda.
    level : float

    Returns
    -------
    PoweredMean
        Undefined with fewer than two labelled units or clusters, and without other units (unless ``power = 0``). It
        assumes that people labelled a random sample. Where all values are equal there is no interval (nan): the normal
        approximation would make one of width 0. Near 0 and 1 and with fewer than about ten units of the rarer
        kind the interval, being symmetric, covers less than it says.

    Raises
    ------
    ValueError
        Columns that do not fit; power outside 0..1.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382, 669-674; doi:10.1126/science.adi6000.
    Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453, section 6.

    Examples
    --------
    >>> result = prediction_powered_mean(np.array([1, 0, 1, 0]), np.array([1, 0, 1, 1]), np.array([1, 0] * 10), power=1)
    >>> result.estimate
    0.25
    """
    y, f, rest = (np.asarray(column, dtype=float) for column in (human, machine, others))
    if len(y) != len(f) or any(column.ndim != 1 for column in (y, f, rest)):
        raise ValueError("human and machine must be columns of one length, others a column")
    if (cluster is None) != (others_cluster is None):
        raise ValueError("either both kinds of units have clusters or neither has")
    if cluster is not None and (len(cluster) != len(y) or len(others_cluster) != len(rest)):
        raise ValueError("a cluster belongs to every unit")
    if power is not None and not 0 <= power <= 1:
        raise ValueError(f"power lies between 0 and 1, not {power}")
    n, n_others = len(y), len(rest)
    n_labelled = n if cluster is None else len(np.unique(cluster))
    undefined = NO_OTHERS if not n_others and power != 0 else ""
    if n_labelled < 2:
        undefined = TOO_FEW if power == 0 else TOO_FEW_WITH_BOTH
    if undefined:
        nothing = dict.fromkeys(("estimate", "low", "high", "standard_error", "power"), np.nan)
        return PoweredMean(n=n, n_others=n_others, n_clusters=None, undefined=undefined, **nothing)
    weight = _power(y, f, rest) if power is None else float(power)
    rectified = y - weight * f
    others_mean = weight * rest.mean() if weight else 0.0
    estimate = float(rectified.mean() + others_mean)
    share = (rectified - rectified.mean()) / n
    share_of_others = weight * (rest - rest.mean()) / n_others if weight else np.zeros(n_others)
    n_clusters, quantile = None, scipy.special.ndtri((1 + level) / 2)
    if cluster is None:
        variance = (share**2).sum() + (share_of_others**2).sum()
    else:
        # Without reliance on the machine, clusters that people left alone say nothing.
        groups = np.concatenate([cluster, others_cluster]) if weight else np.asarray(cluster)
        values = np.concatenate([share, share_of_others]) if weight else share
        group = np.unique(groups, return_inverse=True)[1]
        sums = np.bincount(group, values)
        n_clusters = len(sums)
        variance = n_clusters / (n_clusters - 1) * (sums**2).sum()
        quantile = scipy.special.stdtrit(n_labelled - 1, (1 + level) / 2)
    error = float(np.sqrt(variance))
    return _with_interval(estimate, error, quantile, weight, n, n_others, n_clusters)


def _with_interval(
    estimate: float, error: float, quantile: float, power: float, n: int, n_others: int, n_clusters: int | None
) -> PoweredMean:
    # Rounding must not make an interval of nothing.
    half = quantile * error if error > 1e-12 else np.nan
    return PoweredMean(
        estimate=estimate,
        low=float(estimate - half),
        high=float(estimate + half),
        standard_error=error,
        power=power,
        n=n,
        n_others=n_others,
        n_clusters=n_clusters,
    )


def _power(y: np.ndarray, f: np.ndarray, rest: np.ndarray) -> float:
    spread = np.concatenate([f, rest]).var(ddof=1)
    if spread == 0:
        return 0.0
    together = ((y - y.mean()) * (f - f.mean())).mean()
    return float(np.clip(together / ((1 + len(y) / len(rest)) * spread), 0, 1))


def regression_mean(
    human: np.ndarray,
    machine: np.ndarray,
    others: np.ndarray,
    cluster: np.ndarray | None = None,
    others_cluster: np.ndarray | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """Mean of what people would say of all units, by regression: ``mean(Y) + b (mean(F, F') - mean(F))``.

    The regression estimator of survey sampling, with b the slope of people's values on the machine's where both are
    known (`power`; not cut to 0..1, so that it also corrects the machine's unit). A unit with both contributes
    ``e / n + b (F - m) / (n + N)`` to the deviation, another ``b (F' - m) / (n + N)``, with the residual e and the mean
    m of all values of the machine; the variance has the factor ``n / (n - 2)``, and the interval n - 2 degrees of
    freedom (of clusters, where there are any).

    Parameters as in `prediction_powered_mean`.

    Returns
    -------
    PoweredMean
        Undefined with fewer than three labelled units or clusters, without others, and where the machine's values of
        labelled units are all the same. It assumes that people labelled a random sample.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd ed., section 7.3; Särndal, Swensson and Wretman (1992), Model Assisted
    Survey Sampling, section 6.4.

    Examples
    --------
    >>> result = regression_mean(np.array([2.0, 4, 6, 9]), np.array([1.0, 2, 3, 4]), np.array([5.0, 5, 5, 5]))
    >>> round(result.estimate, 3), round(result.power, 3)
    (8.125, 2.3)
    """
    y, f, rest = (np.asarray(column, dtype=float) for column in (human, machine, others))
    n, n_others = len(y), len(rest)
    n_labelled = n if cluster is None else len(np.unique(cluster))
    undefined = NO_OTHERS if not n_others else TOO_FEW_FOR_SLOPE if n_labelled < 3 else ""
    if not undefined and np.ptp(f) == 0:
        undefined = ONE_VALUE_OF_MACHINE
    if undefined:
        nothing = dict.fromkeys(("estimate", "low", "high", "standard_error", "power"), np.nan)
        return PoweredMean(n=n, n_others=n_others, n_clusters=None, undefined=undefined, **nothing)
    centred = f - f.mean()
    slope = float(centred @ y / (centred @ centred))
    every = np.concatenate([f, rest])
    estimate = float(y.mean() + slope * (every.mean() - f.mean()))
    residual = y - y.mean() - slope * centred
    share = slope * (every - every.mean()) / len(every)
    share[:n] += residual / n
    n_clusters = None
    if cluster is not None:
        group = np.unique(np.concatenate([cluster, others_cluster]), return_inverse=True)[1]
        share = np.bincount(group, share)
        n_clusters = len(share)
    error = float(np.sqrt(n_labelled / (n_labelled - 2) * (share**2).sum()))
    quantile = scipy.special.stdtrit(n_labelled - 2, (1 + level) / 2)
    return _with_interval(estimate, error, quantile, slope, n, n_others, n_clusters)
