"""A mean by people alone, with a checker's help, and by the checker alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.figures import number

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import PoweredMean

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


def means(human: np.ndarray, machine: np.ndarray, judged: Judged, no_spread: str) -> dict:
    """People alone over all that they judged, both together, and the checker's own mean of all that it judged. Values
    lie in 0..1; `no_spread` says why there is no interval where all of somebody's are equal, with {} for who it is."""
    from analysis.stats import prediction_powered_mean

    mine, cluster = judged.by_people, judged.cluster
    both, others = (judged.sides()[name] for name in ("both", "others"))
    alone = prediction_powered_mean(human[mine], machine[mine], human[:0], cluster[mine], cluster[:0], power=0.0)
    powered = prediction_powered_mean(human[both], machine[both], machine[others], cluster[both], cluster[others])
    by_people = no_spread.format("people")
    return {
        "people": _figure(alone, by_people),
        "powered": _figure(powered, by_people) | {"power": number(powered.power)},
        "checker": _of_checker(machine[judged.by_checker], cluster[judged.by_checker], no_spread.format("the checker")),
    }


def _of_checker(said: np.ndarray, cluster: np.ndarray, no_spread: str) -> dict:
    """What the checker would say on average of all such units; its interval knows nothing of how far it is off."""
    from analysis.stats import prediction_powered_mean

    found = _figure(prediction_powered_mean(said, said, said[:0], cluster, cluster[:0], power=0.0), no_spread)
    if not len(said):
        return found | {"undefined": NO_LABEL, "interval": {"undefined": NO_LABEL}}
    if found["undefined"]:
        found |= {"undefined": "", "interval": {"undefined": FEW_LABELS}}
    return found | {"estimate": number(said.mean())}


def _figure(found: PoweredMean, no_spread: str) -> dict:
    """A share cannot lie outside 0..1, whatever the normal approximation says of its interval."""
    from analysis.stats.intervals import few_note

    low, high = number(found.low), number(found.high)
    is_clustered = found.n_clusters is not None and found.n_clusters < found.n
    note = few_note(found.n_clusters if is_clustered else found.n, is_clustered) if low is not None else ""
    return {
        "estimate": number(found.estimate),
        "low": None if low is None else max(low, 0.0),
        "high": None if high is None else min(high, 1.0),
        "undefined": found.undefined,
        "interval": {"undefined": found.undefined or (no_spread if low is None else ""), "note": note},
        "n": found.n,
        "n_others": found.n_others,
        "n_clusters": found.n_clusters,
    }
