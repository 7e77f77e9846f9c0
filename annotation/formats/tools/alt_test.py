"""The data of the alternative annotator test (Calderon et al. 2025): `human_annotations.json`, `llm_annotations.json`,
each `{rater: {item: label}}`, as a folder or a zip.

They hold no texts: a table with `id` and `text`, given along, does. Without it a text is called by its id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from annotation.formats.cells import BadCell, row_error, to_key, to_text
from annotation.formats.files.containers import entries_of
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, LostRecord, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools import tasks as common
from annotation.formats.tools.potato import NO_TEXT, texts_in
from annotation.formats.tools.tasks import Said, Task

PEOPLE, MODELS = "human_annotations.json", "llm_annotations.json"
QUESTION = "label"
FILE_BYTES = 128 * MIB  # a file is one value


def is_annotations(name: str) -> bool:
    return PurePosixPath(name).name.removesuffix(".gz") in (PEOPLE, MODELS)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(tasks_of(sources, options), name)


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError | LostRecord]:
    said, data = [], []
    for source in sources:
        entries = entries_of(source)
        each = [SourceFile(source.path, source.name, entry.filename) for entry in entries] if entries else [source]
        for one in each:
            (said if is_annotations(one.entry or one.label) else data).append(one)
    if not said:
        raise FormatError(f"{sources[0].label}: has neither {PEOPLE} nor {MODELS}")
    texts = yield from texts_in(data, options)
    tasks: dict[str, Task] = {}
    by_place: dict[tuple[bool, str], dict[str, Said]] = defaultdict(dict)
    for table in open_tables(said, replace(options, limits=replace(options.limits, record_bytes=FILE_BYTES))):
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
                        by_place[is_model, key][rater] = Said(rater, {QUESTION: [text]})
    for key, task in tasks.items():
        task.people = list(by_place[False, key].values())
        task.models = list(by_place[True, key].values())
        yield task
