"""Pictures of the reports about particular people: how far each is to be trusted, and whom a checker could stand in
for."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Level, Picture, picture_name
from analysis.reports.methods_words import checker_name
from analysis.reports.numbers import n_of

DRAWN_PEOPLE = 30  # more would fit no page; the table has them
MODELS = (("agreement", "Agreement with others"), ("dawid_skene", "Dawid-Skene"), ("mace", "MACE"))
RATES = (("winning_rate", "Winning rate"), ("advantage", "Advantage probability"))


def annotators(result: dict) -> list[Picture]:
    return [_competences(result, dimension) for dimension in result["dimensions"] if dimension["raters"]]


def _competences(result: dict, dimension: dict) -> Intervals:
    rows = dimension["raters"][:DRAWN_PEOPLE]
    left = len(dimension["raters"]) + dimension["n_raters_not_listed"] - len(rows)
    most = f" The {len(rows)} who share most units, of {len(rows) + left:,}." if left else ""
    model = dimension["models"][0]
    units = "claims or questions" if model["n_clusters"] else "units"
    return Intervals(
        name=picture_name("competence", dimension["dimension"]),
        title=f"{dimension['title']}: each annotator beside the others",
        caption=(
            f"{result['project']}: {n_of(dimension['n_labels'], 'labels')} of "
            f"{n_of(dimension['n_units_shared'], 'units')} with two or more.{most} Share of equal labels, and "
            "competence by Dawid-Skene (chance to give the true label) and MACE (chance to know it). Lines are 95 % "
            f"bootstrap intervals over {units}."
        ),
        alt="; ".join(f"{row['name']}: {_said(row['dawid_skene'])} by Dawid-Skene" for row in rows) + ".",
        items=tuple(
            _interval(
                row["name"],
                row[name],
                title,
                row["n_shared"],
                f"{dimension['dimension']}/by/{row['id']}/shared" if row["n_shared"] else "",
            )
            for row in rows
            for name, title in MODELS
        ),
        values=Axis("Share of labels", 0, 1),
        rows_title="Annotator",
        series_title="Measure",
    )


def alternative_annotator(result: dict) -> list[Picture]:
    return [
        _against_people(result, dimension)
        for dimension in result["dimensions"]
        if any(not row["undefined"] for row in dimension["checkers"])
    ]


def _against_people(result: dict, dimension: dict) -> Intervals:
    rows = [row for row in dimension["checkers"] if not row["undefined"]]
    # Two finished runs of one checker and version are never here: of each checker only the newest is tested.
    n = "; ".join(
        f"{_name(row)}: {row['advantage']['n_pairable']:,} with {n_of(len(row['people']), 'people')}" for row in rows
    )
    method = next(
        (row["advantage"]["interval"]["method"] for row in rows if row["advantage"]["interval"]["method"]), ""
    )
    lines = f" Lines are 95 % intervals: {method}." if method else ""
    return Intervals(
        name=picture_name("stand-in", dimension["dimension"]),
        title=f"{dimension['title']}: each checker in place of a person",
        caption=(
            f"{result['project']}: alternative annotator test with epsilon {result['epsilon']:g} over units that a "
            f"person, another person and the checker labelled ({n}). A checker may stand in where it wins against half "
            f"of the people.{lines}"
        ),
        alt="; ".join(
            f"{_name(row)}: winning rate {_said(row['winning_rate'])}, advantage {_said(row['advantage'])}"
            for row in rows
        )
        + ".",
        items=tuple(
            _interval(
                _name(row),
                row[name],
                title,
                row["advantage"]["n_pairable"],
                f"{dimension['dimension']}/{row['run']}",
            )
            for row in rows
            for name, title in RATES
        ),
        values=Axis("Share", 0, 1),
        rows_title="Checker",
        series_title="Figure",
        level=Level(0.5, "half of the people"),
    )


def _name(row: dict) -> str:
    return checker_name(row)


def _interval(row: str, figure: dict, series: str, n: int, key: str) -> Interval:
    undefined = "" if figure["estimate"] is not None else figure["undefined"]
    return Interval(
        row, figure["estimate"], figure["low"], figure["high"], n, series=series, undefined=undefined, figure=key
    )


def _said(figure: dict) -> str:
    return "undefined" if figure["estimate"] is None else f"{figure['estimate']:.2f}"
