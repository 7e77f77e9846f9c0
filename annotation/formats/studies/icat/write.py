"""Writing ICAT's files: queries, annotations per model, qrels and the corpus. Results are ICAT's own to write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from annotation.formats.files.spreadsheets import write_json_lines
from annotation.formats.records import (
    AnnotationRecord,
    AspectRecord,
    DecisionRecord,
    EvidenceRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    response_aspect_key,
)

COVERED = "covered"
OF_ASPECTS = frozenset({"id"})
OF_PASSAGES = frozenset({"doc_id", "relevance", "aspects"})


def write(records: Iterable[Record], folder: str | Path) -> int:
    """Write records that come as `read` yields them into a folder; all are held in memory. Returns the number of rows.

    Labels of annotators are written by their names, `covered` is null where nobody labelled. Rows say their model, so
    that the names of files do not matter. Raises ValueError for a RowError.
    """
    folder = Path(folder)
    questions: dict[str, QuestionRecord] = {}
    aspects: dict[str, list[AspectRecord]] = {}
    responses: list[ResponseRecord] = []
    decided: dict[str, str] = {}
    labels: dict[str, dict[str, list[str]]] = {}
    passages: list[EvidenceRecord] = []
    for record in records:
        match record:
            case QuestionRecord():
                questions[record.key] = record
            case AspectRecord():
                aspects.setdefault(record.question, []).append(record)
            case ResponseRecord():
                responses.append(record)
            case DecisionRecord():
                decided[record.unit] = record.label
            case AnnotationRecord():
                covered = [judgement.unit for judgement in record.judgements if judgement.label == COVERED]
                labels.setdefault(record.item, {})[record.rater] = covered
            case EvidenceRecord():
                passages.append(record)
            case RowError():
                raise ValueError(f"{record.file}, line {record.line}: {record.column} {record.reason}")
    rows = write_json_lines(
        folder / "queries.jsonl",
        (
            {"query_id": key, "query": question.text, "subtopics": [_subtopic(a) for a in aspects.get(key, [])]}
            | question.metadata
            for key, question in questions.items()
        ),
    )
    for model in dict.fromkeys(response.model for response in responses):
        mine = [response for response in responses if response.model == model]
        rows += write_json_lines(
            folder / f"{quote(model, safe=' ')}.jsonl",
            [_annotation(each, questions, aspects.get(each.question, []), decided, labels) for each in mine],
        )
    if passages:
        rows += _write_passages(passages, folder)
    return rows


def _subtopic(aspect: AspectRecord) -> str | dict:
    if not aspect.metadata:
        return aspect.text
    more = {name: value for name, value in aspect.metadata.items() if name not in OF_ASPECTS}
    identifier = {"id": aspect.metadata["id"]} if "id" in aspect.metadata else {}
    return identifier | {"text": aspect.text} | more


def _annotation(
    response: ResponseRecord, questions: dict, aspects: list[AspectRecord], decided: dict, labels: dict
) -> dict:
    units = {response_aspect_key(response.key, aspect.key): aspect.text for aspect in aspects}
    covered: object = None
    if response.key in labels:
        covered = {rater: [units[unit] for unit in of_rater] for rater, of_rater in labels[response.key].items()}
    elif any(unit in decided for unit in units):
        covered = [text for unit, text in units.items() if decided.get(unit) == COVERED]
    return {
        "query_id": response.question,
        "query_description": questions[response.question].text,
        "model": response.model,
        "model_response": response.text,
        "subtopics": list(units.values()),
        "covered": covered,
    } | {name: value for name, value in response.metadata.items() if name != "icat"}


def _write_passages(passages: list[EvidenceRecord], folder: Path) -> int:
    ranked = sorted(passages, key=lambda passage: (passage.question, passage.rank or 0))
    rows = write_json_lines(
        folder / "qrels.jsonl",
        (
            {
                "query_id": passage.question,
                "doc_id": passage.metadata["doc_id"],
                "relevance": relevance,
                "subtopic_id": subtopic,
            }
            for passage in ranked
            for subtopic, relevance in passage.metadata["relevance"].items()
        ),
    )
    documents = {passage.metadata["doc_id"]: passage for passage in passages}
    return rows + write_json_lines(
        folder / "corpus.jsonl",
        (
            {"id": document, "contents": passage.text}
            | ({"url": passage.url} if passage.url else {})
            | {name: value for name, value in passage.metadata.items() if name not in OF_PASSAGES}
            for document, passage in documents.items()
        ),
    )
