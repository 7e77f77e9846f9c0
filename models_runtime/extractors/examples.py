"""Worked examples that a language model is shown before a text: questions and answers with their pieces (few-shot).

They are JSON, a list of `{"question": "…", "text": "…", "pieces": [{"head": "…", "relation": "…", "tail": "…"}]}`;
`question` may be left out, and a piece may have `from`, the sentence of the text that states it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..contracts import InputError, ParameterError
from ..inputs import check_text

KIND = "examples"  # of a parameter
MOST = 20


@dataclass(frozen=True, slots=True)
class WorkedExample:
    question: str
    text: str
    pieces: tuple[dict[str, str], ...]


def read_examples(value: str) -> tuple[WorkedExample, ...]:
    """ParameterError where it is of another form, with the number of the example."""
    if not value.strip():
        return ()
    try:
        rows = json.loads(value)
    except (ValueError, RecursionError):
        raise ParameterError(KIND, "they are not JSON") from None
    if not isinstance(rows, list) or len(rows) > MOST:
        raise ParameterError(KIND, f"give a JSON list of {MOST} examples at most")
    return tuple(_example(row, number) for number, row in enumerate(rows, 1))


def _example(row: Any, number: int) -> WorkedExample:
    form = "needs text, pieces (a list of objects with texts) and, where there is one, question"
    if not isinstance(row, dict) or not {"text", "pieces"} <= set(row) <= {"question", "text", "pieces"}:
        raise ParameterError(KIND, f"number {number} {form}")
    question, text, pieces = row.get("question", ""), row["text"], row["pieces"]
    are_texts = isinstance(pieces, list) and all(
        isinstance(piece, dict) and piece and all(isinstance(part, str) for part in piece.values()) for piece in pieces
    )
    if not isinstance(question, str) or not isinstance(text, str) or not are_texts:
        raise ParameterError(KIND, f"number {number} {form}")
    try:
        for one in (question, text, *(part for piece in pieces for part in piece.values())):
            check_text("text", one)
    except InputError as error:
        raise ParameterError(KIND, f"number {number}: {error.message}") from None
    return WorkedExample(question, text, tuple(pieces))
