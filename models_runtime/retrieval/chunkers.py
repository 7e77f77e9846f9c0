"""Cutting documents into passages. Offsets are code points of the document, `passage.text == document[start:end]`.

A word is a run of characters without white space, as `str.split` finds them. A passage begins with a word and ends
with one, white space within it is kept, and every word of the document is in at least one passage; a document of
nothing but white space has none. A single word is never cut, however long.

| chunker | passages | as in |
|---|---|---|
| whole | the document | |
| paragraphs | its lines; a line of more than 200 words in pieces of 200, the last one shorter | DRUID, appendix D.3 |
| paragraphs-merged | the same, and as many consecutive lines together as have at most 200 words | |
| words-200 | 200 words each, none twice | |
| words-128-32 | 128 words each, the first 32 being the last ones of the passage before | ICAT, section 4.3 |
| words | as many words and as much overlap as one asks for | |
| sentences | as many whole sentences as have at most so many words; a longer one is a passage of its own | |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..contracts import ParameterError
from ..texts.splitting import sentence_offsets, windows

CHUNKERS = ("whole", "paragraphs", "paragraphs-merged", "words-200", "words-128-32", "words", "sentences")
PARAGRAPH_WORDS = 200
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Chunker:
    """One of CHUNKERS. `size` and `overlap` are numbers of words, read by `words` (both) and `sentences` (size)."""

    name: str = "words-128-32"
    size: int = 128
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.name not in CHUNKERS:
            raise ParameterError("chunker", f"{self.name!r} is not one of {', '.join(CHUNKERS)}")
        if self.size < 1:
            raise ParameterError("chunk_words", f"a passage of {self.size} words holds nothing")
        if self.name == "words" and not 0 <= self.overlap < self.size:
            raise ParameterError("chunk_overlap", f"{self.overlap} is not below the {self.size} words of a passage")

    @property
    def label(self) -> str:
        """The name with every number that it takes: what made the passages, for provenance."""
        sizes = {"words": f"-{self.size}-{self.overlap}", "sentences": f"-{self.size}"}
        return self.name + sizes.get(self.name, f"-{PARAGRAPH_WORDS}" if self.name.startswith("paragraphs") else "")

    def cut(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of every passage of `text`, in order."""
        if self.name == "whole":
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            return [(start, end)] if start < end else []
        if self.name.startswith("paragraphs"):
            return paragraphs(text, PARAGRAPH_WORDS, merge=self.name.endswith("merged"))
        if self.name == "sentences":
            return sentences(text, self.size)
        size, overlap = {"words-200": (200, 0), "words-128-32": (128, 32)}.get(self.name, (self.size, self.overlap))
        return words(text, size, overlap)


def words_of(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """(start, end) of the words between two places."""
    return (match.span() for match in _WORD.finditer(text, start, len(text) if end is None else end))


def words(text: str, size: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Passages of `size` words, each beginning `size - overlap` words after the one before it.

    The last passage is the first one that reaches the end. It has fewer words than the others where they do not come
    out even, and always more than `overlap`, so none is only a repetition.

    >>> text = "a b c d e f g h"
    >>> [text[start:end] for start, end in words(text, 4, 1)]
    ['a b c d', 'd e f g', 'g h']
    >>> [text[start:end] for start, end in words(text, 5, 2)]
    ['a b c d e', 'd e f g h']
    """
    return _pieces(list(words_of(text)), size, overlap)


def paragraphs(text: str, size: int = PARAGRAPH_WORDS, *, merge: bool = False) -> list[tuple[int, int]]:
    """Lines of at most `size` words; longer ones in pieces of `size` words and a last one of what is left.

    `merge` puts consecutive lines together for as long as they have at most `size` words in all; pieces of a line that
    was too long stay alone.

    >>> text = "a b\\n\\nc d e f g\\nh\\ni j"
    >>> [text[start:end] for start, end in paragraphs(text, 3)]
    ['a b', 'c d e', 'f g', 'h', 'i j']
    >>> [text[start:end] for start, end in paragraphs(text, 3, merge=True)]
    ['a b', 'c d e', 'f g', 'h\\ni j']
    """
    lines = [words for line in _LINE.finditer(text) if (words := list(words_of(text, *line.span())))]
    if not merge:
        return [piece for line in lines for piece in _pieces(line, size)]
    words: list[tuple[int, int]] = []
    for together in windows([len(line) for line in lines], size):
        group = [lines[place] for place in together]
        words += _pieces(group[0], size) if len(group) == 1 else [(group[0][0][0], group[-1][-1][1])]
    return words


def sentences(text: str, size: int) -> list[tuple[int, int]]:
    """As many consecutive sentences (`splitting.sentence_offsets`) as have at most `size` words; none is divided. Marks
    between snippets of a page (` [...] `) that stand at a border belong to no passage."""
    offsets = sentence_offsets(text)
    lengths = [sum(1 for _ in words_of(text, start, end)) for start, end in offsets]
    return [(offsets[window[0]][0], offsets[window[-1]][1]) for window in windows(lengths, size)]


def _pieces(words: list[tuple[int, int]], size: int, overlap: int = 0) -> list[tuple[int, int]]:
    pieces = []
    for first in range(0, len(words), size - overlap):
        last = min(first + size, len(words)) - 1
        pieces.append((words[first][0], words[last][1]))
        if last == len(words) - 1:
            break
    return pieces
