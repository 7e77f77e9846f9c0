"""What captions and descriptions of several reports' pictures say alike."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.figures.pictures import IntervalRow
from analysis.figures.results import Figure
from analysis.reports.words.numbers import n_of


def counted(items: Iterable[IntervalRow], of: str) -> str:
    """How many stand behind what is drawn, such as "n = 12 to 40 claims each"."""
    counts = [item.n for item in items if item.value is not None and item.n is not None]
    if not counts:
        return f"n = 0 {of}"
    low, high = min(counts), max(counts)
    return f"n = {n_of(low, of)} each" if low == high else f"n = {low:,} to {high:,} {of} each"


def values_of(items: Iterable[IntervalRow], digits: int = 3) -> str:
    """Every value that is drawn, for those who cannot see the picture."""
    return "; ".join(
        f"{', '.join(filter(None, (item.row, item.series)))}: "
        f"{'undefined' if item.value is None else f'{item.value:.{digits}f}'}"
        for item in items
    )


def lines_are(figures: Iterable[Figure]) -> str:
    """What drawn intervals are, with a space in front; empty where there are none."""
    method = next((one.interval.method for one in figures if one.interval.method), "")
    return f" Lines are 95 % intervals: {method}." if method else ""
