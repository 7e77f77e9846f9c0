"""What stands in the first rows of a column: numbers, labels, or texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from annotation.formats.cells import BadCell, number_in, to_text
from annotation.formats.names import label_key
from annotation.formats.tables.questions import parts_of
from annotation.formats.tables.times import is_time

MOST_GUESSED = 12  # different values of a column that is taken for labels
LABEL_CHARS = 40
SEEN_CHARS = 1000  # of a text; longer ones are like it
WORDS_FOR_NOTHING = ("nan", "na", "none", "null")


def texts_in(column: str, rows: Iterable) -> list[str]:
    return [str(row[column]).strip() for row in rows if row.get(column) not in (None, "", [])]


def values_in(column: str, rows: Iterable) -> list[str]:
    """The texts in a column; none where it holds lists or objects."""
    try:
        return [text for row in rows if (text := to_text(row.get(column), column)[:SEEN_CHARS].strip())]
    except BadCell:
        return []


def are_numbers(column: str, rows: Iterable) -> bool:
    values = values_in(column, rows)
    return bool(values) and all(map(is_number, values))


def nearly_all(fits: Callable[[str], bool], column: str, rows: Iterable) -> bool:
    """Whether at least nine in ten values fit, or all but one; words for nothing do not count."""
    values = [value for value in values_in(column, rows) if value.casefold() not in WORDS_FOR_NOTHING]
    n_odd = sum(not fits(value) for value in values)
    return n_odd <= max(1, len(values) // 10) and 2 * n_odd < len(values)


def is_number(text: str) -> bool:
    return number_in(text) is not None


def are_places(column: str, rows: Iterable) -> bool:
    """Whole numbers, and words for nothing."""
    values = [value for value in values_in(column, rows) if value.casefold() not in WORDS_FOR_NOTHING]
    return bool(values) and all((number := number_in(value)) is not None and number.is_integer() for value in values)


def are_whole(column: str, rows: Iterable) -> bool:
    return all(number_in(value).is_integer() for value in values_in(column, rows))


def is_label(column: str, rows: Iterable, most: int = MOST_GUESSED, *, must_repeat: bool = True) -> bool:
    """At most so many different values, which come again; numbers from 0 to 10 at the most in halves. Times are no
    labels."""
    values = values_in(column, rows)
    different = {label_key(value) for value in values}
    if not different or len(different) > most or any(len(value) > LABEL_CHARS for value in different):
        return False
    if any("://" in value for value in values):
        return False
    if are_numbers(column, rows):
        return all(0 <= float(value) <= 10 and (2 * float(value)).is_integer() for value in different)
    is_repeated = len(different) < len(values) or len(values) < 3
    return (is_repeated or not must_repeat) and not nearly_all(is_time, column, rows)


def is_tag(column: str, rows: Iterable) -> bool:
    """Few different words without a space, which come again and again: no text that anyone could judge."""
    values = values_in(column, rows)
    different = set(values)
    return len(values) >= 10 and len(different) <= MOST_GUESSED and not any(re.search(r"\s", one) for one in different)


def are_free_texts(entries: Sequence[object]) -> bool:
    """Texts of several words, hardly any repeated."""
    texts = [one[:SEEN_CHARS] for one in entries if isinstance(one, str) and one.strip()]
    if not texts or len(texts) < len([one for one in entries if one not in (None, "")]):
        return False
    several_words = sum(bool(re.search(r"\S\s+\S", text.strip())) for text in texts)
    return 2 * several_words > len(texts) and (len(set(texts)) > MOST_GUESSED or 2 * len(set(texts)) > len(texts))


def all_are(read: Callable[[object, str], object], column: str, rows: Iterable) -> bool:
    try:
        return any([read(row.get(column), column) is not None for row in rows])
    except BadCell:
        return False


def holds_several(column: str, rows: Iterable) -> bool:
    """Lists of a few different short words, or cells with | or ; between them."""
    different, n_several = set(), 0
    try:
        for row in rows:
            cell = row.get(column)
            if isinstance(cell, str) and (cell[:1] != "[" and not re.search(r"[|;]", cell) or len(cell) > SEEN_CHARS):
                parts = [cell] if cell else []
            else:
                parts = parts_of(cell, column) or []
                n_several += len(parts) > 1
            different.update(parts)
    except BadCell:
        return False
    return n_several > 0 and len(different) <= MOST_GUESSED and all(len(part) <= LABEL_CHARS for part in different)
