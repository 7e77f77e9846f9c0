"""Which format a file has, told from the columns of its first rows."""

from __future__ import annotations

from contextlib import closing
from itertools import islice

from annotation.formats.content.format import is_content
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.manifests import read_manifest
from annotation.formats.files.tables import SNIFFED_BYTES, open_tables
from annotation.formats.studies.beir import is_beir
from annotation.formats.studies.claim_review import is_claim_review, list_in
from annotation.formats.studies.icat.files import is_trec, kind_of_columns
from annotation.formats.tables.oddities import ReadingNotes
from annotation.formats.tools.alt_test import is_annotations
from annotation.formats.tools.inception.reading import is_export, looks_like_document
from annotation.formats.tools.inspect_logs import is_log, looks_like_log
from annotation.formats.tools.label_studio.config import is_config
from annotation.formats.tools.potato.reading import is_output

from .records import FormatError, RowError
from .sources import Options, SourceFile

# Columns that only this format has together; the first match wins.
SIGNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("assay", frozenset({"item", "annotator", "judgements"})),
    ("assay", frozenset({"unit", "dimension", "method", "number"})),
    ("label-studio", frozenset({"data", "annotations"})),
    ("label-studio", frozenset({"data", "predictions"})),
    ("label-studio", frozenset({"data", "completions"})),
    ("potato", frozenset({"displayed_text", "label_annotations"})),
    ("argilla", frozenset({"fields", "responses", "suggestions"})),
    ("argilla", frozenset({"questions", "fields", "guidelines"})),
    ("potato", frozenset({"user_id", "instance_id_to_label_to_value"})),
    ("prodigy", frozenset({"text", "_input_hash", "_task_hash"})),
    ("prodigy", frozenset({"text", "answer", "options"})),
    ("climate-fever", frozenset({"claim_id", "claim", "evidences"})),
    ("scifact", frozenset({"id", "claim", "cited_doc_ids"})),
    ("scifact", frozenset({"doc_id", "title", "abstract", "structured"})),
    ("averitec", frozenset({"claim", "speaker", "questions"})),
    ("druid", frozenset({"id", "claim_id", "claim", "evidence", "evidence_source", "factcheck_verdict"})),
)
LOOKED_AT = 5


def slug_of_columns(columns) -> str:
    columns = set(columns)
    for slug, signs in SIGNS:
        if signs <= columns:
            return slug
    if is_beir(columns):
        return "beir"
    if kind_of_columns(columns) is not None:
        return "icat"
    if "response" in columns and any(str(column).endswith("_response_kg") for column in columns):
        return "refchecker"
    return "table"


def slug_of_object(row: dict) -> str:
    """Of a line of JSON, whose values tell more than their names."""
    if is_content(row):
        return "content"
    if is_claim_review(row):
        return "claim-review"
    slug = slug_of_columns(row)
    has_lists = any(isinstance(row.get(name), list) for name in ("label", "labels", "entities"))
    has_lists = has_lists or {"annotations", "annotation_approver"} <= row.keys()
    return "doccano" if slug == "table" and isinstance(row.get("text"), str) and has_lists else slug


def _head(source: SourceFile) -> bytes:
    with closing(open_blobs([source], Options())) as blobs:
        return next(blobs).stream.peek(SNIFFED_BYTES)


def detect(source: SourceFile) -> str | None:
    try:
        packed = [entry.filename for entry in entries_of(source, also=(".xmi", ".zip", ".ser"))]
        if is_export(packed) or (not packed and looks_like_document(_head(source))):
            return "inception"
        if not packed and list_in(_head(source)):
            return "claim-review"
        if is_config(source):
            return "label-studio"
        names = [entry.filename for entry in entries_of(source)] or [source.label]
        if any(is_output(name) for name in names):
            return "potato"
        if is_log(names):
            return "inspect"
        if any(is_annotations(name) for name in names):
            return "alt-test"
        if read_manifest([source]) is not None:
            return "assay"
        if any(looks_like_log(blob.stream.peek(SNIFFED_BYTES)) for blob in islice(open_blobs([source], Options()), 1)):
            return "inspect"
        if any(is_trec(blob.stream.peek(SNIFFED_BYTES)) for blob in islice(open_blobs([source], Options()), 1)):
            return "icat"
        for table in open_tables([source], Options(noted=ReadingNotes())):
            if table.columns is not None:
                return slug_of_columns(table.columns)
            for row in islice(table.rows, LOOKED_AT):
                if not isinstance(row, RowError):
                    return slug_of_object(row[1])
    except FormatError:
        pass
    return None
