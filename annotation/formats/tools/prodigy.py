"""Prodigy's JSON Lines (`prodigy db-out`): choices, texts accepted or rejected, and spans.

    {"text": "…", "label": "SPORTS", "answer": "accept", "_annotator_id": "ann", "_input_hash": 1, "_task_hash": 2}
    {"text": "…", "options": [{"id": "a", "text": "A"}], "accept": ["a"], "answer": "accept", …}
    {"text": "…", "spans": [{"start": 0, "end": 4, "label": "PER"}], "answer": "accept", …}

Every line is one person's answer about one text: texts with the same `_input_hash` and words are one. A label that is
accepted or rejected is a question of its own. Offsets are code points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.formats.cells import BadCell, required_text, to_list, to_objects, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, Writer, has_columns
from annotation.formats.names import label_key
from annotation.formats.records import Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import MarkedPlaces, or_none, placed
from annotation.formats.tools.tasks import RaterAnswers, Task, ToolSpan, instant
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask, append_line, zip_folder

CHOICE, SPANS = "choice", "spans"
ANSWERS = ("accept", "reject", "ignore")
FILE = "prodigy.zip"
LOSES = (
    "Names: annotators are called by their pseudonyms",
    "Questions that are answered in words or by a number",
    "Titles of questions that take labels: each question has a file",
    "Keys of texts; texts that nobody labelled; time spent",
)
FIELDS = {"text", "label", "answer", "options", "accept", "spans", "meta", "_annotator_id", "_session_id", "_timestamp"}
# What Prodigy writes for its own use: tokens can be made again, hashes follow from the texts, the rest is of its pages.
OWN = {"tokens", "_input_hash", "_task_hash", "_view_id", "config", "_is_binary"}


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(placed(tasks_of, sources, options), options, has_repeats=True)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    made = common.label_set_of(placed(tasks_of, sources, options), name)
    for question in made.get("questions", ()):  # a label that nobody accepted, or nobody rejected
        if question["slug"] not in (CHOICE, SPANS):
            question["labels"] = [{"value": one, "title": one} for one in ANSWERS[:2]]
    return made


def tasks_of(sources: list[SourceFile], options: Options, places: MarkedPlaces) -> Iterator[Task | RowError]:
    yield from common.tasks_in(open_tables(sources, options), partial(_task, places))


def _task(places: MarkedPlaces, file: str, line: int, cells: dict) -> Task:
    places.at(file, line)
    text = required_text(cells.get("text"), "text")
    raw = cells["text"] if isinstance(cells["text"], str) else text
    answer = cells.get("answer", "accept")
    if answer not in ANSWERS:
        raise BadCell("answer", answer, f"is not one of {', '.join(ANSWERS)}")
    lost: Counter[str] = Counter()
    for name, value in cells.items():
        if name not in FIELDS and value not in (None, "", [], {}):
            kind = "Prodigy's own fields" if name in OWN else "Fields"
            lost[f"{kind}: {common.shown(name)}"] += 1
    meta = cells.get("meta")
    metadata = {"prodigy": meta} if isinstance(meta, dict) and meta else {}
    task = Task(file, line, hashed("t", text), text, metadata=metadata, lost=lost)
    answers = RaterAnswers(_annotator(cells), submitted_at=_moment(cells.get("_timestamp")))
    if answer == "ignore":
        lost["Texts that annotators ignored"] += 1
        return task
    label = cells.get("label")
    if label is not None and label != "":
        answers.labels[required_text(label, "label")] = [answer]
    is_rejected = answer == "reject"
    if isinstance(cells.get("options"), list) or "accept" in cells:
        if is_rejected:
            lost["Choices that were rejected as a whole"] += 1
        else:
            answers.labels[CHOICE] = _choices(cells)
    is_manual = isinstance(cells.get("tokens"), list) and not cells.get("_is_binary")
    if (isinstance(cells.get("spans"), list) or is_manual) and not is_rejected:  # no spans: nothing was marked
        answers.spans[SPANS] = []
    for at, span in enumerate(to_objects(cells.get("spans"), "spans")):
        if is_rejected and label in (None, ""):
            lost["Spans that were rejected"] += 1
            continue
        found = or_none(task.errors, file, line, partial(_span, span, raw, places, f"spans[{at}]"))
        if found is None:
            answers.incomplete.add(SPANS)
        else:
            answers.spans.setdefault(SPANS, []).append(found)
    if answers.labels or answers.spans:
        task.people.append(answers)
    return task


def _annotator(cells: dict) -> str:
    who = cells.get("_annotator_id") if cells.get("_annotator_id") is not None else cells.get("_session_id")
    return to_text(who, "_annotator_id").strip()


def _moment(value: object) -> datetime | None:
    """Seconds since 1970."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 7e9
    return instant(datetime.fromtimestamp(value, UTC).isoformat()) if is_number else None


def _choices(cells: dict) -> list[str]:
    """The texts of the options that were accepted; their ids where they have none."""
    titles = {}
    for at, option in enumerate(to_objects(cells.get("options"), "options")):
        name = to_text(option.get("id"), f"options[{at}].id")
        title = option.get("text")
        titles[name] = title if isinstance(title, str) and title.strip() else name
    accepted = to_list(cells.get("accept", []), "accept")
    names = [required_text(one, f"accept[{at}]") for at, one in enumerate(accepted)]
    return [titles.get(name, name) for name in names]


def _span(span: dict, raw: str, places: MarkedPlaces, column: str) -> ToolSpan:
    found = places.find(raw, span.get("start"), span.get("end"), column, span.get("text"))
    return ToolSpan(required_text(span.get("label"), f"{column}.label"), *found)


def holds(question: WrittenQuestion) -> bool:
    return bool(question.labels)


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A zip with a file for each question, as `prodigy db-in` takes it into a data set of its own."""
    with TemporaryDirectory() as name:
        spool = Path(name)
        for task in tasks:
            for question in filter(holds, questions):
                for answers in task.people:
                    if question.slug in answers.labels:
                        append_line(spool / f"{question.slug}.jsonl", _line(task, question, answers))
        zip_folder(spool, folder / FILE)


def _line(task: WrittenTask, question: WrittenQuestion, answers: WrittenAnswers) -> dict:
    labels, (*_, judged) = answers.labels[question.slug], task.texts
    line: dict = {"text": task.judged}
    if question.is_of_passages:
        line |= {"answer": "accept", "_view_id": "spans_manual"}
    elif tuple(question.labels) == ANSWERS[:2]:  # a label that was accepted or rejected
        line |= {"label": question.title, "answer": labels[0], "_view_id": "classification"}
    else:
        named = question.labels.items()
        ids = {title: label_key(title) if value == title else value for value, title in named}
        if len({*ids.values()}) < len(ids):  # `US` and `us`
            ids = {title: value for value, title in named}
        options = [{"id": own, "text": title} for title, own in ids.items()]
        line |= {"options": options, "accept": [ids.get(label, label) for label in labels], "answer": "accept"}
        line["_view_id"] = "choice"
    if question.passages:
        line["spans"] = [
            {"start": span.start, "end": span.end, "label": span.label}
            for span in answers.spans.get(question.slug, ())
            if span.field == judged
        ]
    others = {name: text for name, text in task.texts.items() if name != judged and text}
    if meta := task.metadata.get("prodigy") or others:
        line["meta"] = meta
    if answers.who:
        line |= {"_annotator_id": answers.who, "_session_id": answers.who}
    if answers.submitted_at:
        moment = answers.submitted_at.timestamp()
        line["_timestamp"] = int(moment) if moment.is_integer() else moment
    return line


INFO = Format(
    slug="prodigy",
    title="Prodigy JSON Lines",
    extensions=(".jsonl",),
    reader=read,
    detect=has_columns("text _input_hash _task_hash", "text answer options"),
    label_set_of=label_set_of,
    writers={"prodigy": Writer(title="Prodigy (zip)", write=write, loses=LOSES, holds=holds)},
)
