"""Label Studio's JSON export, and tasks with predictions as they are imported there.

    [{"id", "data": {"text": …}, "annotations": [{"completed_by", "result": […], "lead_time", …}],
      "predictions": [{"model_version", "score", "result": [{…, "meta": {"text": ["its explanation"]}}]}]}]

A result names what was asked (`from_name`) and the text that it is about (`to_name`). Which field of the data that text
is, the labelling configuration (an XML file given along) says; without it, it is the field of that name, then one with
a usual name, then the only text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from annotation.formats.cells import BadCell, required_text, to_key, to_objects, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.guessing.roles import NAMES
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.label_studio.config import Config, split
from annotation.formats.tools.offsets import CODE_POINTS, UTF_16, MarkedPlaces, place, placed
from annotation.formats.tools.tasks import RaterAnswers, Task, ToolSpan, instant, milliseconds

KEPT = "label_studio"  # in the metadata of a text: what an export needs to write the task again
KEY = "assay_key"  # in a task's data: the key that the text had here
NOBODY = "predictions"
MEDIA = re.compile(r"(?:https?://|s3://|gs://|/data/|data:)\S*\Z")
# What is read of each object; other fields that are not empty are counted as lost.
TASK_FIELDS = {"id", "data", "annotations", "completions", "predictions"}
ANNOTATION_FIELDS = {"completed_by", "result", "was_cancelled", "lead_time", "updated_at"}
PREDICTION_FIELDS = {"model_version", "score", "result"}
RESULT_FIELDS = {"from_name", "to_name", "type", "value"}
SPANS = {"labels", "hypertextlabels", "paragraphlabels"}


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(placed(tasks_of, sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    _, config = split(sources)
    return common.label_set_of(placed(tasks_of, sources, options), name, config.asked if config else None)


def tasks_of(sources: list[SourceFile], options: Options, places: MarkedPlaces) -> Iterator[Task | RowError]:
    files, config = split(sources)
    if not files:
        raise FormatError(f"{sources[0].label}: is a labelling configuration alone; give the tasks along with it")
    reader = _Reader(config or Config(), options, places)
    yield from common.tasks_in(open_tables(files, options), reader.task)


class _Reader:
    def __init__(self, config: Config, options: Options, places: MarkedPlaces):
        self.places = places
        self.config, self.limit, self.mapping = config, options.limits.key_chars, options.mapping

    def task(self, file: str, line: int, cells: dict) -> Task:
        self.places.at(file, line)
        data = cells.get("data")
        if not isinstance(data, dict):
            raise BadCell("data", data, "is not a JSON object with the texts of the task")
        lost = Counter()
        list_name = "annotations" if "annotations" in cells else "completions"
        annotations = to_objects(cells.get(list_name), list_name)
        predictions = to_objects(cells.get("predictions"), "predictions")
        objects = self._objects_judged(annotations + predictions)
        fields = self._fields(data, objects)
        texts = {name: _text(data[name], f"data.{name}") for name in fields}
        text = required_text(texts[fields[-1]], f"data.{fields[-1]}")
        context = texts[fields[0]] if len(fields) > 1 else ""
        own = data.get(KEY) or cells.get("id")
        key = to_key(own, "id", self.limit) if own is not None else hashed("t", context, text)
        controls: dict[str, list[str]] = {}
        task = Task(file, line, key, text, context, lost=lost)
        for at, annotation in enumerate(annotations):
            _count_fields(lost, "annotations", annotation, ANNOTATION_FIELDS)
            if annotation.get("was_cancelled") is True:
                lost["Cancelled annotations"] += 1
                continue
            answers = self._answers(annotation, f"annotations[{at}]", fields, data, controls, lost)
            answers.sees_all = True
            answers.who = person_of(annotation.get("completed_by"), f"annotations[{at}].completed_by")
            answers.active_ms = milliseconds(annotation.get("lead_time"))
            answers.submitted_at = instant(annotation.get("updated_at"))
            task.people.append(answers)
        for at, prediction in enumerate(predictions):
            _count_fields(lost, "predictions", prediction, PREDICTION_FIELDS)
            answers = self._answers(prediction, f"predictions[{at}]", fields, data, controls, lost, explains=True)
            version = to_text(prediction.get("model_version"), f"predictions[{at}].model_version")
            answers.who = common.model_name(version) or NOBODY
            score = prediction.get("score")
            if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1:
                answers.probability = float(score)
            elif score is not None:
                lost["Scores of predictions that are no probability"] += 1
            task.models.append(answers)
        _count_fields(lost, "tasks", cells, TASK_FIELDS)
        lost["Line ends of Windows, which become plain ones"] += any("\r\n" in str(data[name]) for name in fields)
        lost["Dialogues, which become one text"] += any(isinstance(data[name], list) for name in fields)
        kept = {"fields": fields} | ({"controls": controls} if controls else {})
        task.metadata = {name: value for name, value in data.items() if name not in (*fields, KEY)} | {KEPT: kept}
        return task

    def _objects_judged(self, annotations: list[dict]) -> list[str]:
        """The names of the objects that results are about, in the order in which they stand."""
        results = [result for one in annotations for result in _results(one) if isinstance(result.get("to_name"), str)]
        return list(dict.fromkeys(result["to_name"] for result in results))

    def _fields(self, data: Mapping[str, object], objects: Iterable[str]) -> list[str]:
        """The field of the text, with that of its context before it where there is one."""
        texts = [name for name, value in data.items() if _is_text(value)]
        if not texts:
            raise BadCell("data", data, "has no text: only tasks about texts are read")
        chosen = [self.mapping[role] for role in ("context", "text") if role in self.mapping]
        if chosen:
            absent = [name for name in chosen if name not in texts]
            if absent:
                raise BadCell(f"data.{absent[0]}", data.get(absent[0]), "is not text")
            return chosen
        if self.config.fields:
            shown = [name for name in dict.fromkeys(self.config.fields.values()) if name in texts]
            judged = [self.config.fields.get(name) for name in objects]
            text = next((name for name in judged if name in shown), shown[-1] if shown else None)
            if text is not None:
                before = [name for name in shown if name != text]
                return [before[0], text] if len(shown) == 2 else [text]
        named = [name for name in objects if name in texts]
        if named:
            return named[:1]
        spelt = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(texts)}
        return [next((spelt[name] for name in NAMES["text"] if name in spelt), texts[0])]

    def _answers(
        self,
        annotation: dict,
        at: str,
        fields: list[str],
        data: dict,
        controls: dict,
        lost: Counter,
        *,
        explains: bool = False,
    ) -> RaterAnswers:
        answers = RaterAnswers()
        results = _results(annotation)
        if annotation.get("result") is not None and not isinstance(annotation["result"], list):
            raise BadCell(f"{at}.result", annotation["result"], "is not a list")
        regions = {str(result["id"]) for result in results if "id" in result and str(result.get("type")) in SPANS}
        for number, result in enumerate(results):
            here = f"{at}.result[{number}]"
            kind, name, value = (result.get(part) for part in ("type", "from_name", "value"))
            if kind == "relation":
                lost["Relations between regions"] += 1
                continue
            if not isinstance(name, str) or not name or not isinstance(value, dict):
                raise BadCell(here, result, "lacks its from_name, or its value is not a JSON object")
            if kind == "labels" and (field := self._marked_field(result, fields, data)) is not None:
                in_context = len(fields) > 1 and field == fields[0]
                spans = _spans(value, data[field], self.places, in_context, f"{here}.value")
                if spans is None:
                    answers.incomplete.add(name)
                    lost[f"Regions whose place holds another text than they quote ({common.shown(name)})"] += 1
                    continue
                answers.spans.setdefault(name, []).extend(spans)
                lost["Regions of several labels, which become several regions"] += len(spans) > 1
            elif kind == "textarea":
                texts = _texts_of(value, f"{here}.value.text")
                answers.words[name] = "\n".join(filter(None, (answers.words.get(name), *texts)))
                lost["Texts of one answer, which become one"] += len(texts) > 1
            elif (labels := _labels(kind, value, f"{here}.value")) is None:
                lost[f"Results of the type {common.shown(str(kind))} ({common.shown(name)})"] += 1
                continue
            elif "start" in value or str(result.get("id")) in regions:
                lost[f"Answers about single regions ({common.shown(name)})"] += 1
                continue
            else:
                answers.labels.setdefault(name, []).extend(labels)
                answers.numbers |= {name} if kind == "number" else set()
            meta = result.get("meta")
            if explains and kind != "labels" and isinstance(meta, dict) and meta.keys() == {"text"}:
                result = {part: result[part] for part in result if part != "meta"}
                answers.explanations[name] = "\n".join(_texts_of(meta, f"{here}.meta.text"))
            _count_fields(lost, "results", result, RESULT_FIELDS)
            controls.setdefault(name, [str(kind), to_text(result.get("to_name"), f"{here}.to_name")])
        return answers

    def _marked_field(self, result: dict, fields: list[str], data: dict) -> str | None:
        """The field of the data that a region lies in; None where it is no plain text."""
        value, to = result["value"], result.get("to_name")
        field = self.config.fields.get(to, to) if isinstance(to, str) else None
        field = field if field in fields else fields[-1]
        is_place = type(value.get("start")) is int and type(value.get("end")) is int
        return field if is_place and isinstance(data[field], str) else None


def _spans(value: dict, raw: str, places: MarkedPlaces, in_context: bool, at: str) -> list[ToolSpan] | None:
    """A region's passages, one for each of its labels; None where its place holds none, or another text. Offsets are
    UTF-16 code units, as browsers count; some files count code points. The quoted text tells, or else `places`."""
    labels, quote = value.get("labels"), value.get("text")
    if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
        raise BadCell(f"{at}.labels", labels, "is not a list of texts")
    quote = quote if isinstance(quote, str) else None
    start, end = value["start"], value["end"]
    if places.is_counting:
        places.count(raw, start, end, quote)
    found = place(raw, start, end, quote, (UTF_16, CODE_POINTS) if quote is not None else (places.encoding,))
    if found is None:
        return None
    words = raw.replace("\r\n", "\n")[found[0] : found[1]]
    return [ToolSpan(label, *found, words, in_context) for label in labels if label.strip()]


def _results(annotation: dict) -> list[dict]:
    results = annotation.get("result")
    return [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []


def _labels(kind: object, value: dict, place: str) -> list[str] | None:
    """What a result chose; None where it is of a kind that is no choice."""
    if kind == "choices":
        chosen = value.get("choices")
        if not isinstance(chosen, list) or not all(isinstance(one, str) for one in chosen):
            raise BadCell(f"{place}.choices", chosen, "is not a list of texts")
        return [one for one in chosen if one.strip()]
    if kind in ("rating", "number"):
        number = value.get(kind)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise BadCell(f"{place}.{kind}", number, "is not a number")
        return [to_text(number, f"{place}.{kind}")]
    if kind == "pairwise" and isinstance(value.get("selected"), str):
        return [value["selected"]]
    return None


def _texts_of(value: dict, place: str) -> list[str]:
    found = value.get("text")
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadCell(place, found, "is not a list of texts")
    return found


def _is_text(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and not MEDIA.match(value)
    return isinstance(value, list) and bool(value) and all(_is_turn(turn) for turn in value)


def _is_turn(turn: object) -> bool:
    return isinstance(turn, dict) and isinstance(turn.get("text"), str)


def _text(value: object, place: str) -> str:
    """A text, or a dialogue as one text with a line per turn."""
    if not isinstance(value, list):
        return to_text(value, place)
    turns = (
        f"{turn['author']}: {turn['text']}" if isinstance(turn.get("author"), str) else turn["text"] for turn in value
    )
    return to_text("\n".join(turns), place)


def person_of(completed_by: object, place: str) -> str:
    """Who annotated: a number, or an object with an address and names."""
    if isinstance(completed_by, dict):
        completed_by = next(
            (completed_by[name] for name in ("email", "username", "id") if completed_by.get(name)), None
        )
    return to_text(completed_by, place).strip()


def _count_fields(lost: Counter, of: str, fields: dict, known: set[str]) -> None:
    for name, value in fields.items():
        if name not in known and value not in (None, "", [], {}, False, 0):
            lost[f"Fields of {of}: {common.shown(name)}"] += 1
