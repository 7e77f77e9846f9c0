"""An extractor without understanding, for tests and demonstrations: quick, repeatable, and failing on demand.

Triplets are a sentence's words cut at two places, claims and sub-sentences are sentences, and aspects are a question's
longer words. What is drawn comes from sha256 of the seed, the kind and the texts, so equal texts are always taken apart
alike, and a text that fails does so on every attempt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ..contracts import CheckerInfo, InputError, ParameterInfo, Usage
from ..provenance import provenance
from .contracts import PARTS, Extraction, ExtractionInput, Piece
from .reading import distinct, extract_each, read_source

_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]*[.!?]*")
_WORD = re.compile(r"\S+")
_MARKS = ".,;:!?\"'()"
LETTERS_OF_AN_ASPECT = 5


INFO = CheckerInfo(
    slug="fake-extractor",
    version="1",
    kind="fake",
    title="Cut at random",
    summary="Cuts sentences and questions by a hash of their words: for tests and demonstrations.",
    roles=tuple(PARTS),
    needs="cpu",
    licence="GPL-3.0-or-later",
    gives="pieces",
    parameters=(
        ParameterInfo("seed", "Seed", "int", 0, 0, 2**31 - 1),
        ParameterInfo("most", "Maximum pieces per text", "int", 10, 1, 1000),
        ParameterInfo("omitted_share", "Share of pieces that are left out", "float", 0.1, 0, 1),
        ParameterInfo("failure_share", "Share of texts that fail", "float", 0.0, 0, 1),
        ParameterInfo("permanent_failure_share", "Share of texts that fail permanently", "float", 0.0, 0, 1),
    ),
)


class FakeExtractor:
    def __init__(self, info: CheckerInfo, kind: str, parameters: dict[str, Any]) -> None:
        self.info, self.kind, self.parameters = info, kind, parameters

    def describe(self) -> dict[str, Any]:
        return provenance(self.info, self.parameters, kind=self.kind, libraries={})

    def extract(self, sources: Sequence[ExtractionInput]) -> list[Extraction]:
        return extract_each(sources, self._extract)

    def _extract(self, source: ExtractionInput) -> Extraction:
        read = read_source(source, self.kind)
        if read is None:
            return Extraction(source.id)
        question, text = read
        draw = self._draw(question, text, "failure")
        if draw < self.parameters["permanent_failure_share"]:
            raise InputError("fake-permanent", "this text was chosen to fail permanently")
        if draw < self.parameters["permanent_failure_share"] + self.parameters["failure_share"]:
            raise InputError("fake-transient", "this text was chosen to fail", permanent=False)
        proposed = {"triplet": self._triplets, "atomic_claim": _claims, "sub_sentence": _claims, "aspect": _aspects}[
            self.kind
        ](question, text)
        kept = (
            one for one in distinct(proposed) if self._draw(*one.parts.values()) >= self.parameters["omitted_share"]
        )
        pieces = tuple(islice(kept, self.parameters["most"]))
        return Extraction(
            source.id,
            pieces,
            usage=Usage(len(question.split()) + len(text.split()), len(pieces)),
            trace={
                "prompt": "\n".join(part for part in (question, text) if part),
                "output": "\n".join(" | ".join(piece.parts.values()) for piece in pieces),
            },
        )

    def _triplets(self, question: str, text: str) -> Iterator[Piece]:
        for sentence in _SENTENCE.finditer(text):
            spans = [(word.start(), word.end()) for word in _WORD.finditer(text, *sentence.span())]
            if len(spans) < len(PARTS["triplet"]):
                continue
            # The relation is one or two words, and something is left on either side of it.
            first = 1 + int(self._draw(sentence.group(), "first") * (len(spans) - 2))
            last = min(first + int(self._draw(sentence.group(), "last") * 2), len(spans) - 2)
            cuts = (spans[:first], spans[first : last + 1], spans[last + 1 :])
            parts = [text[words[0][0] : words[-1][1]].strip(_MARKS) for words in cuts]
            if all(parts):
                yield Piece(dict(zip(PARTS["triplet"], parts, strict=True)), *sentence.span())

    def _draw(self, *purpose: str) -> float:
        """A number in [0, 1)."""
        key = json.dumps([self.parameters["seed"], self.kind, *purpose])
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big") / 2**48


def _claims(question: str, text: str) -> Iterator[Piece]:
    for sentence in _SENTENCE.finditer(text):
        end = sentence.start() + len(sentence.group().rstrip())
        yield Piece({"text": text[sentence.start() : end]}, sentence.start(), end)


def _aspects(question: str, text: str) -> Iterator[Piece]:
    for word in _WORD.findall(question):
        if len(bare := word.strip(_MARKS)) >= LETTERS_OF_AN_ASPECT:
            yield Piece({"text": f"What is meant by {bare}"})


build = FakeExtractor
