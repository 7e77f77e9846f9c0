"""A mean by people alone, with a checker's help, and by the checker alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.figures.results import Ends, number
from analysis.reports.rates.prevalence.report import Mean, Means
from analysis.stats import PoweredMean, prediction_powered_mean
from analysis.stats.resampling.intervals import few_note

NO_LABEL = "nothing has the checker's label"
FEW_LABELS = "fewer than two units (or clusters) have the checker's label"


@dataclass(frozen=True, eq=False)
class Judged:
    """Who judged which of some units (or responses), and what each of them comes in."""

    by_people: np.ndarray
    by_checker: np.ndarray
    cluster: np.ndarray

    def sides(self) -> dict[str, np.ndarray]:
        people, checker = self.by_people, self.by_checker
        return {
            "both": people & checker,
            "others": checker & ~people,
            "people": people & ~checker,
            "neither": ~(people | checker),
        }


def means(human: np.ndarray, machine: np.ndarray, judged: Judged, no_spread: str) -> Means:
    """People alone over all that they judged, both together, and the checker's own mean of all that it judged. Values
    lie in 0..1; `no_spread` says why there is no interval where all of a person's are equal, with {} for who it is."""
    mine, cluster = judged.by_people, judged.cluster
    both, others = (judged.sides()[name] for name in ("both", "others"))
    alone = prediction_powered_mean(human[mine], machine[mine], human[:0], cluster[mine], cluster[:0], power=0.0)
    powered = prediction_powered_mean(human[both], machine[both], machine[others], cluster[both], cluster[others])
    by_people = no_spread.format("people")
    return Means(
        people=_mean(alone, by_people),
        powered=_mean(powered, by_people, power=number(powered.power)),
        checker=_of_checker(machine[judged.by_checker], cluster[judged.by_checker], no_spread.format("the checker")),
    )


def _of_checker(values: np.ndarray, cluster: np.ndarray, no_spread: str) -> Mean:
    """What the checker would say on average of all such units; its interval knows nothing of how far it is off."""
    mean = prediction_powered_mean(values, values, values[:0], cluster, cluster[:0], power=0.0)
    if not len(values):
        return _mean(mean, no_spread, undefined=NO_LABEL, interval=Ends(undefined=NO_LABEL))
    more = {"undefined": "", "interval": Ends(undefined=FEW_LABELS)} if mean.undefined else {}
    return _mean(mean, no_spread, estimate=number(values.mean()), **more)


def _mean(mean: PoweredMean, no_spread: str, **instead) -> Mean:
    """A share cannot lie outside 0..1, whatever the normal approximation says of its interval."""
    low, high = number(mean.low), number(mean.high)
    is_clustered = mean.n_clusters is not None and mean.n_clusters < mean.n
    note = few_note(mean.n_clusters if is_clustered else mean.n, is_clustered) if low is not None else ""
    values = {
        "estimate": number(mean.estimate),
        "low": None if low is None else max(low, 0.0),
        "high": None if high is None else min(high, 1.0),
        "undefined": mean.undefined,
        "interval": Ends(undefined=mean.undefined or (no_spread if low is None else ""), note=note),
        "n": mean.n,
        "n_others": mean.n_others,
        "n_clusters": mean.n_clusters,
    }
    return Mean(**values | instead)
