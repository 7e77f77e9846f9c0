"""Columns inside columns, as files of JSON have them: the scores of a text by name, and each rater's answers.

`{"scores": {"fluency": 4}}` has a column `scores.fluency`, `{"annotations": [{"fluency": 4}, {"fluency": 5}]}` has
`annotations.1.fluency` and `annotations.2.fluency`, and `{"fluency": [4, 5]}` has `fluency.1` and `fluency.2`.
Highlights and probabilities stay whole, since they have roles as they are, and so do lists of texts, unless a column of
the mapping is inside one.

A list of the texts that were judged, or of answers that name their rater, has a row for each of its entries:
`{"facts": [{"text": "A."}, {"text": "B."}]}` is two rows with a column `facts[].text`, and `{"claims": ["A.", "B."],
"labels": [1, 0]}` two rows with `claims[]` and `labels[]`. Where the names in an object are data, `{}` stands for `[]`,
and `.key` is the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from annotation.formats.cells import BadCell

MOST_DEEP, MOST_BESIDE = 3, 50
MOST_ENTRIES = 10_000  # of the lists in one row that become rows
WHOLE = re.compile(r"prob|span|highlight", re.I)
LIST, KEYED = "[]", "{}"
# `expert_annotations.2.fluency`, and `fluency.2`.
NESTED = re.compile(r"^(?P<base>[^.]+)\.(?P<number>\d+)(?:\.(?P<question>.+))?$")
_MARKS = re.compile(r"\[\]|\{\}")


def base_of(column: str) -> str:
    """The column of the file that a column is inside of."""
    return re.split(r"\.|\[\]|\{\}", column, maxsplit=1)[0]


def stem_of(column: str) -> str:
    """The column that has to be taken apart for this one, once lists are open: `a[].scores` for `a[].scores.b`."""
    head = max((mark.end() for mark in _MARKS.finditer(column)), default=0)
    start = head + 1 if head else 0
    return column[:start] + column[start:].partition(".")[0]


def lists_in(columns: Iterable[str]) -> frozenset[str]:
    """The lists that the columns are inside of: `a[]` and `a[].b{}` of `a[].b{}.c`."""
    return frozenset(column[: mark.end()] for column in columns for mark in _MARKS.finditer(column))


def depth_of(column: str) -> int:
    return len(_MARKS.findall(column))


def unfolded(cells: Mapping[str, object], bases: Collection[str] | None = None) -> dict[str, object]:
    """The cells with those of `bases` (default: all that can be) taken apart. A column of such a name is kept."""
    found: dict[str, object] = {}
    for column, value in cells.items():
        if (column not in bases if bases is not None else bool(WHOLE.search(column))) or not (
            _has_columns(value) or (bases is not None and is_short_list(value))
        ):
            found[column] = value
        else:
            found |= {name: one for name, one in _columns(column, value, MOST_DEEP) if name not in cells}
    return found


def is_short_list(value: object) -> bool:
    """A list of numbers or texts that may be a column each."""
    return isinstance(value, list) and 0 < len(value) <= MOST_BESIDE and not any(map(_is_nested, value))


def _has_columns(value: object) -> bool:
    if isinstance(value, dict):
        return bool(value) and not {"start", "quote"} & value.keys()
    if isinstance(value, list) and 0 < len(value) <= MOST_BESIDE:
        return all(isinstance(one, dict) and _has_columns(one) for one in value) or all(map(_is_number, value))
    return False


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _is_nested(value: object) -> bool:
    return isinstance(value, list | dict)


def _columns(name: str, value: object, deep: int) -> Iterator[tuple[str, object]]:
    if not deep or not (_has_columns(value) or (deep == MOST_DEEP and is_short_list(value))):
        yield name, value
        return
    inside: Iterable = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for part, one in inside:
        yield from _columns(f"{name}.{part}", one, deep - 1)


def opened(
    cells: Mapping[str, object], lists: Collection[str], units: Collection[str] = (), place: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], dict[str, object]]]:
    """A row for each entry of the lists, with its place in those of `units`, the lists of the judged texts.

    Lists at one level go together, entry by entry. A row whose list of units is empty has none; BadCell where lists do
    not match.
    """
    left = MOST_ENTRIES
    for row in _opened(dict(cells), frozenset(lists), frozenset(units), place):
        left -= 1
        if left < 0:
            raise BadCell(
                min(lists), "", f"holds more than {MOST_ENTRIES:,} entries; at most these are read of one row"
            )
        yield row


def _opened(row: dict, lists: frozenset[str], units: frozenset[str], place: tuple) -> Iterator[tuple[tuple, dict]]:
    ready = sorted(name for name in lists if name[:-2] in row)
    if not ready:
        yield place, row
        return
    held = {name: _entries(name, row[name[:-2]]) for name in ready}
    rest = {name: value for name, value in row.items() if not {name + LIST, name + KEYED} & held.keys()}
    sizes = {len(entries) for entries in held.values() if entries}
    if not sizes:
        if not units & held.keys():
            yield from _opened(rest, lists, units, place)
        return
    if len(sizes) > 1:
        counts = ", ".join(f"{name[:-2]} {len(entries):,}" for name, entries in held.items() if entries)
        raise BadCell(ready[0][:-2], counts, "are lists of different lengths, whose entries cannot go together")
    is_of_units = bool(units & held.keys())
    for number in range(sizes.pop()):
        inside = chain.from_iterable(_inside(*entries[number]) for entries in held.values() if entries)
        here = (*place, number + 1) if is_of_units else place
        yield from _opened(rest | dict(inside), lists, units, here)


def _entries(name: str, value: object) -> list[tuple[str, str, object]]:
    """Name, key and value of each entry of a list or object; what is neither is refused."""
    if value is None or value == "":
        return []
    if name.endswith(KEYED) and isinstance(value, dict):
        return [(name, key, one) for key, one in value.items()]
    if name.endswith(LIST) and isinstance(value, list):
        return [(name, "", one) for one in value]
    raise BadCell(name[:-2], value, "is not a list" if name.endswith(LIST) else "is not an object")


def _inside(name: str, key: str, value: object) -> Iterator[tuple[str, object]]:
    if name.endswith(KEYED):
        yield f"{name}.key", key
    if isinstance(value, dict):
        for part, one in value.items():
            yield f"{name}.{part}", one
    else:
        yield name, value
