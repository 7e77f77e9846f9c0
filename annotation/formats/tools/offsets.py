"""Places in a text: other tools count UTF-16 code units, bytes or the characters of a text with CRLF; Assay counts code
points of a text whose lines end with LF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from annotation.formats.cells import BadCell
from annotation.formats.records import OddRecord, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.oddities import OFFSETS

UTF_16, CODE_POINTS, UTF_8 = "utf-16-le", "", "utf-8"
_WIDTH = {UTF_16: 2, UTF_8: 1}


def code_point(text: str, offset: int, encoding: str) -> int | None:
    """The code point that an offset in units of an encoding stands before; None outside the text and within a
    character."""
    if offset < 0:
        return None
    if not encoding or text.isascii():
        return offset if offset <= len(text) else None
    raw = text.encode(encoding)
    end = offset * _WIDTH[encoding]
    if end > len(raw):
        return None
    try:
        return len(raw[:end].decode(encoding))
    except UnicodeDecodeError:
        return None


def offset_of(text: str, place: int, encoding: str) -> int:
    """The offset, in units of an encoding, of a code point."""
    return len(text[:place].encode(encoding)) // _WIDTH[encoding] if encoding else place


def place(raw: str, start: int, end: int, quote: str | None, encodings: tuple[str, ...]) -> tuple[int, int] | None:
    """Start and end in the text with LF for CRLF, in code points. Of the encodings, counted in the text as it came and
    with LF, the first one counts that gives the quote, or any place where there is no quote; None where none does.
    """
    text = raw.replace("\r\n", "\n")
    wanted = None if quote is None else _plain(quote)
    for counted in dict.fromkeys((raw, text)):
        for encoding in encodings:
            found = [code_point(counted, offset, encoding) for offset in (start, end)]
            if None in found or not found[0] < found[1]:
                continue
            if counted is not text:
                found = [len(counted[:at].replace("\r\n", "\n")) for at in found]
            if wanted is None or _plain(text[found[0] : found[1]]) == wanted:
                return found[0], found[1]
    return None


def marked_place(
    raw: str, start: object, end: object, column: str, quote: object = None, encodings: tuple[str, ...] = (CODE_POINTS,)
) -> tuple[int, int, str]:
    """Start, end and the words between them, as `place` finds them; BadCell where it finds none."""
    wanted = quote if isinstance(quote, str) else None
    found = place(raw, start, end, wanted, encodings) if type(start) is int and type(end) is int else None
    if found is None:
        raise BadCell(column, [start, end], "is not a position in the text, or not the one that is quoted")
    return *found, raw.replace("\r\n", "\n")[found[0] : found[1]]


def _plain(quote: str) -> str:
    """Label Studio writes line ends within a quote as a backslash and an n, and browsers fold white space."""
    return re.sub(r"\s+", " ", quote.replace("\\n", "\n"))


# --- files that do not say what they count --------------------------------------------------------------------------

COUNTED = {"utf-16": UTF_16, "code-points": CODE_POINTS}


class MarkedPlaces:
    """Finds the places of one file's highlights, which do not say whether a character past U+FFFF counts once or twice.

    All places of the file are seen before any is stored: the quote of a place, or else whether it begins and ends with
    a word, tells which way of counting fits. Where both fit alike, somebody has to say (`OddRecord`).
    """

    def __init__(self, choice: str = ""):
        self.choice = choice
        # How many places hold what they quote, and how many without a quote begin and end with a word
        self.fits = dict.fromkeys(COUNTED, (0, 0))
        self.n = 0
        self.first = self.where = ""
        self.is_counting = True

    def at(self, file: str, line: int) -> None:
        self.where = f"{file}, line {line:,}"

    @property
    def is_open(self) -> bool:
        return bool(self.n) and self.choice not in COUNTED and len(set(self.fits.values())) == 1

    @property
    def encoding(self) -> str:
        if self.choice in COUNTED:
            return COUNTED[self.choice]
        best = max(COUNTED, key=lambda name: (self.fits[name], name == "code-points"))
        return COUNTED[best]

    def find(self, raw: str, start: object, end: object, column: str, quote: object = None) -> tuple[int, int, str]:
        """Start, end and the words between them; BadCell where there is no such place."""
        if self.is_counting:
            self.count(raw, start, end, quote)
            return 0, 0, ""
        known = isinstance(quote, str) and bool(quote)
        encodings = (self.encoding, *(one for one in COUNTED.values() if known and one != self.encoding))
        return marked_place(raw, start, end, column, quote if known else None, encodings)

    def count(self, raw: str, start: object, end: object, quote: object) -> None:
        if raw.isascii() or type(start) is not int or type(end) is not int:
            return
        quote = quote if isinstance(quote, str) and quote else None
        found = {name: place(raw, start, end, quote, (encoding,)) for name, encoding in COUNTED.items()}
        if len(set(found.values())) == 1:
            return
        self.n += 1
        self.first = self.first or self.where
        text = raw.replace("\r\n", "\n")
        for name, one in found.items():
            quoted, of_words = self.fits[name]
            if one is not None and quote is not None:
                self.fits[name] = quoted + 1, of_words
            elif one is not None and all(_is_between_words(text, at) for at in one):
                self.fits[name] = quoted, of_words + 1

    def odd(self) -> Iterator[OddRecord]:
        if self.n:
            what = (
                f"{sum(self.fits['utf-16']):,} of {self.n:,} fit as UTF-16 code units, "
                f"{sum(self.fits['code-points']):,} as code points"
            )
            yield OddRecord(OFFSETS, what, self.n, self.first, is_open=self.is_open)


def _is_between_words(text: str, at: int) -> bool:
    return not (0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())


def placed(
    tasks_of: Callable[[list[SourceFile], Options, MarkedPlaces], Iterator], sources: list[SourceFile], options: Options
) -> Iterator:
    """The tasks of files, read twice: for how they count places, and for what they say."""
    places = MarkedPlaces(options.treat.get(OFFSETS, ""))
    for _ in tasks_of(sources, replace(options, progress=None), places):
        pass
    places.is_counting = False
    yield from places.odd()
    yield from tasks_of(sources, options, places)


def or_none(errors: list[RowError], file: str, line: int, find: Callable[[], object]) -> object:
    """What `find` returns; None, with the error noted, where a place is wrong: the other answers of the text count."""
    from annotation.formats.cells import row_error

    try:
        return find()
    except BadCell as problem:
        errors.append(row_error(file, line, problem))
        return None
