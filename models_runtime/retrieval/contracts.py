"""What every retriever takes and gives. Nothing here imports anything but the standard library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..contracts import PredictionError, Usage

# Where the passages of an expansion come from: a language model is asked for them, or they come with the queries.
SERVER, DOCUMENTS = "server", "documents"
# Below the data directory: vectors of texts, which all processes of the machine share.
VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Document:
    """`source` says where it is from: `url`, `publisher`, `date` (ISO 8601), `title`, `is_gold` (true, false, or the
    ids of the queries that it is gold for), `retrieved_at`, and what else its corpus knows."""

    id: str
    text: str
    source: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document: code points, end exclusive, `text == document.text[start:end]`. `source` is the
    document's, with the `sha256` of its text."""

    document: str
    start: int
    end: int
    text: str
    source: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """What to find passages for. `documents` names those that may be searched; None means all of the index. `about` is
    what else is known: `key`, and of a claim `claimant`, `date` (ISO 8601) and `source`. `made` are passages that were
    made up for it before, for an expansion from documents."""

    id: str
    text: str
    documents: frozenset[str] | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage with its place, counted from 1. `scores` has every stage's own number by name (bm25, dense, rerank),
    with what a stage did not see absent; `score` is the one that decided. Greater is nearer."""

    passage: Passage
    rank: int
    score: float
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits in the order of their rank; equal scores are ordered by document and start, so that a second run gives the
    same. `expanded` is what was searched for, where that is not the query's own text (hypothetical documents), and
    `made` the documents in it that a language model made up for this search."""

    id: str
    hits: tuple[PassageHit, ...] = ()
    expanded: str = ""
    error: PredictionError | None = None
    usage: Usage | None = None
    made: tuple[str, ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()  # of a pipeline: what each step took in, gave and dropped


class Retriever(Protocol):
    def describe(self) -> dict[str, Any]:
        """Provenance: retriever, version, models with the hash of their weights, parameters, chunker, documents and
        passages of its index, libraries."""

    def index(self, documents: Iterable[Document]) -> None:
        """Take in everything that is to be searched. Called once, before the first search."""

    def search(self, queries: Sequence[Query], top: int) -> list[Ranking]:
        """One ranking per query, in the order of the queries, with at most `top` hits each."""
