"""How each kind of picture is drawn on matplotlib's axes."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.pictures.heat_map import heat_map
from analysis.figures.pictures.layout import (
    COLUMN_CHARS,
    COMPARISON,
    SMALL,
    Links,
    column_titles,
    compare_with,
    grid,
    legend,
    limits,
    link,
    new_axes,
    plain,
    row_titles,
    value_words,
    write,
)
from analysis.figures.pictures.palette import dashes, hatch, light, marker, series_color
from analysis.figures.pictures.spec import IntervalRow, Intervals, Lines, Matrix, Picture, Scatter


def plot(picture: Picture) -> tuple[Figure, Axes, Links]:
    return {Intervals: _intervals, Lines: _lines, Matrix: heat_map, Scatter: _scatter}[type(picture)](picture)


def _intervals(picture: Intervals) -> tuple[Figure, Axes, Links]:
    rows, series = picture.rows, picture.series
    # Series stand side by side in a row, those that it has: a row of one stands on its line.
    of_row = {row: [item.series for item in picture.items if item.row == row] for row in rows}
    most = max(map(len, of_row.values()))
    band = 0.8 / most
    lies = picture.direction == "horizontal"
    each = 0.26 if lies else 0.3
    along = max(0.9, len(rows) * (0.16 + each * most))
    if not lies:
        along = max(along, 0.62 * len(rows), 2.2)
    figure, axes = new_axes(4.4, along) if lies else new_axes(along, 2.9)
    seen = [value for item in picture.items for value in (item.value, item.low, item.high) if value is not None]
    compared = (picture.level.value,) if picture.level else ()
    low, high = limits(picture.values, seen, compared + ((0.0,) if picture.style == "bars" else ()))
    links: Links = {}
    named = set()
    for item in picture.items:
        place, row = series.index(item.series), rows.index(item.row)
        mine = of_row[item.row]
        at = row + (mine.index(item.series) - (len(mine) - 1) / 2) * band
        name = plain(item.series) if item.series and place not in named else "_"
        if item.value is None:
            _undefined(axes, item.undefined, at, low, lies)
        else:
            named.add(place)
            ends = [end for end in (item.value, item.low, item.high) if end is not None]
            is_within = low <= min(ends) and max(ends) <= high  # what stands on an edge is drawn as a whole
            _estimate(axes, picture, item, at, band, place, name, not is_within)
        if item.figure:
            corner = (low, at - band / 2) if lies else (at - band / 2, low)
            size = (high - low, band) if lies else (band, high - low)
            words = f"{item.row}{', ' if item.series else ''}{item.series}: {value_words(item.value, item.undefined)}"
            link(axes, links, corner, size, item.figure, words)
    compare_with(axes, picture.level, upright=lies)
    if lies:
        axes.set_xlim(low, high)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(plain(picture.values.title))
        row_titles(axes, rows)
        axes.tick_params(axis="y", length=0)
        grid(axes, "x")
    else:
        axes.set_ylim(low, high)
        axes.set_xlim(-0.5, len(rows) - 0.5)
        axes.set_ylabel(plain(picture.values.title))
        column_titles(axes, rows, above=False, chars=max(COLUMN_CHARS, int(along / len(rows) * 11)))
        axes.tick_params(axis="x", length=0)
        grid(axes, "y")
    legend(axes)
    return figure, axes, links


def _estimate(
    axes: Axes, picture: Intervals, item: IntervalRow, at: float, band: float, place: int, name: str, clip: bool
) -> None:
    lies = picture.direction == "horizontal"
    color = series_color(place)
    bars = {"color": color, "edgecolor": light("surface"), "hatch": hatch(place), "linewidth": 0, "label": name}
    if picture.style == "bars":
        draw = axes.barh if lies else axes.bar
        draw(at, item.value, band * 0.9, **bars)
    if item.low is not None:
        whisker = {"color": light("text") if picture.style == "bars" else color, "linewidth": 1.5}
        ends = ([item.low, item.high], [at, at])
        axes.plot(
            *(ends if lies else ends[::-1]),
            **whisker,
            marker="|" if lies else "_",
            markersize=5,
            zorder=3,
            clip_on=clip,
        )
    if picture.style == "dots":
        dot = {"color": color, "marker": marker(place), "markersize": 6, "linestyle": "none", "zorder": 4}
        axes.plot(*((item.value, at) if lies else (at, item.value)), **dot, label=name, clip_on=clip)


def _undefined(axes: Axes, why: str, at: float, low: float, lies: bool) -> None:
    words = "undefined" + (f": {textwrap.shorten(plain(why), 46, placeholder=' …')}" if why and lies else "")
    how = {"ha": "left", "va": "center_baseline", "size": SMALL, "color": light("muted")}
    if lies:
        write(axes, words, (low, at), "data", (4, 0), **how)
    else:
        write(axes, words, (at, low), "data", (3, 4), **how, rotation=90, rotation_mode="anchor")


def _plane(picture: Lines | Scatter, xs: list[float], ys: list[float]) -> tuple[Figure, Axes]:
    figure, axes = new_axes(3.4, 3.4) if picture.square else new_axes(4.6, 3.0)
    level, mark = getattr(picture, "level", None), getattr(picture, "mark", None)
    axes.set_xlim(*limits(picture.x, xs, (mark.value,) if mark else ()))
    axes.set_ylim(*limits(picture.y, ys, (level.value,) if level else ()))
    axes.set_xlabel(plain(picture.x.title))
    axes.set_ylabel(plain(picture.y.title))
    grid(axes, "both")
    return figure, axes


def _comparisons(axes: Axes, picture: Lines | Scatter) -> None:
    compare_with(axes, getattr(picture, "level", None), upright=False)
    compare_with(axes, getattr(picture, "mark", None), upright=True)
    if picture.diagonal:
        how = {"color": light("muted"), "linewidth": 1.1, "linestyle": (0, (5, 3)), "zorder": 1, "gid": COMPARISON}
        axes.axline((0, 0), slope=1, **how, label=plain(picture.diagonal))
    legend(axes)


def _lines(picture: Lines) -> tuple[Figure, Axes, Links]:
    xs = [x for one in picture.series for x, _ in one.points]
    ys = [y for one in picture.series for y in (*(y for _, y in one.points), *one.low, *one.high)]
    figure, axes = _plane(picture, xs, ys)
    low, high = axes.get_ylim()
    for place, one in enumerate(picture.series):
        if not one.points:
            continue
        x, y = [x for x, _ in one.points], [y for _, y in one.points]
        color = series_color(place)
        if one.low:
            band = {"facecolor": color, "alpha": 0.18, "edgecolor": "none", "linewidth": 0, "zorder": 1.5}
            axes.fill_between(x, one.low, one.high, **band, step="post" if one.steps else None)
        # Long lines bear a few markers each, at places that differ by series.
        every = 1 if one.dots else max(1, len(x) // 6)
        axes.plot(
            x,
            y,
            color=color,
            linestyle=dashes(place),
            linewidth=1.8,
            marker=marker(place) if one.dots or len(picture.series) > 1 else "",
            markersize=5.5,
            markevery=(0 if one.dots else place * every // 3, every),
            drawstyle="steps-post" if one.steps else "default",
            label=plain(one.title) if len(picture.series) > 1 else "_",
            clip_on=not (low <= min(y) and max(y) <= high),  # a line along the edge keeps its width
            zorder=3,
        )
    _comparisons(axes, picture)
    return figure, axes, _links_of_points(axes, picture)


def _links_of_points(axes: Axes, picture: Lines) -> Links:
    links: Links = {}
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = 0.06 * (right - left), 0.06 * (top - bottom)
    for one in picture.series:
        for (x, y), behind in zip(one.points, one.figures, strict=bool(one.figures)):
            words = f"{one.title}: {picture.x.title} {value_words(x)}, {picture.y.title} {value_words(y)}"
            link(axes, links, (x - width / 2, y - height / 2), (width, height), behind, words)
    return links


def _scatter(picture: Scatter) -> tuple[Figure, Axes, Links]:
    figure, axes = _plane(picture, [point.x for point in picture.points], [point.y for point in picture.points])
    for place, name in enumerate(picture.series):
        mine = [point for point in picture.points if point.series == name]
        how = {"color": series_color(place), "marker": marker(place), "linestyle": "none", "markersize": 6.5}
        axes.plot([p.x for p in mine], [p.y for p in mine], **how, label=plain(name) or "_", clip_on=False, zorder=4)
    if picture.named:
        _names_beside(axes, picture)
    links: Links = {}
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = 0.05 * (right - left), 0.05 * (top - bottom)
    for point in picture.points:
        if point.figure:
            x, y = (f"{axis.title} {value_words(at)}" for axis, at in ((picture.x, point.x), (picture.y, point.y)))
            words = f"{point.title}: {x}, {y}"
            link(axes, links, (point.x - width / 2, point.y - height / 2), (width, height), point.figure, words)
    _comparisons(axes, picture)
    return figure, axes, links


def _names_beside(axes: Axes, picture: Scatter) -> None:
    """Each dot's title on the side of it where it meets no dot and no other title, as far as one is free."""
    at = axes.transData.transform([(point.x, point.y) for point in picture.points]).tolist()
    boxes = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    for (x, y), point in zip(at, picture.points, strict=True):
        title = textwrap.shorten(plain(point.title), 32, placeholder="…")
        width = 5.2 * len(title)
        sides = {
            (7, 0, "left", "center_baseline"): (x + 6, y - 5, x + 6 + width, y + 5),
            (-7, 0, "right", "center_baseline"): (x - 6 - width, y - 5, x - 6, y + 5),
            (0, 7, "center", "bottom"): (x - width / 2, y + 6, x + width / 2, y + 16),
            (0, -7, "center", "top"): (x - width / 2, y - 16, x + width / 2, y - 6),
        }
        best = min(sides, key=lambda side: sum(_meet(sides[side], box) for box in boxes))
        boxes.append(sides[best])
        how = {"ha": best[2], "va": best[3], "size": SMALL}
        write(axes, title, (point.x, point.y), "data", best[:2], **how)


def _meet(a: tuple, b: tuple) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
