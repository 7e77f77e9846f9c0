"""The folder of a project of Potato 2, as a zip: configuration, texts, and a file for everybody who labelled them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.formats.tools.potato.reading import ANSWERS, LIKERT, SINCE_2_9, SPAN, STATE, TEXT, TEXT_BOXES
from annotation.formats.tools.tool_tasks import (
    WrittenAnswers,
    WrittenQuestion,
    WrittenTask,
    append_line,
    names_of,
    zip_folder,
)

CONFIG, TEXTS, USERS = "config.yaml", "data.jsonl", "annotation_output"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LOSES = (
    "Names: annotators are called by their pseudonyms",
    "Answers of raters without a name",
    "Answers that none of several labels applies, or that nothing is marked",
    "Highlights of texts other than the judged one",
    "Titles of questions that Potato does not accept as names, levels, and conditions on which questions are asked",
    "Metadata, and times of submission",
    "When imported: texts other than the judged one, and texts that nobody labelled",
)


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A zip of a folder that `potato start config.yaml` takes up: configuration, texts, and all answers."""
    names, raters, others = names_of(questions, NAME), {}, {}
    with TemporaryDirectory() as name:
        spool, made = Path(name, "lines"), Path(name, "made")
        spool.mkdir()
        (spool / TEXTS).touch()
        for task in tasks:
            *shown_too, judged = task.texts
            others |= dict.fromkeys(shown_too)
            more = {each: task.texts[each] for each in shown_too}
            append_line(spool / TEXTS, more | {"id": task.key, "text": task.judged})
            for answers in task.people:
                labels, spans = _labels(answers, questions, names), _spans(answers, questions, names, judged)
                if answers.who and (labels or spans):
                    number = raters.setdefault(answers.who, len(raters))
                    append_line(spool / str(number), [task.key, labels, spans, answers.active_ms])
        for who, number in raters.items():
            _write_state(who, spool / str(number), made / USERS / who / STATE)
        made.mkdir(exist_ok=True)
        with open(made / TEXTS, "w", encoding="utf-8", newline="") as out:
            # Potato shows nothing at all of a text that lacks a field.
            out.writelines(f"{_dumped(dict.fromkeys(others, '') | row)}\n" for row in _rows(spool / TEXTS))
        _write_config(questions, names, list(others), made / CONFIG)
        zip_folder(made, folder / "potato.zip")


def _name_of_spans(question: WrittenQuestion, name: str) -> str:
    return name if question.is_of_passages else f"{name}-spans"


def _labels(answers: WrittenAnswers, questions: list[WrittenQuestion], names: Mapping[str, str]) -> list:
    found = []
    for one in questions:
        labels = [] if one.is_of_passages else answers.labels.get(one.slug, [])
        own = "number" if one.takes_number else TEXT_BOXES[0] if one.takes_text else None
        found += [[{"schema": names[one.slug], "name": own or label}, label] for label in labels]
    return found


def _spans(answers: WrittenAnswers, questions: list[WrittenQuestion], names: Mapping[str, str], judged: str) -> list:
    return [
        [
            {
                "schema": _name_of_spans(one, names[one.slug]),
                "name": span.label,
                "title": span.label,
                "start": span.start,
                "end": span.end,
                "target_field": "text",
            },
            span.label,
        ]
        for one in questions
        for span in answers.spans.get(one.slug, ())
        if span.field == judged
    ]


def _write_state(who: str, lines: Path, target: Path) -> None:
    """One person's answers, read line by line for each part of the file."""
    target.parent.mkdir(parents=True)
    parts = (ANSWERS[0], 1), (ANSWERS[1], 2), (ANSWERS[2], 3)
    phase = {"current_phase_and_page": ["annotation", "annotation"], SINCE_2_9: {}}
    with open(target, "w", encoding="utf-8", newline="") as out:
        out.write("{\n" + _dumped({"user_id": who, **phase})[1:-1])  # on a line of its own: the file is no JSON Lines
        out.write(f',\n"instance_id_ordering": [{", ".join(_dumped(key) for key, *_ in _rows(lines))}]')
        for part, place in parts:
            out.write(f',\n"{part}": {{')
            mark = ""
            for row in _rows(lines):
                value = {"instance_id": row[0], "total_time_ms": row[3]} if place == 3 and row[3] else row[place]
                if value:
                    out.write(f"{mark}\n{_dumped(row[0])}: {_dumped(value)}")
                    mark = ","
            out.write("}")
        out.write("\n}\n")


def _rows(lines: Path) -> Iterator:
    with open(lines, encoding="utf-8") as opened:
        yield from map(json.loads, opened)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write_config(questions: list[WrittenQuestion], names: Mapping[str, str], others: list[str], target: Path) -> None:
    import yaml

    has_spans = any(one.passages for one in questions)
    # Fields that are displayed one by one are shown as they are, without HTML, so that offsets hold.
    fields = [{"key": each, "type": "text", "label": each} for each in others]
    fields.append({"key": "text", "type": "text", "span_target": has_spans})
    config = {
        "annotation_task_name": "Labels",
        "task_dir": ".",
        "output_annotation_dir": USERS,
        "data_files": [TEXTS],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "instance_display": {"fields": fields},
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "annotation_schemes": [scheme for one in questions for scheme in _schemes(one, names[one.slug])],
    }
    with open(target, "w", encoding="utf-8", newline="") as out:
        yaml.safe_dump(config, out, allow_unicode=True, sort_keys=False)


def _schemes(question: WrittenQuestion, name: str) -> Iterator[dict]:
    labels = list(question.labels.values())
    scale = [str(point) for point in range(1, len(labels) + 1)]
    scheme = {"name": name, "description": question.title}
    if question.takes_number:
        yield {"annotation_type": "number", **scheme}
    elif question.takes_text:
        yield {"annotation_type": TEXT, **scheme, "textarea": {"on": True}}
    elif question.takes_several:
        yield {"annotation_type": "multiselect", **scheme, "labels": labels}
    elif labels == scale:
        ends = {"min_label": labels[0], "max_label": labels[-1]}
        yield {"annotation_type": LIKERT, **scheme, "size": len(labels), **ends}
    elif not question.is_of_passages:
        yield {"annotation_type": "radio", **scheme, "labels": labels}
    if question.passages:
        title = question.title if question.is_of_passages else question.passages_title or question.title
        scheme = {"name": _name_of_spans(question, name), "description": title}
        yield {"annotation_type": SPAN, **scheme, "labels": list(question.passages.values())}
