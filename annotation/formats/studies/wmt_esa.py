"""WMT's error span annotations (ESA): JSON Lines, a row for each answer of an annotator about a segment.

    {"langs": "en-es", "line_id": 731, "src": "Initial …", "tgt": "Las solicitudes …", "doc_id": "test-en-speech_8bb",
     "domain": "speech", "esa_spans": [{"start_i": 31, "end_i": 42, "severity": "minor", "error_type": null}],
     "esa_score": "66", "system": "ONLINE-B", "annotator": "engspa7832"}

Offsets count the characters of the target, and `end_i` is the last one of the error. What is missing from the target
has no place there; it is a highlight of the whole source.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from annotation.formats.cells import BadCell, SeenParents, digest, number_in, required_text, to_key, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, Writer, has_columns
from annotation.formats.names import shown
from annotation.formats.records import (
    AnnotationRecord,
    JudgementRecord,
    LostRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    SpanRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tools.tasks import MARKED, NONE, milliseconds
from annotation.formats.tools.tool_tasks import WrittenQuestion, WrittenTask, append_line, number_or_text
from annotation.task_types.base import number_text

# Error span annotation (Kocmi et al. 2024, arXiv 2406.11580). What is missing is marked in the source.
ERRORS = {
    "slug": "errors",
    "title": "Errors",
    "question": "Mark each error in the translation, and in the source what is missing from it.",
    "level": "nominal",
    "labels": [{"value": "marked", "title": "Errors"}, {"value": "none", "title": "No error"}],
    "spans": {
        "title": "Errors",
        "fields": ["question", "response"],
        "required": True,  # with none, an answer of errors would weigh what one without errors does
        "labels": ["marked"],
        "severities": [
            {"value": "Minor", "title": "Minor", "weight": 1.0},
            {"value": "Major", "title": "Major", "weight": 5.0},
        ],
    },
}
SCORE = {
    "slug": "score",
    "title": "Score",
    "question": "How well does the translation preserve the meaning?",
    "answer": "number",
    "level": "interval",
    "number": {
        "min": 0.0,
        "max": 100.0,
        "step": 1.0,
        "anchors": [
            {"at": 0.0, "title": "No meaning preserved"},
            {"at": 33.0, "title": "Some meaning preserved"},
            {"at": 66.0, "title": "Most meaning preserved"},
            {"at": 100.0, "title": "Perfect meaning and grammar"},
        ],
    },
}
ESA = {
    "name": "Error spans and score",
    "version": 1,
    "page": "response",
    "summary": "Mark the errors of a translation, then score it.",
    "questions": [ERRORS, SCORE],
}
SOURCE, TARGET = ERRORS["spans"]["fields"]
# A span whose severity the annotator left open weighs nothing.
SEVERITIES = {"Undecided": 0.0} | {one["value"]: one["weight"] for one in ERRORS["spans"]["severities"]}
MISSING = "missing"
TWICE = "Missing parts that one annotator marked twice with one severity"
ABOUT = ("langs", "doc_id", "line_id", "domain", "speech_info")


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    reading = _Reading(options.limits.key_chars)
    for table in open_tables(sources, options):
        for seen in (reading.questions, reading.responses):
            seen.start(table.name)
        yield from table.parsed(partial(reading.records_of, table.name))
    if reading.n_twice:
        yield LostRecord(TWICE, reading.n_twice, reading.first)


class _Reading:
    def __init__(self, limit: int):
        self.limit = limit
        self.questions = SeenParents("source", ("src",))
        self.responses = SeenParents("segment", ("tgt",))
        self.revisions: Counter[bytes] = Counter()  # of an annotator's answers about a segment
        self.n_twice, self.first = 0, ""

    def records_of(self, file: str, line: int, cells: dict) -> Iterator[Record]:
        langs, doc, number, system, rater = (
            to_key(cells.get(name), name, self.limit) for name in ("langs", "doc_id", "line_id", "system", "annotator")
        )
        question = to_key(f"{langs}/{doc}/{number}", "doc_id", self.limit)
        item = to_key(f"{system}/{question}", "doc_id", self.limit)
        source, target = (required_text(cells.get(name), name) for name in ("src", "tgt"))
        judgements = tuple(self._judgements(cells, item, source, target, f"{file}, line {line:,}"))
        about = {"doc": doc} | {name: cells[name] for name in ABOUT if cells.get(name) is not None}
        if self.questions.is_new(question, (source,), line):
            yield QuestionRecord(question, source, metadata=about)
        if self.responses.is_new(item, (target,), line):
            yield ResponseRecord(item, target, question=question, model=system, metadata=about)
        self.revisions[place := digest(item, rater)] += 1
        more = {"revision": self.revisions[place], "active_ms": _active_ms(cells.get("times"))}
        yield AnnotationRecord(item, rater, judgements, **more)

    def _judgements(self, cells: dict, item: str, source: str, target: str, place: str) -> Iterator[JudgementRecord]:
        listed = cells.get("esa_spans") or []
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise BadCell("esa_spans", listed, "is not a list of objects")
        spans = [_span(one, source, target) for one in listed]
        found = sorted(set(spans), key=lambda one: (one.field, one.start, one.end, one.severity))
        if len(found) < len(spans):
            self.n_twice, self.first = self.n_twice + len(spans) - len(found), self.first or place
        yield JudgementRecord(item, ERRORS["slug"], MARKED if found else NONE, tuple(found))
        if text := to_text(cells.get("esa_score"), "esa_score").strip():
            yield JudgementRecord(item, SCORE["slug"], number_text(_score(text)))


def _span(one: dict, source: str, target: str) -> SpanRecord:
    severity = to_text(one.get("severity"), "severity").capitalize()
    if severity not in SEVERITIES:
        raise BadCell("esa_spans", severity, f"is a severity that is none of {', '.join(map(str.lower, SEVERITIES))}")
    start, last = one.get("start_i"), one.get("end_i")
    if start == last == MISSING:
        return SpanRecord(SOURCE, 0, len(source), source, "", severity)
    if type(start) is not int or type(last) is not int or not 0 <= start <= last <= len(target) or start == len(target):
        reason = f"is no place in the target, which has {len(target):,} characters"
        raise BadCell("esa_spans", f"{start} to {last}", reason)
    end = min(last + 1, len(target))  # some marks reach one character beyond the text
    return SpanRecord(TARGET, start, end, target[start:end], "", severity)


def _score(text: str) -> float:
    number = number_in(text)
    if number is None or not SCORE["number"]["min"] <= number <= SCORE["number"]["max"]:
        raise BadCell("esa_score", text, "is not a number from 0 to 100")
    return number


def _active_ms(times: object) -> int | None:
    if not isinstance(times, list) or len(times) != 2:
        return None
    begun, ended = (number_in(to_text(one, "times")) for one in times)
    return None if begun is None or ended is None else milliseconds(ended - begun)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """Error spans with the severities that occur, and a score, in whole numbers where all of them are."""
    made = copy.deepcopy(ESA) | {"name": shown(name)[:150] or "ESA"}
    errors, score = made["questions"]
    found: set[str] = set()
    for table in open_tables(sources, options):
        for _, cells in table.good_rows:
            listed = cells.get("esa_spans")
            for one in listed if isinstance(listed, list) else ():
                found.add(str(one.get("severity")).capitalize() if isinstance(one, dict) else "")
            with suppress(BadCell):  # the row is refused when it is read
                number = number_in(to_text(cells.get("esa_score"), "esa_score"))
                if number is not None and not number.is_integer():
                    score["number"].pop("step", None)
    severities = [{"value": one, "title": one, "weight": weight} for one, weight in SEVERITIES.items() if one in found]
    errors["spans"]["severities"] = severities or errors["spans"]["severities"]
    return made


# --- writing --------------------------------------------------------------------------------------------------------

FILE = "esa.jsonl"
LOSES = (
    "Labels and reasons of errors, and their places in the source, which become “missing”",
    "Answers to other questions than errors and one number",
    "Names: raters are called by their pseudonyms",
    "Texts other than the source and the target",
    "Times",
)


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    errors = next(one.slug for one in questions if one.has_severities)
    score = next((one.slug for one in questions if one.takes_number), "")
    (folder / FILE).touch()
    for task in tasks:
        about = {name: task.metadata.get(name) for name in ABOUT}
        tail = "/".join(str(about[name]) for name in ("langs", "doc_id", "line_id"))
        texts = {"src": task.texts.get(SOURCE, ""), "tgt": task.texts.get(TARGET, "")}
        for answers in task.people:
            [number] = answers.labels.get(score) or [""]
            line = {name: about[name] for name in ("langs", "line_id")} | texts | {"doc_id": about["doc_id"]}
            line |= {"domain": about["domain"], "esa_spans": [_written(one) for one in answers.spans.get(errors, ())]}
            line |= {
                "esa_score": number_or_text(number) if number else None,
                "system": task.key.removesuffix(f"/{tail}"),
            }
            append_line(folder / FILE, line | {"annotator": answers.who, "speech_info": about["speech_info"]})


def _written(span: SpanRecord) -> dict:
    place = (span.start, span.end - 1) if span.field == TARGET else (MISSING, MISSING)
    return dict(zip(("start_i", "end_i"), place, strict=True)) | {"severity": span.severity.lower(), "error_type": None}


INFO = Format(
    slug="wmt-esa",
    title="WMT error span annotations (ESA)",
    extensions=(".jsonl",),
    reader=read,
    detect=has_columns("langs line_id src tgt doc_id esa_spans esa_score system annotator"),
    label_set_of=label_set_of,
    writers={
        "wmt-esa": Writer(
            title="WMT error span annotations (ESA)", write=write, loses=LOSES, holds=lambda one: one.has_severities
        )
    },
)
