"""Every turn of a conversation is one sub-sentence, so that it can be labelled by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contracts import CheckerInfo, InputError, ParameterInfo
from ..inputs import check_text
from ..provenance import provenance
from ..texts.turns import MOST_TURNS, ROLES, turns_of
from .contracts import Extraction, ExtractionInput, Piece
from .reading import extract_each

ANY = "all"
INFO = CheckerInfo(
    slug="turns",
    version="1",
    kind="turns",
    title="Turn by turn",
    summary="Takes every turn of a conversation, such as the assistant's, as one sub-sentence; needs no model.",
    roles=("sub_sentence",),
    needs="cpu",
    parameters=(ParameterInfo("role", "Role of the turns", "str", "assistant", choices=(*sorted(ROLES), ANY)),),
    licence="GPL-3.0-or-later",
    gives="pieces",
)


class TurnExtractor:
    def __init__(self, info: CheckerInfo, kind: str, parameters: dict[str, Any]) -> None:
        self.info, self.kind, self.parameters = info, kind, parameters

    def describe(self) -> dict[str, Any]:
        return provenance(self.info, self.parameters, kind=self.kind)

    def extract(self, sources: Sequence[ExtractionInput]) -> list[Extraction]:
        return extract_each(sources, self._extract)

    def _extract(self, source: ExtractionInput) -> Extraction:
        text, role = check_text("text", source.text), self.parameters["role"]
        turns = list(turns_of(text))
        if len(turns) > MOST_TURNS:
            raise InputError("too-many-turns", f"it has {len(turns):,} turns; at most {MOST_TURNS:,} are read")
        pieces = []
        for turn in turns:
            words = text[turn.start : turn.end]
            start = turn.start + len(words) - len(words.lstrip())
            if role in (turn.role, ANY) and (words := words.strip()):
                pieces.append(Piece({"text": words}, start, start + len(words)))
        return Extraction(source.id, tuple(pieces))


build = TurnExtractor
