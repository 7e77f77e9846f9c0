"""Effects of regressions as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import PENDING, number

if TYPE_CHECKING:
    from analysis.stats import Effect


def effect(found: Effect) -> dict:
    """An effect with its interval, in the shape of `figures.figure`."""
    return {
        "estimate": number(found.estimate),
        "low": number(found.low),
        "high": number(found.high),
        "undefined": found.undefined,
        "standard_error": number(found.standard_error),
        "p_value": number(found.p_value),
        "n": found.n,
        "n_left_out": found.n_left_out,
        "interval": {
            "method": found.method,
            "level": found.level,
            "n_clusters": list(found.n_clusters),
            "undefined": found.undefined or found.no_interval,
        },
    }


def without(reason: str = PENDING) -> dict:
    """In place of an effect: why there is none; by default, because a first pass leaves it out."""
    nothing = dict.fromkeys(("estimate", "low", "high", "standard_error", "p_value"))
    interval = {"method": "", "level": 0.95, "n_clusters": [], "undefined": reason}
    return {**nothing, "undefined": reason, "n": 0, "n_left_out": 0, "interval": interval}
