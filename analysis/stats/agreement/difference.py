"""The difference of two agreements: of two arms, two sources, two groups of people, with an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate, SumSample, effective_n_of_parts, sum_by_cluster


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementDifference(Estimate):
    """``estimate = of_a - of_b``; `n_shared` clusters (units where there are no clusters) enter both figures."""

    estimate_a: float
    estimate_b: float
    n_shared: int


@dataclass(frozen=True, eq=False)
class _Separate:
    """Two sets of units that have nothing in common: each is resampled by itself."""

    a: SumSample
    b: SumSample

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        (n_a, clustered), (n_b, _) = self.a.n_drawn(clusters), self.b.n_drawn(clusters)
        return (n_a + n_b if min(n_a, n_b) > 1 else min(n_a, n_b)), clustered

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        return self.a.values(n_resamples, rng, clusters) - self.b.values(n_resamples, rng, clusters)

    def effective_n(self, clusters: bool) -> float:
        return effective_n_of_parts([self.a.influences(clusters), self.b.influences(clusters)])

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        (influence_a, times_a), (influence_b, times_b) = self.a.influences(clusters), self.b.influences(clusters)
        return np.concatenate([influence_a, -influence_b]), np.concatenate([times_a, times_b])


def agreement_difference(measure: Callable[[Labels], Estimate], a: Labels, b: Labels) -> AgreementDifference:
    """`measure` of the labels a minus that of the labels b.

    Both hold labels of the same numbered units: those of two groups of raters on the same units, or of two parts of the
    units, where the other part's units simply have no label. Where some cluster (or unit) enters both figures, clusters
    are drawn once for both, so that what they have in common cancels; otherwise each side is resampled by itself.

    Parameters
    ----------
    measure : callable
        Any measure of this package whose estimate sees its units through sums: alpha, kappas, percent agreement, AC.
    a, b : Labels
        With the same `n_units`, and the same `cluster` where there are clusters.

    Returns
    -------
    AgreementDifference
        Undefined where either figure is. `n_pairable` and `n_labels` add up both sides.

    Raises
    ------
    ValueError
        Different numbers of units; different clusters.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 8.4 and chapter 13.

    Examples
    --------
    >>> from analysis.stats import percent_agreement
    >>> a = Labels.from_columns("aabb", "xyxy", "++--", "-+")
    >>> b = Labels.from_columns("aabb", "vwvw", "+++-", "-+")
    >>> result = agreement_difference(percent_agreement, a, b)
    >>> result.estimate, result.n_shared
    (0.5, 2)
    """
    if a.n_units != b.n_units:
        raise ValueError(f"the sides number {a.n_units} and {b.n_units} units; both need the same")
    has_clusters = a.cluster is not None
    if has_clusters != (b.cluster is not None):
        raise ValueError("either both sides have clusters or neither has")
    group = resampled_together(a, b)
    figure_a, figure_b = (measure(replace(side, cluster=group)) for side in (a, b))
    sample_a, sample_b = figure_a.sample, figure_b.sample
    shared = np.intersect1d(sample_a.cluster, sample_b.cluster)
    if len(shared):
        sample = paired_sample(sample_a, sample_b)
    else:
        sample = _Separate(*(_kept(one, has_clusters) for one in (sample_a, sample_b)))
    undefined = figure_a.undefined or figure_b.undefined
    left_out = {reason: figure_a.left_out.get(reason, 0) for reason in figure_a.left_out}
    for reason, n in figure_b.left_out.items():
        left_out[reason] = left_out.get(reason, 0) + n
    return AgreementDifference(
        estimate=np.nan if undefined else figure_a.estimate - figure_b.estimate,
        undefined=undefined,
        n_units=a.n_units,
        n_pairable=figure_a.n_pairable + figure_b.n_pairable,
        n_labels=figure_a.n_labels + figure_b.n_labels,
        left_out=left_out,
        sample=sample,
        estimate_a=figure_a.estimate,
        estimate_b=figure_b.estimate,
        n_shared=len(shared),
    )


def resampled_together(a: Labels, b: Labels) -> np.ndarray:
    """What is resampled together: clusters, or every unit by itself."""
    if a.cluster is None:
        return np.arange(a.n_units)
    # A unit that one side has no label of may have no cluster there.
    group = np.maximum(a.cluster, b.cluster)
    if ((a.cluster >= 0) & (b.cluster >= 0) & (a.cluster != b.cluster)).any():
        raise ValueError("the sides put a unit in different clusters")
    return group


def _kept(sample: SumSample, has_clusters: bool) -> SumSample:
    return sample if has_clusters else replace(sample, cluster=None)


def paired_sample(a: SumSample, b: SumSample) -> SumSample:
    """One sample whose members are the clusters of either side, each with its sums of both."""
    members = np.union1d(a.cluster, b.cluster)
    sides = []
    for side in (a, b):
        features, kind = sum_by_cluster(side.features, side.pattern, side.cluster)
        member_kind = np.full(len(members), len(features))
        member_kind[np.searchsorted(members, np.unique(side.cluster))] = kind
        sides.append((np.vstack([features, np.zeros(features.shape[1])]), member_kind))
    (features_a, kind_a), (features_b, kind_b) = sides
    pair, index = np.unique(kind_a * len(features_b) + kind_b, return_inverse=True)
    in_a, in_b = np.divmod(pair, len(features_b))
    width = features_a.shape[1]

    def statistic(sums: np.ndarray) -> np.ndarray:
        return a.statistic(sums[:, :width]) - b.statistic(sums[:, width:])

    return SumSample(
        np.hstack([features_a[in_a], features_b[in_b]]),
        index,
        np.arange(len(members)),
        statistic,
        a.work_per_row + b.work_per_row,
    )
