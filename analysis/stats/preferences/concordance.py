"""How far people rank alike, and how often a system is the best or the worst of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from analysis.stats.resampling.cluster_robust import Effect, clustered_mean


@dataclass(frozen=True, eq=False)
class Concordance:
    """Of rankings of each unit by two people or more, averaged over units.

    Attributes
    ----------
    tau : Effect
        Kendall's tau-b of two people.
    w : Effect
        Kendall's coefficient of concordance, corrected for ties. By chance it is 1 / people, and not 0.
    """

    tau: Effect
    w: Effect


def rank_concordance(order: np.ndarray, unit: np.ndarray, cluster: np.ndarray) -> Concordance:
    """Kendall's tau and W of rankings.

    Parameters
    ----------
    order : (n, n_items, n_items) int array
        Of each ranking 1 where the item of the row is better than that of the column, -1 where it is worse, 0 where the
        two are equal or one of them is not in the ranking. People who rank a unit rank the same items.
    unit, cluster : (n,) int arrays
        What each ranking is of, and what units come in, such as a prompt.

    Returns
    -------
    Concordance
        Over units with two rankings or more that do not put all items in one place; intervals are clustered.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems; Kendall and Babington Smith (1939), The problem of m
    rankings.

    Examples
    --------
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    >>> order = np.sign(ranks[:, None, :] - ranks[:, :, None])
    >>> found = rank_concordance(order, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    >>> round(found.tau.estimate, 3), round(found.w.estimate, 3)
    (0.333, 0.75)
    """
    order = np.asarray(order, dtype=float)
    kept = order.any(axis=(1, 2))
    order, unit, cluster = order[kept], np.asarray(unit)[kept], np.asarray(cluster)[kept]
    units, first, code = np.unique(unit, return_index=True, return_inverse=True)
    n_people = np.bincount(code, minlength=len(units)).astype(float)
    several = n_people > 1
    m = np.where(several, n_people, 2.0)
    # Of unit vectors the sum of all products is the square of their sum.
    together = _sums(_unit_vectors(order), code, len(units))
    tau = ((together**2).sum(axis=(1, 2)) - n_people) / (m * (m - 1))
    places = order.sum(axis=2) / 2  # ranks less their mean
    spread = np.bincount(code, (places**2).sum(axis=1), minlength=len(units))
    w = (_sums(places, code, len(units)) ** 2).sum(axis=1) / (m * np.where(several, spread, 1.0))
    groups = [cluster[first]]
    return Concordance(*(clustered_mean(np.where(several, one, np.nan), groups) for one in (tau, w)))


def rank_agreement(own: np.ndarray, order: np.ndarray, unit: np.ndarray, cluster: np.ndarray) -> Effect:
    """Kendall's tau-b of one ranking of each unit with each person's, averaged over people and then over units.

    Parameters
    ----------
    own : (n_units, n_items, n_items) int array
        The one ranking of each unit, as in `rank_concordance`; all 0 where there is none.
    order : (n, n_items, n_items) int array
        Rankings by people.
    unit : (n,) int array
        The unit of each, as its place in `own`.
    cluster : (n_units,) int array
        What units come in.

    Returns
    -------
    Effect
        Over units that have both; its interval is clustered.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems.

    Examples
    --------
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [3, 2, 1]])
    >>> order = np.sign(ranks[:, None, :] - ranks[:, :, None])
    >>> round(rank_agreement(order[[0, 0]], order, np.array([0, 0, 1]), np.array([0, 1])).estimate, 3)
    -0.167
    """
    own, order = (_unit_vectors(one) for one in (own, order))
    ranked = order.any(axis=(1, 2))
    unit = np.asarray(unit)[ranked]
    n_people = np.bincount(unit, minlength=len(own))
    together = (own * _sums(order[ranked], unit, len(own))).sum(axis=(1, 2))
    both = own.any(axis=(1, 2)) & (n_people > 0)
    return clustered_mean(np.where(both, together / np.maximum(n_people, 1), np.nan), [cluster])


def _unit_vectors(order: np.ndarray) -> np.ndarray:
    """Of length 1; of length 0 where all items are in one place."""
    order = np.asarray(order, dtype=float)
    norm = np.sqrt((order**2).sum(axis=(1, 2), keepdims=True))
    return order / np.where(norm > 0, norm, 1.0)


def _sums(values: np.ndarray, code: np.ndarray, n: int) -> np.ndarray:
    total = np.zeros((n, *values.shape[1:]))
    np.add.at(total, code, values)
    return total


@dataclass(frozen=True, eq=False)
class BestWorstScores:
    """Arrays by system: how much more often it is the best than the worst of those that it is shown with, and how often
    it is shown. Ends are nan where nothing can be told of the spread."""

    scores: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray


def best_worst_scores(
    choice: np.ndarray,
    system: np.ndarray,
    prompt: np.ndarray,
    person: np.ndarray,
    n_systems: int,
    *,
    level: float = 0.95,
) -> BestWorstScores:
    """Best-worst scores, with intervals clustered by prompt and person.

    Variances over prompts and over people are added, that over people pooled over systems, and intervals are by
    Student's t with Satterthwaite's degrees of freedom, as those of `rank_systems` are.

    Parameters
    ----------
    choice, system : (n,) int arrays
        For each time that a system was shown, 1 where it was the best, -1 where it was the worst, 0 for neither.
    prompt, person : (n,) arrays
        Of one person, intervals are over prompts alone.

    References
    ----------
    Louviere, Flynn and Marley (2015), Best-Worst Scaling; Kiritchenko and Mohammad (2016), Capturing reliable
    fine-grained sentiment associations by crowdsourcing and best-worst scaling.

    Examples
    --------
    >>> found = best_worst_scores(np.array([1, -1, 1, -1, -1, 1]), [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], [0] * 6, 2)
    >>> found.scores.round(3).tolist()
    [0.333, -0.333]
    """
    choice, system = np.asarray(choice, dtype=float), np.asarray(system)
    n = np.bincount(system, minlength=n_systems)
    scores = np.divide(np.bincount(system, choice, n_systems), n, out=np.full(n_systems, np.nan), where=n > 0)
    error = (choice - scores[system]) / n[system]
    variance, weight = np.zeros(n_systems), np.zeros(n_systems)
    for by, is_pooled in ((prompt, False), (person, True)):
        members, code = np.unique(by, return_inverse=True)
        if len(members) < 2:
            if is_pooled:
                continue
            variance[:] = np.nan
            break
        sums = np.zeros((len(members), n_systems))
        np.add.at(sums, (code, system), error)
        own = (sums**2).sum(axis=0) * len(members) / (len(members) - 1)
        degrees = len(members) - 1
        if is_pooled:
            own, degrees = np.full(n_systems, own[n > 0].mean()), degrees * max(1, n_systems - 1)
        variance += own
        weight += own**2 / degrees
    variance[variance == 0] = np.nan
    half = stdtrit(np.divide(variance**2, weight, where=weight > 0, out=np.ones(n_systems)), (1 + level) / 2)
    half = half * np.sqrt(variance)
    return BestWorstScores(scores, np.clip(scores - half, -1, 1), np.clip(scores + half, -1, 1), n)
