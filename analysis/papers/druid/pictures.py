"""The pictures of the report on DRUID's analyses."""

from __future__ import annotations

import math

from msgspec.structs import replace

from analysis.figures.items import Filter, encoded, where
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level, Matrix
from analysis.papers.druid.result import (
    ACU,
    BOUNDED,
    SHARE,
    SHOWN_SOURCES,
    CharacteristicsOfGroup,
    ComparedData,
    Druid,
    NamedMean,
    PairMean,
    TestedCorrelation,
)
from analysis.papers.druid.tables import DEFINED, correlated, in_group, of_stance
from analysis.reports.words.numbers import n_of
from analysis.sources.splits import name_split, split_heading, split_in

TEST_WORDS = {
    "clusters": "over claims",
    "units": "treating pairs as independent",
    "permutation": "by permutation of pairs",
}
CORRECTION_WORDS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction"}
LEAST_SCALE = 0.3  # correlations of nothing but noise should not look like findings


def _of_data(result: Druid) -> str:
    return f"{result.project_title}: {n_of(result.n_pairs, 'pairs')} of evidence and {n_of(result.n_claims, 'claims')}"


def _cells(result: Druid, places: list[int], groups: list[CharacteristicsOfGroup]) -> tuple[tuple[str, ...], ...]:
    """What the cells of a matrix open: the pairs of a group with each of these characteristics."""

    def cell(group: CharacteristicsOfGroup, place: int) -> str:
        key = result.described.columns[place].key
        return encoded(where(group.cells[place].n, in_group(result, group.by, group.group) | {f"value.{key}": DEFINED}))

    return tuple(tuple(cell(group, place) for group in groups) for place in places)


def shares_picture(result: Druid) -> Matrix | None:
    """The characteristics of figure 2 that are shares of pairs, by stance."""
    if not result.described:
        return None
    groups = [row for row in result.described.of("stance") if row.n]
    shares = [place for place, one in enumerate(result.described.columns) if one.scale == SHARE]
    if not shares or not groups:
        return None
    return Matrix(
        name="characteristics",
        title="Share of pairs with a characteristic, by stance",
        caption=f"{_of_data(result)}. Shares of the pairs of a stance for which it is known; an empty cell has none.",
        alt="The share of evidence with each characteristic, for every stance; the table has the numbers.",
        rows=tuple(result.described.columns[place].title for place in shares),
        columns=tuple(result.titles[row.group] for row in groups),
        values=tuple(tuple(row.cells[place].estimate for row in groups) for place in shares),
        figures=_cells(result, shares, groups),
        value_title="Share of pairs",
        rows_title="Characteristic",
        columns_title="Stance",
        low=0,
        high=1,
    )


def compared_pictures(result: Druid) -> list[Intervals]:
    """Figure 2: one picture of all that lies between 0 and 1, and one of each other characteristic."""
    every = [(one, data) for data in result.beside for one in data.characteristics]
    bounded = [(one, data) for one, data in every if one.scale in (SHARE, BOUNDED)]
    order = list(dict.fromkeys(one.title for one, _ in bounded))
    bounded.sort(key=lambda row: order.index(row[0].title))
    pictures = []
    if bounded:
        items = [_mean_row(result, one, data, one.title, data.title) for one, data in bounded]
        pictures.append(_side_by_side(result, "beside", "Characteristics of evidence", "Mean", items))
    others = [(one, data) for one, data in every if not one.scale]
    for place, title in enumerate(dict.fromkeys(one.title for one, _ in others)):
        items = [_mean_row(result, one, data, data.title) for one, data in others if one.title == title]
        pictures.append(_side_by_side(result, f"beside-{place}", title, title, items))
    return pictures


def _mean_row(result: Druid, cell: NamedMean, data: ComparedData, row: str, series: str = "") -> IntervalRow:
    """Only pairs of this project can be opened."""
    opens = None
    if cell.n and data.project == result.project:
        opens = Filter({f"value.{result.described.key_of(cell.title)}": DEFINED})
    return IntervalRow.of_figure(row, cell, opens, series=series, n=cell.n)


def _side_by_side(result: Druid, name: str, title: str, values: str, items: list[IntervalRow]) -> Intervals:
    data = "; ".join(
        f"{one.title} ({n_of(one.n_pairs, 'pairs')} of {n_of(one.n_claims, 'claims')})" for one in result.beside
    )
    return Intervals(
        name=name,
        title=f"{title}, data sets side by side",
        caption=f"{data}. Means with 95 % bootstrap intervals over claims.",
        alt=f"{title} of the evidence of {len(result.beside)} data sets; the table has the numbers.",
        items=tuple(items),
        values=Axis(values, 0, 1) if name == "beside" else Axis(values),
        rows_title="Characteristic" if name == "beside" else "Data",
        series_title="Data",
    )


def against_all_picture(result: Druid, by: str) -> Matrix | None:
    """How far the mean of each group lies from that of all pairs, in standard deviations of all pairs."""
    described = result.described
    if not described:
        return None
    groups = [row for row in described.of(by) if row.n][:SHOWN_SOURCES]
    if len(groups) < 2:
        return None
    titles = result.titles if by == "stance" else {}
    values = tuple(
        tuple(_standardised(row.cells[place], cell) for row in groups)
        for place, cell in enumerate(described.everything.cells)
    )
    if all(value is None for row in values for value in row):
        return None
    bound = _scale(values, 0.5)
    split = split_in(result.made_from) if by == "source" else ""
    words = name_split(split) if split else by
    return Matrix(
        name=f"{by}s",
        title=f"Characteristics of evidence, each {words} against all",
        caption=f"{_of_data(result)}. Mean of the {words} minus mean of all pairs, in standard deviations of all "
        "pairs; an empty cell has no value.",
        alt=f"Characteristics by {words}, coloured by how far each mean lies above or below that of all pairs.",
        rows=tuple(one.title for one in described.columns),
        columns=tuple(titles.get(row.group, row.group) for row in groups),
        values=values,
        figures=_cells(result, list(range(len(described.columns))), groups),
        value_title="Difference in standard deviations",
        rows_title="Characteristic",
        columns_title=split_heading(split) if split else by.capitalize(),
        scale="diverging",
        low=-bound,
        high=bound,
    )


def _standardised(cell: PairMean, everything: PairMean) -> float | None:
    if cell.estimate is None or not everything.sd:
        return None
    return (cell.estimate - everything.estimate) / everything.sd


def usage_picture(result: Druid) -> Intervals | None:
    """Figure 3: context usage by stance, a bar for each model."""
    if not result.usage:
        return None
    name, bound = ACU[result.acu]
    by_deviation = result.bars == "sd"
    items = []
    for number, model in enumerate(result.usage.models):
        for row in model.stances:
            cell: PairMean = getattr(row, name)
            if not cell.n and not cell.n_undefined:
                continue
            opens = where(cell.n, of_stance(result, model, row.stance) | {f"usage{number}": DEFINED})
            if by_deviation:
                known = cell.sd is not None and cell.estimate is not None
                low, high = (cell.estimate - cell.sd, cell.estimate + cell.sd) if known else (None, None)
                cell = replace(cell, low=low, high=high)
            items.append(IntervalRow.of_figure(result.titles[row.stance], cell, opens, series=model.model, n=cell.n))
    if not items:
        return None
    spread = "one standard deviation of pairs" if by_deviation else "95 % bootstrap intervals of the mean over claims"
    formula = "mean" if result.acu == "mean" else "sum"
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


def correlations_picture(result: Druid, place: int) -> Matrix | None:
    """Figure 4: Spearman's coefficients, marked by significance before and after correction."""
    correlations = result.correlations[place]
    stances = list(dict.fromkeys(row.stance for row in correlations.rows if row.n))
    features = list(dict.fromkeys(row.feature for row in correlations.rows))
    cells = {(row.feature, row.stance): row for row in correlations.rows}
    table = [[cells[feature, stance] for stance in stances] for feature in features]
    values = tuple(tuple(row.spearman.estimate for row in line) for line in table)
    if all(value is None for row in values for value in row):
        return None
    bound = _scale(values, LEAST_SCALE)
    return Matrix(
        name=f"correlations-{place}",
        title=f"Spearman correlation of characteristics with context usage, {correlations.model}",
        caption=f"{_of_data(result)}; context usage of {correlations.model} where it is defined. Tests "
        f"{TEST_WORDS[result.test]}; significant at {result.alpha:g} before and after "
        f"{CORRECTION_WORDS[result.correction]} for {n_of(correlations.n_tests['spearman'], 'tests')}. Empty: "
        "undefined.",
        alt="Correlation coefficients of each characteristic with context usage, for every stance, coloured from "
        "negative to positive; the table has the numbers and which are significant.",
        rows=tuple(features),
        columns=tuple(result.titles[stance] for stance in stances),
        values=values,
        value_title="Spearman",
        rows_title="Characteristic",
        columns_title="Stance",
        marks=tuple(tuple(_mark(row.spearman, result) for row in line) for line in table),
        figures=tuple(
            tuple(encoded(correlated(result, place, row.stance, row.feature, row.n)) for row in line) for line in table
        ),
        scale="diverging",
        low=-bound,
        high=bound,
    )


def _mark(cell: TestedCorrelation, result: Druid) -> str:
    if not cell.is_significant("", result.alpha):
        return ""
    return "corrected" if cell.is_significant(result.correction, result.alpha) else "uncorrected"


def _scale(values: tuple[tuple[float | None, ...], ...], least: float) -> float:
    """The end of a scale around 0 that holds all values, to a tenth."""
    greatest = max(abs(value) for row in values for value in row if value is not None)
    return max(least, math.ceil(greatest * 10) / 10)
