"""Standard errors in closed form: of how far each unit by itself moves a coefficient of agreement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from analysis.stats.resampling.bootstrap import Estimate
from analysis.stats.resampling.intervals import ROUNDING, Interval, few_note, holding

GWET = "linearisation, t distribution (Gwet 2014)"
FEW_UNITS = "fewer than two units"
NO_SPREAD = "no unit moves the figure, so its spread is unknown"
NO_FORM = "the figure has no standard error in closed form"

# How far a unit of each kind moves the figure, times the number of units, and how many units are of that kind.
Moves = Callable[[], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Linearised(Estimate):
    """A figure whose standard error can be computed without resampling, where units are independent.

    `moves` is called when the standard error is asked for, and not before; a figure without it has none.
    """

    moves: Moves | None = field(default=None, repr=False)
    analytic_method: str = GWET
    lowest: float = -np.inf

    @cached_property
    def standard_error(self) -> float:
        """``sqrt(sum_u d_u^2 / (n (n - 1)))`` for n units drawn independently from many, which move the figure by
        ``d_u / n``; nan where it is undefined."""
        if self.undefined or self.moves is None:
            return np.nan
        moved, times = self.moves()
        n = times.sum()
        return float(np.sqrt(times @ moved**2 / (n * (n - 1)))) if n > 1 else np.nan

    def analytic_interval(self, level: float = 0.95) -> Interval:
        """``estimate -+ t(n - 1) standard_error`` with n units that move the figure, cut off at its ends (Gwet 2014).

        Units are taken as independent: where they come in clusters use `confidence_interval`. Undefined where no unit
        moves the figure, as where all agree.
        """

        def quantile(tail: float) -> float:
            return float(scipy.special.stdtrit(self.moves()[1].sum() - 1, tail))

        reason = NO_FORM if self.moves is None else ""
        return symmetric_interval(self, quantile, self.analytic_method, level, reason, self.lowest)


def symmetric_interval(
    figure: Estimate,
    quantile: Callable[[float], float],
    method: str,
    level: float,
    reason: str = "",
    lowest: float = -np.inf,
) -> Interval:
    """The estimate of `figure` and as many of its `standard_error` to either side as the quantile of a tail, cut off at
    `lowest` and 1; undefined for this `reason`, or where there is no spread. Few units have a note: the normal and
    Student's distribution are those of many."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    error = figure.standard_error
    reason = figure.undefined or reason or (FEW_UNITS if np.isnan(error) else NO_SPREAD if error <= ROUNDING else "")
    if reason:
        return Interval(np.nan, np.nan, level, method, 0, 0, None, reason)
    half = quantile((1 + level) / 2) * error
    low, high = max(lowest, figure.estimate - half), min(1.0, figure.estimate + half)
    interval = Interval(float(low), float(high), level, method, 0, 0, None, note=few_note(figure.n_pairable, False))
    return holding(interval, figure.estimate)


def moves_of_corrected(
    features: np.ndarray, estimate: float, chance: float, slope: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """How far a unit of each pattern moves ``(P_a - P_e) / (1 - P_e)``, times the n units with a label.

    Gwet (2014), section 5.3, with P_a a mean over the n' units with a pair and P_e a function of the prevalences:
    ``(n / n' (a_u - P_e e_u) - 2 (1 - estimate) (s_u - mean s)) / (1 - P_e) - estimate`` with the share a_u of agreeing
    pairs, ``e_u = 1`` where there is a pair and 0 else, and s_u the mean of `slope` over the unit's labels.

    Parameters
    ----------
    features : (n_patterns, 2 + q) array
        Per pattern a_u, e_u and the shares of the q categories.
    estimate, chance : float
        The figure and P_e.
    slope : (q,) array
        Half the derivative of P_e by the prevalences.
    times : (n_patterns,) array
        Units of each pattern.

    Returns
    -------
    (n_patterns,) array
        Whose mean over units is 0.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.
    """
    share, is_pair, label_share = features[:, 0], features[:, 1], features[:, 2:]
    n, n_pairable = times.sum(), float(times @ is_pair)
    by_chance = label_share @ slope
    own = n / n_pairable * (share - chance * is_pair) - 2 * (1 - estimate) * (by_chance - times @ by_chance / n)
    return own / (1 - chance) - estimate
