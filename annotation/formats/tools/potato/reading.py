"""Potato's output folders, of version 1 and 2, as a zip or a folder.

Version 1: `<user>/annotated_instances.jsonl`, a line per text with `displayed_text`, `label_annotations` and
`span_annotations`. Version 2: `<user>/user_state.json` with the user's answers by id; the texts are in the data file
(`{"id", "text"}` lines), which is given along. Without it a text is called by its id.

Radio buttons and check boxes look alike in both: a question takes several choices if anyone chose several.
Potato's configuration (YAML), given along, tells them apart, and names labels that nobody chose; versions up to 2.7.1
could store every radio button that was ever chosen; the last one counts then. Survey pages (`consent.html`)
are no texts. Offsets are UTF-16 code units in versions before 2.9 and code points since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from annotation.formats.cells import BadCell, required_text, row_error, to_key, to_object, to_objects, to_text
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.tables import open_tables
from annotation.formats.files.yaml_texts import load_yaml
from annotation.formats.records import FormatError, LostRecord, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import CODE_POINTS, UTF_16, marked_place, or_none
from annotation.formats.tools.tasks import (
    NUMBER,
    PASSAGES,
    RATING,
    SEVERAL,
    WORDS,
    RaterAnswers,
    Task,
    ToolQuestion,
    ToolSpan,
    find_label,
    milliseconds,
    question_slug,
    shown,
)
from annotation.task_types.base import MANY_LABELS

INSTANCES, STATE = "annotated_instances.jsonl", "user_state.json"
CONFIGS = (".yaml", ".yml")
DATA = (".json", ".jsonl", ".csv", ".tsv", ".ndjson")
# Files of the folder that hold neither answers nor texts.
OTHERS = {"assigned_user_data.json", "annotated_instances.tsv", "annotated_instances.csv", "user_config.json"}
OTHERS |= {"annotation_order.txt", "task_assignment.json", "potato_config.json"}
OTHERS |= {"annotation_history.jsonl", "device_visits.json"}
TEXT_BOXES, SPAN = ("text_box", "free_response"), "span"
LIKERT, TEXT = "likert", "text"
KINDS = dict.fromkeys(("radio", LIKERT, "confidence", "select"), RATING)
KINDS |= {"multiselect": SEVERAL, "number": NUMBER, TEXT: WORDS, SPAN: PASSAGES}
FALSE = (False, None, "", "false", "False", 0, "0")  # values of options that were not chosen
STATE_BYTES = 128 * MIB  # a user's whole work is one value
SPENT = re.compile(r"(\d{1,4})d (\d{1,2})h (\d{1,2})m (\d{1,2})s")
ID_NAMES = ("id", "item_id", "instance_id", "doc_id")
NAMES_COLUMNS = "Potato's configuration, given along, may name other columns (item_properties: id_key, text_key)"
TEXT_NAMES = ("text", "displayed_text", "sentence", "content", "document")
NO_TEXT = "Texts: the file of the data is not among the files, so texts are called by their ids"
ANSWERS = ("instance_id_to_label_to_value", "instance_id_to_span_to_value", "instance_id_to_behavioral_data")
READ = {"user_id", *ANSWERS}
SINCE_2_9 = "instance_id_to_presentation_order"


def is_output(name: str) -> bool:
    return PurePosixPath(name).name.removesuffix(".gz") in (INSTANCES, STATE)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options, has_repeats=True)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    _, _, config = _split(sources)
    configured = {question_slug(one.name): one for one in config.schemes.values()}
    return common.label_set_of(tasks_of(sources, options), name, configured)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError | LostRecord]:
    states, data, config = _split(sources)
    if not states:
        raise FormatError(
            f"{sources[0].label}: has neither {INSTANCES} nor {STATE}, which Potato writes for every user"
        )
    texts = yield from texts_in(data, options, config.columns)
    for table in open_tables(states, replace(options, limits=replace(options.limits, record_bytes=STATE_BYTES))):
        path = PurePosixPath(table.name)
        user = _User(table.name, path.parent.name, texts, config, options)
        yield from table.parsed(user.of_state if path.name == STATE else user.of_instance)


@dataclass(slots=True)
class _Config:
    """What the configuration asks, by name, the files of the texts, and the columns of id and text in them."""

    schemes: dict[str, ToolQuestion] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    columns: tuple[str, str] = ("", "")


def _split(sources: list[SourceFile]) -> tuple[list[SourceFile], list[SourceFile], _Config]:
    """The files of users, those that may hold the texts, and the configuration; entries of archives each by
    itself."""
    states, data, config = [], [], _Config()
    for source in sources:
        entries = entries_of(source, also=CONFIGS)
        each = [SourceFile(source.path, source.name, entry.filename) for entry in entries] if entries else [source]
        for one in each:
            name = PurePosixPath(one.entry or one.label).name.lower()
            if is_output(name):
                states.append(one)
            elif name.endswith(CONFIGS):
                _read_config(one, config)
            elif name not in OTHERS and name.removesuffix(".gz").endswith(DATA):
                data.append(one)
    # Potato writes further files next to the answers; with a configuration it is known which ones hold the texts.
    named = [one for one in data if PurePosixPath(one.entry or one.label).name in config.files]
    return states, named or data, config


def _read_config(source: SourceFile, config: _Config) -> None:
    with closing(open_blobs([source], Options())) as blobs:
        raw = next(blobs).stream.peek(MIB)
    if len(raw) >= MIB:
        raise FormatError(f"{source.label}: a configuration of more than {MIB:,} bytes is not read")
    content = load_yaml(raw, source.label)
    content = content if isinstance(content, dict) else {}
    properties = content.get("item_properties")
    if isinstance(properties, dict):
        named = (properties.get(name) for name in ("id_key", "text_key"))
        config.columns = tuple(one if isinstance(one, str) else "" for one in named)
    files = content.get("data_files")
    for file in files if isinstance(files, list) else ():
        config.files |= {PurePosixPath(file).name} if isinstance(file, str) else set()
    schemes = content.get("annotation_schemes")
    for scheme in schemes if isinstance(schemes, list) else ():
        kind = scheme.get("annotation_type") if isinstance(scheme, dict) else None
        if isinstance(kind, str) and kind in KINDS and isinstance(scheme.get("name"), str):
            asked = ToolQuestion(scheme["name"], KINDS[kind], is_listed=True)
            labels, size = scheme.get("labels"), scheme.get("size")
            if kind == LIKERT and not labels and isinstance(size, str) and size in map(str, range(1, MANY_LABELS + 1)):
                labels = [str(point) for point in range(1, int(size) + 1)]
            for label in labels if isinstance(labels, list) else ():
                label = label.get("name") if isinstance(label, dict) else label
                if isinstance(label, str) and label.strip() and asked.kind not in (NUMBER, WORDS):
                    asked.add(label)
            config.schemes[scheme["name"]] = asked


def texts_in(data: list[SourceFile], options: Options, columns: tuple[str, str] | None = None) -> Iterator[RowError]:
    """id -> text, of the file that the annotated texts came from; yields what is wrong in it. `columns` are those of id
    and text, empty where the configuration names none; None: there is no configuration to name them."""
    usual, hint = (ID_NAMES, TEXT_NAMES), "" if columns is None else f"; {NAMES_COLUMNS}"
    ids, names = ((one,) if one else known for one, known in zip(columns or ("", ""), usual, strict=True))
    found: dict[str, str] = {}

    def read_text(line: int, cells: dict) -> None:
        name = next((name for name in names if isinstance(cells.get(name), str)), None)
        own = next((name for name in ids if cells.get(name) is not None), ids[0])
        if name is None:
            raise BadCell("text", "", f"is missing: a text is expected in {', '.join(names)}{hint}")
        if own not in cells:
            raise BadCell("id", "", f"is missing: it is expected in {', '.join(ids)}{hint}")
        found[to_key(cells[own], own, options.limits.key_chars)] = cells[name]

    for table in open_tables(data, options) if data else ():
        yield from table.parsed(read_text)
    return found


class _User:
    """What one user's file says."""

    def __init__(self, file: str, who: str, texts: Mapping[str, str], config: _Config, options: Options):
        self.file, self.who, self.texts, self.schemes = file, who, texts, config.schemes
        self.fields = {config.columns[1]} if config.columns[1] else set(TEXT_NAMES)
        self.limit = options.limits.key_chars
        self.offsets = (UTF_16, CODE_POINTS)

    def of_instance(self, line: int, cells: dict) -> Iterator[Task | LostRecord]:
        key = to_key(cells.get("id"), "id", self.limit)
        chosen, spans = cells.get("label_annotations"), cells.get("span_annotations")
        raw = cells.get("displayed_text")
        found = [
            (
                {
                    "start": one.get("start"),
                    "end": one.get("end"),
                    "name": one.get("annotation"),
                    "quote": one.get("span"),
                }
            )
            for one in to_objects(spans or None, "span_annotations")
        ]
        spent = cells.get("behavioral_data")
        time = SPENT.search(str(spent.get("time_string"))) if isinstance(spent, dict) else None
        took = None
        if time is not None:
            days, hours, minutes, seconds = map(int, time.groups())
            took = milliseconds(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        marked: dict[str, list[dict]] = {}
        for one in found:  # the file does not tell the question, the configuration does
            word = one["name"] if isinstance(one["name"], str) else ""
            of = (
                name
                for name, asked in self.schemes.items()
                if asked.kind == PASSAGES and find_label(word, asked.labels) is not None
            )
            marked.setdefault(next(of, SPAN), []).append(one)
        yield from self._task(line, key, raw, _by_schema(chosen, "label_annotations"), marked, [], took)

    def of_state(self, line: int, cells: dict) -> Iterator[Task | RowError | LostRecord]:
        self.who = to_text(cells.get("user_id"), "user_id").strip() or self.who
        labels, spans, behaviour = (to_object(cells.get(name) or {}, name) for name in ANSWERS)
        self.offsets = (CODE_POINTS, UTF_16) if SINCE_2_9 in cells else (UTF_16, CODE_POINTS)
        for name in cells:
            if name.startswith("instance_id_to_") and name not in READ and cells[name]:
                yield LostRecord(f"Fields: {shown(name)}", len(cells[name]), self.file)
        for own in dict.fromkeys((*labels, *spans)):
            try:
                yield from self._of_text(line, own, labels.get(own), spans.get(own), behaviour.get(own))
            except BadCell as problem:  # the user's other texts count
                yield row_error(self.file, line, problem)

    def _of_text(
        self, line: int, own: str, labels: object, spans: object, behaviour: object
    ) -> Iterator[Task | LostRecord]:
        behaviour = behaviour if isinstance(behaviour, dict) else {}
        total, changes = behaviour.get("total_time_ms"), behaviour.get("annotation_changes")
        took = milliseconds(total / 1000) if isinstance(total, int | float) and total else None
        marked = _spans_by_schema(spans, f"instance_id_to_span_to_value.{own}")
        chosen = _by_schema(labels, f"instance_id_to_label_to_value.{own}")
        changes = changes if isinstance(changes, list) else []
        yield from self._task(line, to_key(own, "id", self.limit), self.texts.get(own), chosen, marked, changes, took)

    def _task(
        self, line: int, key: str, raw: object, chosen: dict, marked: dict, changes: list, took: int | None
    ) -> Iterator[Task | LostRecord]:
        if key.endswith((".html", ".htm")):
            yield LostRecord("Answers on survey pages", 1, f"{self.file}, {key}")
            return
        if raw is None:
            yield LostRecord(NO_TEXT, 1, f"{self.file}, {key}")
        raw = key if raw is None else raw
        task = Task(self.file, line, key, required_text(raw, "text"))
        answers = RaterAnswers(self.who, active_ms=took)
        for schema, labels in chosen.items():
            if schema in self.schemes and self.schemes[schema].kind == NUMBER:
                answers.numbers.add(schema)
                answers.labels[schema] = [str(value) for value in labels.values() if value not in ("", None)]
                continue
            written = [labels.pop(name) for name in TEXT_BOXES if name in labels]
            words = "\n".join(one for one in written if isinstance(one, str) and one.strip())
            if words and schema:
                answers.words[schema if not labels else f"{schema} in words"] = words
            if names := [name for name, value in labels.items() if value not in FALSE or str(value) == name]:
                answers.labels[schema] = self._settled(schema, names, changes)
        for schema, spans in marked.items():
            for at, span in enumerate(spans):
                field_of = span.get("target_field")
                if field_of and field_of not in self.fields:
                    yield LostRecord(f"Labelled passages of {shown(str(field_of))}", 1, f"{self.file}, {key}")
                    continue
                here = partial(_span, span, str(raw), f"{key}: {schema}[{at}]", self.offsets)
                if (passage := or_none(task.errors, self.file, line, here)) is None:
                    answers.incomplete.add(schema)
                else:
                    answers.spans.setdefault(schema, []).append(passage)
        if answers.labels or answers.spans or answers.words:
            task.people.append(answers)
        yield task

    def _settled(self, schema: str, names: list[str], changes: list) -> list[str]:
        """The answer. Where several are stored of a question that takes one, the one that was chosen last: by the
        record of changes, or else the last one stored."""
        asked = self.schemes.get(schema)
        if asked is None or asked.kind == SEVERAL or len(names) == 1:
            return names
        last, latest = names[-1], -1.0
        for change in changes:
            name = change.get("label_name") if isinstance(change, dict) else None
            when = change.get("timestamp") if isinstance(change, dict) else None
            is_here = name in names and change.get("schema_name") == schema
            if is_here and change.get("action") in ("select", "update") and isinstance(when, int | float):
                last, latest = (name, when) if when >= latest else (last, latest)
        return [last]


def _by_schema(found: object, column: str) -> dict[str, dict[str, object]]:
    """Question -> label -> value, of either version's way to write it."""
    schemas: dict[str, dict[str, object]] = {}
    if isinstance(found, list):
        for at, entry in enumerate(found):
            label = entry[0] if isinstance(entry, list) and len(entry) == 2 else None
            if not isinstance(label, dict):
                raise BadCell(f"{column}[{at}]", entry, "is not a label with its value")
            name, schema = (to_text(label.get(part), f"{column}[{at}].{part}") for part in ("name", "schema"))
            schemas.setdefault(schema, {})[name] = entry[1]
        return schemas
    for schema, labels in (found or {}).items() if isinstance(found or {}, dict) else [(None, found)]:
        if not isinstance(labels, dict):
            raise BadCell(f"{column}.{schema}", labels, "is not a JSON object of labels")
        schemas[schema] = labels
    return schemas


def _spans_by_schema(found: object, column: str) -> dict[str, list[dict]]:
    if isinstance(found, list):
        schemas: dict[str, list[dict]] = {}
        for at, entry in enumerate(found):
            span = entry[0] if isinstance(entry, list) and entry else entry
            if not isinstance(span, dict):
                raise BadCell(f"{column}[{at}]", entry, "is not a span with its value")
            schemas.setdefault(to_text(span.get("schema"), f"{column}[{at}].schema") or SPAN, []).append(span)
        return schemas
    if found and not isinstance(found, dict):
        raise BadCell(column, found, "is neither a list nor a JSON object")
    return {
        schema: to_objects(list(spans.values()) if isinstance(spans, dict) else spans or None, f"{column}.{schema}")
        for schema, spans in (found or {}).items()
    }


def _span(span: dict, raw: str, column: str, offsets: tuple[str, ...]) -> ToolSpan:
    found = marked_place(raw, span.get("start"), span.get("end"), column, span.get("quote") or None, offsets)
    label = next((span[name] for name in ("name", "title", "label") if span.get(name)), None)
    return ToolSpan(required_text(label, f"{column}.name"), *found)
