"""Which format a file has: the one that its beginning fits best."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from itertools import islice

from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.tables import SNIFFED_BYTES, open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.oddities import ReadingNotes

LOOKED_AT = 5
PACKED = (".xmi", ".zip", ".ser", ".pdf")  # read by some formats, in addition to those of every format


class Head:
    """The beginning of a file, read as far as a format asks for it."""

    def __init__(self, source: SourceFile):
        self.source = source

    @cached_property
    def packed(self) -> list[str]:
        """The files in an archive; none where it is not one."""
        return [entry.filename for entry in entries_of(self.source, also=PACKED)]

    @cached_property
    def names(self) -> list[str]:
        """The files with rows in an archive, or the file's own name."""
        return [entry.filename for entry in entries_of(self.source)] or [self.source.label]

    @cached_property
    def start(self) -> bytes:
        """The first bytes, of an archive those of its first file; none where they cannot be read."""
        try:
            with closing(open_blobs([self.source], Options())) as blobs:
                return next((blob.stream.peek(SNIFFED_BYTES) for blob in blobs), b"")
        except FormatError:
            return b""

    @cached_property
    def _first(self) -> tuple[frozenset[str], dict] | None:
        try:
            for table in open_tables([self.source], Options(noted=ReadingNotes())):
                if table.columns is not None:
                    return frozenset(table.columns), {}
                for row in islice(table.rows, LOOKED_AT):
                    if not isinstance(row, RowError):
                        return frozenset(row[1]), row[1]
        except FormatError:
            pass
        return None

    @property
    def has_rows(self) -> bool:
        """Whether a header or a row can be read."""
        return self._first is not None

    @property
    def columns(self) -> frozenset[str]:
        """Of a table, or of the first object of a JSON file."""
        return self._first[0] if self._first else frozenset()

    @property
    def row(self) -> dict:
        """The first object of a JSON file, whose values tell more than their names; {} of a table."""
        return self._first[1] if self._first else {}


def detect(source: SourceFile) -> str | None:
    from annotation.formats import FORMATS

    head = Head(source)
    try:
        fits = {slug: known.detect(head) for slug, known in FORMATS.items()}
    except FormatError:
        return None
    best = max(fits, key=fits.__getitem__)
    return best if fits[best] else None
