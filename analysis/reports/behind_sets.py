"""Units behind many figures of one report: a set that several figures have in common is stored once.

A key is a path of what the set is, such as ``value/Flesch reading ease/stance/refutes``. Names come from data and from
files, so a slash in one is written as %2F, and a key always falls into the parts that it was made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
