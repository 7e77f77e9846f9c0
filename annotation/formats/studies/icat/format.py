"""ICAT's files, read together in any order: queries, annotations, results, qrels and corpus (see `icat_files`).

Keys: question `query_id`, aspect `query_id/a0`, response `model/query_id`, passage `query_id/doc_id`, atomic claim
`model/query_id/c0`. Whether a response covers an aspect is a decision about the unit that pairs them, or an annotation
where the file has labels of several annotators (`icat_subtopics` says in which shapes).

* Queries bring questions and aspects. Without a file of them, annotations and results bring those of their rows.
* Annotations, one file per model: the model is what a row says, else what the user entered, else the file's name.
* Results bring atomic claims, `entailed` and the aspects that they were found to support in their metadata; ICAT's own
  figures and covered topics go to the metadata of the response, by variant (M, S or A), since they are a program's and
  no person's labels. Topics that ICAT-A made up are no aspects of the question. Results name no model and mostly hold
  no answer: then the annotations have to be read with them.
* Qrels (also as TREC's `query subtopic doc rel`) say which documents of the corpus become passages. A file's numbers of
  subtopics count from 1 and 0 is the query as a whole, unless they only fit when counted from 0.

Whatever is large is streamed: of the corpus nothing is kept, of the qrels what they say about each document.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from annotation.formats.cells import BadCell, SeenKeys, SeenParents, required_text, shorten, to_key, to_text
from annotation.formats.info import LIKELY, SURE, Format
from annotation.formats.records import (
    AnnotationRecord,
    AspectRecord,
    DecisionRecord,
    FormatError,
    JudgementRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    response_aspect_key,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.studies.icat.files import (
    ANNOTATIONS,
    CORPUS,
    QRELS,
    QUERIES,
    RESULTS,
    guess_model,
    is_trec,
    kind_of_columns,
    kinds_of,
    model_said,
    tables_of,
)
from annotation.formats.studies.icat.qrels import Qrels
from annotation.formats.studies.icat.results import claims_of, facts_of, figures_of, variant_of
from annotation.formats.studies.icat.subtopics import Covered, Subtopics, covered_by, numbers_in, subtopics_of
from annotation.formats.studies.icat.write import write

DIMENSION, COVERED, NOT_COVERED = "coverage", "covered", "not_covered"
AUTOMATIC = "icat"  # in a response's metadata: what ICAT itself found
MODEL_KEYS = ("model", "model_name")
TEXT_OF = {QUERIES: ("query",), ANNOTATIONS: ("query_description", "query"), RESULTS: ("query",)}
ROW_KEYS = {
    QUERIES: {"query_id", "query", "subtopics"},
    ANNOTATIONS: {"query_id", "query", "query_description", "model_response", "subtopics", "covered", *MODEL_KEYS},
}
RESPONSE_KEYS = ("model_response", "response")

__all__ = ["INFO", "read", "write"]


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Questions, aspects, responses, labels, atomic claims, then passages.

    Reads `options.model` and `.per_file`. Raises FormatError for a file that is not one of ICAT's, for qrels without
    corpus or the other way round, and where nothing tells a file's model.
    """
    return _Reader(sources, options).records()


class _Reader:
    def __init__(self, sources: list[SourceFile], options: Options):
        self.sources, self.limit = sources, options.limits.key_chars
        self.quiet = options.quiet()
        self.options = replace(options, progress=_only_forward(options.progress))
        self.queries = _Queries(self.limit)
        self.models: dict[str, list[str]] = {}  # query -> models whose answers the annotations have
        self.first_number: dict[str, int] = {}  # file of annotations -> what its numbers of subtopics count from
        self.automatic: dict[str, dict] = {}  # response -> variant -> what ICAT found

    def records(self) -> Iterator[Record]:
        kinds = kinds_of(self.sources, self.quiet)
        if QRELS in kinds and CORPUS not in kinds:
            raise FormatError("The qrels name documents that none of the files has; add the corpus")
        if CORPUS in kinds and QRELS not in kinds:
            raise FormatError("Nothing says which documents of the corpus belong to which query; add the qrels")
        self.queries.are_given = QUERIES in kinds
        yield from self._rows(QUERIES, self._of_query)
        self._survey(kinds)
        self.responses = SeenKeys()
        self.texts = SeenParents("answer", ("model_response",))
        yield from self._rows(ANNOTATIONS, self._of_annotation, self.responses, self.texts)
        self.facts = SeenParents("answer", ("atomic_facts",))
        self.found = SeenKeys()
        yield from self._rows(RESULTS, self._of_result, self.facts, self.texts, self.found)
        if QRELS in kinds:
            qrels = Qrels(self.queries.known, self.limit)
            yield from qrels.read(lambda: tables_of(QRELS, self.sources, self.options))
            yield from qrels.passages(tables_of(CORPUS, self.sources, self.options))

    def _rows(self, kind: str, records_of, *places) -> Iterator[Record]:
        for table in tables_of(kind, self.sources, self.options):
            for place in (self.queries.seen, *places):
                place.start(table.name)
            yield from table.parsed(partial(records_of, table.name))

    # --- what has to be known before --------------------------------------------------------------------------------

    def _survey(self, kinds: set[str]) -> None:
        """Models by query, how files number subtopics, and ICAT's own figures. Bad rows are reported when they are
        read."""
        for table in tables_of(ANNOTATIONS, self.sources, self.quiet):
            self.first_number[table.name] = 1
            for _, cells in table.good_rows:
                if 0 in numbers_in(cells.get("covered")):
                    self.first_number[table.name] = 0
                if RESULTS in kinds:
                    self._note_model(cells, table.name)
        for table in tables_of(RESULTS, self.sources, self.quiet):
            for _, cells in table.good_rows:
                with suppress(BadCell):
                    key, _ = self._response_of_result(cells, table.name)
                    self.automatic.setdefault(key, {}).setdefault(variant_of(cells), figures_of(cells))

    def _note_model(self, cells: dict, file: str) -> None:
        try:
            query, model = to_text(cells.get("query_id"), "query_id"), self._model_of_annotation(cells, file)
        except BadCell:
            return
        models = self.models.setdefault(query, [])
        if model not in models:
            models.append(model)

    def _model_of_annotation(self, cells: dict, file: str) -> str:
        model = _model_of_row(cells) or model_said(file, self.options) or guess_model(file)
        if not model:
            raise FormatError(
                f"{file}: the model is neither in the file's name nor in its rows; name it. A file name such as "
                "gpt-4.jsonl contains it."
            )
        return model

    def _response_of_result(self, cells: dict, file: str) -> tuple[str, str]:
        """The key of the response that a row of results is about, and its model."""
        query = to_key(cells.get("query_id"), "query_id", self.limit)
        known = self.models.get(query, [])
        own_text = any(cells.get(name) is not None for name in RESPONSE_KEYS)
        model = _model_of_row(cells) or model_said(file, self.options)
        guess = guess_model(file)
        if not model:
            model = guess if guess in known else known[0] if len(known) == 1 else guess if own_text else ""
        if not model:
            reason = (
                f"has answers of {len(known)} models ({shorten(', '.join(sorted(known)))}); say which one the file is "
                "about, or add a column model"
                if known
                else "has no answer in these files, and results bring none: read the annotations with them, or add the "
                "columns model and model_response"
            )
            raise BadCell("query_id", query, reason)
        return f"{model}/{query}", model

    # --- rows -------------------------------------------------------------------------------------------------------

    def _of_query(self, file: str, line: int, cells: dict) -> Iterator[Record]:
        yield from self.queries.records_of(cells, QUERIES, line)

    def _of_annotation(self, file: str, line: int, cells: dict) -> Iterator[Record]:
        model = self._model_of_annotation(cells, file)
        query = to_key(cells.get("query_id"), "query_id", self.limit)
        key = f"{model}/{query}"
        text = _text_of(cells, ("model_response",))
        if text is None:
            raise BadCell("model_response", None, "is missing")
        yield from self.queries.records_of(cells, ANNOTATIONS, line)
        subtopics = self.queries.known[query]
        # Numbers and truth values follow the order of the row's own list.
        own = subtopics_of(cells["subtopics"], "subtopics", self.limit) if cells.get("subtopics") else subtopics
        covered = covered_by(cells.get("covered"), "covered", own, self.first_number[file], self.limit)
        if not text.strip() and any(any(each.covered) for each in covered):
            raise BadCell("model_response", text, "is empty, but covers subtopics")
        self.responses.add(key, "query_id", line)
        self.texts.is_new(key, (text,), line)
        metadata = {name: value for name, value in cells.items() if name not in ROW_KEYS[ANNOTATIONS]}
        for name in TEXT_OF[ANNOTATIONS]:  # title and description; the question has one of them
            if (said_of_query := to_text(cells.get(name), name)) not in ("", self.queries.texts[query]):
                metadata[name] = said_of_query
        yield self._response(key, text, query, model, metadata)
        yield from _labels(key, query, covered, [subtopics.find_text(each) for each in own.texts])

    def _response(self, key: str, text: str, query: str, model: str, metadata: dict) -> ResponseRecord:
        if key in self.automatic:
            metadata = metadata | {AUTOMATIC: self.automatic[key]}
        return ResponseRecord(key, text, question=query, model=model, metadata=metadata)

    def _of_result(self, file: str, line: int, cells: dict) -> Iterator[Record]:
        key, model = self._response_of_result(cells, file)
        query = to_key(cells.get("query_id"), "query_id", self.limit)
        text = _text_of(cells, RESPONSE_KEYS)
        facts = facts_of(cells)
        yield from self.queries.records_of(cells, RESULTS, line)
        if text is None and not self.texts.knows(key):
            reason = (
                "has no answer of this model in these files, and results bring none: read its annotations with them, "
                "or add a column model_response"
            )
            raise BadCell("query_id", query, reason)
        claims = claims_of(cells, facts, key, query, self.queries.known[query])
        is_new_claims = self.facts.is_new(key, (tuple(facts),), line)
        self.found.add(f"{key} (ICAT-{variant_of(cells)})", "query_id", line)
        is_new_response = text is not None and self.texts.is_new(key, (text,), line)
        if is_new_response:
            yield self._response(key, text, query, model, {})
        if is_new_claims:
            yield from claims


class _Queries:
    """Questions with their aspects: of the queries files, or else of the rows that come first about each."""

    def __init__(self, limit: int) -> None:
        self.limit, self.are_given = limit, False
        self.seen = SeenKeys()
        self.known: dict[str, Subtopics] = {}
        self.texts: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.text_of_kind: dict[tuple[str, str], str] = {}

    def records_of(self, cells: dict, kind: str, line: int) -> list[Record]:
        """What is new in this row; raises BadCell where it differs from what came before about the same query."""
        key = to_key(cells.get("query_id"), "query_id", self.limit)
        text = next((to_text(cells[name], name) for name in TEXT_OF[kind] if cells.get(name)), "")
        listed = cells.get("subtopics")
        if kind == QUERIES:
            required_text(text, "query")
            self.seen.add(key, "query_id", line)
        elif self.are_given and key not in self.known:
            raise BadCell("query_id", key, "is not a query of the queries file")
        if key in self.known:
            self._compare(key, kind, text, listed)
            return []
        subtopics = subtopics_of([] if kind == RESULTS and listed is None else listed, "subtopics", self.limit)
        self.known[key], self.texts[key], self.places[key] = subtopics, text, self.seen.base + line
        self.text_of_kind[kind, key] = text
        metadata = {n: v for n, v in cells.items() if n not in ROW_KEYS[QUERIES]} if kind == QUERIES else {}
        aspects = [
            AspectRecord(f"{key}/a{place}", key, place, subtopic, subtopics.metadata[place])
            for place, subtopic in enumerate(subtopics.texts)
        ]
        return [QuestionRecord(key, text, metadata=metadata), *aspects]

    def _compare(self, key: str, kind: str, text: str, subtopics: object) -> None:
        where = f"{self.seen.describe(self.places[key])}, which is about the same query"
        # A query's title and its description are different texts, so files of one kind only are compared.
        if text and text != self.text_of_kind.setdefault((kind, key), text):
            raise BadCell(TEXT_OF[kind][0], text, f"differs from another row about the same query {shorten(key)}")
        if subtopics:
            own, known = subtopics_of(subtopics, "subtopics", self.limit), self.known[key]
            for place, subtopic in enumerate(own.texts):
                if known.find_text(subtopic) is None:
                    raise BadCell(f"subtopics[{place}]", subtopic, f"is not a subtopic on {where}")
            if len(own) < len(known):
                missing = next(each for each in known.texts if own.find_text(each) is None)
                raise BadCell("subtopics", subtopics, f"lacks {shorten(missing)!r}, which is on {where}")


def _labels(response: str, query: str, values: list[Covered], places: list[int | None]) -> Iterator[Record]:
    """Decisions, or one annotation per annotator. `places` are those of the row's subtopics among the query's."""
    for each in values:
        labels = {
            response_aspect_key(response, f"{query}/a{place}"): COVERED if covered else NOT_COVERED
            for place, covered in zip(places, each.covered, strict=True)
        }
        if each.rater is None:
            yield from (DecisionRecord(unit, DIMENSION, label) for unit, label in labels.items())
        elif labels:
            judgements = tuple(JudgementRecord(unit, DIMENSION, label) for unit, label in labels.items())
            yield AnnotationRecord(response, each.rater, judgements, rater_kind="person" if each.is_named else "slot")


def _model_of_row(cells: dict) -> str:
    return next((to_text(cells[name], name) for name in MODEL_KEYS if cells.get(name)), "")


def _text_of(cells: dict, names: tuple[str, ...]) -> str | None:
    name = next((name for name in names if cells.get(name) is not None), None)
    return None if name is None else to_text(cells[name], name)


def _only_forward(progress):
    """Files are read several times; progress is the furthest that any reading came."""
    if progress is None:
        return None
    furthest = 0

    def report(done: int, total: int) -> None:
        nonlocal furthest
        furthest = max(furthest, done)
        progress(furthest, total)

    return report


INFO = Format(
    slug="icat",
    title="ICAT",
    extensions=(".jsonl", ".json", ".tsv", ".txt", ".parquet"),
    reader=read,
    detect=lambda head: SURE if is_trec(head.start) else LIKELY if kind_of_columns(head.columns) else 0,
    task_type="aspect-coverage/-/1",
)
