"""Rows of an Arrow file, as Hugging Face's `save_to_disk` writes them.

Buffers that are compressed could unfold to anything, and so could kinds of columns whose values share what they hold.
The datasets library writes neither: such a file is refused before a buffer is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import ExitStack

from annotation.formats.cells import shorten
from annotation.formats.files.containers import Blob
from annotation.formats.files.hugging_face import class_names
from annotation.formats.files.libraries import require
from annotation.formats.files.parquet import plain_values, row_of, spend
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Limits

STREAM, FILE = b"\xff\xff\xff\xff", b"ARROW1"
SLICE_ROWS = 256


def is_arrow(head: bytes) -> bool:
    return head.startswith((STREAM, FILE))


def open_arrow(
    blob: Blob, head: bytes, limits: Limits, files: ExitStack
) -> tuple[tuple[str, ...], Iterator[tuple[int, dict] | RowError]]:
    """Columns and rows. FormatError where the file is damaged, compressed, or unfolds to too much; or where no library
    here reads it."""
    require("pyarrow", blob.name)
    import pyarrow as pa

    try:
        handle = files.enter_context(blob.on_disk())
        if head.startswith(FILE):
            handle.seek(8)  # the same messages follow
        _refuse_compressed(blob.name, handle)
        handle.seek(8 if head.startswith(FILE) else 0)
        reader = files.enter_context(pa.ipc.open_stream(handle))
        for column in reader.schema:
            _check_kind(blob.name, column.name, column.type)
        columns, names = tuple(reader.schema.names), class_names(reader.schema.metadata)
    except (pa.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
        raise FormatError(f"{blob.name}: is not a whole Arrow file; it is cut short or damaged ({error})") from error
    return columns, _rows(blob, reader, columns, names, limits)


def _check_kind(name: str, column: str, kind) -> None:
    import pyarrow as pa

    types = pa.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    shares = types.is_nested(kind) and not is_list and not types.is_struct(kind)
    shares = shares or types.is_string_view(kind) or types.is_binary_view(kind)
    if types.is_dictionary(kind):
        shares = not (types.is_string(kind.value_type) or types.is_large_string(kind.value_type))
    if shares:
        raise FormatError(f"{name}: the column {shorten(column)} is of a kind that is not read ({shorten(str(kind))})")
    if types.is_nested(kind):
        for number in range(kind.num_fields):
            _check_kind(name, column, kind.field(number).type)


def _rows(
    blob: Blob, reader, columns: tuple[str, ...], names: dict[str, list[str]], limits: Limits
) -> Iterator[tuple[int, dict] | RowError]:
    import pyarrow as pa

    number = 0
    try:
        for whole in reader:
            if number + whole.num_rows > limits.records:
                raise FormatError(f"{blob.name}: has more than {limits.records:,} rows")
            whole.validate(full=True)  # places of texts that lie outside would be read as they are
            for start in range(0, whole.num_rows, SLICE_ROWS):
                batch = whole.slice(start, SLICE_ROWS)
                spend(blob, limits, batch, number)
                if not columns:
                    return
                for cells in zip(*(plain_values(column) for column in batch.columns), strict=True):
                    number += 1
                    yield row_of(blob, number, columns, cells, names)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        raise FormatError(f"{blob.name}: the Arrow file is damaged after row {number:,} ({error})") from error


def _refuse_compressed(name: str, handle) -> None:
    """Looks at the messages' metadata alone. ValueError, IndexError and struct.error where that is damaged."""
    handle.seek(0, 2)
    end = handle.tell()
    at = 8 if _head(handle).startswith(FILE) else 0
    while at + 8 <= end:
        handle.seek(at)
        mark, length = struct.unpack("<Ii", handle.read(8))
        if mark != 0xFFFFFFFF:
            raise ValueError("a message does not begin where it should")
        if length == 0:
            return
        if not 0 < length <= end - at:
            raise ValueError("a message is longer than the file")
        metadata = handle.read(length)
        table = struct.unpack_from("<I", metadata, 0)[0]
        header = _part(metadata, table, 2)
        kind = _field(metadata, table, 1)
        is_dictionary = kind and metadata[table + kind] == 2
        batch = _part(metadata, header, 1) if header and is_dictionary else header
        if batch and kind and metadata[table + kind] in (2, 3) and _field(metadata, batch, 3):
            raise FormatError(f"{name}: holds compressed Arrow buffers, which are not read; save it uncompressed")
        place = _field(metadata, table, 3)
        body = struct.unpack_from("<q", metadata, table + place)[0] if place else 0
        at += 8 + length
        if not 0 <= body <= end - at:
            raise ValueError("a message is longer than the file")
        at += body


def _head(handle) -> bytes:
    handle.seek(0)
    return handle.read(8)


def _field(raw: bytes, table: int, number: int) -> int:
    """Where a field of a table lies in it; 0 where it is absent. Flatbuffers, as Arrow's metadata is written."""
    places = table - struct.unpack_from("<i", raw, table)[0]
    size = struct.unpack_from("<H", raw, places)[0]
    at = 4 + 2 * number
    return struct.unpack_from("<H", raw, places + at)[0] if at + 2 <= size else 0


def _part(raw: bytes, table: int, number: int) -> int:
    """The table that a field points to; 0 where it is absent."""
    at = _field(raw, table, number)
    return table + at + struct.unpack_from("<I", raw, table + at)[0] if at else 0
