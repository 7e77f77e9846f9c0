"""Which simulations are begun first, where several run at once."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Executor, Future

from benchmarks.coverage.intervals import STUDIES, measure
from benchmarks.coverage.levels import TESTS, rejections

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
