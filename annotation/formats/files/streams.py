"""From bytes to text: decoding, and lines with a length limit, in bounded memory.

Text is UTF-8, with or without a byte order mark; UTF-16 and UTF-32 are read where a byte order mark announces them,
and UTF-16 without one where it is chosen or guessed.
Other encodings are UTF-8 as long as they are ASCII, so that the file is read once: from the first byte that is not
UTF-8 it is read as was chosen, or guessed. CRLF becomes LF, unless it is to be kept. Nothing else is changed.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from annotation.formats.files.containers import BlobReader
from annotation.formats.files.encodings import (
    ENCODINGS,
    SAMPLE,
    WIDE,
    example_in,
    guess_encoding,
    private_at,
    wide_encoding,
)
from annotation.formats.records import FormatError
from annotation.formats.tables.oddities import ENCODING

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
        self.options, self.choice = blob.options, blob.options.treat.get(ENCODING, "")
        self.encoding = ""  # in place of UTF-8
        self.is_ascii, self.is_mixed = True, False  # so far; whether lines in UTF-8 came before others
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
        wide = "" if bom else self._wide(head[:SAMPLE])
        encoding = ENCODINGS[wide].codec if wide else encoding
        if encoding == "utf-8":
            self.offset = len(bom)
            first = self.blob.read(BLOCK)[len(bom) :]
            if first:
                yield first
            while block := self.blob.read(BLOCK):
                yield block
            return
        self.encoding = wide
        decoder = codecs.getincrementaldecoder(encoding)()
        at = 0
        while True:
            block = self.blob.read(BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{self.name}: is not {encoding.upper().replace('_', '-')} near byte {at:,} ({error.reason})"
                ) from error
            if text:
                yield text.encode("utf-8", "surrogatepass")
            if not block:
                return
            at += len(block)

    def _wide(self, head: bytes) -> str:
        """The kind of UTF-16 that a file without a byte order mark is in, where it may be read so; else ""."""
        slug = wide_encoding(head) if self.choice or self.options.noted is not None else ""
        if not slug or self.choice in ENCODINGS.keys() - WIDE:
            return ""
        slug = self.choice if self.choice in WIDE else slug
        self._note(slug, head.decode(ENCODINGS[slug].codec, "replace"), 1)
        return slug

    def _note(self, slug: str, text: str, line: int) -> None:
        if self.options.noted is not None:
            mixed = ", but for lines that are UTF-8" if self.is_mixed else ""
            what = f"{self.name}: read as {ENCODINGS[slug].name}{mixed}, such as “{example_in(text)}”"
            self.options.noted.add(ENCODING, what, f"{self.name}, line {line:,}", is_open=not self.choice)

    def leave_utf8(self, raw: bytes, start: int, line: int, at: int, *, by_line: bool = False) -> str:
        """The codec of a file where byte `start` of `raw` is not UTF-8; `line` and `at` say where `raw` begins.

        FormatError where nobody chose one and nobody would hear of a guess, and where it is left a second time.
        """
        line, where = line + raw.count(b"\n", 0, start), f"byte 0x{raw[start]:02X} at byte {at + start:,}"
        if self.encoding or (self.choice in WIDE):
            name = ENCODINGS[self.encoding or self.choice].name
            raise FormatError(f"{self.name}: is not {name}: {where} (line {line:,}). Choose another encoding.")
        self.is_mixed = not (self.is_ascii and raw[:start].isascii())
        if not (self.choice or self.options.noted is not None) or (self.is_mixed and not by_line):
            raise FormatError(
                f"{self.name}: is not UTF-8: {where} (line {line:,}). Save the file as UTF-8 and try again."
            )
        seen = raw[raw.rfind(b"\n", 0, start) + 1 :][:SAMPLE]
        if self.is_mixed:
            seen = b"".join(one for one in seen.splitlines(keepends=True) if not _is_utf8(one))
        self.encoding = self.choice if self.choice in ENCODINGS else guess_encoding(seen)
        codec = ENCODINGS[self.encoding].codec
        self._note(self.encoding, seen.decode(codec, "replace"), line)
        return codec

    def _decode(self, block: bytes) -> str:
        try:
            text = block.decode("utf-8") if not self.encoding or self.encoding in WIDE else self._decode_other(block)
        except UnicodeDecodeError:
            text = self._decode_with_surrogates(block)
        self.is_ascii = self.is_ascii and text.isascii()
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
            self._refuse_cut(block, error)
            self.leave_utf8(block, error.start, self.line, self.offset, by_line=True)
            return self._decode_other(block)
        self.suspect = True
        return text

    def _refuse_cut(self, block: bytes, error: UnicodeDecodeError) -> None:
        """FormatError where the file ends inside a character of UTF-8. One byte alone behind ASCII may be a letter of
        another encoding."""
        is_utf8 = not (self.is_ascii and block[: error.start].isascii())
        if error.reason == "unexpected end of data" and (is_utf8 or (not self.choice and error.start < len(block) - 1)):
            raise FormatError(f"{self.name}: the file ends inside a character; it is cut short")

    def _decode_other(self, block: bytes) -> str:
        codec = ENCODINGS[self.encoding].codec
        if self.is_mixed and b"\n" in block[:-1]:
            return "".join(map(self._decode_other, block.splitlines(keepends=True)))
        if self.is_mixed:
            codec = "utf-8" if _is_utf8(block) else codec
        try:
            text = block.decode(codec)
        except UnicodeDecodeError as error:
            self.leave_utf8(block, error.start, self.line, self.offset)
            raise
        if codec != "utf-8":
            self.refuse_private(text, block, self.line)
        return text

    def refuse_private(self, text: str, block: bytes, line: int) -> None:
        """FormatError where what was read in another encoding than UTF-8 shows that it is not the right one."""
        start = private_at(text, self.encoding) if self.encoding else None
        if start is not None:
            self.leave_utf8(block, min(start, len(block) - 1), line, self.offset)

    def lines(self) -> Iterator[str]:
        """Lines with their line feeds. Only a line feed ends a line."""
        for block in self.blocks():
            yield from io.StringIO(block, newline="\n")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
