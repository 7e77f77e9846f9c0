"""Argilla's records as `dataset.to_disk` and `dataset.records.to_json` write them.

    [{"id", "fields": {"text": "…"}, "metadata": {…}, "suggestions": {"tone": {"value", "score", "agent"}},
      "responses": {"tone": [{"value": "good", "user_id": "…"}]}, "vectors": {}, "status", "_server_id"}]

The settings (`.argilla/settings.json`), given along, tell which questions take several labels and which are answered in
words, and the labels that nobody chose. Two fields are a pair, the second of them judged.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from annotation.formats.cells import BadCell, required_text, to_key, to_object, to_objects, to_text
from annotation.formats.detection import Head
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.json_streams import decode_json
from annotation.formats.files.tables import open_tables
from annotation.formats.info import LIKELY, Format, Writer, has_columns
from annotation.formats.records import FormatError, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import MarkedPlaces, or_none, placed
from annotation.formats.tools.tasks import (
    PASSAGES,
    RATING,
    SEVERAL,
    WORDS,
    RaterAnswers,
    Task,
    ToolQuestion,
    ToolSpan,
    shown,
)
from annotation.formats.tools.tool_tasks import (
    WrittenAnswers,
    WrittenQuestion,
    WrittenTask,
    names_of,
    number_or_text,
    zip_folder,
)

SETTINGS, DATASET, RECORDS = "settings.json", "dataset.json", "records.json"
KINDS = {
    "label_selection": RATING,
    "multi_label_selection": SEVERAL,
    "rating": RATING,
    "text": WORDS,
    "span": PASSAGES,
}
READ = {"id", "fields", "metadata", "suggestions", "responses"}
NOBODY = "suggestions"
NAME = re.compile(r"[_-]*[a-z0-9][a-z0-9_-]*")
MOST_STARS = 10
LOSES = (
    "Names: annotators are called by numbers (UUIDs) that follow from their pseudonyms",
    "Answers of raters without a name",
    "Suggestions of further models for a question of a text, which has one; explanations",
    "Numbers, which become texts; scales beyond 0 to 10, which become labels",
    "Metadata other than texts and numbers, names of imported fields, and times",
    "Highlights in outputs that are compared",
)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(placed(tasks_of, sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    _, asked = split(sources)
    configured = {common.question_slug(one.name): one for one in asked.values()}
    return common.label_set_of(placed(tasks_of, sources, options), name, configured)


def tasks_of(sources: list[SourceFile], options: Options, places: MarkedPlaces) -> Iterator[Task | RowError]:
    records, asked = split(sources)
    if not records:
        raise FormatError(f"{sources[0].label}: has no records; give the file of the records along with the settings")
    yield from common.tasks_in(open_tables(records, options), partial(_task, asked, options, places))


def split(sources: list[SourceFile]) -> tuple[list[SourceFile], dict[str, ToolQuestion]]:
    """The files of records, and what the settings among the files ask."""
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
        content = decode_json(raw.decode()) if len(raw) < MIB else None
    except ValueError as error:
        raise FormatError(f"{source.label}: {error}") from error
    questions = content.get("questions") if isinstance(content, dict) else None
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


def _task(
    asked: Mapping[str, ToolQuestion], options: Options, places: MarkedPlaces, file: str, line: int, cells: dict
) -> Task:
    places.at(file, line)
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
    people: dict[str, RaterAnswers] = {}
    for name, responses in to_object(cells.get("responses") or {}, "responses").items():
        for at, response in enumerate(to_objects(responses, f"responses.{name}")):
            who = to_text(response.get("user_id"), f"responses.{name}[{at}].user_id")
            answers = people.setdefault(who, RaterAnswers(who))
            _say(answers, task, name, response.get("value"), asked, raw, places, f"responses.{name}[{at}].value")
    task.people = [answers for answers in people.values() if answers.labels or answers.spans or answers.words]
    for name, suggestion in to_object(cells.get("suggestions") or {}, "suggestions").items():
        suggestion = to_object(suggestion, f"suggestions.{name}")
        agent = to_text(suggestion.get("agent"), f"suggestions.{name}.agent")
        answers = RaterAnswers(common.model_name(agent) or NOBODY)
        score = suggestion.get("score")
        if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1:
            answers.probability = float(score)
        elif score is not None:
            task.lost["Scores of suggestions that are no probability"] += 1
        _say(answers, task, name, suggestion.get("value"), asked, raw, places, f"suggestions.{name}.value")
        if answers.labels or answers.spans or answers.words:
            task.models.append(answers)
    return task


def _say(
    answers: RaterAnswers,
    task: Task,
    name: str,
    value: object,
    asked: Mapping,
    raw: str,
    places: MarkedPlaces,
    column: str,
) -> None:
    """One answer: a label, a number, several labels or spans; words and rankings are counted as lost."""
    question = asked.get(name)
    if value is None:
        return
    if question is not None and question.kind == WORDS:
        answers.words[name] = required_text(value, column)
    elif isinstance(value, str | int | float):
        answers.labels[name] = [required_text(value, column)]
    elif value == [] and question is not None and question.kind == PASSAGES:
        answers.spans[name] = []  # there is none
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        answers.labels[name] = [one for one in value if one.strip()]
    elif isinstance(value, list) and all(isinstance(one, dict) and "start" in one for one in value):
        found = []
        for at, one in enumerate(value):
            here = partial(_span, one, raw, places, f"{column}[{at}]")
            span = or_none(task.errors, task.file, task.line, here)
            if span is None:
                answers.incomplete.add(name)
            else:
                found.append(span)
        answers.spans[name] = found
    else:
        task.lost[f"Rankings and other answers ({shown(name)})"] += 1


def _span(span: dict, raw: str, places: MarkedPlaces, column: str) -> ToolSpan:
    found = places.find(raw, span.get("start"), span.get("end"), column)
    return ToolSpan(required_text(span.get("label"), f"{column}.label"), *found)


# --- writing --------------------------------------------------------------------------------------------------------


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A zip of the folder that `Dataset.to_disk` writes and `Dataset.from_disk` reads."""
    with TemporaryDirectory() as name:
        spool, names, fields, judged = Path(name), names_of(questions, NAME), {}, "text"
        (spool / ".argilla").mkdir()
        with open(spool / RECORDS, "w", encoding="utf-8", newline="") as out:
            mark = "[\n"
            for task in tasks:
                fields |= dict.fromkeys(task.texts)
                *_, judged = task.texts
                record = _record(task, questions, names)
                out.write(mark + json.dumps(record, ensure_ascii=False, allow_nan=False))
                mark = ",\n"
            out.write("[]\n" if mark == "[\n" else "\n]\n")
        for file, content in (
            (DATASET, {"name": "assay"}),
            (SETTINGS, _written_settings(questions, names, list(fields), judged)),
        ):
            text = json.dumps(content, indent=1, ensure_ascii=False)
            (spool / ".argilla" / file).write_text(text + "\n", encoding="utf-8")
        zip_folder(spool, folder / "argilla.zip")


def _name_of_spans(question: WrittenQuestion, name: str) -> str:
    return name if question.is_of_passages else f"{name}-spans"


def _is_rating(question: WrittenQuestion) -> bool:
    stars = [number_or_text(label) for label in question.labels.values()]
    is_whole = all(type(star) is int and 0 <= star <= MOST_STARS for star in stars)
    return bool(stars) and is_whole and not question.takes_several


def _written_settings(
    questions: list[WrittenQuestion], names: Mapping[str, str], fields: list[str], judged: str
) -> dict:
    def described(name: str, title: str, required: bool, kind: str, **more) -> dict:
        return {"name": name, "title": title, "required": required, "settings": {"type": kind, **more}}

    found = []
    for one in questions:
        name = names[one.slug]
        options = [{"value": title, "text": title} for title in one.labels.values()]
        if one.is_of_passages:
            pass
        elif one.takes_text or one.takes_number:
            found.append(described(name, one.title, False, "text", use_markdown=False))
        elif one.orders:
            outputs = [{"value": name, "text": name} for name in fields if name != judged]
            found.append(described(name, one.title, False, "ranking", options=outputs))
        elif _is_rating(one):
            stars = [{"value": number_or_text(title)} for title in one.labels.values()]
            found.append(described(name, one.title, False, "rating", options=stars))
        else:
            kind = "multi_label_selection" if one.takes_several else "label_selection"
            found.append(described(name, one.title, False, kind, options=options))
        if one.passages:
            more = {"field": judged, "allow_overlapping": True}
            labels = [{"value": title, "text": title} for title in one.passages.values()]
            title = one.title if one.is_of_passages else one.passages_title
            found.append(described(_name_of_spans(one, name), title, False, "span", options=labels, **more))
    shown_fields = [described(name, name, name == judged, "text", use_markdown=False) for name in fields]
    more = {"vectors": [], "metadata": [], "distribution": {"strategy": "overlap", "min_submitted": 1}}
    return {"guidelines": None, "questions": found, "fields": shown_fields, "allow_extra_metadata": True, **more}


def _record(task: WrittenTask, questions: list[WrittenQuestion], names: Mapping[str, str]) -> dict:
    responses: dict[str, list] = {}
    for answers in task.people:
        user = str(uuid.uuid5(uuid.NAMESPACE_URL, answers.who))
        for name, value in _values(task, answers, questions, names) if answers.who else ():
            responses.setdefault(name, []).append({"value": value, "user_id": user})
    suggestions: dict[str, dict] = {}
    for answers in task.models:
        for name, value in _values(task, answers, questions, names):
            suggestions.setdefault(name, {"value": value, "score": answers.probability, "agent": answers.who})
    metadata = {
        name: value
        for name, value in task.metadata.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    } | {f"model-{number}": system for number, system in enumerate(task.systems.values(), 1) if system}
    record = {"id": task.key, "fields": task.texts, "metadata": metadata, "suggestions": suggestions}
    return record | {"responses": responses, "vectors": {}, "status": "completed" if responses else "pending"}


def _values(
    task: WrittenTask, answers: WrittenAnswers, questions: list[WrittenQuestion], names: Mapping[str, str]
) -> Iterator[tuple[str, object]]:
    *_, judged = task.texts
    for one in questions:
        if one.slug not in answers.labels:
            continue
        labels = answers.labels[one.slug]
        if one.takes_several:
            yield names[one.slug], labels
        elif one.orders:
            ranks = enumerate(one.orders[labels[0]], 1)
            yield names[one.slug], [{"value": text, "rank": place} for place, rank in ranks for text in rank]
        elif not one.is_of_passages:
            yield names[one.slug], number_or_text(labels[0]) if _is_rating(one) else labels[0]
        if one.passages:
            spans = [span for span in answers.spans.get(one.slug, ()) if span.field == judged]
            yield (
                _name_of_spans(one, names[one.slug]),
                [{"start": span.start, "end": span.end, "label": span.label} for span in spans],
            )


def is_folder(head: Head) -> bool:
    """Whether the file is an archive of what `Dataset.to_disk` writes."""
    return any(PurePosixPath(name).parts[-2:] == (".argilla", SETTINGS) for name in head.names)


_has_records = has_columns("fields responses suggestions", "questions fields guidelines")

INFO = Format(
    slug="argilla",
    title="Argilla records",
    extensions=(".json",),
    reader=read,
    detect=lambda head: LIKELY if is_folder(head) else _has_records(head),
    has_content_file=True,
    label_set_of=label_set_of,
    writers={"argilla": Writer(title="Argilla (zip)", write=write, loses=LOSES, has_suggestions=True)},
)
