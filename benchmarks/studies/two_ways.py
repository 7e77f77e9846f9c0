"""Studies in which two things are drawn at once, systems and items or annotators and items,
and correlations that are none (levels.py)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import stats
from benchmarks.studies.study import Figures, Study, bootstrapped

TRUE = 0.8
# Systems -> items, and annotators -> items.
ITEMS, TRIAL_ITEMS = {7: 100, 15: 60}, {20: 150, 5: 60}
HELP = 0.1
PERMUTATIONS = 99
COEFFICIENTS = {"pearson": stats.pearson, "spearman": stats.spearman, "kendall_tau_b": stats.kendall_tau_b}


@dataclass(frozen=True)
class Ranked:
    """Scores and labels of all systems on all items; `quality` are the true means of both, (n_systems, 2)."""

    values: np.ndarray
    quality: np.ndarray


def ranked(rng: np.random.Generator, n_systems: int) -> Ranked:
    """Systems whose true means correlate by 0.8, on items that are hard or easy for all of them, with noise."""
    n_items = ITEMS[n_systems]
    quality = rng.multivariate_normal([0, 0], [[1, TRUE], [TRUE, 1]], n_systems)
    shared, noise = rng.normal(0, 1, (1, n_items, 2)), rng.normal(0, 1, (n_systems, n_items, 2))
    return Ranked(quality[:, None] + shared + noise, quality)


def system_level(data: Ranked) -> Figures:
    """`by_item` is of these systems, so that its truth is another in every study: it is given less that truth."""
    n_systems, n_items, _ = data.values.shape
    system, item = np.indices((n_systems, n_items)).reshape(2, -1).tolist()
    score, label = data.values.reshape(-1, 2).T
    found: Figures = {}
    for coefficient in COEFFICIENTS:
        one = stats.system_correlation(score, label, system, item, coefficient)
        here = COEFFICIENTS[coefficient](*data.quality.T).estimate
        parts = bootstrapped(by_item=one.by_item, by_system=one.by_system, by_both=one.by_both)
        estimate, ends = parts.pop("by_item")
        found[f"{coefficient}_by_item_less_its_truth"] = (estimate - here, lambda e=ends, t=here: less(e(), t))
        found |= {f"{coefficient}_{name}": part for name, part in parts.items()}
    return found


def less(ends: tuple[float, float], truth: float) -> np.ndarray:
    """Seven systems have few rank correlations, so that an interval often ends at the truth: rounding must not decide
    whether it holds it."""
    return np.round(np.subtract(ends, truth), 12)


SPEARMAN, KENDALL = 6 / np.pi * np.arcsin(TRUE / 2), 2 / np.pi * np.arcsin(TRUE)
TRUTH = {
    f"{coefficient}_{of}": np.array(value)
    for coefficient, true in (("pearson", TRUE), ("spearman", SPEARMAN), ("kendall_tau_b", KENDALL))
    for of, value in (("by_item_less_its_truth", 0.0), ("by_system", true), ("by_both", true))
}


def compared(rng: np.random.Generator, n_items: int) -> Ranked:
    """Six answers to each question, with ratings from 1 to 5, in questions that are hard or easy for all of them."""
    quality = rng.normal(0, 1, (n_items, 6, 1))
    values = quality + rng.normal(0, 1, (n_items, 1, 2)) + rng.normal(0, 1, (n_items, 6, 2))
    values[..., 1] = np.clip(values[..., 1].round() + 3, 1, 5)
    return Ranked(values, quality)


def within_items(data: Ranked) -> Figures:
    item = np.repeat(np.arange(len(data.values)), 6).tolist()
    score, label = data.values.reshape(-1, 2).T
    return bootstrapped(**{f"mean_{name}": stats.item_correlation(score, label, item, name) for name in COEFFICIENTS})


@dataclass(frozen=True)
class Trial:
    """Labels of a trial of suggestions: whether they equal them, who saw them, of whom and of what."""

    agrees: np.ndarray
    seen: np.ndarray
    annotator: np.ndarray
    item: np.ndarray


def trial(rng: np.random.Generator, n_annotators: int) -> Trial:
    """Three annotators per item, each of whom sees the suggestion by chance; people and items differ in how often
    labels equal it, which rises by 0.1, for some more than for others."""
    n_items = TRIAL_ITEMS[n_annotators]
    item = np.repeat(np.arange(n_items), 3)
    annotator = np.argsort(rng.random((n_items, n_annotators)), axis=1)[:, :3].ravel()
    seen = rng.random(len(item)) < 0.5
    level = 0.6 + rng.normal(0, 0.06, n_annotators)[annotator] + rng.normal(0, 0.1, n_items)[item]
    chance = level + seen * rng.normal(HELP, 0.04, n_annotators)[annotator]
    return Trial(rng.random(len(item)) < np.clip(chance, 0, 1), seen, annotator, item)


def suggestions(data: Trial) -> Figures:
    everywhere = np.ones(len(data.item), dtype=int)
    found = stats.suggestion_effect(data.agrees, data.seen, everywhere, data.annotator, data.item).strata["all"]
    return {
        name: (one.estimate, lambda one=one: (one.low, one.high))
        for name, one in (("difference", found.difference), ("within_annotators", found.within))
    }


STUDIES = {
    "system level": Study(ranked, system_level, (15, 7), 1, TRUTH),
    "correlation within items": Study(compared, within_items),
    "seeing suggestions": Study(
        trial, suggestions, (20, 5), 1, {"difference": np.array(HELP), "within_annotators": np.array(HELP)}
    ),
}


def null_correlations(rng: np.random.Generator) -> dict[str, float]:
    """Scores, labels and characteristics that share nothing but what they depend on: the stratum, or the claim."""
    stratum = np.repeat([0, 1, 2], 20)
    score, label = rng.normal(size=60) + stratum, np.digitize(rng.normal(size=60) + stratum, [0, 1, 2]).astype(float)
    cluster = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    a, b = rng.normal(size=(2, 40))[:, cluster] + rng.normal(0, 0.3, (2, len(cluster)))
    claim = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    length, usage = rng.normal(size=(2, 40))[:, claim]
    usage = usage * np.sqrt(0.5) + rng.normal(0, np.sqrt(0.5), len(claim))
    seed = int(rng.integers(2**31))
    found = {
        "correlation_test in strata": stats.correlation_test(
            score, label, stratum=stratum, n_permutations=PERMUTATIONS, seed=seed
        ).p_value,
        "correlation_test of whole claims": stats.correlation_test(
            a, b, cluster=cluster, n_permutations=PERMUTATIONS, seed=seed
        ).p_value,
    }
    for coefficient in ("spearman", "pearson"):
        table = stats.feature_correlations(length[:, None], usage, np.zeros(len(claim), int), 1, claim, coefficient)
        found[f"feature_correlations over claims, {coefficient}"] = float(table.p_value[0, 0])
        found[f"feature_correlations over units, {coefficient}"] = float(table.p_units[0, 0])
    return found
