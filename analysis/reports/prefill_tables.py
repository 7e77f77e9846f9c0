"""The page, the words and the methods of the report on the trial of suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.derived import with_derived
from analysis.reports.intervals import estimate, intervals
from analysis.reports.methods_words import checker_name, clusters_of, defined_clusters
from analysis.reports.numbers import either, n_of
from analysis.reports.opened import UNITS
from analysis.reports.tabular import Cell, Table, linked

if TYPE_CHECKING:
    from analysis.pictures import Picture
    from annotation.task_types import TaskType

STRATA = {"all": "all", "right": "right", "wrong": "wrong"}
SIDES = {"seen": "with the suggestion in view", "unseen": "without a suggestion"}
SAYS = {"agree": "which the answer equals", "differ": "from which the answer differs"}
WAYS = "Intervals are clustered by annotator and by claim or question."


def body(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = [_answers(result)]
    for dimension in result["dimensions"]:
        everything = dimension["strata"][0]
        if everything["n_seen"] + everything["n_unseen"]:
            parts += [_shares(dimension), _odds(dimension), _alpha(dimension)]
        if dimension["revised"]:
            parts.append(_revised(dimension))
    return [*parts, _time(result), *_pictures(result)]


def _answers(result: dict) -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("First answers with the suggestion in view", result["n_seen"]),
        ("First answers without a suggestion", result["n_unseen"]),
        ("Left out: not known whether one was seen", result["n_unknown"]),
        ("Left out: another run's suggestion was seen", result["n_other_run"]),
        ("Left out: labels of nobody in particular", result["n_labels_of_slots"]),
        ("People", result["n_people"]),
    ]
    title = f"Answers compared: {checker_name(result)}".strip()
    return Table(title, ("Answers", "n"), rows)


def _shares(dimension: dict) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in dimension["strata"]:
        row_cells: list[Cell] = [STRATA[row["stratum"]]]
        for side in SIDES:
            key = f"{dimension['dimension']}/{row['stratum']}/{side}"
            row_cells += [linked(row[f"n_{side}"], key), linked(row[f"n_{side}_agree"], f"{key}/agree")]
            row_cells += estimate(row[side])
        rows.append((*row_cells, *estimate(row["difference"]), *estimate(row["within"]), row["difference"]["p_value"]))
    contrast = dimension["contrast"]
    empty: list[Cell] = [None] * 10
    rows.append(("right minus wrong", *empty, *estimate(contrast), None, None, None, contrast["p_value"]))
    columns = ("Suggestions", "Labels, seen", "Agree, seen", *intervals("Share, seen"))
    columns += ("Labels, not seen", "Agree, not seen", *intervals("Share, not seen"))
    columns += (*intervals("Difference", "Within annotators"), "p")
    left = dimension["n_without_suggestion"]
    note = f"{WAYS} "
    if left:
        note += f"{n_of(left, 'labels')} of units without a suggestion {either(left, 'is', 'are')} left out. "
    unknown = dimension["n_without_reference"]
    if unknown:
        note += (
            f"Of {n_of(unknown, 'labels')} nothing says whether the suggestion is right; "
            f"{either(unknown, 'it counts', 'they count')} in 'all' alone."
        )
    return Table(f"{dimension['title']}: labels that equal the suggestion", columns, rows, note.strip())


def _odds(dimension: dict) -> Table:
    return Table(
        f"{dimension['title']}: logistic regression",
        ("Suggestions", *intervals("Odds ratio", "Average marginal effect"), "p"),
        [
            (STRATA[row["stratum"]], *estimate(row["odds_ratio"]), *estimate(row["marginal"]))
            + (row["odds_ratio"]["p_value"],)
            for row in dimension["strata"]
        ],
    )


def _alpha(dimension: dict) -> Table:
    level = dimension["alpha"][0]["level"]
    return Table(
        f"{dimension['title']}: Krippendorff's alpha ({level})",
        ("Suggestions", "Units, seen", *intervals("Alpha, seen"), "Units, not seen", *intervals("Alpha, not seen"))
        + (*intervals("Difference"), "p"),
        [
            (STRATA[row["stratum"]], *_alpha_of(dimension, row, "seen"), *_alpha_of(dimension, row, "unseen"))
            + (*estimate(row["difference"]), row["difference"]["p_value"])
            for row in dimension["alpha"]
        ],
        "Suggestions that everybody follows raise alpha, whether they are right or wrong.",
    )


def _alpha_of(dimension: dict, row: dict, side: str) -> tuple[Cell, ...]:
    key = f"{dimension['dimension']}/paired/{row['stratum']}/{side}"
    return linked(row[f"n_{side}"], key), *estimate(row[side])


def _revised(dimension: dict) -> Table:
    revised = dimension["revised"]
    rows: list[tuple[Cell, ...]] = [
        (
            STRATA[row["stratum"]],
            linked(row["n_seen"], f"{dimension['dimension']}/revised/{row['stratum']}"),
            *estimate(row["unseen"]),
            *estimate(row["seen"]),
            *estimate(row["difference"]),
        )
        for row in revised["strata"]
    ]
    return Table(
        f"{dimension['title']}: first answers and what became of them once the suggestion was shown",
        ("Suggestions", "Labels", *intervals("Agree at first", "Agree in the end", "Difference")),
        rows,
        f"{revised['n_changed']} of {n_of(revised['n'], 'labels')} {either(revised['n_changed'], 'was', 'were')} "
        f"changed, {revised['n_to_suggestion']} of them to the suggestion.",
    )


def _time(result: dict) -> Table:
    time = result["time"]
    return Table(
        "Time of an answer",
        ("Suggestions", "Answers, seen", *intervals("Seconds, seen"))
        + ("Answers, not seen", *intervals("Seconds, not seen"))
        + (*intervals("Ratio", "Ratio within annotators"), "p"),
        [
            (STRATA[row["stratum"]], row["n_seen"], *estimate(row["seen"]), row["n_unseen"], *estimate(row["unseen"]))
            + (*estimate(row["ratio"]), *estimate(row["within"]), row["ratio"]["p_value"])
            for row in time["strata"]
        ],
        f"Active time, geometric means. {n_of(time['n_revised'], 'answers')} that were revised and "
        f"{time['n_untimed']} without a time are left out. An item's suggestions are right where all are and wrong "
        "where any is.",
    )


def _pictures(result: dict) -> list[Picture]:
    from analysis.pictures import Axis, Interval, Intervals, Level, picture_name

    pictures: list[Picture] = []
    for dimension in result["dimensions"]:
        items = [
            Interval(
                f"{STRATA[row['stratum']]} suggestions",
                found["estimate"],
                found["low"],
                found["high"],
                n=row["n_seen"] + row["n_unseen"],
                series=words,
                undefined=found["undefined"],
            )
            for row in dimension["strata"]
            for words, found in (("between answers", row["difference"]), ("within annotators", row["within"]))
        ]
        if all(item.value is None for item in items):
            continue
        pictures.append(
            Intervals(
                name=picture_name("prefill", dimension["dimension"]),
                title=f"{dimension['title']}: effect of seeing the suggestion on agreeing with it",
                caption=(
                    f"Share of labels that equal the suggestion of {result['checker']}, with it in view minus "
                    f"without, in {result['project']}. {n_of(result['n_seen'], 'answers')} with and "
                    f"{result['n_unseen']} without; right by: {result['reference_title'].lower()}. 95 % intervals "
                    "clustered by annotator and by claim or question."
                ),
                alt="; ".join(
                    f"{item.row}, {item.series}: {'undefined' if item.value is None else f'{item.value:.3f}'}"
                    for item in items
                ),
                items=tuple(items),
                values=Axis("Difference of shares"),
                rows_title="Suggestions",
                series_title="Comparison",
                level=Level(0, "no effect"),
            )
        )
    return pictures


def methods(result: dict) -> str:
    return (
        f"First answers given with a suggestion of {checker_name(result)} in view ({result['n_seen']}) were compared "
        f"with first answers given without one ({result['n_unseen']}), by {n_of(result['n_people'], 'people')}. A "
        f"suggestion counted as right where it equals the reference ({result['reference_title'].lower()}). Effects on "
        "the chance of a label that equals the suggestion are coefficients of linear probability models, alone and "
        "within annotators, and odds ratios with average marginal effects of logistic regressions; effects on time are "
        "ratios from regressions of log active seconds. Standard errors are clustered in two ways, by annotator and "
        f"by {clusters_of(result)[0]} (Cameron, Gelbach and Miller 2011), with 95 % intervals of Student's t with one "
        "degree of freedom less than the smaller number of clusters, and so are those of the shares and the geometric "
        f"mean times on either side. Krippendorff's alpha ({_levels(result)}) and its differences have jackknife "
        f"intervals clustered the same way. {n_of(result['n_unknown'], 'answers')} of which it is not known whether a "
        f"suggestion was seen, and {result['n_other_run']} given with another run's suggestion in view, were left "
        f"out. {defined_clusters(result)}"
    ).strip()


def _levels(result: dict) -> str:
    """At which level alpha was computed, of each question."""
    of = {dimension["title"].lower(): dimension["alpha"][0]["level"] for dimension in result["dimensions"]}
    return "; ".join(f"{title}, {level}" for title, level in of.items())


def in_words(kind: TaskType, figure: str) -> str:
    if figure == UNITS:
        return "all units"
    slug, *parts = figure.split("/")
    title = with_derived(kind).dimension(slug).title
    match parts:
        case ["paired", stratum, side]:
            return f"{title}: with a pair of answers given {SIDES[side]}, to {_suggestion(stratum)}"
        case ["revised", stratum]:
            return f"{title}: answers that came before {_suggestion(stratum)}, which was then shown"
        case [stratum, side]:
            return f"{title}: {_suggestion(stratum)}, answers given {SIDES[side]}"
    stratum, side, says = parts
    return f"{title}: {_suggestion(stratum)} {SAYS[says]}, given {SIDES[side]}"


def _suggestion(stratum: str) -> str:
    return "a suggestion" if stratum == "all" else f"a {stratum} suggestion"
