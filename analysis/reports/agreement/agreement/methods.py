"""The paragraph on agreement for a paper."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.reports.agreement.agreement.answer import against_decisions, recommended, recomputed_in_words, whose
from analysis.reports.agreement.agreement.result import Agreement, QuestionAgreement
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import intervals_in, left_out_of, listed, note_on_further, sentences

OF_EACH_LABEL = {
    False: "percent agreement (mean over items) and Krippendorff's alpha",
    True: "percent agreement (mean over items), Krippendorff's alpha, Fleiss' kappa, Gwet's AC1 and Brennan-Prediger",
}
PROPER = ("Krippendorff", "Fleiss", "Gwet", "Brennan", "Cohen", "Scott")


def methods(result: Agreement) -> str:
    asked = result.labelled
    if not asked:
        return f"Nobody has labelled any of the {n_of(result.n_units, 'units')} of {result.project}."
    return sentences(
        f"Agreement was measured among {whose(result)} ({n_of(result.n_raters, 'raters')}) on "
        f"{n_of(result.n_units, 'units')} of {n_of(result.n_items, 'items')}.",
        *(_coefficients(question) for question in asked),
        "Units with a single label form no pair; missing labels were not imputed, and every pair of labels of one unit "
        "counts.",
        "Raters are exchangeable, because the file does not say who voted, so there are no figures for pairs of them."
        if result.exchangeable
        else "",
        f"Each label was also compared with all others together, by {OF_EACH_LABEL[result.all]}."
        if any(question.per_label for question in asked)
        else "",
        recomputed_in_words(asked),
        _by_chance(asked),
        against_decisions(result),
        note_on_further(result.n_further, result.further),
        "Since more judgements were requested for some items, agreement is also given on the items drawn at random for "
        "more than one judgement, and over all with each unit weighted by the inverse of its chance to get more than "
        "one (Horvitz and Thompson 1952; 1 for items asked for, the share drawn for the others)."
        if any(question.selected for question in asked)
        else "",
        intervals_in(result),
        _results(asked),
    )


def _coefficients(question: QuestionAgreement) -> str:
    names = [_named(figure.title) for figure in question.figures]
    alpha = next(figure for figure in question.figures if figure.name.startswith("krippendorff"))
    what = f"{question.level}, {n_of(len(question.labels), 'labels')}"
    if question.takes_number:
        what = f"numbers at the {question.level} level"
    if question.takes_several:
        what = f"several labels at once, {n_of(len(question.labels), 'different sets')}"
    return (
        f"For {question.title.lower()} ({what}, "
        f"{question.n_labels:,} given) these are {listed(names)}, over {n_of(alpha.n_pairable or 0, 'units')} with "
        f"a pair{left_out_of(alpha)}."
    )


def _named(title: str) -> str:
    """A coefficient in the middle of a sentence: people keep their capitals, and kinds stand in brackets."""
    name, comma, kind = title.partition(", ")
    name = name if name.startswith(PROPER) else name[0].lower() + name[1:]
    return f"{name} ({kind})" if comma else name


def _by_chance(asked: Sequence[QuestionAgreement]) -> str:
    tests = [question.chance for question in asked if question.chance.p_value is not None]
    if not tests:
        return ""
    times = sorted({test.n_permutations for test in tests})
    number = " to ".join(f"{n:,}" for n in dict.fromkeys((times[0], times[-1])))
    return f"Alpha was tested against chance by {number} permutations ({tests[0].null}), one-sided."


def _results(asked: Sequence[QuestionAgreement]) -> str:
    """The recommended coefficients, so that the paragraph can be pasted whole."""
    kept = [one for one in map(recommended, asked) if one.figure.is_defined]
    texts = [f"{one.question.title.lower()}, {one.title} {one.figure.written()}" for one in kept]
    return f"Estimates [95 % intervals] were: {'; '.join(texts)}." if texts else ""
