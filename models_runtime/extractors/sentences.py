"""Every sentence is one claim, or one sub-sentence: what a language model's claims are to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contracts import CheckerInfo
from ..packages import SPACY
from ..provenance import provenance, versions
from ..texts.splitting import sentence_offsets, words
from .contracts import Extraction, ExtractionInput, Piece
from .reading import distinct, extract_each, read_source

INFO = CheckerInfo(
    slug="sentences",
    version="1",
    kind="sentences",
    title="Sentence by sentence",
    summary="Takes every sentence as one claim or sub-sentence: a baseline that needs no model.",
    roles=("atomic_claim", "sub_sentence"),
    needs="cpu",
    packages=(SPACY,),
    licence="GPL-3.0-or-later",
    gives="pieces",
)


class SentenceExtractor:
    def __init__(self, info: CheckerInfo, kind: str, parameters: dict[str, Any]) -> None:
        self.info, self.kind, self.parameters = info, kind, parameters

    def describe(self) -> dict[str, Any]:
        return provenance(self.info, self.parameters, kind=self.kind, libraries=versions("spacy"))

    def extract(self, sources: Sequence[ExtractionInput]) -> list[Extraction]:
        return extract_each(sources, self._extract)

    def _extract(self, source: ExtractionInput) -> Extraction:
        read = read_source(source, self.kind)
        if read is None:
            return Extraction(source.id)
        _, text = read
        offsets = [(start, end) for start, end in sentence_offsets(text) if words(text[start:end])]
        pieces = (Piece({"text": text[start:end]}, start, end) for start, end in offsets)
        return Extraction(source.id, tuple(distinct(pieces)))


build = SentenceExtractor
