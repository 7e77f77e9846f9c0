"""What the page on sufficient context begins with: a sentence of each table of rules, and what to do next."""

from __future__ import annotations

from analysis.figures.page import Answer, Rule, all_that_apply, first_that_applies
from analysis.figures.pictures import Intervals
from analysis.figures.results import Figure
from analysis.papers.sufficiency.choices import GROUPS
from analysis.papers.sufficiency.tables import Autorater, Sufficiency
from analysis.reports.words.differences import difference_rules
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import no_interval


def _best_f1(result: Sufficiency) -> Autorater | None:
    known = [row for row in result.autoraters if row.f1.is_defined]
    return max(known, key=lambda row: row.f1.estimate, default=None)


def _correct(result: Sufficiency) -> Figure:
    """Correct answers of all models, whatever the context."""
    return result.systems[0].groups.all.correct


def _difference(result: Sufficiency) -> Figure:
    return result.systems[0].difference.correct


def _gain(result: Sufficiency) -> Figure:
    return result.curves[0].gain


def _by_context(result: Sufficiency) -> str:
    groups = result.systems[0].groups
    correct, hallucinated = (
        " and ".join(getattr(getattr(groups, group), name).written() for group in GROUPS)
        for name in ("correct", "hallucinate")
    )
    return (
        f"With sufficient and with insufficient context, the shares of correct answers are {correct}, and those of "
        f"hallucinated answers {hallucinated}"
    )


CONTEXT_RULES = (
    Rule(
        "nothing decided",
        lambda result: not result.share_sufficient.is_defined,
        lambda result: f"Whether the context suffices is not known: no question is decided by {result.by_title}.",
    ),
    Rule(
        "decided",
        lambda result: True,
        lambda result: (
            f"According to {result.by_title}, the context suffices for a share of {result.share_sufficient.written()} "
            f"of the decided questions{result.share_sufficient.level_noted}."
        ),
    ),
)
AUTORATER_RULES = (
    Rule("nothing to compare", lambda result: _best_f1(result) is None, lambda result: ""),
    Rule(
        "one autorater",
        lambda result: len(result.autoraters) == 1,
        lambda result: (
            f"Against people's labels, the autorater {_best_f1(result).name} has an F1 of "
            f"{_best_f1(result).f1.written()} for sufficient context."
        ),
    ),
    Rule(
        "several autoraters",
        lambda result: True,
        lambda result: (
            f"Of {n_of(len(result.autoraters), 'autoraters')}, the one that agrees best with people is "
            f"{_best_f1(result).name}, with an F1 of {_best_f1(result).f1.written()} for sufficient context."
        ),
    ),
)
MODEL_RULES = (
    Rule("no answers", lambda result: not result.systems, lambda result: ""),
    Rule(
        "nothing graded",
        lambda result: not _correct(result).is_defined,
        lambda result: f"No answer is graded by {result.judge} yet.",
    ),
    Rule(
        "one context",
        lambda result: not _difference(result).is_defined,
        lambda result: (
            f"The share of correct answers is {_correct(result).written()}; answers with sufficient and with "
            "insufficient context cannot be compared, since there are not both."
        ),
    ),
    *difference_rules(_difference, _by_context, " in correct answers"),
)
CURVE_RULES = (
    Rule("no curve", lambda result: not result.curves or not _gain(result).is_defined, lambda result: ""),
    Rule(
        "without interval",
        lambda result: _gain(result).low is None,
        lambda result: (
            f"Withholding answers by {result.score_title} changes mean accuracy by {_gain(result).written()} "
            f"({no_interval(_gain(result))})."
        ),
    ),
    Rule(
        "nothing shown",
        lambda result: not _gain(result).excludes_zero,
        lambda result: (
            f"No gain from withholding answers by {result.score_title} is shown "
            f"({_gain(result).written()} in mean accuracy)."
        ),
    ),
    Rule(
        "gain",
        lambda result: _gain(result).estimate > 0,
        lambda result: f"Withholding answers by {result.score_title} gains {_gain(result).written()} in mean accuracy.",
    ),
    Rule(
        "loss",
        lambda result: True,
        lambda result: (
            f"Withholding answers by {result.score_title} is worse than withholding them at random, by "
            f"{_gain(result).written()} in mean accuracy."
        ),
    ),
)
NEXT = (
    Rule(
        "nothing decided",
        lambda result: not result.share_sufficient.is_defined,
        lambda result: "label whether the context suffices, or choose a run and split by its labels",
    ),
    Rule(
        "no autorater",
        lambda result: not result.autoraters,
        lambda result: "run a checker on this project as an autorater",
    ),
    Rule(
        "no answers",
        lambda result: not result.systems,
        lambda result: "choose the project that grades the answers to these questions, or make one",
    ),
    Rule(
        "nothing graded",
        lambda result: not _correct(result).is_defined,
        lambda result: f"grade answers in {result.grades}, or run a checker there and choose it as the judge",
    ),
    Rule(
        "no curve",
        lambda result: not result.curves,
        lambda result: "run a checker that gives a score to withhold answers by",
    ),
)


def answer_sentences(result: Sufficiency) -> tuple[str, ...]:
    return all_that_apply((CONTEXT_RULES, AUTORATER_RULES, MODEL_RULES, CURVE_RULES), result)


def answer(result: Sufficiency, picture: Intervals | None) -> Answer:
    n = (
        f"n = {n_of(result.n_questions, 'questions')}: {result.n_sufficient:,} with sufficient context, "
        f"{result.n_insufficient:,} with insufficient context, {result.n_undecided:,} undecided"
    )
    if result.systems:
        n += f"; {n_of(_correct(result).n_pairable, 'answers')} graded by {result.judge}"
    return Answer(answer_sentences(result), f"{n}.", picture, first_that_applies(NEXT, result))
