"""Effects of regressions as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import PENDING, number

if TYPE_CHECKING:
    from analysis.stats import Effect


def effect(found: Effect, bound: float | None = None, least: float | None = None) -> dict:
    """An effect with its interval, in the shape of `figures.figure`. A difference of shares cannot lie outside
    -bound..bound, and a share not outside least..bound, whatever Student's t says of its interval."""
    from analysis.stats.intervals import few_note

    low, high = _rounded(found.low), _rounded(found.high)
    if bound is not None and low is not None and high is not None:
        low, high = max(low, -bound if least is None else least), min(high, bound)
    return {
        "estimate": _rounded(found.estimate),
        "low": low,
        "high": high,
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
            "note": few_note(min(found.n_clusters), True) if low is not None else "",
        },
    }


def _rounded(value: float) -> float | None:
    """Without what a regression's arithmetic leaves of 0, and without its sign."""
    found = number(value)
    return None if found is None else round(found, 12) + 0.0


def without_interval(value: float | None, n: int, reason: str) -> dict:
    """A figure of a first pass, which has no intervals; without a value why there is none."""
    if value is None or value != value:
        return without(reason)
    return without() | {"estimate": float(value), "undefined": "", "n": n}


def without(reason: str = PENDING) -> dict:
    """In place of an effect: why there is none; by default, because a first pass leaves it out."""
    nothing = dict.fromkeys(("estimate", "low", "high", "standard_error", "p_value"))
    interval = {"method": "", "level": 0.95, "n_clusters": [], "undefined": reason, "note": ""}
    return {**nothing, "undefined": reason, "n": 0, "n_left_out": 0, "interval": interval}
