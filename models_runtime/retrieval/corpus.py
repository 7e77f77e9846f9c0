"""The documents and passages of an index: texts once, passages as numbers, so that 100,000 of them take little room."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ..contracts import InputError
from ..inputs import check_text
from .chunkers import Chunker
from .contracts import Document, Passage


class Corpus:
    """Passages are known by their place: documents in the order in which they came, and passages as they stand."""

    def __init__(self, chunker: Chunker) -> None:
        self.chunker = chunker
        self.ids: list[str] = []
        self._texts: list[str] = []
        self._sources: dict[int, Mapping[str, Any]] = {}
        self._places: dict[str, int] = {}
        self._first = array("q", [0])  # document d has the passages first[d] to first[d + 1]
        self._document, self._start, self._end = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._start)

    def add(self, document: Document) -> Iterator[int]:
        """The places of its passages. InputError, with its id, for one that cannot be read or was there before."""
        try:
            text = check_text("text", document.text)
        except InputError as error:
            raise InputError(error.reason, f"document {document.id!r}: {error}") from None
        if document.id in self._places:
            raise InputError("duplicate-document", f"document {document.id!r} comes twice")
        place = self._places[document.id] = len(self.ids)
        self.ids.append(document.id)
        self._texts.append(text)
        if document.source:
            self._sources[place] = document.source
        for start, end in self.chunker.cut(text):
            self._document.append(place)
            self._start.append(start)
            self._end.append(end)
        yield from range(self._first[-1], len(self))
        self._first.append(len(self))

    def add_all(self, documents: Iterable[Document], at_once: int) -> Iterator[list[str]]:
        """Texts of the new passages, so many at once; documents are taken one by one as they come."""
        places = (place for document in documents for place in self.add(document))
        while texts := [self.text(place) for place in islice(places, at_once)]:
            yield texts

    def text(self, place: int) -> str:
        return self._texts[self._document[place]][self._start[place] : self._end[place]]

    def passage(self, place: int) -> Passage:
        return Passage(
            self.ids[self._document[place]],
            self._start[place],
            self._end[place],
            self.text(place),
            self.source(self._document[place]),
        )

    def document(self, key: str) -> Document:
        place = self._places[key]
        return Document(key, self._texts[place], self.source(place))

    def source(self, place: int) -> Mapping[str, Any]:
        """Of the document at this place among the documents."""
        digest = hashlib.sha256(self._texts[place].encode()).hexdigest()
        return {**self._sources.get(place, {}), "sha256": digest}

    def key(self, place: int) -> tuple[str, int]:
        """What equal scores are ordered by."""
        return self.ids[self._document[place]], self._start[place]

    def order(self) -> Any:
        """Of every place, where it stands among all when they are ordered by document and start."""
        import numpy as np

        ranks = np.empty(len(self.ids), dtype=np.int64)
        ranks[sorted(range(len(self.ids)), key=self.ids.__getitem__)] = np.arange(len(self.ids))
        of_passage = ranks[np.array(self._document, dtype=np.int64)]
        order = np.empty(len(self), dtype=np.int64)
        order[np.argsort(of_passage, kind="stable")] = np.arange(len(self))
        return order

    def places_in(self, documents: Iterable[str]) -> Any:
        """Places of the passages of these documents, ascending; ids that are not here have none."""
        import numpy as np

        known = sorted(self._places[one] for one in documents if one in self._places)
        ranges = [np.arange(self._first[place], self._first[place + 1], dtype=np.int64) for place in known]
        return np.concatenate(ranges) if ranges else np.empty(0, dtype=np.int64)
