"""Pictures of the agreement report: alpha of each label, and of each source's units."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Level, Picture, picture_name
from analysis.reports.numbers import n_of
from analysis.sources.splits import as_heading, in_words, split_in

NONE = Level(0, "as by chance")
DRAWN_SOURCES = 20  # more would fit no page; the table has them


def pictures(result: dict) -> list[Picture]:
    found: list[Picture] = []
    for dimension in result["dimensions"]:
        if any(row["n"] for row in dimension["per_label"]):
            found.append(_per_label(result, dimension))
        if dimension["by_source"]:
            found.append(_by_source(result, dimension))
    return found


def _per_label(result: dict, dimension: dict) -> Intervals:
    rows = dimension["per_label"]
    measures = (("alpha", "Krippendorff's alpha"), ("gwet_ac1", "Gwet's AC1"))
    return Intervals(
        name=picture_name("per-label", dimension["dimension"]),
        title=f"{dimension['title']}: agreement about each label against the rest",
        caption=_caption(
            result,
            dimension,
            f"Each label against the rest, {_counted(rows, 'title', 'n', 'labels')}",
            rows[0]["alpha"],
        ),
        alt=_in_words(rows, "title", "alpha"),
        items=tuple(
            _interval(
                row["title"], row[name], title, f"{dimension['dimension']}/label/{row['label']}" if row["n"] else ""
            )
            for row in rows
            for name, title in measures
        ),
        values=Axis("Agreement beyond chance", high=1),
        rows_title="Label",
        series_title="Coefficient",
        level=NONE,
    )


def _by_source(result: dict, dimension: dict) -> Intervals:
    rows, split = dimension["by_source"][:DRAWN_SOURCES], split_in(result.get("made_from", {}))
    left = len(dimension["by_source"]) + dimension["n_sources_not_listed"] - len(rows)
    most = f"The {len(rows)} with most units of {len(rows) + left:,}. " if left else ""
    ordinal = rows[0]["alpha_ordinal"] is not None
    measures = (("alpha_nominal", "nominal"), *((("alpha_ordinal", "ordinal"),) if ordinal else ()))
    n = "; ".join(f"{row['source']} {row['alpha_nominal']['n_pairable']:,}" for row in rows)
    return Intervals(
        name=picture_name("by-source", dimension["dimension"]),
        title=f"{dimension['title']}: agreement by {in_words(split)}",
        caption=_caption(result, dimension, f"{most}Units with a pair of labels: {n}", rows[0]["alpha_nominal"]),
        alt=_in_words(rows, "source", "alpha_nominal"),
        items=tuple(
            _interval(
                row["source"],
                row[name],
                title if ordinal else "",
                f"{dimension['dimension']}/source/{row['key']}" if row[name]["n_pairable"] else "",
            )
            for row in rows
            for name, title in measures
        ),
        values=Axis("Krippendorff's alpha", high=1),
        rows_title=as_heading(split),
        series_title="Level",
        level=NONE,
    )


def _interval(row: str, figure: dict, series: str, key: str = "") -> Interval:
    return Interval(
        row,
        figure["estimate"],
        figure["low"],
        figure["high"],
        figure["n_pairable"],
        series=series,
        undefined=figure["undefined"],
        figure=key,
    )


def _caption(result: dict, dimension: dict, what: str, figure: dict) -> str:
    whose = {"all": "everybody", "members": "members", "imported": "raters of imported files"}[result["raters"]]
    method = figure["interval"]["method"]
    lines = f" Lines are {100 * figure['interval']['level']:g} % intervals: {method}." if method else ""
    return (
        f"{result['project']}: {n_of(dimension['n_labels'], 'labels')} by {whose} "
        f"({n_of(result['n_raters'], 'raters')}) of {n_of(result['n_units'], 'units')}. {what}.{lines}"
    )


def _counted(rows: list[dict], name: str, n: str, of: str) -> str:
    return f"{of}: " + "; ".join(f"{row[name]} {row[n]:,}" for row in rows)


def _in_words(rows: list[dict], name: str, measure: str) -> str:
    known = [row for row in rows if row[measure]["estimate"] is not None]
    said = "; ".join(f"{row[name]} {row[measure]['estimate']:.2f}" for row in known) or "undefined throughout"
    return f"Krippendorff's alpha: {said}."
