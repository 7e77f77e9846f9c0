"""Pictures of the report on prevalence: the share of each label by people alone, and with the checker's help."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Picture, picture_name
from analysis.reports.methods_words import checker_name
from analysis.reports.numbers import n_of

SIDES = (("powered", "people and checker"), ("people", "people alone"))


def prevalence(result: dict) -> list[Picture]:
    return [
        _shares(result, dimension)
        for dimension in result["dimensions"]
        if any(row[name]["estimate"] is not None for row in dimension["labels"] for name, _ in SIDES)
    ]


def _shares(result: dict, dimension: dict) -> Intervals:
    rows = dimension["labels"]
    return Intervals(
        name=picture_name("prevalence", dimension["dimension"]),
        title=f"{dimension['title']}: how common each label is",
        caption=(
            f"{result['project']}: {n_of(rows[0]['people']['n'], 'units')} labelled by people "
            f"({result['reference_title'].lower()}), {dimension['n_both'] + dimension['n_others']:,} by "
            f"{checker_name(result)}. Shares of units; lines are 95 % intervals, of both together by "
            "prediction-powered inference."
        ),
        alt="; ".join(f"{row['title']} {_said(row['powered'])}" for row in rows) + ", people and checker together.",
        items=tuple(
            Interval(
                row["title"],
                row[name]["estimate"],
                row[name]["low"],
                row[name]["high"],
                row[name]["n"] + row[name]["n_others"],
                series=title,
                undefined="" if row[name]["estimate"] is not None else row[name]["undefined"],
                figure=f"{dimension['dimension']}/label/{row['label']}" if row["n_by_people"] else "",
            )
            for row in rows
            for name, title in SIDES
        ),
        values=Axis("Share of units", 0, 1),
        rows_title="Label",
        series_title="By",
    )


def _said(figure: dict) -> str:
    return "undefined" if figure["estimate"] is None else f"{figure['estimate']:.3f}"
