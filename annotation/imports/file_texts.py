"""The texts of a file that is only being looked at, for the spans that quote them.

A dry run stores nothing that could be asked for later. The texts that pages would show go to a file of their own that
the system deletes with it; memory holds where they stand, and hashes instead of keys.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from typing import BinaryIO

from annotation.imports.span_texts import FIELDS, PASSAGE_PARENTS
from annotation.task_types import TaskType
from annotation.work.queries.contents import PASSAGE, PASSAGES

PARENTS = ("claim", "question")
Place = tuple[int, int]  # where a text stands, and its bytes


def _nameless_file() -> BinaryIO:
    """Gone with the last reference to it."""
    return tempfile.TemporaryFile()


class FileTexts:
    def __init__(self, description: TaskType):
        self.anchor_kind = description.anchor_kind
        self.fields = FIELDS[description.anchor_kind]
        self.only = PASSAGES.get(description.contents)  # conditions on the passages that a page shows
        self.file = _nameless_file()
        self.end, self.is_at_end = 0, True
        self.texts: dict[int, Place] = {}  # of ((kind, key), column)
        self.parent_of: dict[int, int | None] = {}  # item -> (kind, key) of what it hangs below
        self.roots: set[int] = set()  # (kind, key) of claims and questions that the file has
        # Below (kind, key): rank, last where there is none, then the order of the file, and the text's place
        self.passages: dict[int, list[tuple[bool, int, int, Place]]] = defaultdict(list)
        self.columns: dict[str, set[str]] = defaultdict(set)  # kind -> columns that pages show
        for column in self.fields.values():
            parent, _, name = column.rpartition("__")
            self.columns[parent or self.anchor_kind].add(name)
        self.hangs_below_itself = {kind for kind, link in PASSAGE_PARENTS.get(self.anchor_kind, ()) if link == "id"}

    def saw(self, kind: str, record) -> None:
        for column in self.columns.get(kind, ()):
            self.texts[hash((hash((kind, record.key)), column))] = self._keep(getattr(record, column))
        below = next(((name, key) for name in PARENTS if (key := getattr(record, name, None)) is not None), None)
        if kind in PARENTS:
            self.roots.add(hash((kind, record.key)))
        if kind == self.anchor_kind:
            below = (kind, record.key) if kind in self.hangs_below_itself else below
            self.parent_of[hash(record.key)] = hash(below) if below else None
        is_passage = kind == "evidence" and self.only is not None and below is not None
        if is_passage and all(getattr(record, name) == value for name, value in self.only.items()):
            order = record.rank is None, record.rank or 0, self.end
            self.passages[hash(below)].append((*order, self._keep(record.text)))

    def has(self, item: str) -> bool:
        return hash(item) in self.parent_of

    def tells_passages(self, item: str) -> bool:
        """Whether the file has what the item hangs below; else its passages are the data set's."""
        return self.parent_of[hash(item)] in self.roots

    def text(self, item: str, field: str) -> str | None:
        """The text on the page of an item that the file has; None where the file has no such text."""
        if (column := self.fields.get(field)) is not None:
            parent, _, name = column.rpartition("__")
            owner = self.parent_of[hash(item)] if parent else hash((self.anchor_kind, item))
            place = self.texts.get(hash((owner, name)))
            return self._read(place) if place is not None else None
        number = field.removeprefix(PASSAGE)
        passages = sorted(self.passages.get(self.parent_of[hash(item)], ()))
        if number == field or not number.isdecimal() or not 0 < int(number) <= len(passages):
            return None
        return self._read(passages[int(number) - 1][-1])

    def _keep(self, text: str) -> Place:
        if not self.is_at_end:
            self.file.seek(self.end)
            self.is_at_end = True
        raw = text.encode()
        self.file.write(raw)
        self.end += len(raw)
        return self.end - len(raw), len(raw)

    def _read(self, place: Place) -> str:
        self.file.seek(place[0])
        self.is_at_end = False
        return self.file.read(place[1]).decode()
