"""Agreement about sets: several labels at once, such as all topics of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.stats.agreement.alpha import Alpha, alpha_of
from analysis.stats.labels import Labels


def jaccard_distance(a: Iterable, b: Iterable) -> float:
    """``1 - |a & b| / |a | b|``; 0 for two empty sets, which are the same."""
    return float(_jaccard([a, b])[0, 1])


def masi_distance(a: Iterable, b: Iterable) -> float:
    """``1 - J M``: Jaccard's index J times the monotonicity M, which is 1 for equal sets, 2/3 where one holds the
    other, 1/3 where they only overlap, 0 where they share nothing.

    So a set that leaves something out is closer than one that also says something else. Two empty sets are equal.

    References
    ----------
    Passonneau (2006), Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation, LREC,
    https://aclanthology.org/L06-1392/. NLTK's `masi_distance` rounds 2/3 and 1/3 to 0.67 and 0.33.
    """
    return float(_masi([a, b])[0, 1])


def _jaccard(sets: Sequence[Iterable]) -> np.ndarray:
    """Distances of each two, (n, n)."""
    shared, size = _shared(sets)
    either = size[:, None] + size - shared
    return 1 - np.divide(shared, either, out=np.ones_like(shared), where=either > 0)


def _masi(sets: Sequence[Iterable]) -> np.ndarray:
    shared, size = _shared(sets)
    holds = shared == size  # the first one all of the second
    monotonicity = np.select([holds & holds.T, holds | holds.T, shared > 0], [1, 2 / 3, 1 / 3], 0)
    return 1 - (1 - _jaccard(sets)) * monotonicity


def _shared(sets: Sequence[Iterable]) -> tuple[np.ndarray, np.ndarray]:
    """How many labels each two share, (n, n), and how many each has."""
    held = [frozenset(one) for one in sets]
    places = {label: place for place, label in enumerate(frozenset().union(*held))}
    has = np.zeros((len(held), len(places)))
    for row, labels in enumerate(held):
        has[row, [places[label] for label in labels]] = 1
    return has @ has.T, has.sum(axis=1)


DISTANCES = {"masi": _masi, "jaccard": _jaccard}


def set_alpha(labels: Labels, sets: Sequence[Iterable], distance: str = "masi") -> Alpha:
    """Krippendorff's alpha of set-valued labels: ``1 - D_o / D_e`` with a distance of sets as its difference.

    Parameters
    ----------
    labels : Labels
        Categories are whole answers. Units with fewer than two are left out.
    sets : sequence of iterables, one per category
        What each answer holds; empty for none.
    distance : {'masi', 'jaccard'}
        Used as it is, as Passonneau does, not squared.

    Returns
    -------
    Alpha
        Undefined as `krippendorff_alpha` is: no unit has two labels, or all of them are one set.

    Raises
    ------
    ValueError
        Unknown distance; another number of sets than of categories.

    References
    ----------
    Passonneau (2006), see `masi_distance`; Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> labels = Labels.from_columns("aabbcc", "xyxyxy", ["p", "p", "p", "pq", "q", "q"], ["p", "q", "pq"])
    >>> alpha = set_alpha(labels, ["p", "q", "pq"])
    >>> round(alpha.observed, 4), round(alpha.expected, 4), round(alpha.estimate, 4)
    (0.2222, 0.6222, 0.6429)
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be {' or '.join(DISTANCES)}, not {distance!r}")
    if len(sets) != len(labels.categories):
        raise ValueError(f"there are {len(sets)} sets for {len(labels.categories)} categories")
    return alpha_of(labels, distance, DISTANCES[distance](sets))
