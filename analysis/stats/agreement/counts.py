"""Units as vectors of label counts, equal vectors held once.

Measures for interchangeable raters see of a unit only how often each label was given to it. With few raters and labels
there are few such vectors however many units there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import Labels

LARGEST_KEY = 2**62

NO_LABEL = "no label"
ONE_LABEL = "one label only"


@dataclass(frozen=True, eq=False)
class CountPatterns:
    """Distinct count vectors and which of them each unit has.

    Attributes
    ----------
    counts : (n_patterns, n_categories) int array
    index : (n,) int array
        Pattern of each unit.
    cluster : (n,) int array or None
    """

    counts: np.ndarray
    index: np.ndarray
    cluster: np.ndarray | None

    @property
    def n_raters(self) -> np.ndarray:
        """Labels per unit of each pattern, (n_patterns,)."""
        return self.counts.sum(axis=1)

    @property
    def times(self) -> np.ndarray:
        """Units of each pattern, (n_patterns,)."""
        return np.bincount(self.index, minlength=len(self.counts))

    @property
    def n_labels(self) -> int:
        return int(self.times @ self.n_raters)

    def with_at_least(self, n_labels: int) -> CountPatterns:
        """Only the units that have at least `n_labels` labels."""
        enough = self.n_raters >= n_labels
        keep = enough[self.index]
        return CountPatterns(
            counts=self.counts[enough],
            index=(np.cumsum(enough) - 1)[self.index[keep]],
            cluster=None if self.cluster is None else self.cluster[keep],
        )

    def left_out(self, n_labels: int) -> dict[str, int]:
        """Units with fewer than `n_labels` labels (1 or 2), by reason."""
        per_unit = self.n_raters[self.index]
        reasons = {NO_LABEL: int((per_unit == 0).sum())}
        if n_labels > 1:
            reasons[ONE_LABEL] = int((per_unit == 1).sum())
        return {reason: n for reason, n in reasons.items() if n}


def count_patterns(labels: Labels) -> CountPatterns:
    """Distinct count vectors of all units, in O(n_labels) memory for any number of categories.

    The count of one category after the other is folded into one integer per unit; before it could overflow, the
    integers are replaced by their ranks.
    """
    key = np.zeros(labels.n_units, dtype=np.int64)
    size = 1
    for code in range(len(labels.categories)):
        times = np.bincount(labels.unit[labels.value == code], minlength=labels.n_units)
        base = int(times.max(initial=0)) + 1
        if base == 1:
            continue
        if size * base > LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key *= base
        key += times
        size *= base
    first, index = _first_and_rank(key, size)
    counts = np.zeros((len(first), len(labels.categories)), dtype=np.int64)
    # The pattern of a unit is read off the labels of the first unit that has it.
    pattern_of_first = np.full(labels.n_units, -1, dtype=np.int64)
    pattern_of_first[first] = np.arange(len(first))
    row = pattern_of_first[labels.unit]
    np.add.at(counts, (row[row >= 0], labels.value[row >= 0]), 1)
    return CountPatterns(counts, index, labels.cluster)


def _first_and_rank(key: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """One unit of each distinct key, and each unit's rank among the distinct keys."""
    if size > 4 * len(key) + 1_000_000:
        _, first, rank = np.unique(key, return_index=True, return_inverse=True)
        return first, rank
    # A table of the few possible keys spares the sort.
    occurs = np.bincount(key, minlength=size) > 0
    rank_of = np.cumsum(occurs) - 1
    example = np.zeros(size, dtype=np.int64)
    example[key] = np.arange(len(key))
    return example[occurs], rank_of[key]
