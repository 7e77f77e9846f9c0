"""How figures are written on pages: the estimate with its interval, or why there is none."""

from urllib.parse import quote

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from analysis.reports import numbers, people_tables
from analysis.reports.equivalence import verdict
from analysis.reports.tabular import Cell, Linked, Missing, Table, rounded, value_of
from analysis.sources import splits

CELL_DIGITS = 3
SHOWN_ROWS = 200
LONG_WORDS = 40  # characters from which a cell's words may break into lines
NUMBER, LONG = ' class="num"', ' class="why long"'
register = template.Library()


@register.filter
def estimate(figure: dict, digits: int = 3) -> str:
    if figure is None or figure["estimate"] is None:
        return "undefined"
    return f"{figure['estimate']:z.{digits}f}"


@register.filter
def percent(figure: dict) -> str:
    if figure is None or figure["estimate"] is None:
        return "undefined"
    return f"{100 * figure['estimate']:.2f}"


@register.filter
def share(value: float | None) -> str:
    """A share as per cent."""
    return "undefined" if value is None else f"{100 * value:.2f}"


def _interval(figure: dict, scale: float, digits: int) -> SafeString | str:
    if figure is None:
        return ""
    if figure["undefined"]:
        return _why(figure["undefined"])
    if figure["low"] is None:
        return _why(figure["interval"]["undefined"] or "no interval")
    ends = format_html(
        '<span class="interval">{} to {}</span>',
        f"{scale * figure['low']:.{digits}f}",
        f"{scale * figure['high']:.{digits}f}",
    )
    note = figure.get("interval", {}).get("note", "")
    return format_html("{}; {}", ends, _why(note)) if note else ends


def _why(reason: str) -> SafeString:
    return format_html('<span class="why">{}</span>', reason)


@register.filter
def n_of(n: int, many: str) -> str:
    """So many of what several are called; one of them is no plural."""
    return numbers.n_of(n, many)


@register.filter
def interval(figure: dict, digits: int = 3) -> SafeString | str:
    return _interval(figure, 1, digits)


@register.filter
def percent_interval(figure: dict) -> SafeString | str:
    return _interval(figure, 100, 2)


@register.filter
def left_out(figure: dict) -> str:
    return "; ".join(f"{n:,} {reason}" for reason, n in figure["left_out"].items() if n) or "nothing"


@register.filter
def equivalence(found: dict) -> str:
    """The verdict of two one-sided tests with the interval that it rests on."""
    if found["equivalent"] is None:
        return _why(found["undefined"])
    return format_html(
        '{} <span class="interval">{} to {}</span>', verdict(found), f"{found['low']:.3f}", f"{found['high']:.3f}"
    )


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
def labels_to_pass(needed: dict | None) -> str:
    return people_tables.labels_to_pass(needed or None) or "–"


@register.filter
def split_of(result: dict) -> str:
    """What a result is split by; empty for the source."""
    return splits.split_in(result.get("made_from", {}))


@register.filter
def split_words(split: str | None) -> str:
    return splits.in_words(split or "")


@register.filter
def split_heading(split: str | None) -> str:
    return splits.as_heading(split or "")


@register.filter
def get(mapping: dict, key):
    return mapping.get(key)


@register.filter
def at(rows: list, index: int):
    return rows[index]


@register.simple_tag(takes_context=True)
def opens(context, n: int, *key: str, of: str, shown: str = "", counted: str = "units") -> SafeString | str:
    """A count that opens its units, or with `shown` another figure that opens the `n` units behind it. `key` are the
    parts of the figure's key as they are stored; `of` says which units they are to whoever hears the link alone, and
    `counted` what is counted where it is not units."""
    if not n:
        return shown or "0"
    address = f"{context['behind']}&figure={quote('/'.join(key))}"
    words = f"{numbers.n_of(n, counted)}: {of}"
    label = f"{shown}, {words}" if shown else words
    return format_html('<a href="{}" aria-label="{}">{}</a>', address, label, shown or f"{n:,}")


@register.simple_tag
def table_rows(table: Table, behind: str = "") -> SafeString:
    """Head and body of a table, its first SHOWN_ROWS rows. Written here and not by a template: a report has thousands
    of cells, and a template takes a tenth of a millisecond for each."""
    table = table.with_notes()
    are_numbers = [
        any(isinstance(value_of(row[place]), int | float) for row in table.rows) for place in range(len(table.columns))
    ]
    head = "".join(
        f'<th scope="col"{NUMBER if place and is_number else ""}>{escape(column)}</th>'
        for place, (column, is_number) in enumerate(zip(table.columns, are_numbers, strict=True))
    )
    rows = "".join(f"<tr>{_row(row, table.columns, behind)}</tr>" for row in table.rows[:SHOWN_ROWS])
    return mark_safe(f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>")


def _row(row: tuple[Cell, ...], columns: tuple[str, ...], behind: str) -> str:
    cells = []
    for place, (cell, column) in enumerate(zip(row, columns, strict=True)):
        value = None if isinstance(cell, Missing) else value_of(cell)  # the table says why below it
        words = escape(_cell(value, column))
        if isinstance(cell, Linked) and behind:
            words = f'<a href="{escape(behind)}&amp;figure={quote(cell.figure)}">{words}</a>'
        if place:
            is_long = isinstance(value, str) and len(value) > LONG_WORDS
            kind = NUMBER if isinstance(value, int | float) else LONG if is_long else ""
            cells.append(f"<td{kind}>{words}</td>")
        else:
            cells.append(f'<th scope="row" dir="auto">{words}</th>')
    return "".join(cells)


@register.filter
def rows_left(table: Table) -> int:
    """How many rows a page leaves to the files."""
    return max(len(table.rows) - SHOWN_ROWS, 0)


def _cell(value: str | int | float | None, column: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return rounded(value, CELL_DIGITS, column) if isinstance(value, float) else value
