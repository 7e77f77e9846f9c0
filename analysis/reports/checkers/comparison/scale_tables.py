"""Tables of the comparison of labels on a scale: measures, errors along the scale, and units by distance; and of the
comparison with soft labels."""

from __future__ import annotations

from analysis.figures.items import Filter
from analysis.figures.page import Part, Text
from analysis.figures.tables import Column, Table
from analysis.reports.checkers.comparison import filters
from analysis.reports.checkers.comparison.result import ComparedDimension, Comparison
from analysis.reports.words.sentences import checker_title


def on_scale(result: Comparison, dimension: ComparedDimension) -> list[Part]:
    found, slug = dimension.on_scale, dimension.dimension
    if found is None:
        return []
    n_apart = [(steps, n) for steps, n in enumerate(found.distances) if n]
    return [
        Text(found.rule),
        Table(
            f"{dimension.title}: {checker_title(result.checker)} on the scale",
            [
                Column("Measure", "title"),
                Column("Value", lambda row: row, interval=True),
                Column("n", "n_pairable", items=lambda row: filters.of_scale_figure(slug, row.name)),
            ],
            found.figures,
        ),
        Table(
            f"{dimension.title}: errors of {checker_title(result.checker)} along the scale",
            [
                Column("People", "title"),
                Column("Mean error", lambda row: row.error, interval=True),
                Column("Mean absolute error", lambda row: row.absolute, interval=True),
                Column("n", "n", items=lambda row: filters.of_value(slug, row.label)),
            ],
            found.along,
            found.note,
        ),
        Table(
            f"{dimension.title}: units by distance of {checker_title(result.checker)} to people",
            [
                Column("Steps apart, at most", lambda row: row[0]),
                Column("n", lambda row: row[1], items=lambda row: filters.apart(slug, row[0])),
            ],
            n_apart,
        ),
    ]


def soft_labels(result: Comparison, dimension: ComparedDimension) -> list[Part]:
    if dimension.soft is None:
        return []
    behind = Filter({f"{dimension.dimension}.soft": "yes"})
    return [
        Table(
            f"{dimension.title}: {checker_title(result.checker)} against soft labels",
            [
                Column("Measure", "title"),
                Column("Value", lambda row: row, interval=True),
                Column("n", "n_pairable", items=lambda row: behind),
            ],
            dimension.soft.figures,
            dimension.soft.note,
        )
    ]
