"""Columns inside columns, as files of JSON have them: the scores of a text by name, and what each of its raters said.

`{"scores": {"fluency": 4}}` has a column `scores.fluency`, `{"annotations": [{"fluency": 4}, {"fluency": 5}]}` has
`annotations.1.fluency` and `annotations.2.fluency`, and `{"fluency": [4, 5]}` has `fluency.1` and `fluency.2`.
Highlights and probabilities stay whole, since they have roles as they are, and so do lists of texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from annotation.formats.tables.mapping import Preview

MOST_DEEP, MOST_BESIDE = 3, 50
WHOLE = re.compile(r"prob|span|highlight", re.I)


def base_of(column: str) -> str:
    return column.partition(".")[0]


def unfolded(cells: Mapping[str, object], bases: Collection[str] | None = None) -> dict[str, object]:
    """The cells with those of `bases` (default: all that can be) taken apart. A column of such a name is kept."""
    found: dict[str, object] = {}
    for column, value in cells.items():
        if (column not in bases if bases is not None else bool(WHOLE.search(column))) or not _has_columns(value):
            found[column] = value
        else:
            found |= {name: one for name, one in _columns(column, value, MOST_DEEP) if name not in cells}
    return found


def _has_columns(value: object) -> bool:
    if isinstance(value, dict):
        return bool(value) and not {"start", "quote"} & value.keys()
    if isinstance(value, list) and 0 < len(value) <= MOST_BESIDE:
        return all(isinstance(one, dict) and _has_columns(one) for one in value) or all(map(_is_number, value))
    return False


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _columns(name: str, value: object, deep: int) -> Iterator[tuple[str, object]]:
    if not deep or not _has_columns(value):
        yield name, value
        return
    inside: Iterable = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for part, one in inside:
        yield from _columns(f"{name}.{part}", one, deep - 1)


def unfolded_preview(seen: Preview) -> Preview:
    """The first rows as tables of ratings are read."""
    rows = tuple(map(unfolded, seen.rows))
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    return replace(seen, columns=columns or seen.columns, rows=rows)
