"""Methods paragraphs of the reports about checkers: comparison, prevalence, difference of two runs."""

from __future__ import annotations

from analysis.reports.association_tables import over_in_words
from analysis.reports.associations import PARTIAL, WITHIN
from analysis.reports.methods_words import (
    checker_name,
    clusters_of,
    defined_clusters,
    intervals_in,
    left_out_of,
    listed,
    sentences,
)
from analysis.reports.numbers import n_of


def _touched(result: dict, of: str = "the checker") -> str:
    if result["reference"] not in ("majority", "dawid-skene"):
        return ""
    if result["touched"]:
        return f"All labels of people count, those given after a suggestion of {of} was seen too."
    return f"Only labels count that were given before a suggestion of {of} was seen, or without one."


def comparison(result: dict) -> str:
    name = checker_name(result)
    dimensions = result["dimensions"]
    ties = sum(dimension["votes"]["tied"] for dimension in dimensions)
    return sentences(
        f"The checker {name} was held against people ({result['reference_title'].lower()}) on "
        f"{n_of(result['n_units'], 'units')}.",
        "The reference is the label with the greatest posterior by Dawid and Skene's model (1979) of the people."
        if result["reference"] == "dawid-skene"
        else "",
        f"Units on which it is tied ({ties:,}) were left out." if ties else "",
        _touched(result),
        _labels(result),
        *(
            f"For {dimension['title'].lower()} n = {dimension['accuracy']['n_pairable']:,}"
            f"{left_out_of(dimension['accuracy'])}."
            for dimension in dimensions
            if result["gives"] != "scores"
        ),
        _correlations(result),
        _probabilities(result),
        _two(result),
        _two_scores(result),
        _everybody(result),
        intervals_in(result),
    )


def _labels(result: dict) -> str:
    if result["gives"] == "scores" or not result["dimensions"]:
        return ""
    return (
        "Measures are accuracy, balanced accuracy (mean recall over the reference's labels), macro-F1 (mean over the "
        "labels that occur on either side), Matthews's correlation, and precision, recall and F1 of each label; units "
        "that lack either side are left out."
    )


def _correlations(result: dict) -> str:
    found = next((dimension["correlations"] for dimension in result["dimensions"] if dimension["correlations"]), [])
    if not found:
        return ""
    names = listed([one["title"] for one in found])
    said = f"The score {result['score']} was correlated with the place of people's label on its scale ({names})."
    return sentences(said, _tested(result))


def _tested(result: dict) -> str:
    """How correlations were told from chance."""
    found = [dimension["associations"] for dimension in result["dimensions"] if dimension["associations"]]
    tests = [test for one in found for test in one["tests"]]
    within = [row for one in found for row in one["levels"] if row["test"] and row["test"]["name"] == WITHIN]
    if not tests:
        return ""
    strata = listed(list(dict.fromkeys(over_in_words(result, row).removesuffix(PARTIAL) for row in within)))
    also = f", and {strata} (partial correlations) by permutations that keep to these" if within else ""
    return (
        f"It was told from chance by {max(test['n_permutations'] for test in tests):,} permutations of the labels of "
        f"whole {clusters_of(result)[1]}{also}. {_adjusted(result, 'associations', 'within')}"
    ).strip()


def _probabilities(result: dict) -> str:
    if not any(dimension["probabilities"] for dimension in result["dimensions"]):
        return ""
    return (
        "Probabilities were judged by the Brier score over all labels (0 to 2), the expected calibration error and "
        "the share right in ten equal bins of the most probable label's probability, and for each label against the "
        "rest by the areas under the ROC curve and the precision-recall curve (average precision); thresholds were "
        f"chosen by F1 on four fifths of the {clusters_of(result)[1]} and judged on the fifth, and the intervals of "
        "what they give take them as chosen."
    )


def _two(result: dict) -> str:
    beside = [checker_name(result["other"])] if result["families"]["versus"] else []
    rivals = next((dimension["rivals"] for dimension in result["dimensions"] if dimension["rivals"]), [])
    names = listed(list(dict.fromkeys([*beside, *(rival["name"] for rival in rivals)])))
    if not names:
        return ""
    return (
        f"{_several(result)}It was set against {names} on the units that people and both checkers labelled: "
        "differences of accuracy and macro-F1, McNemar's exact test, which takes units as independent, and a "
        f"permutation test of macro-F1 that swaps both checkers' labels for whole {clusters_of(result)[1]}. "
        f"Differences were taken as equivalent where two one-sided tests at 0.05 put them within {result['margin']:g} "
        f"(Schuirmann 1987). {_adjusted(result, 'versus', 'rivals')}"
    ).strip()


def _several(result: dict) -> str:
    found = [dimension["several"] for dimension in result["dimensions"] if dimension.get("several")]
    if not found:
        return ""
    return (
        f"Whether {listed([run['name'] for run in found[0]['runs']])} were equally often right was tested first, on "
        "the units that people and all of them labelled, by Cochran's Q (1950), which takes units as independent, and "
        f"by permuting their labels for whole {clusters_of(result)[1]}. "
    )


def _two_scores(result: dict) -> str:
    if not result["families"]["scores"]:
        return ""
    a, b = (" of ".join(filter(None, side)) for side in result["score_pair"])
    return (
        f"Correlations of {a} and of {b} with the same labels were compared by a paired permutation test that swaps "
        f"both scores, standardised (for Spearman and Kendall their ranks), for whole {clusters_of(result)[1]} "
        f"({_swaps(result)}; Deutsch, Dror and Roth 2021). For Pearson and Spearman Williams's t and Steiger's Z stand "
        "beside it: they allow for the correlation between the scores, but take units as independent. "
        f"{_adjusted(result, 'scores')}"
    ).strip()


def _swaps(result: dict) -> str:
    """How many swaps the permutation tests of two scores tried."""
    tests = [row["tests"][0] for dimension in result["dimensions"] for row in dimension["scores"] or []]
    tried = [test for test in tests if test["n_permutations"]]
    if not tried:
        return "undefined"
    number = max(test["n_permutations"] for test in tried)
    return f"{'all ' if all(test['exact'] for test in tried) else ''}{number:,} swaps"


def _adjusted(result: dict, *families: str) -> str:
    number = max(result["families"][name] for name in families)
    if number < 2:
        return ""
    return (
        f"p values of one kind of test ({number} at most) were adjusted over all questions and checkers by Holm's and "
        "by Benjamini and Hochberg's procedure."
    )


def _everybody(result: dict) -> str:
    found = next((dimension["labellers"] for dimension in result["dimensions"] if dimension["labellers"]), None)
    if found is None or not found["people"]:
        return ""
    others = ", a person against the majority of the others" if result["reference"] == "majority" else ""
    return (
        f"Every checker and every person was held against the reference{others}; checkers also against each person, "
        "and against the posterior of Dawid and Skene's model (the mean probability of the checker's label)."
    )


def prevalence(result: dict) -> str:
    both = max((dimension["n_both"] for dimension in result["dimensions"]), default=0)
    others = max((dimension["n_others"] for dimension in result["dimensions"]), default=0)
    return sentences(
        f"The share of {n_of(result['n_units'], 'units')} with each label was estimated by prediction-powered "
        "inference (Angelopoulos et al. 2023) with the reliance on the checker chosen by the data (PPI++, "
        f"Angelopoulos, Duchi and Zrnic 2023), from units labelled by people ({result['reference_title'].lower()}) "
        f"and {checker_name(result)} (at most {both:,}) and units labelled by the checker alone (at most {others:,}).",
        _touched(result),
        _over_responses(result),
        "It supposes that people labelled a random sample. Where a question is not asked, none of its labels is given.",
        f"Intervals (95 %) are normal; variances are of sums over {clusters_of(result)[1]}, and ends are kept within "
        "0 and 1. The estimates from people's labels alone and from the checker's alone stand beside them; the "
        "interval of the latter is that of the choice of units, and says nothing of how far the checker is off.",
        defined_clusters(result),
    )


def _over_responses(result: dict) -> str:
    found = [dimension["responses"] for dimension in result["dimensions"] if dimension["responses"]]
    if not found:
        return ""
    words, without = result["unit_words"], result["n_responses_without"]
    both, partly = (max(one[name] for one in found) for name in ("n_both", "n_partly"))
    return sentences(
        f"The mean over {n_of(found[0]['n'], 'responses')} of the share of their {words} with each label, and the "
        "share of responses with any such, were estimated in the same way with the response as the unit, of which "
        f"people's value is known where they labelled all of its {words} (at most {both:,} with the checker's).",
        f"Responses that people labelled in part (at most {partly:,}) count as unlabelled." if partly else "",
        f"Responses without {words} ({without:,}) are left out." if without else "",
    )


def difference(result: dict) -> str:
    run, other = (checker_name(result[side]) for side in ("run", "other"))
    changed = [
        f"{dimension['title'].lower()} {dimension['n_changed']:,} of {dimension['n_both']:,}"
        for dimension in result["dimensions"]
    ]
    return sentences(
        f"The run of {run} ({result['run']['created_at']} UTC) was compared with that of {other} "
        f"({result['other']['created_at']} UTC) on {n_of(result['n_units'], 'units')} that are the same for both.",
        f"Labels that differ: {listed(changed)}." if changed else "",
        "Agreement of the two is the share of equal labels and Cohen's kappa, over units that both label.",
        "Probabilities are compared by total variation: half the sum of absolute differences over the labels."
        if any(dimension["shift"] for dimension in result["dimensions"])
        else "",
        "Scores are compared by their means, their mean absolute difference and Pearson's correlation, over units that "
        "have both."
        if result["scores"]
        else "",
        intervals_in(result),
    )
