"""Units behind many figures of one report: a set that several figures have in common is stored once.

A key is a path of what the set is, such as ``value/Flesch reading ease/stance/refutes``. Names come from data and from
files, so a slash in one is written as %2F, and a key always falls into the parts that it was made of.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from analysis.reports.opened import UNITS, Behind, together
from analysis.reports.tabular import Cell, Linked

if TYPE_CHECKING:
    import numpy as np


def key(*parts: str) -> str:
    """
    >>> key("source", "a/b.org"), parts_of(key("source", "50 %/b", ""))
    ('source/a%2Fb.org', ['source', '50 %/b', ''])
    """
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def parts_of(figure: str) -> list[str]:
    return [part.replace("%2F", "/").replace("%25", "%") for part in figure.split("/")]


OR = "+"
MOST_JOINED = 100  # lists; keys come from addresses


def either(*names: str) -> str:
    """The part of a key that stands for several lists, of which each has one of the names there."""
    return OR.join(names)


def joined(behind: Behind, figure: str, n_parts: int) -> list[int] | None:
    """Units of all the lists that a key stands for, as ``a/b+c`` stands for ``a/b`` and ``a/c``; None where it stands
    for none. Only its first parts are looked at, so that a name at the end may hold anything.

    >>> joined({"units": [3, 1, 2], "a/b/x+y": [1], "a/c/x+y": [3]}, "a/b+c/x+y", 2)
    [3, 1]
    """
    parts = figure.split("/")
    names = [part.split(OR) for part in parts[:n_parts]]
    if UNITS not in behind or not 1 < math.prod(map(len, names)) <= MOST_JOINED:
        return None
    keys = ["/".join([*some, *parts[n_parts:]]) for some in product(*names)]
    return together(behind, keys) if any(key in behind for key in keys) else None


def opens(value: str | int | float | None, figure: str) -> Cell:
    """The value, with a link where there is something to show and something behind it."""
    return Linked(value, figure) if figure and value is not None else value


class UnitSets:
    """`behind` is what a report's result has under that name."""

    def __init__(self, units: np.ndarray) -> None:
        self.units = units
        self.behind: dict[str, list[int]] = {}
        self._packed: dict[str, bytes] = {}

    def add(self, where: np.ndarray, figure: str, *same: str) -> str:
        """The key under which the units are: one of `same` (keys that describe them as well, where they are the very
        same units), else `figure`; empty, and nothing is stored, where there are none."""
        if not where.any():
            return ""
        packed = _packed(where)
        for known in (figure, *same):
            if self._packed.get(known) == packed:
                return known
        if figure in self._packed:
            raise ValueError(f"two sets of units would be called {figure!r}")
        self.put(where, figure)
        return figure

    def put(self, where: np.ndarray, figure: str) -> None:
        """Under this key, be there units or none."""
        self._packed[figure] = _packed(where)
        self.behind[figure] = self.units[where].tolist()


def _packed(where: np.ndarray) -> bytes:
    import numpy as np

    return np.packbits(where).tobytes()
