"""Which labels a table of all by all shows where there are many."""

from __future__ import annotations

from collections.abc import Sequence

MOST_SHOWN_WHOLE = 40  # labels of a table that shows all
MOST_SHOWN = 20  # of one with more


def shown_places(counts: Sequence[Sequence[int]]) -> list[int]:
    """All places of a square table of counts, or of many the most frequent, by row and column together, first."""
    places = range(len(counts))
    if len(counts) <= MOST_SHOWN_WHOLE:
        return list(places)
    totals = [sum(row) + sum(column) for row, column in zip(counts, zip(*counts, strict=True), strict=True)]
    return sorted(places, key=lambda place: -totals[place])[:MOST_SHOWN]


def folding_note(n: int) -> str:
    """Of a table of n labels; empty where all are shown."""
    return f"The {MOST_SHOWN} most frequent of {n:,} labels." if n > MOST_SHOWN_WHOLE else ""
