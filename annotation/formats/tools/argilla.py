"""Argilla's records as `dataset.to_disk` and `dataset.records.to_json` write them.

    [{"id", "fields": {"text": "…"}, "metadata": {…}, "suggestions": {"tone": {"value", "score", "agent"}},
      "responses": {"tone": [{"value": "good", "user_id": "…"}]}, "vectors": {}, "status", "_server_id"}]

The settings (`.argilla/settings.json`), given along, tell which questions take several labels and which are answered in
words, and the labels that nobody chose. Two fields are a pair, the second of them judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import PurePosixPath

from annotation.formats.cells import BadCell, required_text, to_key, to_object, to_objects, to_text
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.json_streams import decode_json
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import marked_place
from annotation.formats.tools.tasks import PASSAGES, RATING, SEVERAL, WORDS, Said, Task, ToolQuestion, ToolSpan, shown

SETTINGS, DATASET = "settings.json", "dataset.json"
KINDS = {
    "label_selection": RATING,
    "multi_label_selection": SEVERAL,
    "rating": RATING,
    "text": WORDS,
    "span": PASSAGES,
}
READ = {"id", "fields", "metadata", "suggestions", "responses"}
NOBODY = "suggestions"


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    _, asked = _split(sources)
    configured = {common.question_slug(one.name): one for one in asked.values()}
    return common.label_set_of(tasks_of(sources, options), name, configured)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError]:
    records, asked = _split(sources)
    if not records:
        raise FormatError(f"{sources[0].label}: has no records; give the file of the records along with the settings")
    yield from common.tasks_in(open_tables(records, options), partial(_task, asked, options))


def _split(sources: list[SourceFile]) -> tuple[list[SourceFile], dict[str, ToolQuestion]]:
    records, asked = [], {}
    for source in sources:
        entries = entries_of(source)
        each = [SourceFile(source.path, source.name, entry.filename) for entry in entries] if entries else [source]
        for one in each:
            name = PurePosixPath(one.entry or one.label).name
            if name == SETTINGS:
                asked |= _settings(one)
            elif name != DATASET:
                records.append(one)
    return records, asked


def _settings(source: SourceFile) -> dict[str, ToolQuestion]:
    with closing(open_blobs([source], Options())) as blobs:
        raw = next(blobs).stream.peek(MIB)
    try:
        said = decode_json(raw.decode()) if len(raw) < MIB else None
    except ValueError as error:
        raise FormatError(f"{source.label}: {error}") from error
    questions = said.get("questions") if isinstance(said, dict) else None
    found = {}
    for question in questions if isinstance(questions, list) else ():
        name = question.get("name") if isinstance(question, dict) else None
        settings = question.get("settings") if isinstance(question, dict) else None
        kind = KINDS.get(str(settings.get("type"))) if isinstance(settings, dict) else None
        if isinstance(name, str) and name and kind:
            found[name] = ToolQuestion(name, kind, is_listed=True)
            options = settings.get("options")
            for option in options if isinstance(options, list) else ():
                value = option.get("value") if isinstance(option, dict) else None
                if isinstance(value, str | int) and str(value).strip():
                    found[name].add(str(value))
    return found


def _task(asked: Mapping[str, ToolQuestion], options: Options, file: str, line: int, cells: dict) -> Task:
    fields = to_object(cells.get("fields") or {}, "fields")
    texts = {name: value for name, value in fields.items() if isinstance(value, str) and value.strip()}
    if not texts:
        raise BadCell("fields", json.dumps(fields, default=str)[:80], "has no text: only records of texts are read")
    names = list(texts)
    judged = names[-1] if len(names) <= 2 else names[0]
    before = names[0] if len(names) == 2 else None
    raw = texts[judged]
    text = required_text(raw, f"fields.{judged}")
    context = to_text(texts[before], f"fields.{before}") if before else ""
    own = cells.get("id")
    key = to_key(own, "id", options.limits.key_chars) if own is not None else hashed("t", context, text)
    others = {name: value for name, value in fields.items() if name not in (judged, before)}
    task = Task(file, line, key, text, context, metadata=to_object(cells.get("metadata") or {}, "metadata") | others)
    for name, value in cells.items():
        if name not in READ and value not in (None, "", [], {}):
            task.lost[f"Fields of records: {shown(name)}"] += 1
    people: dict[str, Said] = {}
    for name, responses in to_object(cells.get("responses") or {}, "responses").items():
        for at, response in enumerate(to_objects(responses, f"responses.{name}")):
            who = to_text(response.get("user_id"), f"responses.{name}[{at}].user_id")
            said = people.setdefault(who, Said(who))
            _say(said, task, name, response.get("value"), asked, raw, f"responses.{name}[{at}].value")
    task.people = [said for said in people.values() if said.labels or said.spans or said.words]
    for name, suggestion in to_object(cells.get("suggestions") or {}, "suggestions").items():
        suggestion = to_object(suggestion, f"suggestions.{name}")
        agent = to_text(suggestion.get("agent"), f"suggestions.{name}.agent")
        said = Said(common.model_name(agent) or NOBODY)
        score = suggestion.get("score")
        if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1:
            said.probability = float(score)
        elif score is not None:
            task.lost["Scores of suggestions that are no probability"] += 1
        _say(said, task, name, suggestion.get("value"), asked, raw, f"suggestions.{name}.value")
        if said.labels or said.spans or said.words:
            task.models.append(said)
    return task


def _say(said: Said, task: Task, name: str, value: object, asked: Mapping, raw: str, column: str) -> None:
    """One answer: a label, a number, several labels or spans; words and rankings are counted as lost."""
    question = asked.get(name)
    if value is None:
        return
    if question is not None and question.kind == WORDS:
        said.words[name] = required_text(value, column)
    elif isinstance(value, str | int | float):
        said.labels[name] = [required_text(value, column)]
    elif value == [] and question is not None and question.kind == PASSAGES:
        said.spans[name] = []  # there is none
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        said.labels[name] = [one for one in value if one.strip()]
    elif isinstance(value, list) and all(isinstance(one, dict) and "start" in one for one in value):
        said.spans[name] = [_span(one, raw, f"{column}[{at}]") for at, one in enumerate(value)]
    else:
        task.lost[f"Rankings and other answers ({shown(name)})"] += 1


def _span(span: dict, raw: str, column: str) -> ToolSpan:
    found = marked_place(raw, span.get("start"), span.get("end"), column)
    return ToolSpan(required_text(span.get("label"), f"{column}.label"), *found)
