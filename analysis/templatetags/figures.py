"""How figures are written on pages: the estimate with its interval, or why there is none."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis.reports.equivalence import verdict
from analysis.reports.tabular import Linked, Table, value_of

CELL_DIGITS = 3
register = template.Library()


@register.filter
def estimate(figure: dict, digits: int = 3) -> str:
    if figure is None or figure["estimate"] is None:
        return "undefined"
    return f"{figure['estimate']:.{digits}f}"


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
    return format_html(
        '<span class="interval">{} to {}</span>',
        f"{scale * figure['low']:.{digits}f}",
        f"{scale * figure['high']:.{digits}f}",
    )


def _why(reason: str) -> SafeString:
    return format_html('<span class="why">{}</span>', reason)


@register.filter
def interval(figure: dict, digits: int = 3) -> SafeString | str:
    return _interval(figure, 1, digits)


@register.filter
def percent_interval(figure: dict) -> SafeString | str:
    return _interval(figure, 100, 2)


@register.filter
def left_out(figure: dict) -> str:
    return "; ".join(f"{n} {reason}" for reason, n in figure["left_out"].items() if n) or "nothing"


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
    return "undefined" if value is None else f"{value:.{digits}f}"


@register.filter
def get(mapping: dict, key):
    return mapping.get(key)


@register.filter
def at(rows: list, index: int):
    return rows[index]


@register.filter
def rows_of(table: Table) -> list[list[dict]]:
    """A table's rows for its page: the words of each cell, whether it is a number, and the figure that it opens."""
    return [
        [
            {
                "text": _cell(value_of(cell)),
                "is_number": isinstance(value_of(cell), int | float),
                "figure": cell.figure if isinstance(cell, Linked) else "",
            }
            for cell in row
        ]
        for row in table.rows
    ]


def _cell(value: str | int | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.{CELL_DIGITS}f}" if isinstance(value, float) else value


@register.filter
def numeric(table: Table, place: int) -> bool:
    """Whether a column holds numbers."""
    return any(isinstance(value_of(row[place]), int | float) for row in table.rows)
