"""Which simulations are begun first, where several run at once."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Executor, Future

import numpy as np

from benchmarks.studies.intervals import SEED, STUDIES, measure
from benchmarks.studies.levels import TESTS, rejections

LONGEST = (
    "MACE",
    "a trial of suggestions",
    "spans with labels",
    "correlations in strata",
    "suggestions without an effect",
    "Dawid-Skene",
)


def started(pool: Executor, runs: int, only: Collection[str]) -> dict[str, Future]:
    """Coverage of studies and rejections by tests, by name, those that take longest begun first: begun last, one of
    them would go on alone."""
    functions = dict.fromkeys(STUDIES, measure) | dict.fromkeys(TESTS, rejections)
    names = [name for name in dict.fromkeys((*LONGEST, *functions)) if name in only]
    return {name: pool.submit(functions[name], name, runs) for name in names}


def some_numbers(name: str, runs: int) -> list[float]:
    """All that is computed in a few studies, at each size: estimates and the ends of their intervals, or p values."""
    rng = np.random.default_rng([SEED, runs, *name.encode()])
    found: list = []
    if name in TESTS:
        for _ in range(runs):
            found += TESTS[name](rng).values()
    else:
        study = STUDIES[name]
        for size in study.sizes:
            for _ in range(runs):
                for estimate, interval in study.figures(study.draw(rng, size)).values():
                    found += [estimate, *interval()]
    return [float(number) for value in found for number in np.ravel(value)]
