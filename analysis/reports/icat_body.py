"""The ICAT report as tables, pictures and sentences."""

from __future__ import annotations

import math

from analysis.pictures import Axis, Lines, Picture, Point, Scatter, Series
from analysis.reports.behind_sets import key, opens
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import n_of
from analysis.reports.tabular import Cell, Linked, Table

ALL = "all models"
FIGURES = ("factuality", "coverage", "score")
DETECTION = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
CELL_TITLES = {
    "both": "Covered by both",
    "machine": "By the machine alone",
    "people": "By people alone",
    "neither": "By neither",
}


def body(result: dict) -> list[Table | Picture]:
    return [
        *_scores(result),
        *_curve(result),
        *_scatter(result),
        *_correlations(result),
        *_detection(result),
        _agreement(result),
    ]


def _name(model: str) -> str:
    return model or "a model without a name"


def _scores(result: dict) -> list[Table]:
    every = (*result["models"], result["all"])
    names = [ALL if row is result["all"] else _name(row["model"]) for row in every]
    people: list[tuple[Cell, ...]] = []
    for name, row in zip(names, every, strict=True):
        answers = opens(row["n_responses"], row["figures"]["answers"])
        people.append((name, answers, *_opening(row["people"], row["figures"]["people"])))
    title = "Coverage by people"
    tables = [Table(title, ("Model", "Answers", *intervals(title)), people, _left_out(result, ("people",)))]
    if result["automatic"]:
        scored: list[tuple[Cell, ...]] = [
            (name, opens(row["score"]["n_pairable"], row["figures"]["score"]))
            + sum((_opening(row[figure], row["figures"][figure]) for figure in FIGURES), ())
            for name, row in zip(names, every, strict=True)
        ]
        figures = intervals("Factuality", "Coverage by supported claims", f"ICAT, beta {result['beta']:g}")
        title = f"Factuality, coverage and ICAT, by {result['automatic_title']}"
        note = f"An undefined figure is {result['convention_title']}. {_left_out(result, FIGURES)}".strip()
        tables.append(Table(title, ("Model", "Answers with a score", *figures), scored, note))
    return tables


def _opening(found: dict, figure: str) -> tuple[Cell, Cell, Cell]:
    """An estimate that opens what it was computed from, with its interval."""
    value, low, high = estimate(found)
    return opens(value, figure), low, high


def _left_out(result: dict, names: tuple[str, ...]) -> str:
    words = {"people": "coverage by people", "score": "ICAT"}
    said = []
    for name in names:
        counts = result["all"][name]["left_out"]
        if counts:
            listed = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            said.append(f"Left out of {words.get(name, name)}: {listed}.")
    return " ".join(said)


def _curve(result: dict) -> list[Picture]:
    rows = [row for row in result["curve"] or [] if row["n"]]
    if not rows:
        return []
    betas, series = result["betas"], []
    for row in (*rows[1:], rows[0]) if len(rows) > 2 else rows[-1:]:
        is_all = row["model"] == "" and row is rows[0]
        has_band = row["low"] is not None and None not in row["low"] and len(rows) <= 2
        series.append(
            Series(
                title=ALL if is_all else _name(row["model"]),
                points=tuple(zip(map(math.log2, betas), row["estimate"], strict=True)),
                low=tuple(row["low"]) if has_band else (),
                high=tuple(row["high"]) if has_band else (),
            )
        )
    at_one = betas.index(1.0)
    words = "; ".join(
        f"{one.title} {one.points[0][1]:.2f} at {betas[0]:g}, {one.points[at_one][1]:.2f} at 1 and "
        f"{one.points[-1][1]:.2f} at {betas[-1]:g}"
        for one in series
    )
    interval = "; pointwise 95 % bootstrap intervals over questions" if series[0].low else ""
    return [
        Lines(
            name="icat-over-beta",
            title="ICAT over beta",
            caption=(
                "Mean over answers of (1 + beta^2) F C / (beta^2 F + C), with factuality F and coverage C by "
                f"{result['automatic_title']}, {result['project']}, {n_of(rows[0]['n'], 'answers')} to at most "
                f"{n_of(result['n_queries'], 'questions')}{interval}. beta runs from {betas[0]:g} to {betas[-1]:g} on "
                "a scale of doublings; to the right of 0 it favours coverage."
            ),
            alt=f"Curves of the mean score by model: {words}.",
            series=tuple(series),
            x=Axis("log2 of beta", math.log2(betas[0]), math.log2(betas[-1])),
            y=Axis("ICAT", 0, 1),
            series_title="Model",
        )
    ]


def _scatter(result: dict) -> list[Picture]:
    points = result["points"]
    if not points or not points["answers"]:
        return []
    row = next(one for one in result["compared"] if one["key"] == points["key"])
    said = "; ".join(
        f"{one['title']} {_said(one['figure'])}" for one in row["correlations"] if one["figure"]["estimate"] is not None
    )
    several = len({one["model"] for one in points["answers"]}) > 1
    return [
        Scatter(
            name="coverage-by-people-and-machine",
            title=f"Coverage of each answer, by people and by {points['title']}",
            caption=(
                f"Share of the question's aspects that an answer covers, by {_people(result)} and by "
                f"{points['title']}, {result['project']}, {n_of(points['n'], 'answers')}. "
                f"{said or 'No correlation is defined'}."
            ),
            alt=(
                f"A dot for each answer, with coverage by people across and by {points['title']} upwards. {said}"
            ).strip(),
            points=tuple(
                Point(
                    one["response"],
                    one["people"],
                    one["automatic"],
                    _name(one["model"]) if several else "",
                    figure=one["figure"],
                )
                for one in points["answers"]
            ),
            x=Axis("Coverage by people", 0, 1),
            y=Axis(f"Coverage by {points['title']}", 0, 1),
            points_title="Answer",
            series_title="Model",
            diagonal="equal coverage",
            square=True,
            named=False,
        )
    ]


def _said(figure: dict) -> str:
    value = f"{figure['estimate']:.3f}"
    if figure["low"] is None:
        return value
    note = figure["interval"]["note"]
    return f"{value} [{figure['low']:.3f}, {figure['high']:.3f}]" + (f" ({note})" if note else "")


def _people(result: dict) -> str:
    return "the majority of people" if result["reference"] == "majority" else result["reference_title"].lower()


def _correlations(result: dict) -> list[Table]:
    tables = []
    parts = {
        "Automatic coverage of answers against people's": result["compared"],
        f"Baselines ({result['baselines_title']}) against people's coverage": result["baseline_rows"],
    }
    for title, measures in parts.items():
        rows: list[tuple[Cell, ...]] = []
        for measure in measures:
            if measure.get("missing"):
                rows.append((measure["title"], "all three", 0, f"undefined: {measure['missing']}", *[None] * 4))
                continue
            for one in measure["correlations"]:
                test = one["test"] or {}
                n = opens(one["figure"]["n_pairable"], measure["figure"])
                p_values = (test.get("p_value"), test.get("p_holm"))
                value = _opening(one["figure"], measure["figure"])
                rows.append((measure["title"], one["title"], n, *value, *p_values))
        if rows:
            columns = ("Measure", "Coefficient", "Answers", *intervals("Correlation"), "p", "p, Holm")
            note = (
                "Per answer. Intervals resample questions. p is of a permutation test that swaps whole questions; "
                "Holm's adjustment is over all measures of both tables, for each coefficient."
            )
            tables.append(Table(title, columns, rows, note))
    return tables


def _detection(result: dict) -> list[Table]:
    found = [one for one in result["compared"] if one["detection"]]
    if not found:
        return []
    means, pooled, counts = [], [], []
    for one in found:
        detection = one["detection"]
        labels = one["n_labels_untouched"], one["n_labels_all"]
        for rows, of in ((means, "mean"), (pooled, "pooled")):
            found_of, figures = detection[of], detection["figures"][of]
            rows.append(
                (one["title"], *labels, *sum((_opening(found_of[name], figures[name]) for name in DETECTION), ()))
            )
        cells = (Linked(detection["counts"][cell], key("cell", cell, one["key"])) for cell in CELL_TITLES)
        counts.append((one["title"], *cells))
    columns = ("Machine", "Labels that count", "All labels", *intervals(*DETECTION.values()))
    title = "Aspects found covered, against people"
    return [
        Table(
            f"{title}: mean over answers",
            columns,
            means,
            "Per answer, then averaged: the mean F1 is no harmonic mean of the other two.",
        ),
        Table(f"{title}: all aspects together", columns, pooled),
        Table(f"{title}: counts", ("Machine", *CELL_TITLES.values()), counts),
    ]


def _agreement(result: dict) -> Table:
    found = result["agreement"]
    columns = ("Measure", "Labels", "Aspects", "With three labels or more", *intervals("Kappa"))
    two, three = found["figures"]["two"], found["figures"]["three"]
    row = (
        "Fleiss' kappa",
        found["n_labels"],
        opens(found["fleiss"]["n_pairable"], two),
        opens(found["n_three"], three),
    )
    title = "Agreement of the annotators"
    return Table(title, columns, [(*row, *_opening(found["fleiss"], two))], f"{found['form']}.")


def methods(result: dict) -> str:
    n, queries = result["n_responses"], result["n_queries"]
    parts = [
        f"Coverage was judged for {n_of(n, 'answers')} to {n_of(queries, 'questions')} "
        f"({n_of(result['n_units'], 'aspects')} in answers)."
    ]
    if result["reference"] == "majority":
        at_least = f" of at least {result['k']} labels" if result["k"] > 1 else ""
        parts.append(
            f"An aspect counts as covered where most people say so{at_least}; {result['ties_title'][:1].lower()}"
            f"{result['ties_title'][1:]}. An answer with an aspect that has too few labels has no coverage."
        )
    else:
        parts.append(f"Whether an aspect is covered was taken from {result['reference_title'].lower()}.")
    kappa = result["agreement"]["fleiss"]
    if kappa["estimate"] is not None:
        parts.append(f"Fleiss' kappa is {_said(kappa)} ({result['agreement']['form']}, n = {kappa['n_pairable']:,}).")
    if result["automatic"]:
        beta = result["beta"]
        parts.append(
            "Factuality is the share of an answer's atomic claims that are supported, and coverage the share of "
            f"aspects that supported claims cover (Samarinas et al. 2025), both by {result['automatic_title']}. They "
            f"are combined as (1 + beta^2) F C / (beta^2 F + C) with beta = {beta:g}, per answer, and averaged; an "
            f"undefined figure is {result['convention_title']}."
        )
    compared = [*result["compared"], *result["baseline_rows"]]
    if compared:
        tests = [one["test"] for row in compared for one in row["correlations"] if one["test"]]
        n_permutations = max((test["n_permutations"] for test in tests), default=0)
        tested = (
            f", tested by up to {n_of(n_permutations, 'permutations')} of whole questions with Holm's adjustment over "
            f"{n_of(len(compared), 'measures')}"
            if n_permutations
            else ""
        )
        parts.append(
            "Automatic coverage was compared with people's per answer by Pearson's, Spearman's and Kendall's (tau-b) "
            f"correlations{tested}, and per aspect by precision, recall and F1."
        )
        if not result["touched"]:
            parts.append("Labels that people gave after a checker's suggestion was shown do not count against it.")
    level = kappa["interval"]["level"]
    parts.append(
        f"Intervals are {level:.0%} bootstrap intervals (BCa, expanded) that resample questions; answers without a "
        "figure are left out of it."
    )
    return " ".join(parts)
