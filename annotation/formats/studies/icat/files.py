"""Which of ICAT's files a file is, by its columns; TREC's qrels, which have none; names of models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import PurePosixPath

from annotation.formats.cells import shorten
from annotation.formats.files.characters import storable
from annotation.formats.files.containers import open_blobs
from annotation.formats.files.streams import TextReader
from annotation.formats.files.tables import SNIFFED_BYTES, OpenTable, Row, listed, open_table
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile

QUERIES, ANNOTATIONS, RESULTS, QRELS, CORPUS = "queries", "annotations", "results", "qrels", "corpus"
LOOKED_AT = 5
LAYOUTS = (
    "queries have query_id, query and subtopics; annotations query_id, model_response and covered; results query_id "
    "and atomic_facts; qrels query_id, doc_id, subtopic_id and relevance; the corpus id and contents"
)
TREC_COLUMNS = ("query_id", "subtopic_id", "doc_id", "relevance")
TREC_LINE = re.compile(rb"[^\s{\[]\S*[ \t]+\S+[ \t]+\S+[ \t]+-?\d+\Z")
TREC_LINES = 3  # so many look alike before a file is taken for one without a header
# What a file's name says besides the model: gpt-4_annotations.jsonl is about gpt-4, results.jsonl about nothing.
OTHER_WORDS = re.compile(
    r"(?:\A|[_\-. ])(?:human|annotations?|annotated|labels?|answers?|responses?|results?|outputs?|(?:semi_)?auto|icat"
    r"(?:[_\-]?[msa])?)\Z",
    re.IGNORECASE,
)


def kind_of_columns(columns: set[str]) -> str | None:
    """One of the kinds, or None for columns of something else."""
    if {"id", "contents"} <= columns:
        return CORPUS
    if "query_id" not in columns:
        return None
    if columns & {"atomic_facts", "entailed_facts", "covered_topics"} or {"facts", "metrics"} <= columns:
        return RESULTS
    if "model_response" in columns:
        return ANNOTATIONS
    if "doc_id" in columns:
        return QRELS
    return QUERIES if columns & {"query", "subtopics"} else None


def kinds_of(sources: list[SourceFile], options: Options) -> set[str]:
    """The kinds of files that there are. FormatError for a file that is not one of ICAT's."""
    return {kind for kind, _ in _tables(sources, options)}


def tables_of(kind: str, sources: list[SourceFile], options: Options) -> Iterator[OpenTable]:
    """The files of one kind, one after the other; each is readable until the next is asked for."""
    return (table for layout, table in _tables(sources, options) if layout == kind)


def _tables(sources: list[SourceFile], options: Options) -> Iterator[tuple[str, OpenTable]]:
    for blob in open_blobs(sources, options):
        with ExitStack() as files:
            if is_trec(blob.stream.peek(SNIFFED_BYTES)):
                yield QRELS, OpenTable(blob.name, "trec", TREC_COLUMNS, _trec_rows(TextReader(blob.stream)))
                continue
            table = open_table(blob, options.limits, files)
            first = list(islice(table.rows, LOOKED_AT))
            columns = set(table.columns or ()).union(*(row[1] for row in first if not isinstance(row, RowError)))
            kind = kind_of_columns(columns)
            if kind is None:
                what = f"its columns are {listed(tuple(columns))}" if columns else "it has no row that can be read"
                raise FormatError(f"{table.name}: is not one of ICAT's files: {what}. ICAT's {LAYOUTS}.")
            table.rows = chain(first, table.rows)
            yield kind, table


def is_trec(head: bytes) -> bool:
    """Whether a file starts with lines of four words, the last a whole number: TREC's `query subtopic doc rel`."""
    lines = [line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if len(head) >= SNIFFED_BYTES:
        lines.pop()  # cut short
    lines = [line for line in lines if line][:TREC_LINES]
    return bool(lines) and all(TREC_LINE.match(line) for line in lines)


def _trec_rows(reader: TextReader) -> Iterator[Row | RowError]:
    for line, text in enumerate(reader.lines(), start=1):
        words = text.split()
        if not words:
            continue
        if len(words) != len(TREC_COLUMNS):
            reason = f"has {len(words)} words where TREC's qrels have 4: query, subtopic, document, relevance"
            yield RowError(reader.name, line, "", shorten(text.strip()), reason)
            continue
        row: dict | RowError = dict(zip(TREC_COLUMNS, words, strict=True))
        if reader.suspect:
            row = storable(reader.name, line, row, reader.options)
        yield row if isinstance(row, RowError) else (line, row)


def guess_model(name: str) -> str:
    """The model that a file name such as annotations/gpt-4.jsonl tells; "" where it tells none."""
    stem = re.sub(r"\.(jsonl?|ndjson|parquet)(\.gz)?\Z", "", PurePosixPath(name.replace("\\", "/")).name)
    while (shorter := OTHER_WORDS.sub("", stem)) != stem:
        stem = shorter
    return stem


def model_said(name: str, options: Options) -> str:
    """What the user entered for this file, then for all files; "" without either."""
    return options.per_file.get(name, {}).get("model") or options.model
