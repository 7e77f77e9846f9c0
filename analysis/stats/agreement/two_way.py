"""An agreement, and the difference of two, with an interval for people and units that both are samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from analysis.stats.agreement.counts import CountPatterns, count_patterns
from analysis.stats.agreement.difference import agreement_difference, paired_sample, resampled_together
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate, SumSample, one_blas_thread, sum_by_cluster
from analysis.stats.resampling.cluster_robust import NO_ERROR, Effect, Observed, two_ways

FEW_RATERS = "without some person, a side has nobody left to compare, so nothing is known about how much people differ"
FEW_CLUSTERS = "without some unit (or cluster), a side has no figure"
TOO_MANY_RATERS = "too many people to leave each out in turn"
METHOD = "jackknife, clustered in two ways"
FEW_LEFT = "without one of the people nobody is left to compare, so how much people differ is not known"
FEW_UNITS = "without some unit (or cluster), there is no figure"
SAME = "the figure is the same without any one person or cluster, so the data give no interval"


def clustered_agreement(
    measure: Callable[[Labels], Estimate], labels: Labels, level: float = 0.95, max_raters: int = 500
) -> Effect:
    """`measure` of the labels, with an interval clustered by raters and by units or their clusters.

    What `agreement_effect` does for a difference: the same jackknives of one figure, so that a figure and its
    difference from another can stand side by side.

    Parameters
    ----------
    measure, level, max_raters
        As in `agreement_effect`.
    labels : Labels

    Returns
    -------
    Effect
        Undefined where the figure is. There is no interval where it has no value without some rater or unit. `p_value`
        is nan. Raters and units without anything to compare are not counted.

    Raises
    ------
    ValueError
        Exchangeable raters.

    References
    ----------
    As of `agreement_effect`.
    """
    labels.refuse_exchangeable()
    group = np.arange(labels.n_units) if labels.cluster is None else labels.cluster
    figure = measure(replace(labels, cluster=group))
    raters = _compared(labels)
    observed = Observed(
        n=figure.n_labels,
        n_left_out=figure.n_left_out,
        n_clusters=(len(raters), len(np.unique(figure.sample.cluster))),
        level=level,
        method=METHOD,
    )
    if figure.undefined:
        return observed.undefined(figure.undefined)
    if len(raters) > max_raters:
        return observed.effect(figure.estimate, np.nan, TOO_MANY_RATERS)
    by_rater = _jackknife(np.array([_without(labels, rater, measure) for rater in raters]), np.ones(len(raters)))
    if np.isnan(by_rater):
        return observed.effect(figure.estimate, np.nan, FEW_LEFT)
    by_unit, by_label = _variance_by_unit(figure.sample), _variance_by_label(measure, labels)
    if np.isnan(by_unit + by_label):
        return observed.effect(figure.estimate, np.nan, FEW_UNITS)
    variance = two_ways(by_rater, by_unit, by_label)
    return replace(observed.effect(figure.estimate, variance, "" if variance > NO_ERROR**2 else SAME), p_value=np.nan)


def agreement_effect(
    measure: Callable[[Labels], Estimate], a: Labels, b: Labels, level: float = 0.95, max_raters: int = 500
) -> Effect:
    """`measure` of the labels a minus that of b, with an interval clustered by raters and by units or their clusters.

    The variance is ``V_R + V_U - V_RU``, each a delete-one jackknife ``(G - 1) / G sum (d_g - mean d)^2`` of the
    difference: without one rater (on both sides), without one unit (or cluster), without one label. As in
    `clustered_effect` it is never taken smaller than the smaller of V_R and V_U, and the interval has a t distribution
    with one degree of freedom less than the smaller number of raters or clusters.

    Parameters
    ----------
    measure : callable
        A measure that sees a unit only through how often each label was given to it: alpha, percent agreement, Fleiss's
        kappa, AC1, AC2, Brennan-Prediger.
    a, b : Labels
        As in `agreement_difference`, with the same codes for raters.
    level : float
    max_raters : int
        With more raters there is no interval, since the measure is computed anew without each of them.

    Returns
    -------
    Effect
        Undefined where either figure is. There is no interval where a side has no figure without some rater: with two
        raters on a side, nothing is known about how much raters differ.

    Raises
    ------
    ValueError
        Exchangeable raters; what `agreement_difference` refuses.

    References
    ----------
    Cameron, Gelbach and Miller (2011), doi:10.1198/jbes.2010.07136, eq. 2.8 (the sum of variances); Efron and
    Tibshirani (1993), An Introduction to the Bootstrap, eq. 11.5 (the jackknife).
    """
    for side in (a, b):
        side.refuse_exchangeable()
    figure = agreement_difference(measure, a, b)
    group = resampled_together(a, b)
    samples = [measure(replace(side, cluster=group)).sample for side in (a, b)]
    raters = np.union1d(_compared(a), _compared(b))
    observed = Observed(
        n=figure.n_labels,
        n_left_out=figure.n_left_out,
        n_clusters=(len(raters), len(np.union1d(samples[0].cluster, samples[1].cluster))),
        level=level,
        method=METHOD,
    )
    if figure.undefined:
        return observed.undefined(figure.undefined)
    if len(raters) > max_raters:
        return observed.effect(figure.estimate, np.nan, TOO_MANY_RATERS)
    without = [_without(a, rater, measure) - _without(b, rater, measure) for rater in raters]
    by_rater = _jackknife(np.array(without), np.ones(len(raters)))
    if np.isnan(by_rater):
        return observed.effect(figure.estimate, np.nan, FEW_RATERS)
    by_unit = _variance_by_unit(paired_sample(*samples))
    by_label = _variance_by_label(measure, a) + _variance_by_label(measure, b)
    if np.isnan(by_unit + by_label):
        return observed.effect(figure.estimate, np.nan, FEW_CLUSTERS)
    return observed.effect(figure.estimate, two_ways(by_rater, by_unit, by_label), "")


def _compared(labels: Labels) -> np.ndarray:
    """Raters with a label on some unit that another rater labelled. Others have no part in agreement: they would let
    few people pass for many."""
    several = np.bincount(labels.unit, minlength=labels.n_units) > 1
    return np.unique(labels.rater[several[labels.unit]])


def _jackknife(values: np.ndarray, times: np.ndarray) -> float:
    """Delete-one variance of values that occur so many times; nan where one is undefined."""
    n = times.sum()
    mean = (times * values).sum() / n
    return float((n - 1) / n * (times * (values - mean) ** 2).sum())


def _variance_by_unit(sample: SumSample) -> float:
    """The jackknife without one cluster of the sample."""
    features, kind = sum_by_cluster(sample.features, sample.pattern, sample.cluster)
    with one_blas_thread():
        return _jackknife(sample.statistic(sample.sums() - features), np.bincount(kind))


def _without(labels: Labels, rater: int, measure: Callable[[Labels], Estimate]) -> float:
    rows = labels.rater != rater
    left = replace(labels, unit=labels.unit[rows], rater=labels.rater[rows], value=labels.value[rows])
    return measure(left).estimate


def _variance_by_label(measure: Callable[[Labels], Estimate], labels: Labels) -> float:
    """The jackknife without one label of a unit with at least two. Units with the same counts are the same, and so is
    leaving out either of two equal labels."""
    patterns = count_patterns(labels).with_at_least(2)
    pattern, label = np.nonzero(patterns.counts)
    left = patterns.counts[pattern].copy()
    left[np.arange(len(left)), label] -= 1
    single = patterns.counts[pattern].sum(axis=1) == 2
    known = np.vstack([patterns.counts, left[~single]])
    sample = measure(_one_of_each(known, labels.categories)).sample
    features = sample.features[sample.pattern]
    changed = -features[pattern]
    changed[~single] += features[len(patterns.counts) :]
    total = patterns.times @ features[: len(patterns.counts)]
    return _jackknife(sample.statistic(total + changed), _times(patterns, pattern, label))


def _times(patterns: CountPatterns, pattern: np.ndarray, label: np.ndarray) -> np.ndarray:
    return patterns.times[pattern] * patterns.counts[pattern, label]


def _one_of_each(counts: np.ndarray, categories: tuple[str, ...]) -> Labels:
    """A unit for each row of counts, by as many raters as it takes."""
    unit, value = np.nonzero(counts)
    times = counts[unit, value]
    unit, value = np.repeat(unit, times), np.repeat(value, times)
    n = counts.sum(axis=1)
    rater = np.arange(len(unit)) - np.repeat(np.cumsum(n) - n, n)
    return Labels(unit, rater, value, len(counts), categories, exchangeable=True)
