"""What every extractor takes and gives: triplets, atomic claims or sub-sentences of a text, aspects of a question.

Nothing here imports anything but the standard library. Like a checker, an extractor keeps order and length, and an
input that it cannot answer fails alone. What it proposes becomes content only once a person has accepted it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..contracts import PredictionError, Usage

# What pieces are made of: the names of their parts, by kind, in the order in which they are read.
PARTS: dict[str, tuple[str, ...]] = {
    "triplet": ("head", "relation", "tail"),
    "atomic_claim": ("text",),
    "sub_sentence": ("text",),
    "aspect": ("text",),
}


@dataclass(frozen=True, slots=True)
class ExtractionInput:
    """What is taken apart: a response (`text`) to a question, or, for aspects, a question alone (`text` is empty)."""

    id: str
    question: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """One proposal. `parts` has the parts of its kind (see PARTS); `start` and `end` (code points of the source's text,
    end exclusive) say where it comes from, None where the extractor does not tell."""

    parts: dict[str, str]
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in one source. No pieces and no error: there is nothing to extract. `usage` and `trace` are as in
    `contracts.Prediction`."""

    id: str
    pieces: tuple[Piece, ...] = ()
    error: PredictionError | None = None
    usage: Usage | None = None
    trace: dict[str, Any] | None = field(default=None)


class Extractor(Protocol):
    def describe(self) -> dict[str, Any]:
        """Provenance, as of a checker; `kind` is the kind of its pieces."""

    def extract(self, sources: Sequence[ExtractionInput]) -> list[Extraction]:
        """One extraction per source, in the order of the sources."""
