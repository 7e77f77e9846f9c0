"""What captions of several reports say alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.reports.words.numbers import n_of

if TYPE_CHECKING:
    from analysis.figures.pictures import Interval


def counted(items: Iterable[Interval], of: str) -> str:
    """How many stand behind what is drawn, such as "n = 12 to 40 claims each"."""
    counts = [item.n for item in items if item.value is not None and item.n is not None]
    if not counts:
        return f"n = 0 {of}"
    low, high = min(counts), max(counts)
    return f"n = {n_of(low, of)} each" if low == high else f"n = {low:,} to {high:,} {of} each"
