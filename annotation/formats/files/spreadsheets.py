"""Writing tables: delimited text that no spreadsheet runs, JSON Lines, Parquet; all streamed.

A cell that begins with =, +, -, @ (also full-width), a tab or a line break would be run as a formula or shifted by a
spreadsheet, so it gets an apostrophe in front. A cell that already begins with apostrophes and one of these gets one
more, so exactly one apostrophe is taken off again on reading. "-", "+" and plain numbers are harmless and stay.

A foreign file may hold such an apostrophe of its own. Therefore a file in which any cell was escaped says so: the first
name in its header, and only that one, stands in quotes. To every CSV reader the header is the same; ours takes the
apostrophes off only when it sees that mark. Files without an escaped cell have the plain header.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

DELIMITERS = {"tsv": "\t", "csv": ","}
_RUNS = re.compile(r"'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
_HARMLESS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?)?\Z")
_FIRST = frozenset("'=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
ROW_GROUP_ROWS = 2000
ROW_GROUP_CHARS = 16 * 1024 * 1024


def needs_escape(cell: str) -> bool:
    return cell[:1] in _FIRST and _RUNS.match(cell) is not None and _HARMLESS.match(cell) is None


def as_cell(text: str) -> str:
    """No spreadsheet runs it."""
    return f"'{text}" if needs_escape(text) else text


def unescape(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and needs_escape(cell[1:]) else cell


def is_marked_header(line: str, delimiter: str) -> bool:
    """Whether the first name, and no other, is quoted in the header line."""
    first, _, rest = line.partition(delimiter)
    return len(first) > 2 and first[0] == first[-1] == '"' and '"' not in rest


def write_delimited(path: str | Path, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], kind: str) -> int:
    """Write rows of text cells as kind tsv or csv, UTF-8 with line feeds. Returns the number of rows."""
    delimiter = DELIMITERS[kind]
    special = re.compile(f'[{delimiter}"\r\n]')
    count, escaped = 0, False
    with open(path, "w", encoding="utf-8", newline="") as out:
        header = delimiter.join(_quoted(column, special) for column in columns)
        out.write(header + "\n")
        for row in rows:
            cells = []
            for cell in row:
                if cell and cell[0] in _FIRST and needs_escape(cell):
                    cell, escaped = "'" + cell, True
                cells.append(_quoted(cell, special) if special.search(cell) else cell)
            out.write(delimiter.join(cells) + "\n")
            count += 1
    if escaped:
        _mark_header(Path(path), header, columns[0], delimiter)
    return count


def _quoted(cell: str, special: re.Pattern) -> str:
    return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell


def _mark_header(path: Path, header: str, first: str, delimiter: str) -> None:
    marked = Path(f"{path}.marked")
    with open(path, "rb") as body, open(marked, "wb") as out:
        body.readline()
        out.write((f'"{first}"' + header[len(first) :] + "\n").encode())
        shutil.copyfileobj(body, out)
    os.replace(marked, path)


def write_json_lines(path: str | Path, rows: Iterable[dict]) -> int:
    """One compact JSON object per line, keys in the order given."""
    count = 0
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    with open(path, "w", encoding="utf-8", newline="") as out:
        for row in rows:
            out.write(encode(row) + "\n")
            count += 1
    return count


def write_parquet(path: str | Path, types: dict[str, str], rows: Iterable[dict]) -> int:
    """Write row groups of bounded size. `types` is column -> "string", "bool", "int64", "double" or "string list"."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = {"string": pa.string(), "bool": pa.bool_(), "int64": pa.int64(), "double": pa.float64()}
    named |= {"string list": pa.list_(pa.string())}
    schema = pa.schema([(column, named[kind]) for column, kind in types.items()])
    count = 0
    # The file says nothing of when or by whom it was written, so the same rows give the same bytes.
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _groups(rows):
            columns = [_array(pa, [row.get(column) for row in group], schema.field(column).type) for column in types]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            count += len(group)
    pa.default_memory_pool().release_unused()  # else it keeps tens of megabytes
    return count


def _array(pa, values: list, kind):
    """The column as an Arrow array. Texts go through a builder, because `pa.array` imports pandas where it is
    installed, which takes 50 MB; truth values and numbers through their texts."""
    if pa.types.is_list(kind):
        return pa.array(values, kind)
    builder = pa.lib.StringBuilder()
    is_text = pa.types.is_string(kind)
    builder.append_values(values if is_text else [None if value is None else str(value).lower() for value in values])
    return builder.finish() if is_text else builder.finish().cast(kind)


def _groups(rows: Iterable[dict]) -> Iterator[list[dict]]:
    """Row groups that end at so many rows or so many characters, whichever comes first."""
    group, size = [], 0
    for row in rows:
        group.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(group) >= ROW_GROUP_ROWS or size >= ROW_GROUP_CHARS:
            yield group
            group, size = [], 0
    if group:
        yield group
