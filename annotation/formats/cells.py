"""From a cell of a file to a typed value. A cell that cannot be taken raises BadCell, which becomes a row error."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime

from annotation import incoming
from annotation.rendering.conversation import BadConversation, is_conversation
from annotation.rendering.conversation import to_text as conversation_text

from .records import RowError

SHOWN_CHARS = 80
TRUE = frozenset({"true", "1", "yes", "t"})
FALSE = frozenset({"false", "0", "no", "f"})
SIX_WAY = (
    "refutes",
    "insufficient-refutes",
    "insufficient-contradictory",
    "insufficient-neutral",
    "insufficient-supports",
    "supports",
)
THREE_WAY = ("refutes", "not_enough_info", "supports")
# What a format accepts where the user names no task type. The two stance sets live side by side.
STANDARD_LABELS: Mapping[str, tuple[str, ...]] = {
    "relevance": ("relevant", "not_relevant"),
    "stance": (*SIX_WAY, "not_enough_info"),
    "entailment": ("entailment", "neutral", "contradiction", "bad_triplet"),
}
SPELLINGS = {
    "relevance": {
        "true": "relevant",
        "1": "relevant",
        "yes": "relevant",
        "false": "not_relevant",
        "0": "not_relevant",
        "no": "not_relevant",
        "irrelevant": "not_relevant",
        "not relevant": "not_relevant",
    },
    "stance": {
        "support": "supports",
        "supported": "supports",
        "entailment": "supports",
        "refute": "refutes",
        "refuted": "refutes",
        "contradiction": "refutes",
        "contradict": "refutes",
        "nei": "not_enough_info",
        "not enough info": "not_enough_info",
        "not enough information": "not_enough_info",
        "not enough evidence": "not_enough_info",
        "neutral": "not_enough_info",
    },
    "entailment": {
        "e": "entailment",
        "n": "neutral",
        "c": "contradiction",
        "entailed": "entailment",
        "entails": "entailment",
        "supported": "entailment",
        "supports": "entailment",
        "contradicted": "contradiction",
        "contradicts": "contradiction",
        "contradictory": "contradiction",
        "not entailment": "non-entailment",
        "nonentailment": "non-entailment",
        "not entailed": "non-entailment",
        "refuted": "contradiction",
        "refutes": "contradiction",
        "bad": "bad_triplet",
        "not enough info": "neutral",
        "nei": "neutral",
    },
}
# Cells that say that there is no label, in `normal` spelling ("-" is empty there).
NO_LABEL = frozenset({"", "not applicable"})
_SEPARATORS = re.compile(r"[\s_\-]+")


class BadCell(Exception):
    def __init__(self, column: str, value: object, reason: str):
        super().__init__(reason)
        self.column, self.value, self.reason = column, value, reason


class LeftOut(BadCell):
    """Nothing is wrong with the row: it is of a kind that is to be left out."""


FEW_TEXTS = 2  # labels among numbers, such as NaN or "error"


def number_in(text: str) -> float | None:
    """The finite number that a text is; None where it is none. `1_2` is a name, though Python reads it as 12."""
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def label_order(label: str) -> tuple[bool, float, str, str]:
    """Sorts labels: numbers by value, then words by the alphabet, with capital letters next to small ones."""
    number = number_in(label)
    return number is None, number or 0, label.casefold(), label


def level_of(values: Collection[str]) -> str:
    """The level of labels where nobody chose one: interval where all are numbers. Two values are as far
    apart on any level, and are nominal."""
    return "interval" if len(set(values)) > 2 and None not in map(number_in, values) else "nominal"


def level_note(values: Collection[str], level: str) -> str:
    """What reports say of a level that nobody chose; empty for labels that are no scale. A few labels that are no
    number keep the others from being one."""
    other = "nominal or ordinal" if level == "interval" else "nominal"
    if treated := _treated_as(values, level):
        return f"{treated}; choose another level with --level {other}"
    texts = sorted({value for value in values if number_in(value) is None})
    if level == "nominal" and texts and len(texts) <= FEW_TEXTS and level_of({*values} - {*texts}) == "interval":
        names = " and ".join(map(repr, texts))
        return f"{names} {'is' if len(texts) == 1 else 'are'} no number, so the labels have no order; empty such cells"
    return ""


def label_set_note(values: Collection[str], level: str) -> str:
    """The same of a question of a label set, if it has the level that is taken for its values where nobody chose."""
    treated = _treated_as(values, level) if level == level_of(values) else ""
    words = "the level of the question in its label set; choose another in a new version of it, for a new project"
    return f"{treated}, {words}" if treated else ""


def _treated_as(values: Collection[str], level: str) -> str:
    numbers = sorted({value for value in values if number_in(value) is not None}, key=float)
    is_scale = level != "nominal" and numbers
    return f"values {numbers[0]} to {numbers[-1]} are treated as {level}" if is_scale else ""


def shorten(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def row_error(file: str, line: int | None, problem: BadCell) -> RowError:
    return RowError(file, line, problem.column, shorten(problem.value), problem.reason)


def to_text(value: object, column: str) -> str:
    """The text of a cell: "" for a missing one; numbers and truth values as Python writes them; CRLF becomes LF."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n") if "\r" in value else value
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == datetime.min.time() else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if is_conversation(value):
        return conversation_cell(value, column)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        raise BadCell(column, value, "is neither a text nor a conversation, whose turns have a role and a content")
    raise BadCell(column, value, "is not a text")


def conversation_cell(turns: list, column: str) -> str:
    """Turns as one text."""
    try:
        return conversation_text(turns)
    except BadConversation as why:
        raise BadCell(column, turns, f"is not a conversation that can be read. {why}") from None


def required_text(value: object, column: str) -> str:
    text = to_text(value, column)
    if not text or text.isspace():
        raise BadCell(column, text, "is empty")
    return text


def to_key(value: object, column: str, limit: int) -> str:
    """An id from the file. Kept as it is, so it must not be empty, padded or overlong."""
    text = to_text(value, column)
    if not text or text.isspace():
        raise BadCell(column, text, "is empty")
    if len(text) > limit:
        raise BadCell(column, text, f"is an id of {len(text):,} characters; at most {limit:,} are stored")
    if "\n" in text or text[0].isspace() or text[-1].isspace():
        raise BadCell(column, text, "is an id with spaces or line breaks around or in it")
    return text


def to_list(value: object, column: str) -> list:
    if not isinstance(value, list):
        raise BadCell(column, value, "is not a list")
    return value


def to_object(value: object, column: str) -> dict:
    if not isinstance(value, dict):
        raise BadCell(column, value, "is not a JSON object")
    return value


def to_objects(value: object, column: str) -> list[dict]:
    """A list of JSON objects; [] for a missing one."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadCell(column, value, "is not a list of JSON objects")
    return value


def to_date(value: object, column: str) -> date | None:
    """YYYY-MM-DD; None where empty or "-"."""
    if value is None or value == "" or value == "-":
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = to_text(value, column)
    if not text:
        return None
    try:
        return incoming.day(text)
    except incoming.Refused:
        raise BadCell(column, value, "is not a date like 2024-05-31") from None


def to_bool(value: object, column: str) -> bool | None:
    """True, true, 1, yes and their opposites; None where empty or "-"."""
    if value is True or value == "True":
        return True
    if value is False or value == "False":
        return False
    text = to_text(value, column).strip().lower()
    if text in ("", "-"):
        return None
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise BadCell(column, value, "is neither true nor false")


def accepted_labels(labels: Mapping[str, tuple[str, ...]], dimension: str) -> tuple[str, ...]:
    return tuple(labels.get(dimension) or STANDARD_LABELS.get(dimension, ()))


def normal(text: str) -> str:
    """A spelling in which case, underscores, hyphens and spaces do not matter."""
    return _SEPARATORS.sub(" ", text.lower()).strip()


def guess_label(value: str, dimension: str, accepted: Iterable[str]) -> str | None:
    """The accepted label that a file's value most likely means, or None."""
    accepted = tuple(accepted)
    wanted = normal(value)
    for label in accepted:
        if normal(label) == wanted:
            return label
    other = SPELLINGS.get(dimension, {}).get(wanted)
    if other == "not_enough_info" and other not in accepted:
        other = "insufficient-neutral"
    return other if other in accepted else None


def unknown_label(value: object, column: str, accepted: Iterable[str]) -> BadCell:
    return BadCell(column, value, f"is not one of the labels {', '.join(accepted)}")


def digest(*parts: str) -> bytes:
    """16 bytes that stand for the parts; they tell ('ab', 'c') from ('a', 'bc')."""
    raws = [part.encode("utf-8", "surrogatepass") for part in parts]
    joined = raws[0] if len(raws) == 1 else b"".join(struct.pack("<Q", len(raw)) + raw for raw in raws)
    return hashlib.blake2b(joined, digest_size=16).digest()


class Places:
    """Where something stood first: file and line in one number, so that a million of them stay small."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.base = 0

    def start(self, file: str) -> None:
        self.base = len(self.files) << 40
        self.files.append(file)

    def describe(self, place: int) -> str:
        file, line = place >> 40, place & ((1 << 40) - 1)
        return f"line {line:,}" if file == self.base >> 40 else f"line {line:,} of {self.files[file]}"


class SeenKeys(Places):
    """Where each key stood first, in some 150 bytes per key. A key that comes again raises BadCell."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[bytes, int] = {}

    def add(self, key: str, column: str, line: int) -> None:
        mark = digest(key)
        first = self.places.get(mark)
        if first is not None:
            raise BadCell(column, key, f"already occurs on {self.describe(first)}")
        self.places[mark] = self.base + line


class SeenParents(Places):
    """Parents that many rows repeat: new the first time, known while they stay equal, BadCell when they differ."""

    def __init__(self, kind: str, fields: tuple[str, ...]):
        super().__init__()
        self.kind, self.fields = kind, fields
        self.marks: dict[bytes, tuple[int, bytes]] = {}
        self.last_key: str | None = None
        self.last_values: tuple = ()

    def knows(self, key: str) -> bool:
        return digest(key) in self.marks

    def is_new(self, key: str, values: tuple, line: int) -> bool:
        """`values` are hashable and stand in the order of `fields`."""
        if key == self.last_key and values == self.last_values:
            return False
        mark = digest(key)
        packed = struct.pack(f"{len(values)}q", *map(hash, values))
        first = self.marks.get(mark)
        if first is None:
            self.marks[mark] = (self.base + line, packed)
        elif first[1] != packed:
            at = next(i for i in range(len(values)) if first[1][8 * i : 8 * i + 8] != packed[8 * i : 8 * i + 8])
            value = "" if values[at] is None else values[at] if isinstance(values[at], str) else str(values[at])
            reason = f"differs from {self.describe(first[0])}, which is about the same {self.kind} {shorten(key)}"
            raise BadCell(self.fields[at], value, reason)
        self.last_key, self.last_values = key, values
        return first is None
