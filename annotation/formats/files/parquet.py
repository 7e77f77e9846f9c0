"""Rows of a Parquet file, as the plain values that JSON has; bytes stay bytes, which no field takes.

A Parquet file can unfold to far more than its size, and hold what Python has no value for; neither may reach the reader
of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date, datetime, time
from decimal import Decimal

from annotation import incoming
from annotation.formats.cells import shorten
from annotation.formats.files.characters import storable
from annotation.formats.files.containers import Blob
from annotation.formats.files.hugging_face import class_names, named
from annotation.formats.files.json_streams import find_bad_string
from annotation.formats.files.libraries import require
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Limits

BATCH_ROWS = 256
NESTED_BATCH_ROWS = 16  # texts in lists come without a dictionary, so that their size is known only once they are there
# Cells per byte of the file that are believed, looked at from so many cells on: columns of one value need few bytes.
UNREADABLE = "holds bytes, or a day, an instant or a duration out of range"
CELLS_PER_BYTE = 50
CELLS_FROM = 5_000_000


def open_parquet(
    blob: Blob, head: bytes, limits: Limits, files: ExitStack
) -> tuple[tuple[str, ...], Iterator[tuple[int, dict] | RowError]]:
    """Columns and rows. FormatError where the file is none, is damaged, or would unfold to too much; or where no
    library here reads it."""
    require("pyarrow", blob.name)
    if not head.startswith(b"PAR1"):
        raise FormatError(f"{blob.name}: is not a Parquet file, though its name says so")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        handle = files.enter_context(blob.on_disk())
        metadata = pq.read_metadata(handle)
        size = handle.seek(0, 2)
        handle.seek(0)
        _check_size(blob.name, metadata, size, limits)
        schema = metadata.schema.to_arrow_schema()
        texts = [field.name for field in schema if _is_text(pa, field.type)]
        # As a dictionary a text that fills millions of rows is in memory once, until its rows are looked at.
        file = pq.ParquetFile(handle, metadata=metadata, read_dictionary=texts, pre_buffer=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(f"{blob.name}: is not a whole Parquet file; it is cut short or damaged ({error})") from error
    columns = tuple(schema.names)
    rows = BATCH_ROWS if not any(pa.types.is_nested(field.type) for field in schema) else NESTED_BATCH_ROWS
    return columns, _rows(blob, file, columns, limits, rows, class_names(schema.metadata))


def _is_text(pa, kind) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _check_size(name: str, metadata, size: int, limits: Limits) -> None:
    """Refuse by what the file says of itself, before any of it is unfolded."""
    cells = metadata.num_rows * max(metadata.num_columns, 1)
    if metadata.num_rows > limits.records:
        raise FormatError(f"{name}: has {metadata.num_rows:,} rows; at most {limits.records:,} are read")
    if cells > max(CELLS_FROM, CELLS_PER_BYTE * size):
        raise FormatError(f"{name}: says that it unfolds to {cells:,} cells, too many for its {size:,} bytes")
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    if unpacked > limits.total_bytes or unpacked > max(limits.ratio_from, limits.ratio * size):
        raise FormatError(f"{name}: says that it unpacks to {unpacked:,} bytes, too many for its {size:,} bytes")


def _rows(
    blob: Blob, file, columns: tuple[str, ...], limits: Limits, batch_rows: int, names: dict[str, list[str]]
) -> Iterator[tuple[int, dict] | RowError]:
    import pyarrow as pa

    total, number = file.metadata.num_rows, 0
    try:
        for batch in file.iter_batches(batch_size=batch_rows):
            spend(blob, limits, batch, number)
            for cells in zip(*(plain_values(column) for column in batch.columns), strict=True):
                number += 1
                yield row_of(blob, number, columns, cells, names)
            blob.stream.budget.report(int(blob.stream.out * number / max(total, 1)))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{blob.name}: the Parquet file is damaged after row {number:,} ({error})") from error


def spend(blob: Blob, limits: Limits, batch, number: int) -> None:
    """FormatError where the rows after the first `number` unfold to too much at once, or the file does."""
    unfolded = sum(map(_unfolded_bytes, batch.columns))
    if unfolded > limits.batch_bytes:
        raise FormatError(
            f"{blob.name}: rows {number + 1:,} to {number + batch.num_rows:,} unfold to {unfolded:,} bytes; at "
            f"most {limits.batch_bytes:,} are read at once"
        )
    blob.stream.budget.spend(unfolded, blob.name)


def _unfolded_bytes(column) -> int:
    """Bytes that the column takes once every row has its own value, eight of them for the value itself: those that say
    nothing take none in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind) and _is_text(pa, kind.value_type):
        lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
        return pc.sum(lengths).as_py() or 0
    if pa.types.is_struct(kind):
        return 8 * len(column) + sum(map(_unfolded_bytes, column.flatten()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return 8 * len(column) + _unfolded_bytes(column.flatten())
    return column.nbytes + 8 * len(column)


def plain_values(column) -> list:
    """The cells as plain values. What Python has no value for is there as `_Unreadable`."""
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError):
        values = [_value(cell) for cell in column]
    return [one if one is None or type(one) is str else _plain(one) for one in values]


def _value(cell) -> object:
    try:
        return cell.as_py()
    except (ValueError, OverflowError):
        return _Unreadable()


class _Unreadable:
    def __repr__(self) -> str:
        return "?"


def _plain(value: object) -> object:
    """NaN is how pandas writes a missing value; other numbers that JSON has not stay words, as in files of JSON."""
    if value is None or isinstance(value, str | int | bytes | _Unreadable):
        return value
    if isinstance(value, datetime) and value == value and value.time() == time.min:
        value = value.date()
    if isinstance(value, date):
        return value.isoformat() if value == value else None  # pandas' NaT equals nothing
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, tuple):  # an entry of a map
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return str(value)


def row_of(
    blob: Blob, number: int, columns: tuple[str, ...], cells: tuple, names: dict[str, list[str]]
) -> tuple[int, dict] | RowError:
    row: dict | RowError = dict(zip(columns, cells, strict=True))
    problem = problem_in(columns, cells)
    if problem is not None and problem[2] == incoming.BAD_CHARACTER:
        row = storable(blob.name, number, row, blob.stream.options)
        problem = None if isinstance(row, RowError) else problem_in(columns, tuple(row.values()))
    if problem is not None:
        return RowError(blob.name, number, problem[0], shorten(problem[1]), problem[2])
    return row if isinstance(row, RowError) else (number, named(row, names))


def problem_in(columns: tuple[str, ...], cells: tuple) -> tuple[str, object, str] | None:
    """Column, value and reason of the first cell that cannot be taken."""
    for column, cell in zip(columns, cells, strict=True):
        if type(cell) is str:
            if not incoming.is_storable(cell):
                return column, cell, incoming.BAD_CHARACTER
        elif isinstance(cell, bytes):
            return column, repr(cell), "is bytes, not text; save the column as text"
        elif isinstance(cell, _Unreadable):
            return column, "", UNREADABLE
        elif isinstance(cell, list | dict):
            try:
                incoming.refuse_deep(cell)
            except incoming.Refused as refused:
                return column, "", str(refused)
            if _holds_unreadable(cell):
                return column, "", UNREADABLE
            if bad := find_bad_string(cell, column):
                return bad[0], bad[1], incoming.BAD_CHARACTER
    return None


def _holds_unreadable(value: object) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_holds_unreadable, value)) if isinstance(value, list) else isinstance(value, bytes | _Unreadable)
