"""Is a difference too small to matter? Two one-sided tests, as a report says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import RESAMPLES, number

if TYPE_CHECKING:
    from analysis.stats import Estimate

MARGIN = 0.05
ALPHA = 0.05


def equivalence_of(difference: Estimate, margin: float, n_resamples: int = RESAMPLES) -> dict:
    """The verdict at level ALPHA with the interval that it rests on; `equivalent` is None where that is undefined."""
    from analysis.stats import equivalence

    found = equivalence(difference, margin, ALPHA, n_resamples)
    return {
        "margin": found.margin,
        "alpha": ALPHA,
        "low": number(found.interval.low),
        "high": number(found.interval.high),
        "equivalent": found.equivalent,
        "undefined": difference.undefined or found.interval.undefined,
    }


def verdict(found: dict) -> str:
    """What two one-sided tests say, in a word or two."""
    if found["equivalent"] is None:
        return f"undefined: {found['undefined']}"
    return "equivalent" if found["equivalent"] else "not shown"
