"""Studies whose truth is planted: units in clusters that are alike, k of n raters, missing labels.

Every `draw` makes one study of a given number of clusters; a very large one gives the true values of its figures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats import Labels, Marked

N_RATERS, ASKED, MISSING = 6, 3, 0.15
CATEGORIES = ("0", "1", "2", "3")
PREVALENCE = np.array([0.45, 0.3, 0.15, 0.1])
# What each rater says without looking: everybody has a habit of their own.
HABITS = np.array(
    [
        [0.4, 0.3, 0.2, 0.1],
        [0.1, 0.4, 0.4, 0.1],
        [0.25, 0.25, 0.25, 0.25],
        [0.6, 0.2, 0.1, 0.1],
        [0.1, 0.2, 0.3, 0.4],
        [0.3, 0.5, 0.1, 0.1],
    ]
)


def clusters(rng: np.random.Generator, n_clusters: int, most: int = 4) -> np.ndarray:
    """Cluster of each unit; clusters hold one to `most` units."""
    return np.repeat(np.arange(n_clusters), rng.integers(1, most + 1, n_clusters))


def truths(rng: np.random.Generator, cluster: np.ndarray) -> np.ndarray:
    """True categories: half of the units follow their cluster's own, so that units of a cluster are alike."""
    own = rng.choice(len(PREVALENCE), int(cluster[-1]) + 1, p=PREVALENCE)
    return np.where(
        rng.random(len(cluster)) < 0.5, own[cluster], rng.choice(len(PREVALENCE), len(cluster), p=PREVALENCE)
    )


def labels(
    rng: np.random.Generator, n_clusters: int, clustered: bool = True, asked: int = ASKED, knowing: float = 4.0
) -> Labels:
    """`asked` of six raters per unit, each label missing with a chance of 0.15.

    A rater knows the truth with a chance that belongs to the cluster (beta distributed, mean knowing / (knowing + 2)),
    and guesses by habit else.
    """
    cluster = clusters(rng, n_clusters) if clustered else np.arange(n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    rater = np.argsort(rng.random((n, N_RATERS)), axis=1)[:, :asked]
    knows = rng.random((n, asked)) < rng.beta(knowing, 2, n_clusters)[cluster][:, None]
    guess = (rng.random((n, asked, 1)) > np.cumsum(HABITS, axis=1)[rater][..., :-1]).sum(axis=2)
    unit, place = np.nonzero(rng.random((n, asked)) >= MISSING)
    value = np.where(knows, truth[:, None], guess)
    return Labels(unit, rater[unit, place], value[unit, place], n, CATEGORIES, cluster=cluster if clustered else None)


@dataclass(frozen=True)
class Judged:
    """Units with a reference, probabilities of a checker, and its label and that of another; -1 where missing."""

    reference: np.ndarray
    probabilities: np.ndarray
    predicted: np.ndarray
    other: np.ndarray
    cluster: np.ndarray


def judged(rng: np.random.Generator, n_clusters: int, other_as_good: bool = False) -> Judged:
    """A checker whose logits lean towards the truth, more so in some clusters, and a second one that is worse or as
    good; a tenth of the references is missing."""
    cluster = clusters(rng, n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    pull = rng.normal(1.5, 0.7, n_clusters)[cluster][:, None]
    leaning = np.eye(4)[truth] * pull
    logits = leaning + rng.normal(0, 1, (n, 4))
    again = (leaning if other_as_good else 0.7 * leaning) + rng.normal(0, 1, (n, 4))
    chance = np.exp(1.3 * logits)
    reference = np.where(rng.random(n) < 0.1, -1, truth)
    return Judged(
        reference, chance / chance.sum(axis=1, keepdims=True), logits.argmax(axis=1), again.argmax(axis=1), cluster
    )


@dataclass(frozen=True)
class Scored:
    """Two automatic scores (nan where missing) and an ordinal label."""

    a: np.ndarray
    b: np.ndarray
    label: np.ndarray
    cluster: np.ndarray | None


def scored(
    rng: np.random.Generator, n_clusters: int, b_as_good: bool = False, clustered: bool = True, heavy: bool = True
) -> Scored:
    """Scores that follow the label's quality and that of the cluster; five labels; some missing; heavy tails (Student's
    t with six degrees of freedom) or normal ones."""
    cluster = clusters(rng, n_clusters) if clustered else np.arange(n_clusters)
    n = len(cluster)
    quality = (rng.normal(0, 0.7, n_clusters)[cluster] if clustered else 0) + rng.normal(0, 1, n)
    label = np.digitize(quality, [-1.2, -0.4, 0.4, 1.2])
    shared = rng.normal(0, 0.6, n_clusters)[cluster] if clustered else 0
    own_of_a, own_of_b = rng.standard_t(6, (2, n)) if heavy else rng.normal(0, 1.2, (2, n))
    a = quality + shared + own_of_a
    b = (quality if b_as_good else 0.5 * quality) + shared + own_of_b
    a[rng.random(n) < 0.05] = np.nan
    label[rng.random(n) < 0.1] = -1
    return Scored(a, b, label, cluster if clustered else None)


def erring(rng: np.random.Generator, n_clusters: int, b_by_cluster: bool = True) -> Scored:
    """Two scores that follow the labels equally well, normal, in clusters of one to eight units. Each errs in its own
    way, alike on all units of a cluster; or b by as much, but on every unit anew."""
    cluster = clusters(rng, n_clusters, 8)
    n = len(cluster)
    quality = rng.normal(0, 0.7, n_clusters)[cluster] + rng.normal(0, 1, n)
    of_a, of_b = rng.normal(0, 1.5, (2, n_clusters))
    a = quality + of_a[cluster] + rng.normal(0, 1.2, n)
    b = quality + (of_b[cluster] if b_by_cluster else rng.normal(0, 1.5, n)) + rng.normal(0, 1.2, n)
    return Scored(a, b, np.digitize(quality, [-1.2, -0.4, 0.4, 1.2]), cluster)


@dataclass(frozen=True)
class Sampled:
    """Units with people's labels and the machine's value, and units with the machine's value only."""

    human: np.ndarray
    machine: np.ndarray
    others: np.ndarray
    cluster: np.ndarray | None
    others_cluster: np.ndarray | None


def sampled(rng: np.random.Generator, n_clusters: int, clustered: bool = True) -> Sampled:
    """A rate of 0.3 and a machine that is right in 85 % of the units; people labelled every tenth cluster (or unit)."""
    cluster = clusters(rng, n_clusters) if clustered else np.arange(n_clusters)
    share = rng.beta(1.2, 2.8, n_clusters)[cluster] if clustered else 0.3
    truth = rng.random(len(cluster)) < share
    machine = np.where(rng.random(len(cluster)) < 0.85, truth, ~truth).astype(float)
    by_people = rng.permutation(n_clusters)[cluster] < n_clusters // 10
    return Sampled(
        truth[by_people].astype(float),
        machine[by_people],
        machine[~by_people],
        cluster[by_people] if clustered else None,
        cluster[~by_people] if clustered else None,
    )


@dataclass(frozen=True)
class Compared:
    """Labels by people, and a model's on the same units."""

    labels: Labels
    model: np.ndarray


def compared(rng: np.random.Generator, n_clusters: int, model_right: float = 0.65) -> Compared:
    """Five people who are right in 70 % of the units and label three in five of them, and a model."""
    cluster = clusters(rng, n_clusters)
    truth, n = truths(rng, cluster), len(cluster)
    said = np.where(rng.random((n, 5)) < 0.7, truth[:, None], rng.integers(0, 4, (n, 5)))
    unit, rater = np.nonzero(rng.random((n, 5)) < 0.6)
    model = np.where(rng.random(n) < model_right, truth, rng.integers(0, 4, n))
    return Compared(Labels(unit, rater, said[unit, rater], n, CATEGORIES, cluster=cluster), model)


RIGHT = np.array([0.95, 0.85, 0.75, 0.65, 0.4])
CONFUSION = np.where(np.eye(3, dtype=bool), RIGHT[:, None, None], (1 - RIGHT[:, None, None]) / 2)


def confused(rng: np.random.Generator, n_clusters: int) -> Labels:
    """Five raters who are right so often (RIGHT), and else give one of the two other labels; a fifth is missing.

    The competence of Dawid and Skene is that share; that of MACE, where wrong labels are equally likely, the share
    known: ``(3 right - 1) / 2``.
    """
    cluster = clusters(rng, n_clusters)
    n = len(cluster)
    truth = rng.integers(0, 3, n)
    right = rng.random((n, 5)) < RIGHT
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (n, 5))) % 3)
    unit, rater = np.nonzero(rng.random((n, 5)) >= 0.2)
    return Labels(unit, rater, said[unit, rater], n, ("a", "b", "c"), cluster=cluster)


def marked(rng: np.random.Generator, n_clusters: int) -> list[Marked]:
    """Three raters, two of whom look at each text of 40 characters: a true span with ends that are off by a little,
    sometimes overlooked."""
    cluster = clusters(rng, n_clusters, 2)
    found = []
    care = rng.beta(5, 2, n_clusters)
    for unit, of in enumerate(cluster):
        start = int(rng.integers(0, 25))
        for rater in rng.permutation(3)[:2]:
            spans = ()
            if rng.random() < care[of]:
                off = rng.integers(-2, 3, 2) * (rng.random(2) < 0.6)
                spans = ((max(0, start + int(off[0])), min(40, start + 10 + int(off[1]))),)
            found.append(Marked(unit, int(rater), spans, 40, int(of)))
    return found


@dataclass(frozen=True)
class Extracted:
    """Labels of the triplets of responses by several models."""

    label: np.ndarray
    response: np.ndarray
    model: np.ndarray
    n_responses: dict[int, int]


def extracted(rng: np.random.Generator, n_responses: int, n_models: int = 3) -> Extracted:
    """Responses of one to six triplets, alike within a response, or with none in a tenth of the cases."""
    size = np.where(rng.random((n_models, n_responses)) < 0.1, 0, rng.integers(1, 7, (n_models, n_responses)))
    of_response = np.repeat(np.arange(n_models * n_responses), size.ravel())
    model = of_response // n_responses
    share = rng.beta(2, 2, n_models * n_responses)[of_response]
    label = np.where(rng.random(len(of_response)) < share, 0, rng.integers(1, 3, len(of_response)))
    return Extracted(label, of_response, model, dict.fromkeys(range(n_models), n_responses))
