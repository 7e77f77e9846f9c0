"""A labeller against soft labels: the shares of people who gave each label, where people's disagreement is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.correlation.coefficients import spearman
from analysis.stats.resampling.bootstrap import Estimate
from analysis.stats.resampling.cluster_robust import Effect, clustered_mean

LEAST_PEOPLE = 2  # of a unit: one label is no distribution
NO_UNIT = "no unit has labels of two people and one of the labeller"
CERTAIN = "infinite: probability 0 for a label that people gave"
ALIKE = "the same for all units, so the data give no interval"
SAME_ENTROPY = "one of the entropies is the same for all units"


@dataclass(frozen=True, kw_only=True)
class SoftDistances:
    """Means over units; `wasserstein` is None for labels without an order."""

    cross_entropy: Effect
    manhattan: Effect
    wasserstein: Effect | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftLabelComparison:
    """`constant` gives every unit people's mean distribution over these units. Entropies are in nats. `n` units count;
    `left_out` has how many do not, by reason."""

    labeller: SoftDistances
    constant: SoftDistances
    people_entropy: Effect
    labeller_entropy: Effect
    entropy_difference: Effect  # labeller minus people
    entropy_correlation: Estimate
    n: int
    left_out: dict[str, int]


def soft_label_comparison(
    counts: np.ndarray,
    probabilities: np.ndarray,
    values: Sequence[float] | None = None,
    cluster: np.ndarray | None = None,
) -> SoftLabelComparison:
    """How far a labeller's probabilities are from people's distribution over labels.

    For a unit with shares p of people and probabilities q of the labeller: cross-entropy ``-sum_k p_k ln q_k``,
    Manhattan distance ``sum_k |p_k - q_k|``, from 0 to 2, and for labels on a scale Wasserstein's distance, the sum
    over neighbouring values of ``|P - Q|`` (cumulated shares) times how far they are apart.

    Parameters
    ----------
    counts : (n_units, n_labels) array
        How many people gave each label. Units with fewer than two people do not count.
    probabilities : (n_units, n_labels) float array
        nan rows where there are none. Rows are divided by their sums. A labeller that gives a label and no
        probabilities gives this label probability 1.
    values : (n_labels,) sequence of float, optional
        Of labels on a scale, in any order.
    cluster : (n_units,) int array, optional

    Returns
    -------
    SoftLabelComparison
        Intervals of means are t intervals over units or clusters (`clustered_mean`), within the measure's range.
        Cross-entropy is undefined where the labeller gives probability 0 to a label that people gave: nothing is added
        to probabilities. The correlation (Spearman) is undefined where either entropy is the same in all units, as that
        of labels without probabilities is.

    Raises
    ------
    ValueError
        Shapes that do not fit; counts below 0; probabilities below 0, or rows of zeros.

    References
    ----------
    Leonardelli et al. (2025), LeWiDi-2025 at NLPerspectives: third edition of the Learning with Disagreements shared
    task, arXiv 2510.08460 (Manhattan and Wasserstein distances); Uma et al. (2021), Learning from disagreement: a
    survey, JAIR 72 (cross-entropy).

    Examples
    --------
    >>> found = soft_label_comparison([[3, 1], [2, 2]], [[0.75, 0.25], [1, 0]], values=[1, 2])
    >>> found.labeller.manhattan.estimate, found.labeller.wasserstein.estimate
    (0.5, 0.25)
    >>> found.labeller.cross_entropy.undefined
    'infinite: probability 0 for a label that people gave, in 1 of 2 units'
    """
    n_given, q = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    if n_given.ndim != 2 or n_given.shape != q.shape:
        raise ValueError(f"counts and probabilities have one shape, units by labels, not {n_given.shape} and {q.shape}")
    scale = None if values is None else np.asarray(values, dtype=float)
    if (scale is not None and len(scale) != n_given.shape[1]) or (cluster is not None and len(cluster) != len(n_given)):
        raise ValueError("values have an entry for each label, and cluster one for each unit")
    is_known = ~np.isnan(q).any(axis=1)
    if (n_given < 0).any() or (q[is_known] < 0).any() or (is_known & (q.sum(axis=1) == 0)).any():
        raise ValueError("counts and probabilities are not below 0, and at least one probability of a unit is above 0")
    has_people = n_given.sum(axis=1) >= LEAST_PEOPLE
    both = has_people & is_known
    p, q = (rows[both] / rows[both].sum(axis=1, keepdims=True) for rows in (n_given, q))
    groups = np.arange(len(n_given))[both] if cluster is None else np.asarray(cluster)[both]
    left_out = {"fewer than two people": int((~has_people).sum()), "no labeller": int((has_people & ~is_known).sum())}

    def mean(of_units: np.ndarray, least: float = 0.0, most: float = np.inf) -> Effect:
        if infinite := int(np.isinf(of_units).sum()):
            nothing = clustered_mean(np.zeros(0), [np.zeros(0)])
            units = "unit" if len(p) == 1 else "units"
            return replace(nothing, n=len(p), undefined=f"{CERTAIN}, in {infinite:,} of {len(p):,} {units}")
        found = clustered_mean(of_units, [groups])
        if found.undefined:
            return replace(found, undefined=NO_UNIT)
        if np.isnan(found.low) and len(np.unique(groups)) > 1:
            found = replace(found, no_interval=ALIKE)
        return replace(found, low=np.maximum(found.low, least), high=np.minimum(found.high, most))

    def distances(to: np.ndarray) -> SoftDistances:
        with np.errstate(divide="ignore"):
            surprise = np.where(p > 0, -np.log(np.where(p > 0, to, 1.0)), 0.0)
        return SoftDistances(
            cross_entropy=mean((p * surprise).sum(axis=1)),
            manhattan=mean(np.abs(p - to).sum(axis=1), most=2.0),
            wasserstein=None if scale is None else mean(_wasserstein(p, to, scale), most=float(np.ptp(scale))),
        )

    of_people, of_labeller = _entropy(p), _entropy(q)
    greatest = float(np.log(max(1, n_given.shape[1])))
    entropies = np.full((2, len(n_given)), np.nan)
    entropies[:, both] = of_people, of_labeller
    correlation = spearman(entropies[1], entropies[0], cluster)
    if correlation.undefined and len(p) > 1:
        correlation = replace(correlation, undefined=SAME_ENTROPY)
    return SoftLabelComparison(
        labeller=distances(q),
        constant=distances(np.broadcast_to(p.mean(axis=0) if len(p) else np.zeros(p.shape[1]), p.shape)),
        people_entropy=mean(of_people, most=greatest),
        labeller_entropy=mean(of_labeller, most=greatest),
        entropy_difference=mean(of_labeller - of_people, -greatest, greatest),
        entropy_correlation=correlation,
        n=len(p),
        left_out={reason: n for reason, n in left_out.items() if n},
    )


def _entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1) + 0.0


def _wasserstein(p: np.ndarray, q: np.ndarray, values: np.ndarray) -> np.ndarray:
    order = np.argsort(values)
    above = np.cumsum((p - q)[:, order], axis=1)[:, :-1]
    return np.abs(above) @ np.diff(values[order])
