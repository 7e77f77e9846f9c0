"""Writing Assay's content format. The objects come from records, so that what was read is written as it stood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from annotation.formats.content.parts import DERIVED, INDEX, LABELS, METADATA, METHODS, PART_OF_RECORD
from annotation.formats.files.spreadsheets import write_json_lines
from annotation.formats.records import Record

NOTHING = (None, "", (), [])


def as_object(
    record: Record, place: int = 0, labels: Mapping[str, str] | None = None, derived: Mapping[str, str] | None = None
) -> dict:
    """The record as an object of a line, without the parents that the line names, and without values that are empty.

    `place` is its place in the list that it stands in: an index that is the same is not written. Metadata is written
    with sorted keys, since not every database keeps their order.
    """
    part = PART_OF_RECORD[type(record)]
    fields: dict[str, object] = {"id": record.key}
    for name, (attribute, _) in part.fields.items():
        value = getattr(record, attribute)
        is_left_out = value in NOTHING or (name == "repetition" and value == 0)
        if name in part.required or not is_left_out:
            fields[name] = value.isoformat() if isinstance(value, date) else _plain(value)
    if part.has_index and record.index != place:
        fields[INDEX] = record.index
    if record.metadata:
        fields[METADATA] = _sorted(record.metadata)
    return fields | labelled(labels, derived)


def labelled(
    labels: Mapping[str, str | list[str]] | None,
    derived: Mapping[str, str] | None = None,
    methods: Mapping[str, str] | None = None,
) -> dict:
    """What an object says of the labels of the unit that it is, and what made each; nothing where there are none."""
    labels_by_dimension = {}
    if labels:
        labels_by_dimension[LABELS] = dict(labels)
    if methods:
        labels_by_dimension[METHODS] = dict(methods)
    if derived:
        labels_by_dimension[DERIVED] = dict(derived)
    return labels_by_dimension


def line_object(parent: dict | None, kind: str = "question", **lists: list[dict]) -> dict:
    """A line: the parent's object, which is a `question` or a `claim`, and the lists that are not empty."""
    return ({kind: parent} if parent is not None else {}) | {name: values for name, values in lists.items() if values}


def write(lines: Iterable[dict], path: str | Path) -> int:
    """Write lines as JSON Lines. Returns their number."""
    return write_json_lines(path, lines)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
