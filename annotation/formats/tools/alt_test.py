"""The data of the alternative annotator test (Calderon et al. 2025): `human_annotations.json`, `llm_annotations.json`,
each `{rater: {item: label}}`, as a folder or a zip.

They hold no texts: a table with `id` and `text`, given along, does. Without it a text is called by its id.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from annotation.formats.cells import BadCell, row_error, to_key, to_text
from annotation.formats.files.containers import entries_of
from annotation.formats.files.tables import open_tables
from annotation.formats.info import SURE, Format, Writer
from annotation.formats.records import FormatError, LostRecord, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools import tasks as common
from annotation.formats.tools.potato.reading import NO_TEXT, texts_in
from annotation.formats.tools.tasks import RaterAnswers, Task
from annotation.formats.tools.tool_tasks import (
    WrittenQuestion,
    WrittenTask,
    append_line,
    number_or_text,
    zip_folder,
)

PEOPLE, MODELS = "human_annotations.json", "llm_annotations.json"
QUESTION, TEXTS = "label", "items.jsonl"
FILE_BYTES = 128 * MIB  # a file is one value
LOSES = (
    "Names: annotators are called by their pseudonyms",
    "Answers of raters without a name",
    "Questions that take several labels, words or highlights, and the titles of the others, which have a file each",
    "Texts other than the judged one, metadata, times, and probabilities of suggestions",
)


def is_annotations(name: str) -> bool:
    return PurePosixPath(name).name.removesuffix(".gz") in (PEOPLE, MODELS)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(tasks_of(sources, options), name)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError | LostRecord]:
    everybody, data = [], []
    for source in sources:
        entries = entries_of(source)
        each = [SourceFile(source.path, source.name, entry.filename) for entry in entries] if entries else [source]
        for one in each:
            (everybody if is_annotations(one.entry or one.label) else data).append(one)
    if not everybody:
        raise FormatError(f"{sources[0].label}: has neither {PEOPLE} nor {MODELS}")
    texts = yield from texts_in(data, options)
    tasks: dict[str, Task] = {}
    by_place: dict[tuple[bool, str], dict[str, RaterAnswers]] = defaultdict(dict)
    for table in open_tables(everybody, replace(options, limits=replace(options.limits, record_bytes=FILE_BYTES))):
        is_model = PurePosixPath(table.name).name == MODELS
        for row in table.rows:
            if isinstance(row, RowError):
                yield row
                continue
            line, cells = row
            for who, labels in cells.items():
                if not isinstance(labels, dict):
                    yield row_error(table.name, line, BadCell(who, labels, "is not a JSON object of items with labels"))
                    continue
                for item, label in labels.items():
                    try:
                        key = to_key(item, who, options.limits.key_chars)
                        text = to_text(label, f"{who}: {item}").strip()
                    except BadCell as problem:
                        yield row_error(table.name, line, problem)
                        continue
                    if key not in tasks:
                        tasks[key] = Task(table.name, line, key, texts.get(key) or key)
                        if key not in texts:
                            tasks[key].lost[NO_TEXT] += 1
                    rater = common.model_name(who) if is_model else who
                    if text:
                        by_place[is_model, key][rater] = RaterAnswers(rater, {QUESTION: [text]})
    for key, task in tasks.items():
        task.people = list(by_place[False, key].values())
        task.models = list(by_place[True, key].values())
        yield task


def holds(question: WrittenQuestion) -> bool:
    return not (question.takes_several or question.takes_text or question.is_of_passages)


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """A zip for each question with the two files and the texts, `items.jsonl`."""
    held = [question for question in questions if holds(question)]
    names = {each.slug: "alt-test.zip" if len(held) == 1 else f"alt-test-{each.slug}.zip" for each in held}
    raters: dict[tuple[str, str], int] = {}  # (file, rater) -> number
    with TemporaryDirectory() as name:
        spool, made = Path(name, "lines"), Path(name, "made")
        for task in tasks:
            for question in held:
                append_line(made / names[question.slug] / TEXTS, {"id": task.key, "text": task.judged})
                for file, everybody in ((PEOPLE, task.people), (MODELS, task.models)):
                    for of_rater in everybody:
                        if of_rater.who and (labels := of_rater.labels.get(question.slug)):
                            label = number_or_text(labels[0]) if question.is_of_numbers else labels[0]
                            rater = raters.setdefault((file, of_rater.who), len(raters))
                            append_line(spool / question.slug / str(rater), [task.key, label])
        for question in held:
            here = made / names[question.slug]
            for file in (PEOPLE, MODELS) if here.exists() else ():
                own = {who: spool / question.slug / str(number) for (of, who), number in raters.items() if of == file}
                _join({who: path for who, path in own.items() if path.exists()}, here / file)
            if here.exists():
                zip_folder(here, folder / here.name)


def _join(of_raters: dict[str, Path], target: Path) -> None:
    """`{rater: {item: label}}`, read line by line."""
    with open(target, "w", encoding="utf-8", newline="") as out:
        out.write("{")
        for place, (who, path) in enumerate(sorted(of_raters.items())):
            out.write(f"{',' if place else ''}\n{json.dumps(who, ensure_ascii=False)}: {{")
            with open(path, encoding="utf-8") as lines:
                for at, line in enumerate(lines):
                    item, label = json.loads(line)
                    entry = f"{json.dumps(item, ensure_ascii=False)}: {json.dumps(label, ensure_ascii=False)}"
                    out.write(f"{',' if at else ''}\n  {entry}")
            out.write("\n}")
        out.write("\n}\n")


INFO = Format(
    slug="alt-test",
    title="Alternative annotator test (zip or folder)",
    extensions=(".json",),
    reader=read,
    detect=lambda head: SURE if any(map(is_annotations, head.names)) else 0,
    has_content_file=True,
    label_set_of=label_set_of,
    writers={
        "alt-test": Writer(
            title="Alternative annotator test (zip)", write=write, loses=LOSES, holds=holds, has_suggestions=True
        )
    },
)
