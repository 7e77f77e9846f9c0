"""A table whose columns the user names: claims with evidence, responses with triplets, or pairs, one per row.

`options.mapping` says which column holds which target field (see `table_mapping`); other columns go to metadata. A
missing id is derived from the content, so the same content has the same key in every file:

    claim     claim_id              or  c-<hash of claim and claimant>
    evidence  claim key/evidence_id or  claim key/e-<hash of evidence and URL>
    question  [setting/]question_id or  [setting/]q-<hash of the question>
    response  [setting/][model/]response_id, or question_id, or r-<hash of question and response>
    triplet   response key/index, or response key/set:index; passage: question key/passage-index (all count from 0)
    pair      pair_id               or  p-<hash of premise and hypothesis>

Labels say nothing of who gave them and so become decisions. `options.values` maps a file's values to labels; others are
matched without regard to case, underscores and hyphens, and by usual other spellings. Empty, "-" and not_applicable are
no label. Each layout is a module: `table_claims`, `table_responses`, `table_pairs`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from annotation.formats.cells import BadCell, row_error, shorten, to_text
from annotation.formats.files.spreadsheets import write_delimited, write_json_lines, write_parquet
from annotation.formats.files.tables import OpenTable, listed, open_tables
from annotation.formats.info import LAST_RESORT, TEXT_TABLES, Format
from annotation.formats.records import FormatError, Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables import claims, pairs, responses
from annotation.formats.tables.mapping import LAYOUTS, TYPE_OF_LAYOUT, Preview, guess_mapping, layout_of, preview
from annotation.formats.tables.mapping_file import check_once
from annotation.formats.tables.rows import Rows

__all__ = ["INFO", "guess_mapping", "layout_of", "preview", "Preview", "read", "task_type_of", "write"]


@dataclass(frozen=True, slots=True)
class Layout:
    rows: type[Rows]
    as_dicts: Callable[[Iterable[Record]], Iterator[dict]]
    check_mapping: Callable[[Mapping[str, str]], None] = lambda mapping: None
    task_type: Callable[[list[SourceFile], Options], str] | None = None  # where the file's labels tell which


PARTS: dict[str, Layout] = {
    "claim-evidence": Layout(claims.ClaimEvidenceRows, claims.claim_evidence_dicts),
    "responses": Layout(responses.ResponseRows, responses.response_dicts, responses.check_mapping),
    "pairs": Layout(pairs.PairRows, pairs.pair_dicts, task_type=pairs.task_type_of),
}


def needs_all_labels(mapping: Mapping[str, str]) -> bool:
    """Whether the task type follows from all labels of a file, rather than from its columns."""
    return "premise" in mapping


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Records of the rows. Reads `options.mapping`, `.values`, `.labels` and `.passage_separator`.

    Raises FormatError for a mapping that names unknown fields, absent columns, or lacks a required field.
    """
    layout = layout_of(options.mapping)
    check_fields(layout, options.mapping)
    rows = PARTS[layout].rows(options)
    for table in open_tables(sources, options):
        _check_columns(table, options.mapping)
        rows.start(table.name)
        for row in table.rows:
            if isinstance(row, RowError):
                yield row
                continue
            line, cells = row
            try:
                yield from rows.records_of(line, cells)
            except BadCell as problem:
                yield replace(row_error(table.name, line, problem), cells=cells)


def check_fields(layout: str, mapping: Mapping[str, str]) -> None:
    """FormatError for fields that the layout does not have, lacks, or that do not go together."""
    known = {target.slug: target for target in LAYOUTS[layout]}
    unknown = [slug for slug in mapping if slug not in known]
    if unknown:
        raise FormatError(f"The mapping names unknown fields: {', '.join(unknown)}. There are {', '.join(known)}")
    missing = [slug for slug, target in known.items() if target.required and not mapping.get(slug)]
    if missing:
        raise FormatError(f"No column is chosen for {', '.join(missing)}")
    if mapping:
        check_once(mapping)
    PARTS[layout].check_mapping(mapping)


def _check_columns(table: OpenTable, mapping: Mapping[str, str]) -> None:
    if table.columns is None:
        return
    missing = [column for column in mapping.values() if column not in table.columns]
    if missing:
        raise FormatError(f"{table.name}: missing columns: {', '.join(missing)}. Found: {listed(table.columns)}")


def task_type_of(sources: list[SourceFile], options: Options) -> str:
    """The identifier of the task type that the labels of the table are of. FormatError where it cannot be read."""
    layout = layout_of(options.mapping)
    tells = PARTS[layout].task_type
    return tells(sources, options) if tells else TYPE_OF_LAYOUT[layout]


def read_as(mapping: Mapping[str, str], n_raters: int | None = None) -> list[str]:
    """The mapping in sentences."""
    words = ", ".join(f"{target.replace('_', ' ')} from {shorten(column)}" for target, column in mapping.items())
    found = [f"{words[0].upper()}{words[1:]}."] if words else []
    if "claim" in mapping and "claim_id" not in mapping:
        found.append(f"Rows with the same text in {shorten(mapping['claim'])} are one claim.")
    return found


def write(records: Iterable[Record], path: str | Path, layout: str = "claim-evidence", kind: str = "") -> int:
    """Write records that come as `read` yields them under the target fields' own names. Returns the number of rows.

    kind is tsv, csv, jsonl or parquet (default: what the path ends in). Metadata is not written. Keeps every claim or
    question in memory. Delimited text is escaped against spreadsheets.
    """
    kind = kind or Path(path).suffix.lstrip(".").lower()
    columns = tuple(target.slug for target in LAYOUTS[layout])
    rows = PARTS[layout].as_dicts(records)
    if kind in ("tsv", "csv"):
        return write_delimited(path, columns, (tuple(_cell(row.get(name)) for name in columns) for row in rows), kind)
    objects = ({name: row.get(name) for name in columns} for row in rows)
    if kind == "jsonl":
        return write_json_lines(path, objects)
    if kind == "parquet":
        types = dict.fromkeys(columns, "string") | ({"is_gold": "bool"} if "is_gold" in columns else {})
        types |= {"passages": "string list"} if "passages" in columns else {}
        return write_parquet(path, types, objects)
    raise ValueError(f"Tables are tsv, csv, jsonl or parquet, not {kind!r}")


def _cell(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else to_text(value, "")


INFO = Format(
    slug="table",
    title="Table with columns of your own",
    extensions=TEXT_TABLES,
    reader=read,
    detect=lambda head: LAST_RESORT if head.has_rows else 0,
    needs_mapping=True,
    read_as=read_as,
    task_type_of=task_type_of,
    needs_all_labels=needs_all_labels,
)
