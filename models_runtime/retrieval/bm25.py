"""BM25 over words, by bm25s.

score(query, passage) = sum over the query's words t, repeated ones each time, of
    ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5)) * f(t) / (f(t) + k1 * (1 - b + b * length / mean length))

with N passages in the index, n(t) of them with the word, f(t) times in this passage, and lengths in words. This is
Lucene's BM25 with exact lengths (Kamphuis, de Vries, Boytsov, Lin 2020, "Which BM25 Do You Mean?", ECIR,
doi:10.1007/978-3-030-45442-5_4), without the factor k1 + 1, which moves no rank.

Words are those of `splitting.words`: lower-cased, without punctuation, contractions divided, stop words kept, not
stemmed. N and n(t) are of the whole index, also for queries that may only search some documents. A passage that shares
no word with the query is not found.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Sequence
from typing import Any

from ..contracts import CheckerInfo, PredictionError
from ..packages import BM25S, SPACY
from ..provenance import versions
from ..texts.splitting import words
from .parameters import BM25, BY_BM25, CHUNKS, QUERY2DOC, RERANKED, RERANKING
from .retriever import StagedRetriever
from .stages import NO_WORDS, Scored, Sought, best

INFO = CheckerInfo(
    slug="bm25",
    version="1",
    kind="retriever",
    title="Shared words (BM25)",
    summary="Ranks passages by the words they share with the query; rare words count for more.",
    roles=(),
    needs="cpu",
    packages=(BM25S, SPACY),
    licence="MIT",
    gives="rankings",
    parameters=(*CHUNKS, *BM25, *QUERY2DOC, *RERANKING),
    scores=(BY_BM25, RERANKED),
)


class BM25Stage:
    name = "bm25"

    def __init__(self, k1: float, b: float) -> None:
        self.k1, self.b = k1, b
        self.begin()

    def begin(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._passages: list[array] = []
        self._index: Any = None

    def add(self, texts: Sequence[str]) -> None:
        known = self._vocabulary
        self._passages += (array("i", [known.setdefault(word, len(known)) for word in words(text)]) for text in texts)

    def finish(self, order: Any) -> None:
        import bm25s

        self._order = order
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it would tell of every index
        if self._vocabulary:
            self._index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", dtype="float64")
            corpus = (self._passages, self._vocabulary)
            self._index.index(corpus, create_empty_token=False, show_progress=False)
        self._passages = []

    def search(self, sought: Sequence[Sought], top: int) -> list[Scored | PredictionError]:
        return [self._search(one, top) for one in sought]

    def _search(self, sought: Sought, top: int) -> Scored | PredictionError:
        import numpy as np

        asked = [word for text in sought.texts for word in words(text)]
        if not asked:
            return PredictionError(NO_WORDS, "the query has no words", permanent=True)
        ids = [self._vocabulary[word] for word in asked if word in self._vocabulary]
        if not ids:
            return []
        scores = self._index.get_scores_from_ids(ids)
        places = np.flatnonzero(scores) if sought.places is None else sought.places[scores[sought.places] > 0]
        return best(scores[places], places, self._order, top)

    def describe(self) -> dict[str, Any]:
        return {"words": len(self._vocabulary), "libraries": versions("bm25s")}


def stage_of(parameters: dict[str, Any]) -> BM25Stage:
    return BM25Stage(parameters["k1"], parameters["b"])


def build(info: CheckerInfo, parameters: dict[str, Any]) -> StagedRetriever:
    return StagedRetriever(info, parameters, [stage_of(parameters)])
