"""Labels of a source's frames as `analysis.stats` takes them, and its estimates as figures of a result: the number, its
interval, its n, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import msgspec
import numpy as np
import pandas as pd

from analysis.figures.results import PENDING, Ends, Figure, NamedFigure, number
from analysis.stats import Estimate, Interval, Labels, OutcomeShares, outcome_shares
from analysis.stats.labels import some_of

RESAMPLES = 1000
TOO_LARGE = "the numbers are too large to compute with"
NO_ENDS_YET = Ends(method="", level=0.95, n_resamples=0, n_undefined=0, n_clusters=None, undefined=PENDING, note="")


def coded_labels(
    labels: pd.DataFrame,
    units: pd.DataFrame,
    values: tuple[str, ...],
    *,
    by: str = "rater",
    exchangeable: bool = False,
) -> Labels:
    """What `Labels.from_columns` makes of the same rows, by whole columns: a large project's first figures wait for it.

    Parameters
    ----------
    labels : frame with the columns unit, label and `by`
    units : frame with the columns unit and cluster; units are numbered in its order
    values : every label there could be, in the order of the scale
    by : the column of who gave the label; people are numbered in the order in which they appear

    Raises
    ------
    ValueError
        A label that is not among `values`, or a unit that is not among `units`, named.
    """
    unit = pd.Index(units["unit"].to_numpy()).get_indexer(labels["unit"].to_numpy())
    if (unit < 0).any():
        raise ValueError(f"unit {labels['unit'].iloc[int(np.argmin(unit))]!r} is not among the units")
    value = pd.Index(values, tupleize_cols=False).get_indexer(labels["label"])
    if (value < 0).any():
        raise ValueError(f"unknown label {labels['label'].iloc[int(np.argmin(value))]!r}; known are {some_of(values)}")
    rater, names = pd.factorize(labels[by])
    group = pd.factorize(units["cluster"], use_na_sentinel=False)[0]
    cluster = np.full(len(units), -1, dtype=np.int32)
    cluster[unit] = pd.factorize(group[unit])[0]
    return Labels(
        unit=unit.astype(np.int32),
        rater=rater.astype(np.int32),
        value=value.astype(np.int32),
        n_units=len(units),
        categories=tuple(values),
        cluster=cluster,
        exchangeable=exchangeable,
        rater_names=tuple(map(str, names)),
    )


def cluster_codes(units: pd.DataFrame) -> np.ndarray:
    """What every unit comes in, as a number: units of one claim or question are drawn together."""
    return units["cluster"].astype("category").cat.codes.to_numpy()


def to_figure(estimate: Estimate, *, quick: bool, n_resamples: int = RESAMPLES) -> Figure:
    """The estimate with a 95 % interval; in a first pass (`quick`) without, since intervals take longest."""
    return with_interval(estimate, None if quick else estimate.confidence_interval(n_resamples=n_resamples))


def with_interval(estimate: Estimate, interval: Interval | None) -> Figure:
    """The estimate with an interval that was computed together with others; None in a first pass."""
    figure = Figure.taking(estimate, left_out=dict(estimate.left_out), **ends(interval))
    if figure.estimate is None and not figure.undefined:
        return msgspec.structs.replace(figure, undefined=TOO_LARGE)
    return figure


def share_figure(
    is_so: np.ndarray,
    cluster: np.ndarray | None = None,
    *,
    quick: bool,
    n_resamples: int = RESAMPLES,
    undefined: str = "no unit counts",
) -> Figure:
    """The share of units with a property. `cluster` numbers what units come in; without it they are drawn one by one.
    `undefined` is the reason if there is no unit at all."""
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
    figure = to_figure(counted.share(name, "all"), quick=quick, n_resamples=n_resamples)
    return msgspec.structs.replace(figure, undefined=undefined) if figure.undefined else figure


def plain_figure(value: float, undefined: str, n: int, interval: Interval | None) -> Figure:
    """A number over `n` units that was computed together with others, with its interval; None in a first pass."""
    return Figure(estimate=number(value), undefined=undefined, n_pairable=n, **ends(interval))


def ends(interval: Interval | None) -> dict:
    """`low`, `high` and `interval` of a figure."""
    if interval is None:
        return {"low": None, "high": None, "interval": NO_ENDS_YET}
    return {"low": number(interval.low), "high": number(interval.high), "interval": Ends.taking(interval)}


def bounded_figure(value: float, low: float, high: float, reason: str, n: int) -> Figure:
    """A figure without an estimate where it is undefined; a reason otherwise says why there is no interval."""
    is_defined = not math.isnan(value)
    why = "" if not math.isnan(low) else reason or "too few units for an interval"
    return Figure(
        estimate=number(value),
        undefined="" if is_defined else reason,
        low=number(low),
        high=number(high),
        n_pairable=n,
        interval=Ends(undefined=why),
    )


def unknown_figure(estimate: Estimate, why: str, *, quick: bool) -> Figure:
    """A figure that has no number since what it counts is not looked at, whatever the estimate says; where there is no
    `why`, the figure itself."""
    return to_figure(replace(estimate, estimate=math.nan, undefined=why) if why else estimate, quick=quick)


def named_figure(name: str, title: str, estimate: Estimate, *, quick: bool) -> NamedFigure:
    return NamedFigure.extending(to_figure(estimate, quick=quick), name=name, title=title)
