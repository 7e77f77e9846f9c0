"""p values of several tests, adjusted so that they can be compared with one threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.stats.exact import step_down


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment: comparing the result with alpha keeps the chance of any false rejection below alpha.

    The i-th smallest of m values becomes ``max_{j<=i} min(1, (m - j + 1) p_(j))``.

    Parameters
    ----------
    p_values : (m,) array-like
        nan (a test that is undefined) stays nan and is not counted among the m.

    Returns
    -------
    (m,) float array

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjusted(p_values, _holm)


def benjamini_hochberg(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's adjustment: comparing the result with q bounds the share of false ones among the
    rejected, for independent (or positively dependent) tests.

    The i-th smallest of m values becomes ``min_{j>=i} min(1, m p_(j) / j)``. nan as in `holm`.

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57(1), 289-300;
    doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    return _adjusted(p_values, false_discovery_control)


def _holm(p: np.ndarray) -> np.ndarray:
    return np.array(step_down(p.tolist()))


def _adjusted(p_values: Sequence[float] | np.ndarray, adjust: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """statsmodels' ``multipletests`` gives the same values (the tests compare), but collects garbage at each call: a
    tenth of a second in a process of Assay's size, and most of a comparison's time."""
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1:
        raise ValueError(f"p values are one column, not {p.ndim} dimensions")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p values lie between 0 and 1")
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    if known.any():
        adjusted[known] = adjust(p[known])
    return adjusted
