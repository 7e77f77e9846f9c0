"""DRUID and DRUID+: one row per claim and piece of evidence, as TSV, CSV, JSON Lines or Parquet.

Keys: the claim's is `claim_id`, the evidence's (the unit's) is `id`. `relevant` and `evidence_stance` become decisions.
Nothing of the 13 values is lost: what has no field of its own, or is written in an unusual way, goes to the evidence's
metadata under the column's name, and `druid_row` puts it back. Dates are YYYY-MM-DD, empty or "-". Missing values are
one thing: empty in delimited text, null in JSON and Parquet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from operator import itemgetter
from pathlib import Path

from annotation.formats.cells import (
    BadCell,
    SeenKeys,
    SeenParents,
    accepted_labels,
    required_text,
    to_bool,
    to_date,
    to_key,
    to_text,
    unknown_label,
)
from annotation.formats.files.spreadsheets import write_delimited, write_json_lines, write_parquet
from annotation.formats.files.tables import OpenTable, listed, open_tables
from annotation.formats.info import TEXT_TABLES, Format, has_columns
from annotation.formats.records import ClaimRecord, DecisionRecord, EvidenceRecord, FormatError, Record, RowError
from annotation.formats.sources import Options, SourceFile

COLUMNS = (
    "id",
    "claim_id",
    "claim_source",
    "claim",
    "claimant",
    "claim_date",
    "evidence_source",
    "evidence",
    "evidence_date",
    "factcheck_verdict",
    "is_gold",
    "relevant",
    "evidence_stance",
)
TYPES = dict.fromkeys(COLUMNS, "text") | dict.fromkeys(("is_gold", "relevant"), "boolean")
LABEL_COLUMNS = ("relevant", "evidence_stance")  # absent from DRUID+
REQUIRED = tuple(column for column in COLUMNS if column not in LABEL_COLUMNS)
MISSPELT = {"evidence_data": "evidence_date"}  # as one of the public dataset cards has it
NOT_APPLICABLE = "not_applicable"
RANKS = re.compile(r"_ret_b([0-9]{1,9}|n)_g([0-9]{1,9}|n)\Z")
CLAIM_FIELDS = ("claim", "claimant", "claim_date", "claim_source", "factcheck_verdict")
_KNOWN = frozenset(COLUMNS) | MISSPELT.keys()
_claim_cells = itemgetter("claim_id", *CLAIM_FIELDS)
_URL = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class DruidRow:
    """One row as it is written. Dates are text, "" where unknown; None stands for a missing truth value or label."""

    id: str
    claim_id: str
    claim_source: str
    claim: str
    claimant: str
    claim_date: str
    evidence_source: str
    evidence: str
    evidence_date: str
    factcheck_verdict: str
    is_gold: bool | None
    relevant: bool | None = None
    evidence_stance: str | None = None


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Records of DRUID files. Reads `options.labels["stance"]` and `["relevance"]`; without them, the six stances
    and not_enough_info are accepted. Raises FormatError for a file that is none, yields RowError for a bad row.
    """
    stances = accepted_labels(options.labels, "stance")
    seen = SeenKeys()
    claims = _Claims(options.limits.key_chars)
    limit = options.limits.key_chars
    for table in open_tables(sources, options):
        seen.start(table.name)
        claims.start(table.name)
        extras = _check_header(table)
        yield from table.parsed(partial(_records_of, table.columns is None, extras, stances, seen, claims, limit))


class _Claims(SeenParents):
    """The claims that rows repeat. Most rows repeat the one of the row before, whose cells are not looked at again."""

    def __init__(self, key_chars: int):
        super().__init__("claim", CLAIM_FIELDS)
        self.key_chars = key_chars
        self.cells: tuple = ()
        self.claim: ClaimRecord | None = None

    def parse(self, row: dict) -> ClaimRecord:
        cells = _claim_cells(row)
        if cells != self.cells or self.claim is None:
            key, text, claimant, day, source, verdict = cells
            self.claim = ClaimRecord(
                key=to_key(key, "claim_id", self.key_chars),
                text=required_text(text, "claim"),
                claimant=to_text(claimant, "claimant"),
                date=to_date(day, "claim_date"),
                source=to_text(source, "claim_source"),
                verdict=to_text(verdict, "factcheck_verdict"),
                metadata={"claim_date": "-"} if day == "-" else {},
            )
            self.cells = cells
        return self.claim

    def is_new_claim(self, claim: ClaimRecord, line: int) -> bool:
        values = (claim.text, claim.claimant, claim.date, claim.source, claim.verdict)
        return self.is_new(claim.key, values, line)


def _check_header(table: OpenTable) -> tuple[str, ...]:
    """Columns that are not DRUID's own. JSON rows are looked at one by one."""
    if table.columns is None:
        return ()
    columns = {MISSPELT.get(column, column) for column in table.columns}
    missing = [column for column in REQUIRED if column not in columns]
    if missing:
        raise FormatError(
            f"{table.name}: these columns are missing: {', '.join(missing)}. Found: {listed(table.columns)}"
        )
    if len(columns) < len(table.columns):
        raise FormatError(f"{table.name}: has both evidence_date and evidence_data; keep one of them")
    return tuple(column for column in table.columns if column not in _KNOWN)


def _records_of(
    names_columns: bool,
    extras: tuple[str, ...],
    stances: tuple[str, ...],
    seen: SeenKeys,
    claims: _Claims,
    limit: int,
    line: int,
    cells: dict,
) -> list[Record]:
    if names_columns:
        absent = [column for column in REQUIRED if column not in cells and column not in MISSPELT.values()]
        if absent:
            raise BadCell(absent[0], "", f"is missing; the row has {listed(tuple(cells))}")
        extras = tuple(column for column in cells if column not in _KNOWN)
    get = cells.get
    key = to_key(cells["id"], "id", limit)
    claim = claims.parse(cells)
    evidence_text = required_text(cells["evidence"], "evidence")
    raw_evidence_date = cells["evidence_date"] if "evidence_date" in cells else get("evidence_data")
    evidence_date = to_date(raw_evidence_date, "evidence_date")
    is_gold = to_bool(cells["is_gold"], "is_gold")
    relevant = to_bool(get("relevant"), "relevant")
    raw_stance = get("evidence_stance") or ""
    stance = "" if raw_stance in (NOT_APPLICABLE, "-") else to_text(raw_stance, "evidence_stance")
    if stance and stance not in stances:
        raise unknown_label(raw_stance, "evidence_stance", (*stances, NOT_APPLICABLE))
    if stance and relevant is False:
        raise BadCell("evidence_stance", stance, f"is a stance where relevant is false; expected {NOT_APPLICABLE}")

    metadata = {column: cells[column] for column in extras if cells[column] not in ("", None)}
    if raw_evidence_date == "-":
        metadata["evidence_date"] = "-"
    if raw_stance != stance and not (relevant is False and raw_stance == NOT_APPLICABLE):
        metadata["evidence_stance"] = raw_stance
    elif relevant is False and not raw_stance:
        metadata["evidence_stance"] = ""
    rank = None
    if ranks := RANKS.search(key):
        named = zip(("rank_b", "rank_g"), ranks.groups(), strict=True)
        counts = {name: int(value) for name, value in named if value != "n"}
        metadata.update(counts)
        rank = min(counts.values(), default=None)
    source = to_text(cells["evidence_source"], "evidence_source")
    is_url = source.startswith(_URL)

    seen.add(key, "id", line)
    records: list[Record] = [claim] if claims.is_new_claim(claim, line) else []
    records.append(
        EvidenceRecord(
            key,
            evidence_text,
            claim.key,
            None,
            source if is_url else "",
            "" if is_url else source,
            evidence_date,
            is_gold,
            rank,
            metadata,
        )
    )
    if relevant is not None:
        records.append(DecisionRecord(key, "relevance", "relevant" if relevant else "not_relevant"))
    if stance:
        records.append(DecisionRecord(key, "stance", stance))
    return records


def druid_row(
    claim: ClaimRecord, evidence: EvidenceRecord, relevance: str | None = None, stance: str | None = None
) -> DruidRow:
    """The row that a claim and a piece of evidence were read from, with these labels.

    An irrelevant piece without stance is written as not_applicable, as DRUID has it.
    """
    relevant = None if relevance is None else relevance == "relevant"
    if stance is None:
        stance = evidence.metadata.get("evidence_stance", NOT_APPLICABLE if relevant is False else None) or None
    return DruidRow(
        id=evidence.key,
        claim_id=claim.key,
        claim_source=claim.source,
        claim=claim.text,
        claimant=claim.claimant,
        claim_date=_date_text(claim.date, claim.metadata, "claim_date"),
        evidence_source=evidence.url or evidence.publisher,
        evidence=evidence.text,
        evidence_date=_date_text(evidence.date, evidence.metadata, "evidence_date"),
        factcheck_verdict=claim.verdict,
        is_gold=evidence.is_gold,
        relevant=relevant,
        evidence_stance=stance,
    )


def _date_text(value: date | None, metadata: dict, column: str) -> str:
    return value.isoformat() if value is not None else metadata.get(column, "")


def rows_of(records: Iterable[Record]) -> Iterator[DruidRow]:
    """Rows from records in the order in which `read` yields them (each evidence followed by its decisions).

    Keeps every claim in memory. Raises ValueError on a RowError: rows that could not be read cannot be written.
    """
    claims: dict[str, ClaimRecord] = {}
    evidence: EvidenceRecord | None = None
    labels: dict[str, str] = {}
    for record in records:
        match record:
            case RowError():
                raise ValueError(f"{record.file}, line {record.line}: {record.column} {record.reason}")
            case ClaimRecord():
                claims[record.key] = record
            case DecisionRecord():
                labels[record.dimension] = record.label
            case EvidenceRecord():
                if evidence is not None:
                    yield druid_row(claims[evidence.claim], evidence, labels.get("relevance"), labels.get("stance"))
                evidence, labels = record, {}
    if evidence is not None:
        yield druid_row(claims[evidence.claim], evidence, labels.get("relevance"), labels.get("stance"))


def write(rows: Iterable[DruidRow], path: str | Path, kind: str = "") -> int:
    """Write rows as kind tsv, csv, jsonl or parquet (default: what the path ends in), streamed. Returns their number.

    Delimited text is escaped against spreadsheets as `spreadsheets` describes; the others hold texts as they are.
    """
    kind = kind or Path(path).suffix.lstrip(".").lower()
    if kind in ("tsv", "csv"):
        return write_delimited(path, COLUMNS, map(_cells, rows), kind)
    if kind == "jsonl":
        return write_json_lines(path, map(as_object, rows))
    if kind == "parquet":
        named = {"boolean": "bool", "text": "string"}
        return write_parquet(path, {column: named[TYPES[column]] for column in COLUMNS}, map(as_object, rows))
    raise ValueError(f"DRUID files are tsv, csv, jsonl or parquet, not {kind!r}")


_BOOL_TEXT = {True: "True", False: "False", None: ""}


def _cells(row: DruidRow) -> tuple[str, ...]:
    return (
        row.id,
        row.claim_id,
        row.claim_source,
        row.claim,
        row.claimant,
        row.claim_date,
        row.evidence_source,
        row.evidence,
        row.evidence_date,
        row.factcheck_verdict,
        _BOOL_TEXT[row.is_gold],
        _BOOL_TEXT[row.relevant],
        row.evidence_stance or "",
    )


def as_object(row: DruidRow) -> dict:
    """The row as it stands in JSON Lines and Parquet."""
    values = {name: getattr(row, name) for name in _NAMES}
    values["claim_date"] = row.claim_date or None
    values["evidence_date"] = row.evidence_date or None
    values["evidence_stance"] = row.evidence_stance or None
    return values


def from_object(values: dict) -> DruidRow:
    """The row that `as_object` made this from."""
    dates = {name: values[name] or "" for name in ("claim_date", "evidence_date")}
    return DruidRow(**values | dates)


_NAMES = tuple(field.name for field in fields(DruidRow))


INFO = Format(
    slug="druid",
    title="DRUID / DRUID+",
    extensions=TEXT_TABLES,
    reader=read,
    detect=has_columns("id claim_id claim evidence evidence_source factcheck_verdict"),
    is_of_exports=True,
    task_type="claim-evidence/six-way/1",
)
