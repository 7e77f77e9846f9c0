"""Expected widths of intervals by units and judgements: of alpha and of each label's share, as tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.numbers import n_of
from analysis.reports.tabular import Cell, Table

if TYPE_CHECKING:
    from analysis.pictures import Picture

# Beyond this the curves are flat and squeeze what matters to the edge.
LARGEST_DRAWN = 5000


def of_alpha(result: dict, dimension: dict) -> list[Table | Picture]:
    table = Table(
        f"{dimension['title']}: expected half width of alpha's interval",
        ("Units", *_heads(dimension["widths"])),
        _rows(dimension["widths"]),
    )
    method = (
        f"Expected half width of the 95 % interval of Krippendorff's alpha ({dimension['level']}), from "
        f"{result['n_studies']} simulated studies each"
    )
    title = f"{dimension['title']}: width of alpha's interval by units and judgements"
    return [table, *_picture(result, dimension, dimension["widths"], (), title, method)]


def of_rates(result: dict, dimension: dict) -> list[Table | Picture]:
    """One table for all labels, and a picture of each."""
    rates = dimension["rates"]
    table = Table(
        f"{dimension['title']}: expected half width of the interval of each label's share",
        ("Label", "Units", *_heads(rates[0]["widths"])),
        [(row["title"], *cells) for row in rates for cells in _rows(row["widths"])],
        "Of the share of judgements that give the label, in a random sample of so many units.",
    )
    pictures: list[Picture] = []
    for number, row in enumerate(rates, 1):
        method = (
            f"Expected half width of the 95 % interval of the share of judgements that are {row['title']}, in closed "
            "form from the variance of simulated units"
        )
        title = f"{dimension['title']}: width of the interval of {row['title']} by units and judgements"
        # Labels of other scripts have no letter that a file's name may have, so they are told by their numbers.
        name = ("share", str(number), row["label"])
        pictures += _picture(result, dimension, row["widths"], name, title, method)
    return [table, *pictures]


def _heads(groups: list[dict]) -> list[str]:
    return [f"{n_of(group['judgements'], 'judgements')} each" for group in groups]


def _rows(groups: list[dict]) -> list[tuple[Cell, ...]]:
    sizes = [plan["n_units"] for plan in groups[0]["plans"]]
    return [(n, *(_width(group["plans"][place]) for group in groups)) for place, n in enumerate(sizes)]


def _width(plan: dict) -> Cell:
    return plan["half_width"] if not plan["undefined"] else f"undefined: {plan['undefined']}"


def _picture(
    result: dict, dimension: dict, groups: list[dict], name: tuple[str, ...], title: str, method: str
) -> list[Picture]:
    from analysis.pictures import Axis, Level, Lines, Series, picture_name

    series = [
        Series(
            head,
            tuple(
                (plan["n_units"], plan["half_width"])
                for plan in group["plans"]
                if plan["half_width"] is not None and plan["n_units"] <= LARGEST_DRAWN
            ),
            dots=True,
        )
        for head, group in zip(_heads(groups), groups, strict=True)
    ]
    series = [one for one in series if one.points]
    if not series:
        return []
    ends = ", ".join(f"{one.title}: {one.points[-1][1]:.3f} at {n_of(one.points[-1][0], 'units')}" for one in series)
    return [
        Lines(
            name=picture_name("planning", dimension["dimension"], *name),
            title=title,
            caption=(
                f"{method}; pilot: {n_of(dimension['n_labels'], 'labels')} of "
                f"{n_of(dimension['n_labelled'], 'units')} of {result['project']}."
            ),
            alt=f"Half widths fall with the number of units. {ends}.",
            series=tuple(series),
            x=Axis("Units", low=0),
            y=Axis("Half width", low=0),
            series_title="Judgements",
            level=Level(result["target"], "target"),
        )
    ]
