"""Checkers from outside Assay without a package: a file each, and a line that names them.

`ASSAY_CHECKERS` holds the dotted names of modules, comma-separated, as Python imports them (so their folder is on
PYTHONPATH). They are entries of the table like those of installed packages, except that one that is wrong is an error
at start.
"""

from __future__ import annotations

import functools
import os

from .building import Entry
from .table import CHECKERS

VARIABLE = "ASSAY_CHECKERS"


def parse_checkers(raw: str) -> tuple[Entry, ...]:
    """The entries that the modules named in `raw` bring, in that order; ValueError says what is wrong with which."""
    names = [name.strip() for name in raw.split(",")]
    if "" in names:
        raise ValueError("has an empty part between its commas")
    entries = tuple(map(_entry, names))
    slugs = [*CHECKERS.own_entries, *(entry.INFO.slug for entry in entries)]
    if twins := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise ValueError(f"brings the checker {twins[0]!r}, which there is already")
    return entries


@functools.lru_cache(maxsize=4)
def _parsed(raw: str) -> tuple[Entry, ...]:
    return parse_checkers(raw)


def configured() -> dict[str, Entry]:
    """Those of this process's environment, by slug; empty where none is set. ValueError as in `parse_checkers`, and
    where an installed package has one of the same name."""
    raw = os.environ.get(VARIABLE, "").strip()
    entries = {entry.INFO.slug: entry for entry in (_parsed(raw) if raw else ())}
    if twins := sorted(set(entries) & set(CHECKERS)):
        raise ValueError(f"brings the checker {twins[0]!r}, which {CHECKERS.package_of(twins[0])} has already")
    return entries


def _entry(name: str) -> Entry:
    try:
        return CHECKERS.load(name)
    except ValueError as error:
        raise ValueError(f"names {name}: {error}") from None
    except Exception as error:  # whatever the file does when it is read
        raise ValueError(f"names {name}, which cannot be imported: {type(error).__name__}: {error}") from None
