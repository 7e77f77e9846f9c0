"""Prodigy's JSON Lines (`prodigy db-out`): choices, texts accepted or rejected, and spans.

    {"text": "…", "label": "SPORTS", "answer": "accept", "_annotator_id": "ann", "_input_hash": 1, "_task_hash": 2}
    {"text": "…", "options": [{"id": "a", "text": "A"}], "accept": ["a"], "answer": "accept", …}
    {"text": "…", "spans": [{"start": 0, "end": 4, "label": "PER"}], "answer": "accept", …}

Every line is what one person said of one text: texts with the same `_input_hash` and words are one. A label that is
accepted or rejected is a question of its own. Offsets are code points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from annotation.formats.cells import BadCell, required_text, to_list, to_objects, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.records import Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.rows import hashed
from annotation.formats.tools import tasks as common
from annotation.formats.tools.offsets import marked_place
from annotation.formats.tools.tasks import Said, Task, ToolSpan, instant

CHOICE, SPANS = "choice", "spans"
ANSWERS = ("accept", "reject", "ignore")
FIELDS = {"text", "label", "answer", "options", "accept", "spans", "meta", "_annotator_id", "_session_id", "_timestamp"}
# What Prodigy writes for its own use: tokens can be made again, hashes follow from the texts, the rest is of its pages.
OWN = {"tokens", "_input_hash", "_task_hash", "_view_id", "config", "_is_binary"}


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options, has_repeats=True)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(tasks_of(sources, options), name)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError]:
    yield from common.tasks_in(open_tables(sources, options), _task)


def _task(file: str, line: int, cells: dict) -> Task:
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
    said = Said(_annotator(cells), submitted_at=_moment(cells.get("_timestamp")))
    if answer == "ignore":
        lost["Texts that annotators ignored"] += 1
        return task
    label = cells.get("label")
    if label is not None and label != "":
        said.labels[required_text(label, "label")] = [answer]
    is_rejected = answer == "reject"
    if isinstance(cells.get("options"), list) or "accept" in cells:
        if is_rejected:
            lost["Choices that were rejected as a whole"] += 1
        else:
            said.labels[CHOICE] = _choices(cells)
    is_manual = isinstance(cells.get("tokens"), list) and not cells.get("_is_binary")
    if (isinstance(cells.get("spans"), list) or is_manual) and not is_rejected:  # no spans: nothing was marked
        said.spans[SPANS] = []
    for at, span in enumerate(to_objects(cells.get("spans"), "spans")):
        if is_rejected and label in (None, ""):
            lost["Spans that were rejected"] += 1
            continue
        said.spans.setdefault(SPANS, []).append(_span(span, raw, f"spans[{at}]"))
    if said.labels or said.spans:
        task.people.append(said)
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


def _span(span: dict, raw: str, column: str) -> ToolSpan:
    found = marked_place(raw, span.get("start"), span.get("end"), column, span.get("text"))
    return ToolSpan(required_text(span.get("label"), f"{column}.label"), *found)
