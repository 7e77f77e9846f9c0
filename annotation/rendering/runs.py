"""The HTML of one rendered text: tags that a renderer names, and runs of text with their places in the source.

A run is `<span data-at="12">words</span>`: what it shows stands at offset 12 (code points) of the source. Where
something else is shown, such as the character of an entity, `data-length` says how much of the source it is. Text
without a run stands nowhere in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from html import escape

MOST_RUNS = 20_000
SAFE_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s]", re.I)


def N_(text: str) -> str:
    """Marks a text for translation, which happens where it is shown."""
    return text


class CannotRender(Exception):
    """Why a text is shown as its source: a clause for the reader, in which `{n}` stands for a number."""

    def __init__(self, reason: str, n: int = 0):
        super().__init__(reason.format(n=f"{n:,}"))
        self.reason, self.n = reason, n


Mark = tuple[int, int]  # start and end in the source


def divided(text: str, start: int, marks: Sequence[Mark]) -> list[tuple[str, bool]]:
    """The pieces of a text that begins at `start` of its source, and whether each is marked. `marks` are in order."""
    pieces, at, end = [], start, start + len(text)
    for begin, stop in marks[bisect_right(marks, start, key=lambda mark: mark[1]) :]:
        if begin >= end:
            break
        begin, stop = max(at, begin) - start, min(end, stop) - start
        pieces += [(text[at - start : begin], False), (text[begin:stop], True)]
        at = start + stop
    pieces.append((text[at - start :], False))
    return [piece for piece in pieces if piece[0]]


class RunWriter:
    """What has been written of a text's HTML. All that comes from the text is escaped here."""

    def __init__(self, source: str, marks: Sequence[Mark] = ()):
        self.source, self.marks = source, marks
        self.parts: list[str] = []
        self.runs = 0

    def tag(self, name: str, **attributes: str) -> None:
        """An opening tag; `class_` is written as `class`."""
        written = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
        self.parts.append(f"<{name}{written}>")

    def end(self, name: str) -> None:
        self.parts.append(f"</{name}>")

    def words(self, text: str) -> None:
        """Words that stand nowhere in the source."""
        self.parts.append(escape(text))

    def run(self, start: int, end: int, shown: str | None = None) -> None:
        """The source from `start` to `end`, or what is shown in its place."""
        if start >= end:
            return
        text = self.source[start:end]
        if shown is None and "\r" in text:
            for found in re.finditer(r"\r\n?|[^\r]+", text):  # HTML has no carriage returns
                is_break = found[0][0] == "\r"
                self._run(start + found.start(), found[0], "\n" if is_break else found[0])
        else:
            self._run(start, text, text if shown is None else shown)

    def whole(self, start: int, end: int, html: str) -> None:
        """What stands for the source from `start` to `end` and is marked as a whole; `html` is safe."""
        self._count()
        is_marked = any(is_marked for _, is_marked in divided(self.source[start:end], start, self.marks))
        shown = f"<mark>{html}</mark>" if is_marked else html
        self.parts.append(f'<span data-at="{start}" data-length="{end - start}">{shown}</span>')

    def _run(self, start: int, text: str, shown: str) -> None:
        if shown != text:
            return self.whole(start, start + len(text), escape(shown))
        self._count()
        pieces = divided(text, start, self.marks)
        words = "".join(f"<mark>{escape(piece)}</mark>" if marked else escape(piece) for piece, marked in pieces)
        return self.parts.append(f'<span data-at="{start}">{words}</span>')

    def _count(self) -> None:
        self.runs += 1
        if self.runs > MOST_RUNS:
            raise CannotRender(N_("it has more than {n} pieces of formatting"), MOST_RUNS)

    def places(self, places: Sequence[int], text: str) -> None:
        """`text`, whose characters stand at these places, in order; -1 for one that stands nowhere."""
        begin = 0
        for index in range(1, len(text) + 1):
            is_next = index < len(text) and places[index] == (-1 if places[index - 1] < 0 else places[index - 1] + 1)
            if is_next:
                continue
            if places[begin] < 0:
                self.words(text[begin:index])
            else:
                self.run(places[begin], places[index - 1] + 1)
            begin = index

    def link(self, address: str) -> bool:
        """Opens a link to where a text may point; whether it did."""
        if is_safe := bool(SAFE_ADDRESS.match(address)):
            self.tag("a", href=address, target="_blank", rel="noopener noreferrer nofollow")
        return is_safe

    def html(self) -> str:
        return "".join(self.parts)
