"""Ends of the interval of a share, without any library: pages that compute nothing else show them, too."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson_ends(n_cases: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of Wilson's score interval (`resampling.wilson`), also of cases that are no whole number; the share lies
    between them."""
    z = NormalDist().inv_cdf((1 + level) / 2)  # scipy's takes longer to import than to use
    share, more = n_cases / n, z * z / n
    middle, half = share + more / 2, z * math.sqrt(share * (1 - share) / n + more / (4 * n))
    # The ends of no case and of only cases are 0 and 1, which rounding may miss.
    return max(0.0, min((middle - half) / (1 + more), share)), min(1.0, max((middle + half) / (1 + more), share))
