"""ICAT's qrels and corpus: which documents become passages of a query, and for which aspects they are relevant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from annotation.formats.cells import BadCell, SeenKeys, required_text, shorten, to_key, to_text
from annotation.formats.files.json_streams import is_whole
from annotation.formats.files.tables import OpenTable
from annotation.formats.records import EvidenceRecord, Record, RowError
from annotation.formats.studies.icat.subtopics import Subtopics, as_number

CORPUS_KEYS = frozenset({"id", "contents", "url"})


@dataclass(slots=True)
class _Judged:
    """What the qrels say of one document for one query."""

    rank: int
    file: str
    line: int
    relevance: dict[str, int] = field(default_factory=dict)  # subtopic as the file has it -> relevance
    aspects: list[str] = field(default_factory=list)  # keys of those that it is relevant for


class Qrels:
    """Kept in memory: the labels of each document. `known` are the queries' subtopics."""

    def __init__(self, known: dict[str, Subtopics], limit: int):
        self.known, self.limit = known, limit
        self.documents: dict[str, dict[str, _Judged]] = {}
        self.n_of_query: dict[str, int] = {}

    def read(self, tables: Callable[[], Iterator[OpenTable]]) -> Iterator[RowError]:
        """Yield the bad rows. `tables` opens the files anew: how they number subtopics is known only at their end."""
        first_number = {table.name: self._first_number(table) for table in tables()}
        for table in tables():
            yield from table.parsed(partial(self._take, first_number[table.name], table.name))

    def _first_number(self, table: OpenTable) -> int:
        """0 where a document is relevant for a subtopic 0 and no number is as high as the number of subtopics."""
        has_zero = False
        for _, cells in table.good_rows:
            subtopics = self.known.get(to_text(cells.get("query_id"), "query_id"))
            number = as_number(cells.get("subtopic_id"))
            if subtopics is None or number is None:
                continue
            if number == len(subtopics):
                return 1
            has_zero = has_zero or (number == 0 and (_whole_number(cells.get("relevance")) or 0) > 0)
        return 0 if has_zero else 1

    def _take(self, first_number: int, file: str, line: int, cells: dict) -> None:
        query = to_key(cells.get("query_id"), "query_id", self.limit)
        document = to_key(cells.get("doc_id"), "doc_id", self.limit)
        if query not in self.known:
            raise BadCell("query_id", query, "is not a query of these files")
        relevance = _whole_number(cells.get("relevance"))
        if relevance is None:
            raise BadCell("relevance", cells.get("relevance"), "is not a whole number")
        subtopic, aspect = self._aspect(cells.get("subtopic_id"), query, first_number)
        of_document = self.documents.setdefault(document, {})
        if query not in of_document:
            self.n_of_query[query] = self.n_of_query.get(query, 0) + 1
            of_document[query] = _Judged(self.n_of_query[query], file, line)
        judged = of_document[query]
        if judged.relevance.get(subtopic, relevance) != relevance:
            reason = (
                f"differs from an earlier row about the same query, document and subtopic, which says "
                f"{judged.relevance[subtopic]}"
            )
            raise BadCell("relevance", cells.get("relevance"), reason)
        judged.relevance[subtopic] = relevance
        if aspect is not None and relevance > 0 and aspect not in judged.aspects:
            judged.aspects.append(aspect)

    def _aspect(self, value: object, query: str, first_number: int) -> tuple[str, str | None]:
        """The subtopic as the file has it, and the key of its aspect; none for the query as a whole."""
        text = to_text(value, "subtopic_id")
        subtopics = self.known[query]
        place = subtopics.find(value, first_number)
        if place is not None:
            return text, f"{query}/a{place}"
        if not text or (text == "0" and first_number == 1):
            return text, None
        last = first_number + len(subtopics) - 1
        numbers = ", ".join(subtopics.by_id) or f"{first_number} to {last}"
        raise BadCell(
            "subtopic_id", value, f"is not a subtopic of query {shorten(query)}, which has {shorten(numbers)}"
        )

    def passages(self, tables: Iterator[OpenTable]) -> Iterator[Record]:
        """Passages from the corpus, then an error for every document that the qrels name and the corpus lacks."""
        seen = SeenKeys()
        for table in tables:
            seen.start(table.name)
            yield from table.parsed(partial(self._passages_of, seen))
        missing = ((document, judged) for document, of in self.documents.items() for judged in of.values())
        for document, judged in sorted(missing, key=lambda passage: (passage[1].file, passage[1].line)):
            yield RowError(judged.file, judged.line, "doc_id", shorten(document), "is not a document of the corpus")

    def _passages_of(self, seen: SeenKeys, line: int, cells: dict) -> Iterator[Record]:
        document = to_text(cells.get("id"), "id")
        if document not in self.documents:
            to_key(document, "id", self.limit)
            return
        seen.add(document, "id", line)
        # The key stays, so that a second copy is noticed.
        queries, self.documents[document] = self.documents[document], {}
        text, url = required_text(cells.get("contents"), "contents"), to_text(cells.get("url"), "url")
        more = {name: value for name, value in cells.items() if name not in CORPUS_KEYS}
        for query, judged in queries.items():
            yield _passage(document, query, judged, text, url, more)


def _passage(document: str, query: str, judged: _Judged, text: str, url: str, more: dict) -> EvidenceRecord:
    return EvidenceRecord(
        f"{query}/{document}",
        text,
        question=query,
        url=url,
        is_gold=any(relevance > 0 for relevance in judged.relevance.values()),
        rank=judged.rank,
        metadata={"doc_id": document, "relevance": judged.relevance, "aspects": judged.aspects} | more,
    )


def _whole_number(value: object) -> int | None:
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return int(text) if is_whole(text) else None
