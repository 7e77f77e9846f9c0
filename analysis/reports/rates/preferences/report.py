"""The report on preferences: which systems people prefer, and which cannot be distinguished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Headline, Page, Rule, Section, Text, all_that_apply, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals
from analysis.figures.results import AgainstReference, EffectFigure, Figure, Record
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import REFERENCE, REFERENCES, SetTitles
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import checker_title, listed, sentences
from analysis.sources.outline import Outline
from annotation.task_types import TaskType

TITLES = SetTitles(REFERENCES | {"majority": "All labels of people"})
NAMED = 8  # systems in a sentence
WIDE = 2.0  # of an interval of strengths: one end has seven times the odds of the other
FEW_PEOPLE, FEW_PROMPTS = 3, 20
EXTREME_RATE = 0.9
Ranks = Literal["best", "all", "ends"]  # what answers name: the best output, all in their order, the best and the worst

HEADLINES: Mapping[Ranks, str] = {
    "best": "Chosen output",
    "all": "Order of two outputs",
    "ends": "Order of two outputs",
}

# ---- rows ----


class SystemRow(Record):
    """A system, the strongest first. `best` and `worst` are the places that it may have."""

    system: Annotated[str, Column("System")]
    groups: Annotated[str, Column("Group")]
    best: Annotated[int | None, Column("Place, at best")]
    worst: Annotated[int | None, Column("At worst")]
    strength: Annotated[Figure, Column("Strength")]
    rate: Annotated[Figure, Column("Win rate")]
    n_won: Annotated[int, Column("Won")]
    n_tied: Annotated[int, Column("Tied")]
    n_lost: Annotated[int, Column("Lost")]
    characters: Annotated[float | None, Column("Characters, mean")]


class PairRow(Record):
    """Two systems, the stronger first."""

    system: Annotated[str, Column("System")]
    other: Annotated[str, Column("Against")]
    n_units: Annotated[int, Column("Comparisons", items=lambda row: Filter({f"pair.{row.key}": "yes"}))]
    n_won: Annotated[int, Column("Won")]
    n_tied: Annotated[int, Column("Tied")]
    n_lost: Annotated[int, Column("Lost")]
    apart: Annotated[str, Column("Distinguished")]
    key: str


class ConcordanceRow(Record):
    title: Annotated[str, Column("Rankings of all outputs")]
    figure: Annotated[EffectFigure, Column("Mean")]
    n: Annotated[int, Column("Comparisons")]


class ScoreRow(Record):
    """How often a system's output is the best, less how often it is the worst, as a share of how often it is shown."""

    system: Annotated[str, Column("System")]
    score: Annotated[Figure, Column("Best-worst score")]
    n_best: Annotated[int, Column("Best")]
    n_worst: Annotated[int, Column("Worst")]
    n: Annotated[int, Column("Shown")]


class BiasRow(Record):
    name: str
    title: Annotated[str, Column("Better of two outputs")]
    share: Annotated[Figure, Column("Share of pairs")]
    n: Annotated[int, Column("Pairs")]


class JudgeRow(Record):
    """A checker against people: how often it chooses as they do, and how alike the systems' strengths are. `first` and
    `same` need its choices with the outputs in both orders."""

    checker: Annotated[str, Column("Judge", lambda row: checker_title(row.checker))]
    version: Annotated[str, Column("Version")]
    n: Annotated[int, Column("Comparisons with people")]
    agreement: Annotated[Figure, Column("Chooses as most people")]
    between: Annotated[Figure, Column("A person as most others")]
    tau: Annotated[float | None, Column("Kendall's tau of strengths")]
    same: Annotated[Figure, Column("Same choice in both orders")]
    first: Annotated[Figure, Column("First output, of choices that change")]


class JudgeRankingRow(Record):
    """A checker's rankings of all outputs against people's, next to people's against each other's on the same
    comparisons. `w` is of people and the checker together."""

    checker: Annotated[str, Column("Judge", lambda row: checker_title(row.checker))]
    version: Annotated[str, Column("Version")]
    n: Annotated[int, Column("Comparisons with people")]
    tau: Annotated[EffectFigure, Column("Kendall's tau with a person")]
    between: Annotated[EffectFigure, Column("Of two people")]
    w: Annotated[EffectFigure, Column("Kendall's W with people")]
    w_between: Annotated[EffectFigure, Column("Of people alone")]


class Preferences(AgainstReference):
    n_units: int
    n_answers: int
    n_people: int
    n_prompts: int
    n_choices: int
    left_out: dict[str, int]
    undefined: str
    tie: float | None
    cycles: list[str]
    n_triples: int
    alpha: Figure
    ranks: Ranks
    concordance: list[ConcordanceRow]
    scores: list[ScoreRow]
    systems: list[SystemRow]
    pairs: list[PairRow]
    biases: list[BiasRow]
    judges: list[JudgeRow]
    judge_rankings: list[JudgeRankingRow] = []

    @property
    def has_intervals(self) -> bool:
        return any(row.strength.low is not None for row in self.systems)

    @property
    def first(self) -> list[str]:
        """The strongest system, and those that cannot be distinguished from it."""
        return [row.system for row in self.systems if row.best == 1]


# ---- the page ----

RULES = (
    Rule("nothing", lambda result: not result.n_answers, lambda result: "Nobody has compared outputs yet."),
    Rule(
        "no systems",
        lambda result: not result.systems,
        lambda result: "Systems cannot be ranked: the data set does not say which system made which output.",
    ),
    Rule(
        "undefined",
        lambda result: bool(result.undefined),
        lambda result: f"Systems cannot be ranked: {result.undefined}.",
    ),
    Rule(
        "pending",
        lambda result: not result.has_intervals,
        lambda result: f"By strength: {_named([row.system for row in result.systems])}.",
    ),
    Rule(
        "nothing distinguished",
        lambda result: len(result.first) == len(result.systems),
        lambda result: f"{_named(result.first)} cannot be distinguished: no difference between them is beyond chance.",
    ),
    Rule(
        "one is first",
        lambda result: len(result.first) == 1,
        lambda result: f"{result.first[0]} is preferred to {_others(result)}, beyond chance.",
    ),
    Rule(
        "several are first",
        lambda result: True,
        lambda result: f"{_named(result.first)} come first and cannot be distinguished from the strongest of them.",
    ),
)
AGREEMENT = (
    Rule("no alpha", lambda result: not result.alpha.is_defined, lambda result: ""),
    Rule(
        "alpha",
        lambda result: True,
        lambda result: (
            f"Krippendorff's alpha of {'preferences' if result.ranks == 'best' else 'the order of two outputs'} is "
            f"{result.alpha.written()}{result.alpha.level_noted}."
        ),
    ),
)


def _others(result: Preferences) -> str:
    others = [row.system for row in result.systems if row.system not in result.first]
    return others[0] if len(others) == 1 else f"each of the {len(others)} others"


def _named(systems: list[str]) -> str:
    shown = systems[:NAMED]
    return listed(shown if len(systems) <= NAMED else [*shown, f"{len(systems) - NAMED} more"])


def page(result: Preferences) -> Page:
    return Page(
        answer=Answer(
            sentences=all_that_apply((RULES, AGREEMENT), result),
            n=f"{_sizes(result)}; {result.reference_title.lower()}.",
            picture=_picture(result),
            next=first_that_applies(NEXT, result),
            headlines=(Headline(HEADLINES[result.ranks], "Krippendorff's alpha", result.alpha),),
        ),
        sections=[
            Section(
                "Systems",
                [
                    Table("Systems by strength", columns_of(SystemRow), result.systems),
                    Text(STRENGTHS),
                    _why_wide(result),
                ],
            ),
            Section("Two by two", [Table("Systems two by two", columns_of(PairRow), result.pairs), _cycles(result)]),
            *_of_rankings(result),
            Section("Position and length", [Table("Position and length", columns_of(BiasRow), result.biases)]),
            Section(
                "Judges",
                [
                    Table("Judges against people", columns_of(JudgeRow), result.judges),
                    Table("Judges' rankings against people's", columns_of(JudgeRankingRow), result.judge_rankings),
                ],
            ),
        ],
        notes=[_left_out(result)] if result.left_out else [],
    )


def _of_rankings(result: Preferences) -> list[Section]:
    """Of task types that rank outputs."""
    sections = []
    if result.scores:
        table = Table("Best-worst scores", columns_of(ScoreRow), result.scores)
        sections.append(Section("Best-worst scores", [table, Text(SCORES)]))
    if result.concordance:
        table = Table("Agreement on rankings", columns_of(ConcordanceRow), result.concordance)
        sections.append(Section("Agreement on rankings", [table, Text(CONCORDANCE)]))
    return sections


def _why_wide(result: Preferences) -> Text | None:
    """What makes intervals of strengths wide, where one is."""
    wide = [row for row in result.systems if _width(row.strength) > WIDE]
    reasons = []
    if 1 < result.n_people <= FEW_PEOPLE:
        reasons.append(f"how far people differ is estimated from {result.n_people} people")
    if result.n_prompts < FEW_PROMPTS:
        reasons.append(f"only {n_of(result.n_prompts, 'prompts')}")
    if systems := [row.system for row in wide if _is_extreme(row)]:
        reasons.append(f"{_named(systems)} won or lost nearly all choices, and such odds rest on the few others")
    return Text(f"What makes intervals wide here: {'; '.join(reasons)}.") if wide and reasons else None


def _width(strength: Figure) -> float:
    return 0.0 if strength.low is None or strength.high is None else strength.high - strength.low


def _is_extreme(row: SystemRow) -> bool:
    return row.rate.estimate is not None and not 1 - EXTREME_RATE <= row.rate.estimate <= EXTREME_RATE


SCORES = (
    "A score is how often the output of a system is the best, less how often it is the worst, as a share of how often "
    "it is shown: from -1 to 1."
)
CONCORDANCE = "By chance tau is 0, and W is 1 divided by the number of people who ranked the outputs."
STRENGTHS = (
    "A strength is the log of odds: a system wins against one that is 0.7 below it twice as often as it loses. Systems "
    "that share a letter cannot be distinguished."
)
NEXT = (
    Rule(
        "distinguish",
        lambda result: result.has_intervals and 1 < len(result.first) <= NAMED,
        lambda result: f"compare {listed(result.first)} on more prompts",
    ),
)


def _sizes(result: Preferences) -> str:
    return ", ".join(
        [
            n_of(result.n_answers, "answers"),
            n_of(result.n_units, "comparisons"),
            n_of(result.n_prompts, "prompts"),
            n_of(result.n_people, "people"),
        ]
    )


def _left_out(result: Preferences) -> str:
    return f"Not counted in strengths: {'; '.join(n_of(n, why) for why, n in result.left_out.items())}."


def _cycles(result: Preferences) -> Text | None:
    if not result.n_triples:
        return None
    n = len(result.cycles)
    shown = f": {'; '.join(result.cycles[:NAMED])}{' …' if n > NAMED else ''}" if n else ""
    return Text(
        f"Preferences go in a circle in {n:,} of {n_of(result.n_triples, 'triples of systems')} that were all "
        f"compared{shown}."
    )


def _picture(result: Preferences) -> Intervals | None:
    if result.undefined or not result.systems:
        return None
    return Intervals(
        name="strengths",
        title="Strength of systems",
        caption=f"{result.project}: {_sizes(result)}. Lines are 95 % intervals over prompts and people.",
        alt="; ".join(f"{row.system}: {row.strength.written()}" for row in result.systems) + ".",
        items=tuple(
            IntervalRow.of_figure(row.system, row.strength, n=row.n_won + row.n_tied + row.n_lost)
            for row in result.systems
        ),
        values=Axis("Strength (log odds)"),
        rows_title="System",
    )


# ---- methods, and the report ----


COUNTS: Mapping[Ranks, str] = {
    "best": "The best of several outputs counts as preferred to each of the others; two outputs that are both bad tie.",
    "all": "A ranking counts as a choice between each two of its outputs, which estimates the strengths of "
    "Plackett and Luce's model.",
    "ends": "The best of several outputs counts as preferred to each of the others, and each of these to the worst.",
}
OF_PAIRS = "the order of two outputs, at the interval level"
ALPHA_OF: Mapping[Ranks, str] = {"best": "the chosen output", "all": OF_PAIRS, "ends": OF_PAIRS}


def methods(result: Preferences) -> str:
    return sentences(
        f"Strengths of systems are those of Bradley and Terry (1952), with ties as by Davidson (1970), by maximum "
        f"likelihood from {n_of(result.n_choices, 'choices')} between two systems ({_sizes(result)}; "
        f"{result.reference_title.lower()}).",
        COUNTS[result.ranks],
        "Intervals (95 %) of strengths and win rates are of 1,000 bootstrap resamples of prompts and as many of "
        "people, whose variances are added, that between people pooled over systems, with Student's t and "
        "Satterthwaite's degrees of freedom.",
        "Two systems are distinguished where their difference exceeds what the largest of all differences reaches by "
        "chance in 5 % of cases.",
        f"Agreement is Krippendorff's alpha of {ALPHA_OF[result.ranks]}: {result.alpha.written()}."
        if result.alpha.is_defined
        else "",
        *(
            f"{row.title} is {row.figure.written()}, the mean over {n_of(row.n, 'comparisons')} with an interval "
            "clustered by prompt."
            for row in result.concordance
            if row.figure.is_defined
        ),
        "Best-worst scores have intervals clustered by prompt and person." if result.scores else "",
    )


def references_here(source: Outline) -> dict[str, str]:
    return {name: TITLES[name] for name in source.references()}


def refuses(kind: TaskType) -> str:
    if kind.comparing is not None:
        return ""
    return f"Preferences need outputs side by side; {kind.title!r} judges something else"


REPORT = Report(
    "preferences",
    "Preferences",
    "analysis.reports.rates.preferences.compute",
    (replace(REFERENCE, choices=references_here, known=TITLES),),
    "Which systems people prefer, how surely, and whether judges prefer the same.",
    kind=Preferences,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)
