"""Estimates of `analysis.stats` as figures of a result: the number, its interval, its n, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import msgspec
import numpy as np

from analysis.figures.results import PENDING, Ends, Figure, NamedFigure, number
from analysis.stats import Estimate, Interval, OutcomeShares, outcome_shares

RESAMPLES = 1000
NO_ENDS_YET = Ends(method="", level=0.95, n_resamples=0, n_undefined=0, n_clusters=None, undefined=PENDING, note="")


def to_figure(estimate: Estimate, *, quick: bool, n_resamples: int = RESAMPLES) -> Figure:
    """The estimate with a 95 % interval; in a first pass (`quick`) without, since intervals take longest."""
    return with_interval(estimate, None if quick else estimate.confidence_interval(n_resamples=n_resamples))


def with_interval(estimate: Estimate, interval: Interval | None) -> Figure:
    """The estimate with an interval that was computed together with others; None in a first pass."""
    return Figure(
        estimate=number(estimate.estimate),
        undefined=estimate.undefined,
        n_units=estimate.n_units,
        n_pairable=estimate.n_pairable,
        n_labels=estimate.n_labels,
        left_out=dict(estimate.left_out),
        **ends(interval),
    )


def share_figure(
    is_so: np.ndarray,
    cluster: np.ndarray | None = None,
    *,
    quick: bool,
    n_resamples: int = RESAMPLES,
    undefined: str = "no unit counts",
) -> Figure:
    """The share of units of which something is so. `cluster` numbers what units come in; without it they are drawn one
    by one. `undefined` is said where there is no unit at all."""
    counted = outcome_shares(is_so.astype(int), ("not", "so"), is_so * 0, ("all",), cluster)
    return _of_all(counted, "so", undefined, quick=quick, n_resamples=n_resamples)


def share_figures(
    parts: Mapping[str, np.ndarray], cluster: np.ndarray, *, quick: bool, n_resamples: int, undefined: str
) -> dict[str, Figure]:
    """The share of every part, of the units that are in any of them; no unit is in two."""
    names = list(parts)
    code = np.select(list(parts.values()), range(len(names)), -1).astype(np.int64)
    counted = outcome_shares(code, names, np.where(code < 0, -1, 0), ("all",), cluster)
    return {name: _of_all(counted, name, undefined, quick=quick, n_resamples=n_resamples) for name in names}


def _of_all(counted: OutcomeShares, name: str, undefined: str, *, quick: bool, n_resamples: int) -> Figure:
    found = to_figure(counted.share(name, "all"), quick=quick, n_resamples=n_resamples)
    return msgspec.structs.replace(found, undefined=undefined) if found.undefined else found


def plain_figure(value: float, undefined: str, n: int, interval: Interval | None) -> Figure:
    """A number over `n` units that was computed together with others, with its interval; None in a first pass."""
    return Figure(estimate=number(value), undefined=undefined, n_pairable=n, **ends(interval))


def ends(interval: Interval | None) -> dict:
    """`low`, `high` and `interval` of a figure."""
    if interval is None:
        return {"low": None, "high": None, "interval": NO_ENDS_YET}
    how = Ends(
        method=interval.method,
        level=interval.level,
        n_resamples=interval.n_resamples,
        n_undefined=interval.n_undefined,
        n_clusters=interval.n_clusters,
        undefined=interval.undefined,
        note=interval.note,
    )
    return {"low": number(interval.low), "high": number(interval.high), "interval": how}


def unknown_figure(estimate: Estimate, why: str, *, quick: bool) -> Figure:
    """A figure that has no number since what it counts is not looked at, whatever the estimate says; where there is no
    `why`, the figure itself."""
    return to_figure(replace(estimate, estimate=math.nan, undefined=why) if why else estimate, quick=quick)


def named_figure(name: str, title: str, estimate: Estimate, *, quick: bool) -> NamedFigure:
    return named(name, title, to_figure(estimate, quick=quick))


def named(name: str, title: str, figure: Figure) -> NamedFigure:
    values = {field: getattr(figure, field) for field in figure.__struct_fields__}
    return NamedFigure(name=name, title=title, **values)
