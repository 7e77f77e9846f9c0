"""Agreement where not every unit was as likely to be judged by several people: weights that undo the choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Estimate, SumSample

NO_CHANCE = "units with two labels that had no chance of getting them"


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedAgreement(Estimate):
    """`naive` is the same measure without weights; `effective_n` is ``(sum w)^2 / sum w^2`` of the units that enter."""

    naive: float
    effective_n: float


def weighted_agreement(measure: Callable[[Labels], Estimate], labels: Labels, chance: np.ndarray) -> WeightedAgreement:
    """An agreement measure in which each unit counts by the inverse of its chance to get more than one judgement.

    Units that were chosen for another judgement, because they looked hard, are too many among those with two labels;
    units of a random share stand for the others. With the weights ``w_u = 1 / chance_u`` every sum over units that the
    measure is made of (coincidences, marginals, agreeing pairs) estimates the sum over all units, whether or not they
    got a second judgement; weights are scaled to a mean of 1, so that equal chances give the measure itself.

    Parameters
    ----------
    measure : callable
        Alpha, percent agreement, pooled percent agreement: measures that units with one label do not enter.
    labels : Labels
    chance : (n_units,) float array
        Between 0 and 1: 1 for units that would have got several judgements in any case. Units with a chance of 0 are
        left out and counted: nothing stands for them.

    Returns
    -------
    WeightedAgreement
        Undefined where the measure is. The chance must not depend on the very answers that are compared. Intervals
        resample units or clusters with their weights.

    Raises
    ------
    ValueError
        Chances outside 0..1, or not one per unit; a measure that units with one label enter.

    References
    ----------
    Horvitz and Thompson (1952), Journal of the American Statistical Association 47, 663-685;
    doi:10.1080/01621459.1952.10483446. Hajek (1971), for the ratio of two such sums.

    Examples
    --------
    Two units agree and were drawn with a chance of a half; one that was chosen does not: 4 of 5.

    >>> from analysis.stats import percent_agreement
    >>> labels = Labels.from_columns("aabbcc", "xyxyxy", "++--+-", "-+")
    >>> result = weighted_agreement(percent_agreement, labels, [0.5, 0.5, 1])
    >>> round(result.estimate, 3), round(result.naive, 3)
    (0.8, 0.667)
    """
    chance = np.asarray(chance, dtype=float)
    if chance.shape != (labels.n_units,) or not ((chance >= 0) & (chance <= 1)).all():
        raise ValueError("chance must hold a number between 0 and 1 for every unit")
    naive = measure(labels)
    several = np.bincount(labels.unit, minlength=labels.n_units) > 1
    lost = several & (chance == 0)
    figure = measure(_without(labels, lost)) if lost.any() else naive
    weight = 1 / chance[several & ~lost]
    if len(weight) != len(figure.sample.pattern):
        raise ValueError("units with one label enter this measure, and the chance to get more says nothing of them")
    weight = weight / weight.mean() if len(weight) else weight
    sample = _weighted(figure.sample, weight)
    left_out = {**figure.left_out}
    if lost.any():
        left_out["no label"] -= int(lost.sum())
        left_out = {reason: n for reason, n in left_out.items() if n} | {NO_CHANCE: int(lost.sum())}
    return WeightedAgreement(
        estimate=np.nan if figure.undefined else sample.value(),
        undefined=figure.undefined,
        n_units=figure.n_units,
        n_pairable=figure.n_pairable,
        n_labels=figure.n_labels,
        left_out=left_out,
        sample=sample,
        naive=naive.estimate,
        effective_n=float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0,
    )


def _without(labels: Labels, units: np.ndarray) -> Labels:
    rows = ~units[labels.unit]
    return replace(labels, unit=labels.unit[rows], rater=labels.rater[rows], value=labels.value[rows])


def _weighted(sample: SumSample, weight: np.ndarray) -> SumSample:
    """The same sample with each unit's features times its weight; equal products stay one pattern."""
    weights, code = np.unique(weight, return_inverse=True)
    pair, index = np.unique(sample.pattern * max(len(weights), 1) + code, return_inverse=True)
    pattern, which = np.divmod(pair, max(len(weights), 1))
    return replace(sample, features=sample.features[pattern] * weights[which][:, None], pattern=index)
