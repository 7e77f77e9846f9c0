"""Tables of a report in the forms that papers and programs take: Markdown, CSV, LaTeX, plain text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import wrap
from typing import Protocol, TypeVar

from analysis.figures.results import Figure
from annotation.formats.files.spreadsheets import needs_escape


@dataclass(frozen=True)
class Linked:
    """A cell that opens the items behind it on a page; files hold the value alone."""

    value: str | int | float | None | Estimated
    figure: str  # a key of the result's `behind`


@dataclass(frozen=True)
class Missing:
    """The lower end of an interval that there is none of. Files say why in its place, pages below the table."""

    reason: str


@dataclass(frozen=True)
class Noted:
    """The lower end of an interval that has a note, such as that it rests on two units only. Every
    rendering has it in the last column."""

    value: float
    note: str


@dataclass(frozen=True)
class Estimated:
    """An estimate with its interval in one cell, on pages."""

    figure: Figure


@dataclass(frozen=True)
class Person:
    """A person by name on pages; by pseudonym in files and in what is copied, since these are passed on."""

    name: str
    pseudonym: str

    @property
    def words(self) -> str:
        """For pages: with the pseudonym, by which pictures and files call them."""
        return self.name if self.pseudonym in self.name else f"{self.name} ({self.pseudonym})"


class _HasTitle(Protocol):
    title: str


Titled = TypeVar("Titled", bound=_HasTitle)
Cell = str | int | float | None | Linked | Missing | Noted | Estimated | Person

DIGITS = 4
NOTE = "Note on the interval"
LOW = ", low"
# Below this a number is 0 but for rounding; a p value is only small.
NOTHING = 1e-12
MOST_REASONS = 3
# Of plain text, in characters: a line of a cell and of a column's title, and a reason that stands in its cell.
MOST_WIDE, MOST_TITLE, MOST_REASON = 48, 20, 24
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?%?")
P_VALUES = re.compile(r"\bp\b|\bHolm\b|\bBenjamini-Hochberg\b")
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _merged(reasons: Iterable[str]) -> list[str]:
    """Each reason once; those that differ in numbers alone as one, with the range of each number."""
    found: dict[str, list[list[str]]] = {}
    for reason in dict.fromkeys(part for several in reasons for part in several.split("; ")):
        found.setdefault(_NUMBER.sub("\0", reason), []).append(_NUMBER.findall(reason))
    merged = []
    for wording, rows in found.items():
        ranges = iter([_range(column) for column in zip(*rows, strict=True)])
        merged.append(re.sub("\0", lambda _, ranges=ranges: next(ranges), wording))
    return merged


def _range(numbers: Iterable[str]) -> str:
    ordered = sorted(numbers, key=lambda one: float(one.replace(",", "").rstrip("%")))
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


@dataclass(frozen=True)
class Grid:
    """`rows` have as many cells as there are columns; None is an empty cell. `note` stands below on the page."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    note: str = ""

    @property
    def below(self) -> str:
        """The note, and why figures have no interval."""
        cells = [value_of(cell) if isinstance(cell, Linked) else cell for row in self.rows for cell in row]
        reasons = [cell.reason for cell in cells if isinstance(cell, Missing)]
        figures = [cell.figure for cell in cells if isinstance(cell, Estimated)]
        reasons += [one.why_no_interval for one in figures if one.is_defined and one.why_no_interval]
        reasons = _merged(reasons)
        more = "; and other reasons" if len(reasons) > MOST_REASONS else ""
        why = f"Without an interval: {'; '.join(reasons[:MOST_REASONS])}{more}." if reasons else ""
        notes = _merged(one.note for one in figures if one.is_defined and one.note)
        more = "; and other notes" if len(notes) > MOST_REASONS else ""
        words = f"On intervals: {'; '.join(notes[:MOST_REASONS])}{more}." if notes else ""
        return " ".join(filter(None, (self.note, why, words)))

    def with_notes(self) -> Grid:
        """The same with the notes on intervals in a last column, if there are any."""
        notes = [_notes(self.columns, row) for row in self.rows]
        if not any(notes):
            return self
        rows = [(*row, note or None) for row, note in zip(self.rows, notes, strict=True)]
        return replace(self, columns=(*self.columns, NOTE), rows=rows)

    def plain(self) -> Grid:
        """The same with values in place of links, and words in place of what is missing."""
        noted = self.with_notes()
        return replace(noted, rows=[tuple(value_of(cell) for cell in row) for row in noted.rows])


def _notes(columns: tuple[str, ...], row: tuple[Cell, ...]) -> str:
    """What a row's intervals rest on; with the figures' names where that is not the same for all of them."""
    figures_by_note: dict[str, list[str]] = {}
    ends = [column for column, cell in zip(columns, row, strict=True) if isinstance(cell, float | Noted | Missing)]
    for column, cell in zip(columns, row, strict=True):
        if isinstance(cell, Noted):
            figures_by_note.setdefault(cell.note, []).append(column.removesuffix(LOW))
    n_lows = sum(column.endswith(LOW) for column in ends)
    if len(figures_by_note) == 1 and len(next(iter(figures_by_note.values()))) >= n_lows:
        return next(iter(figures_by_note))
    return "; ".join(f"{', '.join(figures)}: {note}" for note, figures in figures_by_note.items())


def with_note(parts: list, note: str) -> list:
    """The parts of a report, with one more sentence below its first table."""
    place = next((place for place, part in enumerate(parts) if isinstance(part, Grid)), None)
    if place is None or not note:
        return parts
    first = parts[place]
    return [*parts[:place], replace(first, note=" ".join(filter(None, (first.note, note)))), *parts[place + 1 :]]


def linked(n: int, figure: str) -> Cell:
    """A count that opens what it counts; behind 0 there is nothing to open."""
    return Linked(n, figure) if n else n


def value_of(cell: Cell) -> str | int | float | None | Estimated:
    if isinstance(cell, Missing):
        return f"none: {cell.reason}"
    if isinstance(cell, Person):
        return cell.pseudonym
    return cell.value if isinstance(cell, Linked | Noted) else cell


def named(tables: list[Titled]) -> dict[str, Titled]:
    """Tables by names that say what they are, such as `stance-agreement`, and do not depend on which others there are.

    >>> list(named([Grid("Stance: agreement", (), []), Grid("Stance, agreement", (), []), Grid("?", (), [])]))
    ['stance-agreement', 'stance-agreement-2', 'table']
    """
    by_name: dict[str, Titled] = {}
    for table in tables:
        name = first = "-".join(re.findall(r"\w+", table.title.lower())) or "table"
        number = 1
        while name in by_name:
            number += 1
            name = f"{first}-{number}"
        by_name[name] = table
    return by_name


def as_markdown(tables: list[Grid]) -> str:
    """Each table under its title."""
    tables = [table.plain() for table in tables]
    return "\n\n".join(
        "\n".join(
            [
                f"**{_markdown(table.title)}**",
                "",
                _pipes([_markdown(column) for column in table.columns]),
                _pipes(["---:" if number else "---" for number in _numbers(table)]),
                *(_pipes([_markdown(text) for text in _texts(table, row)]) for row in table.rows),
            ]
        )
        for table in tables
    )


def as_csv(tables: list[Grid]) -> str:
    """Numbers in full, every row with its table's title in front. A table begins with its own header; an empty line
    stands between two. Text that a spreadsheet would run gets an apostrophe in front."""
    tables = [table.plain() for table in tables]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for place, table in enumerate(tables):
        if place:
            out.write("\n")
        writer.writerow(["table", *table.columns])
        for row in table.rows:
            writer.writerow([_safe(table.title), *(_safe(cell) for cell in row)])
    return out.getvalue().rstrip("\n")


def as_latex(tables: list[Grid]) -> str:
    """A table environment each, for the booktabs package."""
    tables = [table.plain() for table in tables]
    return "\n\n".join(
        "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{_latex(table.title)}}}",
                rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in _numbers(table))}}}",
                r"\toprule",
                " & ".join(_latex(column) for column in table.columns) + r" \\",
                r"\midrule",
                *(" & ".join(_latex(text) for text in _texts(table, row)) + r" \\" for row in table.rows),
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )
        for table in tables
    )


def as_text(tables: list[Grid], *, is_folded: bool = False) -> str:
    """Columns side by side, numbers to the right. Folded, for a terminal, why figures are missing and notes on them
    stand below the table, each once, with its number in the cell, and other long texts take several lines."""
    return "\n\n".join(_as_text(table.plain(), is_folded) for table in tables)


def _as_text(table: Grid, is_folded: bool) -> str:
    numbers, below = _numbers(table), {}
    texts = [_texts(table, row) for row in table.rows]
    rows = [[[text] for text in row] for row in (table.columns, *texts)]
    if is_folded:
        rows = [[wrap(column, MOST_TITLE, break_long_words=False) for column in table.columns]]
        for row in texts:
            cells = (_referring(text, column, below) for text, column in zip(row, table.columns, strict=True))
            rows.append([wrap(cell, MOST_WIDE) or [""] for cell in cells])
    widths = [max(len(line) for row in rows for line in row[place]) for place in range(len(table.columns))]
    lines = [
        "  ".join(
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(texts, widths, numbers, strict=True)
        ).rstrip()
        for row in rows
        for texts in zip_longest(*row, fillvalue="")
    ]
    lines += [f"[{number}] {text}" for text, number in below.items()]
    return "\n".join([table.title, *(f"  {line}" for line in lines)])


def _referring(text: str, column: str, below: dict[str, int]) -> str:
    """What a cell shows of a text: the number of a long reason or note, which goes `below` the table."""
    word = next((word for word in ("undefined", "none") if text.startswith(f"{word}: ")), "")
    if len(text) <= MOST_REASON or not word and column != NOTE:
        return text
    number = below.setdefault(text, len(below) + 1)
    return f"{word} [{number}]".strip()


WRITERS = {"md": as_markdown, "csv": as_csv, "latex": as_latex}


def _texts(table: Grid, row: tuple[Cell, ...]) -> tuple[str, ...]:
    return tuple(_text(cell, column) for cell, column in zip(row, table.columns, strict=True))


def _text(cell: Cell, column: str) -> str:
    if cell is None:
        return ""
    return rounded(cell, DIGITS, column) if isinstance(cell, float) else str(cell)


def rounded(value: float, digits: int, column: str = "") -> str:
    """The number with so many digits; one that would then seem to be 0 with its power of ten, such as a small p value,
    which is what columns of certain names hold.

    >>> rounded(0.0004, 4), rounded(0.0004, 3), rounded(0.0, 3), rounded(2e-21, 3), rounded(2e-21, 3, "Spearman, p")
    ('0.0004', '4e-04', '0.000', '0.000', '2e-21')
    """
    text = f"{value:z.{digits}f}"
    is_nothing = not value or abs(value) < NOTHING and not P_VALUES.search(column)
    return text if is_nothing or float(text) else f"{value:.0e}"


def _numbers(table: Grid) -> list[bool]:
    """Which columns hold numbers, with words at most where a number is undefined."""
    return [
        any(isinstance(value_of(row[place]), int | float) for row in table.rows) if place else False
        for place in range(len(table.columns))
    ]


def _pipes(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*_`<\[])", r"\\\1", " ".join(text.split()))


def _latex(text: str) -> str:
    text = "".join(LATEX_SPECIAL.get(character, character) for character in " ".join(text.split()))
    # At the beginning of a row they would be read as options of the line before.
    return f"{{}}{text}" if text[:1] in ("[", "*") else text


def _safe(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and needs_escape(cell) else cell
