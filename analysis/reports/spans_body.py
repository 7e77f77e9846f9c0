"""The page, the words and the methods of the report on spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.opened import UNITS
from analysis.reports.span_texts import UNKNOWN_TEXT
from analysis.reports.tabular import Cell, Table, linked

if TYPE_CHECKING:
    from analysis.pictures import Picture
    from annotation.task_types import TaskType

OUTCOMES = {
    "same": "Everybody marked the same",
    "overlap": "In part the same",
    "apart": "Nothing in common",
    "one": "One marked, others not",
    "none": "Nobody marked anything",
    "single": "One person only",
}
# Measures whose n are units that two people looked at.
OF_UNITS = ("u_alpha", "binary_u_alpha", "cu_alpha", "gamma")
COMPARED = {
    "answered": "everybody who answered the question was compared, and marking nothing counted as an answer",
    "same-label": "people were compared where they gave the same label",
    "marked": "people were compared where they marked something",
}


def body(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = []
    for dimension in result["dimensions"]:
        parts += [_outcomes(dimension), _figures(dimension), *_picture(result, dimension)]
        if dimension["labels"]:
            parts.append(_labels(dimension))
        if dimension["fields"]:
            parts.append(_fields(dimension))
        if dimension["pairs"]:
            parts.append(_pairs(dimension))
    return parts


def _outcomes(dimension: dict) -> Table:
    counts = tuple(linked(n, f"{dimension['dimension']}/{name}") for name, n in dimension["outcomes"].items())
    note = (
        f"{dimension['n_marking']} of {n_of(dimension['n_answers'], 'answers')} "
        f"{either(dimension['n_marking'], 'marks', 'mark')} something."
    )
    if dimension["n_unknown"]:
        note += f" Units left out because {UNKNOWN_TEXT}: {dimension['n_unknown']}."
    return Table(
        f"{dimension['title']}: how passages were marked",
        ("Marks", *OUTCOMES.values()),
        [(dimension["n_spans"], *counts)],
        note,
    )


def _figures(dimension: dict) -> Table:
    rows = []
    for one in dimension["figures"]:
        left_out = "; ".join(f"{reason}: {n}" for reason, n in one["left_out"].items())
        counts_units = one["name"] in OF_UNITS and one["n_pairable"] == dimension["n_several"]
        n = linked(one["n_pairable"], f"{dimension['dimension']}/several") if counts_units else one["n_pairable"]
        rows.append((one["title"], *estimate(one), n, left_out))
    note = (
        "F1 and IoU are means over pairs of people and units, where somebody marked something. Character alpha counts "
        "characters, the others units."
    )
    for one in dimension["figures"]:
        if one["name"] == "gamma" and one["n_drawn_from"] > one["n_units"]:
            note += f" Gamma is of {n_of(one['n_units'], 'units')}, drawn at random from {one['n_drawn_from']}."
    columns = ("Measure", *intervals("Value"), "n", "Left out")
    return Table(f"{dimension['title']}: agreement on passages", columns, rows, note)


def _picture(result: dict, dimension: dict) -> list[Picture]:
    from analysis.pictures import Axis, Interval, Intervals, Level

    items = tuple(
        Interval(
            one["title"],
            one["estimate"],
            one["low"],
            one["high"],
            n=one["n_pairable"],
            undefined=one["undefined"],
        )
        for one in dimension["figures"]
        if one["name"] != "character_alpha"
    )
    if not any(item.value is not None for item in items):
        return []
    n = next(one["n_pairable"] for one in dimension["figures"] if one["name"] == "u_alpha")
    return [
        Intervals(
            name=_slug(f"spans-{dimension['dimension']}"),
            title=f"{dimension['title']}: agreement on passages",
            caption=(
                f"{result['project']}: agreement on the passages marked for “{dimension['title']}”, "
                f"{n_of(n, 'units')} with two people or more, {n_of(dimension['n_spans'], 'marks')}. Bars are 95 % "
                "bootstrap intervals."
            ),
            alt="; ".join(f"{item.row} {'undefined' if item.value is None else f'{item.value:.2f}'}" for item in items),
            items=items,
            values=Axis("Agreement"),
            rows_title="Measure",
            level=Level(0, "chance (alphas, gamma)"),
        )
    ]


def _slug(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())[:80]


def _measures(rows: list[dict]) -> tuple[str, ...]:
    names = {one["name"]: one["title"] for row in rows for one in row["figures"]}
    return intervals(*names.values())


def _values(row: dict) -> tuple[Cell, ...]:
    return sum((estimate(one) for one in row["figures"]), ())


def _labels(dimension: dict) -> Table:
    rows = [
        (row["title"], linked(row["n_units"], f"{dimension['dimension']}/label/{row['label']}"), row["n_spans"])
        + _values(row)
        for row in dimension["labels"]
    ]
    return Table(
        f"{dimension['title']}: passages by label",
        ("Label", "Units", "Marks", *_measures(dimension["labels"])),
        rows,
        "Only marks under the label count, so a passage that two people marked under different labels counts against "
        "both. (k)u-alpha looks at passages that two people marked, and asks whether they mean the same label.",
    )


def _fields(dimension: dict) -> Table:
    more = dimension["n_fields_not_listed"]
    return Table(
        f"{dimension['title']}: passages by text",
        ("Text", "Marks", *_measures(dimension["fields"])),
        [(row["field"], row["n_spans"], *_values(row)) for row in dimension["fields"]],
        f"{more} more texts are not listed." if more else "",
    )


def _pairs(dimension: dict) -> Table:
    slug, more = dimension["dimension"], dimension["n_pairs_not_listed"]
    return Table(
        f"{dimension['title']}: passages by pair of people",
        ("One", "Other", "Units", *_measures(dimension["pairs"])),
        [
            (row["a"], row["b"], linked(row["figures"][-1]["n_pairable"], f"{slug}/pair/{row['a_id']}/{row['b_id']}"))
            + _values(row)
            for row in dimension["pairs"]
        ],
        f"{more} more pairs are not listed." if more else "",
    )


def methods(result: dict) -> str:
    sentences = []
    for dimension in result["dimensions"]:
        found = {one["name"]: one for one in dimension["figures"]}
        n = found["u_alpha"]["n_pairable"]
        sentences.append(
            f"Agreement on the passages marked for “{dimension['title']}” was measured on {n_of(n, 'units')} that two "
            f"people or more looked at ({n_of(dimension['n_spans'], 'marks')}): {COMPARED[result['who']]}."
        )
    sentences.append(
        "Exact and overlap F1 compare marks, character F1 and intersection over union their characters, as means over "
        "pairs of people and units; units that nobody marked are left out of these. Chance-corrected figures are "
        "Krippendorff's alpha over characters and the unitizing alphas of Krippendorff, Mathet, Bouvry and Widlöcher "
        "(2016), in which all of a unit's texts are laid end to end."
    )
    for dimension in result["dimensions"]:
        for one in dimension["figures"]:
            if one["name"] == "gamma" and one["estimate"] is not None:
                sentences.append(
                    "Gamma (Mathet, Widlöcher and Métivier 2015; weights of position and label 1) was computed on "
                    f"{n_of(one['n_pairable'], 'units')}, with exact alignments and {one['n_draws']} random continua "
                    "made of other units' marks, moved at random."
                )
    interval = next(
        (
            one["interval"]
            for dimension in result["dimensions"]
            for one in dimension["figures"]
            if one["low"] is not None
        ),
        None,
    )
    if interval is not None:
        n = interval["n_clusters"]
        drawn = "" if n is None else f", {n_of(n, 'clusters of units')} being drawn"
        sentences.append(
            f"Intervals are at 95 %: {interval['method']}, {n_of(interval['n_resamples'], 'resamples')}{drawn}."
        )
    return " ".join(dict.fromkeys(sentences))


def in_words(kind: TaskType, figure: str) -> str:
    if figure == UNITS:
        return "all units"
    dimension_slug, name, *rest = figure.split("/")
    dimension = kind.dimension(dimension_slug)
    if name == "label":
        return f"{dimension.title}: units with a passage marked under “{dimension.label(rest[0]).title}”"
    if name == "looked":
        return f"{dimension.title}: units that one person was asked about"
    if name == "several":
        return f"{dimension.title}: units that two people or more looked at"
    if name == "pair":
        return f"{dimension.title}: units on which two people are compared"
    return f"{dimension.title}: {OUTCOMES[name].lower()}"
