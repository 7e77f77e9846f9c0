"""Highlights in the cells of a table: places in the judged text, quoted words, or both, with a label or without; or
marks in the text itself, `so <v>be</v> it`.

Places count from 0 or from 1, to the last character or to before the next one: the quoted words show which, or it is
asked. A word such as NULL in their place may say that nothing is marked, which is asked, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from annotation.formats.cells import BadCell, LeftOut, number_in, to_text
from annotation.formats.files.json_streams import decode_json
from annotation.formats.names import highlight_value, label_key, shown
from annotation.formats.records import OddRecord, SpanRecord
from annotation.formats.tables.guessing.values import WORDS_FOR_NOTHING
from annotation.formats.tables.oddities import BASE, LEAVE_OUT, NO_HIGHLIGHT, ODDITIES, OFFSETS
from annotation.formats.tools.offsets import CODE_POINTS, MarkedPlaces, is_of_words, place

ROLES = ("start", "end", "quote", "highlight")
_KEYS = {
    "start": ("start", "start_offset", "begin"),
    "end": ("end", "end_offset"),
    "quote": ("quote", "text"),
    "highlight": ("label", "highlight", "type"),
}


NOT_READ = SpanRecord("", 0, 0, "", ""), ""  # while places are only counted


# Up to the next mark of either kind: a text of nothing but openings is looked through once.
MARK = re.compile(r"<v>((?:[^<]++|<(?!/?v>))*+)</v>")


def unmarked(cell: object, column: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the places that they stood around."""
    marked = cell if isinstance(cell, str) else to_text(cell, column)
    parts, places, n_chars = [], [], 0
    for number, part in enumerate(MARK.split(marked)):
        if "<v>" in part or "</v>" in part:
            raise BadCell(column, marked, "has a mark that is not closed, or stands in another one")
        if number % 2 and part:
            places.append((n_chars, n_chars + len(part)))
        parts.append(part)
        n_chars += len(part)
    text = "".join(parts)
    end = len(text.rstrip())
    if all(start < end for start, _ in places):  # tools add a space to the end of some rows, so that it can be marked
        text, places = text[:end], [(start, min(stop, end)) for start, stop in places]
    return text, places


def spans_of_row(
    mapping: Mapping[str, str], cells: dict, raw: str, field: str, places: TablePlaces
) -> Iterator[tuple[SpanRecord, str]]:
    """The one highlight of a row whose columns tell it, with its label as it is written; none where they are empty."""
    values = {role: cells.get(mapping[role]) for role in ROLES if role in mapping}
    column = mapping.get("start") or mapping["quote"]
    is_there = any(to_text(values.get(role), column).strip() for role in ("start", "end", "quote"))
    if is_there and not _is_nothing(values, raw, column, places):
        yield _span(values, raw, field, column, places)


def spans_of_marks(
    places: list[tuple[int, int]], mapping: Mapping[str, str], cells: dict, raw: str, field: str
) -> Iterator[tuple[SpanRecord, str]]:
    for start, end in places:
        values = {"start": start, "end": end, "highlight": cells.get(mapping.get("highlight"))}
        yield _span(values, raw, field, mapping["text"], None)


def spans_in_cell(
    cell: object, column: str, raw: str, field: str, places: TablePlaces
) -> Iterator[tuple[SpanRecord, str]]:
    """The highlights of a cell: a list of objects, of [start, end, label], or of quoted words."""
    if isinstance(cell, str):
        if not cell.strip():
            return
        try:
            cell = decode_json(cell)
        except ValueError:
            if places.means_nothing("", "", cell.strip(), "", column):
                return
            raise BadCell(column, cell, "is not JSON: a list of highlights") from None
    if cell is None:
        return
    if not isinstance(cell, list):
        raise BadCell(column, cell, "is not a list of highlights")
    for one in cell:
        if isinstance(one, dict):
            values = {role: next((one[key] for key in keys if key in one), None) for role, keys in _KEYS.items()}
        elif isinstance(one, list) and len(one) in (2, 3):
            values = dict(zip(("start", "end", "highlight"), one, strict=False))
        elif isinstance(one, str):
            values = {"quote": one}
        else:
            raise BadCell(column, one, "is neither an object, nor [start, end, label], nor quoted words")
        if not _is_nothing(values, raw, column, places):
            yield _span(values, raw, field, column, places)


def _is_nothing(values: Mapping[str, object], raw: str, column: str, places: TablePlaces) -> bool:
    start, end, quote = (to_text(values.get(role), column).strip() for role in ("start", "end", "quote"))
    return places.means_nothing(start, end, quote, raw, column)


def _span(
    values: Mapping[str, object], raw: str, field: str, column: str, places: TablePlaces | None
) -> tuple[SpanRecord, str]:
    """Offsets are of the file's text, in which a line may end with CRLF, and counted as `places` says, or in code
    points; quoted words alone stand where they stand first, and only once."""
    text = raw.replace("\r\n", "\n")
    quote = to_text(values.get("quote"), column) or None
    bounds = [to_text(values.get(role), column).strip() for role in ("start", "end")]
    title = to_text(values.get("highlight"), column).strip()
    shown_as = [*bounds, quote or ""]
    if any(bounds):
        numbers = [number_in(one) for one in bounds]
        if None in numbers or not all(number.is_integer() for number in numbers):
            raise BadCell(column, shown_as, "is not the start and end of a highlight, which are whole numbers")
        start, end = map(int, numbers)
        if places is not None and places.is_counting:
            places.count(raw, start, end, quote)
            return NOT_READ
        if places is not None:
            start, end = places.shifted(start, end)
        plain = CODE_POINTS if places is None else places.encoding
        offsets = place(raw, start, end, quote, places.encodings if places and quote else (plain,))
        if offsets is None:
            reason = "differs from the text at this position" if quote else "is not a position in the text"
            raise BadCell(column, shown_as, reason)
    elif places is not None and places.is_counting:
        return NOT_READ
    else:
        if not quote:
            raise BadCell(column, shown_as, "is a highlight without a position and without a quote")
        start = text.find(quote)
        offsets = (start, start + len(quote))
        if start < 0:
            raise BadCell(column, quote, "does not occur in the text")
        if text.find(quote, start + 1) >= 0:
            raise BadCell(column, quote, "occurs in the text more than once: give the start and end of the highlight")
    label = highlight_value(title) if title else ""
    return SpanRecord(field, *offsets, text[slice(*offsets)], label), shown(title)


# --- how a file marks places ----------------------------------------------------------------------------------------

# What start and end have to be moved by, so that they count from 0 and the end stands after the last character.
SHIFTS = {"zero": (0, 0), "one": (-1, -1), "one-last": (-1, 0), "zero-last": (0, 1)}
TWICE = 2  # as many whole words as when counted from 0, of most places: the file may count otherwise


@dataclass(slots=True)
class _Bases:
    """How many places of one file fit each way of counting; `n_quotes` have a quote that fits any, `n_words` none."""

    by_quotes: Counter[str] = field(default_factory=Counter)
    by_words: Counter[str] = field(default_factory=Counter)
    n_quotes: int = 0
    n_words: int = 0
    first: str = ""

    @property
    def fits(self) -> Counter[str]:
        return self.by_quotes if self.n_quotes else self.by_words

    @property
    def winner(self) -> str:
        """The way in which every quote stands at its place; counted from 0 where words alone do not speak against it;
        else empty."""
        if self.n_quotes:
            return next((name for name in SHIFTS if self.by_quotes[name] == self.n_quotes), "")
        most, from_zero = max(self.by_words.values(), default=0), self.by_words["zero"]
        return "" if most > TWICE * from_zero and 2 * most > self.n_words else "zero"


class TablePlaces(MarkedPlaces):
    """`nothing` are values of the file that mean that nothing is marked, as they are stored."""

    def __init__(self, treat: Mapping[str, str], nothing: Collection[str]):
        super().__init__(treat.get(OFFSETS, ""))
        self.base, self.answer, self.nothing = treat.get(BASE, ""), treat.get(NO_HIGHLIGHT, ""), nothing
        self.bases: dict[str, _Bases] = {}
        self.words: dict[tuple[str, str], list] = {}  # file and word -> how many, and where the first one stands
        self.has_none = False

    def shifted(self, start: int, end: int) -> tuple[int, int]:
        """Counted from 0, to before the end."""
        known = self.bases.get(self.here)
        before, after = SHIFTS[self.base if self.base in SHIFTS else (known and known.winner) or "zero"]
        return start + before, end + after

    def count(self, raw: str, start: int, end: int, quote: object = None) -> None:
        self._count_base(raw, start, end, quote if isinstance(quote, str) and quote else None)
        super().count(raw, *self.shifted(start, end), quote)

    def _count_base(self, raw: str, start: int, end: int, quote: str | None) -> None:
        if max(raw, default="") > "\uffff":  # which may be counted in two ways besides
            return
        text = raw.replace("\r\n", "\n")
        fits = []
        for name, (before, after) in SHIFTS.items():
            found = place(raw, start + before, end + after, quote, (CODE_POINTS,))
            if found is not None and (quote is not None or is_of_words(text, *found)):
                fits.append(name)
        if not fits and quote is not None:
            return
        known = self.bases.setdefault(self.here, _Bases())
        known.first = known.first or self.where
        (known.by_words if quote is None else known.by_quotes).update(fits)
        known.n_words += quote is None
        known.n_quotes += quote is not None

    def means_nothing(self, start: str, end: str, quote: str, raw: str, column: str) -> bool:
        """Whether the cells of a highlight hold a word that says that there is none; LeftOut for what is to be left
        out."""
        word = quote or (start if start == end else "")
        if not word:
            return False
        if label_key(word) not in self.nothing:
            has_no_place = bool(start) and start == end and number_in(start) is None
            if not has_no_place and (word.casefold() not in WORDS_FOR_NOTHING or word in raw):
                return False
            if self.is_counting:
                self.words.setdefault((self.here, word), [0, self.where])[0] += 1
            if self.answer == LEAVE_OUT:
                raise LeftOut(column, word, "is no highlight")
        self.has_none = True
        return True

    def takes_none(self) -> bool:
        """Whether there was such a word since this was asked last."""
        had, self.has_none = self.has_none, False
        return had

    def odd(self) -> Iterator[OddRecord]:
        yield from super().odd()
        for file, known in self.bases.items():
            choice = self.base if self.base in SHIFTS else ""
            way = choice or known.winner
            if known.winner == "zero" and not choice:
                continue
            titles = ODDITIES[BASE].choices
            number = known.n_quotes or known.n_words
            found = ", ".join(f"{titles[name].lower()}: {known.fits[name]:,}" for name in SHIFTS if known.fits[name])
            what = f"{file}: of {number:,}, fit {found}" + (f"; read {titles[way].lower()}" if way else "")
            yield OddRecord(BASE, what, number, known.first, is_open=not way)
        for (file, word), (number, first) in self.words.items():
            yield OddRecord(NO_HIGHLIGHT, f"{file}: {word}", number, first, is_open=not self.answer)
