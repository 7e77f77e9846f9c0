"""The report on coverage: which aspects of their questions answers cover."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, Text, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import AgainstReference, Figure, Record
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import REFERENCE
from analysis.reports.labels.aspects import LABELS_NEEDED, TIED_ASPECT, TITLES, covering_dimension
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import also_left_out, intervals_in, left_out_of, listed, sentences
from analysis.sources.outline import Outline
from annotation.task_types import TaskType

VERDICT_TITLES = {
    "covered": "covered",
    "not_covered": "not covered",
    "tied": "tied",
    "undecided": "without enough labels",
}
IN_ANSWERS = {"counted": "in answers with a coverage", "left": "in answers without a coverage"}
DRAWN_MODELS = 30  # more would fit no page; the table has them


# ---- rows ----


def _with_verdict(title: str, verdict: str) -> Column:
    return Column(title, items=lambda row: Filter(row.of | {"verdict": verdict}))


# Aspects by verdict, and the labels (votes) that they have.
Aspects = Annotated[int, Column("Aspects", items=lambda row: Filter(row.of))]
Votes = Annotated[int, Column("Votes")]
Covered = Annotated[int, _with_verdict("Covered", "covered")]
NotCovered = Annotated[int, _with_verdict("Not covered", "not_covered")]
Tied = Annotated[int, _with_verdict("Tied", "tied")]
Undecided = Annotated[int, _with_verdict("Undecided", "undecided")]


class MeanCoverage(Record):
    """The mean over answers of a model (None: of all) that have a coverage; `n_aspects_left` are the aspects of the
    others."""

    model: Annotated[str | None, Column("Model", "name")]
    coverage: Annotated[
        Figure,
        Column("Coverage", items=lambda row: row.with_coverage, counts="answer"),
        Column("n", "coverage.n_pairable"),
    ]
    n_responses: Annotated[int, Column("Answers")]
    n_aspects: Aspects
    n_votes: Votes
    covered: Covered
    not_covered: NotCovered
    tied: Tied
    undecided: Undecided
    n_aspects_left: Annotated[
        int,
        Column("Aspects of answers left out", items=lambda row: Filter(row.of | {"counted": "left"})),
        Column("Answers left out", "coverage.left_out_words"),
    ]

    @property
    def name(self) -> str:
        return "all responses" if self.model is None else self.model or "no name"

    @property
    def of(self) -> dict[str, str]:
        return {} if self.model is None else {"model": self.model}

    @property
    def with_coverage(self) -> Filter | None:
        return Filter(self.of | {"counted": "counted"}) if self.coverage.n_pairable else None


class AnswerCoverage(Record):
    response: str
    query: Annotated[str, Column("Question")]
    model: Annotated[str, Column("Model", lambda row: row.model or "no name")]
    coverage: Annotated[
        float | None,
        Column("Coverage", lambda row: f"undefined: {row.undefined}" if row.undefined else row.coverage),
    ]
    n_aspects: Aspects
    n_votes: Votes
    covered: Covered
    not_covered: NotCovered
    tied: Tied
    undecided: Undecided
    text: Annotated[str, Column("Question, in words")]
    setting: str
    undefined: str

    @property
    def of(self) -> dict[str, str]:
        return {"answer": self.response}


class Coverage(AgainstReference):
    dimension: str
    title: str
    covering: list[str]
    k: int
    ties: str
    ties_title: str
    most_labels: int
    n_queries: int
    all: MeanCoverage
    models: list[MeanCoverage]
    responses: list[AnswerCoverage]
    n_responses_not_listed: int


# ---- the page ----


def references_here(source: Outline) -> dict[str, str]:
    return {name: TITLES[name] for name in source.references()}


def refuses(kind: TaskType) -> str:
    if covering_dimension(kind) is not None:
        return ""
    return f"Coverage needs judgements of aspects in answers; {kind.title!r} judges something else"


def page(result: Coverage) -> Page:
    picture = _picture(result)
    n = result.n_responses_not_listed
    by_model = [
        picture,
        Table("Coverage by model", columns_of(MeanCoverage), [result.all, *result.models]),
        Text("Aspects without enough labels are undecided."),
    ]
    answers = Table(
        "Coverage of answers",
        columns_of(AnswerCoverage),
        result.responses,
        f"{n_of(n, 'answers')} more are not listed; all figures count them." if n else "",
    )
    return Page(
        answer=_answer(result, picture),
        sections=[Section("By model", by_model), Section("By question and model", [answers])],
    )


def _picture(result: Coverage) -> Intervals | None:
    rows = [result.all, *result.models[:DRAWN_MODELS]]
    if not result.all.coverage.is_defined:
        return None
    return Intervals(
        name=picture_name("coverage"),
        title="Coverage of aspects by model",
        caption=(
            f"{result.project}: {n_of(result.all.coverage.n_pairable, 'answers')} to "
            f"{n_of(result.n_queries, 'questions')}, {result.reference_title.lower()}. Mean share of a question's "
            "aspects that an answer covers; lines are 95 % bootstrap intervals over questions."
        ),
        alt="; ".join(f"{row.name}: {row.coverage.written()}" for row in rows) + ".",
        items=tuple(IntervalRow.of_figure(row.name, row.coverage, row.with_coverage) for row in rows),
        values=Axis("Coverage", 0, 1),
        rows_title="Model",
    )


# ---- what the page begins with ----


def _mean(result: Coverage) -> str:
    n = result.all.n_responses - result.all.coverage.n_pairable
    return (
        f"An answer covers {result.all.coverage.written()} of its question's aspects on average (mean coverage, 95 % "
        f"interval){also_left_out(n, 'answers with an aspect that is tied or has too few labels')}."
    )


def _between_models(result: Coverage) -> str:
    known = sorted((row for row in result.models if row.coverage.is_defined), key=lambda row: row.coverage.estimate)
    return (
        f"{_mean(result)} It is highest for {known[-1].name} ({known[-1].coverage.written()}) and lowest for "
        f"{known[0].name} ({known[0].coverage.written()})."
    )


RULES = (
    Rule("no answers", lambda one: not one.responses, lambda one: "There are no answers in this project yet."),
    Rule(
        "undefined",
        lambda one: not one.all.coverage.is_defined,
        lambda one: f"No coverage is known: {one.all.coverage.undefined}.",
    ),
    Rule(
        "several models",
        lambda one: sum(row.coverage.is_defined for row in one.models) > 1,
        _between_models,
    ),
    Rule("one model", lambda one: True, _mean),
)
NEXT = (
    Rule(
        "undecided",
        lambda one: one.all.undecided > 0,
        lambda one: f"label the {n_of(one.all.undecided, 'aspects')} that have too few labels",
    ),
    Rule(
        "tied",
        lambda one: one.all.tied > 0,
        lambda one: f"adjudicate the {n_of(one.all.tied, 'aspects')} on which people are divided",
    ),
)


def _answer(result: Coverage, picture: Intervals | None) -> Answer:
    counted = f"{n_of(result.all.coverage.n_pairable, 'answers')} of {result.all.n_responses:,} have a coverage"
    least = f"; at least {n_of(result.k, 'labels')} per aspect; {result.ties_title.lower()}"
    return Answer(
        sentences=(first_that_applies(RULES, result),),
        n=(
            f"{result.reference_title}{least if result.reference == 'majority' else ''}. {counted}; "
            f"{n_of(result.n_queries, 'questions')}."
        ),
        picture=picture,
        next=first_that_applies(NEXT, result),
    )


# ---- the paragraph for a paper ----

TIED = {
    "excluded": "Tied aspects count neither as covered nor among the aspects",
    "not_covered": "Tied aspects count as not covered",
    "covered": "Tied aspects count as covered",
}


def methods(result: Coverage) -> str:
    every, by_majority = result.all, result.reference == "majority"
    if not every.n_responses:
        return f"There are no answers in {result.project}."
    covering = f"judged {listed(result.covering, 'or').lower()}"
    decided = (
        f"if more of its labels by people say so than not ({n_of(every.n_votes, 'labels')})"
        if by_majority
        else f"by {result.reference_title.lower()} ({every.n_votes:,} of them)"
    )
    least = result.k if by_majority else 1
    with_one = every.coverage.n_pairable
    too_few = f"fewer than {least} labels" if least > 1 else "no label"
    return sentences(
        "An answer's coverage is the share of its question's aspects that it covers (ICAT, Samarinas et al. 2025): "
        f"{n_of(every.n_aspects, 'aspects')} in {n_of(every.n_responses, 'answers')} to "
        f"{n_of(result.n_queries, 'questions')}; an aspect counts as {covering} {decided}.",
        f"{TIED[result.ties]} ({every.tied:,})." if by_majority else "",
        f"{n_of(every.undecided, 'aspects')} {either(every.undecided, 'has', 'have')} {too_few}; missing labels were "
        "not imputed, and an answer with such an aspect has no coverage."
        if every.undecided
        else "",
        f"Means are over the {n_of(with_one, 'answers')} that {either(with_one, 'has', 'have')} a coverage"
        f"{left_out_of(every.coverage)}, of all models and of each.",
        f"Mean coverage was {every.coverage.written()}." if every.coverage.is_defined else "",
        intervals_in(result, ("question", "questions")),
    )


REPORT = Report(
    "coverage",
    "Coverage of aspects",
    "analysis.reports.rates.coverage.compute",
    (
        Option("reference", "People's labels", choices=references_here, known=TITLES, help=REFERENCE.help),
        LABELS_NEEDED,
        TIED_ASPECT,
    ),
    "An answer's coverage is the share of its question's aspects that it covers, by the majority of labels of each "
    "aspect (ICAT). An answer with an aspect that has too few labels has no coverage yet; one without aspects has "
    "none. Means give every answer equal weight; intervals resample questions.",
    own_page="project_coverage",
    kind=Coverage,
    declares=page,
    paragraph=methods,
    refuses=refuses,
)
