"""Highlights in the cells of a table: places in the judged text, quoted words, or both, with a label or without; or
marks in the text itself, `so <v>be</v> it`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from annotation.formats.cells import BadCell, number_in, to_text
from annotation.formats.files.json_streams import decode_json
from annotation.formats.names import label_value, shown
from annotation.formats.records import SpanRecord
from annotation.formats.tools.offsets import CODE_POINTS, MarkedPlaces, place

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
    mapping: Mapping[str, str], cells: dict, raw: str, field: str, places: MarkedPlaces
) -> Iterator[tuple[SpanRecord, str]]:
    """The one highlight of a row whose columns tell it, with its label as it is written; none where they are empty."""
    values = {role: cells.get(mapping[role]) for role in ROLES if role in mapping}
    column = mapping.get("start") or mapping["quote"]
    if any(to_text(values.get(role), column).strip() for role in ("start", "end", "quote")):
        yield _span(values, raw, field, column, places)


def spans_of_marks(
    places: list[tuple[int, int]], mapping: Mapping[str, str], cells: dict, raw: str, field: str
) -> Iterator[tuple[SpanRecord, str]]:
    for start, end in places:
        values = {"start": start, "end": end, "highlight": cells.get(mapping.get("highlight"))}
        yield _span(values, raw, field, mapping["text"], None)


def spans_in_cell(
    cell: object, column: str, raw: str, field: str, places: MarkedPlaces
) -> Iterator[tuple[SpanRecord, str]]:
    """The highlights of a cell: a list of objects, of [start, end, label], or of quoted words."""
    if isinstance(cell, str):
        if not cell.strip():
            return
        try:
            cell = decode_json(cell)
        except ValueError:
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
        yield _span(values, raw, field, column, places)


def _span(
    values: Mapping[str, object], raw: str, field: str, column: str, places: MarkedPlaces | None
) -> tuple[SpanRecord, str]:
    """Offsets are of the file's text, in which a line may end with CRLF, and counted as `places` says, or in code
    points; quoted words alone stand where they stand first, and only once."""
    text = raw.replace("\r\n", "\n")
    quote = to_text(values.get("quote"), column) or None
    given = [to_text(values.get(role), column).strip() for role in ("start", "end")]
    title = to_text(values.get("highlight"), column).strip()
    shown_as = [*given, quote or ""]
    if any(given):
        numbers = [number_in(one) for one in given]
        if None in numbers or not all(number.is_integer() for number in numbers):
            raise BadCell(column, shown_as, "is not the start and end of a highlight, which are whole numbers")
        start, end = map(int, numbers)
        if places is not None and places.is_counting:
            places.count(raw, start, end, quote)
            return NOT_READ
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
    label = label_value(title) if title else ""
    return SpanRecord(field, *offsets, text[slice(*offsets)], label), shown(title)
