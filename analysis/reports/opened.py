"""Units behind figures: lists that are stored, and lists that are put together from stored ones when they are opened.

What two people both labelled would have to be stored for every pair of them. What each of them said is stored once, and
every pair is found in it. Lists stand in the order of work, which `UNITS` keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import Labels

UNITS = "units"  # the key of all units of a report
# What two people do on units that both labelled.
BOTH, AGREE, DIFFER = "both", "agree", "differ"
WAYS = (BOTH, AGREE, DIFFER)
SMALL = 2**15  # codes below it sort in one pass

Behind = dict[str, list[int]]


def part_of(name: str | None) -> str:
    """A name as one part of a key: names from files may hold what stands between parts.

    >>> part_of("news/west"), name_of("news%2Fwest")
    ('news%2Fwest', 'news/west')
    """
    return quote(name or "", safe="")


def name_of(part: str) -> str:
    return unquote(part)


def by_code(ids: np.ndarray, unit: np.ndarray, code: np.ndarray, names: Sequence[str]) -> Behind:
    """Under the name of each code the units that have it, each once and in the order of work; names without a unit are
    left out. `unit` are places in `ids`, `code` places in `names`, of as many rows; codes below 0 are left out."""
    import numpy as np

    kept = np.flatnonzero(code >= 0)
    unit, code = unit[kept], code[kept]
    if (unit[1:] < unit[:-1]).any():
        order = np.argsort(unit, kind="stable")
        unit, code = unit[order], code[order]
    order = np.argsort(code.astype(np.int16) if len(names) < SMALL else code, kind="stable")  # small ones sort at once
    unit, code = unit[order], code[order]
    again = (unit[1:] == unit[:-1]) & (code[1:] == code[:-1])
    if again.any():
        first = np.flatnonzero(np.append(True, ~again))
        unit, code = unit[first], code[first]
    ends, found = np.searchsorted(code, np.arange(len(names) + 1)), ids[unit].tolist()
    return {
        name: found[start:end]
        for name, start, end in zip(names, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        if end > start
    }


def said(prefix: str, coded: Labels, ids: np.ndarray) -> Behind:
    """Units by who gave them which label: `prefix`/pseudonym/label."""
    n = len(coded.categories)
    names = [f"{prefix}/{person}/{label}" for person in coded.rater_names for label in coded.categories]
    return by_code(ids, coded.unit, coded.rater.astype("int64") * n + coded.value, names)


def in_order(behind: Behind, found: set[int]) -> list[int]:
    return [unit for unit in behind[UNITS] if unit in found]


def together(behind: Behind, keys: Iterable[str]) -> list[int]:
    """Units of any of these lists; those that are not stored are empty."""
    return in_order(behind, {unit for key in keys for unit in behind.get(key, ())})


def below(behind: Behind, prefix: str) -> list[str]:
    """Keys of the lists whose names begin with `prefix`/."""
    return [key for key in behind if key.startswith(f"{prefix}/")]


def of_pair(behind: Behind, prefix: str, a: str, b: str, way: str) -> list[int] | None:
    """Units that both labelled, that both gave the same label, or different ones; `prefix` as in `said`."""
    sides = [_by_label(behind, f"{prefix}/{who}") for who in (a, b)]
    if way not in WAYS or not all(sides):
        return None
    both = set.intersection(*(set().union(*side.values()) for side in sides))
    same = set().union(*(sides[0][label] & sides[1][label] for label in sides[0] if label in sides[1]))
    return in_order(behind, {BOTH: both, AGREE: same, DIFFER: both - same}[way])


def _by_label(behind: Behind, prefix: str) -> dict[str, set[int]]:
    return {key.removeprefix(f"{prefix}/"): set(behind[key]) for key in below(behind, prefix)}
