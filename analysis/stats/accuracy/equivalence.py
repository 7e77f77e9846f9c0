"""Is a difference too small to matter? Two one-sided tests of any figure that has an interval."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.stats.resampling.bootstrap import Estimate, Interval


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Whether a difference lies within ``(-margin, margin)``; None where its interval is undefined."""

    margin: float
    interval: Interval
    equivalent: bool | None


def equivalence(difference: Estimate, margin: float, alpha: float = 0.05, n_resamples: int = 2000) -> Equivalence:
    """Two one-sided tests at alpha, by the interval at ``1 - 2 alpha``: equivalent if it lies within the margin.

    Parameters
    ----------
    difference : Estimate
        Any difference with a bootstrap interval.
    margin : float
        The largest difference that would not matter, above 0, chosen before looking.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; doi:10.1007/BF01068419.
    """
    if margin <= 0 or not 0 < alpha < 0.5:
        raise ValueError("margin must be above 0, alpha between 0 and 0.5")
    if difference.undefined:
        interval = difference.confidence_interval(1, 1 - 2 * alpha)
        return Equivalence(margin=margin, interval=interval, equivalent=None)
    interval = difference.confidence_interval(n_resamples, 1 - 2 * alpha)
    known = not interval.undefined
    inside = known and -margin < interval.low and interval.high < margin
    return Equivalence(margin=margin, interval=interval, equivalent=bool(inside) if known else None)
