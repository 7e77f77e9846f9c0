"""Results of analysis.stats as plain data: the estimate, its interval, its n, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.stats import Estimate

RESAMPLES = 1000
PENDING = "still being computed"

_quick: ContextVar[bool] = ContextVar("quick", default=False)


@contextmanager
def quickly() -> Iterator[None]:
    """Reports computed inside give their numbers at once: no intervals, and nothing that is drawn at random."""
    token = _quick.set(True)
    try:
        yield
    finally:
        _quick.reset(token)


def is_quick() -> bool:
    """Whether this is a first pass, whose figures are shown while the whole report is still being computed."""
    return _quick.get()


def number(value: float | None) -> float | None:
    """None for what JSON cannot say (nan, infinity): an undefined figure has no number."""
    return None if value is None or not math.isfinite(value) else float(value)


def figure(estimate: Estimate, n_resamples: int = RESAMPLES) -> dict:
    """Estimate with a 95 % interval. `undefined` says why where there is no number."""
    if is_quick():
        return _without_interval(estimate)
    interval = estimate.confidence_interval(n_resamples=n_resamples)
    return {
        **_counts(estimate),
        "low": number(interval.low),
        "high": number(interval.high),
        "interval": {
            "method": interval.method,
            "level": interval.level,
            "n_resamples": interval.n_resamples,
            "n_undefined": interval.n_undefined,
            "n_clusters": interval.n_clusters,
            "undefined": interval.undefined,
            "note": interval.note,
        },
    }


def _counts(estimate: Estimate) -> dict:
    return {
        "estimate": number(estimate.estimate),
        "undefined": estimate.undefined,
        "n_units": estimate.n_units,
        "n_pairable": estimate.n_pairable,
        "n_labels": estimate.n_labels,
        "left_out": dict(estimate.left_out),
    }


def _without_interval(estimate: Estimate) -> dict:
    interval = {"method": "", "level": 0.95, "n_resamples": 0, "n_undefined": 0, "n_clusters": None}
    not_yet = {"undefined": PENDING, "note": ""}
    return {**_counts(estimate), "low": None, "high": None, "interval": interval | not_yet}


def named_figure(name: str, title: str, estimate: Estimate) -> dict:
    return {"name": name, "title": title, **figure(estimate)}
