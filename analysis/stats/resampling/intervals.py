"""From resampled values to an interval: bias-corrected, accelerated, and expanded for small numbers of clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

# Below so many clusters (or units) an interval says that it may cover less.
FEW = 30
# The same of units or clusters that inform: of a share of 1 % of 300 units, three do.
FEW_INFORMATIVE = 10
# Rounding must not make an interval of nothing, nor count an equal value as a smaller one.
ROUNDING = 1e-12
UNDEFINED_RESAMPLES = "the figure is undefined in nearly every resample"
NEARLY_SAME = "nearly every resample gives the same figure, so resampling cannot tell how uncertain it is"
NOT_CONTAINED = "resampled figures lie so unevenly about the figure that their interval would not contain it"


@dataclass(frozen=True)
class Interval:
    """A confidence interval and how it was made.

    `low` and `high` are nan where `undefined` gives a reason. `n_undefined` resamples had no defined value and are left
    out of the quantiles. `n_clusters` is None when single units were resampled. `note` is a warning about the interval;
    empty if there is none.
    """

    low: float
    high: float
    level: float
    method: str
    n_resamples: int
    n_undefined: int
    n_clusters: int | None
    undefined: str = ""
    note: str = ""


def interval_method(clustered: bool) -> str:
    """The name of the method for tables and texts."""
    return f"bootstrap over {'clusters' if clustered else 'units'} (BCa, expanded)"


def resampled_interval(
    values: np.ndarray,
    estimate: float,
    influence: tuple[np.ndarray, np.ndarray],
    n_drawn: int,
    clustered: bool,
    level: float,
    n_effective: float | None = None,
    are_shared: bool | None = None,
) -> Interval:
    """Expanded BCa interval from the values of a figure in bootstrap resamples.

    With the standard normal quantile z of a tail, the interval ends at the quantiles
    ``Phi(z_0 + (z_0 + z') / (1 - a (z_0 + z')))`` of the resampled values. ``z_0`` is the normal quantile of the share
    of resampled values below the estimate, equal ones counted half (bias correction); ``a = sum d^3 / (6 (sum
    d^2)^1.5)`` with the influences d (acceleration, from the skewness); and ``z' = sqrt(n / (n - 1)) t_{n - 1}`` takes
    the place of z, with the quantile t of Student's distribution for n units or clusters (expansion): resamples spread
    by ``sqrt((n - 1) / n)`` too little, and do not know that the spread is itself estimated. Quantiles are the
    ``(B + 1) p``-th of B values, whose expected coverage is p whatever B is.

    Parameters
    ----------
    values : (n_resamples,) float array
        nan where the figure is undefined.
    estimate : float
    influence : two (m,) arrays
        How far the figure falls when one unit or cluster is left out, and for how many of them that is so. Empty arrays
        leave the acceleration out.
    n_drawn : int
        Units or clusters in a resample, at least 2.
    clustered : bool
    level : float
        Between 0 and 1, such as 0.95.
    n_effective : float, optional
        The n of the expansion, where it is not that drawn.
    are_shared : bool, optional
        Whether some cluster has several units: else method, reasons and notes speak of units. By default `clustered`.

    Returns
    -------
    Interval
        Undefined with fewer than two defined resamples, and where nearly every resample gives the same figure: such
        data show no spread, which does not mean that there is none. Undefined too where it would not contain the
        estimate, because nearly all resamples lie on one side of it: no correction of the bias holds there.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, Journal of the American Statistical Association 82(397),
    171-185; doi:10.1080/01621459.1987.10478410. Hesterberg (2015), What teachers should know about the bootstrap, The
    American Statistician 69(4), 371-386, section 4.4 (expansion) and 4.6.2 (quantiles);
    doi:10.1080/00031305.2015.1089789.

    Examples
    --------
    Eleven values about an estimate of 5 and no skewness: the expanded tails of 8 units lie beyond all of them.

    >>> none = np.zeros(0), np.zeros(0)
    >>> interval = resampled_interval(np.arange(11.0), 5.0, none, 8, False, 0.8)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.0, 10.0)
    """
    are_shared = clustered if are_shared is None else are_shared
    method, n_clusters = interval_method(are_shared), n_drawn if clustered else None
    defined = np.sort(values[~np.isnan(values)])
    n_undefined = len(values) - len(defined)

    def interval(low: float, high: float, undefined: str = "", note: str = "") -> Interval:
        return Interval(float(low), float(high), level, method, len(values), n_undefined, n_clusters, undefined, note)

    if len(defined) < 2:
        return interval(np.nan, np.nan, UNDEFINED_RESAMPLES)
    rounding = ROUNDING * max(1.0, abs(estimate))
    if defined[-1] - defined[0] <= rounding:
        return interval(np.nan, np.nan, no_spread(n_drawn, are_shared, level))
    below = (np.searchsorted(defined, estimate - rounding) + np.searchsorted(defined, estimate + rounding, "right")) / 2
    n_defined = len(defined)
    # An estimate beyond all resampled values is taken to lie between the outermost and the end.
    bias = scipy.special.ndtri(np.clip(below / n_defined, 1 / (n_defined + 1), n_defined / (n_defined + 1)))
    n = n_drawn if n_effective is None else n_effective
    tails = bca_tails(bias, acceleration(*influence), n, level)
    ends = np.interp((n_defined + 1) * tails - 1, np.arange(n_defined), defined)
    note = few_note(n, are_shared) or few_informative_note(influence, n_drawn, are_shared)
    return holding(interval(*ends, note=note), estimate)


def holding(interval: Interval, estimate: float) -> Interval:
    """The interval of a figure; undefined, with the reason, where it would not contain it, and where it has no width.
    An end that misses the figure by rounding is put on it."""
    if interval.undefined:
        return interval
    rounding, reason = ROUNDING * max(1.0, abs(estimate)), ""
    if not interval.low - rounding <= estimate <= interval.high + rounding:
        reason = NOT_CONTAINED
    elif interval.high - interval.low <= rounding:
        reason = NEARLY_SAME
    if reason:
        return replace(interval, low=np.nan, high=np.nan, undefined=reason, note="")
    return replace(interval, low=min(interval.low, estimate), high=max(interval.high, estimate))


def expanded_tail(n_drawn: float | np.ndarray, level: float) -> np.ndarray:
    """The share of resamples that an expanded percentile interval leaves out on either side.

    ``Phi(-sqrt(n / (n - 1)) t_{n - 1, (1 + level) / 2})`` for n units or clusters, at least 2 (see
    `resampled_interval`).

    >>> [round(float(expanded_tail(n, 0.95)), 4) for n in (5, 20, 100, 10_000)]
    [0.001, 0.0159, 0.0231, 0.025]
    """
    n = np.asarray(n_drawn, dtype=float)
    return scipy.special.ndtr(-np.sqrt(n / (n - 1)) * scipy.special.stdtrit(n - 1, (1 + level) / 2))


def bca_tails(bias: float, accelerated: float, n_drawn: float, level: float) -> np.ndarray:
    """Quantiles of the resampled values at which an expanded BCa interval begins and ends, (2,)."""
    tail = expanded_tail(n_drawn, level)
    moved = bias + scipy.special.ndtri(np.array([tail, 1 - tail]).clip(1e-300, 1 - 1e-16))
    # Where the denominator reaches 0 the transformation has left its range: everything on that side is in.
    return scipy.special.ndtr(bias + moved / np.maximum(1 - accelerated * moved, 1e-9))


def acceleration(influence: np.ndarray, times: np.ndarray) -> float:
    """A sixth of the skewness of influences that occur so often; 0 without any, or where none is different from 0."""
    if not len(influence):
        return 0.0
    squares = float(times @ influence**2)
    return float(times @ influence**3) / (6 * squares**1.5) if squares > ROUNDING**2 else 0.0


def no_spread(n_drawn: int, clustered: bool, level: float) -> str:
    """Why there is no interval, with what may still be: the rule of three at this level."""
    what = "clusters" if clustered else "units"
    share = 1 - (1 - level) ** (1 / n_drawn)
    return (
        "every resample gives the same figure, so resampling cannot tell how uncertain it is; what occurs in none of "
        f"{n_drawn:,} {what} may still occur in up to {share:.1%} of all {what}"
    )


def few_informative_note(influence: tuple[np.ndarray, np.ndarray], n_drawn: int, clustered: bool) -> str:
    """The warning about an interval whose spread is that of few of many units: the others are alike.

    Of m units that differ among many that do not, ``(sum d^2)^2 / sum d^4`` of the influences d is about m.

    >>> rare = np.array([0.99, -0.01]), np.array([3.0, 297.0])
    >>> few_informative_note(rare, 300, False)
    'rests on about 3 units that differ from the rest and may be too narrow'
    """
    values, times = influence
    if not len(values):
        return ""
    what = "cluster" if clustered else "unit"
    if times.sum() < n_drawn:
        return f"rests on a {what} without which the figure is undefined, and may be too narrow"
    fourth = float(times @ values**4)
    n = float(times @ values**2) ** 2 / fourth if fourth > 0 else np.inf
    if n >= FEW_INFORMATIVE:
        return ""
    differ = f"{what} that differs" if round(n) == 1 else f"{what}s that differ"
    return f"rests on about {n:.0f} {differ} from the rest and may be too narrow"


def few_note(n: float, clustered: bool) -> str:
    """The warning about an interval whose spread is that of few units or clusters."""
    if n >= FEW:
        return ""
    return f"rests on only {n:.0f} {'clusters' if clustered else 'units'} and may be too narrow"
