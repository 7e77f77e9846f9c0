"""A text on the pages that only show it: as it looks, and as its source, with highlights in both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from annotation.rendering.formats import Rendered, render
from annotation.rendering.runs import Mark, divided


class MarkedSpan(Protocol):
    """A stretch of a field's text, as records and rows have it."""

    field: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class ShownText:
    """`note` says where it comes from; `marks` do not overlap and are in order."""

    text: str
    format: str = ""  # empty: as it is found
    field: str = ""  # as highlights name it
    title: str = ""
    note: str = ""
    marks: tuple[Mark, ...] = ()

    @cached_property
    def rendered(self) -> Rendered | None:
        return render(self.text, self.format, self.marks)

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        """The source, and whether each piece of it is highlighted."""
        return divided(self.text, 0, self.marks)

    def marked(self, spans: Iterable[MarkedSpan]) -> ShownText:
        """With the spans of its field highlighted; those of another version of the text are nowhere."""
        found: list[Mark] = []
        of_field = {(one.start, one.end) for one in spans if one.field == self.field and self._has(one)}
        for start, end in sorted(of_field):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(end, found[-1][1])
            else:
                found.append((start, end))
        return replace(self, marks=tuple(found))

    def _has(self, span: MarkedSpan) -> bool:
        return self.text[span.start : span.end] == span.quote
