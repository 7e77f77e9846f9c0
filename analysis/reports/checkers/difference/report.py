"""The report on the difference of two checker runs. `other` is the first run, where the change starts from; `run` the
second."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Counts, Page, Part, Rule, Section, Text, first_that_applies
from analysis.figures.pictures import Matrix, picture_name
from analysis.figures.results import Figure, NamedFigure, NamedLabel, Record, ReportedQuestion, Result
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import ANY_RUN
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import checker_name, intervals_in, listed, sentences
from analysis.sources.outline import Outline

# ---- rows ----


class NamedRun(Record):
    uuid: str
    checker: str
    version: str
    created_at: str


class MadeBy(Record):
    """Something in which the two runs describe themselves differently; empty where one says nothing of it."""

    name: str
    other: str
    run: str


class MeanProbability(Record):
    label: str
    title: Annotated[str, Column("Label")]
    other: Annotated[Figure, Column("First run")]
    run: Annotated[Figure, Column("Second run")]


class ShiftBar(Record):
    """`n` units whose probabilities moved by `low` to `high`."""

    low: float
    high: float
    n: int


class ProbabilityShift(Record):
    """How far the probabilities of `n` units moved: per unit half the sum of absolute differences over the labels, from
    0 (the same) to 1 (total variation)."""

    n: int
    mean: Figure
    bars: list[ShiftBar]
    labels: list[MeanProbability]


class LabelChanges(ReportedQuestion):
    """`confusion` counts units with a label of both runs: rows are the labels of the first, columns of the second."""

    level: str
    labels: list[NamedLabel]
    n_run: int
    n_other: int
    n_both: int
    n_changed: int
    n_only_run: int
    n_only_other: int
    agreement: NamedFigure
    kappa: NamedFigure
    confusion: list[list[int]]
    shift: ProbabilityShift | None


class ScoreChange(Record):
    """A score over the `n` units for which both runs define it; `moved` is the mean absolute difference."""

    name: Annotated[str, Column("Score")]
    n: Annotated[int, Column("n", items=lambda row: Filter({f"score.{row.name}": "yes"}))]
    other: Annotated[Figure, Column("Mean, first run")]
    run: Annotated[Figure, Column("Mean, second run")]
    moved: Annotated[Figure, Column("Mean absolute difference")]
    pearson: Annotated[Figure, Column("Pearson")]


class RunDifference(Result):
    run: NamedRun
    other: NamedRun
    n_units: int
    n_failed: int
    n_failed_other: int
    n_failures_gained: int
    n_failures_lost: int
    n_failures_both: int
    made_by: list[MadeBy]
    dimensions: list[LabelChanges]
    scores: list[ScoreChange]


# ---- the page ----

TOTAL_VARIATION = (
    "Total variation: for each unit, half the sum of absolute differences over all labels; 0 means identical and 1 "
    "disjoint."
)
SAME_PROVENANCE = "The runs were made in the same way: same checker, parameters, model and libraries."


def page(result: RunDifference) -> Page:
    pictures = [_picture(result, one) for one in result.dimensions]
    sections = [
        Section(one.title, _parts(one, picture)) for one, picture in zip(result.dimensions, pictures, strict=True)
    ]
    if result.scores:
        sections.append(Section("Scores", [Table("Scores of both runs", columns_of(ScoreChange), result.scores)]))
    sections += [
        Section("Failures", [_failures(result)]),
        Section("How the runs were made", [_made_by(result) if result.made_by else Text(SAME_PROVENANCE)]),
    ]
    return Page(
        _answer(result, next(filter(None, pictures), None)),
        sections,
    )


def _parts(one: LabelChanges, picture: Matrix | None) -> list[Part]:
    labelled = f"{one.dimension}.labelled"
    parts: list[Part | None] = [
        Counts(
            [
                ("with a label of both runs", one.n_both, _both(one)),
                ("labels changed", one.n_changed, Filter({f"{one.dimension}.changed": "yes"})),
                ("labelled by the first run only", one.n_only_other, Filter({labelled: "first"})),
                ("labelled by the second run only", one.n_only_run, Filter({labelled: "second"})),
            ]
        ),
    ]
    if not one.n_both:
        return parts
    parts += [
        picture,
        Table(
            f"{one.title}: agreement of the two runs",
            [
                Column("Measure", "title"),
                Column("Value", lambda row: row, interval=True),
                Column("n", "n_pairable", items=lambda row: _both(one)),
                Column("Left out", "left_out_words"),
            ],
            [one.agreement, one.kappa],
        ),
        Table(
            f"{one.title}: from (rows) to (columns)",
            [Column("First run", lambda row: one.labels[row].title), *_to_labels(one)],
            range(len(one.labels)),
        ),
        *(_shift(one, one.shift) if one.shift else ()),
    ]
    return [part for part in parts if part]


def _both(one: LabelChanges) -> Filter:
    return Filter({f"{one.dimension}.labelled": "both"})


def _cell(one: LabelChanges, row: int, column: int) -> Filter:
    first, second = one.labels[row].label, one.labels[column].label
    return Filter({f"{one.dimension}.first": first, f"{one.dimension}.second": second})


def _to_labels(one: LabelChanges) -> list[Column]:
    return [
        Column(
            label.title,
            lambda row, column=column: one.confusion[row][column],
            items=lambda row, column=column: _cell(one, row, column),
        )
        for column, label in enumerate(one.labels)
    ]


def _shift(one: LabelChanges, shift: ProbabilityShift) -> list[Part]:
    column = f"{one.dimension}.moved"
    bars = tuple(str(place) for place in range(len(shift.bars)))
    return [
        Table(
            f"{one.title}: mean probabilities",
            columns_of(MeanProbability),
            shift.labels,
        ),
        Table(
            f"{one.title}: mean change of probabilities",
            [
                Column("Units", "n", items=lambda row: Filter({column: bars})),
                Column("Total variation", "mean", interval=True),
            ],
            [shift],
            TOTAL_VARIATION,
        ),
        Table(
            f"{one.title}: change of probabilities",
            [
                Column("Total variation", lambda row: f"{row[1].low:.2f} to {row[1].high:.2f}"),
                Column("Units", lambda row: row[1].n, items=lambda row: Filter({column: row[0]})),
            ],
            list(zip(bars, shift.bars, strict=True)),
        ),
    ]


def _failures(result: RunDifference) -> Counts:
    return Counts(
        [
            ("failed in the second run only", result.n_failures_gained, Filter({"failed": "second"})),
            ("failed in the first run only", result.n_failures_lost, Filter({"failed": "first"})),
            ("failed in both runs", result.n_failures_both, Filter({"failed": "both"})),
        ]
    )


def _made_by(result: RunDifference) -> Table:
    return Table(
        "Differences in how the runs were made",
        [
            Column("What", "name"),
            Column(f"First run: {_dated(result.other)}", lambda row: row.other or "–"),
            Column(f"Second run: {_dated(result.run)}", lambda row: row.run or "–"),
        ],
        result.made_by,
    )


def _dated(run: NamedRun) -> str:
    return checker_name(run) + (f" ({run.created_at} UTC)" if run.created_at else "")


def _picture(result: RunDifference, one: LabelChanges) -> Matrix | None:
    if not one.n_both:
        return None
    return Matrix.of_counts(
        one.confusion,
        [label.title for label in one.labels],
        lambda first, second: _cell(one, first, second),
        name=picture_name("difference", one.dimension),
        title=f"{one.title}: labels of two runs",
        caption=(
            f"{result.project}: from {_dated(result.other)} to {_dated(result.run)}, "
            f"n = {n_of(one.n_both, 'units')}. Colours and percentages are shares of the row."
        ),
        alt=f"{one.n_changed:,} of {n_of(one.n_both, 'labels')} changed.",
        rows_title="first run",
        columns_title="second run",
    )


# ---- what the page begins with ----


def _changed(one: LabelChanges) -> str:
    return (
        f"{one.title}: {one.n_changed:,} of {n_of(one.n_both, 'labels')} changed "
        f"({one.n_changed / one.n_both:.1%}); the share of equal labels is {one.agreement.written()}"
    )


def _with_kappa(kappa: NamedFigure) -> str:
    return f"Cohen's kappa {kappa.written()}"


LABEL_RULES = (
    Rule(
        "nothing of both",
        lambda one: one.n_both == 0,
        lambda one: f"{one.title}: no unit has a label of both runs, so nothing can be compared.",
    ),
    Rule(
        "nothing changed",
        lambda one: one.n_changed == 0,
        lambda one: (
            f"{one.title}: {n_of(one.n_both, 'units')} with a label of both runs, and none changed from one run to the "
            "other."
        ),
    ),
    Rule("no kappa", lambda one: not one.kappa.is_defined, lambda one: f"{_changed(one)}."),
    Rule(
        "not shown",
        lambda one: one.kappa.low is not None and one.kappa.low <= 0 <= one.kappa.high,
        lambda one: f"{_changed(one)}. Agreement beyond chance is not shown ({_with_kappa(one.kappa)}).",
    ),
    Rule("changed", lambda one: True, lambda one: f"{_changed(one)}, {_with_kappa(one.kappa)}."),
)

SCORE_RULES = (
    Rule(
        "nothing of both",
        lambda score: not score.moved.is_defined,
        lambda score: f"{score.name}: no unit has the score of both runs.",
    ),
    Rule(
        "nothing moved",
        lambda score: score.moved.estimate == 0,
        lambda score: f"{score.name}: the score is the same in both runs for {n_of(score.n, 'units')}.",
    ),
    Rule(
        "moved",
        lambda score: True,
        lambda score: (
            f"{score.name}: the mean score is {score.other.written()} in the first run and {score.run.written()} in "
            f"the second; the mean absolute difference is {score.moved.written()}."
        ),
    ),
)

NEXT = (
    Rule(
        "failures",
        lambda result: result.n_failures_gained > 0,
        lambda result: (
            f"look at the {n_of(result.n_failures_gained, 'units')} that failed in the second run only, under Failures"
        ),
    ),
    Rule(
        "nothing of both",
        lambda result: not any(one.n_both for one in result.dimensions) and not any(one.n for one in result.scores),
        lambda result: "run both checkers on the same units, with answers of one kind",
    ),
    Rule(
        "changes",
        lambda result: any(one.n_changed for one in result.dimensions),
        lambda result: "open the changed labels and read the units with the answers of both runs",
    ),
)


def _answer(result: RunDifference, picture: Matrix | None) -> Answer:
    asked = [one for one in result.dimensions if not one.derived_from]
    sentences = [first_that_applies(LABEL_RULES, one) for one in asked]
    # Where there are labels, scores stand below.
    sentences = sentences or [first_that_applies(SCORE_RULES, score) for score in result.scores]
    sizes = [f"{one.title}: n = {n_of(one.n_both, 'units')}" for one in asked]
    sizes = sizes or [f"{score.name}: n = {n_of(score.n, 'units')}" for score in result.scores]
    return Answer(
        sentences=tuple(sentences) or ("Neither run has an answer that could be compared.",),
        n=f"From {_dated(result.other)}, the first run, to {_dated(result.run)}, the second. "
        f"{'; '.join(sizes) or 'n = 0'}",
        picture=picture,
        next=first_that_applies(NEXT, result),
    )


# ---- the paragraph for a paper ----


def methods(result: RunDifference) -> str:
    changed = [f"{one.title.lower()} {one.n_changed:,} of {one.n_both:,}" for one in result.dimensions]
    return sentences(
        f"The run of {_dated(result.run)} was compared with that of {_dated(result.other)} on "
        f"{n_of(result.n_units, 'units')} that "
        f"{either(result.n_units, 'is', 'are')} the same for both.",
        f"Labels that differ: {listed(changed)}." if changed else "",
        "Agreement of the two is the share of equal labels and Cohen's kappa, over units that both label."
        if result.dimensions
        else "",
        "Probabilities are compared by total variation: half the sum of absolute differences over the labels."
        if any(one.shift for one in result.dimensions)
        else "",
        "Scores are compared by their means, their mean absolute difference and Pearson's correlation, over units that "
        "have both."
        if result.scores
        else "",
        intervals_in(result),
        _results(result),
    )


def _results(result: RunDifference) -> str:
    """The results, for the paragraph that is pasted whole."""
    texts = [
        f"{one.title.lower()} {one.agreement.written()} (Cohen's kappa {one.kappa.written()}"
        f"{f', total variation {one.shift.mean.written()}' if one.shift else ''})"
        for one in result.dimensions
        if one.n_both
    ]
    moved = [f"{score.name} {score.moved.written()}" for score in result.scores if score.moved.is_defined]
    return sentences(
        f"Shares of equal labels were: {'; '.join(texts)}." if texts else "",
        f"Mean absolute differences of scores were: {'; '.join(moved)}." if moved else "",
    )


# ---- options ----


def resolve_options(source: Outline, values: dict) -> dict:
    """Another run at the other side, where none is chosen or the same one twice: the newest that is left, of those that
    give the same kind of answer where there are any. Without a second run ValueError."""
    left = {run.uuid: run.gives for run in source.runs() if run.uuid != values["run"]}
    if not left:
        raise ValueError("this needs two finished checker runs")
    gives = next((run.gives for run in source.runs() if run.uuid == values["run"]), "")
    alike = [uuid for uuid, other in left.items() if other == gives]
    return values | {"other": values["other"] if values["other"] in left else [*alike, *left][0]}


REPORT = Report(
    "difference",
    "Difference between two checker runs",
    "analysis.reports.checkers.difference.compute",
    (
        Option(
            "other",
            "First run",
            kind="run",
            default="",
            help="the run that it starts from",
            unchosen="the newest other",
        ),
        replace(ANY_RUN, title="Second run"),
    ),
    "What differs between two checker runs of this project, over the units that both have answered: labels, "
    "probabilities, scores, failures, and how the runs were made.",
    own_page="project_difference",
    reads_people=False,
    tab="project_comparison",
    kind=RunDifference,
    declares=page,
    paragraph=methods,
    resolve_options=resolve_options,
)
