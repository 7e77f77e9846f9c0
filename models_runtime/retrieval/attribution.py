"""Source attribution: which stretches of a reference a claim-triplet rests on (RefChecker, appendix B.3).

The paper encodes spans of the reference and the elements of the triplet by sentence embeddings, compares them, and
keeps the spans above a threshold. Its public code compares windows of 0.8 to 1.2 times an element's length, by the mean
of their tokens' vectors in the model's embedding layer, and keeps those above 0.65 (head and tail) or 0.6 (relation).
Here

- candidates are sentences, or windows of as many words as asked for; each is embedded as a text of its own
- every element of the triplet that is not empty is compared with every candidate
- a candidate's score is the mean over the elements: what holds the whole statement comes before what names its subject
- candidates at or above the threshold are kept, best first; of two that overlap, only the better one

`attribute` is the rule alone, for any similarities; `by_embeddings` and `by_words` compute them. They are for
notebooks: a checker's own highlight says which sentence decided, and that is what annotators are shown.

>>> text = "Lake Constance lies in the Alps. It froze over in 1963."
>>> [span.text for span in by_words(text, ("Lake Constance", "froze over in", "1963"), threshold=0.5)]
['It froze over in 1963.']
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..texts.splitting import content_words, sentence_offsets
from ..texts.splitting import words as words_of_text
from .chunkers import words as word_windows

THRESHOLD = 0.6


@dataclass(frozen=True, slots=True)
class Attributed:
    """A stretch of the reference, `text == reference[start:end]` in code points. `by_part` has each element's own
    similarity, in the order of the elements that are not empty."""

    start: int
    end: int
    text: str
    score: float
    by_part: tuple[float, ...]


def candidates(text: str, window: int = 0) -> list[tuple[int, int]]:
    """(start, end) of what may be attributed: the sentences, or all windows of `window` consecutive words.

    >>> [("a b c"[start:end]) for start, end in candidates("a b c", 2)]
    ['a b', 'b c']
    """
    return word_windows(text, window, window - 1) if window else sentence_offsets(text)


def attribute(
    text: str, spans: Sequence[tuple[int, int]], similarities: Sequence[Sequence[float]], threshold: float
) -> list[Attributed]:
    """The spans of `text` that are kept. `similarities[i][j]` is that of span i and element j; at least one element.

    Equal scores are ordered by their start, the shorter span first. ValueError where the numbers do not fit together.

    >>> [found.text for found in attribute("a b c", [(0, 1), (2, 5), (4, 5)], [[0.2], [0.8], [0.9]], 0.5)]
    ['c']
    """
    if len(spans) != len(similarities) or not all(similarities):
        raise ValueError(
            f"{len(similarities)} rows of similarities for {len(spans)} spans, each with an element or more"
        )
    attributed = [
        Attributed(start, end, text[start:end], sum(row) / len(row), tuple(row))
        for (start, end), row in zip(spans, similarities, strict=True)
    ]
    kept: list[Attributed] = []
    used: list[tuple[int, int]] = []  # by where they are
    for one in sorted(attributed, key=lambda one: (-one.score, one.start, one.end)):
        place = bisect.bisect(used, (one.start, one.end))
        is_free = (not place or used[place - 1][1] <= one.start) and (place == len(used) or one.end <= used[place][0])
        if one.score >= threshold and is_free:
            used.insert(place, (one.start, one.end))
            kept.append(one)
    return kept


def by_embeddings(
    text: str, parts: Sequence[str], encoder: Any, threshold: float = THRESHOLD, window: int = 0
) -> list[Attributed]:
    """By the cosine of embeddings; `encoder` is a `checkers.embedding.Encoder`, or whatever has its `embed`.

    [] where the text or all elements are blank. ValueError for a text that cannot be embedded.
    """
    spans, asked = candidates(text, window), [part.strip() for part in parts if part.strip()]
    if not spans or not asked:
        return []
    embedded = encoder.embed([*asked, *(text[start:end] for start, end in spans)])
    for failed, error in embedded.failures.items():
        raise ValueError(f"{failed[:80]!r} cannot be embedded: {type(error).__name__}: {error}")
    vectors = embedded.vectors
    cosines = [[float(vectors[part] @ vectors[text[start:end]]) for part in asked] for start, end in spans]
    return attribute(text, spans, cosines, threshold)


def by_words(text: str, parts: Sequence[str], threshold: float = THRESHOLD, window: int = 0) -> list[Attributed]:
    """By the share of an element's words that the span has (stop words do not count, unless there are no others)."""
    spans = candidates(text, window)
    asked = [set(content_words(part)) or set(words_of_text(part)) for part in parts]
    asked = [words for words in asked if words]
    if not spans or not asked:
        return []
    shares = []
    for start, end in spans:
        having = set(words_of_text(text[start:end]))
        shares.append([len(words & having) / len(words) for words in asked])
    return attribute(text, spans, shares, threshold)
