"""Retrievals as frames: what was searched for, and which passages were found in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

QUERY_COLUMNS = ("query", "text", "expanded", "reason", "steps")
RANKING_COLUMNS = ("query", "rank", "document", "evidence", "start", "end", "score", "text", "source")
# No figure looks further down a ranking, so frames and releases hold no more of each query.
PASSAGES = 10
# Where is searched: all evidence of the data set, or each query's own; other names are corpora of the site.
OWN, EACH = "own", "each"


@dataclass(frozen=True)
class Retrieval:
    """A finished retrieval. `asks` is what is searched for (claim, question, atomic_claim, aspect), `top` how many
    passages of each query were kept."""

    uuid: str
    retriever: str
    version: str
    asks: str
    corpus: str
    top: int
    parameters: dict = field(default_factory=dict, compare=False)
    provenance: dict = field(default_factory=dict, compare=False)
    created_at: datetime | None = None

    @property
    def searches_evidence(self) -> bool:
        return self.corpus in (OWN, EACH)
