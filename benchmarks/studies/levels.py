"""How often tests at 5 % reject a hypothesis that is true, in studies with planted truth (planted.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analysis import stats
from benchmarks.studies import associations, planted, planted_answers, scales, trials, two_ways, verdicts

LEVEL, PERMUTATIONS, SEED = 0.05, 99, 20261122
# Of studies of 400,000 and 200,000 clusters: how much the accuracies of the two labellers differ, and by how much more
# often a person is closer to the others than a model that is right in 55 % of the units.
TRUE_DIFFERENCE = 0.1135
RIGHT_AND_DISCOUNT = (0.55, 0.0954)


@dataclass(frozen=True)
class Rejections:
    """Share of studies in which a test at 5 % rejects."""

    test: str
    rejected: float
    n: int

    @property
    def error(self) -> float:
        """Standard error of `rejected` if it is 0.05."""
        return float(np.sqrt(LEVEL * (1 - LEVEL) / self.n))


def agreement(rng: np.random.Generator) -> dict[str, float]:
    """Raters who only have habits."""
    labels = planted.labels(rng, 30, clustered=False, knowing=1e-6)
    slots = replace(labels, exchangeable=True)
    seed = int(rng.integers(2**31))
    return {
        "permutation test of agreement, nominal": permuted(labels, "nominal", seed),
        "permutation test of agreement, ordinal": permuted(labels, "ordinal", seed),
        "permutation test of agreement, exchangeable raters": permuted(slots, "nominal", seed),
    }


def permuted(labels: stats.Labels, level: str, seed: int) -> float:
    return stats.agreement_permutation_test(labels, level, PERMUTATIONS, seed).p_value


def labellers(rng: np.random.Generator) -> dict[str, float]:
    """Two labellers who are equally good. McNemar's test treats units as independent, so it gets such units."""
    data = planted.judged(rng, 80, other_as_good=True)
    columns = data.reference, data.predicted, data.other, planted.CATEGORIES
    seed = int(rng.integers(2**31))
    alone = np.unique(data.cluster, return_index=True)[1]
    return {
        "McNemar": stats.labeller_difference(*(column[alone] for column in columns[:3]), columns[3]).mcnemar.p_value,
        "paired permutation of clusters": stats.labeller_difference(
            *columns, data.cluster, 2 * PERMUTATIONS + 1, seed
        ).permutation.p_value,
    }


def three_labellers(rng: np.random.Generator) -> dict[str, float]:
    """Three labellers who are equally good, each in other claims; Cochran's Q treats units as independent, so it gets
    one unit of each claim, and all of them."""
    reference, *said, cluster = planted_answers.skilled_by_claim(rng, 80, 3)
    alone = np.unique(cluster, return_index=True)[1]
    seed = int(rng.integers(2**31))
    one = stats.several_labellers(reference[alone], [column[alone] for column in said], planted.CATEGORIES, None, 1)
    every = stats.several_labellers(reference, said, planted.CATEGORIES, cluster, PERMUTATIONS, seed)
    return {
        "Cochran's Q": one.cochran.p_value,
        "Cochran's Q, skill by claim": every.cochran.p_value,
        "permutation of clusters of Cochran's Q, skill by claim": every.permutation.p_value,
    }


def correlations(rng: np.random.Generator) -> dict[str, float]:
    """Two scores that follow the labels equally well; five labels."""
    found = {}
    for heavy, scores in ((False, "normal scores"), (True, "heavy-tailed scores")):
        data = planted.scored(rng, 80, b_as_good=True, clustered=False, heavy=heavy)
        for coefficient in ("pearson", "spearman"):
            both = stats.correlation_difference(
                data.a, data.b, data.label, coefficient, n_permutations=2 * PERMUTATIONS + 1
            )
            found[f"paired permutation, {coefficient}, {scores}"] = both.permutation.p_value
            found[f"Williams, {coefficient}, {scores}"] = both.williams.p_value
            found[f"Steiger, {coefficient}, {scores}"] = both.steiger.p_value
    # The last scores, with heavy tails; tau-b counts all pairs anew for every permutation.
    both = stats.correlation_difference(data.a, data.b, data.label, "kendall_tau_b", n_permutations=PERMUTATIONS)
    found["paired permutation, kendall tau b, heavy-tailed scores"] = both.permutation.p_value
    return found


def clustered_correlations(rng: np.random.Generator) -> dict[str, float]:
    """Two scores that follow the labels equally well, and err alike on the units of a cluster: both, or one of them."""
    found = {}
    for which, n_clusters, both_err in (
        ("both err by claim", 80, True),
        ("one errs by claim", 80, False),
        ("both err by claim, few", 20, True),
    ):
        data = planted.erring(rng, n_clusters, both_err)
        columns, seed = (data.a, data.b, data.label), int(rng.integers(2**31))
        for coefficient in ("pearson", "spearman"):
            tests = stats.correlation_difference(*columns, coefficient, data.cluster, 2 * PERMUTATIONS + 1, seed)
            found[f"paired permutation of clusters, {coefficient}, {which}"] = tests.permutation.p_value
            found[f"Williams, {coefficient}, {which}"] = tests.williams.p_value
            found[f"Steiger, {coefficient}, {which}"] = tests.steiger.p_value
    tests = stats.correlation_difference(*columns, "kendall_tau_b", data.cluster, PERMUTATIONS, seed)
    found[f"paired permutation of clusters, kendall tau b, {which}"] = tests.permutation.p_value
    return found


def few_clusters(rng: np.random.Generator) -> dict[str, float]:
    """Two scores that follow the labels equally well; one errs alike on the units of a cluster: swapping them
    supposes that they are exchangeable, or many clusters."""
    data, seed = planted.erring(rng, 20, b_by_cluster=False), int(rng.integers(2**31))
    found = {}
    for coefficient in ("pearson", "spearman"):
        columns = data.a, data.b, data.label, coefficient, data.cluster
        tests = stats.correlation_difference(*columns, 2 * PERMUTATIONS + 1, seed)
        found[f"paired permutation of clusters, {coefficient}, one errs by claim, few"] = tests.permutation.p_value
    return found


def equivalence(rng: np.random.Generator) -> dict[str, float]:
    """Two labellers whose accuracies differ by exactly the margin; 'rejected' means found equivalent."""
    data = planted.judged(rng, 80)
    difference = stats.labeller_difference(
        data.reference, data.predicted, data.other, planted.CATEGORIES, data.cluster, 1
    ).accuracy
    found = stats.equivalence(difference, TRUE_DIFFERENCE, n_resamples=200)
    return {"equivalence (TOST) at the margin": 0.0 if found.equivalent else 1.0}


def alternative(rng: np.random.Generator) -> dict[str, float]:
    """A model that is as good as the people without a discount, and one that is worse by exactly the discount."""
    found = {}
    for name, right, epsilon in (("no discount", 0.7, 0.0), ("a discount", *RIGHT_AND_DISCOUNT)):
        data = planted.compared(rng, 80, right)
        test = stats.alternative_annotator_test(data.labels, data.model, epsilon=epsilon)
        found[f"alternative annotator test, one person, {name}"] = test.people[0].p_value
        found[f"alternative annotator test, any person, {name}"] = 0.0 if any(p.rejected for p in test.people) else 1.0
    return found


def within_claims(rng: np.random.Generator) -> dict[str, float]:
    """Tests that treat units as independent where they are not: skill or habits hang on the claim."""
    reference, a, b, cluster = planted_answers.skilled_by_claim(rng, 80)
    seed = int(rng.integers(2**31))
    both = stats.labeller_difference(
        reference, a, b, planted.CATEGORIES, cluster, n_permutations=2 * PERMUTATIONS + 1, seed=seed
    )
    data = planted_answers.compared_by_claim(rng, 80)
    test = stats.alternative_annotator_test(data.labels, data.model, epsilon=0.0)
    return {
        "McNemar, skill by claim": both.mcnemar.p_value,
        "paired permutation of clusters, skill by claim": both.permutation.p_value,
        "permutation test of agreement, habits by claim": permuted(
            planted_answers.habits_by_claim(rng, 30), "nominal", seed
        ),
        "alternative annotator test, one person, skill by claim": test.people[0].p_value,
        "alternative annotator test, any person, skill by claim": 0.0 if any(p.rejected for p in test.people) else 1.0,
    }


def over_time(rng: np.random.Generator) -> dict[str, float]:
    """Agreement with others that does not change: of one person along two answers per claim, and of six people."""
    one = planted_answers.worked(rng, 30, 2, rise=0.0)
    several = planted_answers.changed(rng, 80, rise=0.0)
    return {
        "trend of one person (drift)": stats.drift(one.share, np.arange(len(one.share)), one.cluster).trend.p_value,
        "change within six people": stats.change(several.share, several.after, several.cluster, several.rater).p_value,
    }


def groups_of_claims(rng: np.random.Generator) -> dict[str, float]:
    """Values of 60 claims in three repetitions, alike within a claim: claims are of one of two groups, or each of their
    rows is."""
    claim = np.repeat(np.arange(60), 3)
    value = rng.normal(size=60)[claim] + 0.3 * rng.normal(size=180)
    of_claim, of_row = rng.integers(0, 2, 60)[claim], rng.integers(0, 2, 180)
    few = claim < 12
    return {
        "Mann-Whitney, each claim in one group": stats.mann_whitney(value, of_claim, claim.tolist()).p_value,
        "Mann-Whitney, claims in both groups": stats.mann_whitney(value, of_row, claim.tolist()).p_value,
        "Mann-Whitney, twelve claims": stats.mann_whitney(value[few], of_claim[few], claim[few].tolist()).p_value,
    }


TESTS: dict[str, Callable[[np.random.Generator], dict[str, float]]] = {
    "agreement against chance": agreement,
    "two labellers": labellers,
    "two scores": correlations,
    "equivalence": equivalence,
    "the alternative annotator test": alternative,
    "two scores in clusters": clustered_correlations,
    "units that are alike within claims": within_claims,
    "correlations that are none": two_ways.null_correlations,
    "correlations of independent units that are none": associations.independent,
    "several tests at once": associations.families,
    "suggestions without an effect": trials.nothing_seen,
    "no difference over time": over_time,
    "two groups of claims": groups_of_claims,
    "claims, few and many": associations.few_and_many,
    "two scores in few clusters": few_clusters,
    "three labellers": three_labellers,
    "a checker as good as the people": verdicts.equal_skill,
    "a checker as good as the majority baseline": verdicts.equal_to_the_baseline,
    "verdicts on a scale": scales.false_verdicts,
}


def rejections(name: str, runs: int) -> list[Rejections]:
    """How often each test of a kind of study rejects; undefined p values are left out."""
    rng = np.random.default_rng([SEED, 100 + list(TESTS).index(name)])
    p = [TESTS[name](rng) for _ in range(runs)]
    table = []
    for test in p[0]:
        values = np.array([one[test] for one in p])
        values = values[~np.isnan(values)]
        table.append(Rejections(test, float((values <= LEVEL).mean()), len(values)))
    return table
