"""What all kinds of pictures are laid out with: axes, words, legends, and places that can be clicked.

Axes have a size in inches that follows from what they show; words outside make the figure larger afterwards. Every line
of text is an artist of its own, because only single lines keep their anchor in SVG and so stay in place in any font.
"""

from __future__ import annotations

import re
import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from analysis.figures.pictures.palette import light
from analysis.figures.pictures.spec import Axis, Level

SMALL, NORMAL = 8.0, 9.0  # points
LINE_HEIGHT = 11.0
MARGIN = 1.0  # inches around the axes before the figure is fitted to what is in it
ROW_CHARS, COLUMN_CHARS, SLANTED_CHARS = 26, 13, 40
COMPARISON = "comparison"  # gid of lines that the data are compared with

# What opens the items behind a place: gid of its artist -> figure key, and the words that say what it is.
Links = dict[str, tuple[str, str]]


def plain(text: str) -> str:
    """On one line, and without characters that no XML may hold."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    whole = width + 2 * MARGIN, height + 2 * MARGIN
    figure = Figure(figsize=whole)
    axes = figure.add_axes((MARGIN / whole[0], MARGIN / whole[1], width / whole[0], height / whole[1]))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def limits(axis: Axis, values: list[float], more: tuple[float, ...] = ()) -> tuple[float, float]:
    """Where the axis ends: where it says, or a little beyond the data and what they are compared with."""
    seen = [*values, *more, *(end for end in (axis.low, axis.high) if end is not None)] or [0.0]
    low, high = min(seen), max(seen)
    margin = 0.05 * (high - low) or 0.5
    return (axis.low if axis.low is not None else low - margin, axis.high if axis.high is not None else high + margin)


def write(axes: Axes, text: str, at: tuple[float, float], coords, offset: tuple[float, float], **how) -> None:
    axes.annotate(plain(text), at, xycoords=coords, xytext=offset, textcoords="offset points", **how)


def row_titles(axes: Axes, titles: tuple[str, ...]) -> None:
    """Titles to the left of rows 0, 1, ... in up to three lines each."""
    axes.set_yticks(range(len(titles)), [""] * len(titles))
    for place, title in enumerate(titles):
        lines = _row_lines(title)
        for number, line in enumerate(lines):
            down = (len(lines) - 1) / 2 - number
            how = {"ha": "right", "va": "center_baseline", "size": NORMAL}
            write(axes, line, (0, place), axes.get_yaxis_transform(), (-7, down * LINE_HEIGHT), **how)


def column_titles(axes: Axes, titles: tuple[str, ...], above: bool, chars: int = COLUMN_CHARS) -> None:
    """Titles over or under columns 0, 1, ...: in lines, or slanting where lines would not do."""
    axes.set_xticks(range(len(titles)), [""] * len(titles))
    edge, away, coords = (1.0, 6.0, axes.get_xaxis_transform()) if above else (0.0, -6.0, axes.get_xaxis_transform())
    wrapped = [_wrapped(title, chars) for title in titles]
    if any(len(line) > chars + 1 for lines in wrapped for line in lines):
        turn = {"rotation": 40, "rotation_mode": "anchor", "size": NORMAL}
        turn |= {"ha": "left", "va": "baseline"} if above else {"ha": "right", "va": "top"}
        for place, title in enumerate(titles):
            write(axes, _without_middle(plain(title)), (place, edge), coords, (0, away), **turn)
        return
    for place, lines in enumerate(wrapped):
        for number, line in enumerate(lines):
            down = (len(lines) - 1 - number) * LINE_HEIGHT if above else -number * LINE_HEIGHT
            how = {"ha": "center", "va": "bottom" if above else "top", "size": NORMAL}
            write(axes, line, (place, edge), coords, (0, away + down), **how)


def _wrapped(title: str, chars: int) -> list[str]:
    lines = textwrap.wrap(plain(title), chars, break_long_words=False) or [""]
    return lines if len(lines) <= 3 else [*lines[:2], lines[2] + " …"]


def _row_lines(title: str) -> list[str]:
    """Names of models have few spaces, so they break after the signs within them too, or anywhere. What takes more than
    three lines loses its middle, since names of one family differ at their end."""
    words = re.findall(r"[^\s/_:-]*[/_:-]*\s*", plain(title))
    lines = [""]
    for piece in (part[start : start + ROW_CHARS] for part in words for start in range(0, len(part), ROW_CHARS)):
        if len((lines[-1] + piece).rstrip()) > ROW_CHARS:
            lines.append("")
        lines[-1] += piece
    lines = [line.strip() for line in lines]
    return lines if len(lines) <= 3 else [lines[0], lines[1] + " …", lines[-1]]


def _without_middle(text: str) -> str:
    return text if len(text) <= SLANTED_CHARS else f"{text[: SLANTED_CHARS // 2]}…{text[-(SLANTED_CHARS // 2 - 1) :]}"


def compare_with(axes: Axes, level: Level | None, upright: bool) -> None:
    if level is not None:
        draw = axes.axvline if upright else axes.axhline
        how = {"color": light("muted"), "linewidth": 1.1, "linestyle": (0, (1, 2)), "zorder": 1, "gid": COMPARISON}
        draw(level.value, **how, label=plain(level.title))


def _is_comparison(handle) -> bool:
    return isinstance(handle, Line2D) and handle.get_gid() == COMPARISON


def legend(axes: Axes, above: float = 4.0) -> None:
    """Above the axes, in as many columns as fit side by side; what the data are compared with comes last."""
    entries = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not entries:
        return
    handles, titles = zip(*sorted(entries, key=lambda one: _is_comparison(one[0])), strict=True)
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


def grid(axes: Axes, which: str) -> None:
    axes.grid(axis=which, color=light("grid"), linewidth=0.8)


def value_words(value: float | None, undefined: str = "") -> str:
    if value is None:
        return f"undefined: {undefined}".rstrip(": ")
    return f"{value}" if isinstance(value, int) else f"{value:.3f}"


def link(axes: Axes, links: Links, corner, size, figure: str, words: str) -> None:
    """A place that can be clicked: an artist that draws nothing and is found by its gid."""
    gid = f"link-{len(links)}"
    links[gid] = (figure, plain(words))
    axes.add_patch(Rectangle(corner, *size, facecolor="none", edgecolor="none", gid=gid, zorder=9))
