"""What a figure shows, as plain data. `to_dict` and `from_dict` go through JSON without loss.

Every kind validates itself when it is made, so that renderers need not: numbers are finite or None (undefined), rows
are as long as their columns, names are slugs. Nothing here imports a library that draws.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from analysis.figures.folding import folding_note, shown_places
from analysis.figures.items import Filter
from analysis.figures.results import Figure
from analysis.figures.tabular import Grid

FORMS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
SIGNIFICANT = {
    "": "",
    "uncorrected": "significant before correction",
    "corrected": "significant after correction",
}


def picture_name(*parts: str) -> str:
    """A picture's name of what it shows, such as a kind of curve and a dimension."""
    return re.sub(r"[^a-z0-9_]+", "-", "-".join(parts).lower()).strip("-")[:80]


def _numbers(what: str, *values: float | None) -> None:
    for value in values:
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{what}: {value} is not a number that can be drawn; None stands for undefined")


def _bounds(what: str, low: float | None, high: float | None) -> None:
    """Low and high come together and in order."""
    _numbers(what, low, high)
    if (low is None) != (high is None):
        raise ValueError(f"{what}: an interval has both ends or none")
    if low is not None and high is not None and low > high:
        raise ValueError(f"{what}: the interval ends ({high}) before it begins ({low})")


@dataclass(frozen=True)
class Axis:
    """An axis of numbers. Without `low` or `high` the data say where it ends."""

    title: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _numbers(f"axis {self.title!r}", self.low, self.high)
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"axis {self.title!r}: {self.low} is not below {self.high}")


@dataclass(frozen=True)
class Level:
    """A value to compare with, drawn as a broken line right across: chance, a threshold, zero."""

    value: float
    title: str

    def __post_init__(self) -> None:
        _numbers(f"level {self.title!r}", self.value)


@dataclass(frozen=True)
class IntervalRow:
    """One estimate. `row` is its place on the axis of names, `series` what it shares colour and marker with; `figure`
    is the key of the items behind it. A value of None is drawn as the words in `undefined`."""

    row: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    series: str = ""
    undefined: str = ""
    figure: str = ""

    def __post_init__(self) -> None:
        _numbers(f"{self.row}", self.value)
        _bounds(f"{self.row}", self.low, self.high)

    @classmethod
    def of_figure(
        cls, row: str, figure: Figure, opens: Filter | None = None, *, series: str = "", n: int | None = None
    ) -> IntervalRow:
        """An estimate of a result, which opens the items of a filter; `n` is what it counts, by default its pairable
        units."""
        return cls(
            row,
            figure.estimate,
            figure.low,
            figure.high,
            n=(figure.n_pairable or 0) if n is None else n,
            series=series,
            undefined=figure.undefined,
            figure=opens.encoded if opens else "",
        )


@dataclass(frozen=True)
class Series:
    """A line through `points` in their order. `low` and `high`, one per point, are drawn as a band; `dots` marks every
    point, `steps` goes on level until the next point. `figures`, one per point, are the keys of the items behind it."""

    title: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    dots: bool = False
    steps: bool = False
    figures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.figures) not in (0, len(self.points)):
            raise ValueError(f"series {self.title!r}: items are behind every point, or behind none")
        for x, y in self.points:
            _numbers(f"series {self.title!r}", x, y)
        if len(self.low) != len(self.high) or len(self.low) not in (0, len(self.points)):
            raise ValueError(f"series {self.title!r}: a band has a low and a high for every point, or none at all")
        for low, high in zip(self.low, self.high, strict=True):
            _bounds(f"series {self.title!r}", low, high)


@dataclass(frozen=True)
class Point:
    """A dot. Its `title` is in the table, and next to the dot if the picture asks for it."""

    title: str
    x: float
    y: float
    series: str = ""
    figure: str = ""

    def __post_init__(self) -> None:
        _numbers(f"{self.title}", self.x, self.y)


@dataclass(frozen=True, kw_only=True)
class Picture(ABC):
    """What all kinds have. The caption names the data, n and the method; `alt` says in words what the picture shows."""

    kind: ClassVar[str]
    parts: ClassVar[dict[str, type]] = {}

    name: str
    title: str
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"a picture's name is made of a-z, 0-9, - and _, which {self.name!r} is not")
        for what in ("title", "caption", "alt"):
            if not getattr(self, what).strip():
                raise ValueError(f"picture {self.name}: it needs a {what}")

    @abstractmethod
    def table(self) -> Grid:
        """All that the picture shows, in full."""

    def to_dict(self) -> dict:
        return {"kind": self.kind} | {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, kw_only=True)
class Intervals(Picture):
    """Estimates with error bars, as dots or bars. Rows and series stand in the order in which they first occur."""

    kind: ClassVar[str] = "intervals"
    parts: ClassVar[dict[str, type]] = {"items": IntervalRow, "values": Axis, "level": Level}

    items: tuple[IntervalRow, ...]
    values: Axis
    rows_title: str = ""
    series_title: str = ""
    style: Literal["dots", "bars"] = "dots"
    direction: Literal["horizontal", "vertical"] = "horizontal"
    level: Level | None = None
    interval_title: str = "95 % interval"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.items:
            raise ValueError(f"picture {self.name}: there is nothing to draw")
        _one_of(self, "style", ("dots", "bars"))
        _one_of(self, "direction", ("horizontal", "vertical"))
        places = [(item.row, item.series) for item in self.items]
        if len(set(places)) < len(places):
            raise ValueError(f"picture {self.name}: a row has one estimate per series")

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.row for item in self.items))

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.series for item in self.items))

    def table(self) -> Grid:
        has_series, has_n = any(item.series for item in self.items), any(item.n is not None for item in self.items)
        of = f"{self.interval_title}, "
        columns = (
            self.rows_title or "Row",
            *([self.series_title or "Series"] if has_series else []),
            self.values.title,
            of + "low",
            of + "high",
            *(["n"] if has_n else []),
        )
        rows = [
            (
                item.row,
                *([item.series] if has_series else []),
                item.value if item.value is not None else f"undefined: {item.undefined}".rstrip(": "),
                item.low,
                item.high,
                *([item.n] if has_n else []),
            )
            for item in self.items
        ]
        return Grid(self.title, columns, rows)


@dataclass(frozen=True, kw_only=True)
class Lines(Picture):
    """Curves: ROC and precision-recall, a score over beta, accuracy over coverage, widths over n, reliability."""

    kind: ClassVar[str] = "lines"
    parts: ClassVar[dict[str, type]] = {"series": Series, "x": Axis, "y": Axis, "level": Level, "mark": Level}

    series: tuple[Series, ...]
    x: Axis
    y: Axis
    series_title: str = "Series"
    diagonal: str = ""  # what the diagonal from (0, 0) to (1, 1) means; none is drawn where this is empty
    level: Level | None = None  # across, at a value of y
    mark: Level | None = None  # upright, at a value of x
    square: bool = False
    band_title: str = "95 % interval"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(one.points for one in self.series):
            raise ValueError(f"picture {self.name}: there is nothing to draw")
        if len({one.title for one in self.series}) < len(self.series):
            raise ValueError(f"picture {self.name}: two series are called alike")

    def table(self) -> Grid:
        has_band, has_series = any(one.low for one in self.series), len(self.series) > 1
        of = f"{self.band_title}, "
        columns = (
            *([self.series_title] if has_series else []),
            self.x.title,
            self.y.title,
            *([of + "low", of + "high"] if has_band else []),
        )
        rows = []
        for one in self.series:
            bands = zip(one.low, one.high, strict=True) if one.low else [(None, None)] * len(one.points)
            for (x, y), band in zip(one.points, bands, strict=True):
                rows.append((*([one.title] if has_series else []), x, y, *(band if has_band else ())))
        return Grid(self.title, columns, rows)


@dataclass(frozen=True, kw_only=True)
class Matrix(Picture):
    """A number per cell, on a scale of colour. None is an empty cell.

    `shades` are what the colours stand for where that is not the number itself (the share of the row under a count);
    they are written below the numbers as per cent. `marks` ("", "uncorrected", "corrected") say what is significant;
    `figures` are the keys of the items behind each cell, "" for none. Diverging scales have 0 in the middle.
    """

    kind: ClassVar[str] = "matrix"

    @classmethod
    def of_counts(
        cls, counts: Sequence[Sequence[int]], titles: Sequence[str], opens: Callable[[int, int], Filter], **about: str
    ) -> Matrix:
        """A table of counts with the same titles of rows and columns, coloured by shares of the row; `opens` gives the
        items behind a cell, by its row and column. Of many labels the most frequent are shown."""
        places = shown_places(counts)
        rows = [(i, sum(counts[i]), [(j, counts[i][j]) for j in places]) for i in places]
        about["caption"] = " ".join(filter(None, (about["caption"], folding_note(len(titles)))))
        return cls(
            rows=tuple(titles[place] for place in places),
            columns=tuple(titles[place] for place in places),
            values=tuple(tuple(n for _, n in row) for _, _, row in rows),
            shades=tuple(tuple(n / total if n else None for _, n in row) for _, total, row in rows),
            figures=tuple(tuple(opens(i, j).encoded if n else "" for j, n in row) for i, _, row in rows),
            low=0,
            high=1,
            value_title="units",
            shade_title="share of the row",
            **about,
        )

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    value_title: str
    rows_title: str = ""
    columns_title: str = ""
    shades: tuple[tuple[float | None, ...], ...] = ()
    shade_title: str = ""
    marks: tuple[tuple[str, ...], ...] = ()
    figures: tuple[tuple[str, ...], ...] = ()
    scale: Literal["sequential", "diverging"] = "sequential"
    low: float | None = None
    high: float | None = None
    digits: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rows or not self.columns:
            raise ValueError(f"picture {self.name}: there is nothing to draw")
        _one_of(self, "scale", ("sequential", "diverging"))
        _bounds(f"picture {self.name}: scale", self.low, self.high)
        for what in ("values", "shades", "marks", "figures"):
            table = getattr(self, what)
            if what != "values" and not table:
                continue
            if len(table) != len(self.rows) or any(len(row) != len(self.columns) for row in table):
                raise ValueError(f"picture {self.name}: {what} do not fit {len(self.rows)} x {len(self.columns)} cells")
        for row in (*self.values, *self.shades):
            _numbers(f"picture {self.name}", *row)
        unknown = {mark for row in self.marks for mark in row} - set(SIGNIFICANT)
        if unknown:
            raise ValueError(f"picture {self.name}: marks are 'uncorrected', 'corrected' or '', not {sorted(unknown)}")

    def table(self) -> Grid:
        """A row per row; with shades or marks a row per cell, since a cell then says more than one number."""
        if not self.shades and not self.marks:
            corner = " \\ ".join(title for title in (self.rows_title, self.columns_title) if title)
            rows = [(title, *values) for title, values in zip(self.rows, self.values, strict=True)]
            return Grid(self.title, (corner or "Row", *self.columns), rows)
        columns = (
            self.rows_title or "Row",
            self.columns_title or "Column",
            self.value_title,
            *([self.shade_title or "Share"] if self.shades else []),
            *(["Significance"] if self.marks else []),
        )
        rows = [
            (
                row,
                column,
                self.values[i][j],
                *([self.shades[i][j]] if self.shades else []),
                *([SIGNIFICANT[self.marks[i][j]]] if self.marks else []),
            )
            for i, row in enumerate(self.rows)
            for j, column in enumerate(self.columns)
        ]
        return Grid(self.title, columns, rows)


@dataclass(frozen=True, kw_only=True)
class Scatter(Picture):
    """Dots in a plane, such as models by two scores. `named` writes each dot's title next to it."""

    kind: ClassVar[str] = "scatter"
    parts: ClassVar[dict[str, type]] = {"points": Point, "x": Axis, "y": Axis}

    points: tuple[Point, ...]
    x: Axis
    y: Axis
    points_title: str = "Point"
    series_title: str = "Series"
    diagonal: str = ""
    square: bool = False
    named: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.points:
            raise ValueError(f"picture {self.name}: there is nothing to draw")

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(point.series for point in self.points))

    def table(self) -> Grid:
        has_series = any(point.series for point in self.points)
        columns = (self.points_title, *([self.series_title] if has_series else []), self.x.title, self.y.title)
        rows = [(point.title, *([point.series] if has_series else []), point.x, point.y) for point in self.points]
        return Grid(self.title, columns, rows)


KINDS: dict[str, type[Picture]] = {kind.kind: kind for kind in (Intervals, Lines, Matrix, Scatter)}


def from_dict(data: dict) -> Picture:
    """The picture that `to_dict` described. What describes none raises ValueError."""
    values = dict(data)
    name = values.pop("kind", None)
    if name not in KINDS:
        raise ValueError(f"there is no kind of picture {name!r}; there are {', '.join(KINDS)}")
    kind = KINDS[name]
    try:
        return kind(**{field: _built(value, kind.parts.get(field)) for field, value in values.items()})
    except TypeError as error:
        raise ValueError(f"this describes no picture of kind {name}: {error}") from error


def _one_of(picture: Picture, what: str, allowed: tuple[str, ...]) -> None:
    if getattr(picture, what) not in allowed:
        raise ValueError(f"picture {picture.name}: {what} is one of {', '.join(allowed)}")


def _plain(value):
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _built(value, part: type | None):
    if isinstance(value, list | tuple):
        return tuple(_built(one, part) for one in value)
    if isinstance(value, dict) and part is not None:
        return part(**{name: _built(one, None) for name, one in value.items()})
    return value
