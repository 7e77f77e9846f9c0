"""A share of a number of trials, with an interval that holds for few trials and near 0 and 1."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from analysis.stats.resampling.bootstrap import Interval

NO_TRIAL = "there is nothing to count"


def wilson_interval(n_cases: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share: the shares p with ``|k/n - p| <= z sqrt(p (1 - p) / n)``.

    Parameters
    ----------
    n_cases, n : int
        Cases among n independent trials.
    level : float

    Returns
    -------
    Interval
        Undefined without a trial.

    Raises
    ------
    ValueError
        More cases than trials, or fewer than none.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212; Newcombe (1998), Statistics in Medicine
    17, 857-872, method 3.

    Examples
    --------
    >>> result = wilson_interval(81, 263)
    >>> round(result.low, 4), round(result.high, 4)
    (0.2553, 0.3662)
    """
    if not 0 <= n_cases <= n:
        raise ValueError(f"there are {n_cases} cases among {n} trials")
    if not n:
        return Interval(np.nan, np.nan, level, "Wilson score", 0, 0, None, NO_TRIAL)
    low, high = wilson_ends(n_cases, n, level)
    return Interval(low, high, level, "Wilson score", 0, 0, None)


def wilson_ends(n_cases: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of `wilson_interval`, also of cases that are no whole number; the share lies between them."""
    z = NormalDist().inv_cdf((1 + level) / 2)  # scipy's takes longer to import than to use
    share, more = n_cases / n, z * z / n
    middle, half = share + more / 2, z * math.sqrt(share * (1 - share) / n + more / (4 * n))
    # The ends of no case and of only cases are 0 and 1, which rounding may miss.
    return max(0.0, min((middle - half) / (1 + more), share)), min(1.0, max((middle + half) / (1 + more), share))
