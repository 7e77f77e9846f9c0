"""The paragraph of a paper on a comparison of a checker with people."""

from __future__ import annotations

from analysis.reports.checkers.comparison.pictures import written
from analysis.reports.checkers.comparison.result import (
    PARTIAL,
    WITHIN,
    ComparedDimension,
    Comparison,
    CorrelationLevel,
    is_of_people,
    others_of,
)
from analysis.reports.common import FINAL, PEOPLE_AS, PLACE
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import (
    checker_name,
    clusters_of,
    intervals_in,
    labels_counted,
    left_out_of,
    listed,
    sentences,
)
from analysis.sources.splits import name_split, split_in

BY_PERSON_AND_MODEL = (
    "; checkers also against each person, and against the posterior of Dawid and Skene's model (the mean probability "
    "of the checker's label)"
)
MEASURES = (
    ("accuracy", "accuracy"),
    ("balanced_accuracy", "balanced accuracy"),
    ("macro_f1", "macro-F1"),
    ("mcc", "Matthews correlation"),
)


def methods(result: Comparison) -> str:
    ties = sum(dimension.votes.tied for dimension in result.dimensions if counts_places(result, dimension))
    return sentences(
        f"The checker {checker_name(result)} was compared with people ({named_reference(result)}) on "
        f"{n_of(result.n_units, 'units')}.",
        "The reference is the label with the greatest posterior by Dawid and Skene's model (1979) of the people."
        if result.reference == "dawid-skene"
        else "",
        f"Units on which it is tied ({ties:,}) were left out." if ties else "",
        labels_counted(result),
        _labels(result),
        *(_measured(dimension) for dimension in result.dimensions if result.gives_labels),
        _on_scale(result),
        _soft(result),
        _correlations(result),
        _probabilities(result),
        _two(result),
        _two_scores(result),
        _everybody(result),
        intervals_in(result),
    )


def counts_places(result: Comparison, dimension: ComparedDimension) -> bool:
    """Whether the reference's label counts, so that a tie leaves a unit out: raters' means have none."""
    return result.gives_labels or dimension.rated_by == PLACE


def named_reference(result: Comparison) -> str:
    """What of people the checker is compared with, for a sentence."""
    means = {one.rated_by for one in result.dimensions if not counts_places(result, one)}
    if len(means) == 1 and not any(counts_places(result, one) for one in result.dimensions):
        return PEOPLE_AS[means.pop()]
    return "decision, else majority" if result.reference == FINAL else result.reference_title.lower()


def _labels(result: Comparison) -> str:
    if not (result.gives_labels and result.dimensions):
        return ""
    return (
        "Measures are accuracy, balanced accuracy (mean recall over the reference's labels), macro-F1 (mean over the "
        "labels that occur on either side), Matthews correlation, and precision, recall and F1 of each label; units "
        "that lack either side are left out."
    )


def _measured(dimension: ComparedDimension) -> str:
    """The results of one question."""
    sentence = f"For {dimension.title.lower()} n = {dimension.accuracy.n_pairable:,}{left_out_of(dimension.accuracy)}"
    known = [
        f"{title} {written(figure)}" for name, title in MEASURES if (figure := getattr(dimension, name)).is_defined
    ]
    return f"{sentence}: {listed(known)}." if known else f"{sentence}."


def _on_scale(result: Comparison) -> str:
    """The verdicts on scales, and how their intervals are made."""
    found = [dimension for dimension in result.dimensions if dimension.on_scale]
    if not found:
        return ""
    return sentences(
        *(f"{dimension.title}: {dimension.on_scale.sentence}" for dimension in found),
        "Intervals of mean errors and of differences of distances are t intervals of sums over units or clusters with "
        "two added units, one of them different by the whole scale (Agresti and Min 2005); weighted kappa's allows for "
        "one more such unit.",
    )


def _soft(result: Comparison) -> str:
    if not any(dimension.soft for dimension in result.dimensions):
        return ""
    return (
        "The checker's probabilities were also compared with the shares of people who gave each label, on units with "
        "two people or more: Manhattan distance, on ordered labels Wasserstein distance (Leonardelli et al. 2025), "
        "cross-entropy and entropies, with t intervals over units or clusters. A label without probabilities counted "
        "as probability 1."
    )


def over_in_words(result: Comparison, row: CorrelationLevel) -> str:
    """Sources are called by what they are split by."""
    split = split_in(result.made_from)
    return row.over.replace("sources", f"groups by {name_split(split)}") if split else row.over


def _correlations(result: Comparison) -> str:
    first = next((dimension for dimension in result.dimensions if dimension.correlations), None)
    if first is None:
        return ""
    names = listed([one.title for one in first.correlations])
    of_each = [
        f"{dimension.title.lower()} {listed([f'{one.title} {written(one)}' for one in dimension.correlations])}"
        for dimension in result.dimensions
        if any(one.is_defined for one in dimension.correlations)
    ]
    return sentences(
        f"The score {result.score} was correlated with {PEOPLE_AS[first.rated_by]} ({names}).",
        f"Correlations were: {'; '.join(of_each)}." if of_each else "",
        _tested(result),
    )


def _tested(result: Comparison) -> str:
    """How correlations were tested."""
    associations = [dimension.associations for dimension in result.dimensions if dimension.associations]
    tests = [test for one in associations for test in one.tests]
    within = [row for one in associations for row in one.levels if row.test and row.test.name == WITHIN]
    if not tests:
        return ""
    strata = listed(list(dict.fromkeys(over_in_words(result, row).removesuffix(PARTIAL) for row in within)))
    also = f", and {strata} (partial correlations) by permutations that keep to these" if within else ""
    return sentences(
        f"It was tested against chance with {max(test.n_permutations for test in tests):,} permutations of the labels "
        f"of whole {clusters_of(result)[1]}{also}.",
        _adjusted(result, "associations", "within"),
    )


def _probabilities(result: Comparison) -> str:
    if not any(dimension.probabilities for dimension in result.dimensions):
        return ""
    return (
        "Probabilities were judged by the Brier score over all labels (0 to 2), the expected calibration error and "
        "the share correct in ten equal bins of the most probable label's probability, and for each label against the "
        "rest by the areas under the ROC curve and the precision-recall curve (average precision); thresholds were "
        f"chosen by F1 on four fifths of the {clusters_of(result)[1]} and evaluated on the fifth; the intervals treat "
        "them as given."
    )


def _two(result: Comparison) -> str:
    others = [checker_name(result.other)] if result.families["versus"] else []
    rivals = next((dimension.rivals for dimension in result.dimensions if dimension.rivals), [])
    names = listed(list(dict.fromkeys([*others, *(rival.name for rival in rivals)])))
    if not names:
        return ""
    return sentences(
        _several(result),
        f"It was compared with {names} on the units that people and both checkers labelled: differences of accuracy "
        "and macro-F1, McNemar's exact test, which treats units as independent, and a permutation test of macro-F1 "
        f"that swaps both checkers' labels for whole {clusters_of(result)[1]}. Differences were taken as equivalent "
        f"where two one-sided tests at 0.05 put them within {result.margin:g} (Schuirmann 1987).",
        _adjusted(result, "versus", "rivals"),
    )


def _several(result: Comparison) -> str:
    first = next((dimension.several for dimension in result.dimensions if dimension.several), None)
    if first is None:
        return ""
    return (
        f"Whether {listed([run.name for run in first.runs])} were equally often right was tested first, on the units "
        "that people and all of them labelled, by Cochran's Q (1950), which treats units as independent, and by "
        f"permuting their labels for whole {clusters_of(result)[1]}."
    )


def _two_scores(result: Comparison) -> str:
    if not result.families["scores"]:
        return ""
    a, b = (" of ".join(filter(None, side)) for side in result.score_pair)
    return sentences(
        f"Correlations of {a} and of {b} with the same labels were compared by a paired permutation test that swaps "
        f"both scores, standardised (for Spearman and Kendall their ranks), for whole {clusters_of(result)[1]} "
        f"({_swaps(result)}; Deutsch, Dror and Roth 2021). For Pearson and Spearman, Williams's t and Steiger's Z "
        "are given as well: they allow for the correlation between the scores, but treat units as independent.",
        _adjusted(result, "scores"),
    )


def _swaps(result: Comparison) -> str:
    """How many swaps the permutation tests of two scores tried."""
    tests = [row.tests[0] for dimension in result.dimensions for row in dimension.scores or ()]
    tried = [test for test in tests if test.n_permutations]
    if not tried:
        return "undefined"
    number = max(test.n_permutations for test in tried)
    return f"{'all ' if all(test.exact for test in tried) else ''}{number:,} swaps"


def _adjusted(result: Comparison, *families: str) -> str:
    number = max(result.families[name] for name in families)
    if number < 2:
        return ""
    return (
        f"p values of one kind of test ({number} at most) were adjusted over all questions and checkers by Holm's and "
        "by Benjamini and Hochberg's procedure."
    )


def _everybody(result: Comparison) -> str:
    first = next((dimension.labellers for dimension in result.dimensions if dimension.labellers), None)
    if first is None or not first.people:
        return ""
    others = f", a person with {others_of(result)}" if is_of_people(result) else ""
    more = BY_PERSON_AND_MODEL if result.all else ""
    n = result.families["people"]
    adjusted = f", adjusted for {n_of(n, 'tests')} (Holm 1979)" if n > 1 else ""
    return (
        f"Every checker and every person was compared with the reference{others}{more}. "
        f"{checker_name(result)} was also compared with each person on the same units, both against "
        f"{others_of(result)}, by exact paired tests in which the differences of whole {clusters_of(result)[1]} change "
        f"sign{adjusted}."
    )
