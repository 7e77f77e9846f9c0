"""Tables of sufficient context: questions, autoraters, answers by context, and answers that are withheld."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.figures.items import Filter
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.sufficiency.choices import GROUPS, OUTCOMES
from analysis.papers.sufficiency.result import AccuracyCurve, Answers, Autorater, Contains, Sufficiency, Sweep

MEASURES = {"f1": "F1", "precision": "Precision", "recall": "Recall", "accuracy": "Accuracy"}
RATED = {"hits": "Both sufficient", "false": "Autorater only", "missed": "People only", "rest": "Neither"}
# The cells that a figure of an autorater is computed from.
RATED_BY = {
    "f1": tuple(RATED),
    "accuracy": tuple(RATED),
    "precision": ("hits", "false"),
    "recall": ("hits", "missed"),
}
CONTAINED = {
    "contains": "Contain an answer",
    "judged": "Judged correct",
    "agreement": "Agreement",
    "kappa": "Cohen's kappa",
}
CONTAINED_BY = {"contains": "containing", "judged": "right"}  # of other figures: "compared"
CELLS = {
    "both": "Contains and judged correct",
    "contains": "Contains only",
    "judge": "Judged correct only",
    "neither": "Neither",
}
OUTCOME_TITLES = {name: name.capitalize() for name in OUTCOMES}
SYSTEM = Column("Data set / model / setting", "title")


def answers_filter(result: Sufficiency, title: str, which: str, group: str = "all") -> Filter:
    """Questions of a context with such answers of a system."""
    place = next(place for place, row in enumerate(result.systems) if row.title == title)
    context = {} if group == "all" else {"context": GROUPS if group == "decided" else group}
    return Filter({f"system{place}.{which}": "yes"} | context)


def rated_filter(row: Autorater, cells: tuple[str, ...]) -> Filter | None:
    return Filter({f"rated.{row.run}": cells}) if any(getattr(row.counts, cell) for cell in cells) else None


def _figures(
    titles: dict[str, str],
    items: Callable[[Any, str], Filter | None],
    value: Callable[[Any, str], Figure | None] = getattr,
) -> list[Column]:
    """A column for each of these figures of a row, which are of answers, not of the questions that they open."""

    def column(name: str, title: str) -> Column:
        return Column(title, lambda row: value(row, name), True, lambda row: items(row, name), counts=None)

    return [column(name, title) for name, title in titles.items()]


def questions_table(result: Sufficiency) -> Table:
    def context(name: str) -> Column:
        return Column(
            name.capitalize(), lambda row: getattr(row, f"n_{name}"), items=lambda row: Filter({"context": name})
        )

    def decided(row: Sufficiency) -> Filter | None:
        return Filter({"context": GROUPS}) if row.share_sufficient.n_pairable else None

    columns = [
        Column("Questions", "n_questions", items=lambda row: Filter()),
        *(context(name) for name in (*GROUPS, "undecided")),
        Column("Share sufficient", "share_sufficient", interval=True, items=decided),
    ]
    return Table(f"Context of the questions, by {result.by_title}", columns, [result])


# ---- autoraters ----


def autoraters_table(result: Sufficiency) -> Table:
    def cell(name: str, title: str) -> Column:
        return Column(title, lambda row: getattr(row.counts, name), items=lambda row: rated_filter(row, (name,)))

    columns = [
        Column("Autorater", "name"),
        Column("Questions", "f1.n_pairable", items=lambda row: rated_filter(row, tuple(RATED))),
        *_figures(MEASURES, lambda row, name: rated_filter(row, RATED_BY[name])),
        *(cell(name, title) for name, title in RATED.items()),
    ]
    note = "F1, precision and recall are those of the label “sufficient”."
    return Table("Autoraters against people", columns, result.autoraters, note)


def threshold_tables(result: Sufficiency) -> list[Table]:
    def reaching(row: Autorater, sweep: Sweep, least: int) -> Filter:
        """Questions labelled by people whose score reaches so many thresholds."""
        reached = tuple(str(place) for place in range(least, len(sweep.rows) + 1))
        return Filter({f"reached.{row.run}.{sweep.score}": reached})

    swept = [(row, sweep) for row in result.autoraters for sweep in row.thresholds]
    names = {"roc_auc": "ROC area", "f1": "F1 out of fold", "accuracy": "Accuracy out of fold"}
    who = [Column("Autorater", lambda one: one[0].name), Column("Score", lambda one: one[1].score)]
    summary = [
        *who,
        *_figures(names, lambda one, name: reaching(*one, 0), lambda one, name: getattr(one[1], name)),
        Column("Thresholds", lambda one: ", ".join(f"{chosen:g}" for chosen in one[1].chosen)),
    ]
    at_each = [
        *who,
        Column("Threshold", lambda one: one[2].threshold),
        Column("Predicted sufficient", lambda one: one[2].n_taken, items=lambda one: reaching(*one[:2], one[3])),
        *(Column(title, lambda one, name=name: getattr(one[2], name)) for name, title in MEASURES.items()),
    ]
    every = [(row, sweep, at, place) for row, sweep in swept for place, at in enumerate(sweep.rows, 1)]
    note = "The threshold with the greatest F1 is chosen on four fifths of the questions and applied to the others."
    return [
        Table("Autoraters' scores, with the threshold chosen out of fold", summary, swept, note),
        Table("Autoraters at every threshold", at_each, every, "On all questions, in sample."),
    ]


# ---- answers ----


def shares_table(result: Sufficiency) -> Table:
    def share(one: tuple[Answers, str], name: str) -> Figure:
        return getattr(getattr(one[0].groups, one[1]), name)

    def such(one: tuple[Answers, str], which: str) -> Filter:
        return answers_filter(result, one[0].title, which, one[1])

    def graded(one: tuple[Answers, str], name: str) -> Filter | None:
        return such(one, "graded") if share(one, name).n_pairable else None

    def count(name: str) -> Column:
        return Column(f"{name}, n", lambda one: share(one, name).n, items=lambda one: such(one, name), counts=None)

    columns = [
        Column(SYSTEM.title, lambda one: one[0].title),
        Column("Context", lambda one: one[1]),
        Column(
            "Answers", lambda one: share(one, "correct").n_pairable, items=lambda one: such(one, "graded"), counts=None
        ),
        *map(count, OUTCOMES),
        *_figures(OUTCOME_TITLES, graded, share),
    ]
    rows = [(row, group) for row in result.systems for group in ("all", *GROUPS)]
    note = "Answers without a grade are left out. Answers to undecided questions count only in “all”."
    return Table(f"Answers by sufficiency, graded by {result.judge}", columns, rows, note)


def differences_table(result: Sufficiency) -> Table:
    def both(row: Answers, name: str) -> Filter | None:
        is_any = any(getattr(row.groups, group).correct.n_pairable for group in GROUPS)
        return answers_filter(result, row.title, "graded", "decided") if is_any else None

    columns = [SYSTEM, *_figures(OUTCOME_TITLES, both, lambda row, name: getattr(row.difference, name))]
    return Table("Sufficient minus insufficient context", columns, result.systems)


def settings_table(result: Sufficiency) -> Table:
    def either(one: tuple, name: str) -> Filter | None:
        place, row = one
        return Filter({f"setting{place}": "yes"}) if row.difference.correct.n_pairable else None

    columns = [
        Column("Data set", lambda one: one[1].dataset),
        Column("Model", lambda one: one[1].model),
        Column("Setting", lambda one: one[1].setting or "-"),
        Column("Minus", lambda one: one[1].start or "-"),
        *_figures(OUTCOME_TITLES, either, lambda one, name: getattr(one[1].difference, name)),
    ]
    return Table("Context settings against each other", columns, list(enumerate(result.settings)))


# ---- answers that are withheld ----


def curves_table(result: Sufficiency) -> Table:
    def such(which: str) -> Callable[[AccuracyCurve], Filter]:
        return lambda row: answers_filter(result, row.title, which)

    def answered(row: AccuracyCurve, name: str) -> Filter | None:
        return such("answered")(row) if row.area.n_pairable else None

    columns = [
        SYSTEM,
        Column("Answers", "area.n_pairable", items=such("answered"), counts=None),
        Column("Abstained", "n_abstained", items=such("abstained"), counts=None),
        *_figures({"area": "Area", "overall": "Accuracy of all answers", "gain": "Gain"}, answered),
        Column("Best possible area", "best"),
        Column("Greatest coverage", "most"),
    ]
    note = (
        "The area is the mean accuracy over all coverages that are reached. The gain is the area minus the accuracy of "
        "all answers, which is what withholding answers at random would give."
    )
    return Table(f"Withholding answers by {result.score_title}", columns, result.curves, note)


def points_table(result: Sufficiency) -> Table:
    def accuracy(one: tuple) -> Figure:
        return Figure(estimate=one[1].accuracy, undefined="", low=one[1].low, high=one[1].high)

    columns = [
        Column(SYSTEM.title, lambda one: one[0].title),
        Column("Coverage", lambda one: one[1].coverage),
        Column("Accuracy", accuracy, interval=True),
    ]
    rows = [(row, point) for row in result.curves for point in row.points if point.accuracy is not None]
    return Table(f"Accuracy at coverages, by {result.score_title}", columns, rows)


# ---- answers and ground truth ----


def contains_table(result: Sufficiency) -> Table:
    def such(row: Contains, which: str) -> Filter:
        return answers_filter(result, row.title, which, row.group)

    def compared(row: Contains, name: str) -> Filter | None:
        counts = row.counts
        n = {"contains": counts.both + counts.contains, "judged": counts.both + counts.judge}.get(name, row.n)
        return such(row, CONTAINED_BY.get(name, "compared")) if n else None

    def count(title: str, value: Callable[[Contains], int], which: str) -> Column:
        return Column(title, value, items=lambda row: such(row, which), counts=None)

    columns = [
        SYSTEM,
        Column("Context", "group"),
        count("Answers", lambda row: row.n, "compared"),
        *_figures(CONTAINED, compared),
        *(count(title, lambda row, name=name: getattr(row.counts, name), name) for name, title in CELLS.items()),
        count("Without ground truth", lambda row: row.n_without_answers, "without"),
    ]
    note = "An answer contains a ground truth if its words occur there consecutively, ignoring case and punctuation."
    return Table(f"Contains-answer against {result.judge}", columns, result.contains, note)
