"""A table whose columns the user names: claims with evidence, or responses with triplets, one per row.

`options.mapping` says which column holds which target field (see `table_mapping`); other columns go to metadata. A
missing id is derived from the content, so the same content has the same key in every file:

    claim     claim_id              or  c-<hash of claim and claimant>
    evidence  claim key/evidence_id or  claim key/e-<hash of evidence and URL>
    question  [setting/]question_id or  [setting/]q-<hash of the question>
    response  [setting/][model/]response_id, or question_id, or r-<hash of question and response>
    triplet   response key/index; passage: question key/passage-index (both count from 0)

Labels say nothing of who gave them and so become decisions. `options.values` maps a file's values to labels; others are
matched without regard to case, underscores and hyphens, and by usual other spellings. Empty, "-" and not_applicable are
no label.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from .cells import (
    BadCell,
    SeenKeys,
    SeenParents,
    accepted_labels,
    digest,
    guess_label,
    normal,
    required_text,
    row_error,
    to_bool,
    to_date,
    to_key,
    to_text,
    unknown_label,
)
from .records import (
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    FormatError,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    TripletRecord,
)
from .sources import Options, Source
from .spreadsheets import write_delimited, write_json_lines, write_parquet
from .table_mapping import LAYOUTS, Preview, guess_mapping, layout_of, preview
from .tables import Table, listed, open_tables

__all__ = ["guess_mapping", "layout_of", "preview", "Preview", "read", "write"]

NO_LABEL = frozenset({"", "-", "not applicable"})
TRIPLET_PARTS = ("head", "relation", "tail")


def read(sources: list[Source], options: Options) -> Iterator[Record]:
    """Records of the rows. Reads `options.mapping`, `.values`, `.labels` and `.passage_separator`.

    Raises FormatError for a mapping that names unknown fields, absent columns, or lacks a required field.
    """
    layout = layout_of(options.mapping)
    _check_mapping(layout, options.mapping)
    rows = LAYOUT_READERS[layout](options)
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
                yield row_error(table.name, line, problem)


def _check_mapping(layout: str, mapping: Mapping[str, str]) -> None:
    known = {target.slug: target for target in LAYOUTS[layout]}
    unknown = [slug for slug in mapping if slug not in known]
    if unknown:
        raise FormatError(f"The mapping names unknown fields: {', '.join(unknown)}. There are {', '.join(known)}")
    missing = [slug for slug, target in known.items() if target.required and not mapping.get(slug)]
    if missing:
        raise FormatError(f"No column is chosen for {', '.join(missing)}")
    parts = [part for part in TRIPLET_PARTS if part in mapping]
    if parts and len(parts) < len(TRIPLET_PARTS):
        raise FormatError(f"A triplet needs columns for {', '.join(TRIPLET_PARTS)}; only {', '.join(parts)} is chosen")
    if "label" in mapping and not parts:
        raise FormatError("A label needs a triplet: choose columns for head, relation and tail")


def _check_columns(table: Table, mapping: Mapping[str, str]) -> None:
    if table.columns is None:
        return
    missing = [column for column in mapping.values() if column not in table.columns]
    if missing:
        raise FormatError(f"{table.name}: missing columns: {', '.join(missing)}. Found: {listed(table.columns)}")


class _Rows:
    """What both layouts share: cells by target field, labels, and what stood on earlier rows."""

    def __init__(self, options: Options):
        self.options, self.mapping, self.limit = options, dict(options.mapping), options.limits.key_chars
        self.mapped = frozenset(self.mapping.values())
        self.seen = SeenKeys()
        self.values = {target: {normal(k): v for k, v in values.items()} for target, values in options.values.items()}

    def get(self, cells: dict, target: str) -> object:
        return cells.get(self.mapping.get(target))

    def column(self, target: str) -> str:
        return self.mapping.get(target, target)

    def text(self, cells: dict, target: str) -> str:
        return to_text(self.get(cells, target), self.column(target))

    def required(self, cells: dict, target: str) -> str:
        return required_text(self.get(cells, target), self.column(target))

    def key(self, cells: dict, target: str) -> str:
        """The id in the row; "" where the column is not mapped. A mapped id must be there."""
        return to_key(self.get(cells, target), self.column(target), self.limit) if target in self.mapping else ""

    def label(self, cells: dict, target: str, dimension: str) -> str | None:
        value = self.text(cells, target)
        spelling = normal(value)
        chosen = self.values.get(target, {}).get(spelling)
        if chosen == "" or (chosen is None and spelling in NO_LABEL):
            return None
        accepted = accepted_labels(self.options.labels, dimension)
        label = guess_label(value, dimension, accepted) if chosen is None else chosen
        if label not in accepted:
            raise unknown_label(value, self.column(target), accepted)
        return label

    def metadata(self, cells: dict) -> dict:
        unmapped = ((name, value) for name, value in cells.items() if name not in self.mapped)
        return {name: _plain(value) for name, value in unmapped if value is not None and value != ""}


def _plain(value: object) -> object:
    """A value that JSON has: Parquet brings dates, decimals and bytes."""
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return None if value is None else str(value)


def _hash(prefix: str, *parts: str) -> str:
    return f"{prefix}-{digest(*parts).hex()[:20]}"


class _ClaimEvidenceRows(_Rows):
    def __init__(self, options: Options):
        super().__init__(options)
        names = ("claim", "claimant", "claim_date", "claim_source", "verdict")
        self.claims = SeenParents("claim", tuple(self.column(name) for name in names))

    def start(self, file: str) -> None:
        self.seen.start(file)
        self.claims.start(file)

    def records_of(self, line: int, cells: dict) -> list[Record]:
        claim_text, evidence_text = self.required(cells, "claim"), self.required(cells, "evidence")
        claimant = self.text(cells, "claimant")
        claim_key = self.key(cells, "claim_id") or _hash("c", claim_text, claimant)
        url = self.text(cells, "evidence_url")
        publisher = self.text(cells, "publisher")
        if url and not url.startswith(("http://", "https://")):
            # A column of sources holds URLs and names together.
            url, publisher = "", publisher or url
        key = f"{claim_key}/{self.key(cells, 'evidence_id') or _hash('e', evidence_text, url)}"
        claim = ClaimRecord(
            claim_key,
            claim_text,
            claimant,
            to_date(self.get(cells, "claim_date"), self.column("claim_date")),
            self.text(cells, "claim_source"),
            self.text(cells, "verdict"),
        )
        evidence = EvidenceRecord(
            key,
            evidence_text,
            claim=claim_key,
            url=url,
            publisher=publisher,
            date=to_date(self.get(cells, "evidence_date"), self.column("evidence_date")),
            is_gold=to_bool(self.get(cells, "is_gold"), self.column("is_gold")),
            metadata=self.metadata(cells),
        )
        labels = [(dimension, self.label(cells, dimension, dimension)) for dimension in ("relevance", "stance")]
        self.seen.add(key, self.column("evidence_id" if "evidence_id" in self.mapping else "evidence"), line)
        values = (claim.text, claim.claimant, claim.date, claim.source, claim.verdict)
        parents: list[Record] = [claim] if self.claims.is_new(claim_key, values, line) else []
        return [*parents, evidence, *(DecisionRecord(key, dimension, label) for dimension, label in labels if label)]


class _ResponseRows(_Rows):
    def __init__(self, options: Options):
        super().__init__(options)
        self.questions = SeenParents("question", (self.column("question"), self.column("passages")))
        self.responses = SeenParents("response", (self.column("response"), self.column("question")))
        self.counts: dict[bytes, int] = {}  # triplets so far of a response

    def start(self, file: str) -> None:
        for seen in (self.seen, self.questions, self.responses):
            seen.start(file)

    def records_of(self, line: int, cells: dict) -> list[Record]:
        text = self.required(cells, "response")
        question, setting, model = (self.text(cells, name) for name in ("question", "setting", "model"))
        question_id = self.key(cells, "question_id")
        question_key = _join(setting, question_id or _hash("q", question or text))
        key = _join(setting, model, self.key(cells, "response_id") or question_id or _hash("r", question, text))
        passages = self._passages(cells)
        triplet = self._triplet(cells)
        label = self.label(cells, "label", "entailment") if "label" in self.mapping else None
        if label and triplet is None:
            raise BadCell(self.column("label"), label, "is a label without a triplet")

        is_new_question = self.questions.is_new(question_key, (question, passages), line)
        is_new = self.responses.is_new(key, (text, question_key), line)
        records: list[Record] = []
        if is_new_question:
            records.append(QuestionRecord(question_key, question))
            records += [
                EvidenceRecord(f"{question_key}/passage-{index}", passage, question=question_key, rank=index + 1)
                for index, passage in enumerate(passages)
            ]
        metadata = self.metadata(cells)
        if is_new:
            own = {} if triplet else metadata
            records.append(
                ResponseRecord(key, text, question=question_key, model=model, context_setting=setting, metadata=own)
            )
        elif triplet is None:
            raise BadCell(self.column("response"), text, f"stands already on an earlier line as {key}")
        if triplet is not None:
            mark = digest(key)
            index = self.counts.get(mark, 0)
            self.counts[mark] = index + 1
            records.append(TripletRecord(f"{key}/{index}", key, index, *triplet, metadata))
            if label:
                records.append(DecisionRecord(f"{key}/{index}", "entailment", label))
        return records

    def _triplet(self, cells: dict) -> tuple[str, str, str] | None:
        """None where no triplet is mapped, or the row has none: a response that abstained."""
        if "head" not in self.mapping:
            return None
        parts = tuple(self.text(cells, part) for part in TRIPLET_PARTS)
        return parts if any(parts) else None

    def _passages(self, cells: dict) -> tuple[str, ...]:
        value = self.get(cells, "passages")
        if isinstance(value, str):
            value = _split(value, self.options.passage_separator)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(passage, str) for passage in value):
            raise BadCell(self.column("passages"), value, "is not a list of passages")
        return tuple(to_text(passage, self.column("passages")) for passage in value if passage.strip())


def _split(text: str, separator: str) -> list[str]:
    """A text cell's passages: a JSON list where it is one, else what stands between the separators."""
    if text.startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, list) and all(isinstance(passage, str) for passage in value):
            return value
    return text.replace("\r\n", "\n").split(separator) if separator else [text]


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


LAYOUT_READERS: dict[str, Callable[[Options], _ClaimEvidenceRows | _ResponseRows]] = {
    "claim-evidence": _ClaimEvidenceRows,
    "responses": _ResponseRows,
}


def write(records: Iterable[Record], path: str | Path, layout: str = "claim-evidence", kind: str = "") -> int:
    """Write records that come as `read` yields them under the target fields' own names. Returns the number of rows.

    kind is tsv, csv, jsonl or parquet (default: what the path ends in). Metadata is not written. Keeps every claim or
    question in memory. Delimited text is escaped against spreadsheets.
    """
    kind = kind or Path(path).suffix.lstrip(".").lower()
    columns = tuple(target.slug for target in LAYOUTS[layout])
    rows = LAYOUT_WRITERS[layout](records)
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


def _claim_evidence_dicts(records: Iterable[Record]) -> Iterator[dict]:
    claims: dict[str, ClaimRecord] = {}
    row: dict | None = None
    for record in records:
        match record:
            case ClaimRecord():
                claims[record.key] = record
            case EvidenceRecord():
                if row is not None:
                    yield row
                claim = claims[record.claim]
                row = {
                    "claim_id": claim.key,
                    "claim": claim.text,
                    "claimant": claim.claimant,
                    "claim_date": claim.date and claim.date.isoformat(),
                    "claim_source": claim.source,
                    "verdict": claim.verdict,
                    "evidence_id": record.key.removeprefix(claim.key + "/"),
                    "evidence": record.text,
                    "evidence_url": record.url,
                    "publisher": record.publisher,
                    "evidence_date": record.date and record.date.isoformat(),
                    "is_gold": record.is_gold,
                }
            case DecisionRecord():
                row[record.dimension] = record.label
    if row is not None:
        yield row


def _response_dicts(records: Iterable[Record]) -> Iterator[dict]:
    questions: dict[str, QuestionRecord] = {}
    passages: dict[str, list[str]] = {}
    response: dict | None = None  # waiting to be written, alone or with its triplets
    row: dict | None = None
    for record in records:
        match record:
            case QuestionRecord():
                questions[record.key] = record
            case EvidenceRecord():
                passages.setdefault(record.question, []).append(record.text)
            case ResponseRecord():
                if row is not None:
                    yield row
                names = _join(record.context_setting, record.model)
                row = response = {
                    "question_id": record.question.removeprefix(f"{record.context_setting}/"),
                    "question": questions[record.question].text,
                    "response_id": record.key.removeprefix(f"{names}/"),
                    "response": record.text,
                    "model": record.model,
                    "setting": record.context_setting,
                    "passages": passages.get(record.question, []),
                }
            case TripletRecord():
                if row is not response:
                    yield row
                row = response | {"head": record.head, "relation": record.relation, "tail": record.tail}
            case DecisionRecord():
                row["label"] = record.label
    if row is not None:
        yield row


LAYOUT_WRITERS: dict[str, Callable[[Iterable[Record]], Iterator[dict]]] = {
    "claim-evidence": _claim_evidence_dicts,
    "responses": _response_dicts,
}
