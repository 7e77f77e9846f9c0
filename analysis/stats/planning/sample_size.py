"""How wide an interval will be, and how many labels make it narrow enough: studies simulated from a pilot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from analysis.stats.agreement.alpha import krippendorff_alpha
from analysis.stats.labels import Labels
from analysis.stats.planning.pilot import Pilot, draw, simulated, variance_of_cluster
from analysis.stats.resampling.bootstrap import BATCH_NUMBERS, SumSample, one_blas_thread, sum_by_cluster

# Simulated studies whose spread is taken.
STUDIES = 1000
MOST_RATERS = 15
NO_SPREAD = "in such studies the figure is always the same or undefined, as in a pilot without a disagreement"
NOT_FOUND = "no number of units was found; the last one tried, {0:,}, leaves a half width of {1:.3f}"
# Numbers of units that a search tries at the most.
STEPS = 16
TOO_FEW = "fewer than two units (or clusters)"


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Half the width that an interval of `level` is expected to have, nan where `undefined` gives a reason.

    `estimate` is what the figure is expected to be. `n_units` units get `n_raters` judgements each.
    """

    half_width: float
    estimate: float
    n_units: int
    n_raters: int
    level: float
    undefined: str = ""


@dataclass(frozen=True, kw_only=True)
class Needed:
    """The plan that reaches the target: None where `undefined` says why there is none."""

    plan: Planned | None
    target: float
    undefined: str = ""


def planned_alpha(
    pilot: Pilot,
    n_units: int,
    n_raters: int,
    measure_level: str = "nominal",
    level: float = 0.95,
    n_studies: int = STUDIES,
    seed: int = 0,
) -> Planned:
    """Expected half width of the interval of Krippendorff's alpha.

    Units are simulated from the pilot, each labelled by `n_raters` of its raters (drawn with replacement where it has
    fewer); studies of n units are drawn from them in whole clusters. The half width is the normal quantile times the
    standard deviation of alpha over studies. Alpha is nearly a sum of what each unit adds to it (its linearisation;
    Gwet 2014, section 5.3), whose variance needs no studies: `pilot.variance_of_cluster`. Only the ratio of alpha's
    spread to that sum's is taken from the studies, in which both go together.

    Parameters
    ----------
    pilot : Pilot
    n_units, n_raters : int
        At least 2 judgements per unit.
    measure_level : {'nominal', 'ordinal', 'interval', 'ratio'}
    level : float
    n_studies, seed : int
        The same seed gives the same numbers.

    Returns
    -------
    Planned
        Undefined with fewer than two units or clusters, and where nobody ever disagrees. Raters err independently given
        the true label: where items differ in difficulty, alpha varies somewhat more.

    Raises
    ------
    ValueError
        Fewer than two judgements per unit.

    Examples
    --------
    >>> four_in_five = np.array([[[0.8, 0.2], [0.2, 0.8]]])
    >>> pilot = Pilot(confusion=four_in_five, prevalence=np.array([0.5, 0.5]), categories=("no", "yes"))
    >>> plan = planned_alpha(pilot, 200, 2)
    >>> round(plan.estimate, 1), round(plan.half_width, 1)
    (0.4, 0.1)
    """
    if n_raters < 2:
        raise ValueError(f"alpha needs at least 2 judgements per unit, not {n_raters}")
    n_clusters = round(n_units / pilot.cluster_size)
    if pilot.undefined or n_clusters < 2:
        return _nothing(n_units, n_raters, level, pilot.undefined or TOO_FEW)
    sample, features, share, variance = _pool(pilot, n_raters, measure_level, seed)
    rng, values, sums = np.random.default_rng(seed + 1), [], []
    batch = max(1, BATCH_NUMBERS // max(len(share), sample.work_per_row))
    with one_blas_thread():
        for start in range(0, n_studies, batch):
            drawn = rng.multinomial(n_clusters, share, size=min(batch, n_studies - start)).astype(float)
            totals = drawn @ features
            values.append(sample.statistic(totals[:, :-1]))
            sums.append(totals[:, -1])
    figures, linear = np.concatenate(values), np.concatenate(sums)
    is_defined = ~np.isnan(figures)
    defined = figures[is_defined]
    spread = defined.std(ddof=1) if len(defined) > 1 else 0.0
    if spread > 0 and (sums_spread := linear[is_defined].std(ddof=1)) > 0:
        spread *= math.sqrt(n_clusters * variance) / sums_spread
    if spread == 0:
        return _nothing(n_units, n_raters, level, NO_SPREAD)
    return Planned(
        half_width=float(scipy.special.ndtri((1 + level) / 2) * spread),
        estimate=float(defined.mean()),
        n_units=n_units,
        n_raters=n_raters,
        level=level,
    )


def planned_rate(
    pilot: Pilot,
    category: int,
    n_units: int,
    n_raters: int,
    n_others: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Planned:
    """Expected half width of the interval of a label's share, by people alone or with a checker.

    A unit's value is the share of its judgements that give the label. With others (units that only the checker
    labelled) the share is that of prediction-powered inference with the best lambda (`prediction_powered_mean`). The
    variance ``var(Y - lambda F) / n + lambda^2 var(F) / N``, of means over clusters, follows from the simulated units
    by `pilot.variance_of_cluster`.

    Parameters
    ----------
    pilot : Pilot
        With a `machine` where there are others.
    category : int
        Place of the label in the categories.
    n_units, n_raters : int
        Units that people label, and judgements of each.
    n_others : int
        Units that only the checker labelled.
    level, seed : float, int

    Returns
    -------
    Planned

    Raises
    ------
    ValueError
        No judgement per unit; others without a machine.

    Examples
    --------
    >>> never_wrong = Pilot(confusion=np.eye(2)[None], prevalence=np.array([0.5, 0.5]), categories=("no", "yes"))
    >>> round(planned_rate(never_wrong, 1, 385, 1).half_width, 3)
    0.05
    """
    if n_raters < 1:
        raise ValueError(f"a share needs at least 1 judgement per unit, not {n_raters}")
    if n_others and pilot.machine is None:
        raise ValueError("the pilot has no labels of a checker to use for other units")
    n_clusters = n_units / pilot.cluster_size
    if pilot.undefined or n_clusters < 2:
        return _nothing(n_units, n_raters, level, pilot.undefined or TOO_FEW)
    truth, labels, _ = _units(pilot, n_raters, seed)
    y = (labels == category).mean(axis=1)
    if n_others:
        f = (draw(pilot.machine[truth], np.random.default_rng(seed + 1)) == category).astype(float)
        weight = 0.0
        if f.var() > 0:
            weight = float(np.clip(np.cov(y, f)[0, 1] / ((1 + n_units / n_others) * f.var(ddof=1)), 0, 1))
        variance = _cluster_variance(pilot, y - weight * f, truth) / n_clusters
        variance += weight**2 * _cluster_variance(pilot, f, truth) / (n_others / pilot.cluster_size)
    else:
        variance = _cluster_variance(pilot, y, truth) / n_clusters
    if variance == 0:
        return _nothing(n_units, n_raters, level, NO_SPREAD)
    return Planned(
        half_width=float(scipy.special.ndtri((1 + level) / 2) * np.sqrt(variance)),
        estimate=float(y.mean()),
        n_units=n_units,
        n_raters=n_raters,
        level=level,
    )


def units_needed(plan: Callable[[int], Planned], target: float, start: int = 100, most: int = 1_000_000) -> Needed:
    """How many units bring the half width of a plan down to the target.

    Widths fall with the square root of the number of units, which finds the number in a few steps; the plan returned is
    one whose half width is at most the target.

    Parameters
    ----------
    plan : callable
        Number of units to `Planned`.
    target : float
        Half width, above 0.
    start, most : int
        Where to begin, and how many units there can be.

    Returns
    -------
    Needed
        Undefined where the plan is, and where even `most` units are too few.

    Raises
    ------
    ValueError
        A target that is not above 0.

    Examples
    --------
    >>> never_wrong = Pilot(confusion=np.eye(2)[None], prevalence=np.array([0.5, 0.5]), categories=("no", "yes"))
    >>> needed = units_needed(lambda n: planned_rate(never_wrong, 1, n, 1), 0.05)
    >>> 380 <= needed.plan.n_units <= 390
    True
    """
    if not target > 0:
        raise ValueError(f"the half width to reach lies above 0, not {target}")
    n, best, too_few, more = min(start, most), None, 1, 1.005
    for _ in range(STEPS):
        planned = plan(n)
        if planned.undefined and best is None:
            return Needed(plan=None, target=target, undefined=planned.undefined)
        # Half a per cent more than the law says, so that the next half width is not just above the target again; and
        # ever more while it is, since whole clusters make widths fall in steps.
        if not planned.undefined and planned.half_width <= target:
            best, more = planned, 1.005
        else:
            too_few, more = n, 2 * more - 1
        if n == most and best is None:
            reason = f"all {most:,} units leave a half width of {planned.half_width:.3f}"
            return Needed(plan=None, target=target, undefined=reason)
        # The law may lead to fewer units than a plan takes: the number then lies between those and the best.
        wanted = (n + best.n_units) / 2 if planned.undefined else n * (planned.half_width / target) ** 2
        if planned is best and math.ceil(wanted) >= 0.99 * n - 1:
            break
        n = max(math.ceil(more * math.ceil(wanted)), too_few + 1)
        n = min(n, most if best is None else best.n_units - 1)
        if n <= too_few:
            break
    reason = "" if best else NOT_FOUND.format(planned.n_units, planned.half_width)
    return Needed(plan=best, target=target, undefined=reason)


def judgements_needed(plan: Callable[[int], Planned], target: float, start: int = 2, most: int = MOST_RATERS) -> Needed:
    """How many judgements per unit bring the half width of a plan down to the target.

    Parameters
    ----------
    plan : callable
        Number of judgements per unit to `Planned`.
    target : float
    start, most : int

    Returns
    -------
    Needed
        Undefined where the plan is, and where `most` judgements are too few: units that differ are not made fewer by
        asking more people about each.
    """
    planned = None
    for n_raters in range(start, most + 1):
        planned = plan(n_raters)
        if planned.undefined:
            return Needed(plan=None, target=target, undefined=planned.undefined)
        if planned.half_width <= target:
            return Needed(plan=planned, target=target)
    reason = (
        f"{most} judgements per unit leave a half width of {planned.half_width:.3f}" if planned else "nothing to try"
    )
    return Needed(plan=None, target=target, undefined=reason)


def _nothing(n_units: int, n_raters: int, level: float, reason: str) -> Planned:
    return Planned(
        half_width=np.nan, estimate=np.nan, n_units=n_units, n_raters=n_raters, level=level, undefined=reason
    )


# Plans of one pilot differ in the number of units above all: what does not depend on it is kept for the next of them.
@lru_cache(maxsize=16)
def _units(pilot: Pilot, n_raters: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return simulated(pilot, n_raters, np.random.default_rng(seed))


@lru_cache(maxsize=16)
def _pool(pilot: Pilot, n_raters: int, level: str, seed: int) -> tuple[SumSample, np.ndarray, np.ndarray, float]:
    """Alpha of simulated units as a statistic, the feature sums of their distinct clusters (in the last column what
    they add to alpha's linearisation), how common each is, and the variance of that last sum."""
    truth, simulated_labels, cluster = _units(pilot, n_raters, seed)
    unit, rater = np.indices(simulated_labels.shape)
    labels = Labels(
        unit.ravel(),
        rater.ravel(),
        simulated_labels.ravel(),
        len(simulated_labels),
        pilot.categories,
        cluster=cluster,
        exchangeable=True,
    )
    alpha = krippendorff_alpha(labels, level)
    sample, moves = alpha.sample, np.zeros(len(alpha.sample.features))
    if not alpha.undefined:
        moves, _ = alpha.moves()
    features, kind = sum_by_cluster(np.column_stack([sample.features, moves]), sample.pattern, sample.cluster)
    return sample, features, np.bincount(kind) / len(kind), variance_of_cluster(pilot, moves[sample.pattern], truth)


def _cluster_variance(pilot: Pilot, values: np.ndarray, truth: np.ndarray) -> float:
    """Variance of the mean over one cluster."""
    return variance_of_cluster(pilot, values, truth) / pilot.cluster_size**2
