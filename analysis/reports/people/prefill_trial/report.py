"""The report on a trial of suggestions: what seeing them does."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from analysis.figures.items import DIMENSION, JUDGEMENTS, RATER, Filter
from analysis.figures.page import Answer, Counts, Page, Part, Rule, Section, first_sentence, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Level, picture_name
from analysis.figures.results import PENDING, AgainstReference, EffectFigure, Figure, Record, ReportedQuestion
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import A_RUN_OR_NONE, REFERENCES, SetTitles
from analysis.reports.labels.raters import RaterRow
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, left_out, n_of
from analysis.reports.words.sentences import checker_name, checker_title, clusters_of, defined_clusters, sentences
from analysis.sources.outline import RULE_SET, Outline

# ---- rows ----

STRATA = ("all", "right", "wrong")  # suggestions of any kind, right ones, wrong ones


class AgreementStratum(Record):
    """Labels with the suggestion in view (`seen`) and without, and the shares and the odds that equal it."""

    stratum: str
    n_seen: int
    n_seen_agree: int
    seen: EffectFigure
    n_unseen: int
    n_unseen_agree: int
    unseen: EffectFigure
    difference: EffectFigure
    within: EffectFigure
    odds_ratio: EffectFigure
    marginal: EffectFigure


class AlphaStratum(Record):
    """Alpha of labels on either side, over so many units with a pair of them."""

    stratum: str
    level: str
    seen: EffectFigure | None = None
    unseen: EffectFigure | None = None
    n_seen: int = 0
    n_unseen: int = 0
    difference: EffectFigure


class TimeStratum(Record):
    stratum: Annotated[str, Column("Suggestions")]
    n_seen: Annotated[int, Column("Answers, seen")]
    seen: Annotated[EffectFigure, Column("Seconds, seen")]
    n_unseen: Annotated[int, Column("Answers, not seen")]
    unseen: Annotated[EffectFigure, Column("Seconds, not seen")]
    ratio: Annotated[EffectFigure, Column("Ratio")]
    within: Annotated[EffectFigure, Column("Ratio within annotators"), Column("p", "ratio.p_value")]


class AnswerTimes(Record):
    strata: list[TimeStratum]
    n_revised: int
    n_untimed: int


class RevisedLabels(Record):
    """Labels given before the suggestion was shown, and what became of them."""

    n: int
    n_changed: int
    n_to_suggestion: int
    strata: list[AgreementStratum]
    contrast: EffectFigure


class PersonFollowing(RaterRow):
    """One person's labels with the suggestion in view and without, and the shares that equal it."""

    n_seen: Annotated[int, Column("Labels, seen")]
    seen: Annotated[Figure, Column("Share equal, seen")]
    n_unseen: Annotated[int, Column("Labels, not seen")]
    unseen: Annotated[Figure, Column("Share equal, not seen")]


class TrialQuestion(ReportedQuestion):
    """`contrast` is the effect on right suggestions minus that on wrong ones."""

    level: str
    n_without_suggestion: int
    n_without_reference: int
    strata: list[AgreementStratum]
    contrast: EffectFigure
    alpha: list[AlphaStratum]
    people: list[PersonFollowing]
    revised: RevisedLabels | None


class PrefillTrial(AgainstReference):
    run: str
    checker: str
    version: str
    n_units: int
    n_people: int
    n_labels_of_slots: int
    n_seen: int
    n_unseen: int
    n_unknown: int
    n_other_run: int
    time: AnswerTimes
    dimensions: list[TrialQuestion]
    notes: list[str]


# ---- the page ----

OTHERS = "others"
# What says whether a suggestion is right. It must not have been touched by it.
TITLES = SetTitles(
    {
        "imported": REFERENCES["imported"],
        OTHERS: "Majority of other people's answers without a suggestion",
        "adjudicated": REFERENCES["adjudicated"],
    }
)
# Why first answers cannot be compared, and what to do then.
NOBODY_SAW = "nobody answered with the suggestion in view"
EVERYBODY_SAW = "everybody answered with the suggestion in view"
WHAT_TO_DO = {
    NOBODY_SAW: "choose a run whose suggestions people saw, or run a trial, which shows its suggestions on some of the "
    "answers to come",
    EVERYBODY_SAW: "run a trial, which withholds suggestions on some of the answers to come",
}
SETTING = "“Suggestions of checkers” in the project's settings"
NO_ANSWERS = "there are no such answers"
BOTH_KINDS = f"have people answer, some with suggestions and some without ({SETTING})"
OTHER_RUN = "choose a run that has suggestions about the items that people answered"
MORE_PEOPLE = "have more people answer, each both with and without suggestions"
DECIDE = "adjudicate or import decisions and choose them as the reference"
NO_OUTSIDE = "what is right is inferred from the labels that are compared; choose decisions as the reference"
SIDES = {"seen": "with the suggestion in view", "unseen": "without a suggestion"}
# Columns of the judgements: how a label that has a suggestion was counted.
COLUMNS = {
    "side": ("First answer", SIDES),
    "right": ("Suggestion", {"right": "right", "wrong": "wrong"}),
    "agrees": ("Against the suggestion", {"yes": "equal to it", "no": "different from it"}),
    "revised": (
        "First answer that could be revised",
        {"kept": "kept", "followed": "changed to the suggestion", "changed": "changed to another label"},
    ),
}
ANY, CHANGED = ("kept", "followed", "changed"), ("followed", "changed")  # of `revised`
WAYS = "Intervals are clustered by annotator and by claim or question."


def references_of_trial(source: Outline) -> dict[str, str]:
    known = {OTHERS, *source.references()}
    rules = [name for name in source.references() if name.startswith(RULE_SET)]
    return {name: TITLES[name] for name in (*(name for name in TITLES if name in known), *rules)}


def page(result: PrefillTrial) -> Page:
    pictures = {question.dimension: _picture(result, question) for question in result.dimensions}
    sections = [section for question in result.dimensions for section in _sections(question, pictures)]
    sections += [Section("Time of an answer", [_times(result)]), Section("Answers compared", [_answers(result)])]
    return Page(
        answer=_answer(result, next(filter(None, pictures.values()), None)),
        sections=sections,
        notes=result.notes,
    )


def _sections(question: TrialQuestion, pictures: dict[str, Intervals | None]) -> list[Section]:
    title, sections = question.title, []
    if _has_labels(question):
        parts = [_shares(question), pictures[question.dimension], _contrast(question), _odds(question)]
        sections += [Section(title, parts), Section(f"{title}: each person", [_people(question)])]
        sections.append(Section(f"{title}: agreement between people", [_alpha(question)]))
    if question.revised:
        sections.append(Section(f"{title}: answers that could be revised", _revised(question, question.revised)))
    return sections


def _has_labels(question: TrialQuestion) -> bool:
    return bool(question.strata[0].n_seen or question.strata[0].n_unseen)


# ---- items behind figures ----


def _labels(question: TrialQuestion, stratum: str, **conditions: str | tuple[str, ...]) -> Filter:
    """Labels to suggestions of a stratum that were counted in this way."""
    right = {} if stratum == "all" else {"right": stratum}
    return Filter(judgements=({DIMENSION: question.dimension, **conditions, **right},))


def _counted(title: str, question: TrialQuestion, name: str, **conditions: str) -> Column:
    """A column of numbers of labels."""
    return Column(
        title,
        lambda row: getattr(row, name),
        items=lambda row: _labels(question, row.stratum, **conditions),
        counts=JUDGEMENTS,
    )


def _paired(question: TrialQuestion, side: str):
    return lambda row: Filter({f"{question.dimension}.paired.{row.stratum}.{side}": "yes"})


# ---- tables ----


def _shares(question: TrialQuestion) -> Table:
    left, unknown = question.n_without_suggestion, question.n_without_reference
    contrast = question.contrast.undefined
    return Table(
        f"{question.title}: labels that equal the suggestion",
        [
            Column("Suggestions", "stratum"),
            _counted("Labels, seen", question, "n_seen", side="seen"),
            _counted("Agree, seen", question, "n_seen_agree", side="seen", agrees="yes"),
            Column("Share, seen", "seen", interval=True),
            _counted("Labels, not seen", question, "n_unseen", side="unseen"),
            _counted("Agree, not seen", question, "n_unseen_agree", side="unseen", agrees="yes"),
            Column("Share, not seen", "unseen", interval=True),
            Column("Difference", "difference", interval=True),
            Column("Within annotators", "within", interval=True),
            Column("p", "difference.p_value"),
        ],
        [row for row in question.strata if row.n_seen or row.n_unseen],
        sentences(
            WAYS,
            left_out(left, "labels of units without a suggestion"),
            f"For {n_of(unknown, 'labels')} it is not known whether the suggestion is right; "
            f"{either(unknown, 'it counts', 'they count')} only in 'all'."
            if unknown
            else "",
            f"The difference of right and wrong suggestions is undefined: {contrast}. To have it, {_to_have(contrast)}."
            if contrast not in ("", PENDING)
            else "",
        ),
    )


def _to_have(undefined: str) -> str:
    """What to do for an effect that is undefined for this reason."""
    known = next((do for why, do in WHAT_TO_DO.items() if undefined.endswith(why)), "")
    return known or (DECIDE if undefined.endswith(NO_ANSWERS) else MORE_PEOPLE)


def _contrast(question: TrialQuestion) -> Table:
    return Table(
        f"{question.title}: effect on right suggestions minus effect on wrong ones",
        [
            Column("Suggestions", lambda row: "right minus wrong"),
            Column("Difference", lambda row: row, interval=True),
            Column("p", "p_value"),
        ],
        [question.contrast] if question.contrast.is_defined else [],
    )


def _odds(question: TrialQuestion) -> Table:
    return Table(
        f"{question.title}: logistic regression",
        [
            Column("Suggestions", "stratum"),
            Column("Odds ratio", "odds_ratio", interval=True),
            Column("Average marginal effect", "marginal", interval=True),
            Column("p", "odds_ratio.p_value"),
        ],
        [row for row in question.strata if row.n_seen and row.n_unseen and row.odds_ratio.undefined != PENDING],
    )


def _people(question: TrialQuestion) -> Table:
    def labels(side: str):
        return lambda row: Filter(judgements=({DIMENSION: question.dimension, RATER: row.id, "side": side},))

    return Table(
        f"{question.title}: labels of each person that equal the suggestion",
        columns_of(PersonFollowing, n_seen=labels("seen"), n_unseen=labels("unseen")),
        question.people,
        "Who equals the suggestion most often with it in view comes first. Who takes over whatever is suggested has a "
        "high share with it and a lower one without it. Wilson's 95 % intervals.",
    )


def _alpha(question: TrialQuestion) -> Table:
    def on(side: str) -> tuple[Column, Column]:
        of = side.replace("unseen", "not seen")
        return (
            Column(f"Units, {of}", lambda row: getattr(row, f"n_{side}"), items=_paired(question, side)),
            Column(f"Alpha, {of}", lambda row: getattr(row, side), interval=True),
        )

    def is_known(row: AlphaStratum) -> bool:
        return bool(row.n_seen or row.n_unseen)

    inside = any(row.difference.undefined == NO_OUTSIDE for row in question.alpha)
    return Table(
        f"{question.title}: Krippendorff's alpha ({question.alpha[0].level})",
        [
            Column("Suggestions", "stratum"),
            *on("seen"),
            *on("unseen"),
            Column("Difference", "difference", interval=True),
            Column("p", "difference.p_value"),
        ],
        [row for row in question.alpha if is_known(row)],
        sentences(
            "Suggestions that everybody follows raise alpha, whether they are right or wrong.",
            f"For right and wrong suggestions apart it is undefined: {NO_OUTSIDE}." if inside else "",
        ),
    )


def _revised(question: TrialQuestion, revised: RevisedLabels) -> list[Part]:
    followed = revised.n_to_suggestion
    return [
        Counts(
            [
                ("Labels given before the suggestion was shown", revised.n, _labels(question, "all", revised=ANY)),
                ("changed", revised.n_changed, _labels(question, "all", revised=CHANGED)),
                ("changed to the suggestion", followed, _labels(question, "all", revised="followed")),
            ]
        ),
        Table(
            f"{question.title}: first answers and what became of them once the suggestion was shown",
            [
                Column("Suggestions", "stratum"),
                _counted("Labels", question, "n_seen", revised=ANY),
                Column("Agree at first", "unseen", interval=True),
                Column("Agree in the end", "seen", interval=True),
                Column("Difference", "difference", interval=True),
            ],
            [row for row in revised.strata if row.n_seen],
        ),
    ]


def _times(result: PrefillTrial) -> Table:
    time = result.time
    return Table(
        "Time of an answer",
        columns_of(TimeStratum),
        [row for row in time.strata if row.n_seen or row.n_unseen],
        f"Active time, geometric means. {n_of(time.n_revised, 'answers')} that were revised and {time.n_untimed:,} "
        "without a time are left out. An item's suggestions are right where all are and wrong where any is.",
    )


def _answers(result: PrefillTrial) -> Counts:
    return Counts(
        [
            ("First answers with the suggestion in view", result.n_seen, None),
            ("First answers without a suggestion", result.n_unseen, None),
            ("Left out: not known whether one was seen", result.n_unknown, None),
            ("Left out: another run's suggestion was seen", result.n_other_run, None),
            ("Left out: labels by exchangeable raters", result.n_labels_of_slots, None),
            ("People", result.n_people, None),
        ]
    )


# ---- picture ----


def _picture(result: PrefillTrial, question: TrialQuestion) -> Intervals | None:
    rows = [row for row in question.strata if row.n_seen or row.n_unseen]
    items = [
        IntervalRow.of_figure(
            f"{row.stratum} suggestions",
            effect,
            _labels(question, row.stratum, side=tuple(SIDES)),
            series=words,
            n=row.n_seen + row.n_unseen,
        )
        for row in rows
        for words, effect in (("between answers", row.difference), ("within annotators", row.within))
    ]
    if all(item.value is None for item in items):
        return None
    return Intervals(
        name=picture_name("prefill", question.dimension),
        title=f"{question.title}: effect of seeing the suggestion on agreeing with it",
        caption=(
            f"Share of labels that equal the suggestion of {checker_title(result.checker)}, with it in view minus "
            f"without, in {result.project}. {n_of(result.n_seen, 'answers')} with and {result.n_unseen:,} without; "
            f"right by: {result.reference_title.lower()}. 95 % intervals clustered by annotator and by "
            "claim or question."
        ),
        alt="; ".join(
            f"{item.row}, {item.series}: {'undefined' if item.value is None else f'{item.value:.3f}'}" for item in items
        ),
        items=tuple(items),
        values=Axis("Difference of shares"),
        rows_title="Suggestions",
        series_title="Comparison",
        level=Level(0, "no effect"),
    )


# ---- what the page begins with ----


def _stratum(question: TrialQuestion, name: str) -> AgreementStratum:
    return next(row for row in question.strata if row.stratum == name)


def _both(question: TrialQuestion) -> str:
    stratum = question.strata[0]
    return (
        f"{question.title}: a share of {stratum.seen.written()} of the labels equals the suggestion with it in view, "
        f"and {stratum.unseen.written()} without it"
    )


def _shown(figure: EffectFigure) -> bool:
    return figure.low is not None and not figure.low <= 0 <= figure.high


def _effect(question: TrialQuestion) -> str:
    difference = question.strata[0].difference
    more = "more" if difference.estimate > 0 else "less"
    return (
        f"{_both(question)}: people give the suggested label {more} often when they see it, by {difference.written()} "
        "(95 % intervals)."
    )


RULES = (
    Rule(
        "no labels",
        lambda one: not _has_labels(one),
        lambda one: (
            f"{one.title}: no first answer has a suggestion to be compared with"
            + (
                f", since the run has none for the units of {n_of(one.n_without_suggestion, 'labels')}."
                if one.n_without_suggestion
                else "."
            )
        ),
    ),
    Rule(
        "first pass",
        lambda one: one.strata[0].difference.undefined == PENDING,
        lambda one: f"{_both(one)}.",
    ),
    Rule(
        "undefined",
        lambda one: not one.strata[0].difference.is_defined,
        lambda one: (
            f"{one.title}: the effect of seeing suggestions cannot be estimated: {one.strata[0].difference.undefined}."
        ),
    ),
    Rule(
        "no interval",
        lambda one: one.strata[0].difference.low is None,
        lambda one: (
            f"{_both(one)}, a difference of {one.strata[0].difference.written()} without an interval: "
            f"{one.strata[0].difference.why_no_interval}."
        ),
    ),
    Rule("effect", lambda one: _shown(one.strata[0].difference), _effect),
    Rule(
        "not shown",
        lambda one: True,
        lambda one: (
            f"{_both(one)}: an effect of seeing it is not shown (difference {one.strata[0].difference.written()}, "
            "95 % intervals)."
        ),
    ),
)

# Whether people take over what is wrong.
WRONG = (
    Rule("unknown", lambda one: _stratum(one, "wrong").difference.low is None, lambda one: ""),
    Rule(
        "followed",
        lambda one: _stratum(one, "wrong").difference.low > 0,
        lambda one: (
            f"Wrong suggestions are adopted: the difference is {_stratum(one, 'wrong').difference.written()} for them."
        ),
    ),
    Rule(
        "avoided",
        lambda one: _stratum(one, "wrong").difference.high < 0,
        lambda one: (
            f"Wrong suggestions are given less often when seen: the difference is "
            f"{_stratum(one, 'wrong').difference.written()} for them."
        ),
    ),
    Rule(
        "not shown",
        lambda one: True,
        lambda one: (
            "It is not shown that wrong suggestions are adopted (difference "
            f"{_stratum(one, 'wrong').difference.written()})."
        ),
    ),
)

NEXT = (
    Rule(
        "no labels",
        lambda one: not _has_labels(one),
        lambda one: OTHER_RUN if one.n_without_suggestion else BOTH_KINDS,
    ),
    Rule("first pass", lambda one: one.strata[0].difference.undefined == PENDING, lambda one: ""),
    Rule(
        "one side",
        lambda one: one.strata[0].difference.undefined in WHAT_TO_DO,
        lambda one: f"{WHAT_TO_DO[one.strata[0].difference.undefined]} ({SETTING})",
    ),
    Rule(
        "right unknown",
        lambda one: not any(_stratum(one, name).difference.is_defined for name in ("right", "wrong")),
        lambda one: f"adjudicate or import decisions on {one.title.lower()}, to tell right suggestions from wrong ones",
    ),
    Rule(
        "no interval",
        lambda one: one.strata[0].difference.low is None,
        lambda one: MORE_PEOPLE,
    ),
    Rule(
        "wrong ones are followed",
        lambda one: (_stratum(one, "wrong").difference.low or 0) > 0,
        lambda one: (
            f"read the labels of {one.title.lower()} that equal a wrong suggestion, and judge this checker by labels "
            "given without its suggestions"
        ),
    ),
)


def _says(question: TrialQuestion) -> str:
    return sentences(first_that_applies(RULES, question), first_that_applies(WRONG, question))


def _answer(result: PrefillTrial, picture: Intervals | None) -> Answer:
    return Answer(
        sentences=tuple(map(_says, result.dimensions)),
        n=(
            f"n = {n_of(result.n_seen, 'first answers')} with a suggestion of {checker_name(result)} in view and "
            f"{result.n_unseen:,} without, by {n_of(result.n_people, 'people')}; right by: "
            f"{result.reference_title.lower()}"
        ),
        picture=picture,
        next=first_sentence(NEXT, result.dimensions),
    )


# ---- the paragraph for a paper ----


def methods(result: PrefillTrial) -> str:
    levels = {question.title.lower(): question.alpha[0].level for question in result.dimensions}
    return sentences(
        f"First answers given with a suggestion of {checker_name(result)} in view ({result.n_seen}) were compared with "
        f"first answers given without one ({result.n_unseen}), by {n_of(result.n_people, 'people')}.",
        f"A suggestion counted as right where it equals the reference ({result.reference_title.lower()}).",
        "Effects on the chance of a label that equals the suggestion are coefficients of linear probability models, "
        "alone and within annotators, and odds ratios with average marginal effects of logistic regressions; effects "
        "on time are ratios from regressions of log active seconds.",
        f"Standard errors are clustered in two ways, by annotator and by {clusters_of(result)[0]} (Cameron, Gelbach "
        "and Miller 2011), with 95 % intervals of Student's t with one degree of freedom less than the smaller number "
        "of clusters, and so are those of the shares and the geometric mean times on either side.",
        f"Krippendorff's alpha ({'; '.join(f'{title}, {level}' for title, level in levels.items())}) and its "
        "differences have jackknife intervals clustered the same way.",
        f"{n_of(result.n_unknown, 'answers')} for which it is unknown whether a suggestion was seen, and "
        f"{result.n_other_run} given with another run's suggestion in view, were left out.",
        *map(_says, result.dimensions),
        defined_clusters(result),
    )


REPORT = Report(
    "prefill-trial",
    "Effect of seeing a suggestion",
    "analysis.reports.people.prefill_trial.compute",
    (
        replace(A_RUN_OR_NONE, unchosen="the one that people saw most"),
        Option("reference", "Right by", choices=references_of_trial, known=TITLES),
    ),
    "Answers given with a checker's suggestion in view compared with those given without: how often they equal it "
    "(whether it is right or wrong), how long they took, and how far people agree.",
    kind=PrefillTrial,
    needs_raters="labels by annotators with and without suggestions",
    declares=page,
    paragraph=methods,
    quick=True,
)
