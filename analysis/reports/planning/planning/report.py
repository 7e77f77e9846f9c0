"""The report on planning: how many more labels make an interval narrow enough."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Part, Rule, Section, first_sentence, first_that_applies
from analysis.figures.pictures import Axis, Level, Lines, Series, picture_name
from analysis.figures.results import Figure, Record, Result
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import A_RUN_OR_NONE, TOUCHED
from analysis.reports.options import STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import clusters_of, defined_clusters, listed, sentences

# ---- rows ----

# Sets of units behind the counts of a question.
LABELLED, SHARED, FULL = "labelled", "shared", "full"
SETS = {
    LABELLED: "units with a label",
    SHARED: "units with two or more labels",
    FULL: "units with as many labels as planned",
}


class PlannedWidth(Record):
    """The expected half width of a 95 % interval with so many units, and so many judgements (`n_raters`) each."""

    n_units: int
    n_raters: int
    half_width: float | None
    estimate: float | None
    undefined: str


class Widths(Record):
    judgements: int
    plans: list[PlannedWidth]


class UnitsNeeded(Record):
    """What the target takes, and how many units more than there are; None with the reason if it cannot be estimated."""

    n_units: int | None
    more_units: int | None
    judgements: int | None
    half_width: float | None
    undefined: str


class NeededForAlpha(Record):
    """By more units, or by more judgements of the units that have as many already as planned."""

    now: PlannedWidth
    by_units: UnitsNeeded
    by_judgements: UnitsNeeded


class LabelPlan(Record):
    """What the interval of a label's share is about now, and how many units reach the target, by people alone with one
    and with several judgements each, and together with the checker."""

    label: str
    title: str
    now: PlannedWidth
    one: UnitsNeeded
    several: UnitsNeeded
    checker: UnitsNeeded | None
    widths: list[Widths]


def _in(question: QuestionPlan, name: str) -> Filter:
    return Filter({f"{question.dimension}.{name}": "yes"})


class QuestionPlan(Record):
    dimension: str
    title: Annotated[str, Column("Question")]
    level: str
    n_labels: Annotated[int, Column("Labels")]
    n_labelled: Annotated[int, Column("Units labelled", items=lambda one: _in(one, LABELLED))]
    n_shared: Annotated[int, Column("Units with two or more", items=lambda one: _in(one, SHARED))]
    n_full: int
    alpha: Annotated[Figure, Column("Alpha")]
    cluster_size: Annotated[int, Column("Units per claim or question")]
    correlation: Annotated[float | None, Column("Correlation within")]
    undefined: Annotated[str, Column("Cannot be planned", lambda one: one.undefined or None)]
    widths: list[Widths]
    needed: NeededForAlpha | None
    rates: list[LabelPlan]


class Planning(Result):
    target: float
    judgements: int
    run: str
    checker: str
    touched: bool
    n_units: int
    n_studies: int
    dimensions: list[QuestionPlan]
    notes: list[str]


# ---- the page ----

TARGET = 0.05
JUDGEMENTS = 2
MOST_JUDGEMENTS = 9
ON_OVERVIEW = 3  # questions
# Beyond this the curves are flat and squeeze what matters to the edge.
LARGEST_DRAWN = 5000


def page(result: Planning) -> Page:
    defined = [one for one in result.dimensions if not one.undefined]
    pictures = [picture for one in defined for picture in _of_alpha(result, one)]
    return Page(
        answer=Answer(
            sentences=tuple(first_that_applies(RULES, (result, one)) for one in result.dimensions)
            or ("This project has no question that can be planned for.",),
            n="; ".join(
                f"{one.title}: n = {n_of(one.n_labels, 'labels')} of {n_of(one.n_labelled, 'units')} so far"
                for one in result.dimensions
            ),
            picture=next(iter(pictures), None),
            next=first_sentence(NEXT, ((result, one) for one in result.dimensions)),
        ),
        sections=[
            Section(
                "What it takes",
                [
                    _needed(result, defined),
                    Table(
                        f"The pilot: labels so far, of {n_of(result.n_units, 'units')}",
                        columns_of(QuestionPlan),
                        result.dimensions,
                    ),
                ],
            ),
            *(Section(one.title, _parts(result, one)) for one in defined),
        ],
        notes=result.notes,
    )


def _needed(result: Planning, questions: list[QuestionPlan]) -> Table:
    k = result.judgements
    return Table(
        f"For alpha to within {result.target:g}",
        [
            Column("Question", "title"),
            Column(f"Units with {k} judgements now", "n_full", items=lambda one: _in(one, FULL)),
            Column("Half width with these", lambda one: _width_or_reason(one.needed.now)),
            Column(f"Units needed, {k} each", lambda one: _or_reason(one.needed.by_units, "n_units")),
            Column("More units", "needed.by_units.more_units"),
            Column("Or judgements each of those units", lambda one: _or_reason(one.needed.by_judgements, "judgements")),
        ],
        questions,
        "Half widths are of 95 % intervals.",
    )


def _or_reason(units_needed: UnitsNeeded, name: str) -> int | str | None:
    return f"none: {units_needed.undefined}" if units_needed.undefined else getattr(units_needed, name)


def _width_or_reason(plan: PlannedWidth) -> float | str | None:
    return plan.undefined or plan.half_width


def _parts(result: Planning, question: QuestionPlan) -> list[Part]:
    with_checker = any(row.checker for row in question.rates)
    titles = {"one": "1 judgement each", "several": f"{result.judgements} each"}
    columns = [
        Column("Label", "title"),
        Column("Share", "now.estimate"),
        Column("Half width now", lambda row: _width_or_reason(row.now)),
    ]
    for name in ("one", "several", *(["checker"] if with_checker else [])):
        head = f"Units needed, {titles[name]}" if name in titles else f"Units needed with {result.checker}"
        columns += [
            Column(head, lambda row, name=name: _or_reason(getattr(row, name), "n_units")),
            Column("More units", lambda row, name=name: getattr(row, name).more_units),
        ]
    by_checker = (
        " With the checker: prediction-powered inference over all units of the project." if with_checker else ""
    )
    return [
        *_of_alpha(result, question),
        _table_of_widths(f"{question.title}: expected half width of alpha's interval", [("", question.widths)]),
        Table(
            f"{question.title}: for the share of each label to within {result.target:g}",
            columns,
            question.rates,
            f"Shares are of judgements in a random sample of units.{by_checker if with_checker else ''}",
        ),
        _table_of_widths(
            f"{question.title}: expected half width of the interval of each label's share",
            [(row.title, row.widths) for row in question.rates],
            "For the share of judgements that give the label, in a random sample of that many units.",
        ),
        *_of_rates(result, question),
    ]


def _head(group: Widths) -> str:
    return f"{n_of(group.judgements, 'judgements')} each"


def _table_of_widths(title: str, labels: list[tuple[str, list[Widths]]], note: str = "") -> Table:
    """A row for each label (one without a name: none) and number of units, a column for each number of judgements."""
    groups = labels[0][1]
    columns = [Column("Label", lambda row: row[0])] if labels[0][0] else []
    columns.append(Column("Units", lambda row: row[1][0].n_units))
    for place, group in enumerate(groups):
        columns.append(Column(_head(group), lambda row, place=place: _width(row[1][place])))
    rows = [
        (name, plans) for name, of_label in labels for plans in zip(*(group.plans for group in of_label), strict=True)
    ]
    return Table(title, columns, rows, note)


def _width(plan: PlannedWidth) -> float | str | None:
    return f"undefined: {plan.undefined}" if plan.undefined else plan.half_width


def _of_alpha(result: Planning, question: QuestionPlan) -> list[Lines]:
    method = (
        f"Expected half width of the 95 % interval of Krippendorff's alpha ({question.level}), from "
        f"{result.n_studies} simulated studies each"
    )
    title = f"{question.title}: width of alpha's interval by units and judgements"
    return _picture(result, question, question.widths, (), title, method)


def _of_rates(result: Planning, question: QuestionPlan) -> list[Lines]:
    pictures: list[Lines] = []
    for number, row in enumerate(question.rates, 1):
        method = (
            f"Expected half width of the 95 % interval of the share of judgements that are {row.title}, in closed "
            "form from the variance of simulated units"
        )
        title = f"{question.title}: width of the interval of {row.title} by units and judgements"
        # Labels of other scripts have no letter that a file's name may have, so they are named by their numbers.
        pictures += _picture(result, question, row.widths, ("share", str(number), row.label), title, method)
    return pictures


def _picture(
    result: Planning, question: QuestionPlan, groups: list[Widths], name: tuple[str, ...], title: str, method: str
) -> list[Lines]:
    series = [
        Series(
            _head(group),
            tuple(
                (plan.n_units, plan.half_width)
                for plan in group.plans
                if plan.half_width is not None and plan.n_units <= LARGEST_DRAWN
            ),
            dots=True,
        )
        for group in groups
    ]
    series = [one for one in series if one.points]
    if not series:
        return []
    ends = ", ".join(f"{one.title}: {one.points[-1][1]:.3f} at {n_of(one.points[-1][0], 'units')}" for one in series)
    return [
        Lines(
            name=picture_name("planning", question.dimension, *name),
            title=title,
            caption=(
                f"{method}; pilot: {n_of(question.n_labels, 'labels')} of "
                f"{n_of(question.n_labelled, 'units')} of {result.project}."
            ),
            alt=f"Half widths fall with the number of units. {ends}.",
            series=tuple(series),
            x=Axis("Units", low=0),
            y=Axis("Half width", low=0),
            series_title="Judgements",
            level=Level(result.target, "target"),
        )
    ]


# ---- what the page begins with ----


def _is_reached(about: tuple[Planning, QuestionPlan]) -> bool:
    needed = about[1].needed.by_units
    return not needed.undefined and needed.more_units == 0


def _with(result: Planning, question: QuestionPlan) -> str:
    return (
        f"{question.title}: to estimate Krippendorff's alpha ({question.level}) to within {result.target:g} (half "
        "width of its 95 % interval)"
    )


RULES = (
    Rule(
        "undefined",
        lambda about: bool(about[1].undefined),
        lambda about: f"{about[1].title}: no number of units can be planned yet: {about[1].undefined}.",
    ),
    Rule("reached", _is_reached, lambda about: f"{_with(*about)}, the labels so far are enough."),
    Rule(
        "out of reach",
        lambda about: bool(about[1].needed.by_units.undefined),
        lambda about: f"{_with(*about)}, no number of units is known: {about[1].needed.by_units.undefined}.",
    ),
    Rule(
        "more units",
        lambda about: True,
        lambda about: (
            f"{_with(*about)}, {n_of(about[1].needed.by_units.n_units, 'units')} with {about[0].judgements} judgements "
            f"each are needed, {about[1].needed.by_units.more_units:,} more than there are."
        ),
    ),
)
NEXT = (
    Rule(
        "no pilot",
        lambda about: bool(about[1].undefined),
        lambda about: "let two people label some thirty units, as a pilot",
    ),
    Rule(
        "more units",
        lambda about: bool(about[1].needed.by_units.more_units),
        lambda about: (
            f"have {n_of(about[1].needed.by_units.more_units, 'more units')} labelled by {about[0].judgements} people"
        ),
    ),
)


# ---- the paragraph for a paper ----


def methods(result: Planning) -> str:
    reasons = list(dict.fromkeys(one.undefined for one in result.dimensions))
    if all(reasons):
        why = f" ({'; '.join(reasons)})" if reasons else ""
        return f"Numbers of units could not be planned{why}."
    with_checker = f", and {result.checker}'s by least squares on them" if result.checker else ""
    return (
        "Numbers of units were planned from the labels so far: confusion tables of the annotators and the shares of "
        "true labels by the Dawid-Skene model (one label's weight of the pooled table added to each person)"
        f"{with_checker}, and the correlation of true labels within {clusters_of(result)[1]}. Units were simulated "
        "from these, and the half width of the 95 % interval of Krippendorff's alpha "
        f"({_levels(result)}) taken as 1.96 standard deviations over {result.n_studies} studies drawn from them in "
        "whole clusters, with alpha's linearisation, whose variance is known, as control variate. That of the share "
        "of a label among the judgements is 1.96 standard errors of a mean over as many clusters, in closed form from "
        f"the variance of the simulated units. The target was a half width of {result.target:g} with "
        f"{n_of(result.judgements, 'judgements')} per unit. {sentences(_results(result), defined_clusters(result))}"
    ).strip()


def _levels(result: Planning) -> str:
    """Alpha's, each with the questions that it is of."""
    titles: dict[str, list[str]] = {}
    for one in result.dimensions:
        if not one.undefined:
            titles.setdefault(one.level, []).append(one.title.lower())
    return ", ".join(f"{level} for {listed(names)}" for level, names in titles.items())


def _results(result: Planning) -> str:
    texts = [
        f"{one.title.lower()} {one.needed.by_units.n_units:,}"
        for one in result.dimensions
        if one.needed and one.needed.by_units.n_units is not None
    ]
    return f"Units needed for alpha: {listed(texts)}." if texts else ""


def on_overview(result: Planning | None) -> tuple[str, str]:
    """What alpha takes of the first questions, that the labels so far are enough, or that it can be planned."""
    needed = {one.title: one.needed for one in result.dimensions if one.needed} if result else {}
    known = {title: plan for title, plan in needed.items() if plan.by_units.n_units is not None}
    if not known:
        return "Plan how many more labels", "narrow intervals take."
    needs = [f"{title} {_more(plan)}" for title, plan in known.items()]
    so_precise = f"For alpha to within {result.target:g}, with {result.judgements} judgements each"
    words = f"{so_precise}: {', '.join(needs[:ON_OVERVIEW])}."
    is_enough = len(known) == len(result.dimensions) and not any(plan.by_units.more_units for plan in known.values())
    return ("Labels are enough to stop" if is_enough else REPORT.title), words


def _more(plan: NeededForAlpha) -> str:
    """What is needed, and how wide the interval is now."""
    more = plan.by_units.more_units
    words = n_of(more, "more units") if more else "no more"
    width = plan.now.half_width
    return words if width is None else f"{words} (within {width:.3f} now, with {n_of(plan.now.n_units, 'units')})"


REPORT = Report(
    "planning",
    "How many more labels?",
    "analysis.reports.planning.planning.compute",
    (
        Option("target", "Half width to reach", kind="number", default=TARGET, low=0.005, high=0.5, group=STATISTICS),
        Option(
            "judgements",
            "Judgements per unit",
            kind="count",
            default=JUDGEMENTS,
            low=2,
            high=MOST_JUDGEMENTS,
            group=STATISTICS,
        ),
        A_RUN_OR_NONE,
        TOUCHED,
    ),
    "How wide the intervals of agreement and of each label's share will be with more units or more judgements, by "
    "simulation from the labels so far.",
    kind=Planning,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    on_overview=on_overview,
)
