"""How fast a project goes, and when it will be done at that pace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import mean, stdev

DAYS = 14  # whole days before today that the pace is taken from
LEAST_DAYS = 5  # fewer say nothing of the spread
FURTHEST_DAYS = 3650
# Student's t with 4 to 13 degrees of freedom, two-sided at 95 %.
T_95 = {4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160}


@dataclass(frozen=True)
class Pace:
    """`why_not`: why no end can be expected; `last` is None where the slowest pace that fits has no end in ten
    years."""

    remaining: int
    per_day: float = 0.0
    n_days: int = 0
    end: date | None = None
    first: date | None = None
    last: date | None = None
    why_not: str = ""


def pace_of(days: Mapping[str, int], remaining: int, today: date) -> Pace:
    """`days` are answers by day; those of up to DAYS whole days before today count, from the first with an answer."""
    begun = min(days, default="")
    if not remaining:
        return Pace(0, why_not="no answer is missing")
    if not begun:
        return Pace(remaining, why_not="there was no answer in the last four weeks")
    window = min(DAYS, (today - date.fromisoformat(begun)).days)
    counts = [days.get((today - timedelta(days=back)).isoformat(), 0) for back in range(1, window + 1)]
    if window < LEAST_DAYS:
        why_not = f"fewer than {LEAST_DAYS} whole days have passed since the first answer"
        return Pace(remaining, mean(counts) if counts else 0.0, window, why_not=why_not)
    per_day = mean(counts)
    if not per_day:
        return Pace(remaining, 0.0, window, why_not=f"there was no answer in the last {window} days")
    nearest, expected, furthest = days_to_go(counts, remaining)
    if expected is None:
        return Pace(remaining, per_day, window, why_not="at this pace it takes more than ten years")
    return Pace(
        remaining,
        per_day,
        window,
        today + timedelta(days=expected),
        today + timedelta(days=nearest),
        None if furthest is None else today + timedelta(days=furthest),
    )


def days_to_go(counts: Sequence[int], remaining: int) -> tuple[int | None, int | None, int | None]:
    """After how many days `remaining` answers have come: soonest, expected and latest, a 95 % prediction interval from
    the spread of the days, as if these were independent. None: in more than ten years.

    The number of answers in n days is within ``n m -+ t s sqrt(n + n^2 / D)`` of D days with mean m and standard
    deviation s.

    >>> days_to_go([100, 80, 120, 90, 110], 1000)
    (8, 10, 14)
    """
    m, s, n_days = mean(counts), stdev(counts), len(counts)
    t = T_95[n_days - 1]

    def after(sign: int) -> int | None:
        def has_come(n: int) -> bool:
            return n * m + sign * t * s * math.sqrt(n + n * n / n_days) >= remaining

        if sign < 0 and m <= t * s / math.sqrt(n_days):
            return None  # the pace may be nothing at all
        low, high = 0, 1
        while not has_come(high):
            low, high = high, 2 * high
            if high > 2 * FURTHEST_DAYS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if has_come(middle) else (middle, high)
        return high if high <= FURTHEST_DAYS else None

    return after(1), after(0), after(-1)
