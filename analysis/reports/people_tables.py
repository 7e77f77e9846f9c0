"""Tables of the reports about particular people: annotators, and whom a checker could stand in for."""

from __future__ import annotations

from analysis.reports.intervals import estimate, intervals
from analysis.reports.methods_words import checker_name
from analysis.reports.numbers import either, n_of
from analysis.reports.tabular import Cell, Table, left_out_words


def annotators(result: dict) -> list[Table]:
    tables = []
    for dimension in result["dimensions"]:
        title = dimension["title"]
        if dimension["undefined"]:
            tables.append(Table(f"{title}: annotators", ("Undefined",), [(dimension["undefined"],)]))
            continue
        tables += [_competences(dimension), _models(dimension), shares_of_labels(dimension)]
        names = [label["title"] for label in dimension["labels"]]
        for rater in dimension["raters"]:
            parts = (rater[name] for name in ("confusion", "confusion_ends", "counts"))
            rows = [
                (name, *sum(map(_share, shares, ends), ()), *counts)
                for name, shares, ends, counts in zip(names, *parts, strict=True)
            ]
            columns = ("True label", *intervals(*names), *(f"{name}, labels" for name in names))
            tables.append(Table(f"{title}: what {rater['name']} says, by Dawid-Skene", columns, rows))
        tables.append(_units(dimension, names))
        tables += _speed(title, dimension["speed"])
    return tables


def _competences(dimension: dict) -> Table:
    columns = ("Annotator", "Kind", "Labels", "Shared units", "Against the majority")
    return Table(
        f"{dimension['title']}: annotators",
        columns + intervals("Agreement with others", "Dawid-Skene", "MACE"),
        [
            (row["name"], row["kind"], row["n_labels"], row["n_shared"], row["n_against"])
            + sum((estimate(row[name]) for name in ("agreement", "dawid_skene", "mace")), ())
            for row in dimension["raters"]
        ],
    )


def _models(dimension: dict) -> Table:
    rows = [
        (model["title"], model["n_iterations"], "yes" if model["converged"] else "no", model["n_resamples"])
        for model in dimension["models"]
    ]
    return Table(f"{dimension['title']}: models", ("Model", "Iterations", "Converged", "Resamples"), rows)


def shares_of_labels(dimension: dict) -> Table:
    """How often each label is true by either model."""
    models = dimension["models"]
    return Table(
        f"{dimension['title']}: how often each label is true, by the models",
        ("Label", *intervals(*(model["title"] for model in models))),
        [
            (label["title"], *(cell for model in models for cell in estimate(model["prevalence"][place])))
            for place, label in enumerate(dimension["labels"])
        ],
    )


def _share(share: float | None, ends: list[float] | None) -> tuple[Cell, Cell, Cell]:
    return ("undefined" if share is None else share, *(ends or (None, None)))


def _units(dimension: dict, names: list[str]) -> Table:
    rows = [
        (row["unit"], row["label"], row["majority"], *row["votes"], *row["dawid_skene"], *row["mace"])
        for row in dimension["posterior"]["units"]
    ]
    columns = tuple(f"{name}, {of}" for of in ("labels", "Dawid-Skene", "MACE") for name in names)
    return Table(f"{dimension['title']}: units", ("Unit", "Dawid-Skene", "Majority", *columns), rows)


def _speed(title: str, speed: dict) -> list[Table]:
    if speed["undefined"]:
        return [Table(f"{title}: speed", ("Undefined",), [(speed["undefined"],)])]
    columns = ("Quarter", "Answers", "Median seconds", *intervals("Agreement with others"))
    quarters = [
        (row["title"], row["agreement"]["n_pairable"], row["median"], *estimate(row["agreement"]))
        for row in speed["quarters"]
    ]
    raters = [("all, within each annotator", speed["within"]["n_pairable"], None, *estimate(speed["within"]))]
    raters += [(row["name"], row["n"], row["median"], *estimate(row["spearman"])) for row in speed["raters"]]
    return [
        Table(f"{title}: agreement by speed", columns, quarters),
        Table(
            f"{title}: correlation of time with agreement",
            ("Annotator", "Answers", "Median seconds", *intervals("Spearman")),
            raters,
        ),
    ]


def prevalence(result: dict) -> list[Table]:
    columns = (*intervals("Together"), "Reliance", *intervals("People alone"), "By people", "of")
    columns += intervals("Checker alone")
    by = f"{checker_name(result)} and people"
    tables = []
    for dimension in result["dimensions"]:
        title, responses = dimension["title"], dimension["responses"]
        counted = ("Label", *columns, "Units with both", "Checker's only")
        rows = [_prevalence(row, row, dimension) for row in dimension["labels"]]
        tables.append(Table(f"{title}: share of units, {by}", counted, rows, left_out_words(result)))
        if responses:
            counted = ("Label", *columns, "Responses with both", "Checker's only")
            partly = (
                f"{n_of(responses['n_partly'], 'responses')} that people labelled only in part "
                f"{either(responses['n_partly'], 'counts', 'count')} as unlabelled."
            )
            for name, words in OF_RESPONSES.items():
                rows = [_prevalence(row, row[name], responses) for row in responses["labels"]]
                heading = f"{title}: {words.format(result['unit_words'])}, {by}"
                tables.append(Table(heading, counted, rows, partly if responses["n_partly"] else ""))
    return tables


# What is averaged over responses; "By people" counts those with any such piece, in both tables.
OF_RESPONSES = {"share": "mean share of a response's {}", "any": "share of responses with any such {}"}


def _prevalence(row: dict, found: dict, counts: dict) -> tuple[Cell, ...]:
    return (row["title"], *estimate(found["powered"]), found["powered"]["power"], *estimate(found["people"])) + (
        row["n_by_people"],
        found["people"]["n"],
        *estimate(found["checker"]),
        counts["n_both"],
        counts["n_others"],
    )


def alternative_annotator(result: dict) -> list[Table]:
    tables = []
    for dimension in result["dimensions"]:
        title = f"{dimension['title']}: alternative annotator test, epsilon {result['epsilon']:g}"
        columns = ("Checker", *intervals("Winning rate", "Advantage"), "People", "Units", "Passes")
        columns = (*columns, "More labels to pass", "People left out")
        rows = [_checker(row) for row in dimension["checkers"]]
        strays = [row["n_strays"] for row in dimension["checkers"]]
        if any(strays):
            columns = (*columns, "None of people's labels")
            rows = [(*row, n) for row, n in zip(rows, strays, strict=True)]
        tables.append(Table(title, columns, rows))
        for row in dimension["checkers"]:
            if row["people"]:
                tables.append(_people(f"{dimension['title']}: {checker_name(row)} and each person", row))
    return tables


def _checker(row: dict) -> tuple[Cell, ...]:
    passes = "undefined" if row["passes"] is None else "yes" if row["passes"] else "no"
    return (
        checker_name(row),
        *(estimate(row["winning_rate"] | {"undefined": row["undefined"]})),
        *(estimate(row["advantage"] | {"undefined": row["undefined"]})),
        len(row["people"]),
        row["advantage"]["n_pairable"],
        passes,
        labels_to_pass(row.get("to_pass")),
        len(row["left_out"]),
    )


def labels_to_pass(needed: dict | None) -> str | None:
    """How many more labels would decide an open case, and of how many people."""
    if needed is None:
        return None
    n, labels = needed["people"], f"{sum(needed['units']):,}"
    return f"{labels} of one person" if n == 1 else f"{labels} of {n} people together"


def _people(title: str, row: dict) -> Table:
    shares = intervals("Checker at least as close", "Person at least as close")
    columns = ("Person", "Units", *shares, "p", "Rejected", "Units that would decide", "More units")
    rows: list[tuple[Cell, ...]] = [
        (one["name"], one["n_units"], *estimate(one["model_wins"]), *estimate(one["person_wins"]), one["p_value"])
        + ("yes" if one["rejected"] else "no", one["n_needed"], one.get("n_more"))
        for one in row["people"]
    ]
    nothing = (None,) * len(shares)
    rows += [(one["name"], one["n_units"], *nothing, None, "too few units", None, None) for one in row["left_out"]]
    return Table(title, columns, rows)
