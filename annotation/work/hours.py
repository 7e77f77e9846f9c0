"""How long people worked, by the server's clock alone: nothing that a browser says counts."""

from __future__ import annotations

from collections.abc import Iterable

# The end of what pages and files say of hours; `{pause}` is the limit in minutes.
HOW = (
    "Hours are added up from the moments at which the server gave the person an item or received an answer, a change "
    "of an answer or a skip, in training, qualification and checks as well. The time between two such moments counts; "
    "where it is longer than {pause} minutes it is a pause and does not count."
)


def seconds_worked(moments: Iterable[float], longest_pause: float) -> float:
    """The time between neighbouring moments, all in seconds; longer ones than `longest_pause` are pauses.

    >>> seconds_worked([0, 100, 160, 5000, 5030], 600)
    190
    """
    ordered = sorted(moments)
    gaps = (after - before for before, after in zip(ordered, ordered[1:], strict=False))
    return sum(gap for gap in gaps if gap <= longest_pause)
