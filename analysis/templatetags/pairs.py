"""Who said what where the other said what, as tables of a page. Written here and not by a template: fifty annotators
make thousands of cells."""

from urllib.parse import quote

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from analysis.reports.numbers import n_of

register = template.Library()

# Cells of one question's tables that a page shows; files have all of them.
SHOWN_CELLS = 2_000


@register.filter
def label_by_label(dimension: dict) -> list[dict]:
    """The pairs whose tables a page shows: as many as fit, those who share most units first."""
    n = max(SHOWN_CELLS // max(len(dimension["labels"]) ** 2, 1), 1)
    return [pair for pair in dimension["pairs"] if "counts" in pair][:n]


@register.simple_tag(takes_context=True)
def pair_rows(context: dict, dimension: dict, pair: dict) -> SafeString:
    """The body of a pair's table: a row for each label of the first, a column for each of the second."""
    labels, words = dimension["labels"], [escape(label["title"]) for label in dimension["labels"]]
    key = [dimension["dimension"], "pair", pair["a_id"], pair["b_id"]]
    a, b, address = escape(pair["a"]), escape(pair["b"]), escape(f"{context['behind']}&figure=")
    rows = []
    for label, of_a, counts in zip(labels, words, pair["counts"], strict=True):
        cells = []
        for other, of_b, n in zip(labels, words, counts, strict=True):
            figure = quote("/".join([*key, label["label"], other["label"]]))
            said = f"{n_of(n, 'units')}: {of_a} by {a}, {of_b} by {b}"
            cells.append(f'<td><a href="{address}{figure}" aria-label="{said}">{n:,}</a></td>' if n else "<td>0</td>")
        rows.append(f'<tr><th scope="row">{of_a}</th>{"".join(cells)}</tr>')
    return mark_safe("".join(rows))
