"""Heat maps: a number per cell, on one of two scales of colour."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.figures.pictures.layout import (
    COLUMN_CHARS,
    LINE_HEIGHT,
    SMALL,
    Links,
    column_titles,
    link,
    new_axes,
    row_titles,
    write,
)
from analysis.figures.pictures.palette import DIVERGING_STEPS, SEQUENTIAL_STEPS, light
from analysis.figures.pictures.spec import Matrix


def heat_map(picture: Matrix) -> tuple[Figure, Axes, Links]:
    n_rows, n_columns = len(picture.rows), len(picture.columns)
    width = 0.92 if n_columns <= 7 else 0.62
    height = 0.46 if picture.shades else 0.36
    figure, axes = new_axes(width * n_columns, height * n_rows)
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
                link(axes, links, corner, (1, 1), picture.figures[i][j], _describe_cell(picture, i, j))
    row_titles(axes, picture.rows)
    column_titles(axes, picture.columns, above=True, chars=COLUMN_CHARS if width > 0.8 else 7)
    _notes(axes, picture)
    return figure, axes, links


def _cell(axes: Axes, picture: Matrix, i: int, j: int, ink: str) -> None:
    how = {"ha": "center", "va": "center_baseline", "color": ink}
    shade = picture.shades[i][j] if picture.shades else None
    write(axes, _number(picture, picture.values[i][j]), (j, i), "data", (0, 5 if shade is not None else 0), **how)
    if shade is not None:
        write(axes, f"{shade:.0%}", (j, i), "data", (0, -7), **how, size=SMALL)
    if picture.marks and picture.marks[i][j]:
        inside = {"color": ink, "markersize": 4.5, "markerfacecolor": ink, "linestyle": "none"}
        if picture.marks[i][j] == "uncorrected":
            inside["markerfacecolor"] = "none"
        axes.plot(j + 0.36, i - 0.3, marker="^", **inside, zorder=5)


def _describe_cell(picture: Matrix, i: int, j: int) -> str:
    """The label of a cell for screen readers."""
    sides = ((picture.rows_title, picture.rows[i]), (picture.columns_title, picture.columns[j]))
    where = "; ".join(f"{side}: {title}" if side else title for side, title in sides)
    shade = picture.shades[i][j] if picture.shades else None
    share = f" ({shade:.0%}{f' {picture.shade_title}' if picture.shade_title else ''})" if shade is not None else ""
    return f"{where}: {_number(picture, picture.values[i][j])}{share}"


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


def _notes(axes: Axes, picture: Matrix) -> None:
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
        write(axes, line, (0, 0), "axes fraction", (0, -6 - number * LINE_HEIGHT), **how)
