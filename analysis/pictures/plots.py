"""How each kind of picture is laid out on matplotlib's axes.

Axes have a size in inches that follows from what they show; words outside make the figure larger afterwards. Every line
of text is an artist of its own, because only single lines keep their anchor in SVG and so stay in place in any font.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from analysis.pictures.palette import (
    DIVERGING_STEPS,
    SEQUENTIAL_STEPS,
    dashes,
    hatch,
    light,
    marker,
    series_color,
)
from analysis.pictures.spec import Axis, Intervals, Level, Lines, Matrix, Picture, Scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL, NORMAL = 8.0, 9.0  # points
LINE_HEIGHT = 11.0
MARGIN = 1.0  # inches around the axes before the figure is fitted to what is in it
ROW_CHARS, COLUMN_CHARS = 26, 13
COMPARISON = "comparison"  # gid of lines that the data are compared with

# What opens the items behind a place: gid of its artist -> figure key, and the words that say what it is.
Links = dict[str, tuple[str, str]]


def plain(text: str) -> str:
    """On one line, and without characters that no XML may hold."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def plot(picture: Picture) -> tuple[Figure, Axes, Links]:
    return {Intervals: _intervals, Lines: _lines, Matrix: _matrix, Scatter: _scatter}[type(picture)](picture)


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    whole = width + 2 * MARGIN, height + 2 * MARGIN
    figure = Figure(figsize=whole)
    axes = figure.add_axes((MARGIN / whole[0], MARGIN / whole[1], width / whole[0], height / whole[1]))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def _limits(axis: Axis, values: list[float], beside: tuple[float, ...] = ()) -> tuple[float, float]:
    """Where the axis ends: where it says, or a little beyond the data and what they are compared with."""
    seen = [*values, *beside, *(end for end in (axis.low, axis.high) if end is not None)] or [0.0]
    low, high = min(seen), max(seen)
    margin = 0.05 * (high - low) or 0.5
    return (axis.low if axis.low is not None else low - margin, axis.high if axis.high is not None else high + margin)


def _words(axes: Axes, text: str, at: tuple[float, float], coords, offset: tuple[float, float], **how) -> None:
    axes.annotate(plain(text), at, xycoords=coords, xytext=offset, textcoords="offset points", **how)


def _row_titles(axes: Axes, titles: tuple[str, ...]) -> None:
    """Titles to the left of rows 0, 1, ... in up to three lines each."""
    axes.set_yticks(range(len(titles)), [""] * len(titles))
    for place, title in enumerate(titles):
        lines = _wrapped(title, ROW_CHARS)
        for number, line in enumerate(lines):
            down = (len(lines) - 1) / 2 - number
            how = {"ha": "right", "va": "center_baseline", "size": NORMAL}
            _words(axes, line, (0, place), axes.get_yaxis_transform(), (-7, down * LINE_HEIGHT), **how)


def _column_titles(axes: Axes, titles: tuple[str, ...], above: bool, chars: int = COLUMN_CHARS) -> None:
    """Titles over or under columns 0, 1, ...: in lines, or slanting where lines would not do."""
    axes.set_xticks(range(len(titles)), [""] * len(titles))
    edge, away, coords = (1.0, 6.0, axes.get_xaxis_transform()) if above else (0.0, -6.0, axes.get_xaxis_transform())
    wrapped = [_wrapped(title, chars) for title in titles]
    if any(len(line) > chars + 1 for lines in wrapped for line in lines):
        turn = {"rotation": 40, "rotation_mode": "anchor", "size": NORMAL}
        turn |= {"ha": "left", "va": "baseline"} if above else {"ha": "right", "va": "top"}
        for place, title in enumerate(titles):
            _words(axes, textwrap.shorten(plain(title), 40, placeholder="…"), (place, edge), coords, (0, away), **turn)
        return
    for place, lines in enumerate(wrapped):
        for number, line in enumerate(lines):
            down = (len(lines) - 1 - number) * LINE_HEIGHT if above else -number * LINE_HEIGHT
            how = {"ha": "center", "va": "bottom" if above else "top", "size": NORMAL}
            _words(axes, line, (place, edge), coords, (0, away + down), **how)


def _wrapped(title: str, chars: int) -> list[str]:
    lines = textwrap.wrap(plain(title), chars, break_long_words=False) or [""]
    return lines if len(lines) <= 3 else [*lines[:2], lines[2] + " …"]


def _across(axes: Axes, level: Level | None, upright: bool) -> None:
    if level is not None:
        draw = axes.axvline if upright else axes.axhline
        how = {"color": light("muted"), "linewidth": 1.1, "linestyle": (0, (1, 2)), "zorder": 1, "gid": COMPARISON}
        draw(level.value, **how, label=plain(level.title))


def _is_comparison(handle) -> bool:
    from matplotlib.lines import Line2D

    return isinstance(handle, Line2D) and handle.get_gid() == COMPARISON


def _legend(axes: Axes, above: float = 4.0) -> None:
    """Above the axes, in as many columns as fit beside each other; what the data are compared with comes last."""
    found = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not found:
        return
    handles, titles = zip(*sorted(found, key=lambda one: _is_comparison(one[0])), strict=True)
    width = axes.get_window_extent().width
    columns = max(1, min(len(titles), int(width // (max(map(len, titles)) * 5.4 + 40))))
    axes.legend(
        handles,
        titles,
        loc="lower left",
        bbox_to_anchor=(0, 1, 0, 0),
        ncols=columns,
        frameon=False,
        borderaxespad=above / NORMAL,
        borderpad=0,
        handlelength=2.6,
        columnspacing=1.4,
        fontsize=NORMAL,
        labelcolor=light("text"),
    )


def _grid(axes: Axes, which: str) -> None:
    axes.grid(axis=which, color=light("grid"), linewidth=0.8)


def _intervals(picture: Intervals) -> tuple[Figure, Axes, Links]:
    rows, series = picture.rows, picture.series
    lies = picture.direction == "horizontal"
    each = 0.26 if lies else 0.3
    along = max(0.9, len(rows) * (0.16 + each * len(series)))
    if not lies:
        along = max(along, 0.62 * len(rows), 2.2)
    figure, axes = _axes(4.4, along) if lies else _axes(along, 2.9)
    seen = [value for item in picture.items for value in (item.value, item.low, item.high) if value is not None]
    beside = (picture.level.value,) if picture.level else ()
    low, high = _limits(picture.values, seen, beside + ((0.0,) if picture.style == "bars" else ()))
    band = 0.8 / len(series)
    links: Links = {}
    named = set()
    for item in picture.items:
        place, row = series.index(item.series), rows.index(item.row)
        at = row + (place - (len(series) - 1) / 2) * band
        name = plain(item.series) if item.series and place not in named else "_"
        if item.value is None:
            _undefined(axes, item.undefined, at, low, lies)
        else:
            named.add(place)
            _estimate(axes, picture, item, at, band, place, name)
        if item.figure:
            corner = (low, at - band / 2) if lies else (at - band / 2, low)
            size = (high - low, band) if lies else (band, high - low)
            words = f"{item.row}{', ' if item.series else ''}{item.series}: {_said(item.value, item.undefined)}"
            _link(axes, links, corner, size, item.figure, words)
    _across(axes, picture.level, upright=lies)
    if lies:
        axes.set_xlim(low, high)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(plain(picture.values.title))
        _row_titles(axes, rows)
        axes.tick_params(axis="y", length=0)
        _grid(axes, "x")
    else:
        axes.set_ylim(low, high)
        axes.set_xlim(-0.5, len(rows) - 0.5)
        axes.set_ylabel(plain(picture.values.title))
        _column_titles(axes, rows, above=False, chars=max(COLUMN_CHARS, int(along / len(rows) * 11)))
        axes.tick_params(axis="x", length=0)
        _grid(axes, "y")
    _legend(axes)
    return figure, axes, links


def _estimate(axes: Axes, picture: Intervals, item, at: float, band: float, place: int, name: str) -> None:
    lies = picture.direction == "horizontal"
    color = series_color(place)
    bars = {"color": color, "edgecolor": light("surface"), "hatch": hatch(place), "linewidth": 0, "label": name}
    if picture.style == "bars":
        draw = axes.barh if lies else axes.bar
        draw(at, item.value, band * 0.9, **bars)
    if item.low is not None:
        whisker = {"color": light("text") if picture.style == "bars" else color, "linewidth": 1.5}
        ends = ([item.low, item.high], [at, at])
        axes.plot(*(ends if lies else ends[::-1]), **whisker, marker="|" if lies else "_", markersize=5, zorder=3)
    if picture.style == "dots":
        dot = {"color": color, "marker": marker(place), "markersize": 6, "linestyle": "none", "zorder": 4}
        axes.plot(*((item.value, at) if lies else (at, item.value)), **dot, label=name)


def _undefined(axes: Axes, why: str, at: float, low: float, lies: bool) -> None:
    words = "undefined" + (f": {textwrap.shorten(plain(why), 46, placeholder=' …')}" if why and lies else "")
    how = {"ha": "left", "va": "center_baseline", "size": SMALL, "color": light("muted")}
    if lies:
        _words(axes, words, (low, at), "data", (4, 0), **how)
    else:
        _words(axes, words, (at, low), "data", (3, 4), **how, rotation=90, rotation_mode="anchor")


def _said(value: float | None, undefined: str = "") -> str:
    if value is None:
        return f"undefined: {undefined}".rstrip(": ")
    return f"{value}" if isinstance(value, int) else f"{value:.3f}"


def _link(axes: Axes, links: Links, corner, size, figure: str, words: str) -> None:
    """A place that can be clicked: an artist that draws nothing and is found by its gid."""
    from matplotlib.patches import Rectangle

    gid = f"link-{len(links)}"
    links[gid] = (figure, plain(words))
    axes.add_patch(Rectangle(corner, *size, facecolor="none", edgecolor="none", gid=gid, zorder=9))


def _plane(picture: Lines | Scatter, xs: list[float], ys: list[float]) -> tuple[Figure, Axes]:
    figure, axes = _axes(3.4, 3.4) if picture.square else _axes(4.6, 3.0)
    level, mark = getattr(picture, "level", None), getattr(picture, "mark", None)
    axes.set_xlim(*_limits(picture.x, xs, (mark.value,) if mark else ()))
    axes.set_ylim(*_limits(picture.y, ys, (level.value,) if level else ()))
    axes.set_xlabel(plain(picture.x.title))
    axes.set_ylabel(plain(picture.y.title))
    _grid(axes, "both")
    return figure, axes


def _comparisons(axes: Axes, picture: Lines | Scatter) -> None:
    _across(axes, getattr(picture, "level", None), upright=False)
    _across(axes, getattr(picture, "mark", None), upright=True)
    if picture.diagonal:
        how = {"color": light("muted"), "linewidth": 1.1, "linestyle": (0, (5, 3)), "zorder": 1, "gid": COMPARISON}
        axes.axline((0, 0), slope=1, **how, label=plain(picture.diagonal))
    _legend(axes)


def _lines(picture: Lines) -> tuple[Figure, Axes, Links]:
    xs = [x for one in picture.series for x, _ in one.points]
    ys = [y for one in picture.series for y in (*(y for _, y in one.points), *one.low, *one.high)]
    figure, axes = _plane(picture, xs, ys)
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
            clip_on=not one.dots,
            zorder=3,
        )
    _comparisons(axes, picture)
    return figure, axes, {}


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
            words = f"{point.title}: {picture.x.title} {_said(point.x)}, {picture.y.title} {_said(point.y)}"
            _link(axes, links, (point.x - width / 2, point.y - height / 2), (width, height), point.figure, words)
    _comparisons(axes, picture)
    return figure, axes, links


def _names_beside(axes: Axes, picture: Scatter) -> None:
    """Each dot's title on the side of it where it meets no dot and no other title, as far as one is free."""
    at = axes.transData.transform([(point.x, point.y) for point in picture.points]).tolist()
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    for (x, y), point in zip(at, picture.points, strict=True):
        title = textwrap.shorten(plain(point.title), 32, placeholder="…")
        width = 5.2 * len(title)
        sides = {
            (7, 0, "left", "center_baseline"): (x + 6, y - 5, x + 6 + width, y + 5),
            (-7, 0, "right", "center_baseline"): (x - 6 - width, y - 5, x - 6, y + 5),
            (0, 7, "center", "bottom"): (x - width / 2, y + 6, x + width / 2, y + 16),
            (0, -7, "center", "top"): (x - width / 2, y - 16, x + width / 2, y - 6),
        }
        best = min(sides, key=lambda side: sum(_meet(sides[side], box) for box in taken))
        taken.append(sides[best])
        how = {"ha": best[2], "va": best[3], "size": SMALL}
        _words(axes, title, (point.x, point.y), "data", best[:2], **how)


def _meet(a: tuple, b: tuple) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _matrix(picture: Matrix) -> tuple[Figure, Axes, Links]:
    from matplotlib.patches import Rectangle

    n_rows, n_columns = len(picture.rows), len(picture.columns)
    width = 0.92 if n_columns <= 7 else 0.62
    height = 0.46 if picture.shades else 0.36
    figure, axes = _axes(width * n_columns, height * n_rows)
    axes.set_xlim(-0.5, n_columns - 0.5)
    axes.set_ylim(n_rows - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    role_of = _roles(picture)
    links: Links = {}
    for i, row in enumerate(picture.values):
        for j, value in enumerate(row):
            corner = (j - 0.5, i - 0.5)
            role = role_of(picture.shades[i][j] if picture.shades else value)
            cell = {"facecolor": light(role) if role else "none", "edgecolor": light("surface"), "linewidth": 1.5}
            axes.add_patch(Rectangle(corner, 1, 1, **cell))
            if value is not None:
                _cell(axes, picture, i, j, light(f"on-{role}") if role else light("text"))
            if picture.figures and picture.figures[i][j]:
                words = f"{picture.rows[i]}, {picture.columns[j]}: {_number(picture, value)}"
                _link(axes, links, corner, (1, 1), picture.figures[i][j], words)
    _row_titles(axes, picture.rows)
    _column_titles(axes, picture.columns, above=True, chars=COLUMN_CHARS if width > 0.8 else 7)
    _matrix_notes(axes, picture)
    return figure, axes, links


def _cell(axes: Axes, picture: Matrix, i: int, j: int, ink: str) -> None:
    how = {"ha": "center", "va": "center_baseline", "color": ink}
    shade = picture.shades[i][j] if picture.shades else None
    _words(axes, _number(picture, picture.values[i][j]), (j, i), "data", (0, 5 if shade is not None else 0), **how)
    if shade is not None:
        _words(axes, f"{shade:.0%}", (j, i), "data", (0, -7), **how, size=SMALL)
    if picture.marks and picture.marks[i][j]:
        inside = {"color": ink, "markersize": 4.5, "markerfacecolor": ink, "linestyle": "none"}
        if picture.marks[i][j] == "uncorrected":
            inside["markerfacecolor"] = "none"
        axes.plot(j + 0.36, i - 0.3, marker="^", **inside, zorder=5)


def _number(picture: Matrix, value: float | None) -> str:
    if value is None:
        return "none"
    return str(value) if isinstance(value, int) else f"{value:.{picture.digits}f}".replace("-", "\N{MINUS SIGN}")


def _roles(picture: Matrix):
    """What role a number's colour has; '' for none."""
    cells = picture.shades or picture.values
    known = [value for row in cells for value in row if value is not None] or [0.0]
    if picture.scale == "diverging":
        far = max(abs(end) for end in (picture.low, picture.high, *known) if end is not None) or 1.0
        if picture.low is not None and picture.high is not None:
            far = max(abs(picture.low), abs(picture.high)) or 1.0

        def diverging(value: float | None) -> str:
            if value is None:
                return ""
            step = max(-DIVERGING_STEPS, min(DIVERGING_STEPS, round(value / far * DIVERGING_STEPS)))
            return f"div-{'m' if step < 0 else ''}{abs(step)}"

        return diverging
    low = picture.low if picture.low is not None else min(0.0, min(known)) if picture.shades else min(known)
    high = picture.high if picture.high is not None else 1.0 if picture.shades else max(known)

    def sequential(value: float | None) -> str:
        if value is None:
            return ""
        share = (value - low) / (high - low) if high > low else 0.0
        return f"seq-{max(0, min(SEQUENTIAL_STEPS, round(share * SEQUENTIAL_STEPS)))}"

    return sequential


def _matrix_notes(axes: Axes, picture: Matrix) -> None:
    """Below: what rows and columns are, what the numbers are, and what the marks mean."""
    lines = []
    if picture.rows_title or picture.columns_title:
        sides = (("rows", picture.rows_title), ("columns", picture.columns_title))
        lines.append("; ".join(f"{side}: {title}" for side, title in sides if title).capitalize())
    colour = f"; colour: {picture.shade_title}" if picture.shades and picture.shade_title else ""
    lines.append(f"Numbers: {picture.value_title}{colour}")
    marks = {mark for row in picture.marks for mark in row}
    if "uncorrected" in marks:
        lines.append("△ significant before correction for multiplicity only")
    if "corrected" in marks:
        lines.append("▲ significant after correction for multiplicity")
    for number, line in enumerate(lines):
        how = {"ha": "left", "va": "top", "size": SMALL, "color": light("muted")}
        _words(axes, line, (0, 0), "axes fraction", (0, -6 - number * LINE_HEIGHT), **how)
