"""Words and sentences of a text, without models or downloads. Offsets are code points of the text as given."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Sequence

# ASCII punctuation and symbols, Latin marks, general punctuation (without the joiners that hold emoji and Indic
# syllables together), Arabic, Devanagari, CJK and full-width marks.
_MARKS = (
    r"!-/:-@\[-`{-~"
    r"\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf"
    r"\u060c\u061b\u061f\u06d4\u0964\u0965"
    r"\u2010-\u2027\u2030-\u205e"
    r"\u3001-\u3003\u3008-\u3011\u3014-\u301f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_PIECE = rf"[^\s{_MARKS}]"
_APOSTROPHE = "['\u2019]"
_WORD = re.compile(
    rf"{_PIECE}+?(?=n{_APOSTROPHE}t(?!{_PIECE}))"  # do|n't: the stem ...
    rf"|n{_APOSTROPHE}t(?!{_PIECE})"  # ... and the negation, so that "don't" shares a word with "isn't"
    rf"|{_APOSTROPHE}(?:s|re|ve|ll|m|d)(?!{_PIECE})"
    rf"|{_PIECE}+(?:[-.,/\u2010\u2011]{_PIECE}+)*"  # 1,000  3.5  well-known  and/or
)


def words(text: str) -> list[str]:
    """Lower-cased words of `text` in order, punctuation left out, stop words kept.

    This follows DRUID's public code (`treebank_words`) without NLTK: contractions are split (`do`, `n't`; `it`, `'s`),
    and hyphens, points, commas and slashes inside a word or number stay. It differs in that `cannot` stays one word,
    `U.S.` loses its last point, curly apostrophes count as straight ones, a run of punctuation (`...`, `--`) is never a
    word, and punctuation of other scripts is left out as well. Symbols that are not punctuation, emoji among them, are
    words, as they are there.

    >>> words("It isn't well-known: 3.5 % of 1,000 (U.S.)!")
    ['it', 'is', "n't", 'well-known', '3.5', 'of', '1,000', 'u.s']
    """
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]


def treebank_words(text: str) -> list[str]:
    """Lower-cased words in order as DRUID's public code counts them: those of NLTK's `word_tokenize`, with single ASCII
    punctuation marks left out; runs of them (`...`, `''`) stay.

    Sentences are those of `sentence_offsets`, where NLTK would ask a model that has to be downloaded. It decides only
    whether a full stop inside the text stays with the word before it.

    >>> treebank_words("It isn't well-known: 3.5 % of 1,000 cannot wait... (U.S. too).")
    ['it', 'is', "n't", 'well-known', '3.5', 'of', '1,000', 'can', 'not', 'wait', '...', 'u.s.', 'too']
    """
    tokenize = _treebank_tokenizer().tokenize
    tokens = (token for start, end in sentence_offsets(text) for token in tokenize(text[start:end]))
    return [token.lower() for token in tokens if token not in _ASCII_MARKS]


_ASCII_MARKS = frozenset(string.punctuation)


@functools.cache
def _treebank_tokenizer():
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


# Of spaCy's English stop words those that are numbers: they can be all that an answer says.
_NUMBERS = (
    "one two three four five six eight nine ten eleven twelve fifteen twenty forty fifty sixty hundred first third"
)


@functools.cache
def stop_words() -> frozenset[str]:
    """spaCy's English stop words, numbers left out."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(word.replace("\u2019", "'").replace("\u2018", "'") for word in STOP_WORDS).difference(
        _NUMBERS.split()
    )


def content_words(text: str) -> list[str]:
    """Lower-cased words of `text` in order, without punctuation and English stop words.

    >>> content_words("The harbour of Lindau froze in 1963, twice.")
    ['harbour', 'lindau', 'froze', '1963', 'twice']
    """
    return [word for word in words(text) if word not in stop_words()]


# Borders that hold whatever the sentencizer thinks: line breaks, the mark that joins snippets of one page, and the
# full stops of scripts that put no space after them.
_BORDER = re.compile(r"\[(?:\.\.\.|\u2026)\]|\n|(?<=[\u3002\uff01\uff1f])")
# The tokenizer needs minutes for 100,000 emoji without a space, so runs longer than any word are hidden from it.
_LONG_RUN = re.compile(r"\S{101,}")
_NO_END_OF_SENTENCE = re.compile(r"[\w\s,;:()'\"\u2019-]*")
_ANY_WORD = re.compile(r"\w")


def sentence_offsets(text: str) -> list[tuple[int, int]]:
    """(start, end) of every sentence of `text`, in order, without the white space around it; [] where there is none.

    spaCy's rule-based sentencizer on the blank English pipeline (no model), applied between line breaks and ` [...] `
    snippet marks. A run of more than 100 characters without a space is never divided.

    >>> text = "Ice melts. Seas rise! [...] So what?"
    >>> [text[start:end] for start, end in sentence_offsets(text)]
    ['Ice melts.', 'Seas rise!', 'So what?']
    """
    offsets = []
    start = 0
    for border in _BORDER.finditer(text):
        offsets += _sentences_between(text, start, border.start())
        start = border.end()
    offsets += _sentences_between(text, start, len(text))
    return offsets or _trimmed(text, 0, len(text))  # a text of snippet marks only is a sentence of its own


def content_bounds(text: str) -> tuple[int, int] | None:
    """Where the first sentence of `sentence_offsets` begins and the last one ends, without looking for sentences; None
    where there is none."""
    start = 0
    parts = []
    for border in _BORDER.finditer(text):
        parts += _trimmed(text, start, border.start())
        start = border.end()
    parts += _trimmed(text, start, len(text))
    parts = parts or _trimmed(text, 0, len(text))
    return (parts[0][0], parts[-1][1]) if parts else None


def windows(lengths: Sequence[int], size: int) -> list[range]:
    """Consecutive sentences (places in `lengths`, which counts their words) in windows of at most `size` words.

    A sentence that is longer is a window of its own; none is divided, and every sentence is in one window.

    >>> windows([3, 4, 9, 1, 1], 8)
    [range(0, 2), range(2, 3), range(3, 5)]
    """
    cut, start, total = [], 0, 0
    for place, length in enumerate(lengths):
        if place > start and total + length > size:
            cut.append(range(start, place))
            start, total = place, 0
        total += length
    return [*cut, range(start, len(lengths))] if lengths else []


def hide_long_runs(text: str) -> str:
    """The text, equally long, with an x for each character of a run without white space that no tokenizer gets through
    in a reasonable time."""
    return _LONG_RUN.sub(lambda run: "x" * len(run.group()), text)


def _sentences_between(text: str, start: int, end: int) -> list[tuple[int, int]]:
    piece = text[start:end]
    # Most pieces are one sentence, which the sentencizer need not be asked about.
    first_mark = _NO_END_OF_SENTENCE.match(piece).end()
    ranges = _sentencizer_ranges(piece) if _ANY_WORD.search(piece, first_mark) else [(0, len(piece))]
    return [sentence for low, high in ranges for sentence in _trimmed(text, start + low, start + high)]


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The range without white space at its ends, or nothing."""
    part = text[start:end]
    left = start + len(part) - len(part.lstrip())
    right = start + len(part.rstrip())
    return [(left, right)] if left < right else []


# The pipeline remembers every word that it has met, which makes it quick and would fill a long-lived worker's memory.
_VOCABULARY_LIMIT = 200_000


def _sentencizer_ranges(piece: str) -> list[tuple[int, int]]:
    pipeline = _sentencizer()
    hidden = hide_long_runs(piece)
    ranges = [(sentence.start_char, sentence.end_char) for sentence in pipeline(hidden).sents]
    if len(pipeline.vocab) > _VOCABULARY_LIMIT:
        _sentencizer.cache_clear()
    return ranges


@functools.cache
def _sentencizer():
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 100_000_000  # the limit is for parsers; the sentencizer needs little memory
    return pipeline


_VOWELS = re.compile(r"[aeiouy]+")


@functools.lru_cache(maxsize=50_000)
def syllables(word: str) -> int:
    """Syllables of an English word: groups of vowels, less a silent final e, at least one."""
    groups = len(_VOWELS.findall(word))
    if word.endswith("e") and not word.endswith("le") and groups > 1:
        groups -= 1
    return max(1, groups)
