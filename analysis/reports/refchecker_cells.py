"""Cells of the RefChecker report's tables that open what is behind them; `refchecker_opened` says what that is."""

from __future__ import annotations

from analysis.reports.intervals import estimate
from analysis.reports.refchecker_behind import key
from analysis.reports.tabular import Cell, Linked


def count(n: int | None, *parts: str) -> Cell:
    """A number of pieces or answers, or a share of them: there is nothing behind 0."""
    return Linked(n, key(*parts)) if n else n


def share(figure: dict, *parts: str) -> tuple[Cell, ...]:
    """A rate with what counts towards it behind it."""
    value, low, high = estimate(figure)
    return value if isinstance(value, str) else count(value, *parts), low, high


def over(figure: dict, *parts: str) -> tuple[Cell, ...]:
    """An estimate, be it 0 or undefined, with all that it was computed from behind it."""
    value, low, high = estimate(figure)
    return Linked(value, key(*parts)) if figure["n_pairable"] else value, low, high
