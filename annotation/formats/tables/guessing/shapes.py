"""What the lists and pairs of columns in a file are: raters, judged texts, or something that a table of ratings cannot
hold. Only the first rows are looked at, and only so much of them.

A list is of raters where each entry names one, or where it is always as long and its entries answer the same question.
Entries with a text and a label each, such as the facts of an answer, are judged texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from annotation.formats.cells import BadCell, shorten
from annotation.formats.sources import Limits
from annotation.formats.tables.guessing.spellings import NAMES, spelling
from annotation.formats.tables.guessing.values import MOST_GUESSED, are_free_texts, is_label
from annotation.formats.tables.mapping import LOOKED_AT, Preview
from annotation.formats.tables.nested import (
    KEYED,
    LIST,
    MOST_DEEP,
    WHOLE,
    is_short_list,
    opened,
    unfolded,
)
from annotation.rendering.conversation import TURNS, is_conversation

# Names of lists that hold raters' answers, however many there are.
OF_RATERS = re.compile(r"annotat|rater|rating|worker|judge|coder|expert|turker|crowd|vote", re.I)
OF_LABELS = re.compile(r"label|rating|score|annot|judg|stance|verdict|factual|correct|support", re.I)
TEXTS = frozenset([*NAMES["text"], "fact", "statement", "subclaim", "proposition"])
KEYS_OF_DATA = 20  # different names in the objects of a column, which are ids then
_CONVERSATION = re.compile(r"messages|conversations?|dialog(?:ue)?s?|turns|chats?", re.I)
_CHOICE = re.compile(r"prefer|winner|better|choice|chosen|best|vote", re.I)
_CHOSEN = {"a", "b", "1", "2", "0", "tie", "both", "neither", "same", "equal", "left", "right", "none", "both bad"}
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("chosen", "rejected"), ("first", "second"))


def as_table(seen: Preview, limits: Limits | None = None) -> Preview:
    """The first rows as tables of ratings are read: judged texts in lists as rows, and raters in lists as columns."""
    lists = lists_to_open(seen.rows)
    rows: list[dict] = []
    for row in seen.rows:
        try:
            rows += (cells for _, cells in opened(row, lists))
        except BadCell:
            continue  # a bad row of the import
        if len(rows) >= LOOKED_AT:
            break
    rows = rows[:LOOKED_AT]
    apart = _to_unfold(rows)
    most = (limits or Limits()).columns
    for bases in (apart, ()):  # a file whose columns have more inside than a table may have keeps them whole
        unfolded_rows = tuple(unfolded(row, bases) for row in rows)
        columns = tuple(dict.fromkeys(column for row in unfolded_rows for column in row))
        if len(columns) <= most:
            break
    return replace(seen, columns=columns[:most] or seen.columns, rows=unfolded_rows)


def _columns_of(rows: Iterable[Mapping]) -> dict[str, list]:
    """What is in each column, without empty cells."""
    found: dict[str, list] = {}
    for row in rows:
        for name, value in row.items():
            if value not in (None, "", [], {}):
                found.setdefault(name, []).append(value)
    return found


# --- lists that become columns --------------------------------------------------------------------------------------


def _to_unfold(rows: Sequence[Mapping]) -> set[str]:
    columns = {name: values for name, values in _columns_of(rows).items() if not WHOLE.search(name)}
    return {name for name, values in columns.items() if not are_conversations(values) and _has_columns(name, values)}


def _has_columns(name: str, values: list) -> bool:
    if all(isinstance(one, dict) for one in values):
        return not _has_keys_of_data(values)
    if not all(isinstance(one, list) for one in values):
        return False
    are_alike = len({len(one) for one in values}) == 1 or bool(OF_RATERS.search(name))
    if all(isinstance(entry, dict) for one in values for entry in one):
        keys = [frozenset(entry) for one in values for entry in one]
        return are_alike and not _text_in(keys[0]) and (len(set(keys)) == 1 or bool(OF_RATERS.search(name)))
    if not all(map(is_short_list, values)):
        return False
    if max(map(len, values)) < 2:
        return False
    if all(isinstance(entry, int | float | None) for one in values for entry in one):
        return are_alike
    return are_alike and _share_labels(values)


def _share_labels(values: list[list]) -> bool:
    """Whether each place of the lists has labels that other places have, too."""
    places: dict[int, set[str]] = {}
    for one in values:
        for place, entry in enumerate(one):
            if entry is not None and entry != "":
                places.setdefault(place, set()).add(str(entry))
    different = set().union(*places.values()) if places else set()
    if not 1 < len(different) <= MOST_GUESSED or any(len(one) > 40 for one in different):
        return False
    others = [set().union(*(found for other, found in places.items() if other != place)) for place in places]
    return all(found & rest for found, rest in zip(places.values(), others, strict=True))


def _has_keys_of_data(values: list[dict]) -> bool:
    """Whether the names in the objects are ids, of documents for instance, with an object or list for each."""
    if not all(isinstance(inside, dict | list) for one in values for inside in one.values()):
        return False
    names = {name for one in values for name in one}
    stems = {name.rstrip("0123456789") for name in names}
    if len(stems) == 1 and not OF_RATERS.search(min(stems)):  # sentence1, sentence2, or numbers alone
        return len({len(one) for one in values}) > 1 or min(stems) == ""
    return len(names) > max(KEYS_OF_DATA, max(len(one) for one in values))


# --- lists that become rows -----------------------------------------------------------------------------------------


def lists_to_open(rows: Sequence[Mapping], deep: int = MOST_DEEP, within: str = "") -> frozenset[str]:
    """Lists of judged texts with a label each, and of answers that name their rater, down to the innermost."""
    if not deep:
        return frozenset()
    columns = {name: values for name, values in _columns_of(rows).items() if name.startswith(within)}
    for name, values in columns.items():
        mark = _mark_of(values)
        if not mark or are_conversations(values):
            continue
        one = name + mark
        inside = _rows_inside(rows, [one])
        keys = {spelling(column) for row in inside for column in row if column.startswith(one)}
        if keys & {*NAMES["rater"]}:
            return frozenset([one])
        deeper = lists_to_open(inside, deep - 1, one)
        found = _columns_of(inside)
        has_label = any(column.startswith(one) and is_label(column, inside) for column in found)
        if deeper or (_text_in(column for column in found if column.startswith(one)) and has_label):
            return deeper | {one}
    return _parallel(rows, columns, deep)


def _rows_inside(rows: Sequence[Mapping], lists: list[str]) -> list[dict]:
    found: list[dict] = []
    for row in rows:
        try:
            found += (cells for _, cells in opened(row, lists))
        except BadCell:
            continue
        if len(found) >= LOOKED_AT:
            break
    return found[:LOOKED_AT]


def _text_in(columns: Iterable[str]) -> bool:
    return any(spelling(column) in TEXTS for column in columns)


def _mark_of(values: list) -> str:
    if all(isinstance(one, list) and all(isinstance(entry, dict) for entry in one) for one in values):
        return LIST
    if all(isinstance(one, dict) for one in values) and _has_keys_of_data(values):
        return KEYED
    return ""


def _parallel(rows: Sequence[Mapping], columns: dict[str, list], deep: int) -> frozenset[str]:
    """A list of texts with lists of the same lengths, one of them with their labels."""
    flat = {
        name: [entry for one in values for entry in one][:LOOKED_AT]
        for name, values in columns.items()
        if all(isinstance(one, list) for one in values)
    }
    for name in [name for name, entries in flat.items() if are_free_texts(entries)]:
        group = [name, *(other for other in flat if other != name and _are_as_long(rows, name, other))]
        lists = [one + LIST for one in group]
        if len(lists) == 1:
            continue
        inside = _rows_inside(rows, lists)
        deeper = lists_to_open(inside, deep - 1, name) or _deeper_of(inside, lists, deep)
        if deeper or any(_are_labels(one, inside) for one in lists):
            return deeper | {*lists}
    return frozenset()


def _deeper_of(inside: list[dict], lists: list[str], deep: int) -> frozenset[str]:
    columns = {name: values for name, values in _columns_of(inside).items() if name in lists}
    return _parallel(inside, columns, deep - 1) if deep > 1 else frozenset()


def _are_as_long(rows: Sequence[Mapping], one: str, other: str) -> bool:
    """But for a few rows, which are bad ones of the import."""
    both = [(row[one], row[other]) for row in rows if row.get(one) and row.get(other)]
    both = [pair for pair in both if all(isinstance(side, list) for side in pair)]
    return bool(both) and 20 * sum(len(left) != len(right) for left, right in both) <= len(both)


def _are_labels(column: str, rows: list[dict]) -> bool:
    """Labels and no places: numbers have to be called labels."""
    if not is_label(column, rows):
        return False
    values = _columns_of(rows).get(column, [])
    are_numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    return not are_numbers or bool(OF_LABELS.search(column))


# --- what a table of ratings cannot hold ----------------------------------------------------------------------------


def refusal(columns: Sequence[str], rows: Sequence[Mapping]) -> str:
    """What the file looks like that has no place in a table of ratings yet, and what helps; empty where nothing is."""
    found = _columns_of(rows[:LOOKED_AT])
    if name := next((name for name, values in found.items() if _are_without_roles(name, values)), ""):
        return (
            f"The turns in {shorten(name)} do not say whose they are. Give each a role, such as user or assistant, "
            "next to its content."
        )
    choice = next((name for name in columns if _CHOICE.search(name) and _is_choice(found.get(name, []))), "")
    for one, other in _SIDES:
        sides = _sides(columns, found, one, other)
        if sides and (choice or one == "chosen"):
            return (
                f"This looks like a table of preferences between two texts, {sides[0]} and {sides[1]}"
                + (f", with the choice in {choice}" if choice else "")
                + ". Import it with the format preferences. To have each text rated, give it a row of its own with its "
                "ratings, or choose the columns by hand to import one side."
            )
    return ""


def are_conversations(values: list) -> bool:
    """Whether most of them are; the others are bad rows, and must not make all of them something else."""
    return 2 * sum(map(is_conversation, values)) > len(values)


def _are_without_roles(name: str, values: list) -> bool:
    """Whether a column is called like one of conversations, and most are lists of words without a speaker."""
    words = {key for _, key in TURNS}
    lists = [one for one in values if isinstance(one, list) and one and isinstance(one[0], Mapping)]
    without = [one for one in lists if words & one[0].keys() and not is_conversation(one)]
    return bool(_CONVERSATION.fullmatch(name)) and 2 * len(without) > len(values)


def _is_choice(values: list) -> bool:
    different = {str(value).strip().casefold() for value in values}
    return 0 < len(different) <= MOST_GUESSED and all(
        re.sub(r"^(model|response|output|answer|text|system)[ _-]?", "", one) in _CHOSEN for one in different
    )


def _sides(columns: Sequence[str], found: dict[str, list], one: str, other: str) -> tuple[str, str] | None:
    """Two columns of texts or conversations that are called alike but for their side."""
    by_name = {name.casefold(): name for name in columns}
    for low, name in by_name.items():
        stem = low.removesuffix(one)
        twin = stem + other
        is_side = low != stem and (not stem or one.isdecimal() or stem[-1] in "_ -.")
        if is_side and twin in by_name:
            sides = name, by_name[twin]
            if not any(is_label_like(found.get(side, ())) for side in sides):
                return sides
    return None


def is_label_like(values: Sequence) -> bool:
    """Short words without a space, as names of models and labels are."""
    return bool(values) and all(not isinstance(one, list) and not re.search(r"\s", str(one).strip()) for one in values)
