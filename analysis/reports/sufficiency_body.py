"""The page, the words and the methods of the report on sufficient context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.captions import counted
from analysis.reports.people_tables import estimate, intervals
from analysis.reports.sufficiency_grades import GROUPS, OUTCOMES
from analysis.reports.tabular import Cell, Linked, Table

if TYPE_CHECKING:
    from analysis.pictures import Picture
    from annotation.task_types import TaskType

CELLS = {"both": "contains and judged correct", "contains": "contains only", "judge": "judged correct only"}
CELLS |= {"neither": "neither"}
MOST_LINES = 8
IN_WORDS = {"correct": "correct answers", "abstain": "abstentions", "hallucinate": "hallucinated answers"}


def body(result: dict) -> list[Table | Picture]:
    parts: list[Table | Picture] = [_questions(result)]
    if result["autoraters"]:
        parts += [_autoraters(result), *_thresholds(result)]
    if result["systems"]:
        parts += [_shares(result), *_share_pictures(result), _differences(result)]
    if result["settings"]:
        parts.append(_settings(result))
    if result["curves"]:
        parts += [_curves(result), *_curve_picture(result), _points(result)]
    if result["contains"]:
        parts.append(_contains(result))
    return parts


def _questions(result: dict) -> Table:
    names = ("sufficient", "insufficient", "undecided")
    cells = tuple(Linked(result[f"n_{name}"], f"questions/{name}") for name in names)
    return Table(
        f"Context of the questions, by {result['by_title']}",
        ("Questions", "Sufficient", "Insufficient", "Undecided", "Share sufficient"),
        [(result["n_questions"], *cells, _share(result["n_sufficient"], result["n_insufficient"]))],
    )


def _share(hits: int, others: int) -> float | None:
    return hits / (hits + others) if hits + others else None


def _autoraters(result: dict) -> Table:
    names = {"f1": "F1", "accuracy": "Accuracy", "precision": "Precision", "recall": "Recall"}
    cells = {"hits": "Both sufficient", "false": "Autorater only", "missed": "People only", "rest": "Neither"}
    rows = [
        (row["name"], row["f1"]["n_pairable"])
        + sum((estimate(row[name]) for name in names), ())
        + tuple(Linked(row["counts"][cell], f"{row['figure']}/{cell}") for cell in cells)
        for row in result["autoraters"]
    ]
    return Table(
        "Autoraters against people",
        ("Autorater", "Questions", *intervals(*names.values()), *cells.values()),
        rows,
        "F1, precision and recall are of sufficient context.",
    )


def _thresholds(result: dict) -> list[Table]:
    columns = ("Autorater", "Score", *intervals("ROC area", "F1 out of fold", "Accuracy out of fold"), "Thresholds")
    summary: list[tuple[Cell, ...]] = []
    sweep: list[tuple[Cell, ...]] = []
    for row in result["autoraters"]:
        for found in row["thresholds"]:
            chosen = ", ".join(f"{one:g}" for one in found["chosen"])
            figures = (estimate(found[name]) for name in ("roc_auc", "f1", "accuracy"))
            summary.append((row["name"], found["score"], *sum(figures, ()), chosen))
            sweep += [(row["name"], found["score"], *_at(one)) for one in found["rows"]]
    if not summary:
        return []
    note = "The threshold of greatest F1 is chosen on four fifths of the questions and applied to the others."
    names = ("Threshold", "Taken", "Precision", "Recall", "F1", "Accuracy")
    return [
        Table("Autoraters' scores, with the threshold chosen out of fold", columns, summary, note),
        Table("Autoraters at every threshold", ("Autorater", "Score", *names), sweep, "Of all questions, in sample."),
    ]


def _at(row: dict) -> tuple[Cell, ...]:
    return tuple(row[name] for name in ("threshold", "n_taken", "precision", "recall", "f1", "accuracy"))


def _shares(result: dict) -> Table:
    rows = []
    for row in result["systems"]:
        for group in ("all", *GROUPS):
            found = row["groups"][group]
            counts: list[Cell] = [found[one]["n"] for one in OUTCOMES]
            if group != "all":
                counts = [Linked(found[one]["n"], f"{row['figure']}/{group}/{one}") for one in OUTCOMES]
            figures = sum((estimate(found[one]) for one in OUTCOMES), ())
            rows.append((row["title"], group, found["correct"]["n_pairable"], *counts, *figures))
    columns = ("Data set / model / setting", "Context", "Answers", *(f"{one}, n" for one in OUTCOMES))
    return Table(
        f"Answers by sufficiency, graded by {result['judge']}",
        columns + intervals(*(one.capitalize() for one in OUTCOMES)),
        rows,
        "Answers without a grade are left out; those to undecided questions count in “all” alone.",
    )


def _differences(result: dict) -> Table:
    return Table(
        "Sufficient minus insufficient context",
        ("Data set / model / setting", *intervals(*(one.capitalize() for one in OUTCOMES))),
        [(row["title"], *sum((estimate(row["difference"][one]) for one in OUTCOMES), ())) for row in result["systems"]],
    )


def _settings(result: dict) -> Table:
    return Table(
        "Context settings against each other",
        ("Data set", "Model", "Setting", "Minus", *intervals(*(one.capitalize() for one in OUTCOMES))),
        [
            (row["dataset"], row["model"], row["setting"] or "-", row["from"] or "-")
            + sum((estimate(row["difference"][one]) for one in OUTCOMES), ())
            for row in result["settings"]
        ],
    )


def _curves(result: dict) -> Table:
    rows = [
        (row["title"], row["area"]["n_pairable"], row["n_abstained"])
        + sum((estimate(row[name]) for name in ("area", "overall", "gain")), ())
        + (row["best"], row["most"])
        for row in result["curves"]
    ]
    columns = ("Data set / model / setting", "Answers", "Abstained")
    columns += intervals("Area", "Accuracy of all answers", "Gain")
    return Table(
        f"Withholding answers by {result['score_title']}",
        (*columns, "Best possible area", "Greatest coverage"),
        rows,
        "The area is the mean accuracy over all coverages that are reached; the gain is what it has more than the "
        "accuracy of all answers, which withholding at random would give.",
    )


def _points(result: dict) -> Table:
    rows = [
        (row["title"], point["coverage"], point["accuracy"], point["low"], point["high"])
        for row in result["curves"]
        for point in row["points"]
        if point["accuracy"] is not None
    ]
    columns = ("Data set / model / setting", "Coverage", *intervals("Accuracy"))
    return Table(f"Accuracy at coverages, by {result['score_title']}", columns, rows)


def _contains(result: dict) -> Table:
    rows = [
        (row["title"], row["group"], row["n"], row["contains"], row["judged"])
        + (*estimate(row["agreement"]), *estimate(row["kappa"]))
        + tuple(Linked(row["counts"][cell], f"{row['figure']}/{cell}") for cell in CELLS)
        + (row["n_without_answers"],)
        for row in result["contains"]
    ]
    columns = ("Data set / model / setting", "Context", "Answers", "Contain an answer", "Judged correct")
    columns += (*intervals("Agreement", "Cohen's kappa"), *(title.capitalize() for title in CELLS.values()))
    return Table(
        f"Contains-answer against {result['judge']}",
        (*columns, "Without ground truth"),
        rows,
        "An answer contains a ground truth if its words stand there in a row, whatever their case and punctuation.",
    )


def _share_pictures(result: dict) -> list[Picture]:
    from analysis.pictures import Axis, Interval, Intervals

    pictures: list[Picture] = []
    for outcome in OUTCOMES:
        items = tuple(
            Interval(
                row["title"],
                found["estimate"],
                found["low"],
                found["high"],
                n=found["n_pairable"],
                series=f"{group} context",
                undefined=found["undefined"],
                figure=f"{row['figure']}/{group}/{outcome}",
            )
            for row in result["systems"]
            for group in GROUPS
            for found in (row["groups"][group][outcome],)
        )
        if all(item.value is None for item in items):
            continue
        said = "; ".join(f"{one.row}, {one.series}: {one.value:.3f}" for one in items if one.value is not None)
        who = f"Answers of {result['grades']} to the questions of {result['project']}, graded by {result['judge']}"
        pictures.append(
            Intervals(
                name=f"sufficiency-{outcome}",
                title=f"Share of {IN_WORDS[outcome]}, by sufficiency of the context",
                caption=(
                    f"{who}, by whether the context suffices according to {result['by_title']}, "
                    f"{counted(items, 'answers')}. 95 % bootstrap intervals over questions."
                ),
                alt=f"Share of {IN_WORDS[outcome]} by model and sufficiency. {said}.",
                items=items,
                values=Axis("Share of answers", 0.0, 1.0),
                rows_title="Model",
                series_title="Context",
                style="bars",
            )
        )
    return pictures


def _curve_picture(result: dict) -> list[Picture]:
    from analysis.pictures import Axis, Lines, Series

    drawn = [row for row in result["curves"] if row["line"]][:MOST_LINES]
    # With a single system "all" is the same line again.
    drawn = drawn[1:] if len(drawn) == 2 else drawn
    if not drawn:
        return []
    n = "; ".join(f"{row['title']} {row['overall']['n_pairable']:,}" for row in drawn)
    said = "; ".join(
        f"{row['title']}: {row['overall']['estimate']:.3f} of all answers, {row['area']['estimate']:.3f} on average"
        for row in drawn
    )
    return [
        Lines(
            name="sufficiency-accuracy-coverage",
            title="Accuracy of the answers that are given, by how many are given",
            caption=(
                f"Answers of {result['grades']} to the questions of {result['project']}, graded by {result['judge']} "
                f"(n: {n}), given where {result['score_title']} is at least a threshold. Coverage is of all questions; "
                "models that abstain do not reach 1."
            ),
            alt=f"Accuracy against coverage. {said}.",
            series=tuple(Series(row["title"], tuple(map(tuple, row["line"]))) for row in drawn),
            x=Axis("Coverage", 0.0, 1.0),
            y=Axis("Accuracy of answers given", 0.0, 1.0),
            series_title="Model",
        )
    ]


def methods(result: dict) -> str:
    by = f"the {result['reference_title'].lower()}" if result["by"] == "people" else result["checker"]
    sentences = [f"Whether the context of a question suffices was taken from {by}; undecided questions were left out."]
    if result["autoraters"]:
        sentences.append(
            "Autoraters were compared with people by F1 (of sufficient) and accuracy; thresholds on scores were chosen "
            "for F1 in five folds and judged on the questions left out."
        )
        if not result["touched"]:
            sentences.append("Labels given after an autorater's suggestion was shown did not count for it.")
    if result["systems"]:
        sentences.append(
            f"Answers were graded by {result['judge']}: perfect and acceptable ones are correct, incorrect ones "
            "hallucinated, missing ones abstentions. Shares and their differences have 95 % bootstrap intervals that "
            "draw questions; where no answer or every one had an outcome, the exact interval of Clopper and Pearson."
        )
    if result["contains"]:
        sentences.append(
            "Contains-answer holds where the words of any ground truth stand in the answer in a row, in lower case and "
            "without punctuation; it was compared with the grade by agreement and Cohen's kappa."
        )
    if result["curves"]:
        sentences.append(
            f"Accuracy against coverage withholds answers by {result['score_title']}; an answer that abstains is never "
            "given, equal scores are given together, and the area is the mean accuracy over the coverage reached."
        )
    return " ".join(sentences)


def in_words(kind: TaskType, figure: str) -> str:
    place, _, rest = figure.partition("/")
    if place == "questions":
        return f"questions whose context is {rest}" if rest != "undecided" else "undecided questions"
    if place.startswith("autorater"):
        return {
            "hits": "sufficient by people and the autorater",
            "false": "sufficient by the autorater only",
            "missed": "sufficient by people only",
            "rest": "insufficient by both",
        }.get(rest, rest)
    group, _, last = rest.partition("/")
    if place.startswith("contains"):
        return f"answers: {CELLS.get(last, last)}" + (f", {group} context" if group != "all" else "")
    return f"questions with {group} context whose answers are {last}"
