"""The report on errors: how many there are, how grave, and the scores that follow, of each system."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, Text, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure, Record, Result
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import intervals_in, sentences
from annotation.task_types import Dimension, TaskType

DRAWN_SYSTEMS = 30  # more would fit no page; the table has them


def graded_dimension(kind: TaskType) -> Dimension | None:
    """The first question whose highlights have a severity."""
    return next((one for one in kind.asked_dimensions if one.spans and one.spans.severities), None)


def _named(system: str | None) -> str:
    return "all systems" if system is None else system or "no name"


def _opens(row: SystemErrors) -> Filter | None:
    return (
        Filter({"answered": "yes"} if row.system is None else {"system": row.system}) if row.score.n_pairable else None
    )


class SystemErrors(Record):
    """Means over the segments of a system (None: of all)."""

    system: Annotated[str | None, Column("System", lambda row: _named(row.system))]
    score: Annotated[Figure, Column("Score", interval=True), Column("Segments", "score.n_pairable", items=_opens)]
    errors: Annotated[Figure, Column("Errors per segment", interval=True)]


class ErrorKind(Record):
    """Errors of one severity or category per segment of a system (None: of all)."""

    system: Annotated[str | None, Column("System", lambda row: _named(row.system))]
    value: str
    title: Annotated[str, Column("Errors")]
    each: Annotated[Figure, Column("Per segment", interval=True)]


class Rating(Record):
    """The mean of a question that is answered by a number, over the segments of a system (None: of all)."""

    question: Annotated[str, Column("Question")]
    system: Annotated[str | None, Column("System", lambda row: _named(row.system))]
    mean: Annotated[Figure, Column("Mean", interval=True), Column("Segments", "mean.n_pairable")]


class Errors(Result):
    """`clusters` says what intervals draw together; `n_without` segments have no answer."""

    dimension: str
    title: str
    formula: str
    clusters: str
    n_documents: int
    n_answers: int
    n_errors: int
    n_without: int
    all: SystemErrors
    systems: list[SystemErrors]
    severities: list[ErrorKind]
    categories: list[ErrorKind]
    ratings: list[Rating] = []


def refuses(kind: TaskType) -> str:
    if graded_dimension(kind) is not None:
        return ""
    return f"Errors need highlights with severities; {kind.title!r} has none"


# ---- the page ----


def page(result: Errors) -> Page:
    picture = _picture(result)
    several = len(result.systems) > 1
    by_system = [
        picture,
        Table("Scores by system", columns_of(SystemErrors), [result.all, *(result.systems if several else ())]),
        Text(f"{result.formula} A segment with several answers has their mean, and a system the mean of its segments."),
        Table("Ratings by system", columns_of(Rating), result.ratings),
    ]
    kinds = [
        Table(title, columns_of(ErrorKind), [row for row in rows if several or row.system is None])
        for title, rows in (("Errors by severity", result.severities), ("Errors by category", result.categories))
        if rows
    ]
    return Page(
        answer=_answer(result, picture),
        sections=[Section("By system", by_system), Section("By severity and category", kinds)],
    )


def _picture(result: Errors) -> Intervals | None:
    if not result.all.score.is_defined:
        return None
    rows = [result.all, *sorted(result.systems, key=lambda row: -row.score.estimate)[:DRAWN_SYSTEMS]]
    ends = [end for row in rows for end in (row.score.estimate, row.score.low) if end is not None]
    return Intervals(
        name=picture_name("errors"),
        title="Scores by system",
        caption=(
            f"{result.project}: {n_of(result.n_answers, 'answers')} on "
            f"{n_of(result.all.score.n_pairable, 'segments')}. {result.formula} Means over segments; "
            f"lines are 95 % bootstrap intervals over {result.clusters}s."
        ),
        alt="; ".join(f"{_named(row.system)}: {row.score.written()}" for row in rows) + ".",
        items=tuple(IntervalRow.of_figure(_named(row.system), row.score, _opens(row)) for row in rows),
        values=Axis("Score", min(*ends, -1), 0),
        rows_title="System",
    )


# ---- what the page begins with ----


def _mean(result: Errors) -> str:
    interval = "" if result.all.score.low is None else ", 95 % interval"
    return (
        f"A segment has {result.all.errors.written(2)} errors and a score of {result.all.score.written()} on average "
        f"(mean{interval}).{_one_document(result)}"
    )


def _one_document(result: Errors) -> str:
    is_one = result.n_documents == 1 and result.all.score.low is not None
    return " All segments are of one document: intervals do not allow for other documents." if is_one else ""


def _between_systems(result: Errors) -> str:
    known = sorted(result.systems, key=lambda row: row.score.estimate)
    return (
        f"{_mean(result)} The estimated score is highest for {_named(known[-1].system)} "
        f"({known[-1].score.written()}) and lowest for {_named(known[0].system)} ({known[0].score.written()})."
    )


RULES = (
    Rule("no answers", lambda one: not one.n_answers, lambda one: "No segment has been answered yet."),
    Rule("several systems", lambda one: len(one.systems) > 1, _between_systems),
    Rule("one system", lambda one: True, _mean),
)


def _answer(result: Errors, picture: Intervals | None) -> Answer:
    without = f"; {n_of(result.n_without, 'segments')} without an answer left out" if result.n_without else ""
    return Answer(
        sentences=(first_that_applies(RULES, result),),
        n=f"{n_of(result.n_errors, 'errors')} in {n_of(result.n_answers, 'answers')}{without}. {result.formula}",
        picture=picture,
    )


# ---- the paragraph for a paper ----


def methods(result: Errors) -> str:
    if not result.n_answers:
        return f"No segment has been answered in {result.project}."
    score = result.all.score
    return sentences(
        f"Raters marked {n_of(result.n_errors, 'errors')} in {n_of(score.n_pairable, 'segments')} "
        f"({n_of(result.n_answers, 'answers')}), each with a severity. {result.formula}",
        "A segment with several answers has the mean of their scores, and a system the mean of its segments.",
        f"The mean score was {score.written()}.{_one_document(result)}",
        *(
            f"{row.question}, which raters answered by a number, was {row.mean.written()} on average."
            for row in result.ratings
            if row.system is None and row.mean.is_defined
        ),
        intervals_in(result, (result.clusters, f"{result.clusters}s")),
    )


REPORT = Report(
    "errors",
    "Errors and scores",
    "analysis.reports.rates.errors.compute",
    (),
    "How many errors annotators highlighted, how grave they are, and the score of each system, by the weights of the "
    "label set and by annotators' numbers. Intervals resample documents, or source texts where there are no two "
    "documents.",
    kind=Errors,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    needs_raters="labels by raters with highlighted errors",
    takes_numbers=True,
)
