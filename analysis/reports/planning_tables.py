"""The page, the words and the methods of the report on planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import planning_widths
from analysis.reports.intervals import estimate, intervals
from analysis.reports.methods_words import clusters_of, defined_clusters, listed
from analysis.reports.numbers import n_of
from analysis.reports.tabular import Cell, Table, linked

if TYPE_CHECKING:
    from analysis.pictures import Picture
    from annotation.task_types import TaskType

FIGURES = {
    "shared": "units with two or more labels",
    "labelled": "units with a label",
    "full": "units with as many labels as planned",
}


def body(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = [_pilot(result)]
    defined = [one for one in result["dimensions"] if not one["undefined"]]
    if defined:
        parts.append(_needed(result, defined))
    for dimension in defined:
        parts += planning_widths.of_alpha(result, dimension)
        parts += [_rates(result, dimension), *planning_widths.of_rates(result, dimension)]
    return parts


def _pilot(result: dict) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one["title"],
            one["n_labels"],
            linked(one["n_labelled"], f"{one['dimension']}/labelled"),
            linked(one["n_shared"], f"{one['dimension']}/shared"),
            *estimate(one["alpha"]),
            one["cluster_size"],
            one["correlation"],
            one["undefined"] or None,
        )
        for one in result["dimensions"]
    ]
    columns = ("Question", "Labels", "Units labelled", "Units with two or more", *intervals("Alpha"))
    columns += ("Units per claim or question", "Correlation within", "Cannot be planned")
    return Table(f"The pilot: labels so far, of {n_of(result['n_units'], 'units')}", columns, rows)


def _needed(result: dict, dimensions: list[dict]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in dimensions:
        now, units, each = (one["needed"][name] for name in ("now", "by_units", "by_judgements"))
        rows.append(
            (one["title"], linked(one["n_full"], f"{one['dimension']}/full"))
            + (now["half_width"] if not now["undefined"] else now["undefined"],)
            + (_or_reason(units, "n_units"), units["more_units"], _or_reason(each, "judgements"))
        )
    k = result["judgements"]
    columns = ("Question", f"Units with {k} judgements now", "Half width with these", f"Units needed, {k} each")
    columns += ("More units", "Or judgements each of those units")
    return Table(f"For alpha to within {result['target']:g}", columns, rows, "Half widths are of 95 % intervals.")


def _or_reason(found: dict, name: str) -> Cell:
    return found[name] if not found["undefined"] else f"none: {found['undefined']}"


def _rates(result: dict, dimension: dict) -> Table:
    with_checker = any(row["checker"] for row in dimension["rates"])
    rows: list[tuple[Cell, ...]] = []
    for row in dimension["rates"]:
        now = row["now"]
        cells: list[Cell] = [row["title"], now["estimate"]]
        cells.append(now["half_width"] if not now["undefined"] else now["undefined"])
        for name in ("one", "several", *(["checker"] if with_checker else [])):
            cells += [_or_reason(row[name], "n_units"), row[name]["more_units"]]
        rows.append(tuple(cells))
    columns = ("Label", "Share", "Half width now", "Units needed, 1 judgement each", "More units")
    columns += (f"Units needed, {result['judgements']} each", "More units")
    if with_checker:
        columns += (f"Units needed with {result['checker']}", "More units")
    return Table(
        f"{dimension['title']}: for the share of each label to within {result['target']:g}",
        columns,
        rows,
        "Shares are of judgements in a random sample of units."
        + (" With the checker: prediction-powered inference over all units of the project." if with_checker else ""),
    )


def methods(result: dict) -> str:
    reasons = list(dict.fromkeys(one["undefined"] for one in result["dimensions"]))
    if all(reasons):
        why = f" ({'; '.join(reasons)})" if reasons else ""
        return f"Numbers of units could not be planned{why}."
    with_checker = f", and {result['checker']}'s by least squares on them" if result["checker"] else ""
    return (
        "Numbers of units were planned from the labels so far: confusion tables of the annotators and the shares of "
        "true labels by the Dawid-Skene model (one label's weight of the pooled table added to each person)"
        f"{with_checker}, and the correlation of true labels within {clusters_of(result)[1]}. Units were simulated "
        "from these, and the half width of the 95 % interval of Krippendorff's alpha "
        f"({_levels(result)}) taken as 1.96 standard deviations over {result['n_studies']} studies drawn from them in "
        "whole clusters, with alpha's linearisation, whose variance is known, as control variate. That of the share "
        "of a label among the judgements is 1.96 standard errors of a mean over as many clusters, in closed form from "
        f"the variance of the simulated units. The target was a half width of {result['target']:g} with "
        f"{n_of(result['judgements'], 'judgements')} per unit. {defined_clusters(result)}"
    ).strip()


def _levels(result: dict) -> str:
    """Alpha's, each with the questions that it is of."""
    titles: dict[str, list[str]] = {}
    for one in result["dimensions"]:
        if not one["undefined"]:
            titles.setdefault(one["level"], []).append(one["title"].lower())
    return ", ".join(f"{level} for {listed(names)}" for level, names in titles.items())


def in_words(kind: TaskType, figure: str) -> str:
    dimension, name = figure.rsplit("/", 1)
    title = next((one.title for one in kind.dimensions if one.slug == dimension), dimension)
    return f"{title}: {FIGURES[name]}"
