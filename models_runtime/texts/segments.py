"""Cutting a text at sentence borders into pieces that a model with a window can read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping

from .splitting import content_bounds, sentence_offsets

# The number of tokens of each of several texts, as the model's own tokenizer counts them (without special tokens).
Count = Callable[[list[str]], list[int]]

_WORD = re.compile(r"\S+")
_CHARACTERS = 8  # of a token, at most: a text of more than this for each is not counted whole
_JOINERS = "\u200d\ufe0e\ufe0f"


def segments(text: str, size: int, count: Count) -> list[tuple[int, int]]:
    """(start, end) in code points of consecutive pieces of `text`, each of at most `size` tokens by `count`.

    A piece is as many whole sentences (`splitting.sentence_offsets`) as fit; white space and snippet marks between
    pieces belong to none. A sentence that is longer by itself is cut between words, and a word that is longer (100,000
    emoji without a space) within it, not before combining marks and joiners if that can be helped. Only a single
    character of more than `size` tokens gives a piece that is longer than that. Nothing but white space gives [].

    >>> words = lambda texts: [len(text.split()) for text in texts]
    >>> text = "Ice melts. Seas rise! Nobody knows for sure why."
    >>> [text[start:end] for start, end in segments(text, 4, words)]
    ['Ice melts. Seas rise!', 'Nobody knows for sure', 'why.']
    """
    if size < 1:
        raise ValueError(f"a segment of {size} tokens holds nothing")
    if fits := whole_texts([(text, size)], {text: content_bounds(text)}, count):
        return [fits[text, size]]
    return _packed(text, sentence_offsets(text), size, count, _cut_sentence)


def whole_texts(
    wanted: Collection[tuple[str, int]], bounds: Mapping[str, tuple[int, int] | None], count: Count
) -> dict[tuple[str, int], tuple[int, int]]:
    """Of pairs (text, size), those where `segments` would make one piece of the whole text, with its (start, end),
    which is that of the text in `bounds` (`splitting.content_bounds`).

    All texts are counted in one call, and none is searched for sentences.
    """
    likely = [
        (text, size) for text, size in wanted if (found := bounds[text]) and found[1] - found[0] <= _CHARACTERS * size
    ]
    texts = list(dict.fromkeys(text for text, _ in likely))
    counts = dict(zip(texts, count([text[slice(*bounds[text])] for text in texts]) if texts else (), strict=True))
    return {(text, size): bounds[text] for text, size in likely if counts[text] <= size}


def _fits(text: str, parts: list[tuple[int, int]], size: int, count: Count) -> bool:
    return count([text[parts[0][0] : parts[-1][1]]])[0] <= size


def _packed(
    text: str,
    parts: list[tuple[int, int]],
    size: int,
    count: Count,
    cut: Callable[[str, int, int, int, Count], list[tuple[int, int]]],
) -> list[tuple[int, int]]:
    """Consecutive parts in pieces of as many as fit; what is too long alone goes through `cut`."""
    lengths = count([text[start:end] for start, end in parts]) if parts else []
    pieces: list[tuple[int, int]] = []
    place = 0
    while place < len(parts):
        if lengths[place] > size:
            pieces += cut(text, *parts[place], size, count)
            place += 1
            continue
        end, total = place + 1, lengths[place]
        while end < len(parts) and total + lengths[end] <= size:
            total += lengths[end]
            end += 1
        # What stands between parts may count as well, and tokens of parts need not add up.
        while end > place + 1 and not _fits(text, parts[place:end], size, count):
            end -= max(1, (end - place) // 8)
        pieces.append((parts[place][0], parts[end - 1][1]))
        place = end
    return pieces


def _cut_sentence(text: str, start: int, end: int, size: int, count: Count) -> list[tuple[int, int]]:
    words = [(start + match.start(), start + match.end()) for match in _WORD.finditer(text[start:end])]
    return _packed(text, words, size, count, _cut_word)


def _cut_word(text: str, start: int, end: int, size: int, count: Count) -> list[tuple[int, int]]:
    pieces = []
    while start < end:
        stop = _longest(text, start, end, size, count)
        pieces.append((start, stop))
        start = stop
    return pieces


def _longest(text: str, start: int, end: int, size: int, count: Count) -> int:
    """Where to stop so that text[start:stop] has at most `size` tokens: by doubling, then halving the distance."""
    fits, reach = start, size
    too_far = end + 1
    while fits < end:
        stop = min(end, start + reach)
        if count([text[start:stop]])[0] > size:
            too_far = stop
            break
        fits, reach = stop, reach * 2
    while too_far - fits > 1 and fits < end:
        middle = (fits + too_far) // 2
        if count([text[start:middle]])[0] > size:
            too_far = middle
        else:
            fits = middle
    if fits == start:
        return start + 1  # a single character that is too long
    stop = fits
    while stop < end and stop > start and _belongs_to_what_precedes(text, stop):
        stop -= 1
    return stop if stop > start else fits


def _belongs_to_what_precedes(text: str, place: int) -> bool:
    return (
        text[place] in _JOINERS
        or text[place - 1] == "\u200d"
        or unicodedata.category(text[place]) in ("Mn", "Me", "Mc")
    )
