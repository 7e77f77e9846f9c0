"""The layout of BEIR, in which FEVER, SciFact and other retrieval data come: `corpus.jsonl`, `queries.jsonl` and
`qrels/*.tsv`, as a zip or a folder.

    {"_id": "d1", "title": "…", "text": "…"}      {"_id": "q1", "text": "…"}      query-id  corpus-id  score

Queries are questions where most of them end with a question mark, and claims otherwise. A document that the qrels name
for a query becomes a passage of it, `<query>/<document>`, and its score a decision about relevance: relevant above 0.
The rest of the corpus is passed over. An id that begins with its query's, `<query>/`, is the passage's key as it is.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.formats.cells import BadCell, SeenKeys, number_in, required_text, row_error, to_key, to_text
from annotation.formats.files.tables import OpenTable, open_tables
from annotation.formats.info import LIKELY, Format
from annotation.formats.records import (
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    FormatError,
    QuestionRecord,
    Record,
    RowError,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tools.tool_tasks import append_line, zip_folder
from annotation.task_types.base import Dimension

QRELS = frozenset({"query-id", "corpus-id", "score"})
FIELDS = {"_id", "title", "text", "metadata"}
CORPUS, QUERIES = "corpus", "queries"
SPLIT = "test"  # the one that BEIR's loader reads unasked
LOSES = (
    "Who answered what and how labels were decided: a passage has one grade for its query, or none without a label",
    "All questions but the one about relevance, whose grades are whole numbers and come back as relevant or not, with "
    "the grade in the metadata",
    "URLs, dates, ranks and gold marks of passages (those with a grade above 0 come back as gold)",
    "Claimants, dates, sources, verdicts and answers of what is claimed or asked; queries come back as questions if "
    "most of them end in a question mark, else as claims",
    "Questions without text, which no reader makes queries of",
    "Keys of passages that do not begin with their query's key and a slash: it comes before them",
    "Names of metadata, which come back under “metadata”",
)
Judged = dict[str, list[tuple[str, float]]]  # document -> queries with their scores


def is_beir(columns) -> bool:
    columns = set(columns)
    return columns >= QRELS or {"_id", "text"} <= columns <= FIELDS


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Queries, the documents that are judged for them, and the judgements."""
    limit = options.limits.key_chars // 2 - 1
    has_questions = _mostly_questions(sources, options)
    queries, kind = set(), "question" if has_questions else "claim"
    seen = SeenKeys()
    for table, line, cells in _rows(sources, options, QUERIES):
        if isinstance(cells, RowError):
            yield cells
            continue
        try:
            key = to_key(cells.get("_id"), "_id", limit)
            text = required_text(cells.get("text"), "text")
            if table not in seen.files:
                seen.start(table)
            seen.add(key, "_id", line)
        except BadCell as problem:
            yield row_error(table, line, problem)
            continue
        queries.add(key)
        kept = _kept(cells)
        yield QuestionRecord(key, text, metadata=kept) if has_questions else ClaimRecord(key, text, metadata=kept)
    if not queries:
        raise FormatError("There are no queries; give queries.jsonl, corpus.jsonl and the qrels together")
    judged = yield from _judged(sources, options, queries, limit)
    yield from _documents(sources, options, judged, kind, limit)


def _rows(sources: list[SourceFile], options: Options, wanted: str) -> Iterator[tuple[str, int, dict | RowError]]:
    """Rows of the files that hold queries, or documents, or judgements."""
    for table in open_tables(sources, options):
        if table.columns is not None and not set(table.columns) >= QRELS:
            raise FormatError(f"{table.name}: is neither queries, corpus nor qrels of BEIR")
        if (wanted == "qrels") != (table.columns is not None):
            continue
        if wanted != "qrels" and (wanted == QUERIES) != _is_queries(table):
            continue
        for row in table.rows:
            yield (table.name, 0, row) if isinstance(row, RowError) else (table.name, *row)


def _is_queries(table: OpenTable) -> bool:
    return QUERIES in table.name.rsplit("/", 1)[-1].lower()


def _mostly_questions(sources: list[SourceFile], options: Options) -> bool:
    asked = [
        str(cells.get("text")).rstrip().endswith("?")
        for _, _, cells in _rows(sources, options, QUERIES)
        if isinstance(cells, dict)
    ]
    return 2 * sum(asked) > len(asked)


def _judged(sources: list[SourceFile], options: Options, queries: set[str], limit: int) -> Iterator[RowError]:
    """document -> queries with scores; yields what is wrong in the qrels."""
    judged: Judged = defaultdict(list)
    seen = SeenKeys()
    for table, line, cells in _rows(sources, options, "qrels"):
        if isinstance(cells, RowError):
            yield cells
            continue
        try:
            query = to_key(cells.get("query-id"), "query-id", limit)
            document = to_key(cells.get("corpus-id"), "corpus-id", limit)
            score = number_in(to_text(cells.get("score"), "score"))
            if query not in queries:
                raise BadCell("query-id", query, "is not a query of queries.jsonl")
            if score is None:
                raise BadCell("score", cells.get("score"), "is not a number")
            if table not in seen.files:
                seen.start(table)
            seen.add(f"{query}\n{document}", "corpus-id", line)
        except BadCell as problem:
            yield row_error(table, line, problem)
            continue
        judged[document].append((query, score))
    return judged


def _documents(sources: list[SourceFile], options: Options, judged: Judged, kind: str, limit: int) -> Iterator[Record]:
    for table, line, cells in _rows(sources, options, CORPUS):
        if isinstance(cells, RowError):
            yield cells
            continue
        try:
            key = to_key(cells.get("_id"), "_id", limit)
            queries = judged.pop(key, ())
            if not queries:
                continue
            title, words = to_text(cells.get("title"), "title"), to_text(cells.get("text"), "text")
            text = required_text(words or title, "text")
        except BadCell as problem:
            yield row_error(table, line, problem)
            continue
        for query, score in queries:
            own = key if key.startswith(f"{query}/") else f"{query}/{key}"
            metadata = _kept(cells) | {"score": score}
            yield EvidenceRecord(own, text, **{kind: query}, publisher=title, is_gold=score > 0, metadata=metadata)
            yield DecisionRecord(own, "relevance", "relevant" if score > 0 else "not_relevant")
    for document in list(judged)[:1000]:
        yield RowError("corpus", None, "corpus-id", document, "is judged in the qrels, and is not in the corpus")


def _kept(cells: dict) -> dict:
    return {
        name: value
        for name, value in cells.items()
        if name not in ("_id", "text", "title") and value not in (None, "", {})
    }


def grades(question: Dimension) -> dict[str, int]:
    """The whole number that each label stands for: itself, else its place in the scale; {} where it is no scale."""
    values = question.values
    for names in (values, [label.title for label in question.labels]):
        numbers = [number_in(name) for name in names]
        if all(number is not None and number.is_integer() for number in numbers):
            return dict(zip(values, map(int, numbers), strict=True))
    places = [label.polarity for label in question.labels]
    if None in places:
        return {} if question.level == "nominal" else {value: place for place, value in enumerate(values)}
    scale = sorted(set(places))
    return {label.value: scale.index(label.polarity) for label in question.labels}


def write(rows: Iterable[tuple[Record, EvidenceRecord, int | None]], folder: Path) -> None:
    """Queries with their passages and grades, as `beir.zip`. A passage is called by its key without the query's, as
    documents are that several queries share, unless other passages would be called the same."""
    with TemporaryDirectory() as name:
        spool, made = Path(name, "rows"), Path(name, "made")
        made.mkdir()
        queries: set[str] = set()
        contents: dict[str, bytes] = {}
        ambiguous: set[str] = set()
        for path in (spool, made / f"{CORPUS}.jsonl", made / f"{QUERIES}.jsonl"):
            path.touch()
        for query, passage, grade in rows:
            if query.key not in queries:
                queries.add(query.key)
                line = {"_id": query.key, "text": query.text} | _metadata(query)
                append_line(made / f"{QUERIES}.jsonl", line)
            document = {"title": passage.publisher, "text": passage.text} | _metadata(passage)
            short = passage.key.removeprefix(f"{query.key}/")
            short = passage.key if short.startswith(f"{query.key}/") else short  # else it would be read as the key
            content = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).digest()
            for own in {short, passage.key}:
                if contents.setdefault(own, content) != content:
                    ambiguous.add(own)
            append_line(spool, [query.key, short, passage.key, document, grade])
        qrels = made / "qrels" / f"{SPLIT}.tsv"
        qrels.parent.mkdir()
        written: set[str] = set()
        with open(spool, encoding="utf-8") as lines, open(qrels, "w", encoding="utf-8", newline="") as out:
            table = csv.writer(out, delimiter="\t", lineterminator="\n")
            table.writerow(("query-id", "corpus-id", "score"))
            for query, short, key, document, grade in map(json.loads, lines):
                own = key if short in ambiguous else short
                if own not in written:
                    written.add(own)
                    append_line(made / f"{CORPUS}.jsonl", {"_id": own} | document)
                if grade is not None:
                    table.writerow((query, own, grade))
        zip_folder(made, folder / "beir.zip")


def _metadata(record: Record) -> dict:
    """What comes back from these files is under `metadata` already, with its score."""
    kept = {name: value for name, value in record.metadata.items() if name != "score"}
    if kept.keys() == {"metadata"} and isinstance(kept["metadata"], dict):
        kept = kept["metadata"]
    return {"metadata": kept} if kept else {}


INFO = Format(
    slug="beir",
    title="BEIR layout (FEVER, SciFact, …)",
    extensions=(".jsonl", ".tsv"),
    reader=read,
    detect=lambda head: LIKELY if is_beir(head.columns) else 0,
    task_type="claim-evidence/six-way/1",
)
