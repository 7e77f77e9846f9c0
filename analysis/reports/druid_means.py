"""Means of a table as plain data: every cell with its interval, deviation, n, and how many values are undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import PENDING, RESAMPLES, is_quick, number

if TYPE_CHECKING:
    import numpy as np

# A figure of more values than this is resampled less often, which says as much in a fraction of the time.
MANY_UNITS, FEWER_RESAMPLES = 20_000, 400


def n_resamples(pairs_or_clusters: int) -> int:
    return RESAMPLES if pairs_or_clusters <= MANY_UNITS else FEWER_RESAMPLES


def mean_table(values: np.ndarray, groups: list[np.ndarray], cluster: np.ndarray) -> list[list[dict]]:
    """A cell for every group and column, with 95 % intervals over clusters (claims) from one set of resamples."""
    import numpy as np

    from analysis.stats import grouped_means

    member = np.column_stack(groups) if groups else np.zeros((len(values), 0), dtype=bool)
    found = grouped_means(values, member, cluster)
    drawn = n_resamples(len(np.unique(cluster)))
    intervals = None if is_quick() else found.confidence_intervals(n_resamples=drawn)
    return [
        [
            {
                "estimate": number(found.mean[row, column]),
                "sd": number(found.sd[row, column]),
                "low": number(intervals[row][column].low) if intervals else None,
                "high": number(intervals[row][column].high) if intervals else None,
                "undefined": "" if found.n[row, column] else "no value is defined",
                "no_interval": intervals[row][column].undefined if intervals else PENDING,
                "note": intervals[row][column].note if intervals else "",
                "n": int(found.n[row, column]),
                "n_clusters": int(found.n_clusters[row, column]),
                "n_undefined": int(found.n_missing[row, column]),
            }
            for column in range(values.shape[1])
        ]
        for row in range(len(groups))
    ]
