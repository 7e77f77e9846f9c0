"""Searching with documents that a language model makes up for a query (`llm.hypothetical` has the sources).

- `query2doc`, for BM25: the query five times and one made-up passage are one query.
- `hyde`, for a dense index: the mean of the unit vectors of the query and of N made-up passages, made one long again.
  The query gets the prefix of queries, made-up passages that of passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import PredictionError, Usage
from ..llm import prompts
from ..llm.asking import Server
from ..llm.hypothetical import SETTINGS, expanded_query, hypothetical_documents


@dataclass(frozen=True, slots=True)
class Expanded:
    """What a stage searches for instead of the query, and the same for people to read; or why there is nothing."""

    texts: tuple[str, ...] = ()
    shown: str = ""
    error: PredictionError | None = None
    usage: Usage | None = None


class Expansion:
    def __init__(self, parameters: dict[str, Any]) -> None:
        self.method, self.seed = parameters["expansion"], parameters["expansion_seed"]
        self.count = parameters.get("expansion_passages", 1)
        self.server = Server(parameters["endpoint"])

    def expand(self, queries: Sequence[str]) -> list[Expanded]:
        """For each query, in order. UnavailableError where the server is away for too long."""
        made = hypothetical_documents(queries, self.server, self.method, self.count, seed=self.seed)
        return [
            Expanded(error=one.error, usage=one.usage) if one.error else self._texts(query, one.texts, one.usage)
            for query, one in zip(queries, made, strict=True)
        ]

    def _texts(self, query: str, made: tuple[str, ...], usage: Usage) -> Expanded:
        if self.method == "query2doc":
            whole = expanded_query(query, made[0])
            return Expanded((whole,), whole, usage=usage)
        return Expanded((query, *made), "\n\n".join([query, *made]), usage=usage)

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        return {
            **self.server.describe(),
            "method": self.method,
            "passages": self.count,
            "seed": self.seed,
            "settings": dict(SETTINGS),
            "prompt": prompts.shipped(self.method).described(),
        }
