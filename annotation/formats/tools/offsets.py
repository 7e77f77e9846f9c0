"""Places in a text: other tools count UTF-16 code units, bytes or the characters of a text with CRLF; Assay counts code
points of a text whose lines end with LF."""

from __future__ import annotations

from annotation.formats.cells import BadCell

UTF_16, CODE_POINTS, UTF_8 = "utf-16-le", "", "utf-8"
_WIDTH = {UTF_16: 2, UTF_8: 1}


def code_point(text: str, offset: int, encoding: str) -> int | None:
    """The code point that an offset in units of an encoding stands before; None outside the text and within a
    character."""
    if offset < 0:
        return None
    if not encoding or text.isascii():
        return offset if offset <= len(text) else None
    raw = text.encode(encoding)
    end = offset * _WIDTH[encoding]
    if end > len(raw):
        return None
    try:
        return len(raw[:end].decode(encoding))
    except UnicodeDecodeError:
        return None


def offset_of(text: str, place: int, encoding: str) -> int:
    """The offset, in units of an encoding, of a code point."""
    return len(text[:place].encode(encoding)) // _WIDTH[encoding] if encoding else place


def place(raw: str, start: int, end: int, quote: str | None, encodings: tuple[str, ...]) -> tuple[int, int] | None:
    """Start and end in the text with LF for CRLF, in code points. Of the encodings, counted in the text as it came and
    with LF, the first one counts that gives the quote, or any place where there is no quote; None where none does.
    """
    text = raw.replace("\r\n", "\n")
    wanted = None if quote is None else _plain(quote)
    for counted in dict.fromkeys((raw, text)):
        for encoding in encodings:
            found = [code_point(counted, offset, encoding) for offset in (start, end)]
            if None in found or not found[0] < found[1]:
                continue
            if counted is not text:
                found = [len(counted[:at].replace("\r\n", "\n")) for at in found]
            if wanted is None or _plain(text[found[0] : found[1]]) == wanted:
                return found[0], found[1]
    return None


def marked_place(
    raw: str, start: object, end: object, column: str, quote: object = None, encodings: tuple[str, ...] = (CODE_POINTS,)
) -> tuple[int, int, str]:
    """Start, end and the words between them, as `place` finds them; BadCell where it finds none."""
    wanted = quote if isinstance(quote, str) else None
    found = place(raw, start, end, wanted, encodings) if type(start) is int and type(end) is int else None
    if found is None:
        raise BadCell(column, [start, end], "is not a position in the text, or not the one that is quoted")
    return *found, raw.replace("\r\n", "\n")[found[0] : found[1]]


def _plain(quote: str) -> str:
    """Label Studio writes line ends within a quote as a backslash and an n."""
    return quote.replace("\\n", "\n").replace("\r\n", "\n")
