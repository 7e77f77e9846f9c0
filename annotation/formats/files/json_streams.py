"""JSON in bounded memory: one value of a line, or the elements of an array one at a time, and where each stands."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator

from annotation import incoming
from annotation.formats.files.streams import TextReader
from annotation.formats.records import FormatError

# A JSON error this close to the end of what has been read may only mean that the value goes on.
NEAR_END = 16
MOST_DIGITS = 1000


def _number(literal: str) -> float | str:
    value = float(literal)
    return value if math.isfinite(value) else literal


def _whole(literal: str) -> int | str:
    return int(literal) if len(literal) <= MOST_DIGITS else literal


def is_whole(literal: str) -> bool:
    try:
        incoming.whole_in_words(literal, -incoming.MAX_BIG_INTEGER)
    except incoming.Refused:
        return False
    return True


# NaN is how pandas writes a missing value; infinities have no place in JSON columns and stay words. So do whole numbers
# that neither Python nor PostgreSQL would read again.
_DECODER = json.JSONDecoder(
    parse_float=_number, parse_int=_whole, parse_constant=lambda name: None if name == "NaN" else name
)
# Escapes that can put a NUL or a lone surrogate into a string; others cannot, so strings are not searched for them.
_RISKY_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_SPACE = re.compile(r"[ \t\n\r]*")


def decode_json(text: str) -> object:
    """One JSON value, alone. Raises ValueError with a reason that names the character."""
    try:
        value, end = _DECODER.raw_decode(text, _SPACE.match(text).end())
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise ValueError("not readable JSON: nested too deeply") from error
    end = _SPACE.match(text, end).end()
    if end != len(text):
        raise ValueError(f"not valid JSON: something follows the value at character {end + 1:,}")
    check_depth(value, text)
    return value


def risky_json(text: str) -> bool:
    """Whether the strings in a JSON text must be searched for bad characters."""
    return "\\u" in text and _RISKY_ESCAPE.search(text) is not None


def check_depth(value: object, text: str, start: int = 0, end: int | None = None) -> None:
    """Refuse a value nested too deep. Only a text with that many brackets needs a second look."""
    if text.count("[", start, end) + text.count("{", start, end) > incoming.JSON_DEPTH:
        incoming.refuse_deep(value)


def find_bad_string(value: object, path: str = "") -> tuple[str, str] | None:
    """Path and text of the first string (or key) with a bad character in a decoded JSON value."""
    if isinstance(value, str):
        return None if incoming.is_storable(value) else (path, value)
    if isinstance(value, dict):
        for key, inner in value.items():
            shown = f"{path}.{key}" if path else key
            if not incoming.is_storable(key):
                return path, key
            if place := find_bad_string(inner, shown):
                return place
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if place := find_bad_string(inner, f"{path}[{index}]"):
                return place
    return None


class JsonValues:
    """The elements of one JSON array, or values that follow each other, decoded one at a time.

    Iterating yields (line, value, risky): the 1-based line on which the value starts, the value, and whether its
    strings may hold bad characters.
    """

    def __init__(self, reader: TextReader):
        self.reader, self.name, self.limit = reader, reader.name, reader.limit
        self.blocks = self._pieces()
        self.buffer, self.position, self.line, self.column = "", 0, 1, 1
        self.ended = False

    def _pieces(self) -> Iterator[str]:
        """Text without regard to lines: JSON may come without any, so a long line is no error here."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        lines_before = 1
        for block in self.reader.utf8_blocks():
            try:
                text = decoder.decode(block)
            except UnicodeDecodeError as error:
                raw, at = error.object, self.reader.offset - (len(error.object) - len(block))
                codec = self.reader.leave_utf8(raw, error.start, lines_before, at)
                decoder = codecs.getincrementaldecoder(codec)()
                try:
                    text = decoder.decode(raw)
                except UnicodeDecodeError as again:
                    self.reader.leave_utf8(raw, again.start, lines_before, at)
                    raise
            self.reader.refuse_private(text, block, lines_before)
            self.reader.offset += len(block)
            self.reader.is_ascii = self.reader.is_ascii and text.isascii()
            lines_before += text.count("\n")
            yield text
        if decoder.getstate()[0]:
            raise FormatError(f"{self.name}: the file ends inside a character; it is cut short")

    def __iter__(self) -> Iterator[tuple[int, object, bool]]:
        if not self._skip_space():
            raise FormatError(f"{self.name}: the file is empty")
        in_array = self._next() == "["
        if in_array:
            self._advance(1)
            self._skip_space()
            if self._next() == "]":
                self._advance(1)
                self._finish()
                return
        while True:
            if not self._skip_space():
                if not in_array:
                    return
                self._fail("the file ends inside its list; it is cut short")
            yield self._next_value()
            self._skip_space()
            if not in_array:
                continue
            mark = self._next()
            if mark == "]":
                self._advance(1)
                self._finish()
                return
            if mark != ",":
                problem = f"expected ',' or ']' but found {mark!r}"
                self._fail(problem if mark else "the file ends inside its list; it is cut short")
            self._advance(1)

    def _next_value(self) -> tuple[int, object, bool]:
        """The value that starts here, with its line and whether its strings may hold bad characters; read past it."""
        line = self.line
        value, end = self._value()
        text_risky = "\\u" in self.buffer and _RISKY_ESCAPE.search(self.buffer, self.position, end) is not None
        self.reader.count_record(line)
        try:
            check_depth(value, self.buffer, self.position, end)
        except incoming.Refused as refused:
            self._fail(f"a value {refused}")
        self._advance(end - self.position)
        return line, value, text_risky

    def _value(self) -> tuple[object, int]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self.buffer, self.position)
            except json.JSONDecodeError as error:
                unterminated = error.msg.startswith("Unterminated string")
                if not self.ended and (unterminated or error.pos >= len(self.buffer) - NEAR_END):
                    self._more()
                    continue
                self._advance(error.pos - self.position)
                cut = self.ended and (unterminated or error.pos >= len(self.buffer))
                self._fail("the file ends in the middle of a value; it is cut short" if cut else f"{error.msg}")
            except (RecursionError, ValueError) as error:
                self._fail(f"a value cannot be read ({error})")
            else:
                if end < len(self.buffer) or self.ended:
                    return value, end
                self._more()  # a number may go on in the next block

    def _more(self) -> None:
        """Read on, doubling what is held, so that one long value is not decoded again for every block."""
        held = len(self.buffer) - self.position
        if held > self.limit:
            raise FormatError(f"{self.name}: the value on line {self.line:,} is longer than {self.limit:,} bytes")
        parts, size = [self.buffer[self.position :]], 0
        while size <= held:
            piece = next(self.blocks, None)
            if piece is None:
                self.ended = True
                break
            parts.append(piece)
            size += len(piece)
        self.buffer, self.position = "".join(parts), 0

    def _skip_space(self) -> bool:
        """Go to the next character that is no space; False at the end of the file."""
        while True:
            self._advance(_SPACE.match(self.buffer, self.position).end() - self.position)
            if self.position < len(self.buffer):
                return True
            if self.ended:
                return False
            self.buffer, self.position = next(self.blocks, ""), 0
            self.ended = not self.buffer

    def _next(self) -> str:
        return self.buffer[self.position : self.position + 1]

    def _advance(self, count: int) -> None:
        end = self.position + count
        newlines = self.buffer.count("\n", self.position, end)
        if newlines:
            self.line += newlines
            self.column = end - self.buffer.rfind("\n", self.position, end)
        else:
            self.column += count
        self.position = end

    def _finish(self) -> None:
        if self._skip_space():
            self._fail(f"something follows the list: {self._next()!r}")

    def _fail(self, reason: str) -> None:
        raise FormatError(f"{self.name}: line {self.line:,}, character {self.column:,}: {reason}")


class JsonMembers(JsonValues):
    """The members of one JSON object, in their order; of the list called `inside` its elements, one at a time.

    Iterating yields (name, line, value, risky), the last three as `JsonValues` gives them.
    """

    def __init__(self, reader: TextReader, inside: str):
        super().__init__(reader)
        self.inside = inside

    def __iter__(self) -> Iterator[tuple[str, int, object, bool]]:
        if not self._skip_space():
            raise FormatError(f"{self.name}: the file is empty")
        self._expect("{")
        for _ in self._entries("}"):
            _, name, _ = self._next_value()
            if not isinstance(name, str):
                self._fail("expected the name of a member")
            self._expect(":")
            self._skip_space()
            if name == self.inside and self._next() == "[":
                self._expect("[")
                for _ in self._entries("]"):
                    yield name, *self._next_value()
            else:
                yield name, *self._next_value()
        self._finish()

    def _expect(self, mark: str) -> None:
        self._skip_space()
        if self._next() != mark:
            self._fail(f"expected {mark!r} but found {self._next()!r}" if self._next() else "the file is cut short")
        self._advance(1)

    def _entries(self, mark: str) -> Iterator[None]:
        """Stops at the start of every entry, up to the mark that ends the list or object."""
        is_first = True
        self._skip_space()
        while self._next() != mark:
            if not is_first:
                self._expect(",")
                self._skip_space()
            is_first = False
            yield
            self._skip_space()
        self._advance(1)
