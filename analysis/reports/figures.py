"""Results of analysis.stats as plain data: the estimate, its interval, its n, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.stats import Estimate, Interval

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
        return {**_counts(estimate), **_no_ends_yet()}
    return {**_counts(estimate), **_ends(estimate.confidence_interval(n_resamples=n_resamples))}


def figure_with(estimate: Estimate, interval: Interval | None) -> dict:
    """Estimate with an interval that was computed together with others; None in a first pass."""
    return _counts(estimate) | (_no_ends_yet() if interval is None else _ends(interval))


def plain_figure(value: float, undefined: str, n: int, interval: Interval | None) -> dict:
    """A number over `n` units that was computed together with others, with its interval; None in a first pass."""
    found = {"estimate": number(value), "undefined": undefined, "n_pairable": n}
    return found | (_no_ends_yet() if interval is None else _ends(interval))


def _ends(interval: Interval) -> dict:
    return {
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


def _no_ends_yet() -> dict:
    interval = {"method": "", "level": 0.95, "n_resamples": 0, "n_undefined": 0, "n_clusters": None}
    return {"low": None, "high": None, "interval": interval | {"undefined": PENDING, "note": ""}}


def unknown_figure(estimate: Estimate, why: str) -> dict:
    """A figure that has no number since what it counts is not looked at, whatever the estimate says; where there is no
    `why`, the figure itself."""
    return figure(replace(estimate, estimate=math.nan, undefined=why) if why else estimate)


def named_figure(name: str, title: str, estimate: Estimate) -> dict:
    return {"name": name, "title": title, **figure(estimate)}
