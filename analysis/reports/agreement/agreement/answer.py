"""What the page on agreement begins with: the coefficient recommended for the design, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.figures.page import Answer, Headline, Rule, first_sentence, first_that_applies
from analysis.figures.pictures import Intervals
from analysis.figures.results import Figure
from analysis.reports.agreement.agreement.result import TOLERANCE, Agreement, QuestionAgreement
from analysis.reports.common import REFERENCES
from analysis.reports.words.numbers import n_of, p_words
from analysis.reports.words.sentences import listed, no_interval, note_on_further, sentences
from analysis.sources.outline import GROUP
from annotation.task_types.base import MANY_LABELS

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
ALPHA = 0.05  # of the test against chance


@dataclass(frozen=True)
class Recommended:
    """A question's recommended coefficient; `is_alpha` where it is Krippendorff's."""

    question: QuestionAgreement
    title: str
    figure: Figure
    is_alpha: bool

    @property
    def alpha(self) -> Figure:
        """Krippendorff's, at the level of the scale."""
        if self.is_alpha:
            return self.figure
        return alpha_of(self.question)

    @property
    def stated(self) -> str:
        return f"{self.title} = {self.figure.written()}"


def alpha_of(question: QuestionAgreement) -> Figure:
    return next(figure for figure in question.figures if figure.name == f"krippendorff_alpha_{question.level}")


def is_pending(figure: Figure) -> bool:
    return figure.low is None and not figure.why_no_interval


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
    return Recommended(question, f"Krippendorff's alpha ({question.level})", alpha_of(question), is_alpha=True)


def _measured(one: Recommended) -> str:
    n = n_of(one.figure.n_pairable or 0, "units")
    people = "" if one.is_alpha else ", labelled by the same two people"
    interval = "" if one.figure.low is not None else f" ({no_interval(one.figure)})"
    caution = f". Caution: the interval {one.figure.note}" if one.figure.low is not None and one.figure.note else ""
    return f"{one.question.title}: {one.stated}, over {n} with two labels or more{people}{interval}{caution}."


def _without_order(one: Recommended) -> str:
    """On a scale, the nominal alpha as well: papers that state one figure often state that."""
    if one.question.level == "nominal" or len(one.question.labels) > MANY_LABELS:
        return ""
    found = [figure for figure in one.question.figures if figure.name == "krippendorff_alpha_nominal"]
    return "".join(
        f"Without the order of the labels, alpha (nominal) is {figure.estimate:.3f}."
        for figure in found
        if figure.is_defined
    )


def agrees_beyond_chance(one: Recommended) -> bool | None:
    """The one rule of whether people agree beyond chance: the permutation test of alpha, at 0.05. Where that is not
    made, as of numbers, the interval decides; None where there is neither."""
    if one.question.chance.p_value is not None:
        return one.question.chance.p_value <= ALPHA
    return None if one.figure.low is None else one.figure.low > 0


def _beyond_chance(one: Recommended) -> str:
    agrees, chance = agrees_beyond_chance(one), one.question.chance
    if agrees is None:
        return ""
    ends = "lies above" if agrees else "does not lie above"
    by = f"the interval {ends} zero" if chance.p_value is None else f"permutation test, {p_words(chance.p_value)}"
    below = " In these labels they agree less often than by chance." if (one.figure.high or 0) < 0 else ""
    return f"They agree beyond chance ({by})." if agrees else f"Agreement beyond chance is not shown ({by}).{below}"


def _strength(one: Recommended) -> str:
    """Alpha against Krippendorff's bounds, whichever coefficient fits the design. Where its interval includes a bound,
    no side of it is shown, so that one missing label, or a third decimal, changes no word."""
    alpha = one.alpha
    if not alpha.is_defined:
        return ""
    low, included = _bounds(alpha)
    if included:
        of_alpha = "Its interval" if one.is_alpha else f"Krippendorff's alpha is {alpha.written()}; its interval"
        return (
            f"{of_alpha} includes {listed(included)}: Krippendorff (2004) calls data reliable from .800 on, and "
            "draws no conclusions below .667."
        )
    it = "Alpha" if one.is_alpha else f"Krippendorff's alpha is {alpha.written()}, which"
    if low >= RELIABLE:
        return f"{it} reaches .800, from which Krippendorff (2004) calls data reliable."
    if low >= TENTATIVE:
        return f"{it} lies between .667 and .800 and allows tentative conclusions only (Krippendorff 2004)."
    return f"{it} is below .667, under which Krippendorff (2004) would not draw even tentative conclusions."


def _bounds(alpha: Figure) -> tuple[float, list[str]]:
    """The lower end of alpha's interval, and Krippendorff's bounds inside the interval."""
    low, high = (alpha.estimate, alpha.estimate) if alpha.low is None else (alpha.low, alpha.high)
    return low, [f"{bound:.3f}".removeprefix("0") for bound in (TENTATIVE, RELIABLE) if low < bound <= high]


def word_of(one: Recommended) -> str:
    """`_strength` in a few words."""
    if not one.alpha.is_defined or is_pending(one.figure):
        return ""
    low, included = _bounds(one.alpha)
    of_alpha = "" if one.is_alpha else f"alpha {one.alpha.estimate:.3f}: "
    if included:
        return f"{of_alpha}undecided, the interval includes {listed(included)}"
    return of_alpha + (
        "reliable, .800 or more" if low >= RELIABLE else "tentative, .667 to .800" if low >= TENTATIVE else "below .667"
    )


RULES = (
    Rule(
        "no labels", lambda one: not one.question.n_labels, lambda one: f"{one.question.title}: nobody has labelled it."
    ),
    Rule(
        "undefined",
        lambda one: not one.figure.is_defined,
        lambda one: f"{one.question.title}: {one.title} is undefined: {one.figure.undefined}.",
    ),
    Rule("first pass", lambda one: is_pending(one.figure), _measured),
    Rule(
        "measured",
        lambda one: True,
        lambda one: sentences(_measured(one), _without_order(one), _beyond_chance(one), _strength(one)),
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
        lambda one: (one.alpha.estimate or 0) < RELIABLE or not agrees_beyond_chance(one),
        lambda one: (
            f"read the units where people disagree about {one.question.title.lower()}, and clarify the guidelines for "
            "them"
        ),
    ),
    Rule(
        "uncertain",
        lambda one: one.alpha.low is not None and one.alpha.low < RELIABLE,
        lambda one: "plan how many more labels narrow the interval enough (report “How many more labels?”)",
    ),
)


def against_decisions(result: Agreement) -> str:
    found = [question for question in result.headline_questions if question.against]
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
    asked = [recommended(question) for question in result.headline_questions]
    n = (
        f"n = {n_of(result.n_units, 'units')} of {n_of(result.n_items, 'items')}, {n_of(result.n_raters, 'raters')} "
        f"({whose(result)})"
    )
    if result.n_items_without_units:
        n += f"; {n_of(result.n_items_without_units, 'items')} with nothing to judge"
    n = "; ".join([n, *(f"{one.question.title}: {n_of(one.question.n_labels, 'labels')}" for one in asked)])
    statements = [first_that_applies(RULES, one) for one in asked]
    statements += filter(None, [against_decisions(result), note_on_further(result.n_further, result.further)])
    return Answer(
        sentences=tuple(statements) or (f"Nobody has labelled any of the {n_of(result.n_units, 'units')} yet.",),
        n=n,
        picture=picture,
        headlines=tuple(
            Headline(one.question.title, one.title, one.figure, word_of(one)) for one in asked if one.figure.is_defined
        ),
        next=first_sentence(NEXT, asked) or ("" if asked else "have some units labelled by two people or more"),
    )


def recomputed_in_words(questions: Iterable[QuestionAgreement]) -> str:
    """What was computed again, and whether it differs; empty where nothing was."""
    found = [one for question in questions for one in question.recomputed]
    if not found:
        return ""
    packages = dict.fromkeys(f"{one.title} with {one.package} {one.version}" for one in found)
    words = f"{listed(list(packages))} were computed again"
    if all(one.difference <= TOLERANCE for one in found):
        return f"{words}: no figure differs by more than {TOLERANCE:g}."
    apart = max(found, key=lambda one: one.difference)
    return (
        f"{words}: {apart.title} of {apart.package} {apart.version} differs by {apart.difference:g}. Please report it."
    )
