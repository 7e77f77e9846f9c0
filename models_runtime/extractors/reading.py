"""What all extractors share: reading a source, and what counts as the same piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..contracts import CheckerInput, InputError
from ..inputs import answer_each, check_text, failed
from ..texts.abstention import is_abstention
from .contracts import Extraction, ExtractionInput, Piece


def read_source(source: ExtractionInput, kind: str) -> tuple[str, str] | None:
    """(question, text); None where there is nothing to extract, as the text is empty or says "I don't know".

    InputError where a text cannot be used, and where there is no question that could have aspects.
    """
    question, text = check_text("question", source.question), check_text("text", source.text)
    if kind == "aspect":
        if not question.strip():
            raise InputError("empty-question", "there is no question to find aspects of")
        return question, text
    return None if is_abstention(text) else (question, text)


def extract_each(
    sources: Sequence[ExtractionInput], extract: Callable[[ExtractionInput], Extraction]
) -> list[Extraction]:
    """See `answer_each`."""
    return answer_each(sources, extract, failed_extraction)


def failed_extraction(source: ExtractionInput, error: Exception) -> Extraction:
    return Extraction(source.id, error=failed(CheckerInput(source.id, {}), error).error)


def distinct(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces without those that repeat an earlier one but for case and white space.

    >>> [one.parts["text"] for one in distinct(Piece({"text": text}) for text in ("Ice melts", "ice  melts", "No"))]
    ['Ice melts', 'No']
    """
    known = set()
    for piece in pieces:
        same = tuple(" ".join(part.split()).casefold() for part in piece.parts.values())
        if same not in known:
            known.add(same)
            yield piece
