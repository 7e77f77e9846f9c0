"""Logs of Inspect (`.json`, and `.eval`, a zip): samples with a model's answers, and scorers' results.

    {"eval": {"task", "model", …}, "samples": [{"id", "epoch", "input", "target", "output": {"completion"},
      "scores": {"includes": {"value": "C", "answer", "explanation"}}}]}

A sample is a question with its targets, the model's output an answer to it, each epoch one. A scorer is an outside
checker: C, I, P and N are labels of the question “grade”, numbers are scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from annotation.formats.cells import (
    BadCell,
    SeenKeys,
    SeenParents,
    required_text,
    row_error,
    to_key,
    to_object,
    to_text,
)
from annotation.formats.files.characters import storable
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.json_streams import JsonMembers, JsonValues
from annotation.formats.files.streams import TextReader
from annotation.formats.info import SURE, Format
from annotation.formats.records import (
    FormatError,
    LostRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    RowError,
    ScoreRecord,
    SuggestionRecord,
)
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools.tasks import model_name, shown

GRADE = "grade"
GRADES = {"C": "correct", "P": "partial", "I": "incorrect", "N": "no_answer"}
TITLES = {"correct": "Correct", "partial": "Partly correct", "incorrect": "Incorrect", "no_answer": "No answer"}
HEADER = "header.json"
SAMPLE_BYTES, ENTRIES = 128 * MIB, 200_000  # a sample holds everything that its model did
READ = {"id", "epoch", "input", "target", "choices", "output", "scores", "metadata", "attachments", "error"}
LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,.{0,200}?"eval"\s*:', re.DOTALL)
ATTACHMENT = "attachment://"


def is_log(names: list[str]) -> bool:
    """Whether an archive with these files is a log."""
    return HEADER in names or "_journal/start.json" in names


def looks_like_log(head: bytes) -> bool:
    """Whether a file begins as a log in JSON does."""
    return LOG.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


@dataclass(slots=True)
class _Log:
    name: str = ""
    task: str = ""
    model: str = ""
    lost: Counter[str] = field(default_factory=Counter)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Questions and answers as they come, with scorers' results for each."""
    questions, answers = SeenParents("question", ("input", "target")), SeenKeys()
    lost: Counter[str] = Counter()
    first: dict[str, str] = {}
    for log, line, sample in _samples(sources, options):
        if isinstance(sample, RowError):
            yield sample
            continue
        try:
            yield from _records(log, line, sample, questions, answers, options)
        except BadCell as problem:
            yield row_error(log.name, line, problem)
        for what, number in log.lost.items():
            first.setdefault(what, log.name)
            lost[what] += number
        log.lost.clear()
    for what, number in sorted(lost.items()):
        yield LostRecord(what, number, first[what])


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """One question about each answer, shown with the true answers if every sample has a target."""
    found, has_targets = {"C", "I"}, True
    for _, _, sample in _samples(sources, options):
        if isinstance(sample, dict):
            has_targets = has_targets and bool(sample.get("target"))
            scores = sample.get("scores")
            for score in scores.values() if isinstance(scores, dict) else ():
                found.add(str(score.get("value")) if isinstance(score, dict) else "")
    labels = [{"value": value, "title": TITLES[value]} for letter, value in GRADES.items() if letter in found]
    page = "graded-response" if has_targets else "response"
    question = {"slug": GRADE, "title": "Grade", "level": "nominal", "labels": labels}
    return {"name": shown(name)[:150] or "Grades", "version": 1, "page": page, "summary": "", "questions": [question]}


def _samples(sources: list[SourceFile], options: Options) -> Iterator[tuple[_Log, int, dict | RowError]]:
    options = replace(options, limits=replace(options.limits, record_bytes=SAMPLE_BYTES, entries=ENTRIES))
    for source in sources:
        names = [entry.filename for entry in entries_of(source)]
        if is_log(names):
            yield from _of_archive(source, names, options)
            continue
        for blob in open_blobs([source], options):
            log = _Log(blob.name)
            with closing(iter(JsonMembers(TextReader(blob.stream), "samples"))) as members:
                for name, line, value, risky in members:
                    if name == "eval":
                        _read_header(log, value)
                    elif name == "samples":
                        yield log, line, _sound(log, line, value, risky, options)
            if not log.task:
                raise FormatError(f"{blob.name}: is not an Inspect log: it has no “eval” before its samples")


def _of_archive(source: SourceFile, names: list[str], options: Options) -> Iterator[tuple[_Log, int, dict | RowError]]:
    log = _Log(source.label)
    header = HEADER if HEADER in names else "_journal/start.json"
    with closing(open_blobs([replace(source, entry=header)], options)) as blobs:
        for _, value, _ in JsonValues(TextReader(next(blobs).stream)):
            _read_header(log, value.get("eval") if isinstance(value, dict) else None)
    for blob in open_blobs([source], options):
        if PurePosixPath(blob.name).parent.name == "samples":
            log.name = blob.name
            for line, value, risky in JsonValues(TextReader(blob.stream)):
                yield log, line, _sound(log, line, value, risky, options)


def _read_header(log: _Log, header: object) -> None:
    task, model = (header.get(name) if isinstance(header, dict) else None for name in ("task", "model"))
    if not isinstance(task, str) or not isinstance(model, str) or not task.strip() or not model.strip():
        raise FormatError(f"{log.name}: is not an Inspect log: “eval” names no task and no model")
    log.task, log.model = shown(task)[:80], shown(model)[:80]


def _sound(log: _Log, line: int, value: object, risky: bool, options: Options) -> dict | RowError:
    if not isinstance(value, dict):
        return RowError(log.name, line, "samples", "", "is not a JSON object")
    if not log.task:
        raise FormatError(f"{log.name}: is not an Inspect log: it has no “eval” before its samples")
    value = {name: one for name, one in value.items() if name in READ or one not in (None, "", [], {}, 0)}
    for name in value.keys() - READ:
        log.lost[f"Fields of samples: {shown(name)}"] += 1
        value[name] = None
    return storable(log.name, line, value, options) if risky else value


def _records(
    log: _Log, line: int, sample: dict, questions: SeenParents, answers: SeenKeys, options: Options
) -> Iterator[Record]:
    limit = options.limits.key_chars - len(log.model) - len(log.task) - 12
    own = to_key(sample.get("id"), "id", limit)
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    text = required_text(_words(sample.get("input"), attachments, "input"), "input")
    choices = [_words(one, attachments, "choices") for one in _list(sample.get("choices"))]
    text += "".join(f"\n{chr(65 + at % 26)}) {choice}" for at, choice in enumerate(choices))
    targets = tuple(one for one in (to_text(one, "target") for one in _list(sample.get("target"))) if one)
    epoch = sample.get("epoch", 1)
    if type(epoch) is not int or not 0 < epoch < 32_000:
        raise BadCell("epoch", epoch, "is not a whole number from 1")
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, dict) else None
    if sample.get("error") and not completion:
        log.lost["Samples that failed"] += 1
        return
    answer = to_text(_words(completion, attachments, "output.completion"), "output.completion")
    scores = to_object(sample.get("scores") or {}, "scores")
    results = [_score(name, score, log) for name, score in scores.items()]
    question, key = f"{log.task}/{own}", f"{log.task}/{own}/{log.model}/{epoch}"
    if answers.files[-1:] != [log.name]:
        answers.start(log.name)
        questions.start(log.name)
    answers.add(key, "id", line)
    if questions.is_new(question, (text, targets), line):
        metadata = sample.get("metadata")
        yield QuestionRecord(question, text, answers=targets, metadata=metadata if isinstance(metadata, dict) else {})
    explained = {
        name: {part: score[part] for part in ("answer", "explanation") if isinstance(score.get(part), str)}
        for name, score in scores.items()
        if isinstance(score, dict)
    }
    yield ResponseRecord(
        key, answer, question=question, model=log.model, repetition=epoch, metadata={"inspect": explained}
    )
    for checker, value in (one for found in results for one in found):
        if isinstance(value, str):
            yield SuggestionRecord(key, checker, GRADE, value)
        else:
            yield ScoreRecord(key, checker, value)


def _score(name: str, score: object, log: _Log) -> list[tuple[str, str | float]]:
    """A scorer's result: a grade, a number, or several numbers by name."""
    value = score.get("value") if isinstance(score, dict) else None
    if isinstance(value, bool):
        return [(model_name(name), GRADES["C" if value else "I"])]
    if isinstance(value, int | float):
        return [(model_name(name), float(value))] if abs(value) < 1e300 else []
    if isinstance(value, str) and value in GRADES:
        return [(model_name(name), GRADES[value])]
    if isinstance(value, dict):
        numbers = {part: one for part, one in value.items() if type(one) in (int, float) and abs(one) < 1e300}
        return [(model_name(f"{name}/{part}"), float(one)) for part, one in numbers.items()]
    log.lost[f"Scores that are neither grades nor numbers ({shown(name)})"] += 1
    return []


def _list(value: object) -> list:
    return [] if value is None else value if isinstance(value, list) else [value]


def _words(value: object, attachments: dict, column: str) -> str:
    """A text, or messages as one text; long texts stand among the attachments."""
    if isinstance(value, list):
        return "\n\n".join(filter(None, (_words(one, attachments, column) for one in value)))
    if isinstance(value, dict):
        words = _words(value.get("content", value.get("text")), attachments, column)
        role = value.get("role")
        return f"{role}: {words}" if isinstance(role, str) and role != "user" and words else words
    text = to_text(value, column)
    kept = attachments.get(text.removeprefix(ATTACHMENT)) if text.startswith(ATTACHMENT) else None
    return to_text(kept, column) if isinstance(kept, str) else text


INFO = Format(
    slug="inspect",
    title="Inspect log (.eval or .json)",
    extensions=(".eval", ".json"),
    reader=read,
    detect=lambda head: SURE if is_log(head.names) or looks_like_log(head.start) else 0,
    label_set_of=label_set_of,
)
