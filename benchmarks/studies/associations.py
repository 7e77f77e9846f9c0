"""Studies of correlations in strata and of many features, and tests of correlations that
are none, for levels.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import stats
from benchmarks.studies.study import Figures, Study, bootstrapped

COEFFICIENTS = ("pearson", "spearman", "kendall_tau_b")
PERMUTATIONS, FEATURES = 99, 10


@dataclass(frozen=True)
class Stratified:
    score: np.ndarray
    label: np.ndarray
    stratum: np.ndarray
    cluster: np.ndarray


def stratified(rng: np.random.Generator, n_clusters: int) -> Stratified:
    """Clusters of one to four items that are alike, in four strata whose scores and labels differ in level; scores
    follow the labels, which are five; a tenth is missing."""
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 5, n_clusters))
    stratum = (np.arange(n_clusters) % 4)[cluster]
    quality = rng.normal(0, 0.7, n_clusters)[cluster] + rng.normal(0, 1, len(cluster)) + 0.5 * stratum
    score = quality + rng.normal(0, 0.6, n_clusters)[cluster] + rng.normal(0, 1.2, len(cluster)) - stratum
    label = np.digitize(quality, [-0.5, 0.3, 1.1, 1.9]).astype(float)
    score[rng.random(len(cluster)) < 0.1] = np.nan
    return Stratified(score, label, stratum, cluster)


def in_strata(data: Stratified) -> Figures:
    found = {}
    for name in COEFFICIENTS:
        one = stats.stratified_correlation(data.score, data.label, data.stratum, name, data.cluster)
        found |= {f"{name}_mean_of_strata": one.mean, f"{name}_within_strata": one.within}
    return bootstrapped(**found)


@dataclass(frozen=True)
class Featured:
    features: np.ndarray
    outcome: np.ndarray
    cluster: np.ndarray


def featured(rng: np.random.Generator, n_clusters: int, shared: float = 0.0, n_features: int = 1) -> Featured:
    """A characteristic of the claim (its length), and an outcome that is half the claim's; one to eight pieces of
    evidence per claim. `shared` is how they correlate."""
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 9, n_clusters))
    features = rng.normal(size=(n_clusters, n_features))[cluster]
    own = rng.normal(size=n_clusters)[cluster] + rng.normal(size=len(cluster))
    return Featured(features, shared * features[:, 0] + np.sqrt((1 - shared**2) / 2) * own, cluster)


def of_features(data: Featured) -> Figures:
    found: Figures = {}
    nothing = np.zeros(len(data.outcome), dtype=int)
    for name in ("pearson", "spearman"):
        table = stats.feature_correlations(data.features, data.outcome, nothing, 1, data.cluster, name)
        low, high = table.confidence_intervals()
        found[name] = (table.estimate[0, 0], lambda low=low, high=high: (low[0, 0], high[0, 0]))
    return found


NONE, SHARED = 0.0, 0.4
STUDIES = {
    "correlations in strata": Study(stratified, in_strata, (80, 20), 20_000),
    "features that do not correlate": Study(
        featured, of_features, (60, 15), 1, {name: np.array(NONE) for name in ("pearson", "spearman")}
    ),
    "features that correlate": Study(
        lambda rng, n: featured(rng, n, SHARED),
        of_features,
        (60, 15),
        1,
        {"pearson": np.array(SHARED), "spearman": np.array(6 / np.pi * np.arcsin(SHARED / 2))},
    ),
}


def independent(rng: np.random.Generator) -> dict[str, float]:
    """A score and five labels of independent items that share nothing; five systems whose means share nothing."""
    label = rng.integers(0, 5, 40).astype(float)
    score = rng.normal(size=40)
    systems = rng.normal(size=(2, 5))
    seed = int(rng.integers(2**31))
    found = {
        f"correlation_test, {name.replace('_', ' ')}": stats.correlation_test(
            score, label, name, n_permutations=PERMUTATIONS, seed=seed
        ).p_value
        for name in COEFFICIENTS
    }
    found["correlation_test of five systems"] = stats.correlation_test(*systems, n_permutations=120).p_value
    nothing = np.zeros(len(label), dtype=int)
    for name in ("pearson", "spearman"):
        table = stats.feature_correlations(
            score[:, None],
            label,
            nothing,
            1,
            coefficient=name,
            test="permutation",
            n_permutations=PERMUTATIONS,
            seed=seed,
        )
        found[f"feature_correlations by permutation, {name}"] = float(table.p_value[0, 0])
        found[f"feature_correlations over independent units, {name}"] = float(table.p_units[0, 0])
    return found


def few_and_many(rng: np.random.Generator) -> dict[str, float]:
    """Claims, 15 or 60 of them, that both sides depend on although they share nothing else."""
    found = {}
    for n_claims in (15, 60):
        data = featured(rng, n_claims)
        for name in ("spearman", "pearson"):
            nothing = np.zeros(len(data.outcome), dtype=int)
            table = stats.feature_correlations(data.features, data.outcome, nothing, 1, data.cluster, name)
            found[f"feature_correlations over {n_claims} claims, {name}"] = float(table.p_value[0, 0])
            found[f"feature_correlations over units of {n_claims} claims, {name}"] = float(table.p_units[0, 0])
        cluster = np.repeat(np.arange(n_claims), rng.integers(1, 4, n_claims))
        score, label = rng.normal(size=(2, n_claims))[:, cluster] + rng.normal(0, 0.3, (2, len(cluster)))
        found[f"correlation_test of {n_claims} whole claims"] = stats.correlation_test(
            score, label, cluster=cluster, n_permutations=PERMUTATIONS, seed=int(rng.integers(2**31))
        ).p_value
    return found


def families(rng: np.random.Generator) -> dict[str, float]:
    """Ten features of 60 claims, one family: none correlates with the outcome, or the first half does. `any false one`
    is the smallest adjusted p of those that do not; `a found one is false` looks at one of those found, drawn by
    chance, so that its share is the expected share of false ones."""
    nothing = featured(rng, 60, n_features=FEATURES)
    some = featured(rng, 60, n_features=FEATURES)
    real = np.arange(FEATURES) < FEATURES // 2
    outcome = some.outcome + 0.5 * some.features[:, real].sum(axis=1)
    found = {}
    for which, features, y, cluster, is_real in (
        ("no feature correlates", nothing.features, nothing.outcome, nothing.cluster, np.zeros(FEATURES, dtype=bool)),
        ("half of them do", some.features, outcome, some.cluster, real),
    ):
        table = stats.feature_correlations(features, y, np.zeros(len(y), dtype=int), 1, cluster, "spearman")
        by_holm, by_bh = table.p_holm[0], table.p_bh[0]
        found[f"Holm, any false one, {which}"] = float(by_holm[~is_real].min())
        taken = np.flatnonzero(by_bh <= 0.05)
        drawn_is_false = len(taken) > 0 and not is_real[rng.choice(taken)]
        found[f"Benjamini-Hochberg, a found one is false, {which}"] = 0.0 if drawn_is_false else 1.0
    return found
