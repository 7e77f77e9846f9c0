"""Means of a table: every cell with its interval, deviation, n, and how many values are undefined."""

from __future__ import annotations

import numpy as np

from analysis.figures.results import number
from analysis.papers.druid.result import PairMean
from analysis.reports.estimates import RESAMPLES
from analysis.stats import grouped_means

# A figure of more values than this is resampled less often, which says as much in a fraction of the time.
MANY_UNITS, FEWER_RESAMPLES = 20_000, 400


def n_resamples(pairs_or_clusters: int) -> int:
    return RESAMPLES if pairs_or_clusters <= MANY_UNITS else FEWER_RESAMPLES


def mean_table(values: np.ndarray, groups: list[np.ndarray], cluster: np.ndarray) -> list[list[PairMean]]:
    """A cell for every group and column, with 95 % intervals over clusters (claims) from one set of resamples."""
    member = np.column_stack(groups) if groups else np.zeros((len(values), 0), dtype=bool)
    means = grouped_means(values, member, cluster)
    intervals = means.confidence_intervals(n_resamples=n_resamples(len(np.unique(cluster))))
    return [
        [
            PairMean(
                estimate=number(means.mean[row, column]),
                sd=number(means.sd[row, column]),
                low=number(intervals[row][column].low),
                high=number(intervals[row][column].high),
                undefined="" if means.n[row, column] else "no value is defined",
                no_interval=intervals[row][column].undefined,
                note=intervals[row][column].note,
                n=int(means.n[row, column]),
                n_clusters=int(means.n_clusters[row, column]),
                n_undefined=int(means.n_missing[row, column]),
            )
            for column in range(values.shape[1])
        ]
        for row in range(len(groups))
    ]
