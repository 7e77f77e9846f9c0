"""DRUID's analyses in sentences: what was done, for a paper."""

from __future__ import annotations

from analysis.papers.druid.result import Druid, ModelUsage
from analysis.reports.words.numbers import n_of

TESTS = {
    "clusters": "p values from influence-based standard errors clustered by claim (Student's t)",
    "units": "p values that treat pairs as independent (Student's t)",
    "permutation": "p values from 999 permutations of pairs within a stance",
}
CORRECTIONS = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}
OF_SHARES = (
    "Intervals of shares are 95 % BCa bootstraps over claims; of a label that no pair or every pair has, exact ones "
    "(Clopper and Pearson) with as many trials as there are claims."
)
INTERVALS = "Intervals of means are 95 % BCa bootstraps over claims."


def methods_of(result: Druid) -> str:
    pairs, claims = n_of(result.n_pairs, "pairs"), n_of(result.n_claims, "claims")
    parts = [
        f"The data are {pairs} of claim and evidence, of {claims}; a pair's relevance and stance are "
        f"those of the reference ({result.reference_title[0].lower()}{result.reference_title[1:]}), and "
        f"{n_of(result.n_pairs - result.n_stances, 'pairs')} without a stance are left out where one is needed.",
        f"Agreement is Krippendorff's alpha ({_levels(result)}) over all pairs of labels that exist, with 95 % "
        "bootstrap intervals over claims. A pair of claim and evidence with a single label forms no pair of labels.",
        "A claim is in conflict if one piece of evidence supports it and another refutes it. Shares of labels are of "
        f"the pairs that have one. {OF_SHARES}",
    ]
    if result.described:
        columns = result.described.columns
        by = sorted({one.checker for one in columns})
        parts.append(
            f"Of {n_of(len(columns), 'characteristics')} of the evidence (measured by {', '.join(by)}) means and "
            f"standard deviations are over pairs where they are defined. {INTERVALS}"
        )
    if result.usage:
        names = ", ".join(_with_n(model) for model in result.usage.models)
        parts.append(
            f"Context usage (DRUID, Hagström et al. 2024, equations 1 and 2) of {names} compares the probabilities of "
            "True, None and False without and with the evidence; acu_mean is the mean and acu_sum the sum of the three "
            "signed changes. It is undefined where an answer was certain without the evidence and stayed so, or where "
            "a probability is missing; such pairs are left out and counted. The predicted answer is the most probable "
            "one; a memory conflict is a decided answer without evidence that the evidence opposes, as a share of the "
            f"pairs of that stance. {INTERVALS if not result.described else ''}".strip()
        )
    if result.correlations:
        tests = sorted({correlations.n_tests["spearman"] for correlations in result.correlations})
        parts.append(
            "Correlations of characteristics with context usage are Spearman's and Pearson's within each stance, "
            f"missing values deleted pairwise, with {TESTS[result.test]}, corrected by "
            f"{CORRECTIONS[result.correction]} over the {' or '.join(f'{n:,}' for n in tests)} tests of a model; "
            f"significance is at {result.alpha:g}. Their intervals are on Fisher's z scale with standard errors "
            "clustered by claim."
        )
    return " ".join(parts)


def _levels(result: Druid) -> str:
    """What alpha was computed of, each with its level."""
    return "; ".join(one.name for one in result.content.sources[0].alpha)


def _with_n(model: ModelUsage) -> str:
    """A model, and of how many pairs its context usage is defined; the first row is that of all relevant evidence."""
    acu_mean = model.stances[0].acu_mean
    return f"{model.model} (defined for {acu_mean.n:,} of {acu_mean.n + acu_mean.n_undefined:,} relevant pairs)"
