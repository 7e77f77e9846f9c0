"""Studies of labellers held against people: label by label, answer by answer, by aspect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis import stats
from benchmarks.studies import planted
from benchmarks.studies.study import RESAMPLES, Figures, Study, bootstrapped

LABELS, SHARES = ("a", "b", "c"), np.array([0.5, 0.4, 0.1])


@dataclass(frozen=True)
class Said:
    """Two columns of labels of the same units, and the clusters of these."""

    reference: np.ndarray
    predicted: np.ndarray
    cluster: np.ndarray


def said(rng: np.random.Generator, n_clusters: int) -> Said:
    """Clusters lean to one of three labels, and the machine is better on some of them than on others; a tenth of the
    references is missing."""
    cluster = planted.clusters(rng, n_clusters)
    leaning = rng.choice(3, n_clusters, p=SHARES)[cluster]
    reference = np.where(rng.random(len(cluster)) < 0.4, leaning, rng.choice(3, len(cluster), p=SHARES))
    is_right = rng.random(len(cluster)) < rng.beta(6, 2, n_clusters)[cluster]
    predicted = np.where(is_right, reference, rng.choice(3, len(cluster), p=SHARES))
    return Said(np.where(rng.random(len(cluster)) < 0.1, -1, reference), predicted, cluster)


def each_label(data: Said) -> Figures:
    found = stats.classification(data.reference, data.predicted, LABELS, data.cluster)

    @cache
    def intervals() -> tuple:
        return stats.label_intervals(found, RESAMPLES)

    def ends(place: int, name: str) -> tuple[float, float]:
        one = getattr(intervals()[place], name)
        return one.low, one.high

    return {
        f"{name} of a {which} label": (
            getattr(found.labels[place], name),
            lambda place=place, name=name: ends(place, name),
        )
        for which, place in (("common", 0), ("rare", 2))
        for name in ("precision", "recall", "f1")
    }


@dataclass(frozen=True)
class Judged:
    """Counts of each label among an answer's pieces, by people and by a checker, and the answer's question."""

    people: np.ndarray
    checker: np.ndarray
    question: np.ndarray


def answers(rng: np.random.Generator, n_questions: int, n_models: int = 3) -> Judged:
    """Three models' answers to each question, of no to six pieces, better or worse by the question and by the answer; a
    checker that is right in 85 % of the pieces."""
    question = np.repeat(np.arange(n_questions), n_models)
    good = 0.5 * rng.beta(3, 1, n_questions)[question] + 0.5 * rng.beta(3, 1, len(question))
    answer = np.repeat(np.arange(len(question)), rng.integers(0, 7, len(question)))
    truth = np.where(rng.random(len(answer)) < good[answer], 0, rng.integers(1, 3, len(answer)))
    found = np.where(rng.random(len(answer)) < 0.85, truth, rng.integers(0, 3, len(answer)))
    counts = [np.bincount(answer * 3 + label, minlength=3 * len(question)).reshape(-1, 3) for label in (truth, found)]
    return Judged(*counts, question)


def by_answer(data: Judged) -> Figures:
    found = stats.response_evaluation(
        data.people, data.checker, ("entailment", "neutral", "contradiction"), (2, 1, 0), (0,), data.question
    )
    return bootstrapped(
        accuracy=found.accuracy,
        factual_f1=found.factual_f1,
        non_factual_f1=found.non_factual_f1,
        pearson=found.pearson,
        spearman=found.spearman,
    )


@dataclass(frozen=True)
class Found:
    """Whether people and a machine find each aspect covered, -1 where they do not say."""

    people: np.ndarray
    machine: np.ndarray
    response: np.ndarray
    query: np.ndarray


def aspects(rng: np.random.Generator, n_queries: int, each: int = 2) -> Found:
    """Two answers per query, two to six aspects, covered more or less often by the query; a machine that is better on
    some queries than on others. A tenth of people's labels is missing."""
    query = np.repeat(np.arange(n_queries), each)
    n_aspects = rng.integers(2, 7, n_queries)[query]
    response = np.repeat(np.arange(len(query)), n_aspects)
    of = query[response]
    people = (rng.random(len(of)) < rng.beta(3, 2, n_queries)[of]).astype(int)
    is_right = rng.random(len(of)) < rng.beta(8, 2, n_queries)[of]
    machine = np.where(is_right, people, 1 - people)
    return Found(np.where(rng.random(len(of)) < 0.1, -1, people), machine, response, of)


def by_aspect(data: Found) -> Figures:
    found = stats.coverage_detection(data.people, data.machine, data.response, data.query)
    return bootstrapped(
        **{f"{name}_of_aspects": one for name, one in found.pooled.items()},
        **{f"{name}_mean_of_answers": one for name, one in found.mean.items()},
    )


STUDIES = {
    "a labeller, each label": Study(said, each_label, (80, 40)),
    "a checker of answers": Study(answers, by_answer, (80, 20), 20_000),
    "aspects found": Study(aspects, by_aspect, (80, 20), 20_000),
}
