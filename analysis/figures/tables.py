"""Tables as they are declared: columns that say what they take from a row, rows of any kind. A record whose fields
are the cells of its row declares each with its column: `n: Annotated[int, Column("Units")]`.

A declared table becomes a grid of cells (`analysis.figures.tabular`), which every rendering is made from: on pages an
estimate and its interval stand in one cell, in files the ends have columns of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from typing import Any, get_args

from analysis.figures.items import Filter
from analysis.figures.results import Figure, Record
from analysis.figures.tabular import LOW, Cell, Estimated, Grid, Linked, Missing, Noted, Person

HIGH = ", high"


@dataclass(frozen=True)
class Column:
    """A column: its title, and what it takes from a row: an attribute's name (`alpha.n_pairable`), or by a function.
    That of a record's field takes this field, with `interval` if it is a figure.

    With `interval` the value is a `Figure` (or None): an estimate with its interval, or the reason where there is none.
    `items` gives the filter that the cell opens (None, or a value of 0: nothing to open), whose units the value (a
    figure's n) counts, or the values of their column `counts` (which may hang on the row); None: it counts something
    else. Behind a `net` value, such as gains less losses, there may be items though it is 0.
    """

    title: str
    value: str | Callable[[Any], str | int | float | Figure | Person | None] = ""
    interval: bool = False
    items: Callable[[Any], Filter | None] | None = None
    counts: str | Callable[[Any], str] | None = ""
    net: bool = False

    def __post_init__(self) -> None:
        if self.value and isinstance(self.value, str):
            object.__setattr__(self, "value", attrgetter(self.value))

    def counted(self, row: Any) -> str | None:
        return self.counts(row) if callable(self.counts) else self.counts

    def cell(self, row: Any) -> Cell:
        """The cell of a page."""
        value = self.value(row)
        if self.interval:
            value = None if value is None else Estimated(value)
        wanted = self.items(row) if self.items and value is not None and (value != 0 or self.net) else None
        return Linked(value, wanted.encoded) if wanted is not None else value

    def cells(self, row: Any) -> tuple[Cell, ...]:
        """The cells of a file: of an interval three."""
        cell = self.cell(row)
        if not self.interval:
            return (cell,)
        link = cell.figure if isinstance(cell, Linked) else ""
        value, *ends = ends_of(self.value(row))
        return Linked(value, link) if link else value, *ends

    @property
    def titles(self) -> tuple[str, ...]:
        return (self.title, self.title + LOW, self.title + HIGH) if self.interval else (self.title,)


def columns_of(record: type[Record], **items: Callable[[Any], Filter | None]) -> tuple[Column, ...]:
    """The columns that the fields of a record declare, in their order; a field may have several. `items` are what cells
    of a field open, where that hangs on more than their row."""
    return tuple(replace(column, items=items[name]) if name in items else column for name, column in _declared(record))


@cache
def _declared(record: type[Record]) -> tuple[tuple[str, Column], ...]:
    hints: dict[str, Any] = {}
    for base in reversed(record.__mro__):
        hints |= get_annotations(base, eval_str=True) if issubclass(base, Record) else {}
    return tuple(
        (name, column if column.value else replace(column, value=name, interval=_is_figure(hints[name].__origin__)))
        for name in record.__struct_fields__
        for column in getattr(hints[name], "__metadata__", ())
        if isinstance(column, Column)
    )


def _is_figure(kind: Any) -> bool:
    return any(isinstance(one, type) and issubclass(one, Figure) for one in (kind, *get_args(kind)))


def ends_of(figure: Figure | None) -> tuple[Cell, Cell, Cell]:
    """Value, low and high of a figure; in place of what there is none of, why, once that is known. The note on the
    interval goes with its lower end."""
    if figure is None:
        return None, None, None
    if figure.estimate is None:
        return f"undefined: {figure.undefined}", None, None
    if figure.why_no_interval:
        return figure.estimate, Missing(figure.why_no_interval), None
    return figure.estimate, Noted(figure.low, figure.note) if figure.note else figure.low, figure.high


@dataclass(frozen=True)
class Table:
    """A table as it is declared. `note` stands below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    note: str = ""

    def grid(self) -> Grid:
        """For files, commands and papers."""
        columns = tuple(title for column in self.columns for title in column.titles)
        rows = [tuple(cell for column in self.columns for cell in column.cells(row)) for row in self.rows]
        return Grid(self.title, columns, rows, self.note)

    def shown(self) -> Grid:
        """For pages."""
        columns = tuple(column.title for column in self.columns)
        return Grid(
            self.title, columns, [tuple(column.cell(row) for column in self.columns) for row in self.rows], self.note
        )

    def with_note(self, note: str) -> Table:
        return replace(self, note=" ".join(filter(None, (self.note, note))))
