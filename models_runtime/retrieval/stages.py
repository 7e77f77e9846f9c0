"""What the retrievers share: how a stage is asked, how equal scores are ordered, and how two rankings become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..contracts import PredictionError

# Scores that differ by less are equal: the last bits of a sum hang on its order and on the size of a batch.
DIGITS = 6
# Why a query without words gets no ranking by words.
NO_WORDS = "no-words"
Scored = list[tuple[int, float]]  # places of passages with their scores, best first


@dataclass(frozen=True, slots=True)
class Sought:
    """What a stage looks for. Several texts are one query: the first is the query's own, and the others were made up
    for it: a lexical stage reads them one after the other, a dense one takes the mean of their vectors.
    `places` are those of the passages that may be found, ascending; None means all."""

    texts: tuple[str, ...]
    places: Any = None


class Stage(Protocol):
    name: str

    def begin(self) -> None:
        """Forget whatever was taken in."""

    def add(self, texts: Sequence[str]) -> None:
        """The next passages, in the order of their places."""

    def finish(self, order: Any) -> None:
        """There are no more. `order` says where each place stands among passages of equal scores."""

    def search(self, sought: Sequence[Sought], top: int) -> list[Scored | PredictionError]:
        """The best `top` passages for each, best first, equal scores by `order`."""

    def describe(self) -> dict[str, Any]:
        """Its models and libraries, and what it took in."""


def best(scores: Any, places: Any, order: Any, top: int) -> Scored:
    """The `top` greatest of `scores` (which are those of `places`), rounded, equal ones by `order`."""
    import numpy as np

    scores = np.round(np.asarray(scores, dtype=np.float64), DIGITS) + 0.0  # without -0.0
    if len(scores) > top:
        least = np.partition(scores, len(scores) - top)[len(scores) - top]
        kept = scores >= least
        scores, places = scores[kept], places[kept]
    best_places = np.lexsort((order[places], -scores))[:top]
    return [(int(places[one]), float(scores[one])) for one in best_places]


def reciprocal_ranks(rankings: Sequence[Sequence[int]], constant: float = 60) -> dict[int, float]:
    """Reciprocal rank fusion: of every passage the sum of 1 / (constant + rank) over the rankings that have it, ranks
    counted from 1.

    Cormack, Clarke, Buettcher (2009), "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR, doi:10.1145/1571941.1572114, who set the constant to 60.

    >>> reciprocal_ranks([[7, 3], [3, 9]], 1)
    {7: 0.5, 3: 0.8333333333333333, 9: 0.3333333333333333}
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, 1):
            fused[place] = fused.get(place, 0.0) + 1 / (constant + rank)
    return fused
