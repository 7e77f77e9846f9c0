"""From a file on disk to the byte streams in it: plain, gzip, or a zip of several, guarded against bombs.

No name inside an archive is ever used as a path. Sizes that an archive declares are not believed: bytes are counted as
they come out.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from annotation.formats.files.libraries import require
from annotation.formats.records import FormatError
from annotation.formats.sources import MIB, Limits, Options, SourceFile

EXTENSIONS = (".tsv", ".csv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow")
# What Hugging Face's `save_to_disk` writes in addition to the rows.
BESIDE_ROWS = {"dataset_info.json", "dataset_dict.json", "state.json"}
CENTRAL_DIRECTORY_BYTES = 4 * MIB
ZSTD = 93
# zipfile raises NotImplementedError for a compression it does not know, RuntimeError for an encrypted entry.
DAMAGED = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError)


@dataclass(slots=True)
class Blob:
    """One file's bytes. `path` is set where they lie on disk as they are, so that they can be read by position."""

    name: str
    stream: BlobReader
    path: str | None = None

    @contextmanager
    def on_disk(self) -> Iterator[BinaryIO]:
        """A seekable file with the bytes; compressed ones are unpacked to a temporary file."""
        if self.path is not None:
            with open(self.path, "rb") as handle:
                yield handle
            return
        with tempfile.TemporaryFile() as spool:
            while block := self.stream.read(MIB):
                spool.write(block)
            spool.seek(0)
            yield spool


class BlobReader:
    """Reads a possibly compressed stream, counts what comes out, refuses bombs, and reports progress."""

    def __init__(self, raw: BinaryIO, name: str, limits: Limits, consumed: Callable[[], int], budget: Budget):
        self.raw, self.name, self.limits, self.consumed, self.budget = raw, name, limits, consumed, budget
        self.options = budget.options
        self.out = 0
        self.compressed = True
        self.pushed_back = b""

    def read(self, size: int) -> bytes:
        if self.pushed_back:
            block, self.pushed_back = self.pushed_back, b""
            return block
        try:
            block = self.raw.read(size)
        except DAMAGED as error:
            raise FormatError(
                f"{self.name}: the compressed data is damaged or cut short after {self.out:,} bytes ({error})"
            ) from error
        self.out += len(block)
        self.budget.spend(len(block), self.name)
        consumed = self.consumed()
        if self.compressed and self.out > self.limits.ratio_from and self.out > self.limits.ratio * max(consumed, 1):
            raise FormatError(
                f"{self.name}: unpacks to more than {self.limits.ratio} times its size. Text does not compress "
                "so well; unpack it yourself if it is what it should be."
            )
        self.budget.report(consumed)
        return block

    def peek(self, size: int) -> bytes:
        """The next bytes (at least `size` of them unless the file ends), which the next read returns again."""
        block = self.read(size)
        while len(block) < size and (more := self.read(size - len(block))):
            block += more
        self.pushed_back = block
        return block


class Budget:
    """What one source may still unpack, and how far the reader has come in it."""

    def __init__(self, source: SourceFile, options: Options, base: int, total: int):
        self.options = options
        self.left = options.limits.total_bytes
        self.limit = options.limits.total_bytes
        self.progress = options.progress
        self.base, self.total, self.entry_base = base, total, 0

    def spend(self, count: int, name: str) -> None:
        self.left -= count
        if self.left < 0:
            advice = "split it into several files"
            raise FormatError(f"{name}: holds more than {self.limit:,} bytes after unpacking; {advice}")

    def report(self, consumed: int) -> None:
        if self.progress is not None:
            self.progress(min(self.base + self.entry_base + consumed, self.total), self.total)


def open_blobs(sources: list[SourceFile], options: Options) -> Iterator[Blob]:
    """Every file in the sources in order, each readable until the next is asked for."""
    for source in sources:
        if not os.path.isfile(source.path):
            raise FormatError(f"{source.label}: there is no such file")
    sizes = [os.path.getsize(source.path) for source in sources]
    for position, source in enumerate(sources):
        budget = Budget(source, options, sum(sizes[:position]), sum(sizes))
        with open(source.path, "rb") as raw:
            yield from _blobs_of(raw, source, options.limits, budget)
        budget.report(sizes[position])


def _blobs_of(raw: BinaryIO, source: SourceFile, limits: Limits, budget: Budget) -> Iterator[Blob]:
    magic = raw.read(4)
    raw.seek(0)
    if not magic:
        raise FormatError(f"{source.label}: the file is empty")
    if magic.startswith(b"PK"):
        yield from _zip_blobs(raw, source, limits, budget)
    elif magic.startswith(b"\x1f\x8b"):
        name = source.label[:-3] if source.label.lower().endswith(".gz") else source.label
        yield Blob(name, BlobReader(gzip.GzipFile(fileobj=raw), source.label, limits, raw.tell, budget))
    else:
        reader = BlobReader(raw, source.label, limits, raw.tell, budget)
        reader.compressed = False
        yield Blob(source.label, reader, os.fspath(source.path))


def entries_of(source: SourceFile, also: tuple[str, ...] = ()) -> list[zipfile.ZipInfo]:
    """The files of an archive that can be read, and those that end in `also`; none where the source is no archive."""
    if not os.path.isfile(source.path):
        return []
    with open(source.path, "rb") as raw:
        if not raw.read(4).startswith(b"PK"):
            return []
        with _opened_zip(raw, source) as archive:
            return [entry for entry in archive.infolist() if _is_wanted(entry, EXTENSIONS + also)]


def _opened_zip(raw: BinaryIO, source: SourceFile) -> zipfile.ZipFile:
    _check_central_directory(raw, source)
    try:
        return zipfile.ZipFile(raw)
    except DAMAGED as error:
        raise FormatError(f"{source.label}: not a readable zip archive ({error})") from error


def _zip_blobs(raw: BinaryIO, source: SourceFile, limits: Limits, budget: Budget) -> Iterator[Blob]:
    with _opened_zip(raw, source) as archive:
        entries = archive.infolist()
        if len(entries) > limits.entries:
            raise FormatError(f"{source.label}: holds {len(entries):,} files; at most {limits.entries:,} are read")
        wanted = [entry for entry in entries if (entry.filename == source.entry if source.entry else _is_wanted(entry))]
        if not wanted:
            if any(entry.filename.startswith("xl/") for entry in entries):
                raise FormatError(f"{source.label}: is a workbook of Excel; save its sheet as CSV (UTF-8)")
            names = ", ".join(entry.filename for entry in entries[:5]) or "nothing"
            raise FormatError(f"{source.label}: no {', '.join(EXTENSIONS)} file in the archive; found {names}")
        for entry in wanted:
            name = f"{source.label}/{entry.filename}"
            if entry.flag_bits & 1:
                raise FormatError(f"{name}: is encrypted; unpack the archive first")
            try:
                opened = _zstd(raw, entry) if entry.compress_type == ZSTD else archive.open(entry)
            except DAMAGED as error:
                raise FormatError(f"{name}: cannot be unpacked ({error})") from error
            with opened:
                plain = gzip.GzipFile(fileobj=opened) if entry.filename.lower().endswith(".gz") else opened
                yield Blob(
                    name[:-3] if plain is not opened else name,
                    BlobReader(plain, name, limits, _consumed_of(entry, opened), budget),
                )
            budget.entry_base += entry.compress_size


def _zstd(raw: BinaryIO, entry: zipfile.ZipInfo) -> BinaryIO:
    """An entry that Python's zipfile cannot unpack: Inspect compresses its logs with zstd."""
    require("pyarrow", entry.filename)
    import pyarrow as pa

    raw.seek(entry.header_offset)
    header = raw.read(30)
    name, extra = struct.unpack_from("<HH", header, 26)
    raw.seek(entry.header_offset + 30 + name + extra)
    return _Unpacked(pa.CompressedInputStream(_Slice(raw, entry.compress_size), "zstd"))


class _Unpacked(io.RawIOBase):
    """A stream of pyarrow that says of damage what zipfile says of it."""

    def __init__(self, stream):
        self.stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self.stream.read(size if size >= 0 else None)
        except (OSError, ValueError) as error:
            raise zipfile.BadZipFile(str(error)) from error

    def close(self) -> None:
        self.stream.close()
        super().close()


class _Slice(io.RawIOBase):
    """The next `left` bytes of a file; closing it leaves the file open."""

    def __init__(self, raw: BinaryIO, left: int):
        self.raw, self.left = raw, left

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self.raw.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(block)
        return block


def _consumed_of(entry: zipfile.ZipInfo, opened: zipfile.ZipExtFile) -> Callable[[], int]:
    """Compressed bytes that an entry has taken so far.

    `_compress_left` is not public; where it is missing, the declared compressed size is the best bound there is.
    """
    return lambda: entry.compress_size - getattr(opened, "_compress_left", 0)


def _is_wanted(entry: zipfile.ZipInfo, extensions: tuple[str, ...] = EXTENSIONS) -> bool:
    name = entry.filename
    base = name.rsplit("/", 1)[-1]
    hidden = name.startswith("__MACOSX/") or base.startswith(".") or base in BESIDE_ROWS
    return not entry.is_dir() and not hidden and base.lower().removesuffix(".gz").endswith(extensions)


def _check_central_directory(raw: BinaryIO, source: SourceFile) -> None:
    """Refuse an archive whose list of files alone would fill the memory, before zipfile loads that list."""
    raw.seek(0, os.SEEK_END)
    raw.seek(max(0, raw.tell() - 22 - 65535))
    tail = raw.read()
    raw.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at >= 0 and len(tail) >= at + 16:
        (size,) = struct.unpack_from("<I", tail, at + 12)
        if size > CENTRAL_DIRECTORY_BYTES:
            raise FormatError(f"{source.label}: the archive's list of files is {size:,} bytes long; too many files")
