"""doccano's JSON Lines: text classification, sequence labelling, and texts written for texts.

    {"id": 1, "text": "…", "label": ["good"], "Comments": ["…"]}
    {"id": 1, "text": "…", "label": [[0, 4, "PER"]]}
    {"id": 1, "text": "…", "entities": [{"label": "PER", "start_offset": 0, "end_offset": 4}], "relations": […]}
    {"id": 1, "text": "…", "entities": [[0, 4, "PER"]], "cats": ["good"]}
    {"id": 1, "text": "…", "annotations": [{"label": 4, "start_offset": 0, "end_offset": 4, "user": 1}], …}

An export is a zip with a file per annotator, called as they are; of several files each is an annotator's, too.
`all.jsonl` and the like, and a single file, tell no annotator. Versions before 1.0 call labels `labels`, or list
everybody's annotations by the numbers of user and label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from annotation.formats.cells import BadCell, required_text, to_key, to_list, to_object, to_text
from annotation.formats.files.containers import entries_of
from annotation.formats.files.tables import open_tables
from annotation.formats.info import POSSIBLE, Format, Writer
from annotation.formats.records import Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import MarkedPlaces, or_none, placed
from annotation.formats.tools.tasks import RaterAnswers, Task, ToolSpan
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask, append_line, zip_folder

QUESTION, CATEGORY = "label", "category"
NOBODY = {"all", "unknown", "train", "dev", "test", "data", "dataset"}
FIELDS = {"id", "text", "label", "labels", "entities", "relations", "cats", "Comments", "annotation_approver"}


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(placed(tasks_of, sources, options), options, has_repeats=True)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(placed(tasks_of, sources, options), name, may_be_words={QUESTION})


def tasks_of(sources: list[SourceFile], options: Options, places: MarkedPlaces) -> Iterator[Task | RowError]:
    has_several = len(sources) > 1 or any(entries_of(source) for source in sources)
    yield from common.tasks_in(open_tables(sources, options), partial(_task, has_several, options, places))


def _task(has_several: bool, options: Options, places: MarkedPlaces, file: str, line: int, cells: dict) -> Task:
    places.at(file, line)
    stem = PurePosixPath(file).name.partition(".")[0]
    who = stem if has_several and stem.lower() not in NOBODY else ""
    text = required_text(cells.get("text"), "text")
    raw = cells["text"] if isinstance(cells["text"], str) else text
    key = to_key(cells["id"], "id", options.limits.key_chars) if cells.get("id") is not None else hashed("t", text)
    by_user = _list(cells.get("annotations"), "annotations") if "annotation_approver" in cells else []
    known = FIELDS | {"annotations"} if by_user else FIELDS
    metadata = {name: value for name, value in cells.items() if name not in known and value not in (None, "", [], {})}
    task = Task(file, line, key, text, metadata=metadata, lost=Counter())
    answers = RaterAnswers(who)
    labels = cells.get("label") if cells.get("label") is not None else cells.get("labels")
    entries = _list(labels, "label")
    for at, one in enumerate(entries):
        if isinstance(one, list):
            _mark_listed(task, places, answers, raw, one, f"label[{at}]")
        else:
            answers.labels.setdefault(QUESTION, []).append(required_text(one, f"label[{at}]"))
    if entries == [] and isinstance(labels, list) and "entities" not in cells:
        answers.labels[QUESTION] = []
    answers.sees_all = bool(who)
    for at, one in enumerate(_list(cells.get("entities"), "entities")):
        if isinstance(one, list):
            _mark_listed(task, places, answers, raw, one, f"entities[{at}]")
        else:
            entity = to_object(one, f"entities[{at}]")
            offsets = entity.get("start_offset"), entity.get("end_offset")
            _mark(task, places, answers, raw, *offsets, entity.get("label"), f"entities[{at}]")
    if isinstance(cells.get("cats"), list):
        answers.labels[CATEGORY] = [required_text(one, f"cats[{at}]") for at, one in enumerate(cells["cats"])]
    task.people += _by_user(task, places, by_user, raw)
    task.lost["Who approved the annotations"] += bool(cells.get("annotation_approver"))
    task.lost["Relations between regions"] += len(_list(cells.get("relations"), "relations"))
    comments = [to_text(one, "Comments") for one in _list(cells.get("Comments"), "Comments")]
    answers.comment = "\n".join(filter(None, comments))
    if any(answers.labels.values()) or answers.spans or answers.comment or who:
        task.people.append(answers)
    return task


def _by_user(task: Task, places: MarkedPlaces, entries: list, raw: str) -> list[RaterAnswers]:
    """Each user's answers, as versions before 1.0 write them: labels are numbers, which name no label."""
    people: dict[str, RaterAnswers] = {}
    for at, one in enumerate(entries):
        column = f"annotations[{at}]"
        one = to_object(one, column)
        user, label = one.get("user"), one.get("label")
        who = f"user {to_text(user, f'{column}.user')}" if user is not None else ""
        answers = people.setdefault(who, RaterAnswers(who, sees_all=bool(who)))
        named = f"label {label}" if type(label) is int else label
        if "start_offset" not in one:
            written = required_text(one.get("text", named), f"{column}.label")
            answers.labels.setdefault(QUESTION, []).append(written)
        else:
            _mark(task, places, answers, raw, one["start_offset"], one.get("end_offset"), named, column)
    return list(people.values())


def _list(value: object, column: str) -> list:
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else to_list(value, column)


def _mark_listed(task: Task, places: MarkedPlaces, answers: RaterAnswers, raw: str, one: list, column: str) -> None:
    if len(one) != 3:
        raise BadCell(column, one, "is not a start, an end and a label")
    _mark(task, places, answers, raw, *one, column)


def _mark(
    task: Task,
    places: MarkedPlaces,
    answers: RaterAnswers,
    raw: str,
    start: object,
    end: object,
    label: object,
    column: str,
) -> None:
    found = or_none(task.errors, task.file, task.line, lambda: places.find(raw, start, end, column))
    if found is None:
        answers.incomplete.add(QUESTION)
        return
    answers.spans.setdefault(QUESTION, []).append(ToolSpan(required_text(label, f"{column} (label)"), *found))


# --- writing --------------------------------------------------------------------------------------------------------

LABELS, PASSAGES = "doccano.zip", "doccano-passages.zip"
LOSES = (
    "Names: annotators are called by their pseudonyms, which are names of files",
    "Texts other than the judged one",
    "Times",
    "Questions, where there are several: labels are called “question: label”",
)


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A zip with a file per annotator, as doccano exports them; `all.jsonl` where annotators are exchangeable, and
    `unknown.jsonl` for texts that nobody labelled. Labelled passages are in a zip of their own."""
    of_texts = [question for question in questions if not question.is_of_passages]
    of_passages = [question for question in questions if question.passages]
    with TemporaryDirectory() as name:
        spool = Path(name)
        for task in tasks:
            for answers in task.people:
                if of_texts:
                    _append(spool / LABELS, answers.who or "all", task, _labels(answers, of_texts))
                if of_passages:
                    _append(spool / PASSAGES, answers.who or "all", task, _passages(answers, of_passages, task))
            for archive in filter(None, (of_texts and LABELS, of_passages and PASSAGES)) if not task.people else ():
                _append(spool / archive, "unknown", task, [])
        for lines in sorted(spool.iterdir()):
            zip_folder(lines, folder / lines.name)


def _labels(answers: WrittenAnswers, questions: list[WrittenQuestion]) -> list[str]:
    return [
        label if len(questions) == 1 else f"{question.title}: {label}"
        for question in questions
        for label in answers.labels.get(question.slug, ())
    ]


def _passages(answers: WrittenAnswers, questions: list[WrittenQuestion], task: WrittenTask) -> list[list]:
    *_, judged = task.texts
    return [
        [span.start, span.end, span.label if len(questions) == 1 else f"{question.title}: {span.label}"]
        for question in questions
        for span in answers.spans.get(question.slug, ())
        if span.field == judged
    ]


def _append(folder: Path, who: str, task: WrittenTask, labels: list) -> None:
    is_number = task.key.isascii() and task.key.isdecimal() and len(task.key) < 16 and str(int(task.key)) == task.key
    key = int(task.key) if is_number else task.key
    append_line(folder / f"{who}.jsonl", task.metadata | {"id": key, "text": task.judged, "label": labels})


def fits(row: dict) -> bool:
    has_lists = any(isinstance(row.get(name), list) for name in ("label", "labels", "entities"))
    return isinstance(row.get("text"), str) and (has_lists or {"annotations", "annotation_approver"} <= row.keys())


INFO = Format(
    slug="doccano",
    title="doccano JSON Lines",
    extensions=(".jsonl",),
    reader=read,
    detect=lambda head: POSSIBLE if fits(head.row) else 0,
    label_set_of=label_set_of,
    writers={"doccano": Writer(title="doccano (zip)", write=write, loses=LOSES)},
)
