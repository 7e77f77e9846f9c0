"""The objects of Assay's content format: which values each has, what a value must be, and which record it becomes.

Reading and writing both follow the table `PARTS`, so they cannot drift apart.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from annotation import incoming
from annotation.formats.cells import BadCell, Places, digest, shorten, to_date, to_key, to_object, to_text
from annotation.formats.records import (
    SYSTEMS,
    AspectRecord,
    AtomicClaimRecord,
    ClaimRecord,
    ComparisonRecord,
    EvidenceRecord,
    PairRecord,
    QuestionRecord,
    Record,
    ResponseRecord,
    SubSentenceRecord,
    TripletRecord,
    piece_key,
)
from annotation.rendering.conversation import is_conversation
from annotation.task_types.base import OUTPUTS

LABELS, METHODS, DERIVED, METADATA, INDEX = "labels", "methods", "derived", "metadata", "index"
PIECES = ("triplets", "sub_sentences", "atomic_claims")


# --- values ---------------------------------------------------------------------------------------------------------


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise BadCell(path, value, "is not a text")
    return to_text(value, path)


def _words(value: object, path: str) -> str:
    """Or a list of turns."""
    text = to_text(value, path) if is_conversation(value) else _text(value, path)
    if not text.strip():
        raise BadCell(path, text, "is empty")
    return text


def _words_or_nothing(value: object, path: str) -> str:
    """For questions, which a file may know by their id alone, and for answers, which may be refused."""
    return _text(value, path) if value == "" else _words(value, path)


def _texts(value: object, path: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise BadCell(path, value, "is not a list of texts")
    return tuple(_text(each, f"{path}[{at}]") for at, each in enumerate(value))


def _date(value: object, path: str):
    return to_date(_text(value, path), path)


def _truth(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise BadCell(path, value, "is neither true nor false")
    return value


def _whole(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadCell(path, value, "is not a whole number")
    return value


def take_id(value: object, path: str, limit: int) -> str:
    """An id: a text or a whole number."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise BadCell(path, value, "is not an id: a text or a whole number")
    return to_key(value, path, limit)


def take_set(value: object, path: str) -> str:
    try:
        return incoming.piece_set(value)
    except incoming.Refused as refused:
        raise BadCell(path, value, str(refused)) from None


def _id(value: object, path: str) -> str:
    """The id of another object, whose length was looked at there."""
    return take_id(value, path, sys.maxsize)


# --- objects --------------------------------------------------------------------------------------------------------

Take = Callable[[object, str], object]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of object. `fields` is name in the file -> (the record's name for it, what takes the value)."""

    kind: str  # as a unit of it is called, and its table
    title: str
    record: type
    fields: MappingProxyType[str, tuple[str, Take]]
    required: tuple[str, ...]
    mark: str = ""  # what an id left out is made with: the parent's id, this and the place in the list
    parents: tuple[str, ...] = ()  # the record's links, by its names
    children: tuple[str, ...] = ()  # lists of further objects
    may_be_named: bool = False  # its id alone is enough where something hangs below it
    has_index: bool = False

    @property
    def attributes(self) -> tuple[str, ...]:
        """What two objects of one id must agree in, by the record's names."""
        return (*(name for name, _ in self.fields.values()), *self.parents, *((INDEX,) if self.has_index else ()))


IN_SET = ("piece_set", take_set)


def _part(kind: str, title: str, record: type, fields: dict, required: tuple[str, ...], **more) -> Part:
    named = {name: take if isinstance(take, tuple) else (name, take) for name, take in fields.items()}
    return Part(kind, title, record, MappingProxyType(named), required, **more)


PARTS: dict[str, Part] = {
    "claim": _part(
        "claim",
        "claim",
        ClaimRecord,
        {"text": _words, "claimant": _text, "date": _date, "source": _text, "verdict": _text},
        ("text",),
        may_be_named=True,
    ),
    "question": _part(
        "question",
        "question",
        QuestionRecord,
        {"text": _words_or_nothing, "date": _date, "answers": _texts},
        ("text",),
        may_be_named=True,
    ),
    "passages": _part(
        "evidence",
        "passage",
        EvidenceRecord,
        {
            "text": _words,
            "title": ("publisher", _text),
            "url": _text,
            "date": _date,
            "gold": ("is_gold", _truth),
            "rank": _whole,
        },
        ("text",),
        mark="p",
        parents=("claim", "question", "atomic_claim", "aspect"),
    ),
    "aspects": _part(
        "aspect",
        "aspect",
        AspectRecord,
        {"text": _words, "set": IN_SET},
        ("text",),
        mark="a",
        parents=("question",),
        children=("passages",),
        has_index=True,
    ),
    "responses": _part(
        "response",
        "response",
        ResponseRecord,
        {
            "text": _words_or_nothing,
            "model": _text,
            "method": _text,
            "repetition": _whole,
            "setting": ("context_setting", _text),
        },
        ("text",),
        mark="r",
        parents=("claim", "question"),
        children=(*PIECES, "aspects"),
        may_be_named=True,
    ),
    "triplets": _part(
        "triplet",
        "triplet",
        TripletRecord,
        {"head": _text, "relation": _text, "tail": _text, "set": IN_SET},
        ("head", "relation", "tail"),
        mark="t",
        parents=("response",),
        has_index=True,
    ),
    "sub_sentences": _part(
        "sub_sentence",
        "sub-sentence",
        SubSentenceRecord,
        {"text": _words, "set": IN_SET},
        ("text",),
        mark="s",
        parents=("response",),
        has_index=True,
    ),
    "atomic_claims": _part(
        "atomic_claim",
        "atomic claim",
        AtomicClaimRecord,
        {"text": _words, "set": IN_SET},
        ("text",),
        mark="c",
        parents=("response",),
        children=("passages",),
        has_index=True,
    ),
    "pairs": _part(
        "pair",
        "pair",
        PairRecord,
        {"premise": _words, "hypothesis": _words, "passage": ("evidence", _id), "response": _id},
        ("premise", "hypothesis"),
        mark="pair-",
    ),
    "comparisons": _part(
        "comparison",
        "comparison",
        ComparisonRecord,
        {**dict.fromkeys(OUTPUTS, _text), **dict.fromkeys(SYSTEMS, _text)},
        OUTPUTS[:2],
        mark="comparison-",
        parents=("question",),
    ),
}
PART_OF_RECORD = {part.record: part for part in PARTS.values()}


@dataclass(slots=True)
class ReadObject:
    """An object taken apart. `fields` is what it says, by the record's names; the rest as it stands."""

    key: str
    path: str
    fields: dict[str, object]
    labels: object
    methods: object
    children: dict[str, object]
    made_key: bool  # the file left the id out

    @property
    def says_nothing(self) -> bool:
        """It only names its id: it refers to an earlier row, in the file or in the data set."""
        return not self.fields


def take(part: Part, value: object, path: str, parent: str, place: int, limit: int) -> ReadObject:
    """BadCell for what is no such object. `parent` and `place` make the id where it is left out."""
    value = to_object(value, path)
    if value.get("id") is not None:
        key = take_id(value["id"], f"{path}.id", limit)
    elif part.mark and parent:
        piece_set = take_set(value.get("set") or "", f"{path}.set") if "set" in part.fields else ""
        key = piece_key(parent, place, part.mark, piece_set)
    else:
        raise BadCell(f"{path}.id", "", "is missing")
    found = ReadObject(key, path, {}, value.get(LABELS), value.get(METHODS), {}, value.get("id") is None)
    extra = {}
    for name, inner in value.items():
        if name in part.fields:
            if inner is not None:
                attribute, how = part.fields[name]
                found.fields[attribute] = how(inner, f"{path}.{name}")
        elif name in part.children:
            found.children[name] = inner
        elif name == METADATA:
            extra |= {} if inner is None else to_object(inner, f"{path}.{name}")
        elif name == INDEX and part.has_index:
            found.fields[INDEX] = _whole(inner, f"{path}.{name}")
        elif name not in ("id", LABELS, METHODS, DERIVED):
            extra[name] = inner
    if extra:
        found.fields[METADATA] = extra
    return found


def make(part: Part, found: ReadObject, parents: dict[str, str], place: int) -> Record:
    """The record of an object that says all that it must; BadCell where something is missing."""
    for name in part.required:
        if part.fields[name][0] not in found.fields:
            raise BadCell(f"{found.path}.{name}", "", "is missing")
    values = {INDEX: place} if part.has_index else {}
    return part.record(key=found.key, **(values | found.fields | parents))


class Met(Places):
    """The objects of one kind that were met: where each occurred first and its values, in some 250 bytes per object."""

    def __init__(self, part: Part):
        super().__init__()
        self.part = part
        self.names = (*part.attributes, METADATA)
        self.shown = {name: shown for shown, (name, _) in part.fields.items()}
        self.marks: dict[bytes, tuple[int, bytes]] = {}

    def knows(self, key: str) -> bool:
        return digest(key) in self.marks

    def is_under(self, key: str, parent: str, parent_key: str) -> bool:
        """Whether a known object hangs below this parent."""
        at = 8 * self.names.index(parent)
        return self.marks[digest(key)][1][at : at + 8] == struct.pack("q", _mark(parent_key))

    def first(self, record: Record, line: int) -> None:
        marks = struct.pack(f"{len(self.names)}q", *(_mark(getattr(record, name)) for name in self.names))
        self.marks[digest(record.key)] = (self.base + line, marks)

    def again(self, found: ReadObject, parents: dict[str, str]) -> None:
        """BadCell where the object says another thing than the one of its id did before. It may say less."""
        place, marks = self.marks[digest(found.key)]
        for at, name in enumerate(self.names):
            if name in found.fields or name in parents:
                value = found.fields.get(name, parents.get(name))
                if marks[8 * at : 8 * at + 8] != struct.pack("q", _mark(value)):
                    raise self._contradiction(found, name, value, place)

    def _contradiction(self, found: ReadObject, name: str, value: object, place: int) -> BadCell:
        first = self.describe(place)
        if name in self.part.parents:
            reason = f"belongs to another {name} on {first}"
            return BadCell(f"{found.path}.id", found.key, reason)
        reason = f"differs from {first}, which is about the same {self.part.title} {shorten(found.key)}"
        if found.made_key:
            reason += "; give each an id of its own"
        shown = value if isinstance(value, str) else "" if value is None else str(value)
        return BadCell(f"{found.path}.{self.shown.get(name, name)}", shown, reason)


def _mark(value: object) -> int:
    return hash(json.dumps(value, sort_keys=True) if isinstance(value, dict) else value)
