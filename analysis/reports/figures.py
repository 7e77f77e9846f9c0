"""Results of analysis.stats as plain data: the estimate, its interval, its n, and what was left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.stats import Estimate

RESAMPLES = 1000


def number(value: float | None) -> float | None:
    """None for what JSON cannot say (nan, infinity): an undefined figure has no number."""
    return None if value is None or not math.isfinite(value) else float(value)


def figure(estimate: Estimate, n_resamples: int = RESAMPLES) -> dict:
    """Estimate with a 95 % interval. `undefined` says why where there is no number."""
    interval = estimate.confidence_interval(n_resamples=n_resamples)
    return {
        "estimate": number(estimate.estimate),
        "low": number(interval.low),
        "high": number(interval.high),
        "undefined": estimate.undefined,
        "n_units": estimate.n_units,
        "n_pairable": estimate.n_pairable,
        "n_labels": estimate.n_labels,
        "left_out": dict(estimate.left_out),
        "interval": {
            "method": interval.method,
            "level": interval.level,
            "n_resamples": interval.n_resamples,
            "n_undefined": interval.n_undefined,
            "n_clusters": interval.n_clusters,
            "undefined": interval.undefined,
        },
    }


def named_figure(name: str, title: str, estimate: Estimate) -> dict:
    return {"name": name, "title": title, **figure(estimate)}
