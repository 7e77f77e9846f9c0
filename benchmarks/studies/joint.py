"""Studies of figures whose intervals come from one set of resamples."""

from __future__ import annotations

from functools import cache

import numpy as np

from analysis import stats
from benchmarks.studies import planted
from benchmarks.studies.study import RESAMPLES, Figures, Study


def two_runs(rng: np.random.Generator, n_clusters: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A score of the same units by two runs, alike within a cluster, the second a little higher."""
    cluster = planted.clusters(rng, n_clusters)
    quality = 0.7 * rng.normal(size=n_clusters)[cluster] + rng.normal(size=len(cluster))
    before, now = quality + rng.normal(0, 0.7, (2, len(cluster)))
    return before, now + 0.2, cluster


def moved(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Figures:
    plain = stats.moved(*data, n_resamples=0)

    @cache
    def found() -> stats.Moved:
        return stats.moved(*data, n_resamples=RESAMPLES)

    parts = {
        "mean before": lambda one: one.before[0],
        "mean now": lambda one: one.now[0],
        "mean distance": lambda one: one.moved,
        "pearson": lambda one: one.pearson[0],
    }
    return {
        name: (part(plain).estimate, lambda part=part: (part(found()).interval.low, part(found()).interval.high))
        for name, part in parts.items()
    }


def wins(data: planted.Compared) -> Figures:
    found = stats.alternative_annotator_test(data.labels, data.model)

    @cache
    def intervals() -> tuple:
        return found.person_intervals(RESAMPLES)

    def ends(place: int) -> tuple[float, float]:
        one = intervals()[0][place]
        return one.low, one.high

    first = found.people[0]
    return {
        "wins of the model over a person": (first.model_wins, lambda: ends(0)),
        "wins of a person over the model": (first.person_wins, lambda: ends(1)),
    }


def bins(data: planted.Judged) -> Figures:
    """Two of the ten bins of probability. In the last nearly all are right: many studies have no interval there."""
    found = stats.calibration(data.reference, data.probabilities, data.cluster)

    @cache
    def intervals() -> tuple:
        return found.bin_intervals(RESAMPLES)

    return {
        f"accuracy in a bin, {name}": (
            found.bins[place].accuracy,
            lambda place=place: (intervals()[place].low, intervals()[place].high),
        )
        for name, place in (("0.5 to 0.6", 5), ("0.7 to 0.8", 7))
    }


STUDIES = {
    "two runs": Study(two_runs, moved, (80, 20)),
    "wins against a person": Study(planted.compared, wins, (80, 40)),
    "bins of probability": Study(planted.judged, bins, (80, 40)),
}
