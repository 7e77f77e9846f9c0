"""How figures are written on pages: the estimate with its interval, or why there is none."""

import html

from django import template
from django.utils.safestring import SafeString, mark_safe

from analysis.figures.results import Figure
from analysis.figures.tabular import Cell, Estimated, Grid, Linked, Missing, Person, rounded, value_of
from analysis.sources import splits

CELL_DIGITS = 3
SHOWN_ROWS = 40
LONG_WORDS = 40  # characters from which a cell's words may break into lines
NUMBER, LONG = ' class="num"', ' class="why long"'
# What of a filter's query is not itself within another query; `Filter.encoded` leaves nothing else.
QUOTED = str.maketrans({"%": "%25", "+": "%2B", "=": "%3D", "&": "%26"})
register = template.Library()


@register.filter
def number(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:z.{digits}f}"


@register.filter
def p_value(value: float | None, digits: int = 4) -> str:
    """Never 0 where it is only small."""
    if value is None:
        return "undefined"
    text = f"{value:.{digits}f}"
    return text if float(text) or not value else f"{value:.0e}"


@register.filter
def split_words(split: str | None) -> str:
    return splits.name_split(split or "")


@register.filter
def split_heading(split: str | None) -> str:
    return splits.split_heading(split or "")


@register.filter
def get(mapping: dict, key):
    return mapping.get(key)


@register.simple_tag
def table_rows(table: Grid, behind: str = "") -> SafeString:
    """Head and body of a table, its first SHOWN_ROWS rows. Written here and not by a template: a report has thousands
    of cells, and a template takes a tenth of a millisecond for each."""
    table = table.with_notes()
    are_numbers = [
        any(isinstance(value_of(row[place]), int | float | Estimated) for row in table.rows)
        for place in range(len(table.columns))
    ]
    head = "".join(
        f'<th scope="col"{NUMBER if place and is_number else ""}>{html.escape(column)}</th>'
        for place, (column, is_number) in enumerate(zip(table.columns, are_numbers, strict=True))
    )
    opens = f'<a href="{html.escape(behind)}&amp;figure=' if behind else ""
    rows = "".join(f"<tr>{_row(row, table.columns, opens)}</tr>" for row in table.rows[:SHOWN_ROWS])
    return mark_safe(f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>")


def _row(row: tuple[Cell, ...], columns: tuple[str, ...], opens: str) -> str:
    """`opens` begins the link to the items behind a cell; empty where there are none to open."""
    cells = []
    for place, (cell, column) in enumerate(zip(row, columns, strict=True)):
        value = None if isinstance(cell, Missing) else value_of(cell)  # the table says why below it
        words = _estimated(value.figure, column) if isinstance(value, Estimated) else html.escape(_cell(value, column))
        if opens and isinstance(cell, Linked):
            words = f'{opens}{cell.figure.translate(QUOTED)}">{words}</a>'
        copied = ""
        if isinstance(cell, Person):
            words, copied = html.escape(cell.words), f' data-copied="{html.escape(cell.pseudonym)}"'
        if place:
            shown = value.figure.undefined if isinstance(value, Estimated) else value
            is_long = isinstance(shown, str) and len(shown) > LONG_WORDS
            is_number = isinstance(value, int | float | Estimated)
            kind = LONG if is_long else NUMBER if is_number else ""
            cells.append(f"<td{kind}{copied}>{words}</td>")
        else:
            cells.append(f'<th scope="row" dir="auto"{copied}>{words}</th>')
    return "".join(cells)


def _estimated(figure: Figure, column: str) -> str:
    """An estimate and its interval, or why there is none."""
    if not figure.is_defined:
        return f'<span class="why">undefined: {html.escape(figure.undefined)}</span>'
    value = rounded(figure.estimate, CELL_DIGITS, column)
    if figure.low is None:
        return value
    low, high = (rounded(end, CELL_DIGITS, column) for end in (figure.low, figure.high))
    return f'{value} <span class="interval">[{low}, {high}]</span>'


@register.filter
def rows_left(table: Grid) -> int:
    """How many rows a page leaves to the files."""
    return max(len(table.rows) - SHOWN_ROWS, 0)


def _cell(value: str | int | float | None, column: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return rounded(value, CELL_DIGITS, column) if isinstance(value, float) else value
