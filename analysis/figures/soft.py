"""A labeller against soft labels as rows of a table, the same in the command and on pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.stats.resampling.bootstrap import Estimate
from analysis.stats.resampling.cluster_robust import Effect
from analysis.stats.soft.comparing import SoftLabelComparison

RESAMPLES = 1000
# Ranks are taken anew in each resample; of so many units fewer say as much in a fraction of the time.
MANY_UNITS, FEWER_RESAMPLES = 20_000, 200
CONSTANT = ", of people's mean distribution for all units"
MEASURES: dict[str, tuple[str, Callable[[SoftLabelComparison], Effect | Estimate | None]]] = {
    "manhattan": ("Manhattan distance", lambda one: one.labeller.manhattan),
    "constant_manhattan": (f"Manhattan distance{CONSTANT}", lambda one: one.constant.manhattan),
    "wasserstein": ("Wasserstein distance", lambda one: one.labeller.wasserstein),
    "constant_wasserstein": (f"Wasserstein distance{CONSTANT}", lambda one: one.constant.wasserstein),
    "cross_entropy": ("Cross-entropy", lambda one: one.labeller.cross_entropy),
    "constant_cross_entropy": (f"Cross-entropy{CONSTANT}", lambda one: one.constant.cross_entropy),
    "people_entropy": ("Entropy of people", lambda one: one.people_entropy),
    "entropy": ("Entropy of the {}", lambda one: one.labeller_entropy),
    "entropy_difference": ("Entropy of the {} minus that of people", lambda one: one.entropy_difference),
    "entropy_correlation": ("Spearman's correlation of both entropies", lambda one: one.entropy_correlation),
}


@dataclass(frozen=True)
class SoftFigure:
    """`reason` says why there is no estimate, or no interval."""

    name: str
    title: str
    estimate: float
    low: float
    high: float
    reason: str
    n: int


def soft_figures(found: SoftLabelComparison, who: str) -> Iterator[SoftFigure]:
    """Of a labeller that is called `who`, such as the judge."""
    for name, (title, measure) in MEASURES.items():
        one = measure(found)
        if isinstance(one, Estimate):
            interval = one.confidence_interval(RESAMPLES if found.n <= MANY_UNITS else FEWER_RESAMPLES)
            ends, n = (interval.low, interval.high, one.undefined or interval.undefined), one.n_pairable
        elif one is not None:
            ends, n = (one.low, one.high, one.undefined or one.no_interval), one.n
        else:
            continue
        yield SoftFigure(name, title.format(who), one.estimate, *ends, n)


def soft_note(who: str, *, has_probabilities: bool, what: str = "unit") -> str:
    missing = "" if has_probabilities else f" The {who} gives no probabilities, so that its label has probability 1."
    return (
        f"The soft label is the share of people who gave each label, on {what}s with two people or more; entropies are "
        f"in nats.{missing}"
    )
