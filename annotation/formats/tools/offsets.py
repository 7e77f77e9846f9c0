"""Places in a text: other tools count UTF-16 code units, bytes or the characters of a text with CRLF; Assay counts code
points of a text whose lines end with LF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from unicodedata import category

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

JOINER, SKIN_TONES = "\N{ZERO WIDTH JOINER}", {chr(code) for code in range(0x1F3FB, 0x1F400)}
COUNTED = {"utf-16": UTF_16, "code-points": CODE_POINTS, "bytes": UTF_8}


@dataclass(slots=True)
class _Evidence:
    """What the places of one file say about how it counts: by way of counting, how many fit that one alone."""

    by_quotes: Counter[str] = field(default_factory=Counter)
    by_words: Counter[str] = field(default_factory=Counter)
    n_undecided: int = 0  # places without a quote that mean other words in another way of counting
    n_not_bytes: int = 0
    first: str = ""

    @property
    def fits(self) -> Counter[str]:
        """Quotes prove it, so that words count only where there are none. Bytes differ in every text with an accent,
        where half a word may fit them by chance: they count only where nothing speaks against them."""
        fits = self.by_quotes or self.by_words
        return Counter({name: n for name, n in fits.items() if name != "bytes" or not self.n_not_bytes})

    @property
    def winner(self) -> str:
        """The way that some places fit alone while no place fits another one alone; empty without. Short stretches may
        fit bytes as well: some place must not."""
        fits = self.fits
        name = next(iter(fits)) if len(fits) == 1 else ""
        return name if name == "bytes" or self.n_not_bytes else ""


class MarkedPlaces:
    """Finds the places of highlights in files that do not say what they count.

    All places of a file are counted before any is stored. A place fits a way of counting where it holds the words that
    it quotes, or, without a quote, begins and ends with a word. Where no way wins (`_Evidence.winner`), it has to be
    chosen (`OddRecord`).
    """

    def __init__(self, choice: str = ""):
        self.choice = choice
        self.files: dict[str, _Evidence] = {}
        self.at("", 0)
        self.is_counting = False

    def at(self, file: str, line: int) -> None:
        """The places that come are of this line."""
        self.here, self.where = file, f"{file}, line {line:,}"

    @property
    def encoding(self) -> str:
        """Of the current file."""
        if self.choice in COUNTED:
            return COUNTED[self.choice]
        evidence = self.files.get(self.here)
        return COUNTED[evidence.winner] if evidence and evidence.winner else CODE_POINTS

    @property
    def encodings(self) -> tuple[str, ...]:
        """Those in which a place with a quote is looked for."""
        return tuple(dict.fromkeys((self.encoding, *COUNTED.values())))

    def find(self, raw: str, start: object, end: object, column: str, quote: object = None) -> tuple[int, int, str]:
        """Start, end and the words between them; BadCell where there is no such place."""
        if self.is_counting:
            self.count(raw, start, end, quote)
            return 0, 0, ""
        is_quoted = isinstance(quote, str) and bool(quote)
        encodings = self.encodings if is_quoted else (self.encoding,)
        return marked_place(raw, start, end, column, quote if is_quoted else None, encodings)

    def count(self, raw: str, start: object, end: object, quote: object = None) -> None:
        if raw.isascii() or type(start) is not int or type(end) is not int:
            return
        quote = quote if isinstance(quote, str) and quote else None
        found = {name: place(raw, start, end, quote, (encoding,)) for name, encoding in COUNTED.items()}
        if len(set(found.values())) == 1:
            return
        text = raw.replace("\r\n", "\n")
        fitting = {
            name for name, one in found.items() if one is not None and (quote is not None or is_of_words(text, *one))
        }
        evidence = self.files.setdefault(self.here, _Evidence())
        differs = found["utf-16"] != found["code-points"]
        alone = fitting - {"bytes"} or fitting
        if differs or alone == {"bytes"}:
            evidence.first = evidence.first or self.where
            evidence.n_undecided += quote is None
            if len(alone) == 1:
                (evidence.by_words if quote is None else evidence.by_quotes)[min(alone)] += 1
        evidence.n_not_bytes += bool(fitting) and "bytes" not in fitting

    def odd(self) -> Iterator[OddRecord]:
        for file, evidence in self.files.items():
            found = evidence.by_quotes + evidence.by_words
            if not evidence.n_undecided or (found and not evidence.fits):
                continue
            what = (
                f"{file}: fit UTF-16 code units alone {found['utf-16']:,}, code points alone "
                f"{found['code-points']:,}, bytes alone {found['bytes']:,}"
            )
            is_open = self.choice not in COUNTED and not evidence.winner
            yield OddRecord(OFFSETS, what, evidence.n_undecided, evidence.first, is_open=is_open)


def is_of_words(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins and ends with a word or a mark, and cuts no word and no emoji."""
    is_plain = start < end and not (text[start].isspace() or text[end - 1].isspace())
    return is_plain and not any(_cuts(text, at) for at in (start, end))


def _cuts(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    is_joined = JOINER in (before, after) or category(after).startswith("M") or after in SKIN_TONES
    return is_joined or (before.isalnum() and after.isalnum())


def placed(
    tasks_of: Callable[[list[SourceFile], Options, MarkedPlaces], Iterator], sources: list[SourceFile], options: Options
) -> Iterator:
    """The tasks of files, read twice: for how they count places, and for what they say."""
    places = MarkedPlaces(options.treat.get(OFFSETS, ""))
    places.is_counting = True
    for _ in tasks_of(sources, options.quiet(), places):
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
