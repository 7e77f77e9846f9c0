"""Sufficient context: what the result holds, which are the rows of its tables: questions, autoraters, answers by
context, and answers that are withheld."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from analysis.figures.items import Filter
from analysis.figures.results import AgainstReference, DecisionsLeftOut, Figure, Record
from analysis.figures.tables import Column, Table, columns_of
from analysis.papers.sufficiency.choices import GROUPS, OUTCOMES

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


class Rated(Record):
    """Questions that an autorater and people both label: sufficient by both (`hits`), by the autorater only (`false`),
    by people only (`missed`), by neither (`rest`)."""

    hits: int
    false: int
    missed: int
    rest: int


class AtThreshold(Record):
    """All questions whose score reaches a threshold taken as sufficient, in sample."""

    threshold: float
    n_taken: int
    precision: float | None
    recall: float | None
    f1: float | None
    accuracy: float | None


class Sweep(Record):
    """Thresholds on one score; `f1` and `accuracy` are out of fold, by the thresholds `chosen` there."""

    score: str
    roc_auc: Figure
    f1: Figure
    accuracy: Figure
    chosen: list[float]
    rows: list[AtThreshold]


def _measured(name: str, *before: Column) -> tuple[Column, ...]:
    """The figure's column, which opens the questions of the cells that it is computed from, not what it counts."""
    return *before, Column(MEASURES[name], name, True, lambda row: row.rated(*RATED_BY[name]), counts=None)


_COUNTS = tuple(
    Column(title, f"counts.{name}", items=lambda row, name=name: row.rated(name)) for name, title in RATED.items()
)


class Autorater(Record):
    """A run against people."""

    run: str
    name: Annotated[str, Column("Autorater")]
    decisions_left_out: DecisionsLeftOut | None
    f1: Annotated[Figure, *_measured("f1", Column("Questions", "f1.n_pairable", items=lambda row: row.rated(*RATED)))]
    precision: Annotated[Figure, *_measured("precision")]
    recall: Annotated[Figure, *_measured("recall")]
    accuracy: Annotated[Figure, *_measured("accuracy")]
    counts: Annotated[Rated, *_COUNTS]
    thresholds: list[Sweep]

    def rated(self, *cells: str) -> Filter | None:
        """Questions that are in these of `counts`."""
        return Filter({f"rated.{self.run}": cells}) if any(getattr(self.counts, cell) for cell in cells) else None


class System(Record):
    """A data set, model and context setting; all three are empty for all answers together."""

    dataset: str
    model: str
    setting: str
    title: Annotated[str, Column("Data set / model / setting")]


class OutcomeShare(Figure):
    """The share of the `n` answers with an outcome."""

    n: int


class Outcomes(Record):
    correct: OutcomeShare
    abstain: OutcomeShare
    hallucinate: OutcomeShare


class Differences(Record):
    correct: Figure
    abstain: Figure
    hallucinate: Figure


Difference = Annotated[
    Differences,
    *(Column(title, f"difference.{name}", interval=True, counts=None) for name, title in OUTCOME_TITLES.items()),
]


class ByContext(Record):
    all: Outcomes
    sufficient: Outcomes
    insufficient: Outcomes


class Answers(System):
    """Outcomes of a system's answers, and the difference of sufficient and insufficient context."""

    n_questions: int
    n_ungraded: int
    n_without_sufficiency: int
    groups: ByContext
    difference: Difference


class SettingDifference(Record):
    """One context setting of a model minus another."""

    dataset: Annotated[str, Column("Data set")]
    model: Annotated[str, Column("Model")]
    setting: Annotated[str, Column("Setting", lambda row: row.setting or "-")]
    start: Annotated[str, Column("Minus", lambda row: row.start or "-")] = msgspec.field(name="from")
    difference: Difference


class Cells(Record):
    """Answers that contain a ground truth and are judged correct, only the one, only the other, neither."""

    both: int
    contains: int
    judge: int
    neither: int


class Contains(System):
    """Contains-answer against the judge, in answers to questions with one context (`group`)."""

    group: str
    n: int
    contains: Figure
    judged: Figure
    agreement: Figure
    kappa: Figure | None
    counts: Cells
    n_without_answers: int


class AtCoverage(Record):
    coverage: float
    accuracy: float | None
    low: float | None
    high: float | None


class AccuracyCurve(System):
    """Accuracy of a system's answers where those with low scores are withheld."""

    area: Figure
    overall: Figure
    gain: Figure
    best: float | None
    n_abstained: int
    most: float | None
    points: list[AtCoverage]
    line: list[tuple[float, float]]


def _context(name: str) -> Column:
    return Column(name.capitalize(), items=lambda row: Filter({"context": name}))


class Sufficiency(AgainstReference):
    dimension: str
    run: str
    checker: str
    touched: bool
    by: str
    by_title: str
    grades: str
    judge: str
    n_questions: Annotated[int, Column("Questions", items=lambda row: Filter())]
    n_sufficient: Annotated[int, _context("sufficient")]
    n_insufficient: Annotated[int, _context("insufficient")]
    n_undecided: Annotated[int, _context("undecided")]
    share_sufficient: Annotated[Figure, Column("Share sufficient", items=lambda row: row.decided())]
    autoraters: list[Autorater]
    systems: list[Answers]
    settings: list[SettingDifference]
    contains: list[Contains]
    curves: list[AccuracyCurve]
    score_title: str
    notes: list[str]

    def decided(self) -> Filter | None:
        return Filter({"context": GROUPS}) if self.share_sufficient.n_pairable else None


(SYSTEM,) = columns_of(System)


def answers_filter(result: Sufficiency, title: str, which: str, group: str = "all") -> Filter:
    """Questions of a context with such answers of a system."""
    place = next(place for place, row in enumerate(result.systems) if row.title == title)
    context = {} if group == "all" else {"context": GROUPS if group == "decided" else group}
    return Filter({f"system{place}.{which}": "yes"} | context)


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
    return Table(f"Context of the questions, by {result.by_title}", columns_of(Sufficiency), [result])


# ---- autoraters ----


def autoraters_table(result: Sufficiency) -> Table:
    note = "F1, precision and recall are those of the label “sufficient”."
    return Table("Autoraters against people", columns_of(Autorater), result.autoraters, note)


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
    def both(row: Answers) -> Filter | None:
        is_any = any(getattr(row.groups, group).correct.n_pairable for group in GROUPS)
        return answers_filter(result, row.title, "graded", "decided") if is_any else None

    return Table("Sufficient minus insufficient context", columns_of(Answers, difference=both), result.systems)


def settings_table(result: Sufficiency) -> Table:
    def either(row: SettingDifference) -> Filter | None:
        place = next(place for place, one in enumerate(result.settings) if one is row)
        return Filter({f"setting{place}": "yes"}) if row.difference.correct.n_pairable else None

    columns = columns_of(SettingDifference, difference=either)
    return Table("Context settings against each other", columns, result.settings)


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
