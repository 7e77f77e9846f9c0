"""Pictures of the comparison: confusion, curves, reliability, and everybody beside everybody."""

from __future__ import annotations

from analysis.pictures import Axis, Interval, Intervals, Lines, Matrix, Picture, Series, picture_name
from analysis.reports.methods_words import checker_name
from analysis.reports.numbers import either, n_of
from analysis.reports.probabilities import BINS

SHARE = Axis("Share of units", 0, 1)


def pictures(result: dict) -> list[Picture]:
    found: list[Picture] = []
    for dimension in result["dimensions"]:
        if result["gives"] == "scores":
            continue
        if dimension["accuracy"]["n_pairable"]:
            found.append(confusion(result, dimension))
        if dimension["probabilities"]:
            found += _of_probabilities(result, dimension)
        if dimension["labellers"] and any(row["accuracy"]["n_pairable"] for row in dimension["labellers"]["labellers"]):
            found += _of_everybody(result, dimension)
    return found


def _against(result: dict) -> str:
    labels = "" if result["touched"] or result["reference"] not in ("majority", "dawid-skene") else ", untouched labels"
    return f"{checker_name(result)} against people ({result['reference_title'].lower()}{labels})"


def confusion(result: dict, dimension: dict) -> Matrix:
    titles = tuple(label["title"] for label in dimension["labels"])
    counts = dimension["confusion"]
    totals = [sum(row) for row in counts]
    keys = [label["label"] for label in dimension["labels"]]
    accuracy = dimension["accuracy"]
    right = sum(counts[place][place] for place in range(len(counts)))
    return Matrix(
        name=picture_name("confusion", dimension["dimension"]),
        title=f"{dimension['title']}: confusion of people and {result['checker']}",
        caption=(
            f"{result['project']}: {_against(result)}, n = {n_of(accuracy['n_pairable'], 'units')}. Colours and "
            "percentages are shares of the row."
        ),
        alt=f"{right:,} of {n_of(sum(totals), 'units')} {either(right, 'has', 'have')} the same label from "
        "people and the checker.",
        rows=titles,
        columns=titles,
        values=tuple(tuple(row) for row in counts),
        shades=tuple(
            tuple(count / total if total and count else None for count in row)
            for row, total in zip(counts, totals, strict=True)
        ),
        low=0,
        high=1,
        rows_title="people",
        columns_title=checker_name(result),
        value_title="units",
        shade_title="share of the row",
        figures=tuple(
            tuple(
                f"{dimension['dimension']}/{said}/{found}" if count else ""
                for found, count in zip(keys, row, strict=True)
            )
            for said, row in zip(keys, counts, strict=True)
        ),
    )


def _of_probabilities(result: dict, dimension: dict) -> list[Picture]:
    found = dimension["probabilities"]
    n = found["brier"]["n_pairable"]
    about = f"{result['project']}: {_against(result)}, n = {n_of(n, 'units')} with probabilities."
    pictures: list[Picture] = []
    if any(row["n"] for row in found["bins"]):
        pictures.append(_reliability(dimension, found, about))
    curves = [row for row in found["labels"] if row["curve"]["recall"]]
    if curves:
        pictures += [_roc(dimension, curves, about), _precision_recall(dimension, curves, about)]
    return pictures


def _reliability(dimension: dict, found: dict, about: str) -> Lines:
    bins = [row for row in found["bins"] if row["n"]]
    right = [row["accuracy"] for row in bins]
    # A band says something of every point; where one has no interval the table says which others have.
    has_band = all(one["low"] is not None for one in right)
    return Lines(
        name=picture_name("reliability", dimension["dimension"]),
        title=f"{dimension['title']}: reliability of probabilities",
        caption=(
            f"{about} Units are in {BINS} equal bins by the probability of their most probable label; expected "
            f"calibration error {_number(found['ece'])}."
            f"{' The band joins 95 % intervals of the share right in each bin.' if has_band else ''}"
        ),
        alt="; ".join(
            f"mean probability {row['confidence']:.2f}: {_number(row['accuracy'])} right of {row['n']}" for row in bins
        )
        + ".",
        series=(
            Series(
                "bins",
                tuple((row["confidence"], row["accuracy"]["estimate"]) for row in bins),
                low=tuple(one["low"] for one in right) if has_band else (),
                high=tuple(one["high"] for one in right) if has_band else (),
                dots=True,
                figures=tuple(
                    f"{dimension['dimension']}/bin/{place}/units" for place, row in enumerate(found["bins"]) if row["n"]
                ),
            ),
        ),
        x=Axis("Mean probability of the most probable label", 0, 1),
        y=Axis("Share right", 0, 1),
        diagonal="perfectly calibrated",
        square=True,
    )


def _roc(dimension: dict, rows: list[dict], about: str) -> Lines:
    areas = _areas(rows, "roc_auc")
    return _curves(
        dimension,
        {
            row["title"]: ((0.0, 0.0), *zip(row["curve"]["false_positive_rate"], row["curve"]["recall"], strict=True))
            for row in rows
        },
        name="roc",
        title="ROC curves",
        caption=f"{about} Areas with 95 % intervals: {areas}.",
        alt=f"Areas under the curves: {areas}.",
        axes=("False positive rate", "True positive rate"),
        diagonal="chance",
    )


def _precision_recall(dimension: dict, rows: list[dict], about: str) -> Lines:
    precision = _areas(rows, "average_precision")
    return _curves(
        dimension,
        {row["title"]: tuple(zip(row["curve"]["recall"], row["curve"]["precision"], strict=True)) for row in rows},
        name="precision-recall",
        title="precision and recall",
        caption=f"{about} Average precision with 95 % intervals: {precision}.",
        alt=f"Average precision: {precision}.",
        axes=("Recall", "Precision"),
    )


def _curves(
    dimension: dict,
    points: dict[str, tuple],
    *,
    name: str,
    title: str,
    caption: str,
    alt: str,
    axes: tuple[str, str],
    diagonal: str = "",
) -> Lines:
    """A curve per label, in a square from 0 to 1 both ways."""
    return Lines(
        name=picture_name(name, dimension["dimension"]),
        title=f"{dimension['title']}: {title}, each label against the rest",
        caption=caption,
        alt=alt,
        series=tuple(Series(label, curve) for label, curve in points.items()),
        series_title="Label",
        x=Axis(axes[0], 0, 1),
        y=Axis(axes[1], 0, 1),
        diagonal=diagonal,
        square=True,
    )


def _areas(rows: list[dict], name: str) -> str:
    return "; ".join(f"{row['title']} {_number(row[name])}" for row in rows)


def _number(figure: dict) -> str:
    if figure["estimate"] is None:
        return f"undefined ({figure['undefined']})"
    if figure["low"] is None:
        return f"{figure['estimate']:.3f}"
    return f"{figure['estimate']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


def _of_everybody(result: dict, dimension: dict) -> list[Picture]:
    found = dimension["labellers"]
    rows = found["labellers"]
    method = rows[0]["accuracy"]["interval"]["method"] or "no interval"
    reference = result["reference_title"].lower()
    pictures: list[Picture] = [
        Intervals(
            name=picture_name("labellers", dimension["dimension"]),
            title=f"{dimension['title']}: accuracy of every checker and every person",
            caption=(
                f"{result['project']}: against {reference}; a person against that of the others where it is a "
                f"majority. n of each labeller: {_sizes([row['accuracy'] for row in rows])} units. "
                f"Lines are 95 % intervals: {method}."
            ),
            alt="; ".join(f"{row['name']}: {_number(row['accuracy'])}" for row in rows) + ".",
            items=tuple(
                Interval(
                    _unlike(row, rows),
                    row["accuracy"]["estimate"],
                    row["accuracy"]["low"],
                    row["accuracy"]["high"],
                    row["accuracy"]["n_pairable"],
                    series=row["kind"] if found["people"] else "",
                    undefined=row["accuracy"]["undefined"],
                    figure=row["figure"] if row["accuracy"]["n_pairable"] else "",
                )
                for row in rows
            ),
            values=Axis("Accuracy", 0, 1),
            rows_title="Labeller",
            series_title="Kind",
        )
    ]
    if found["people"]:
        checkers = [row["name"] for row in rows if row["kind"] == "checker"]
        pictures.append(
            Matrix(
                name=picture_name("checkers-people", dimension["dimension"]),
                title=f"{dimension['title']}: share of equal labels, every checker and every person",
                caption=(
                    f"{result['project']}: share of the units labelled by both on which a checker gives the person's "
                    f"label{'' if result['touched'] else '; labels untouched by all checkers shown'}. n of each cell: "
                    f"{_counts(checkers, found)}."
                ),
                alt="A row per checker, a column per person; the numbers stand in the table.",
                rows=tuple(checkers),
                columns=tuple(found["people"]),
                values=tuple(tuple(cell["estimate"] for cell in row) for row in found["against_people"]),
                rows_title="Checker",
                columns_title="Person",
                value_title="share of equal labels",
                figures=tuple(
                    tuple(f"{cell['figure']}/both" if cell["n_pairable"] else "" for cell in row)
                    for row in found["against_people"]
                ),
                low=0,
                high=1,
            )
        )
    return pictures


def _counts(checkers: list[str], found: dict) -> str:
    rows = zip(checkers, found["against_people"], strict=True)
    return "; ".join(f"{checker} {_sizes(row)}" for checker, row in rows)


def _sizes(figures: list[dict]) -> str:
    return ", ".join(f"{one['n_pairable']:,}" for one in figures)


def _unlike(row: dict, rows: list[dict]) -> str:
    """A labeller's name; where a person is called like a checker, with what they are."""
    alike = [one for one in rows if one["name"] == row["name"]]
    return row["name"] if len(alike) == 1 else f"{row['name']} ({row['kind']})"
