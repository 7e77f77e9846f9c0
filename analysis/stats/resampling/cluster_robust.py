"""Coefficients of linear and logistic regressions with standard errors clustered in one or two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

NOTHING = "there are no observations"
NO_CONTRAST = "everything compared has the same value"
NO_CONTRAST_WITHIN = "nobody has both of what is compared"
NOT_TOLD_APART = "the columns of the regression are linearly dependent"
ONE_CLUSTER = "fewer than two clusters on a side that is compared"
SEPARATED = "one side has no case, or only cases, so the odds are 0 or infinite"
NO_SPREAD = "the outcome does not vary on either side, so the data give no interval"
ONE_CLUSTER_IN_ALL = "fewer than two clusters in some way of clustering"
ALIKE = "in some way of clustering all clusters have the same mean, so the data give no interval"
# Columns with more different rows than this are taken for measurements, which have no sides.
MOST_SIDES = 8
# Rounding must not make an interval of nothing.
NO_ERROR = 1e-10


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A coefficient, or what follows from it, with its interval.

    `estimate` is nan where `undefined` gives a reason; `low`, `high`, `standard_error` and `p_value` may be nan where
    `no_interval` gives one. `n_clusters` has an entry per way of clustering. `p_value` is that of no effect.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    p_value: float
    n: int
    n_left_out: int
    n_clusters: tuple[int, ...]
    level: float
    method: str
    undefined: str = ""
    no_interval: str = ""

    def exponentiated(self) -> Effect:
        """Of a coefficient of logarithms: the ratio, with the interval's ends taken along. The standard error stays
        that of the logarithm."""
        return replace(
            self, estimate=float(np.exp(self.estimate)), low=float(np.exp(self.low)), high=float(np.exp(self.high))
        )


def clustered_effect(
    outcome: np.ndarray,
    regressor: np.ndarray,
    groups: Sequence[np.ndarray],
    covariates: np.ndarray | None = None,
    within: np.ndarray | None = None,
    level: float = 0.95,
) -> Effect:
    """Coefficient of one column in a least-squares regression, with clustered standard errors.

    For a column of 0 and 1 alone this is the difference of two means. The variance is
    ``V_1 + V_2 - V_12`` for two ways of clustering (the last of their intersections), each a sandwich with the factor
    ``G / (G - 1) (N - 1) / (N - K)``; it is never taken smaller than the smaller of V_1 and V_2 (see `two_ways`). The
    interval has a t distribution with one degree of freedom less than the smallest number of clusters.

    Parameters
    ----------
    outcome, regressor : (n,) float arrays
        Rows with nan in either are left out and counted.
    groups : one or two (n,) columns
        The clusters of each row.
    covariates : (n, p) float array, optional
        Further columns of the regression.
    within : (n,) column, optional
        Compare only within these groups (their fixed effects).
    level : float

    Returns
    -------
    Effect
        Undefined where nothing is left, the column does not vary or follows from the others. There is no interval where
        a side (a combination of values, where there are few) has fewer than two clusters in some way, and where the
        regression leaves no error.

    Raises
    ------
    ValueError
        Columns of different lengths; not one or two ways of clustering.

    References
    ----------
    Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering, Journal of Business and Economic
    Statistics 29(2), 238-249, eq. 2.11; doi:10.1198/jbes.2010.07136.

    Examples
    --------
    >>> seen = np.array([0, 1] * 4)
    >>> agrees = np.array([0, 1, 1, 1, 0, 0, 0, 1])
    >>> result = clustered_effect(agrees, seen, [np.repeat([0, 1, 2, 3], 2)])
    >>> round(result.estimate, 3), round(result.standard_error, 3)
    (0.5, 0.312)
    """
    outcome, regressor = np.asarray(outcome, dtype=float), np.asarray(regressor, dtype=float)
    others = np.zeros((len(outcome), 0)) if covariates is None else np.asarray(covariates, dtype=float)
    keep = _kept(outcome, regressor, groups)
    outcome, regressor, others = outcome[keep], regressor[keep], others[keep]
    codes = [np.unique(np.asarray(group)[keep], return_inverse=True)[1] for group in groups]
    start = _observed(len(keep), codes, level, "least squares")
    if not len(regressor) or np.ptp(regressor) == 0:
        return start.undefined(NO_CONTRAST if len(regressor) else NOTHING)
    columns, y = np.column_stack([regressor, others, np.ones(len(regressor))]), outcome
    few = _few_clusters(columns, codes)
    if within is not None:
        group = np.unique(np.asarray(within)[keep], return_inverse=True)[1]
        columns, y = _centred(columns[:, :-1], group), _centred(outcome[:, None], group)[:, 0]
        if np.abs(columns[:, 0]).max() < NO_ERROR:
            return start.undefined(NO_CONTRAST_WITHIN)
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        return start.undefined(NOT_TOLD_APART)
    inverse = np.linalg.pinv(columns)
    coefficients = inverse @ y
    first = np.eye(columns.shape[1])[0]
    variance = _variance(columns * (y - columns @ coefficients)[:, None], inverse @ inverse.T, first, codes)
    return start.effect(float(coefficients[0]), variance, few)


def clustered_mean(outcome: np.ndarray, groups: Sequence[np.ndarray], level: float = 0.95) -> Effect:
    """Mean (of 0 and 1: a share) with a clustered standard error.

    The variance, the degrees of freedom and the interval are those of `clustered_effect`, for a regression on nothing
    but a constant.

    Parameters
    ----------
    outcome : (n,) float array
        Rows with nan are left out and counted.
    groups : one or two (n,) columns
        The clusters of each row.
    level : float

    Returns
    -------
    Effect
        Undefined where nothing is left. There is no interval with fewer than two clusters in some way, and where
        clusters do not differ. `p_value` is nan: no mean is the one to be tested against.

    Raises
    ------
    ValueError
        Columns of different lengths; not one or two ways of clustering.

    References
    ----------
    Cameron, Gelbach and Miller (2011), eq. 2.11.

    Examples
    --------
    Means of the clusters are 0, 1/2 and 1.

    >>> result = clustered_mean(np.array([0, 0, 0, 1, 1, 1]), [np.repeat([0, 1, 2], 2)])
    >>> round(result.estimate, 3), round(result.standard_error, 3)
    (0.5, 0.289)
    """
    outcome = np.asarray(outcome, dtype=float)
    keep = _kept(outcome, outcome, groups)
    outcome = outcome[keep]
    codes = [np.unique(np.asarray(group)[keep], return_inverse=True)[1] for group in groups]
    start = _observed(len(keep), codes, level, "mean")
    if not len(outcome):
        return start.undefined(NOTHING)
    mean = float(outcome.mean())
    variance = _variance((outcome - mean)[:, None], np.array([[1 / len(outcome)]]), np.ones(1), codes)
    few = ONE_CLUSTER_IN_ALL if any(_n_clusters(code) < 2 for code in codes) else ""
    alike = "" if variance > NO_ERROR**2 else ALIKE
    return replace(start.effect(mean, variance, few or alike), p_value=np.nan)


def clustered_logit(
    outcome: np.ndarray, regressor: np.ndarray, groups: Sequence[np.ndarray], level: float = 0.95
) -> tuple[Effect, Effect]:
    """Odds ratio of a column of 0 and 1 in a logistic regression, and its average marginal effect.

    Clustering, degrees of freedom and the choice of the variance are those of `clustered_effect`; the marginal effect
    (the mean difference of the fitted chances with 1 and with 0) has its error by the delta method.

    Parameters
    ----------
    outcome, regressor : (n,) arrays of 0 and 1
        Rows with nan are left out and counted.
    groups : one or two (n,) columns
    level : float

    Returns
    -------
    odds ratio, marginal effect : Effect
        Both undefined where `clustered_effect` is. The odds ratio is undefined under separation (a side has no case, or
        only cases); the marginal effect then is the difference of the shares, with no interval.

    References
    ----------
    Cameron, Gelbach and Miller (2011), section 2.3 (the same variance for estimators that solve score equations).

    Examples
    --------
    Cases are 3 of 4 with and 1 of 4 without: the odds are 3 and 1/3.

    >>> regressor, outcome = np.repeat([1, 0], 4), np.array([1, 1, 1, 0, 1, 0, 0, 0])
    >>> odds, marginal = clustered_logit(outcome, regressor, [np.arange(8)])
    >>> round(odds.estimate, 4), round(marginal.estimate, 4)
    (9.0, 0.5)
    """
    outcome, regressor = np.asarray(outcome, dtype=float), np.asarray(regressor, dtype=float)
    keep = _kept(outcome, regressor, groups)
    y, regressor = outcome[keep], regressor[keep]
    codes = [np.unique(np.asarray(group)[keep], return_inverse=True)[1] for group in groups]
    start = _observed(len(keep), codes, level, "logit")
    if not len(regressor) or np.ptp(regressor) == 0:
        nothing = start.undefined(NO_CONTRAST if len(regressor) else NOTHING)
        return nothing, nothing
    shares = [float(y[regressor == side].mean()) for side in (1, 0)]
    if any(share in (0.0, 1.0) for share in shares):
        return start.undefined(SEPARATED), start.effect(shares[0] - shares[1], np.nan, SEPARATED)
    # With one column of two sides the fitted chances are the shares, and everything else follows in closed form.
    log_odds = float(scipy.special.logit(shares[0]) - scipy.special.logit(shares[1]))
    spread = [share * (1 - share) for share in shares]
    by_one, by_zero = (1 / (spread[k] * (regressor == side).sum()) for k, side in enumerate((1, 0)))
    bread = np.array([[by_one + by_zero, -by_zero], [-by_zero, by_zero]])
    scores = np.column_stack([regressor, np.ones(len(regressor))]) * (y - np.where(regressor == 1, *shares))[:, None]
    few = _few_clusters(regressor[:, None], codes)
    odds = start.effect(log_odds, _variance(scores, bread, np.array([1.0, 0.0]), codes), few).exponentiated()
    slope = np.array([spread[0], spread[0] - spread[1]])
    return odds, start.effect(shares[0] - shares[1], _variance(scores, bread, slope, codes), few)


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What every result from the same observations has in common."""

    n: int
    n_left_out: int
    n_clusters: tuple[int, ...]
    level: float
    method: str

    def undefined(self, reason: str) -> Effect:
        return self._effect(np.nan, np.nan, reason, "")

    def effect(self, estimate: float, variance: float, no_interval: str) -> Effect:
        """With an interval from the variance unless there is a reason for none."""
        error = float(np.sqrt(variance)) if variance > 0 else np.nan
        reason = no_interval or ("" if error > NO_ERROR else NO_SPREAD)
        return self._effect(estimate, np.nan if reason else error, "", reason)

    def _effect(self, estimate: float, error: float, undefined: str, no_interval: str) -> Effect:
        freedom = max(min(self.n_clusters) - 1, 1)
        half = scipy.special.stdtrit(freedom, (1 + self.level) / 2) * error
        return Effect(
            estimate=estimate,
            low=float(estimate - half),
            high=float(estimate + half),
            standard_error=error,
            p_value=float(2 * scipy.special.stdtr(freedom, -abs(estimate) / error)),
            n=self.n,
            n_left_out=self.n_left_out,
            n_clusters=self.n_clusters,
            level=self.level,
            method=self.method,
            undefined=undefined,
            no_interval=no_interval,
        )


def _observed(n_rows: int, codes: list[np.ndarray], level: float, what: str) -> Observed:
    return Observed(
        n=len(codes[0]),
        n_left_out=n_rows - len(codes[0]),
        n_clusters=tuple(_n_clusters(code) for code in codes),
        level=level,
        method=f"{what}, clustered in {'two ways' if len(codes) == 2 else 'one way'}",
    )


def _kept(outcome: np.ndarray, regressor: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    if len(groups) not in (1, 2):
        raise ValueError(f"cluster in one or two ways, not {len(groups)}")
    if any(len(column) != len(outcome) for column in (regressor, *groups)):
        raise ValueError("outcome, of and groups differ in length")
    return ~(np.isnan(outcome) | np.isnan(regressor))


def _few_clusters(columns: np.ndarray, codes: list[np.ndarray]) -> str:
    """A side with one cluster tells nothing about how much clusters differ, and makes the sandwich far too small."""
    side = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        values, place = np.unique(column, return_inverse=True)
        side = np.unique(side * len(values) + place, return_inverse=True)[1]
    n_sides = int(side.max(initial=-1)) + 1
    if n_sides > MOST_SIDES:
        side, n_sides = np.zeros(len(columns), dtype=np.int64), 1
    for code in codes:
        n_clusters = _n_clusters(code)
        in_side = np.bincount(side * n_clusters + code, minlength=n_sides * n_clusters).reshape(n_sides, n_clusters)
        if (in_side > 0).sum(axis=1).min() < 2:
            return ONE_CLUSTER
    return ""


def _centred(columns: np.ndarray, group: np.ndarray) -> np.ndarray:
    times = np.bincount(group)
    means = np.column_stack([np.bincount(group, column) / times for column in columns.T])
    return columns - means[group]


def two_ways(first: float, second: float, intersection: float) -> float:
    """The variance clustered in two ways, from those of each way and of their intersections. The difference is noisy
    with few clusters and may be negative; it is never taken smaller than the smaller of the first two."""
    return max(first + second - intersection, min(first, second))


def _variance(scores: np.ndarray, inverse: np.ndarray, combination: np.ndarray, codes: list[np.ndarray]) -> float:
    """Sandwich variance of a combination of coefficients.

    `scores` are what each row adds to the equations that the coefficients solve, (n, k); `inverse` is the inverse of
    their derivative, (k, k).
    """
    n, k = scores.shape
    if n <= k or any(_n_clusters(code) < 2 for code in codes):
        return np.nan

    def clustered(code: np.ndarray) -> float:
        n_clusters = _n_clusters(code)
        sums = np.column_stack([np.bincount(code, column, minlength=n_clusters) for column in scores.T])
        factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
        return factor * float(((sums @ (inverse.T @ combination)) ** 2).sum())

    if len(codes) == 1:
        return clustered(codes[0])
    both = np.unique(codes[0] * _n_clusters(codes[1]) + codes[1], return_inverse=True)[1]
    return two_ways(clustered(codes[0]), clustered(codes[1]), clustered(both))


def _n_clusters(code: np.ndarray) -> int:
    """`code` numbers the clusters from 0; each has a row."""
    return int(code.max(initial=-1)) + 1
