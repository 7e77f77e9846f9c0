"""Who said what where the other said what: for every listed pair of annotators the counts of label by label.

Nothing is stored for the units behind a count: they are what both people's lists of units by label (`opened.said`) have
in common, so fifty people need fifty times as many lists as there are labels, and not 1,225 tables.
"""

from __future__ import annotations

from analysis.reports.opened import Behind, in_order
from analysis.reports.tabular import Table


def opened(behind: Behind, prefix: str, a: str, b: str, of_a: str, of_b: str) -> list[int] | None:
    """Units that `a` gave one label and `b` another, or the same; None where there is none. `prefix` as in
    `opened.said`."""
    lists = [behind.get(f"{prefix}/{who}/{label}") for who, label in ((a, of_a), (b, of_b))]
    return None if None in lists else in_order(behind, set.intersection(*map(set, lists))) or None


def table(dimension: dict) -> Table:
    """The counts above 0 of all pairs, one to a row, the diagonal included."""
    titles = [label["title"] for label in dimension["labels"]]
    rows = [
        (pair["a"], pair["b"], of_a, of_b, n)
        for pair in dimension["pairs"]
        for of_a, counts in zip(titles, pair.get("counts", ()), strict=False)
        for of_b, n in zip(titles, counts, strict=True)
        if n
    ]
    columns = ("Annotator", "Annotator ", "Label of the first", "Label of the second", "Units")
    note = "Units that both of a pair label, by what either says; what nobody says together is left out."
    return Table(f"{dimension['title']}: pairs of annotators, label by label", columns, rows, note)
