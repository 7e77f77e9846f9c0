"""Units that the same raters gave the same labels, held once: what models of annotators see of a unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats.labels import Labels


@dataclass(frozen=True, eq=False)
class RaterPatterns:
    """Distinct patterns of raters' labels.

    Attributes
    ----------
    one_hot : (n_patterns, n_raters * n_categories) sparse array
        1 where a unit of the pattern has this label by this rater.
    units : (n,) int array
        Units that have a label.
    pattern : (n,) int array
        Pattern of each of them.
    first : (n_patterns,) int array
        Place in `units` of one unit of each pattern.
    """

    one_hot: scipy.sparse.csr_array
    units: np.ndarray
    pattern: np.ndarray
    first: np.ndarray

    @property
    def times(self) -> np.ndarray:
        """Units of each pattern, (n_patterns,)."""
        return np.bincount(self.pattern, minlength=len(self.first)).astype(float)


def rater_patterns(labels: Labels) -> RaterPatterns:
    """Patterns of all labelled units.

    They are distinguished by adding up one random 64-bit number per rater and label: in a million units, different ones
    meet in one sum with a chance below 1e-7.
    """
    q = len(labels.categories)
    units, row = np.unique(labels.unit, return_inverse=True)
    column = labels.rater.astype(np.int64) * q + labels.value
    tag = np.random.default_rng(20250704).integers(0, 2**64, labels.n_raters * q, dtype=np.uint64)
    content = np.zeros(len(units), dtype=np.uint64)
    np.add.at(content, row, tag[column])
    _, first, pattern = np.unique(content, return_index=True, return_inverse=True)
    table = scipy.sparse.csr_array((np.ones(len(row)), (row, column)), shape=(len(units), labels.n_raters * q))
    return RaterPatterns(scipy.sparse.csr_array(table[first]), units, pattern, first)
