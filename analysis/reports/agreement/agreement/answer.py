"""What the page on agreement begins with: the coefficient recommended for the design, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.figures.page import Answer, Rule, first_sentence, first_that_applies
from analysis.figures.pictures import Intervals
from analysis.figures.results import Figure
from analysis.reports.agreement.agreement.result import Agreement, QuestionAgreement
from analysis.reports.common import REFERENCES
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import no_interval
from analysis.sources.outline import GROUP

WHOSE = {
    "all": "everyone who labelled",
    "members": "members of the project",
    "imported": "raters of imported files",
}


def whose(result: Agreement) -> str:
    return WHOSE.get(result.raters) or f"raters of {result.raters.removeprefix(GROUP)}"


# Krippendorff (2004), Content Analysis, 2nd edition, page 241: rely on alpha of .800 or more, and draw only tentative
# conclusions from .667 on. He says so of alpha alone.
RELIABLE, TENTATIVE = 0.8, 0.667


@dataclass(frozen=True)
class Recommended:
    """A question's recommended coefficient; `is_alpha` where it is Krippendorff's."""

    question: QuestionAgreement
    title: str
    figure: Figure
    is_alpha: bool

    @property
    def stated(self) -> str:
        return f"{self.title} = {self.figure.written()}"


def recommended(question: QuestionAgreement) -> Recommended:
    """Cohen's kappa where exactly two people labelled the same units, since expected agreement is then taken from the
    habits of these two (Cohen 1960; on a scale with quadratic weights, Cohen 1968). Krippendorff's alpha at the level
    of the scale for any other design: it takes more than two raters, changing ones and missing labels (Hayes and
    Krippendorff 2007). Of sets of labels alpha by MASI, for which parts of a set count (Passonneau 2006)."""
    if question.takes_several:
        masi = next(figure for figure in question.figures if figure.name == "alpha_masi")
        return Recommended(question, "Krippendorff's alpha (MASI)", masi, is_alpha=True)
    pairs = question.pairs
    # All labels are of one pair where it has two for each of its units, and no other label is there.
    if len(pairs) == 1 and question.n_labels == 2 * (pairs[0].n_pairable or 0):
        if pairs[0].quadratic:
            return Recommended(question, "Cohen's kappa (quadratic weights)", pairs[0].quadratic, is_alpha=False)
        return Recommended(question, "Cohen's kappa", pairs[0], is_alpha=False)
    name = f"krippendorff_alpha_{question.level}"
    alpha = next(figure for figure in question.figures if figure.name == name)
    return Recommended(question, f"Krippendorff's alpha ({question.level})", alpha, is_alpha=True)


def _measured(one: Recommended) -> str:
    return (
        f"{one.question.title}: {one.stated}, over {n_of(one.figure.n_pairable or 0, 'units')} with two labels or more"
    )


def _reaches_below(one: Recommended, bound: float) -> str:
    return f"; its interval reaches below {bound:.3f}" if one.figure.low < bound else ""


RULES = (
    Rule(
        "no labels", lambda one: not one.question.n_labels, lambda one: f"{one.question.title}: nobody has labelled it."
    ),
    Rule(
        "undefined",
        lambda one: not one.figure.is_defined,
        lambda one: f"{one.question.title}: {one.title} is undefined: {one.figure.undefined}.",
    ),
    Rule(
        "no interval",
        lambda one: one.figure.low is None,
        lambda one: f"{_measured(one)} ({no_interval(one.figure)}).",
    ),
    Rule(
        "not shown",
        lambda one: one.figure.low <= 0 <= one.figure.high,
        lambda one: f"{_measured(one)}. Agreement beyond chance is not shown: the interval includes zero.",
    ),
    Rule(
        "below chance",
        lambda one: one.figure.high < 0,
        lambda one: f"{_measured(one)}. People agree less often than by chance.",
    ),
    Rule(
        "beyond chance",
        lambda one: not one.is_alpha,
        lambda one: f"{_measured(one)}, labelled by the same two people. They agree beyond chance.",
    ),
    Rule(
        "reliable",
        lambda one: one.figure.estimate >= RELIABLE,
        lambda one: (
            f"{_measured(one)}. It reaches .800, from which Krippendorff (2004) calls data reliable"
            f"{_reaches_below(one, RELIABLE)}."
        ),
    ),
    Rule(
        "tentative",
        lambda one: one.figure.estimate >= TENTATIVE,
        lambda one: (
            f"{_measured(one)}. Between .667 and .800 it allows tentative conclusions only (Krippendorff 2004)"
            f"{_reaches_below(one, TENTATIVE)}."
        ),
    ),
    Rule(
        "unreliable",
        lambda one: True,
        lambda one: (
            f"{_measured(one)}. It is below .667, under which Krippendorff (2004) would not draw even "
            "tentative conclusions."
        ),
    ),
)

NEXT = (
    Rule("no labels", lambda one: not one.question.n_labels, lambda one: f"have {one.question.title.lower()} labelled"),
    Rule(
        "no pair",
        lambda one: not one.question.n_paired,
        lambda one: "let a second person label some of the units that have one label",
    ),
    Rule(
        "not defined",
        lambda one: not one.figure.is_defined,
        lambda one: "label units that are likely to get other labels",
    ),
    Rule(
        "no interval",
        lambda one: one.figure.low is None,
        lambda one: "" if not one.figure.why_no_interval else "label units of more claims or questions",
    ),
    Rule(
        "below the bound",
        lambda one: one.figure.estimate < (RELIABLE if one.is_alpha else 0) or one.figure.low <= 0,
        lambda one: (
            f"read the units where people disagree about {one.question.title.lower()}, and clarify the guidelines for "
            "them"
        ),
    ),
    Rule(
        "uncertain",
        lambda one: one.is_alpha and one.figure.low < RELIABLE,
        lambda one: "plan how many more labels narrow the interval enough (report “How many more labels?”)",
    ),
)


def against_decisions(result: Agreement) -> str:
    found = [question for question in result.told if question.against]
    if not found:
        return ""
    title = REFERENCES[result.reference]
    shares = [
        f"{question.title.lower()}, {question.against.everybody.figures[0].written()} of "
        f"{n_of(question.against.everybody.n, 'labels')}"
        for question in found
    ]
    return f"Labels that equal the decision about their unit ({title[0].lower()}{title[1:]}): {'; '.join(shares)}."


def answer(result: Agreement, picture: Intervals | None) -> Answer:
    asked = [recommended(question) for question in result.told]
    n = (
        f"n = {n_of(result.n_units, 'units')} of {n_of(result.n_items, 'items')}, {n_of(result.n_raters, 'raters')} "
        f"({whose(result)})"
    )
    if result.n_items_without_units:
        n += f"; {n_of(result.n_items_without_units, 'items')} with nothing to judge"
    n = "; ".join([n, *(f"{one.question.title}: {n_of(one.question.n_labels, 'labels')}" for one in asked)])
    sentences = [first_that_applies(RULES, one) for one in asked]
    sentences += filter(None, [against_decisions(result)])
    return Answer(
        sentences=tuple(sentences) or (f"Nobody has labelled any of the {n_of(result.n_units, 'units')} yet.",),
        n=n,
        picture=picture,
        next=first_sentence(NEXT, asked) or ("" if asked else "have some units labelled by two people or more"),
    )
