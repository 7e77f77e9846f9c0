"""The page, the words and the methods of the report on sufficient context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.behind_sets import either, opens
from analysis.reports.captions import counted
from analysis.reports.intervals import estimate, intervals
from analysis.reports.sufficiency_behind import CELLS, DECIDED, EVERY, GRADED, RATED, RATED_BY
from analysis.reports.sufficiency_grades import GROUPS, OUTCOMES
from analysis.reports.tabular import Cell, Table, linked

if TYPE_CHECKING:
    from analysis.pictures import Picture

MOST_LINES = 8
IN_SHARES = {"contains": "contains", "judged": "judge"}  # the cell that is in a share besides that of both
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
    cells = tuple(linked(result[f"n_{name}"], f"questions/{name}") for name in names)
    share = result["share_sufficient"]
    return Table(
        f"Context of the questions, by {result['by_title']}",
        ("Questions", "Sufficient", "Insufficient", "Undecided", *intervals("Share sufficient")),
        [
            (linked(result["n_questions"], f"questions/{EVERY}"), *cells)
            + _opening(share, f"questions/{DECIDED}" if share["n_pairable"] else "")
        ],
    )


def _opening(found: dict, figure: str) -> tuple[Cell, Cell, Cell]:
    """An estimate that opens what it was computed from, with its interval."""
    value, low, high = estimate(found)
    return opens(value, figure), low, high


def _cells_of(row: dict, *cells: str) -> str:
    """The key of these cells, where there is anything in them."""
    return f"{row['figure']}/{either(*cells)}" if any(row["counts"][cell] for cell in cells) else ""


def _autoraters(result: dict) -> Table:
    names = {"f1": "F1", "accuracy": "Accuracy", "precision": "Precision", "recall": "Recall"}
    rows = [
        (row["name"], opens(row["f1"]["n_pairable"], _cells_of(row, *RATED)))
        + sum((_opening(row[name], _cells_of(row, *RATED_BY[name])) for name in names), ())
        + tuple(linked(row["counts"][cell], f"{row['figure']}/{cell}") for cell in RATED)
        for row in result["autoraters"]
    ]
    return Table(
        "Autoraters against people",
        ("Autorater", "Questions", *intervals(*names.values()), *RATED.values()),
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
            figures = (_opening(found[name], found["figure"]) for name in ("roc_auc", "f1", "accuracy"))
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
    taken = opens(row["n_taken"], row["figure"] if row["n_taken"] else "")
    return row["threshold"], taken, *(row[name] for name in ("precision", "recall", "f1", "accuracy"))


def _shares(result: dict) -> Table:
    rows = []
    for row in result["systems"]:
        for group in ("all", *GROUPS):
            found = row["groups"][group]
            behind = f"{row['figure']}/{EVERY if group == 'all' else group}"
            n = found["correct"]["n_pairable"]
            graded = f"{behind}/{GRADED}" if n else ""
            counts = tuple(linked(found[one]["n"], f"{behind}/{one}") for one in OUTCOMES)
            figures = sum((_opening(found[one], graded) for one in OUTCOMES), ())
            rows.append((row["title"], group, opens(n, graded), *counts, *figures))
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
        [
            (row["title"], *sum((_opening(row["difference"][one], _graded([row], DECIDED)) for one in OUTCOMES), ()))
            for row in result["systems"]
        ],
    )


def _graded(systems: list[dict], context: str) -> str:
    """The key of questions with a context to which systems have graded answers, where there are any."""
    groups = ("all",) if context == EVERY else GROUPS
    if not any(row["groups"][group]["correct"]["n_pairable"] for row in systems for group in groups):
        return ""
    return f"{either(*(row['figure'] for row in systems))}/{context}/{GRADED}"


def _both(result: dict, row: dict) -> str:
    """The key of the questions that a model was asked in either of two settings."""
    sides = {(row["dataset"], row["model"], row[side]) for side in ("setting", "from")}
    found = [one for one in result["systems"][1:] if (one["dataset"], one["model"], one["setting"]) in sides]
    return _graded(found, EVERY)


def _settings(result: dict) -> Table:
    return Table(
        "Context settings against each other",
        ("Data set", "Model", "Setting", "Minus", *intervals(*(one.capitalize() for one in OUTCOMES))),
        [
            (row["dataset"], row["model"], row["setting"] or "-", row["from"] or "-")
            + sum((_opening(row["difference"][one], _both(result, row)) for one in OUTCOMES), ())
            for row in result["settings"]
        ],
    )


def _curves(result: dict) -> Table:
    rows = [
        (row["title"], opens(row["area"]["n_pairable"], _answers(row)))
        + (opens(row["n_abstained"], f"{row['figure']}/abstained" if row["n_abstained"] else ""),)
        + sum((_opening(row[name], _answers(row)) for name in ("area", "overall", "gain")), ())
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


def _answers(row: dict) -> str:
    return f"{row['figure']}/{either('given', 'abstained')}" if row["area"]["n_pairable"] else ""


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
        (row["title"], row["group"], opens(row["n"], _cells_of(row, *CELLS)))
        + sum((_opening(row[side], _cells_of(row, "both", one)) for side, one in IN_SHARES.items()), ())
        + (*_opening(row["agreement"], _cells_of(row, *CELLS)), *_opening(row["kappa"], _cells_of(row, *CELLS)))
        + tuple(linked(row["counts"][cell], f"{row['figure']}/{cell}") for cell in CELLS)
        + (linked(row["n_without_answers"], f"{row['figure']}/without"),)
        for row in result["contains"]
    ]
    columns = ("Data set / model / setting", "Context", "Answers", *intervals("Contain an answer", "Judged correct"))
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
    sentences = [
        f"Whether the context of a question suffices was taken from {by}; undecided questions were left out.",
        "Intervals are 95 % bootstrap intervals that draw questions; those of shares of questions or answers that are "
        "0 or 1 are exact ones (Clopper and Pearson).",
    ]
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
            "hallucinated, missing ones abstentions."
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
