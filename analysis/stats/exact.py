"""Exact comparisons of two shares, and the correction for many of them, without any library: pages use them, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

NEGLIGIBLE = 1e-20

Halves = tuple[float, int, float, int]


def fisher_less(cases: int, n: int, other_cases: int, other_n: int) -> float:
    """P of Fisher's exact test that the first share is lower: so few cases or fewer among the first n, with the same
    margins.

    >>> round(fisher_less(3, 10, 90, 100), 7)
    5.61e-05
    """
    observed, rising, falling = _tables(cases, n, other_cases, other_n)
    if cases * other_n > other_cases * n:  # the tail is the short way
        return max(0.0, 1.0 - sum(rising()))
    return min(1.0, observed + sum(falling()))


def interaction(first: Halves, second: Halves) -> float:
    """P of Woolf's test that two odds ratios are equal: of one before-and-after table and of another, each
    (cases before, n before, cases after, n after); half a case is added to each cell, which is on the safe side where
    cells are small.

    >>> round(interaction((45, 50, 30, 50), (450, 500, 440, 500)), 4)
    0.0081
    """
    odds, variance = 0.0, 0.0
    for sign, (before, n_before, after, n_after) in ((1, first), (-1, second)):
        cells = (before, n_before - before, after, n_after - after)
        a, b, c, d = (cell + 0.5 for cell in cells)
        odds += sign * math.log(a * d / (b * c))
        variance += 1 / a + 1 / b + 1 / c + 1 / d
    return math.erfc(abs(odds) / math.sqrt(2 * variance))


def _tables(cases: int, n: int, other_cases: int, other_n: int) -> tuple[float, Callable, Callable]:
    """The probability of the observed table, and those of the tables with more and with fewer cases among the first n,
    as far as they are not negligible."""
    all_cases = cases + other_cases
    ways = _log_choose(n, cases) + _log_choose(other_n, other_cases) - _log_choose(n + other_n, all_cases)
    observed = math.exp(ways)

    def rising() -> Iterator[float]:
        p = observed
        for k in range(cases, min(n, all_cases)):
            p *= (n - k) * (all_cases - k) / ((k + 1) * (other_n - all_cases + k + 1))
            yield p

    def falling() -> Iterator[float]:
        p = observed
        for k in range(cases, max(0, all_cases - other_n), -1):
            p *= k * (other_n - all_cases + k) / ((n - k + 1) * (all_cases - k + 1))
            yield p

    def counted(way: Callable) -> Callable:
        return lambda: takewhile(lambda p: p > NEGLIGIBLE, way())

    return observed, counted(rising), counted(falling)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def step_down(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p (`resampling.holm`), of tests that are all defined.

    >>> step_down([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, highest = [1.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted
