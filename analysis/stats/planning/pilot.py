"""What a pilot says about people, labels and clusters, and units simulated from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.annotators.latent_truth import dawid_skene
from analysis.stats.labels import Labels

# Units simulated once, from which studies draw.
POOL = 20_000
# Of more people than this, the same is seldom drawn twice for a unit, and sorting them out costs too much.
DISTINCT = 40
NO_PILOT = "no unit of the pilot has two labels, so nothing is known about how people differ"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pilot:
    """What a pilot says about people, labels and clusters.

    Attributes
    ----------
    confusion : (n_raters, n_categories, n_categories) float array
        Row k holds the chances of a rater's labels where k is true.
    prevalence : (n_categories,) float array
        Shares of the true labels.
    categories : tuple of str
    cluster_size : int
        Units per cluster, 1 where units are independent.
    correlation : float
        Of the true labels of two units of one cluster, 0 to 1.
    machine : (n_categories, n_categories) float array or None
        The confusion of a checker.
    undefined : str
        Why there is nothing to plan from.
    """

    confusion: np.ndarray
    prevalence: np.ndarray
    categories: tuple[str, ...]
    cluster_size: int = 1
    correlation: float = 0.0
    machine: np.ndarray | None = None
    undefined: str = ""


def pilot_of(labels: Labels, machine: np.ndarray | None = None) -> Pilot:
    """Read a pilot off its labels: true labels and confusion tables by Dawid-Skene, one label's weight of the pooled
    table added to each rater's rows so that few labels make nobody perfect.

    Parameters
    ----------
    labels : Labels
        With clusters where units come in them. Exchangeable raters share one table.
    machine : (n_units,) int array, optional
        A checker's labels, -1 where it gave none.

    Returns
    -------
    Pilot
        Undefined where no unit has two labels. The correlation within clusters is that of the posteriors, corrected for
        their uncertainty and cut to 0..1.
    """
    q = len(labels.categories)
    per_unit = np.bincount(labels.unit, minlength=labels.n_units)
    if not (per_unit > 1).any():
        return Pilot(
            confusion=np.eye(q)[None],
            prevalence=np.full(q, np.nan),
            categories=labels.categories,
            undefined=NO_PILOT,
        )
    truth = dawid_skene(replace(labels, exchangeable=False))
    posterior = np.nan_to_num(truth.posterior)
    counts = np.zeros((labels.n_raters, q, q))
    np.add.at(counts, (labels.rater, slice(None), labels.value), posterior[labels.unit])
    pooled = _rows(counts.sum(axis=0), np.eye(q))
    has_labels = np.bincount(labels.rater, minlength=labels.n_raters) > 0
    confusion = pooled[None] if labels.exchangeable else _rows(counts, pooled)[has_labels]
    machine_confusion = None
    if machine is not None:
        machine_confusion = _machine(posterior[per_unit > 0], np.asarray(machine)[per_unit > 0])
    size, correlation = _clusters(labels, posterior)
    return Pilot(
        confusion=confusion,
        prevalence=truth.prevalence,
        categories=labels.categories,
        cluster_size=size,
        correlation=correlation,
        machine=machine_confusion,
    )


def simulated(pilot: Pilot, n_raters: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True labels (n,), labels (n, n_raters) and clusters (n,) of simulated units.

    A unit takes the label of its cluster with the chance whose square is the correlation. All labels are drawn evenly
    (`_evenly`): true ones over all units, and each judgement over the units that are alike in everything drawn before.
    Rare ones then come about as often as they should, which a plain draw of so many units leaves to chance.
    """
    size = pilot.cluster_size
    n_clusters = max(POOL // size, 2)
    n, known = n_clusters * size, len(pilot.confusion)
    cluster = np.repeat(np.arange(n_clusters), size)
    q, chance = len(pilot.prevalence), math.sqrt(pilot.correlation)
    steps, people_steps = pilot.prevalence.cumsum()[:-1], pilot.confusion.cumsum(axis=-1)[..., :-1]
    (common, _), (own, _) = (_evenly(steps, np.zeros(many, dtype=np.int64), rng) for many in (n_clusters, n))
    from_cluster, _ = _evenly(np.array([1 - chance]), common[cluster] * q + own, rng)
    truth = np.where(from_cluster == 1, common[cluster], own)
    if n_raters <= known <= DISTINCT:
        rater = rng.random((n, known)).argsort(axis=1)[:, :n_raters]
    else:
        rater = rng.integers(0, known, (n, n_raters))
    labels, alike = np.empty(rater.shape, dtype=np.int64), truth
    for by, label in zip(rater.T, labels.T, strict=True):
        label[:], alike = _evenly(people_steps[by, truth], alike * known + by, rng)
        alike = alike * q + label
    return truth, labels, cluster


def draw(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A category for each row of shares (the last axis)."""
    steps = shares.cumsum(axis=-1)[..., :-1]
    return (rng.random(shares.shape[:-1])[..., None] > steps).sum(axis=-1)


def _evenly(steps: np.ndarray, alike: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Categories where units that are alike, and so have the same shares, get each in proportion, up to chance in what
    is left over; and the groups of alike units, numbered without gaps. `steps` are the shares added up, without
    the last, for each unit or for all."""
    order = (alike + rng.random(len(alike))).argsort()  # those alike side by side, in a random order
    starts = np.diff(alike[order], prepend=-1) > 0
    number, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
    size = np.diff(first, append=len(alike))
    # One random point in each of as many equal parts of 0 to 1 as there are units alike.
    points, group = np.empty(len(alike)), np.empty(len(alike), dtype=np.int64)
    points[order] = (np.arange(len(alike)) - first[number] + rng.random(len(alike))) / size[number]
    group[order] = number
    return (points[:, None] > steps).sum(axis=-1), group


def variance_of_cluster(pilot: Pilot, values: np.ndarray, truth: np.ndarray) -> float:
    """Variance of the sum of the values of one cluster's units, from those of many simulated units.

    Given their true labels units are independent, and two of a cluster have the same one from it with a chance of the
    correlation r, else two of the prevalence. So with m units and means mu_t given the true label it is
    ``m var(value) + m (m - 1) r var(mu_t)``, which is known far better than from sums of as many clusters.
    """
    n = np.bincount(truth, minlength=len(pilot.prevalence))
    share = np.where(n > 0, pilot.prevalence, 0)
    share = share / share.sum()
    mean, square = (
        np.divide(np.bincount(truth, column, len(n)), n, out=np.zeros(len(n)), where=n > 0)
        for column in (values, values**2)
    )
    size, middle = pilot.cluster_size, share @ mean
    between = share @ (mean - middle) ** 2
    return float(size * (share @ square - middle**2) + size * (size - 1) * pilot.correlation * between)


def _machine(posterior: np.ndarray, machine: np.ndarray) -> np.ndarray:
    """Confusion of a checker whose errors are independent of people's, given the true label: its chance of a label is
    then linear in the posterior, and least squares undoes that the posterior is uncertain."""
    posterior, machine = posterior[machine >= 0], machine[machine >= 0]
    q = posterior.shape[1]
    gave = (machine[:, None] == np.arange(q)).astype(float)
    table = np.linalg.solve(posterior.T @ posterior + np.eye(q), posterior.T @ gave + 1 / q).clip(min=0)
    return table / table.sum(axis=1, keepdims=True)


def _rows(counts: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Each row of counts with one label's weight of the prior's row, as shares."""
    return (counts + prior) / (counts.sum(axis=-1, keepdims=True) + prior.sum(axis=-1, keepdims=True))


def _clusters(labels: Labels, posterior: np.ndarray) -> tuple[int, float]:
    """Mean size of the clusters of labelled units, and the correlation of true labels within them.

    Posteriors vary less than what they stand for, by ``r = var(posterior) / var(truth)``, and their covariances by r^2.
    """
    if labels.cluster is None:
        return 1, 0.0
    units = np.flatnonzero(posterior.sum(axis=1) > 0)
    clusters, dense = np.unique(labels.cluster[units], return_inverse=True)
    n = np.bincount(dense)
    size, pairs = max(1, round(float(n.mean()))), (n * (n - 1)).sum()
    prevalence = posterior[units].mean(axis=0)
    away = posterior[units] - prevalence
    spread, truth_spread = (away**2).sum(axis=1).mean(), (prevalence * (1 - prevalence)).sum()
    if not pairs or not spread:
        return size, 0.0
    sums = np.zeros((len(clusters), len(prevalence)))
    np.add.at(sums, dense, away)
    covariance = ((sums**2).sum() - (away**2).sum()) / pairs
    return size, float(np.clip(covariance * truth_spread / spread**2, 0, 1))
