"""What a kind of simulated study is: how one is drawn, and what is computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from analysis.stats import Estimate

RESAMPLES = 200
LARGE = 60_000
# Figure -> its estimate, and what makes its interval's two ends.
Figures = dict[str, tuple[np.ndarray, Callable[[], tuple]]]


@dataclass(frozen=True)
class Study:
    """`truth` names values known from the plan; those `of_its_size` are the means over studies of that size, because
    more units would give another value; others come from a study of `large` clusters."""

    draw: Callable
    figures: Callable[[object], Figures]
    sizes: tuple[int, ...] = (80, 20)
    large: int = LARGE
    truth: dict[str, np.ndarray] = field(default_factory=dict)
    of_its_size: tuple[str, ...] = ()


def bootstrapped(**estimates: Estimate) -> Figures:
    def ends(estimate: Estimate) -> tuple[float, float]:
        interval = estimate.confidence_interval(RESAMPLES)
        return interval.low, interval.high

    return {name: (one.estimate, lambda one=one: ends(one)) for name, one in estimates.items()}
