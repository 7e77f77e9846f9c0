"""The report on prevalence: how common each label is."""

from __future__ import annotations

from dataclasses import replace
from math import isclose

from msgspec import UNSET, UnsetType

from analysis.figures.items import Filter
from analysis.figures.page import Counts, Page, Part, Rule, Section, Text, first_sentence, page_of_each
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure, Record, RunAgainstReference
from analysis.figures.tables import Column, Table
from analysis.reports.common import (
    LABELLING_RUN,
    REFERENCE,
    REFERENCES,
    TOUCHED,
    SetTitles,
    references_here,
)
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import (
    also_left_out,
    checker_name,
    clusters_of,
    defined_clusters,
    labels_counted,
    listed,
    sentences,
)

# ---- rows ----


class Mean(Figure):
    """A mean over `n` units that people judged, and `n_others` that the checker alone did."""

    n: int
    n_others: int
    n_clusters: int | None
    power: float | None | UnsetType = UNSET  # reliance on the checker, of both together


class Means(Record):
    """By people alone, by both together (prediction-powered), and by the checker alone, not corrected."""

    people: Mean
    powered: Mean
    checker: Mean


class LabelShare(Means):
    """The share of units with a label; `n_by_people` units have it from any rater."""

    label: str
    title: str
    n_by_people: int


class LabelInResponses(Record):
    """The mean share of a response's pieces with a label, and the share of responses with any such piece."""

    label: str
    title: str
    n_by_people: int
    share: Means
    any: Means


class JudgedCounts(Record):
    """How many were judged by both, by the checker alone (`n_others`), by people alone, and by neither."""

    n_both: int
    n_others: int
    n_people: int
    n_neither: int


class Responses(JudgedCounts):
    n: int
    n_pieces: int
    n_partly: int  # labelled by people in part
    labels: list[LabelInResponses]


class QuestionPrevalence(JudgedCounts):
    dimension: str
    title: str
    derived_from: str | None
    n_divided: int  # raters give more than one label
    n_tied: int  # of these, units without a majority
    n_undecided: int  # people labelled them, and no such decision is there
    labels: list[LabelShare]
    responses: Responses | None


class Prevalence(RunAgainstReference):
    n_units: int
    unit_words: str
    n_responses_without: int
    dimensions: list[QuestionPrevalence]


# ---- the page ----

SIDES = (("powered", "people and checker"), ("people", "people alone"))
# What is averaged over responses; "With any by people" counts those with any such piece, in both tables.
OF_RESPONSES = {"share": "mean share of a response's {}", "any": "share of responses with any such {}"}
# Ties are not left out here: a unit's value is the share of votes.
TITLES = SetTitles(REFERENCES | {"majority": "All labels of people, by their shares"})
RELIANCE = (
    "Reliance (lambda) runs from 0, where the checker adds nothing, to 1. Variances are of sums over claims or "
    "questions. Where a label has fewer than about ten units (or responses) by people, intervals cover less than they "
    "say."
)


def page(result: Prevalence) -> Page:
    return page_of_each(
        result.dimensions,
        rules=RULES,
        draw=lambda question: _picture(result, question),
        sections=lambda question, picture: [Section(question.title, _parts(result, question, picture))],
        n="; ".join(
            f"{question.title}: n = {n_of(question.n_both + question.n_people, 'units')} by people, "
            f"{question.n_both + question.n_others:,} by {checker_name(result)}"
            for question in result.dimensions
        ),
        next_step=first_sentence(NEXT, result.dimensions),
        notes=[result.decisions_left_out.words] if result.decisions_left_out else [],
    )


def _parts(result: Prevalence, question: QuestionPrevalence, picture: Intervals | None) -> list[Part | None]:
    slug = question.dimension
    by = f"{checker_name(result)} and people"

    def sides(n, column: str) -> list:
        return [
            (title, getattr(n, f"n_{side}"), Filter({column: side}))
            for side, title in (
                ("both", "with both"),
                ("others", "by the checker only"),
                ("people", "by people only"),
                ("neither", "by neither, left out"),
            )
        ]

    divided = ("people divided, counted by their shares", question.n_divided, Filter({f"{slug}.divided": "yes"}))
    undecided = ("by people without such a decision, not counted as people's", question.n_undecided, None)
    more = [divided] if result.reference == "majority" else [undecided]
    parts: list[Part | None] = [
        Counts([*sides(question, f"{slug}.judged"), *more]),
        picture,
        Table(
            f"{question.title}: share of units, {by}",
            _columns(
                lambda row: row,
                lambda row: _voted(question, row.label),
                Filter({f"{slug}.judged": ("both", "people")}),
            ),
            question.labels,
        ),
    ]
    if responses := question.responses:
        column = f"{slug}.responses"
        partly = ("by people in part, not counted as people's", responses.n_partly, Filter({f"{slug}.partly": "yes"}))
        without = [(f"without {result.unit_words}, left out", result.n_responses_without, None)]
        parts += [
            Text(
                "Over responses: the response is the unit, in the same claims or questions. A side has judged a "
                f"response where it has judged all of its {result.unit_words}, people where one of them has."
            ),
            Counts([*sides(responses, column), partly, *without]),
            *(_of_responses(result, question, responses, name) for name in OF_RESPONSES),
        ]
    return [*parts, Text(RELIANCE)]


def _of_responses(result: Prevalence, question: QuestionPrevalence, responses: Responses, name: str) -> Table:
    slug, words = question.dimension, OF_RESPONSES[name].format(result.unit_words)
    n = responses.n_partly
    return Table(
        f"{question.title}: {words}, {checker_name(result)} and people",
        _columns(
            lambda row: getattr(row, name),
            lambda row: Filter({f"{slug}.any.{row.label}": "yes"}),
            Filter({f"{slug}.responses": ("both", "people")}),
            of="response",
        ),
        responses.labels,
        f"{n_of(n, 'responses')} that people labelled only in part {either(n, 'counts', 'count')} as unlabelled."
        if n
        else "",
    )


def _columns(means, with_label, by_people: Filter, of: str = "") -> list[Column]:
    """`means` gives a row's `Means`, `with_label` the filter of its label by people."""

    def mean(side: str):
        return lambda row: getattr(means(row), side)

    return [
        Column("Label", "title"),
        Column("Together", mean("powered"), interval=True),
        Column("Reliance", lambda row: means(row).powered.power),
        Column("People alone", mean("people"), interval=True),
        Column("With any by people", "n_by_people", items=with_label, counts=of),
        Column("of", lambda row: means(row).people.n, items=lambda row: by_people, counts=of),
        Column("Checker alone", mean("checker"), interval=True),
    ]


def _picture(result: Prevalence, question: QuestionPrevalence) -> Intervals | None:
    rows = question.labels
    if not any(getattr(row, name).is_defined for row in rows for name, _ in SIDES):
        return None
    return Intervals(
        name=picture_name("prevalence", question.dimension),
        title=f"{question.title}: how common each label is",
        caption=(
            f"{result.project}: {n_of(rows[0].people.n, 'units')} labelled by people"
            f"{of_decisions(result)}, {question.n_both + question.n_others:,} by "
            f"{checker_name(result)}. Shares of units; lines are 95 % intervals, of both together by "
            "prediction-powered inference."
        ),
        alt="; ".join(f"{row.title} {_written(row.powered)}" for row in rows) + ", people and checker together.",
        items=tuple(
            IntervalRow.of_figure(
                row.title,
                share,
                _voted(question, row.label) if row.n_by_people else None,
                series=title,
                n=share.n + share.n_others,
            )
            for row in rows
            for name, title in SIDES
            for share in [getattr(row, name)]
        ),
        values=Axis("Share of units", 0, 1),
        rows_title="Label",
        series_title="By",
    )


def _voted(question: QuestionPrevalence, label: str) -> Filter:
    return Filter({f"{question.dimension}.voted.{label}": "yes"})


def of_decisions(result: Prevalence) -> str:
    return "" if result.reference == "majority" else f" ({result.reference_title.lower()})"


def _written(figure: Figure) -> str:
    return f"{figure.estimate:.3f}" if figure.is_defined else "undefined"


# ---- what the page begins with ----


def _estimate(row: LabelShare) -> Figure:
    """By both together; by people alone where the checker adds nothing."""
    return row.powered if row.powered.is_defined else row.people


def _most_common(question: QuestionPrevalence) -> list[LabelShare]:
    """Several where they are tied."""
    known = [row for row in question.labels if _estimate(row).is_defined]
    most = max((_estimate(row).estimate for row in known), default=0)
    return [row for row in known if isclose(_estimate(row).estimate, most)]


def _is_narrower(means: Means) -> bool:
    """Whether the checker's labels make the interval narrower than people's alone."""
    together, alone = means.powered, means.people
    if together.low is None or alone.low is None:
        return False
    return together.high - together.low < alone.high - alone.low


def _named(rows: list[LabelShare]) -> str:
    titles = listed([row.title for row in rows])
    if len(rows) > 1:
        return f"{titles} are tied as most common, each with"
    return f"the most common label is {titles}, with"


def _shares(means: list[Mean]) -> str:
    """Tied labels may still have intervals, and shares in people's labels, that differ."""
    return listed(list(dict.fromkeys(mean.written() for mean in means)))


def _estimated(question: QuestionPrevalence) -> str:
    rows = _most_common(question)
    shares = _shares([row.powered for row in rows])
    return (
        f"{question.title}: {_named(rows)} an estimated share of {shares} of the units "
        f"(prediction-powered, 95 % interval), if people labelled a random sample{_left_out(question)}."
    )


def _left_out(question: QuestionPrevalence) -> str:
    """What the estimate does not count, in the sentence that has it; empty where it counts everything."""
    parts = []
    if n := question.n_people + question.n_neither:
        parts.append(f"{n_of(n, 'units')} without the checker's label")
    if n := question.n_undecided:
        parts.append(f"people's labels of {n_of(n, 'units')} without a decision")
    return f"; left out: {listed(parts)}" if parts else ""


def _by_people_alone(question: QuestionPrevalence) -> str:
    rows = _most_common(question)
    n = question.n_others + question.n_neither
    return (
        f"{question.title}: {_named(rows)} a share of {_shares([row.people for row in rows])} in people's "
        f"labels{rows[0].people.level_noted}, if people labelled a random sample"
        f"{also_left_out(n, 'units without a label of people')}. The checker adds nothing: {rows[0].powered.undefined}."
    )


def _with_gain(question: QuestionPrevalence) -> str:
    alone = _shares([row.people for row in _most_common(question)])
    return f"{_estimated(question)} People's labels alone give {alone}."


RULES = (
    Rule(
        "nothing by both",
        lambda one: not _most_common(one),
        lambda one: f"{one.title}: how common each label is cannot be estimated: {one.labels[0].powered.undefined}.",
    ),
    Rule("people alone", lambda one: not _most_common(one)[0].powered.is_defined, _by_people_alone),
    Rule("checker helps", lambda one: _is_narrower(_most_common(one)[0]), _with_gain),
    Rule(
        "checker adds nothing",
        lambda one: True,
        lambda one: f"{_estimated(one)} The checker does not make the interval narrower than people's labels alone.",
    ),
)

NEXT = (
    Rule(
        "nothing by both",
        lambda one: one.n_both == 0,
        lambda one: "label units that the checker has labelled, drawn at random",
    ),
    Rule(
        "few by people",
        lambda one: any(0 < row.n_by_people < 10 for row in one.labels),
        lambda one: "label more units drawn at random: some labels have fewer than ten by people",
    ),
)


# ---- the paragraph for a paper ----


def methods(result: Prevalence) -> str:
    both = max((question.n_both for question in result.dimensions), default=0)
    others = max((question.n_others for question in result.dimensions), default=0)
    return sentences(
        f"The share of {n_of(result.n_units, 'units')} with each label was estimated by prediction-powered "
        "inference (Angelopoulos et al. 2023) with the reliance on the checker chosen by the data (PPI++, "
        f"Angelopoulos, Duchi and Zrnic 2023), from units labelled by people{of_decisions(result)} "
        f"and {checker_name(result)} (at most {both:,}) and units labelled by the checker alone (at most {others:,}).",
        "People's value of a unit is the share of its raters who gave the label, so that ties count."
        if result.reference == "majority"
        else "",
        labels_counted(result),
        _over_responses(result),
        "It assumes that people labelled a random sample. Where a question is not asked, none of its labels is given.",
        f"Intervals (95 %) are normal; variances are of sums over {clusters_of(result)[1]}, and ends are kept within 0 "
        "and 1. The estimates from people's labels alone and from the checker's alone are given as well; the interval "
        "of the latter reflects the sampling of units only, and not the checker's errors.",
        defined_clusters(result),
        listed_results(result),
    )


def listed_results(result: Prevalence) -> str:
    """The results, for the paragraph that is pasted whole."""
    texts = [
        f"{question.title.lower()} {listed([f'{row.title} {row.powered.written()}' for row in question.labels])}"
        for question in result.dimensions
        if all(row.powered.is_defined for row in question.labels)
    ]
    return f"Estimated shares [95 % intervals] were: {'; '.join(texts)}." if texts else ""


def _over_responses(result: Prevalence) -> str:
    responses = [question.responses for question in result.dimensions if question.responses]
    if not responses:
        return ""
    words, without = result.unit_words, result.n_responses_without
    both, partly = (max(getattr(one, name) for one in responses) for name in ("n_both", "n_partly"))
    return sentences(
        f"The mean over {n_of(responses[0].n, 'responses')} of the share of their {words} with each label, and the "
        "share of responses with any such, were estimated in the same way with the response as the unit. People's "
        f"value of a response is the mean over those who labelled all of its {words} "
        f"(at most {both:,} with the checker's).",
        f"Responses that people labelled in part (at most {partly:,}) count as unlabelled." if partly else "",
        f"Responses without {words} ({without:,}) are left out." if without else "",
    )


PEOPLE = replace(
    REFERENCE,
    choices=lambda source: {name: TITLES[name] for name in references_here(source)},
    known=TITLES,
)
REPORT = Report(
    "prevalence",
    "How common each label is",
    "analysis.reports.rates.prevalence.compute",
    (LABELLING_RUN, PEOPLE, TOUCHED),
    "Prediction-powered inference (Angelopoulos and others 2023): a checker's labels of units that nobody labelled, "
    "corrected by its errors on units that people labelled. It assumes that people labelled a random sample of the "
    "units: where they chose what to label, both figures mislead.",
    own_page="project_prevalence",
    tab="project_comparison",
    kind=Prevalence,
    declares=page,
    paragraph=methods,
)
