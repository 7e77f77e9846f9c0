"""The figures of the report on DRUID's analyses, as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator

from analysis.pictures import Axis, Interval, Intervals, Level, Matrix, Picture
from analysis.reports.behind_sets import key
from analysis.reports.druid_data import SHOWN_SOURCES
from analysis.reports.druid_tables import stance_titles
from analysis.reports.numbers import n_of
from analysis.sources.splits import as_heading, in_words, split_in

ACU = {"mean": ("acu_mean", 1), "sum": ("acu_sum", 3)}
TEST_WORDS = {
    "clusters": "over claims",
    "units": "taking pairs as independent",
    "permutation": "by permutation of pairs",
}
CORRECTION_WORDS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction"}
LEAST_SCALE = 0.3  # correlations of nothing but noise should not look like findings


def pictures_of(result: dict) -> dict[str, Picture]:
    """By name, those that there is something to draw of."""
    found = {
        "characteristics": _shares(result),
        "stances": _against_all(result, "stance"),
        "sources": _against_all(result, "source"),
        "usage": _usage(result),
    }
    found |= dict(_beside(result))
    found |= {f"correlations-{place}": _correlations(result, place) for place in range(len(result["correlations"]))}
    return {name: picture for name, picture in found.items() if picture is not None}


def _of_data(result: dict) -> str:
    return (
        f"{result['project_title']}: {n_of(result['n_pairs'], 'pairs')} of evidence and "
        f"{n_of(result['n_claims'], 'claims')}"
    )


def _shares(result: dict) -> Matrix | None:
    """The characteristics of figure 2 that are shares of pairs, by stance."""
    if not result["described"]:
        return None
    groups = [row for row in result["described"]["groups"] if row["by"] == "stance" and row["n"]]
    shares = [place for place, one in enumerate(result["described"]["columns"]) if one["scale"] == "share"]
    if not shares or not groups:
        return None
    titles = stance_titles(result)
    return Matrix(
        name="characteristics",
        title="Share of pairs with a characteristic, by stance",
        caption=f"{_of_data(result)}. Shares of the pairs of a stance for which it is known; an empty cell has none.",
        alt="The share of evidence with each characteristic, for every stance; the table has the numbers.",
        rows=tuple(result["described"]["columns"][place]["title"] for place in shares),
        columns=tuple(titles[row["group"]] for row in groups),
        values=tuple(tuple(row["cells"][place]["estimate"] for row in groups) for place in shares),
        figures=tuple(tuple(row["cells"][place]["figure"] for row in groups) for place in shares),
        value_title="Share of pairs",
        rows_title="Characteristic",
        columns_title="Stance",
        low=0,
        high=1,
    )


def _beside(result: dict) -> Iterator[tuple[str, Intervals | None]]:
    """Figure 2: one picture of all that lies between 0 and 1, and one of each other characteristic."""
    found = result["beside"]
    if not found:
        return
    bounded = [
        (one, data["title"])
        for data in found
        for one in data["characteristics"]
        if one["scale"] in ("share", "bounded")
    ]
    order = list(dict.fromkeys(one["title"] for one, _ in bounded))
    bounded.sort(key=lambda row: order.index(row[0]["title"]))
    if bounded:
        items = [_interval(one, one["title"], series) for one, series in bounded]
        yield "beside", _side_by_side(result, "beside", "Characteristics of evidence", "Mean", items)
    others = [(one, data["title"]) for data in found for one in data["characteristics"] if not one["scale"]]
    for place, title in enumerate(dict.fromkeys(one["title"] for one, _ in others)):
        items = [_interval(one, data) for one, data in others if one["title"] == title]
        name = f"beside-{place}"
        yield name, _side_by_side(result, name, title, title, items)


def _interval(cell: dict, row: str, series: str = "") -> Interval:
    bounds = _bounds(cell["low"], cell["high"])
    behind = cell.get("figure", "")
    return Interval(
        row, cell["estimate"], *bounds, n=cell["n"], series=series, undefined=cell["undefined"], figure=behind
    )


def _side_by_side(result: dict, name: str, title: str, values: str, items: list[Interval]) -> Intervals:
    data = "; ".join(
        f"{one['title']} ({n_of(one['n_pairs'], 'pairs')} of {n_of(one['n_claims'], 'claims')})"
        for one in result["beside"]
    )
    return Intervals(
        name=name,
        title=f"{title}, data sets side by side",
        caption=f"{data}. Means with 95 % bootstrap intervals over claims.",
        alt=f"{title} of the evidence of {len(result['beside'])} data sets; the table has the numbers.",
        items=tuple(items),
        values=Axis(values, 0, 1) if name == "beside" else Axis(values),
        rows_title="Characteristic" if name == "beside" else "Data",
        series_title="Data",
    )


def _against_all(result: dict, by: str) -> Matrix | None:
    """How far the mean of each group lies from that of all pairs, in standard deviations of all pairs."""
    found = result["described"]
    if not found:
        return None
    everything = next(row for row in found["groups"] if row["by"] == "all")
    groups = [row for row in found["groups"] if row["by"] == by and row["n"]][:SHOWN_SOURCES]
    if len(groups) < 2:
        return None
    titles = stance_titles(result) if by == "stance" else {}
    values = tuple(
        tuple(_standardised(row["cells"][place], cell) for row in groups)
        for place, cell in enumerate(everything["cells"])
    )
    if all(value is None for row in values for value in row):
        return None
    bound = _scale(values, 0.5)
    split = split_in(result.get("made_from", {})) if by == "source" else ""
    words = in_words(split) if split else by
    return Matrix(
        name=f"{by}s",
        title=f"Characteristics of evidence, each {words} against all",
        caption=f"{_of_data(result)}. Mean of the {words} minus mean of all pairs, in standard deviations of all "
        "pairs; an empty cell has no value.",
        alt=f"Characteristics by {words}, coloured by how far each mean lies above or below that of all pairs.",
        rows=tuple(one["title"] for one in found["columns"]),
        columns=tuple(titles.get(row["group"], row["group"]) for row in groups),
        values=values,
        figures=tuple(
            tuple(row["cells"][place]["figure"] for row in groups) for place in range(len(everything["cells"]))
        ),
        value_title="Difference in standard deviations",
        rows_title="Characteristic",
        columns_title=as_heading(split) if split else by.capitalize(),
        scale="diverging",
        low=-bound,
        high=bound,
    )


def _standardised(cell: dict, everything: dict) -> float | None:
    if cell["estimate"] is None or not everything["sd"]:
        return None
    return (cell["estimate"] - everything["estimate"]) / everything["sd"]


def _usage(result: dict) -> Intervals | None:
    """Figure 3: context usage by stance, a bar for each model."""
    if not result["usage"]:
        return None
    name, bound = ACU[result["acu"]]
    titles, by_deviation = stance_titles(result), result["bars"] == "sd"
    items = []
    for model in result["usage"]["models"]:
        for row in model["stances"]:
            cell = row[name]
            if not cell["n"] and not cell["n_undefined"]:
                continue
            spread = cell["sd"]
            known = by_deviation and spread is not None and cell["estimate"] is not None
            ends = (cell["estimate"] - spread, cell["estimate"] + spread) if known else (None, None)
            items.append(
                Interval(
                    titles[row["stance"]],
                    cell["estimate"],
                    *(ends if by_deviation else _bounds(cell["low"], cell["high"])),
                    n=cell["n"],
                    series=model["model"],
                    undefined=cell["undefined"],
                    figure=key("usage", model["model"], row["stance"]),
                )
            )
    if not items:
        return None
    spread = "one standard deviation of pairs" if by_deviation else "95 % bootstrap intervals of the mean over claims"
    formula = "mean" if result["acu"] == "mean" else "sum"
    return Intervals(
        name="usage",
        title=f"Context usage ({name}) by stance of the evidence",
        caption=f"{_of_data(result)}. {name}: {formula} of three signed changes in probability, at most {bound} and at "
        f"least -{bound}; error bars are {spread}. Below 0 a model moves away from the evidence.",
        alt=f"Bars of mean context usage ({name}) for each stance and model; the table has the numbers.",
        items=tuple(items),
        values=Axis(name),
        rows_title="Stance",
        series_title="Model",
        style="bars",
        level=Level(0, "no use of the evidence"),
        interval_title="One standard deviation" if by_deviation else "95 % interval",
    )


def _correlations(result: dict, place: int) -> Matrix | None:
    """Figure 4: Spearman's coefficients, marked by significance before and after correction."""
    found = result["correlations"][place]
    titles = stance_titles(result)
    stances = list(dict.fromkeys(row["stance"] for row in found["rows"] if row["n"]))
    features = list(dict.fromkeys(row["feature"] for row in found["rows"]))
    cells = {(row["feature"], row["stance"]): row["spearman"] for row in found["rows"]}
    behind = {(row["feature"], row["stance"]): row["figure"] for row in found["rows"]}
    values = tuple(tuple(cells[feature, stance]["estimate"] for stance in stances) for feature in features)
    if all(value is None for row in values for value in row):
        return None
    bound = _scale(values, LEAST_SCALE)
    marks = tuple(tuple(_mark(cells[feature, stance], result) for stance in stances) for feature in features)
    return Matrix(
        name=f"correlations-{place}",
        title=f"Spearman correlation of characteristics with context usage, {found['model']}",
        caption=f"{_of_data(result)}, of which {found['model']} has context usage where it is defined. Tests "
        f"{TEST_WORDS[result['test']]}; significant at {result['alpha']:g} before and after "
        f"{CORRECTION_WORDS[result['correction']]} for {n_of(found['n_tests']['spearman'], 'tests')}. Empty: "
        "undefined.",
        alt="Correlation coefficients of each characteristic with context usage, for every stance, coloured from "
        "negative to positive; the table has the numbers and which are significant.",
        rows=tuple(features),
        columns=tuple(titles[stance] for stance in stances),
        values=values,
        value_title="Spearman",
        rows_title="Characteristic",
        columns_title="Stance",
        marks=marks,
        figures=tuple(tuple(behind[feature, stance] for stance in stances) for feature in features),
        scale="diverging",
        low=-bound,
        high=bound,
    )


def _mark(cell: dict, result: dict) -> str:
    if cell["p_value"] is None or cell["p_value"] >= result["alpha"]:
        return ""
    return "corrected" if cell[f"p_{result['correction']}"] < result["alpha"] else "uncorrected"


def _scale(values: tuple[tuple[float | None, ...], ...], least: float) -> float:
    """The end of a scale around 0 that holds all values, to a tenth."""
    greatest = max(abs(value) for row in values for value in row if value is not None)
    return max(least, math.ceil(greatest * 10) / 10)


def _bounds(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    return (low, high) if low is not None and high is not None else (None, None)
