"""Published tables, and helpers to bring tables into long form."""

from pathlib import Path

import numpy as np
import pytest

from analysis.stats import Labels

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

N = np.nan

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C: 4 observers, 12 units, values 1 to 5.
KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
)

# The sample in the krippendorff package's documentation (and in Wikipedia): 3 coders, 15 units, values 1 to 4.
FAST_KRIPPENDORFF = np.array(
    [
        [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
        [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
        [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
    ]
)

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each; how many diagnosed depression, personality disorder,
# schizophrenia, neurosis, other.
FLEISS_1971 = np.array(
    [
        [0, 0, 0, 6, 0],
        [0, 3, 0, 0, 3],
        [0, 1, 4, 0, 1],
        [0, 0, 0, 0, 6],
        [0, 3, 0, 3, 0],
        [2, 0, 4, 0, 0],
        [0, 0, 4, 0, 2],
        [2, 0, 3, 1, 0],
        [2, 0, 0, 4, 0],
        [0, 0, 0, 0, 6],
        [1, 0, 0, 5, 0],
        [1, 1, 0, 4, 0],
        [0, 3, 3, 0, 0],
        [1, 0, 0, 5, 0],
        [0, 2, 0, 3, 1],
        [0, 0, 5, 0, 1],
        [3, 0, 0, 1, 2],
        [5, 1, 0, 0, 0],
        [0, 2, 0, 4, 0],
        [1, 0, 2, 0, 3],
        [0, 0, 0, 0, 6],
        [0, 1, 0, 5, 0],
        [0, 2, 0, 1, 3],
        [2, 0, 0, 4, 0],
        [1, 0, 0, 4, 1],
        [0, 5, 0, 1, 0],
        [4, 0, 0, 0, 2],
        [0, 2, 0, 4, 0],
        [1, 0, 5, 0, 0],
        [0, 0, 0, 0, 6],
    ]
)


def from_matrix(matrix, categories, cluster=None):
    """Labels from a raters-by-units table of category numbers, nan for missing."""
    matrix = np.asarray(matrix, dtype=float)
    rater, unit = np.nonzero(~np.isnan(matrix))
    text = [str(int(value)) for value in matrix[rater, unit]]
    value = np.array([list(categories).index(entry) for entry in text], dtype=int)
    return Labels(unit, rater, value, matrix.shape[1], tuple(categories), cluster=cluster)


def from_counts(counts, cluster=None):
    """Exchangeable labels from a units-by-categories table of counts."""
    counts = np.asarray(counts)
    unit, value = np.nonzero(counts)
    times = counts[unit, value]
    unit, value = np.repeat(unit, times), np.repeat(value, times)
    slot = np.concatenate([np.arange(n) for n in counts.sum(axis=1)]) if len(unit) else np.zeros(0, dtype=int)
    categories = tuple(str(code) for code in range(counts.shape[1]))
    return Labels(unit, slot, value, len(counts), categories, cluster=cluster, exchangeable=True)


def random_matrix(rng, n_raters, n_units, n_categories, missing=0.3, agreement=0.5):
    """Raters-by-units table of 1..n_categories with planted agreement and missing labels."""
    truth = rng.integers(1, n_categories + 1, n_units)
    own = rng.integers(1, n_categories + 1, (n_raters, n_units))
    matrix = np.where(rng.random((n_raters, n_units)) < agreement, truth, own).astype(float)
    matrix[rng.random(matrix.shape) < missing] = np.nan
    return matrix


def shared(*parts):
    """A file of real data beside the checkout, or a skip that names it."""
    path = SHARED_DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared data absent: {path}")
    return path
