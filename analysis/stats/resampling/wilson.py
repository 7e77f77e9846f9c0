"""A share of a number of trials, with an interval that holds for few trials and near 0 and 1."""

from __future__ import annotations

import numpy as np

from analysis.stats.resampling.bootstrap import Interval
from analysis.stats.shares import wilson_ends

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
