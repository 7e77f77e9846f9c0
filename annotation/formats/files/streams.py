"""From bytes to text: decoding, and lines with a length limit, in bounded memory.

Text is UTF-8, with or without a byte order mark; UTF-16 and UTF-32 are read where a byte order mark announces them.
CRLF becomes LF, unless it is to be kept. Nothing else is changed.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from annotation.formats.files.containers import BlobReader
from annotation.formats.records import FormatError

BLOCK = 256 * 1024
BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class TextReader:
    """Blocks of decoded text that end at a line end (but the last), so that no character is cut in two.

    `suspect` is True from the moment that a NUL or a lone surrogate was seen: only then need cells be looked at.
    """

    def __init__(self, blob: BlobReader, *, keeps_line_ends: bool = False):
        self.keeps_line_ends = keeps_line_ends
        self.blob, self.name, self.limit = blob, blob.name, blob.limits.record_bytes
        self.records = 0
        self.suspect = False
        self.line = 1  # of the start of the next block
        self.offset = 0  # the same in bytes

    def blocks(self) -> Iterator[str]:
        pending: list[bytes] = []
        size = 0
        for block in self.utf8_blocks():
            cut = block.rfind(b"\n") + 1
            if not cut:
                pending.append(block)
                size += len(block)
                if size > self.limit:
                    raise FormatError(
                        f"{self.name}: line {self.line:,} is longer than {self.limit:,} bytes. "
                        "Is this really a file with one row per line?"
                    )
                continue
            pending.append(block[:cut])
            yield self._decode(b"".join(pending))
            pending, size = [block[cut:]], len(block) - cut
        if last := b"".join(pending):
            yield self._decode(last)

    def utf8_blocks(self) -> Iterator[bytes]:
        head = self.blob.peek(BLOCK)
        if not head:
            raise FormatError(f"{self.name}: the file is empty")
        bom, encoding = next(((bom, encoding) for bom, encoding in BOMS if head.startswith(bom)), (b"", "utf-8"))
        if encoding == "utf-8":
            self.offset = len(bom)
            first = self.blob.read(BLOCK)[len(bom) :]
            if first:
                yield first
            while block := self.blob.read(BLOCK):
                yield block
            return
        decoder = codecs.getincrementaldecoder(encoding)()
        at = 0
        while True:
            block = self.blob.read(BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{self.name}: is not {encoding.upper()} near byte {at:,} ({error.reason})"
                ) from error
            if text:
                yield text.encode("utf-8", "surrogatepass")
            if not block:
                return
            at += len(block)

    def _decode(self, block: bytes) -> str:
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError:
            text = self._decode_with_surrogates(block)
        if "\0" in text:
            self.suspect = True
        self.line += text.count("\n")
        self._check_number(self.line)
        self.offset += len(block)
        return text.replace("\r\n", "\n") if "\r" in text and not self.keeps_line_ends else text

    def count_record(self, line: int) -> None:
        """For values that need no lines between them."""
        self.records += 1
        self._check_number(max(self.records, line))

    def _check_number(self, number: int) -> None:
        if number > self.blob.limits.records:
            raise FormatError(
                f"{self.name}: has more than {self.blob.limits.records:,} lines; split it into several files"
            )

    def _decode_with_surrogates(self, block: bytes) -> str:
        try:
            text = block.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            line = self.line + block.count(b"\n", 0, error.start)
            raise FormatError(
                f"{self.name}: is not UTF-8: byte 0x{block[error.start]:02X} at byte {self.offset + error.start:,} "
                f"(line {line:,}). Save the file as UTF-8 and try again."
            ) from error
        self.suspect = True
        return text

    def lines(self) -> Iterator[str]:
        """Lines with their line feeds. Only a line feed ends a line."""
        for block in self.blocks():
            yield from io.StringIO(block, newline="\n")
