"""Encodings of text that is not UTF-8: which ones can be chosen, and a guess from the first bytes that show it.

A guess is made from a sample alone and may be wrong, so it is shown with an example and confirmed before an import.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

SAMPLE = 64 * 1024
SHOWN_BEFORE, SHOWN_AFTER = 12, 20


@dataclass(frozen=True, slots=True)
class Encoding:
    title: str
    codec: str  # as Python names it

    @property
    def name(self) -> str:
        return self.title.partition(" (")[0]


ENCODINGS: dict[str, Encoding] = {
    "windows-1252": Encoding("Windows-1252 (Western European, also Latin-1)", "cp1252"),
    "iso-8859-15": Encoding("ISO 8859-15 (Western European with €)", "iso8859_15"),
    "mac-roman": Encoding("Mac Roman (Western European)", "mac_roman"),
    "windows-1250": Encoding("Windows-1250 (Central European)", "cp1250"),
    "iso-8859-2": Encoding("ISO 8859-2 (Central European)", "iso8859_2"),
    "windows-1254": Encoding("Windows-1254 (Turkish)", "cp1254"),
    "windows-1251": Encoding("Windows-1251 (Cyrillic)", "cp1251"),
    "koi8-r": Encoding("KOI8-R (Cyrillic)", "koi8_r"),
    "windows-1253": Encoding("Windows-1253 (Greek)", "cp1253"),
    "windows-1255": Encoding("Windows-1255 (Hebrew)", "cp1255"),
    "windows-1256": Encoding("Windows-1256 (Arabic)", "cp1256"),
    "shift-jis": Encoding("Shift JIS (Japanese)", "cp932"),
    "gb18030": Encoding("GB 18030 (Chinese)", "gb18030"),
    "big5": Encoding("Big5 (Chinese)", "cp950"),
    "euc-kr": Encoding("EUC-KR (Korean)", "cp949"),
    "utf-16-le": Encoding("UTF-16, little endian", "utf_16_le"),
    "utf-16-be": Encoding("UTF-16, big endian", "utf_16_be"),
}
# Chosen by how likely the text is that they give, in this order where it is as likely; others by the library.
LATIN = ("windows-1252", "iso-8859-15", "mac-roman", "windows-1250", "iso-8859-2", "windows-1254")
WIDE = ("utf-16-le", "utf-16-be")

# Characters of Western European languages that nearly every text with them has, and what else its words are made of.
_USUAL = frozenset("äöüßÄÖÜéèêàçñ")
_WESTERN = frozenset("ëâîïôùûœæåøãõáíóúìòÉÈÀÇÑÅØÆŒÁÍÓÚ")
_OTHERS = frozenset("ąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůýžČĎĚŇŘŠŤŮÝŽőűŐŰăâîșțğışĞİŞ")
_OPENING, _CLOSING = frozenset("“‘„«‹¿¡"), frozenset("”’»›…")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_APART = frozenset("–—•·€£°§©®™×")


def wide_encoding(head: bytes) -> str:
    """UTF-16 without a byte order mark: every second byte of its ASCII characters is NUL. "" for other text."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 10 < len(head) or min(even, odd) * 10 > max(even, odd):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def guess_encoding(raw: bytes) -> str:
    """The slug of the most likely encoding of bytes that are not UTF-8, of those in which ASCII is ASCII."""
    sample = raw[:SAMPLE]
    if _is_in_runs(sample) and (other := _guess_of_library(sample)) and _decoded(sample, other) is not None:
        return other
    scores = {slug: _likelihood(text) for slug in LATIN if (text := _decoded(sample, slug)) is not None}
    return max(scores, key=scores.__getitem__, default="windows-1252")


def example_in(text: str) -> str:
    """The first character that is not ASCII, with what stands around it on its line."""
    at = next((number for number, char in enumerate(text) if char > "\x7f"), 0)
    before = text[max(at - SHOWN_BEFORE, 0) : at].rpartition("\n")[2]
    return before + text[at : at + SHOWN_AFTER].partition("\n")[0].rstrip("\r")


def _decoded(sample: bytes, slug: str) -> str | None:
    try:
        text = codecs.getincrementaldecoder(ENCODINGS[slug].codec)().decode(sample)
    except UnicodeDecodeError:
        return None
    return None if private_at(text, slug) is not None else text


def private_at(text: str, slug: str) -> int | None:
    """The byte at which text of an encoding has its first character for private use, which shows that the encoding does
    not fit: codecs fill gaps of their tables with them. None where it has none, and for UTF-16, which has no gaps."""
    found = None if slug in WIDE or text.isascii() else _PRIVATE.search(text)
    return len(text[: found.start()].encode(ENCODINGS[slug].codec, "replace")) if found else None


def _is_in_runs(sample: bytes) -> bool:
    """Whether most words are of other letters than Latin ones: their bytes beyond ASCII stand side by side."""
    beyond = [at for at, byte in enumerate(sample) if byte > 0x7F]
    return 2 * sum(second - first == 1 for first, second in zip(beyond, beyond[1:], strict=False)) > len(beyond)


def _guess_of_library(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    slugs = {one.codec: slug for slug, one in ENCODINGS.items() if slug not in (*LATIN, *WIDE)}
    found = from_bytes(sample, cp_isolation=list(slugs), preemptive_behaviour=False).best()
    return slugs.get(found.encoding, "") if found is not None else ""


def _likelihood(text: str) -> float:
    """How much a text looks like one in a Latin script, by its characters beyond ASCII and those around them."""
    return sum(_fit(*three) for three in _beyond_ascii(text))


def _beyond_ascii(text: str) -> Iterator[tuple[str, str, str]]:
    padded = f" {text} "
    for at, char in enumerate(text, start=1):
        if char > "\x7f":
            yield padded[at - 1], char, padded[at + 1]


def _fit(before: str, char: str, after: str) -> float:
    if char.isalpha():
        if before.islower() and char.isupper():
            return -1  # in the middle of a word
        if char.isupper() and not before.isalpha() and not after.isalpha():
            return -0.5  # as a sign of money is read
        return 3 if char in _USUAL else 1.5 if char in _WESTERN else 1 if char in _OTHERS else -1
    is_inside = before.isalpha() and after.isalpha()
    if char == "’" and is_inside:
        return 3
    if char in _OPENING:
        return 2 if after.isalnum() and not before.isalnum() else -1
    if char in _CLOSING:
        return 2 if not before.isspace() and not after.isalnum() else -1
    return 0.5 if char in _APART and not is_inside else 0 if char == "\xa0" else -2
