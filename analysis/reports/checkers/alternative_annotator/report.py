"""The report on whether a checker's labels may stand in for a person's (the alternative annotator test)."""

from __future__ import annotations

from msgspec.structs import replace

from analysis.figures.items import DIMENSION, RATER, Filter
from analysis.figures.page import Page, Part, Rule, Section, Text, first_sentence, first_that_applies, page_of_each
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level, picture_name
from analysis.figures.results import Figure, Record, ReportedQuestion, Result
from analysis.figures.tables import Column, Table
from analysis.reports.common import TOUCHED
from analysis.reports.labels.derived import DERIVED_NOTE
from analysis.reports.labels.raters import rater_cell
from analysis.reports.options import STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.captions import lines_are
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import checker_name, intervals_in, listed, sentences

# ---- rows ----


class AgainstPerson(Record):
    """One checker against one person. `n_needed` units would decide an open case, `n_more` beyond those there are."""

    id: str
    name: str
    n_units: int
    model_wins: Figure
    person_wins: Figure
    n_model_ahead: int
    n_person_ahead: int
    p_value: float | None
    rejected: bool
    n_needed: int | None
    n_more: int | None


class LeftOutPerson(Record):
    id: str
    name: str
    n_units: int


class ToPass(Record):
    """Against how many more people the checker must hold its own, and the units that each of the nearest must label."""

    people: int
    units: list[int]


class CheckerTest(Record):
    run: str
    checker: str
    version: str
    n_suggestions: int
    passes: bool | None
    to_pass: ToPass | None
    undefined: str
    winning_rate: Figure
    advantage: Figure
    people: list[AgainstPerson]
    left_out: list[LeftOutPerson]
    n_labels: int
    n_labels_touched: int
    n_strays: int


class StandInQuestion(ReportedQuestion):
    scored_by: str
    checkers: list[CheckerTest]


class AlternativeAnnotator(Result):
    epsilon: float
    q: float
    scoring: str
    min_units: int
    touched: bool
    n_units: int
    dimensions: list[StandInQuestion]


# ---- the page ----

EPSILON = 0.1
SCORINGS = {
    "scale": "Root mean squared difference on a scale, equal labels otherwise",
    "equal": "Equal labels everywhere",
}
MIN_UNITS = 30
# Of a label in the test, who is closer to the other people: values of the column `test.<run>` of judgements.
SIDES = {
    "checker": "the checker is closer to the others",
    "person": "the annotator is closer to the others",
    "tied": "both are equally close",
    "few": "too few units for a test",
}
TESTED = ("checker", "person", "tied")
CLOSENESS = {"rmse": "root mean squared difference of places on the scale", "equal": "share of equal labels"}
RATES = (("winning_rate", "Winning rate"), ("advantage", "Advantage probability"))
READING = (
    "A tie counts for both. p is of a one-sided paired t test, which treats units as independent: in simulated studies "
    "where skill varied between claims, its error rate was 6 to 8 % instead of 5 %. Over the people of one checker the "
    "false discovery rate is held at {:g} (Benjamini and Yekutieli), not over several checkers. Units that would "
    "decide: the number of units at which the observed difference would be detected with a power of 0.8; none where "
    "the checker does worse than epsilon allows. More labels to pass: the fewest more labels with which the checker "
    "would win against half of the people. Of each checker the newest finished run is tested."
)


def page(result: AlternativeAnnotator) -> Page:
    return page_of_each(
        result.dimensions,
        rules=RULES,
        draw=lambda question: _picture(result, question),
        sections=lambda question, picture: [Section(question.title, _parts(result, question, picture))],
        n="; ".join(
            f"{question.title}: n = {n_of(max(row.advantage.n_pairable for row in question.checkers), 'units')} that "
            "two people or more and a checker labelled"
            for question in result.dimensions
        ),
        next_step=first_sentence(NEXT, result.dimensions),
    )


def _tests(question: StandInQuestion, row: CheckerTest, person: str = "", sides: tuple[str, ...] = TESTED) -> Filter:
    """Units of a checker's tests, or of that against one person."""
    by = {RATER: person} if person else {}
    return Filter(judgements=({**by, DIMENSION: question.dimension, f"test.{row.run}": sides},))


def _parts(result: AlternativeAnnotator, question: StandInQuestion, picture: Intervals | None) -> list[Part | None]:
    return [
        Text(f"Closeness: {CLOSENESS[question.scored_by]}.{f' {DERIVED_NOTE}' if question.derived_from else ''}"),
        Table(
            f"{question.title}: alternative annotator test, epsilon {result.epsilon:g}",
            [
                Column("Checker", checker_name),
                Column("May stand in", lambda row: MAY[row.passes]),
                Column("Winning rate", lambda row: _defined(row, row.winning_rate), interval=True),
                Column("Advantage probability", lambda row: _defined(row, row.advantage), interval=True),
                Column("People", lambda row: len(row.people)),
                Column("Units", "advantage.n_pairable", items=lambda row: _tests(question, row)),
                Column("More labels to pass", lambda row: labels_to_pass(row.to_pass)),
                Column("People left out", lambda row: len(row.left_out)),
                *(
                    [Column("Labels that nobody gave", "n_strays")]
                    if any(row.n_strays for row in question.checkers)
                    else []
                ),
                Column("Left out", _left_out),
            ],
            question.checkers,
        ),
        picture,
        *(_against_people(question, row) for row in question.checkers if row.people or row.left_out),
        Text(READING.format(result.q)),
    ]


MAY = {None: "undefined", True: "yes", False: "not shown"}


def _defined(row: CheckerTest, figure: Figure) -> Figure:
    """With the reason why the whole test is undefined, where it is."""
    return replace(figure, undefined=row.undefined)


def _left_out(row: CheckerTest) -> str:
    touched = n_of(row.n_labels_touched, "touched labels") if row.n_labels_touched else ""
    return "; ".join(filter(None, (row.advantage.left_out_words, touched)))


def labels_to_pass(needed: ToPass | None) -> str | None:
    """How many more labels would decide an open case, and of how many people."""
    if needed is None:
        return None
    labels = f"{sum(needed.units):,}"
    return f"{labels} of one person" if needed.people == 1 else f"{labels} of {needed.people} people together"


def _against_people(question: StandInQuestion, row: CheckerTest) -> Table:
    def tested(one) -> AgainstPerson | None:
        return one if isinstance(one, AgainstPerson) else None

    def of(name: str):
        return lambda one: getattr(one, name) if tested(one) else None

    def units(*sides: str, few: tuple[str, ...] = ()):
        return lambda one: _tests(question, row, one.id, wanted) if (wanted := sides if tested(one) else few) else None

    return Table(
        f"{question.title}: {checker_name(row)} and each person",
        [
            Column("Person", rater_cell),
            Column("Units", "n_units", items=units(*TESTED, few=("few",))),
            Column("Checker at least as close", of("model_wins"), interval=True),
            Column("Person at least as close", of("person_wins"), interval=True),
            Column("Checker closer", of("n_model_ahead"), items=units("checker")),
            Column("Person closer", of("n_person_ahead"), items=units("person")),
            Column("p", of("p_value")),
            Column("Checker wins", lambda one: MAY[one.rejected] if tested(one) else "undefined: too few units"),
            Column("Units that would decide", of("n_needed")),
            Column("More units", of("n_more")),
        ],
        [*row.people, *row.left_out],
    )


def _picture(result: AlternativeAnnotator, question: StandInQuestion) -> Intervals | None:
    rows = [row for row in question.checkers if not row.undefined]
    if not rows:
        return None
    # Two finished runs of one checker and version are never here: of each checker only the newest is tested.
    n = "; ".join(
        f"{checker_name(row)}: {row.advantage.n_pairable:,} with {n_of(len(row.people), 'people')}" for row in rows
    )
    return Intervals(
        name=picture_name("stand-in", question.dimension),
        title=f"{question.title}: each checker in place of a person",
        caption=(
            f"{result.project}: alternative annotator test with epsilon {result.epsilon:g} over units that a person, "
            f"another person and the checker labelled ({n}). A checker may stand in where it wins against half of the "
            f"people.{lines_are(row.advantage for row in rows)}"
        ),
        alt="; ".join(
            f"{checker_name(row)}: "
            + ", ".join(f"{title.lower()} {getattr(row, name).written(2)}" for name, title in RATES)
            for row in rows
        )
        + ".",
        items=tuple(
            IntervalRow.of_figure(
                checker_name(row),
                getattr(row, name),
                _tests(question, row),
                series=title,
                n=row.advantage.n_pairable,
            )
            for row in rows
            for name, title in RATES
        ),
        values=Axis("Share", 0, 1),
        rows_title="Checker",
        series_title="Figure",
        level=Level(0.5, "half of the people"),
    )


# ---- what the page begins with ----


def _best(question: StandInQuestion) -> CheckerTest:
    """The checker that comes nearest to standing in, of those that could be tested."""
    return max(
        (row for row in question.checkers if not row.undefined),
        key=lambda row: (row.winning_rate.estimate, row.advantage.estimate),
    )


def _rates_of(row: CheckerTest) -> str:
    return (
        f"winning rate {row.winning_rate.written()} over {n_of(len(row.people), 'people')}, average advantage "
        f"probability {row.advantage.written()} (95 % intervals)"
    )


def _may(question: StandInQuestion) -> str:
    best = _best(question)
    others = [checker_name(row) for row in question.checkers if row.passes and row is not best]
    also = f" So may {listed(others)}." if others else ""
    return (
        f"{question.title}: {checker_name(best)} may stand in for a person by the alternative annotator test: "
        f"{_rates_of(best)}.{also}"
    )


def _may_not(question: StandInQuestion) -> str:
    best = _best(question)
    which = checker_name(best) if len(question.checkers) == 1 else f"any checker, the nearest {checker_name(best)},"
    return (
        f"{question.title}: it is not shown that {which} may stand in for a person by the alternative annotator test: "
        f"{_rates_of(best)}, where a winning rate of 0.5 is needed."
    )


RULES = (
    Rule(
        "undefined",
        lambda one: all(row.undefined for row in one.checkers),
        lambda one: f"{one.title}: no checker could be tested: {one.checkers[0].undefined}.",
    ),
    Rule("may stand in", lambda one: any(row.passes for row in one.checkers), _may),
    Rule("not shown", lambda one: True, _may_not),
)

NEXT = (
    Rule(
        "undefined",
        lambda one: all(row.undefined for row in one.checkers),
        lambda one: "have two people or more label the same units without seeing the checker's suggestions",
    ),
    Rule("may stand in", lambda one: any(row.passes for row in one.checkers), lambda one: ""),
    Rule(
        "open",
        lambda one: _best(one).to_pass is not None,
        lambda one: (
            f"collect more labels on {one.title.lower()}, {labels_to_pass(_best(one).to_pass)}: with a difference like "
            f"this one, they would decide whether {checker_name(_best(one))} may stand in"
        ),
    ),
    Rule(
        "worse",
        lambda one: True,
        lambda one: (
            f"try another checker for {one.title.lower()}: more labels would not show that this one may stand in"
        ),
    ),
)


# ---- the paragraph for a paper ----


def methods(result: AlternativeAnnotator) -> str:
    rows = [row for question in result.dimensions for row in question.checkers]
    checkers = list(dict.fromkeys(map(checker_name, rows)))
    by_scale = [question.title.lower() for question in result.dimensions if question.scored_by == "rmse"]
    closeness = "the share of equal labels" + (
        f", and for {listed(by_scale)} the root mean squared difference of places on the scale" if by_scale else ""
    )
    n_strays = sum(row.n_strays for row in rows)
    return sentences(
        f"Whether {listed(checkers, 'or')} could stand in for a person was tested by the alternative annotator test "
        "(Calderon, Reichart and Dror 2025).",
        f"Each person in turn is left out, and both they and the checker are compared with the others by {closeness}.",
        "For each person, a one-sided paired t test, which treats units as independent, asks whether the checker is "
        f"at least as close on more units than they, less epsilon = {result.epsilon:g}; rejections are corrected by "
        f"Benjamini and Yekutieli's procedure at q = {result.q:g}.",
        "The winning rate is the share of people against whom it is rejected; the checker passes at 0.5 or more.",
        f"{n_strays} of the checkers' labels were given by no person and count as disagreement." if n_strays else "",
        f"People with fewer than {result.min_units} units took no part, nor did labels of exchangeable raters"
        + (
            "; labels that the checker's suggestion had touched count too."
            if result.touched
            else " or labels that the checker's suggestion had touched."
        ),
        intervals_in(result),
        *(first_that_applies(RULES, question) for question in result.dimensions),
    )


REPORT = Report(
    "alternative-annotator",
    "May a checker stand in for a person?",
    "analysis.reports.checkers.alternative_annotator.compute",
    (
        Option(
            "epsilon",
            "Discount (epsilon)",
            kind="number",
            default=EPSILON,
            low=0,
            high=1,
            help="for the checker being cheaper: 0.1 where it stands in for crowd workers, 0.15 for skilled "
            "annotators, 0.2 for experts",
            group=STATISTICS,
        ),
        Option("scoring", "Closeness", choices=SCORINGS, default="scale", group=STATISTICS),
        Option("min_units", "Fewest units per person", kind="count", default=MIN_UNITS, low=2, group=STATISTICS),
        TOUCHED,
    ),
    "The alternative annotator test (Calderon, Reichart and Dror 2025). Each person in turn is set against the "
    "checker: who is closer to the other people? The checker wins against a person where it is at least as close to "
    "the others, less the discount epsilon (the paper takes 0.1 for crowd workers, 0.15 for skilled annotators, 0.2 "
    "for experts), against at least half of them. Only labels given before its suggestion was seen count, unless all "
    "are asked for.",
    own_page="project_alternative_annotator",
    tab="project_comparison",
    kind=AlternativeAnnotator,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    needs_run=True,
)
