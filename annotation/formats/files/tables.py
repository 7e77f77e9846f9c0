"""Rows of a file, whatever it is stored as: delimited text, JSON Lines, a JSON array, Parquet or Arrow.

Every row comes as (line, {column: value}) or as a RowError, in file order and in bounded memory. What a file is, is
recognized by its first bytes; its name only decides between tab and comma.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from annotation.formats.cells import SHOWN_CHARS, BadCell, row_error, shorten
from annotation.formats.files.arrow import is_arrow, open_arrow
from annotation.formats.files.characters import storable
from annotation.formats.files.containers import Blob, open_blobs
from annotation.formats.files.json_streams import JsonValues, decode_json, risky_json
from annotation.formats.files.parquet import open_parquet
from annotation.formats.files.spreadsheets import is_marked_header, unescape
from annotation.formats.files.streams import TextReader
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Limits, Options, SourceFile

Row = tuple[int, dict[str, object]]
Parsed = TypeVar("Parsed")
SNIFFED_BYTES = 4096
# Mechanical Turk's results have these columns for reviewers, and no cells in them.
FOR_REVIEW = ("Approve", "Reject")


@dataclass(slots=True)
class OpenTable:
    """One file's rows. `columns` is None where every row names its own (JSON)."""

    name: str
    kind: str  # delimited | json-lines | json | parquet | arrow
    columns: tuple[str, ...] | None
    rows: Iterator[Row | RowError]

    @property
    def good_rows(self) -> Iterator[Row]:
        return (row for row in self.rows if not isinstance(row, RowError))

    def parsed(self, parse: Callable[[int, dict], Iterable[Parsed] | None]) -> Iterator[Parsed | RowError]:
        """What `parse` makes of the line and the cells of each row; an error for a bad row, and for a BadCell."""
        return parse_rows(self.name, self.rows, parse)


def parse_rows(
    file: str, rows: Iterable[Row | RowError], parse: Callable[[int, dict], Iterable[Parsed] | None]
) -> Iterator[Parsed | RowError]:
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        try:
            yield from parse(*row) or ()
        except BadCell as problem:
            yield row_error(file, row[0], problem)


def open_tables(sources: list[SourceFile], options: Options) -> Iterator[OpenTable]:
    """The tables in the sources, one after the other; each is readable until the next is asked for.

    Raises FormatError for an empty, broken or oversized file, a wrong encoding, or a header that names a column twice.
    """
    for blob in open_blobs(sources, options):
        with ExitStack() as files:
            kept = {name: getattr(options, name) for name in ("keeps_line_ends", "plain_quotes")}
            yield open_table(blob, options.limits, files, **kept)


def open_table(
    blob: Blob, limits: Limits, files: ExitStack, *, keeps_line_ends: bool = False, plain_quotes: bool = False
) -> OpenTable:
    """The table in one file; `files` closes what stays open while its rows are read."""
    head = blob.stream.peek(SNIFFED_BYTES)
    if len(head) < SNIFFED_BYTES and not head.strip():
        raise FormatError(f"{blob.name}: the file is empty")
    if head.startswith(b"PAR1") or blob.name.lower().endswith(".parquet"):
        columns, rows = open_parquet(blob, head, limits, files)
        return OpenTable(blob.name, "parquet", check_columns(blob.name, columns, limits), rows)
    if is_arrow(head):
        columns, rows = open_arrow(blob, head, limits, files)
        return OpenTable(blob.name, "arrow", check_columns(blob.name, columns, limits), rows)
    reader = TextReader(blob.stream, keeps_line_ends=keeps_line_ends)
    start = re.sub(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)", b"", head).replace(b"\0", b"").lstrip(b" \t\r\n")[:1]
    if start == b"[":
        return OpenTable(blob.name, "json", None, _json_rows(reader))
    if start == b"{":
        if _spans_lines(head):
            return OpenTable(blob.name, "json", None, _json_rows(reader))
        return OpenTable(blob.name, "json-lines", None, _json_line_rows(reader))
    if blob.name.lower().endswith((".json", ".jsonl", ".ndjson")):
        raise FormatError(f"{blob.name}: is not JSON: it starts with {shorten(head[:20].decode('utf-8', 'replace'))!r}")
    return _delimited(blob.name, reader, limits, plain_quotes)


def _spans_lines(head: bytes) -> bool:
    """Whether the JSON object that a file starts with is laid out over several lines."""
    first = head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").split(b"\n", 1)[0].replace(b"\0", b"").rstrip()
    return first == b"{"


# --- delimited text -------------------------------------------------------------------------------------------------


def _delimited(name: str, reader: TextReader, limits: Limits, plain_quotes: bool) -> OpenTable:
    lines = reader.lines()
    first = next(lines, "")
    if "\0" in first:
        raise FormatError(
            f"{name}: the header holds NUL bytes. If it is UTF-16, choose that encoding or save it as UTF-8."
        )
    if "\r" in first.rstrip("\r\n"):
        raise FormatError(f"{name}: lines end with a carriage return alone; save the file with LF or CRLF line ends")
    # Process-wide, so it is only ever raised; the real limit is kept by the reader of lines.
    csv.field_size_limit(max(csv.field_size_limit(), 2 * limits.record_bytes))
    delimiter = _delimiter(name, first)
    marked = is_marked_header(first, delimiter)
    header = next(csv.reader([first], delimiter=delimiter), [])
    if header[1:] and header[-1].startswith("#"):
        # Tables of WMT end their header with a comment, below which rows have no cell.
        second = next(lines, "")
        header = header[:-1] if second.count(delimiter) == len(header) - 2 else header
        lines = chain(filter(None, [second]), lines)
    columns = _columns(name, header, limits)
    held = _HeldLines(name, lines, limits.record_bytes)
    rows = _delimited_rows(held, reader, delimiter, columns, plain_quotes and delimiter == "\t")
    return OpenTable(name, "delimited", columns, _unescaped(rows) if marked else rows)


def _delimiter(name: str, header: str) -> str:
    """What the name says, if the header has any of it; otherwise what the header has most of."""
    named = "," if name.lower().endswith(".csv") else "\t"
    counts = {mark: header.count(mark) for mark in (named, "\t", ",", ";")}
    return named if counts[named] else max(counts, key=counts.__getitem__)


def _columns(name: str, header: list[str], limits: Limits) -> tuple[str, ...]:
    columns = tuple(cell.strip() or f"column {number}" for number, cell in enumerate(header, start=1))
    return check_columns(name, columns, limits)


def check_columns(name: str, columns: tuple[str, ...], limits: Limits) -> tuple[str, ...]:
    if len(columns) > limits.columns:
        raise FormatError(f"{name}: has {len(columns):,} columns; at most {limits.columns:,} are read")
    if too_long := next((column for column in columns if len(column) > limits.column_chars), ""):
        raise FormatError(
            f"{name}: the name of the column {shorten(too_long)} has {len(too_long):,} characters; at most "
            f"{limits.column_chars} are read. Is the first line the names of the columns?"
        )
    twice = [column for column, times in Counter(columns).items() if times > 1]
    if twice:
        raise FormatError(f"{name}: duplicate columns: {', '.join(twice)}. Found: {listed(columns)}")
    return columns


def listed(columns: tuple[str, ...]) -> str:
    shown = ", ".join(shorten(column) for column in columns[:40])
    return shown + (f" and {len(columns) - 40} more" if len(columns) > 40 else "")


def _delimited_rows(
    held: _HeldLines, reader: TextReader, delimiter: str, columns: tuple[str, ...], plain_quotes: bool
) -> Iterator[Row | RowError]:
    name, width = held.name, len(columns)
    while text := held.first_of_row():
        line = held.line
        if '"' not in text:
            # Most rows need no parser, and splitting is several times as fast.
            cells = text.removesuffix("\n").removesuffix("\r").split(delimiter)
        else:
            try:
                cells = _quoted_cells(text, held, delimiter, width if plain_quotes else 0)
            except csv.Error as error:
                reason = f"quotes that do not match, in lines {line:,} to {held.line:,} ({error})"
                yield RowError(name, line, "", shorten(text), reason)
                continue
        if columns[-2:] == FOR_REVIEW and len(cells) == width - 2:
            cells += [""] * 2
        if len(cells) != width:
            if text.strip():
                reason = f"has {len(cells)} cell{'s' * (len(cells) != 1)} where the header has {width}"
                yield RowError(name, line, "", shorten(text), reason)
            continue
        row: dict | RowError = dict(zip(columns, cells, strict=True))
        if reader.suspect:
            row = storable(name, line, row, reader.options)
        yield row if isinstance(row, RowError) else (line, row)


def _quoted_cells(text: str, held: _HeldLines, delimiter: str, width: int) -> list[str]:
    """Where a line makes no sense with quotes and is a row of `width` cells without them, they are its text."""

    def is_row(line: str) -> bool:
        return line.count(delimiter) == width - 1

    start = held.line
    more = held.until(is_row) if is_row(text) else held
    try:
        # strict: a quote neither doubled nor before a delimiter is an error instead of silently other text.
        cells = next(csv.reader(chain((text,), more), delimiter=delimiter, strict=True))
    except csv.Error:
        if not is_row(text) or held.line != start:
            raise
    else:
        if len(cells) == width or not is_row(text) or held.line != start:
            return cells
    return text.removesuffix("\n").removesuffix("\r").split(delimiter)


class _HeldLines:
    """Passes lines on, counts them, and refuses a row that grows over too many: a quote that is never closed."""

    def __init__(self, name: str, lines: Iterator[str], limit: int):
        self.name, self.lines, self.limit = name, lines, limit
        self.size, self.start, self.line = 0, 1, 1  # the header is line 1
        self.back = ""  # a line that was looked at, and starts a row

    def __iter__(self) -> _HeldLines:
        return self

    def first_of_row(self) -> str:
        """The next line, with which a row starts; "" at the end."""
        self.size, self.start = 0, self.line + 1
        return next(self, "")

    def until(self, is_row: Callable[[str], bool]) -> Iterator[str]:
        """Lines before the next one that is a row by itself."""
        for text in self:
            if is_row(text):
                self.back, self.line = text, self.line - 1
                return
            yield text

    def __next__(self) -> str:
        text, self.back = self.back or next(self.lines), ""
        self.line += 1
        self.size += len(text)
        if self.size > self.limit:
            raise FormatError(
                f"{self.name}: the row that starts on line {self.start:,} is longer than {self.limit:,} bytes. "
                "Is a quote opened there that is never closed?"
            )
        return text


def _unescaped(rows: Iterator[Row | RowError]) -> Iterator[Row | RowError]:
    for row in rows:
        if not isinstance(row, RowError):
            for column, cell in row[1].items():
                if cell[:1] == "'":
                    row[1][column] = unescape(cell)
        yield row


# --- JSON -----------------------------------------------------------------------------------------------------------


def _json_line_rows(reader: TextReader) -> Iterator[Row | RowError]:
    for line, text in enumerate(reader.lines(), start=1):
        try:
            if not text.strip():
                continue
            value = decode_json(text)
        except ValueError as error:
            yield RowError(reader.name, line, "", shorten(text[:SHOWN_CHARS]), str(error))
            continue
        yield _object_row(reader, line, value, reader.suspect or risky_json(text))


def _json_rows(reader: TextReader) -> Iterator[Row | RowError]:
    for line, value, risky in JsonValues(reader):
        yield _object_row(reader, line, value, risky)


def _object_row(reader: TextReader, line: int, value: object, risky: bool) -> Row | RowError:
    if not isinstance(value, dict):
        return RowError(reader.name, line, "", shorten(value), "is not a JSON object")
    row = storable(reader.name, line, value, reader.options) if risky else value
    return row if isinstance(row, RowError) else (line, row)
