"""Searching with documents that a language model makes up for a query (`llm.hypothetical` has the sources), or made up
before (`Query.made`).

- `query2doc`, for BM25: the query five times and one made-up passage are one query.
- `hyde`, for a dense index: the mean of the unit vectors of the query and of N made-up passages, made one long again.
  The query gets the prefix of queries, made-up passages that of passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import PredictionError, Usage
from ..llm.asking import Server
from ..llm.hypothetical import ANY, SETTINGS, expanded_query, hypothetical_documents, prompt_of
from .contracts import DOCUMENTS, SERVER, Query


@dataclass(frozen=True, slots=True)
class Expanded:
    """What a stage searches for instead of the query, the same for people to read, and the passages in it that were
    made up now; or why there is nothing."""

    texts: tuple[str, ...] = ()
    shown: str = ""
    made: tuple[str, ...] = ()
    error: PredictionError | None = None
    usage: Usage | None = None


NOTHING_STORED = Expanded(error=PredictionError("no-document", "no stored document was made for it", permanent=True))


class Expansion:
    def __init__(self, parameters: dict[str, Any]) -> None:
        self.method, self.seed = parameters["expansion"], parameters["expansion_seed"]
        self.count = parameters.get("expansion_passages", 1)
        self.prompt = prompt_of(self.method, parameters.get("expansion_style", ANY), parameters["expansion_prompt"])
        self.server = Server(parameters["endpoint"]) if parameters["expansion_from"] == SERVER else None

    @property
    def slice_at_least(self) -> int:
        return self.server.slice_at_least if self.server else 1

    def expand(self, queries: Sequence[Query]) -> list[Expanded]:
        """For each query, in order. UnavailableError where the server is away for too long."""
        if self.server is None:
            return [self._texts(query.text, query.made, None) if query.made else NOTHING_STORED for query in queries]
        texts = [query.text for query in queries]
        made = hypothetical_documents(texts, self.server, self.method, self.count, seed=self.seed, prompt=self.prompt)
        return [
            Expanded(error=one.error, usage=one.usage) if one.error else self._texts(text, one.texts, one.usage)
            for text, one in zip(texts, made, strict=True)
        ]

    def _texts(self, query: str, made: tuple[str, ...], usage: Usage | None) -> Expanded:
        new = made if self.server else ()
        if self.method == "query2doc":
            whole = expanded_query(query, " ".join(made))
            return Expanded((whole,), whole, new, usage=usage)
        return Expanded((query, *made), "\n\n".join([query, *made]), new, usage=usage)

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        if self.server is None:
            return {"method": self.method, "from": DOCUMENTS, "libraries": {}}
        return {
            **self.server.describe(),
            "method": self.method,
            "passages": self.count,
            "seed": self.seed,
            "settings": dict(SETTINGS),
            "prompt": self.prompt.described(),
        }
