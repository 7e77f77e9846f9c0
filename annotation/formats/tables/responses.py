"""Rows of a response with one of its triplets, or with none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from annotation import incoming
from annotation.formats.cells import BadCell, SeenParents, digest, to_text
from annotation.formats.files.characters import mended
from annotation.formats.files.json_streams import decode_json, find_bad_string
from annotation.formats.records import (
    DecisionRecord,
    EvidenceRecord,
    FormatError,
    QuestionRecord,
    Record,
    ResponseRecord,
    TripletRecord,
    piece_key,
)
from annotation.formats.sources import Options
from annotation.formats.tables.rows import Rows, hashed

TRIPLET_PARTS = ("head", "relation", "tail")


def check_mapping(mapping: Mapping[str, str]) -> None:
    parts = [part for part in TRIPLET_PARTS if part in mapping]
    if parts and len(parts) < len(TRIPLET_PARTS):
        raise FormatError(f"A triplet needs columns for {', '.join(TRIPLET_PARTS)}; only {', '.join(parts)} is chosen")
    if "piece_set" in mapping and not parts:
        raise FormatError("A set needs a triplet: choose columns for head, relation and tail")
    if "label" in mapping and not parts:
        raise FormatError("A label needs a triplet: choose columns for head, relation and tail")


class ResponseRows(Rows):
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
        question_key = _join(setting, question_id or hashed("q", question or text))
        key = _join(setting, model, self.key(cells, "response_id") or question_id or hashed("r", question, text))
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
            raise BadCell(self.column("response"), text, f"already occurs on an earlier line as {key}")
        if triplet is not None:
            piece_set = self._set(cells)
            mark = digest(key, piece_set) if piece_set else digest(key)
            index = self.counts.get(mark, 0)
            self.counts[mark] = index + 1
            unit = piece_key(key, index, piece_set=piece_set)
            records.append(TripletRecord(unit, key, index, *triplet, metadata, piece_set))
            if label:
                records.append(DecisionRecord(unit, "entailment", label))
        return records

    def _triplet(self, cells: dict) -> tuple[str, str, str] | None:
        """None where no triplet is mapped, or the row has none: a response that abstained."""
        if "head" not in self.mapping:
            return None
        parts = tuple(self.text(cells, part) for part in TRIPLET_PARTS)
        return parts if any(parts) else None

    def _set(self, cells: dict) -> str:
        if "piece_set" not in self.mapping:
            return ""
        name = self.text(cells, "piece_set").strip()
        try:
            return incoming.piece_set(name)
        except incoming.Refused as refused:
            raise BadCell(self.column("piece_set"), name, str(refused)) from None

    def _passages(self, cells: dict) -> tuple[str, ...]:
        value = self.get(cells, "passages")
        if isinstance(value, str):
            value = mended("", None, _split(value, self.options.passage_separator), self.options)
            if find_bad_string(value):
                raise BadCell(self.column("passages"), self.get(cells, "passages"), incoming.BAD_CHARACTER)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(passage, str) for passage in value):
            raise BadCell(self.column("passages"), value, "is not a list of passages")
        return tuple(to_text(passage, self.column("passages")) for passage in value if passage.strip())


def _split(text: str, separator: str) -> list[str]:
    """A text cell's passages: a JSON list where it is one, else what stands between the separators."""
    if text.startswith("["):
        try:
            value = decode_json(text)
        except ValueError:
            value = None
        if isinstance(value, list) and all(isinstance(passage, str) for passage in value):
            return value
    return text.replace("\r\n", "\n").split(separator) if separator else [text]


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def response_dicts(records: Iterable[Record]) -> Iterator[dict]:
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
                row |= {"piece_set": record.piece_set} if record.piece_set else {}
            case DecisionRecord():
                row["label"] = record.label
    if row is not None:
        yield row
