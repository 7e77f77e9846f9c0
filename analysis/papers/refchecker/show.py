"""The page on hallucinations, piece by piece: how often, and which checkers see them."""

from __future__ import annotations

from analysis.figures.page import Answer, Page, Part, Rule, Section, all_that_apply, first_that_applies
from analysis.figures.pictures import Picture
from analysis.figures.results import Figure
from analysis.papers.refchecker.result import TIES, Accuracy, MeasuredChecker, RatesOfSetting, RefChecker
from analysis.papers.refchecker.scale import refuses
from analysis.papers.refchecker.tables import (
    answers_tables,
    granularity_table,
    pieces_tables,
    rankings_tables,
    rates_picture,
    rates_table,
    scored_table,
)
from analysis.papers.refchecker.text_tables import copying_tables, knowledge_tables, masked_tables
from analysis.reports.common import REFERENCE, TOUCHED
from analysis.reports.options import LABELS, STATISTICS, Option, sibling_projects
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import listed, sentences
from analysis.sources.outline import Outline


def projects_beside(source: Outline) -> dict[str, str]:
    """Other projects on the data set whose pieces are of answers too."""
    return sibling_projects(source, lambda kind: not refuses(kind))


def page(result: RefChecker) -> Page:
    pictures = [picture for one in result.rates if (picture := rates_picture(result, one))]
    soft: list[Part] = [rates_table(result, one, one.rules[0]) for one in result.rates]
    others: list[Part] = [rates_table(result, one, rule) for one in result.rates for rule in one.rules[1:]]
    sections = [
        Section("Label rates of models", [*pictures, *soft]),
        Section("Label rates of models, one label per answer", others),
        Section(f"Checkers against people, by {result.unit_words}", pieces_tables(result)),
        Section("Checkers against people, by answers", answers_tables(result)),
        *([Section("Scores of answers by methods elsewhere", [scored_table(result)])] if result.scored else []),
        Section("Rankings of models", rankings_tables(result)),
        Section("Granularity", [granularity_table(result)]),
        Section("Copying from the passages", copying_tables(result)),
        Section("What models know", knowledge_tables(result)),
        Section("Masked references", masked_tables(result)),
    ]
    return Page(_answer(result, pictures), sections, result.notes)


# ---- what the page begins with ----


def _known(result: RefChecker) -> list[RatesOfSetting]:
    """Settings in which there are rates."""
    return [one for one in result.rates if one.rules[0].mean[result.worst.label].is_defined]


def _mean_rates(result: RefChecker) -> str:
    label = result.worst
    texts = [f"{one.rules[0].mean[label.label].written()} in {one.setting}" for one in _known(result)]
    return (
        f"The mean share of an answer's {result.unit_words} labelled {label.title.lower()}, averaged over models, is "
        f"{listed(texts)} (95 % intervals)."
    )


def _mean_rates_and_models(result: RefChecker) -> str:
    ranges = []
    for one in _known(result):
        figures = {row.model: row.shares[result.worst.label] for row in one.rules[0].models}
        figures = {model: figure for model, figure in figures.items() if figure.is_defined}
        low, high = (pick(figures, key=lambda model: figures[model].estimate) for pick in (min, max))
        ranges.append(f"from {figures[low].written()} ({low}) to {figures[high].written()} ({high}) in {one.setting}")
    return f"{_mean_rates(result)} By model it runs {listed(ranges)}."


RATE_RULES = (
    Rule(
        "nothing counts",
        lambda result: not _known(result),
        lambda result: "No rate can be given yet: no answer has a label that counts.",
    ),
    Rule(
        "one model",
        lambda result: all(len(one.models) < 2 for one in result.rates),
        _mean_rates,
    ),
    Rule("several models", lambda result: True, _mean_rates_and_models),
)


def _accuracy(one: MeasuredChecker) -> Accuracy:
    """Over pieces: the mean of settings, or the only one's."""
    return one.pieces.mean or one.pieces.settings[0]


def _best(result: RefChecker) -> MeasuredChecker | None:
    """The checker with the greatest macro-F1 over pieces."""
    known = [one for one in result.checkers if one.pieces.settings and _accuracy(one).macro_f1.is_defined]
    return max(known, key=lambda one: _accuracy(one).macro_f1.estimate, default=None)


def _measured(result: RefChecker) -> str:
    best = _best(result)
    n = len(result.checkers)
    first = f"Of {n_of(n, 'checkers')}, {best.title} agrees best with people" if n > 1 else f"{best.title} is measured"
    of = ", mean of settings" if best.pieces.mean else ""
    figures = _accuracy(best)
    return (
        f"{first} over {result.unit_words}: macro-F1 {figures.macro_f1.written()}, accuracy "
        f"{figures.accuracy.written()}{of}."
    )


CHECKER_RULES = (
    Rule("no checker", lambda result: not result.checkers, lambda result: ""),
    Rule(
        "nothing by both",
        lambda result: _best(result) is None,
        lambda result: f"Checkers cannot be measured: no {result.unit_words} have labels of both a checker and people.",
    ),
    Rule("measured", lambda result: True, _measured),
)


def _ranking(result: RefChecker) -> Figure | None:
    """Spearman's correlation of the best checker's and people's rates of the worst label; None where undefined."""
    best = _best(result)
    if best is None:
        return None
    settings, label = best.rankings.settings, result.worst.label
    if best.rankings.mean:
        figure = best.rankings.mean[label]
    else:
        figure = next(one.by_item for one in settings[0].labels if one.label == label)
    return figure if figure.is_defined else None


def _spearman(result: RefChecker) -> str:
    return f"Spearman's correlation {_ranking(result).written()}"


RANKING_RULES = (
    Rule("undefined", lambda result: _ranking(result) is None, lambda result: ""),
    Rule(
        "no interval",
        lambda result: _ranking(result).low is None,
        lambda result: (
            f"By {result.worst.title.lower()} rate its ranking of models has {_spearman(result)} with "
            "people's, without an interval."
        ),
    ),
    Rule(
        "not shown",
        lambda result: _ranking(result).low <= 0 <= _ranking(result).high,
        lambda result: (
            f"That it ranks models as people do by {result.worst.title.lower()} rate is not shown: {_spearman(result)}."
        ),
    ),
    Rule(
        "alike",
        lambda result: _ranking(result).low > 0,
        lambda result: f"It ranks models by {result.worst.title.lower()} rate as people do: {_spearman(result)}.",
    ),
    Rule(
        "the other way round",
        lambda result: True,
        lambda result: (
            f"It ranks models by {result.worst.title.lower()} rate in the opposite order of people's: "
            f"{_spearman(result)}."
        ),
    ),
)


def _n_waiting(result: RefChecker) -> int:
    return sum(one.rules[0].n_not_counted for one in result.rates)


NEXT = (
    Rule("no answers", lambda result: not result.n_units, lambda result: f"import answers with {result.unit_words}"),
    Rule(
        "answers wait",
        lambda result: _n_waiting(result) > 0,
        lambda result: f"label the {n_of(_n_waiting(result), 'answers')} without a label that counts",
    ),
    Rule(
        "no checker",
        lambda result: not result.checkers,
        lambda result: "start a checker, to compare it with people",
    ),
    Rule(
        "few models",
        lambda result: max(len(one.models) for one in result.rates) < 5,
        lambda result: "add answers of more models: a ranking of fewer than five shows little",
    ),
)


def _answer(result: RefChecker, pictures: list[Picture]) -> Answer:
    models = {model for one in result.rates for model in one.models}
    n_counted = sum(one.rules[0].n_counted for one in result.rates)
    return Answer(
        sentences=all_that_apply((RATE_RULES, CHECKER_RULES, RANKING_RULES), result),
        n=f"n = {n_of(n_counted, 'answers')} of {result.n_responses:,}, by {n_of(len(models), 'models')}; "
        f"{result.n_decided:,} of {n_of(result.n_units, result.unit_words)} have a label by people",
        picture=pictures[0] if pictures else None,
        next=first_that_applies(NEXT, result),
    )


# ---- the paragraph for a paper ----


def methods(result: RefChecker) -> str:
    labels, words = [label.title.lower() for label in result.labels], result.unit_words
    abstain = "" if result.abstained_unknown else "its abstain rate is the share of answers without any; "
    ties = "of tied ones the worst" if result.major_ties == "worst" else "and none where several tie"
    return sentences(
        f"{n_of(result.n_responses, 'answers')} {either(result.n_responses, 'was', 'were')} judged by "
        f"{n_of(result.n_units, words)} ({result.reference_title.lower()}); {result.n_bad:,} bad {words} "
        "were left out.",
        "A model's rate of a label is the mean, over its answers that have labels, of the label's share among the "
        f"answer's {words}; {abstain}means over models are unweighted.",
        "Under the strict rule an answer has the worst label among its pieces "
        f"({' before '.join(labels[::-1])}); under the major rule the most frequent one, {ties}.",
        _of_checkers(result, labels) if result.checkers else "",
        "Intervals are 95 % bootstrap intervals that resample questions.",
        f"The copy rate is the share of 1- to 4-grams of lower-cased words of each of the {words} that occur in a "
        "passage, averaged over the lengths; its correlation with the label was tested by permuting whole questions, "
        "corrected over settings by Holm's method."
        if result.copying
        else "",
        *all_that_apply((RATE_RULES, CHECKER_RULES, RANKING_RULES), result),
    )


def _of_checkers(result: RefChecker, labels: list[str]) -> str:
    touched = "all labels" if result.touched else "labels that the checker had not touched"
    left_out = f", without {', '.join(result.without)}" if result.without else ""
    words, best = result.unit_words, labels[0]
    return (
        f"Checkers were compared with people on {touched}, by accuracy and macro-F1 over {words} and, over answers"
        f"{left_out}, by accuracy and F1 of factual answers (all {words} {best}) and of the others, and by Pearson's "
        f"and Spearman's correlation of the shares of {words} that are not {best}. Rankings of models were compared by "
        "Spearman's correlation of mean rates (system level), with permutation tests over the models, adjusted by "
        "Holm's method."
    )


REPORT = Report(
    "refchecker",
    "Hallucinations, piece by piece",
    "analysis.papers.refchecker.compute",
    (
        REFERENCE,
        TOUCHED,
        Option(
            "without", "Models left out of answers", kind="text", default="", help="with commas between", group=LABELS
        ),
        Option(
            "major_ties",
            "Most frequent label of an answer, where tied",
            choices=TIES,
            default="worst",
            group=STATISTICS,
        ),
        Option(
            "other_pieces",
            "Compare with other pieces",
            kind="project",
            choices=projects_beside,
            default="",
            missing="no other project on this data set judges pieces of answers",
            group=LABELS,
        ),
    ),
    "How often models' answers are supported or contradicted by their references, which checkers see it, piece by "
    "piece and answer by answer, and whether they rank the models as people do.",
    kind=RefChecker,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)
