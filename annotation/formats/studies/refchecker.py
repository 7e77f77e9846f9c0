"""RefChecker's human annotations: per model one JSON file of answers with claim-triplets and their labels.

Keys: question `setting/id`, its passages `setting/id/passage-N`, response `setting/model/id`, triplet
`setting/model/id/index` (N and index count from 0). Rows with triplets of several extractors have a set for each:
`setting/model/id/extractor:index`. Setting and model usually stand only in the path and are guessed
from it; `options` corrects them, and rows may carry them as `setting`, `model`, `dataset`. Texts are kept as they are,
literal quotes around triplet elements and duplicate triplets included. A response without triplets abstained.
`NAME_label` of a triplet, as RefChecker writes its checkers' labels (`gpt4_label`, `nli_label`), is a label of the
checker NAME; one that is no label of the question (`Abstain`) only stays in the triplet's metadata, with the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from annotation import incoming
from annotation.formats.cells import (
    BadCell,
    SeenKeys,
    SeenParents,
    accepted_labels,
    guess_label,
    to_key,
    to_list,
    to_object,
    to_text,
    unknown_label,
)
from annotation.formats.files.spreadsheets import write_json_lines
from annotation.formats.files.tables import open_tables
from annotation.formats.info import LIKELY, Format
from annotation.formats.records import (
    AnnotationRecord,
    DecisionRecord,
    EvidenceRecord,
    FormatError,
    JudgementRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    SuggestionRecord,
    TripletRecord,
    piece_key,
)
from annotation.formats.sources import Options, SourceFile

RATER = "RefChecker annotators"
LABELS = {
    "entailment": "Entailment",
    "neutral": "Neutral",
    "contradiction": "Contradiction",
    "bad_triplet": "bad_triplet",
}
# The data set that each setting is made from, for files that come without their folder.
SETTING_OF = {"nq": "zero_context", "msmarco": "noisy_context", "dolly": "accurate_context"}
KG = re.compile(r"(?P<extractor>.+)_response_kg\Z")
FILE_NAME = re.compile(r"(?:(?P<dataset>[A-Za-z0-9]+)_)?(?P<model>.+?)_answers\Z")
NAMES = ("setting", "model", "dataset")
ROW_KEYS = frozenset({"id", "response", "question", "context", *NAMES})
# A label that stands for the triplet without naming who gave it: Assay's exports have it, RefChecker's files do not.
DECIDED = "decided_label"
METHOD = "decided_method"  # what made it; `majority` is nobody's decision
TRIPLET_KEYS = frozenset({"triplet", "claim", "human_label", DECIDED, METHOD})
OF_CHECKER = re.compile(r"(?P<checker>.+)_label\Z")


@dataclass(frozen=True, slots=True)
class Names:
    setting: str = ""
    model: str = ""
    dataset: str = ""


def guess_names(name: str) -> Names:
    """Setting, model and data set as far as a path such as zero_context/nq_gpt4_answers.json tells them."""
    path = PurePosixPath(name.replace("\\", "/"))
    stem = re.sub(r"\.(jsonl?|ndjson)(\.gz)?\Z", "", path.name)
    match = FILE_NAME.match(stem)
    if match is None:
        return Names(setting=next((part for part in path.parts if part.endswith("_context")), ""))
    dataset, model = match["dataset"] or "", match["model"]
    if dataset and dataset not in SETTING_OF and path.parent.name not in SETTING_OF.values():
        dataset, model = "", f"{dataset}_{model}"  # the first word is part of the model's name
    setting = next((part for part in reversed(path.parts[:-1]) if part.endswith("_context")), "")
    return Names(setting or SETTING_OF.get(dataset, ""), model, dataset)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Questions, passages, responses, triplets and labels.

    Reads `options.setting`, `.model`, `.dataset`, `.per_file` and `.labels["entailment"]`. Raises FormatError where a
    file's setting or model is neither guessed nor given.
    """
    labels, limit = accepted_labels(options.labels, "entailment"), options.limits.key_chars
    seen, questions = SeenKeys(), _Questions()
    for table in open_tables(sources, options):
        seen.start(table.name)
        questions.start(table.name)
        names = names_of_file(table.name, options)
        yield from table.parsed(partial(_records_of, table.name, names, labels, seen, questions, limit))


def names_of_file(name: str, options: Options) -> Names:
    """What the user entered for this file, then for all files, then what its path says."""
    guessed = guess_names(name)
    entered = options.per_file.get(name, {})
    return Names(*(entered.get(what) or getattr(options, what) or getattr(guessed, what) for what in NAMES))


def _names_of_row(cells: dict, names: Names, file: str) -> Names:
    if any(what in cells for what in NAMES):
        names = Names(*(to_text(cells.get(what), what) or getattr(names, what) for what in NAMES))
    for what in ("setting", "model"):
        if not getattr(names, what):
            raise FormatError(
                f"{file}: the {what} is neither in the file's path nor in its rows; name it. "
                "A path such as zero_context/nq_gpt4_answers.json contains both."
            )
    return names


class _Questions:
    """Questions and their passages, which the files of all models of a setting repeat."""

    def __init__(self) -> None:
        self.texts = SeenParents("question", ("question",))
        self.contexts = SeenParents("question", ("context",))
        self.bare = SeenParents("question", ())

    def start(self, file: str) -> None:
        for parents in (self.texts, self.contexts, self.bare):
            parents.start(file)

    def records_of(self, key: str, cells: dict, line: int) -> list[Record]:
        text = to_text(cells.get("question"), "question")
        passages = _passages(cells.get("context"))
        known = self.bare.knows(key)
        if known:
            # Only the first row about a question can bring its text, since later rows may not change it.
            for parents, value, column in ((self.texts, text, "question"), (self.contexts, passages, "context")):
                if value and not parents.knows(key):
                    reason = "was missing where this question came first; read the files that have it before the others"
                    raise BadCell(column, cells[column], reason)
        if text:
            self.texts.is_new(key, (text,), line)
        if passages:
            self.contexts.is_new(key, (passages,), line)
        if not self.bare.is_new(key, (), line):
            return []
        context = [
            EvidenceRecord(f"{key}/passage-{index}", passage, question=key, rank=index + 1)
            for index, passage in enumerate(passages)
        ]
        return [QuestionRecord(key, text), *context]


def _passages(context: object) -> tuple[str, ...]:
    if context is None or context == "":
        return ()
    passages = [context] if isinstance(context, str) else context
    if not isinstance(passages, list) or not all(isinstance(passage, str) and passage.strip() for passage in passages):
        raise BadCell("context", context, "is not a list of passages")
    return tuple(to_text(passage, "context") for passage in passages)


def _records_of(
    file: str,
    of_file: Names,
    labels: tuple[str, ...],
    seen: SeenKeys,
    questions: _Questions,
    limit: int,
    line: int,
    cells: dict,
) -> list[Record]:
    names = _names_of_row(cells, of_file, file)
    identifier = to_key(cells.get("id"), "id", limit)
    question_key = f"{names.setting}/{identifier}"
    key = f"{names.setting}/{names.model}/{identifier}"
    if "response" not in cells:
        raise BadCell("response", "", "is missing")
    text = to_text(cells["response"], "response")
    columns = {name: match["extractor"] for name in cells if (match := KG.match(name))}
    if not columns:
        raise BadCell("", "none", "is the list of <extractor>_response_kg columns; at least one is needed")
    triplets, judgements, others = [], [], []
    for column, extractor in columns.items():
        piece_set = _set_named(extractor, column) if len(columns) > 1 else ""
        of_set, labelled, predicted = _triplets_of(cells[column], column, key, labels, piece_set)
        triplets, judgements, others = triplets + of_set, judgements + list(labelled), others + predicted
    if not text.strip() and triplets:
        raise BadCell("response", text, "is empty, but has triplets")
    metadata = {name: value for name, value in cells.items() if name not in ROW_KEYS and name not in columns}
    metadata["extractor"] = next(iter(columns.values())) if len(columns) == 1 else list(columns.values())
    if names.dataset:
        metadata["dataset"] = names.dataset

    seen.add(key, "id", line)
    records: list[Record] = questions.records_of(question_key, cells, line)
    records.append(
        ResponseRecord(
            key, text, question=question_key, model=names.model, context_setting=names.setting, metadata=metadata
        )
    )
    records.extend(triplets)
    if judgements:
        records.append(AnnotationRecord(key, RATER, tuple(judgements), rater_kind="slot"))
    records.extend(others)
    return records


def _triplets_of(
    kg: object, column: str, response: str, labels: tuple[str, ...], piece_set: str = ""
) -> tuple[list[TripletRecord], tuple[JudgementRecord, ...], list[DecisionRecord | SuggestionRecord]]:
    triplets, judgements, others = [], [], []
    for index, entry in enumerate([] if kg is None else to_list(kg, column)):
        path = f"{column}[{index}]"
        entry = to_object(entry, path)
        where = "triplet" if "triplet" in entry else "claim"
        parts = entry.get(where)
        if not isinstance(parts, list) or len(parts) != 3 or not all(isinstance(part, str) for part in parts):
            raise BadCell(f"{path}.{where}", parts, "is not a list of three texts")
        key = piece_key(response, index, piece_set=piece_set)
        extra = {name: value for name, value in entry.items() if name not in TRIPLET_KEYS}
        head, relation, tail = (to_text(part, path) for part in parts)
        triplets.append(TripletRecord(key, response, index, head, relation, tail, extra, piece_set))
        if label := _label_of(entry, "human_label", path, labels):
            judgements.append(JudgementRecord(key, "entailment", label))
        if label := _label_of(entry, DECIDED, path, labels):
            method = entry.get(METHOD) or "imported"
            if not isinstance(method, str):
                raise BadCell(f"{path}.{METHOD}", method, "is not a text")
            if method != "majority":
                others.append(DecisionRecord(key, "entailment", label, method))
        for name, value in extra.items():
            match = OF_CHECKER.match(name) if isinstance(value, str) else None
            if match and (label := guess_label(value, "entailment", labels)):
                others.append(SuggestionRecord(key, match["checker"], "entailment", label))
    return triplets, tuple(judgements), others


def _set_named(extractor: str, column: str) -> str:
    try:
        return incoming.piece_set(extractor)
    except incoming.Refused as refused:
        raise BadCell(column, extractor, str(refused)) from None


def _label_of(entry: dict, name: str, path: str, labels: tuple[str, ...]) -> str | None:
    value = entry.get(name)
    if not value:
        return None
    label = guess_label(value, "entailment", labels) if isinstance(value, str) else None
    if label is None:
        raise unknown_label(value, f"{path}.{name}", labels)
    return label


@dataclass(slots=True)
class RefCheckerRow:
    """One response as it is written. A triplet is (head, relation, tail, label or None, other values); `extractor` is
    the column of those without a set, and `sets` have the names of the sets of the others, by their place."""

    setting: str
    model: str
    id: str
    response: str
    dataset: str = ""
    question: str = ""
    context: tuple[str, ...] = ()
    extractor: str = "claude2"
    triplets: list[tuple[str, str, str, str | None, dict]] = field(default_factory=list)
    sets: tuple[str, ...] = ()  # columns that there are, where triplets belong to sets
    set_of: dict[int, str] = field(default_factory=dict)  # place of a triplet -> its set
    metadata: dict = field(default_factory=dict)


def rows_of(records: Iterable[Record]) -> Iterator[RefCheckerRow]:
    """Rows from records that come as `read` yields them. Keeps every question with its passages in memory."""
    questions: dict[str, QuestionRecord] = {}
    contexts: dict[str, list[str]] = {}
    row: RefCheckerRow | None = None
    positions: dict[str, int] = {}
    for record in records:
        match record:
            case QuestionRecord():
                questions[record.key] = record
            case EvidenceRecord():
                contexts.setdefault(record.question, []).append(record.text)
            case ResponseRecord():
                if row is not None:
                    yield row
                extra = dict(record.metadata)
                row = RefCheckerRow(
                    setting=record.context_setting,
                    model=record.model,
                    id=record.key.removeprefix(f"{record.context_setting}/{record.model}/"),
                    response=record.text,
                    dataset=extra.pop("dataset", ""),
                    question=questions[record.question].text,
                    context=tuple(contexts.get(record.question, ())),
                    extractor=extra.pop("extractor", "claude2"),
                    metadata=extra,
                )
                if isinstance(row.extractor, list):
                    row.sets, row.extractor = tuple(row.extractor), ""
                positions = {}
            case TripletRecord():
                positions[record.key] = len(row.triplets)
                if record.piece_set:
                    row.set_of[len(row.triplets)] = record.piece_set
                row.triplets.append((record.head, record.relation, record.tail, None, record.metadata))
            case AnnotationRecord():
                for judgement in record.judgements:
                    at = positions[judgement.unit]
                    head, relation, tail, _, extra = row.triplets[at]
                    row.triplets[at] = (head, relation, tail, judgement.label, extra)
            case RowError():
                raise ValueError(f"{record.file}, line {record.line}: {record.column} {record.reason}")
    if row is not None:
        yield row


def write(rows: Iterable[RefCheckerRow], path: str | Path, names: bool = True) -> int:
    """Write one JSON object per line. Returns the number of rows.

    With `names` every row says its setting, model and data set, so that one file holds several models; without, the
    rows have RefChecker's own layout and the path must say them.
    """
    return write_json_lines(path, (as_object(row, names) for row in rows))


def as_object(row: RefCheckerRow, names: bool = True) -> dict:
    """The row as it stands in a file; see `write` for `names`."""
    result: dict = {}
    if names:
        result |= {what: getattr(row, what) for what in NAMES if getattr(row, what)}
    result["id"] = row.id
    if row.question:
        result["question"] = row.question
    if row.context:
        result["context"] = list(row.context)
    result["response"] = row.response
    result |= row.metadata
    columns = {name: [] for name in row.sets or [row.extractor]}
    for place, (head, relation, tail, label, extra) in enumerate(row.triplets):
        human_label = {"human_label": LABELS.get(label, label)} if label else {}
        column = columns.setdefault(row.set_of.get(place, row.extractor or "unnamed"), [])
        column.append({"triplet": [head, relation, tail]} | human_label | extra)
    return result | {f"{name}_response_kg": triplets for name, triplets in columns.items()}


def fits(columns: Iterable) -> bool:
    return "response" in columns and any(KG.fullmatch(str(column)) for column in columns)


INFO = Format(
    slug="refchecker",
    title="RefChecker human annotations",
    extensions=(".json", ".jsonl"),
    reader=read,
    detect=lambda head: LIKELY if fits(head.columns) else 0,
    is_of_exports=True,
    task_type="triplets/-/1",
)
