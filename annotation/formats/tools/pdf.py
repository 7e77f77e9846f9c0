"""PDF files: each becomes a question with the words of its title, and each of its pages a passage.

Layout, pictures and tables are lost. A page without text, such as a scan, is left out and counted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from tempfile import NamedTemporaryFile

from annotation.formats.cells import BadCell, SeenKeys, row_error, to_key
from annotation.formats.files import pdf
from annotation.formats.files.containers import Blob, entries_of, open_blobs
from annotation.formats.files.libraries import require
from annotation.formats.info import SURE, Format
from annotation.formats.records import (
    EvidenceRecord,
    FormatError,
    LostRecord,
    OddRecord,
    QuestionRecord,
    Record,
    RowError,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.oddities import FILE_NAME, LEAVE_OUT, TITLED, UNTITLED

EXTENSION = ".pdf"


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    seen, empty, first = SeenKeys(), 0, ""
    titled, untitled = [], []
    for blob in _files(sources, options):
        require("pypdf", blob.name)
        name = blob.name[: -len(EXTENSION)] if blob.name.lower().endswith(EXTENSION) else blob.name
        try:
            key = to_key(name, "file", options.limits.key_chars // 2)
            seen.add(key, "file", 0)
        except BadCell as problem:
            yield row_error(blob.name, None, problem)
            continue
        for number, text, why in _pages(blob):
            if why and not number:
                raise FormatError(f"{blob.name}: {why}")
            if not number:
                (titled if text else untitled).append((text, blob.name))
                if not text and options.treat.get(UNTITLED) == LEAVE_OUT:
                    yield RowError(blob.name, None, "title", "", "has none", is_chosen=True)
                    break
                shows_name = not text or options.treat.get(TITLED) == FILE_NAME
                yield QuestionRecord(key, name.rpartition("/")[2] if shows_name else text)
            elif why:
                yield RowError(blob.name, number, "page", str(number), why)
            elif not text.strip():
                empty, first = empty + 1, first or f"{blob.name}, page {number}"
            else:
                more = {"publisher": f"Page {number}", "rank": number, "metadata": {"page": number}}
                yield EvidenceRecord(f"{key}/p{number}", text, question=key, **more)
    if untitled:
        yield OddRecord(UNTITLED, "", len(untitled), untitled[0][1], is_open=UNTITLED not in options.treat)
    for text, file in titled:
        yield OddRecord(TITLED, text, 1, file)
    if empty:
        yield LostRecord("Pages without text, such as scans", empty, first)


def _files(sources: list[SourceFile], options: Options) -> Iterator[Blob]:
    for source in sources:
        packed = [entry.filename for entry in entries_of(source, also=(EXTENSION,)) if _is_pdf(entry.filename)]
        parts = [SourceFile(source.path, source.name, entry) for entry in packed]
        yield from open_blobs(parts or [source], options)


def _is_pdf(name: str) -> bool:
    return name.lower().endswith(EXTENSION)


def _pages(blob: Blob) -> Iterator[tuple[int, str, str]]:
    if pdf.MAGIC not in blob.stream.peek(pdf.MAGIC_WITHIN)[: pdf.MAGIC_WITHIN]:
        raise FormatError(f"{blob.name}: is no PDF file")
    with NamedTemporaryFile(suffix=EXTENSION) as copy, blob.on_disk() as stored:
        shutil.copyfileobj(stored, copy)
        copy.flush()
        with closing(pdf.read_pages(copy.name)) as pages:
            yield from pages


INFO = Format(
    slug="pdf",
    title="PDF, a passage per page",
    extensions=(EXTENSION,),
    reader=read,
    detect=lambda head: SURE if head.start.startswith(pdf.MAGIC) or any(map(_is_pdf, head.packed)) else 0,
)
