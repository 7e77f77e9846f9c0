"""Further studies with planted truth, as in planted.py: answers in the order of work, selected items, long
answers and their aspects, pieces copied from passages, and labellers whose skill hangs on the claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats import Labels
from benchmarks.studies.planted import CATEGORIES, N_RATERS, RIGHT, Compared, clusters, confused, truths


@dataclass(frozen=True)
class Worked:
    """Answers in the order of work: the share of others who agree, and whose answer it is, to what and when."""

    share: np.ndarray
    cluster: np.ndarray
    rater: np.ndarray
    after: np.ndarray


def _shares(rng: np.random.Generator, chance: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Shares of two others who agree, each with this chance; four in ten follow the luck of their cluster, so that
    answers within one are alike."""
    own, of_cluster = rng.random((len(chance), 2)), rng.random((int(cluster.max()) + 1, 1))
    luck = np.where(rng.random((len(chance), 2)) < 0.4, of_cluster[cluster], own)
    return (luck < chance[:, None]).mean(axis=1)


def worked(rng: np.random.Generator, n_clusters: int, each: int, rise: float = 0.2) -> Worked:
    """One person, `each` answers in every cluster, one cluster after the other; agreement rises from 0.6 on."""
    cluster = np.repeat(np.arange(n_clusters), each)
    chance = 0.6 + rise * np.arange(len(cluster)) / (len(cluster) - 1)
    nobody = np.zeros(len(cluster), dtype=int)
    return Worked(_shares(rng, chance, cluster), cluster, nobody, nobody)


def changed(rng: np.random.Generator, n_clusters: int, rise: float = 0.1, n_people: int = 6) -> Worked:
    """Six people who differ, three in five of whom answer each unit; agreement rises halfway, for some more than for
    others."""
    unit_cluster = clusters(rng, n_clusters)
    unit, rater = np.nonzero(rng.random((len(unit_cluster), n_people)) < 0.6)
    cluster = unit_cluster[unit]
    after = (cluster >= n_clusters // 2).astype(int)
    level, rises = rng.normal(0.6, 0.08, n_people), rng.normal(rise, 0.05, n_people)
    chance = np.clip(level[rater] + after * rises[rater], 0, 1)
    return Worked(_shares(rng, chance, cluster), cluster, rater, after)


@dataclass(frozen=True)
class Selected:
    """Labels, and each unit's chance to get more than one."""

    labels: Labels
    chance: np.ndarray


def selected(rng: np.random.Generator, n_clusters: int) -> Selected:
    """Of every unit one label, of hard units three and of three in ten of the others too. People who know less of what
    is hard guess there."""
    cluster = clusters(rng, n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    is_hard = rng.random(n) < 0.3
    chance = np.where(is_hard, 1.0, 0.3)
    several = rng.random(n) < chance
    rater = np.argsort(rng.random((n, N_RATERS)), axis=1)[:, :3]
    knows = rng.random((n, 3)) < np.where(is_hard, 0.45, 0.85)[:, None]
    said = np.where(knows, truth[:, None], rng.integers(0, len(CATEGORIES), (n, 3)))
    unit, place = np.nonzero(several[:, None] | (np.arange(3) == 0))
    return Selected(Labels(unit, rater[unit, place], said[unit, place], n, CATEGORIES, cluster=cluster), chance)


@dataclass(frozen=True)
class Labelled:
    """Labels by people of unlike competence, and a labeller's."""

    labels: Labels
    predicted: np.ndarray


def labelled(rng: np.random.Generator, n_clusters: int) -> Labelled:
    """The raters of `confused`, and a labeller who follows one of the two best three times in four."""
    labels = confused(rng, n_clusters)
    said = np.full((labels.n_units, len(RIGHT)), -1)
    said[labels.unit, labels.rater] = labels.value
    best = np.where(said[:, 0] >= 0, said[:, 0], said[:, 1])
    guess = rng.integers(0, len(labels.categories), labels.n_units)
    return Labelled(labels, np.where((rng.random(labels.n_units) < 0.75) & (best >= 0), best, guess))


@dataclass(frozen=True)
class Long:
    """Long answers: their claims, and people's labels of the aspects of each."""

    n_supported: np.ndarray
    n_claims: np.ndarray
    labels: Labels
    response: np.ndarray
    query: np.ndarray


def long_answers(rng: np.random.Generator, n_queries: int, each: int = 2) -> Long:
    """Two answers per query, alike within it: up to eight claims (none in one of nine), two to six aspects, three
    people who are right in 85 % of them."""
    query = np.repeat(np.arange(n_queries), each)
    factual, broad = rng.beta(5, 2, n_queries)[query], rng.beta(3, 3, n_queries)[query]
    n_claims = rng.integers(0, 9, len(query))
    response = np.repeat(np.arange(len(query)), rng.integers(2, 7, n_queries)[query])
    is_covered = rng.random(len(response)) < broad[response]
    said = np.where(rng.random((len(response), 3)) < 0.85, is_covered[:, None], ~is_covered[:, None]).astype(int)
    unit, rater = np.nonzero(np.ones(said.shape, dtype=bool))
    labels = Labels(unit, rater, said.ravel(), len(response), ("no", "yes"))
    return Long(rng.binomial(n_claims, factual), n_claims, labels, response, query)


@dataclass(frozen=True)
class Copied:
    """Words of pieces and of the passage that each belongs to."""

    pieces: list[list[str]]
    contexts: list[list[list[str]]]
    context: np.ndarray


def copied(rng: np.random.Generator, n_questions: int) -> Copied:
    """Passages of twenty words; pieces of three to six, which take a run of the passage or any words, more of the
    former in some questions."""
    context = clusters(rng, n_questions)
    vocabulary = np.array([f"w{place}" for place in range(60)])
    passages = vocabulary[rng.integers(0, len(vocabulary), (n_questions, 20))]
    copies = rng.random(len(context)) < rng.beta(2, 2, n_questions)[context]
    pieces = []
    for question, takes, size in zip(context, copies, rng.integers(3, 7, len(context)), strict=True):
        start = int(rng.integers(0, 15))
        words = passages[question][start : start + size] if takes else vocabulary[rng.integers(0, 60, size)]
        pieces.append(words.tolist())
    return Copied(pieces, [[passage.tolist()] for passage in passages], context)


def habits_by_claim(rng: np.random.Generator, n_clusters: int, asked: int = 3) -> Labels:
    """The same three of six raters label all units of a claim and guess, each with other habits in each claim: nobody
    agrees for a reason, but labels of one rater within one claim are alike."""
    cluster = clusters(rng, n_clusters)
    n = len(cluster)
    habit = np.cumsum(rng.dirichlet(np.full(len(CATEGORIES), 0.5), (n_clusters, N_RATERS)), axis=2)
    rater = np.argsort(rng.random((n_clusters, N_RATERS)), axis=1)[cluster, :asked]
    value = (rng.random((n, asked, 1)) > habit[cluster[:, None], rater][..., :-1]).sum(axis=2)
    unit = np.repeat(np.arange(n), asked)
    return Labels(unit, rater.ravel(), value.ravel(), n, CATEGORIES, cluster=cluster)


def skilled_by_claim(rng: np.random.Generator, n_clusters: int, n_labellers: int = 2) -> tuple[np.ndarray, ...]:
    """Reference, the labels of equally good labellers, each better in other claims, and the clusters."""
    cluster = clusters(rng, n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    skill = rng.beta(1.4, 0.6, (n_clusters, n_labellers))[cluster]
    wrong = (truth[:, None] + rng.integers(1, len(CATEGORIES), (n, n_labellers))) % len(CATEGORIES)
    said = np.where(rng.random((n, n_labellers)) < skill, truth[:, None], wrong)
    return truth, *said.T, cluster


def compared_by_claim(rng: np.random.Generator, n_clusters: int) -> Compared:
    """As `compared` with a model as good as the people, each of whom, and the model, is better in other claims."""
    cluster = clusters(rng, n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    skill = rng.beta(1.4, 0.6, (n_clusters, N_RATERS))[cluster]
    guess = rng.integers(0, len(CATEGORIES), (n, N_RATERS))
    said = np.where(rng.random((n, N_RATERS)) < skill, truth[:, None], guess)
    unit, rater = np.nonzero(rng.random((n, N_RATERS - 1)) < 0.6)
    people = Labels(unit, rater, said[unit, rater], n, CATEGORIES, cluster=cluster)
    return Compared(people, said[:, -1])
