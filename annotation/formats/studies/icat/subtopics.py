"""Subtopics of a query, and the ways in which files refer to them.

Subtopics are a list of texts, or of objects with a text and, if they like, an id. `covered` in ICAT's annotations is
the list of those that the answer covers, so an empty list means none. An entry is the subtopic's text, its id, its
number, or an object with one of these (`{"topic_id": 2, "evidence": [...]}`). A list of exactly as many truth values as
there are subtopics says it of each in turn. Labels of several annotators are a list of such lists (nobody knows whose:
exchangeable slots) or an object of them by annotator; null stands for one who did not answer.

Numbers count from 1, as ICAT numbers its topics, unless a 0 in the same file shows that they count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from annotation.formats.cells import BadCell, required_text, to_key
from annotation.formats.files.json_streams import is_whole

TEXT_KEYS = ("text", "subtopic", "description", "topic", "query")
ID_KEYS = ("id", "subtopic_id", "topic_id", "number")
ANNOTATORS_MOST = 50
SHAPES = (
    "is neither a list of covered subtopics (texts, ids or numbers), nor one of true and false for each subtopic, nor "
    "one such list per annotator"
)


@dataclass(slots=True)
class Subtopics:
    """The aspects of one query, in order."""

    texts: tuple[str, ...] = ()
    metadata: tuple[dict, ...] = ()
    by_id: dict[str, int] = field(default_factory=dict)
    by_text: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    def find_text(self, text: str) -> int | None:
        """The place of the subtopic of that text, whatever its case and spaces."""
        return self.by_text.get(_normal(text))

    def find(self, value: object, first: int) -> int | None:
        """The place of the subtopic of that id, text or number, where numbers count from `first`; None for none."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        text = str(value)
        if text in self.by_id:
            return self.by_id[text]
        if isinstance(value, str) and (place := self.find_text(value)) is not None:
            return place
        number = as_number(value)
        if number is None or self.by_id or not first <= number < first + len(self.texts):
            return None
        return number - first


def as_number(value: object) -> int | None:
    """A whole number, or a text that is one; None for anything else."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() and is_whole(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def subtopics_of(value: object, column: str, limit: int) -> Subtopics:
    """Raises BadCell for what is not a list of subtopics, and for one that stands in it twice."""
    if not isinstance(value, list):
        raise BadCell(column, value, "is not a list of subtopics")
    subtopics = Subtopics()
    texts, metadata = [], []
    for place, entry in enumerate(value):
        path = f"{column}[{place}]"
        text, identifier, more = _parts(entry, path, limit)
        if _normal(text) in subtopics.by_text:
            raise BadCell(path, text, f"already occurs at {column}[{subtopics.by_text[_normal(text)]}]")
        subtopics.by_text[_normal(text)] = place
        if identifier is not None:
            if identifier in subtopics.by_id:
                raise BadCell(path, identifier, f"is the id of {column}[{subtopics.by_id[identifier]}] already")
            subtopics.by_id[identifier] = place
            more = {"id": identifier, **more}
        texts.append(text)
        metadata.append(more)
    if subtopics.by_id and len(subtopics.by_id) < len(texts):
        raise BadCell(column, value, "gives some subtopics an id and others none")
    subtopics.texts, subtopics.metadata = tuple(texts), tuple(metadata)
    return subtopics


def _parts(entry: object, path: str, limit: int) -> tuple[str, str | None, dict]:
    if not isinstance(entry, dict):
        return required_text(entry, path), None, {}
    text_key = next((name for name in TEXT_KEYS if name in entry), None)
    if text_key is None:
        raise BadCell(path, entry, f"has no text: none of {', '.join(TEXT_KEYS)}")
    id_key = next((name for name in ID_KEYS if name in entry), None)
    identifier = None if id_key is None else to_key(entry[id_key], f"{path}.{id_key}", limit)
    more = {name: value for name, value in entry.items() if name not in (text_key, id_key)}
    return required_text(entry[text_key], f"{path}.{text_key}"), identifier, more


# --- covered --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Covered:
    """The labels of one annotator (or, with `rater` None, the decision): a truth value for each subtopic."""

    rater: str | None
    is_named: bool
    covered: tuple[bool, ...]


def covered_by(value: object, column: str, subtopics: Subtopics, first: int, limit: int) -> list[Covered]:
    """Everybody's labels in a `covered` cell; empty where there are none (null).

    `subtopics` are those that numbers and truth values count; `first` is 0 or 1. Raises BadCell, which names the entry.
    """
    if value is None:
        return []
    if isinstance(value, dict):
        _check_number_of_annotators(value, column)
        return [
            Covered(to_key(name, column, limit), True, _one(labels, f"{column}.{name}", subtopics, first))
            for name, labels in value.items()
            if labels is not None
        ]
    if not isinstance(value, list):
        raise BadCell(column, value, SHAPES)
    if any(isinstance(entry, list) for entry in value):
        _check_number_of_annotators(value, column)
        return [
            Covered(f"annotator {place + 1}", False, _one(labels, f"{column}[{place}]", subtopics, first))
            for place, labels in enumerate(value)
            if labels is not None
        ]
    return [Covered(None, False, _one(value, column, subtopics, first))]


def _check_number_of_annotators(value: list | dict, column: str) -> None:
    if len(value) > ANNOTATORS_MOST:
        raise BadCell(column, value, f"holds labels of {len(value):,} annotators; at most {ANNOTATORS_MOST} are read")


def _one(value: object, column: str, subtopics: Subtopics, first: int) -> tuple[bool, ...]:
    if not isinstance(value, list):
        raise BadCell(column, value, SHAPES)
    if value and all(isinstance(entry, bool) for entry in value):
        if len(value) != len(subtopics):
            reason = f"has {len(value)} truth values for {len(subtopics)} subtopics"
            raise BadCell(column, value, reason)
        return tuple(value)
    covered = [False] * len(subtopics)
    for place, entry in enumerate(value):
        index = subtopics.find(_reference(entry), first)
        if index is None:
            numbers = f"numbers run from {first} to {first + len(subtopics) - 1}"
            detail = "" if as_number(_reference(entry)) is None or subtopics.by_id else f"; {numbers}"
            raise BadCell(f"{column}[{place}]", entry, f"is not a subtopic of the query{detail}")
        covered[index] = True
    return tuple(covered)


def _reference(entry: object) -> object:
    """What an entry names its subtopic by."""
    if isinstance(entry, dict):
        return next((entry[name] for name in (*ID_KEYS, *TEXT_KEYS) if name in entry), None)
    return entry


def numbers_in(value: object) -> Iterator[int]:
    """The numbers by which a `covered` cell may name subtopics."""
    if isinstance(value, list | tuple):
        for entry in value:
            yield from numbers_in(entry)
    elif isinstance(value, dict):
        reference = _reference(value)
        yield from numbers_in(list(value.values()) if reference is None else [reference])
    elif (number := as_number(value)) is not None:
        yield number
