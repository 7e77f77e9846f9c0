"""Checkers from outside Assay: a file each, and a line that names them.

`ASSAY_CHECKERS` holds the dotted names of modules, comma-separated, as Python imports them (so their folder is on
PYTHONPATH). Each has `INFO`, a `CheckerInfo`, and `build`, called with (info, spaces, parameters) like every builder of
the registry. It is read by the web server as well, so what it computes with is imported inside functions.
"""

from __future__ import annotations

import functools
import importlib
import os
import re

from .building import Entry
from .contracts import ROLES, CheckerInfo
from .table import TABLE

VARIABLE = "ASSAY_CHECKERS"
NEEDS = ("cpu", "gpu", "server")
# Those that are run over a project's units; what takes texts apart or searches has builders of other kinds.
GIVES = ("labels", "scores")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
LONGEST_VERSION = 40


def parse_checkers(raw: str) -> tuple[Entry, ...]:
    """The entries that the modules named in `raw` bring, in that order; ValueError says what is wrong with which."""
    names = [name.strip() for name in raw.split(",")]
    if "" in names:
        raise ValueError("has an empty part between its commas")
    entries = tuple(_entry(name) for name in names)
    slugs = [entry.INFO.slug for entry in (*TABLE, *entries)]
    if twins := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise ValueError(f"brings the checker {twins[0]!r}, which there is already")
    return entries


@functools.lru_cache(maxsize=4)
def _parsed(raw: str) -> tuple[Entry, ...]:
    return parse_checkers(raw)


def configured() -> tuple[Entry, ...]:
    """Those of this process's environment; empty where none is set. ValueError as in `parse_checkers`."""
    raw = os.environ.get(VARIABLE, "").strip()
    return _parsed(raw) if raw else ()


def _entry(name: str) -> Entry:
    try:
        module = importlib.import_module(name)
    except Exception as error:  # whatever the file does when it is read
        raise ValueError(f"names {name}, which cannot be imported: {type(error).__name__}: {error}") from None
    info = getattr(module, "INFO", None)
    if not isinstance(info, CheckerInfo) or not callable(getattr(module, "build", None)):
        raise ValueError(
            f"names {name}, which has no INFO (a CheckerInfo) or no function build(info, spaces, parameters)"
        )
    if problem := _problem(info):
        raise ValueError(f"names {name}, whose INFO {problem}")
    return module


def _problem(info: CheckerInfo) -> str:
    if not _SLUG.fullmatch(info.slug):
        return f"has the slug {info.slug!r}; use small letters, digits and dashes"
    if not 0 < len(info.version) <= LONGEST_VERSION:
        return f"needs a version of at most {LONGEST_VERSION} characters"
    if info.needs not in NEEDS:
        return f"needs {info.needs!r}, not one of {', '.join(NEEDS)}"
    if info.gives not in GIVES:
        return f"gives {info.gives!r}, not one of {', '.join(GIVES)}"
    if unknown := sorted(set(info.roles) - set(ROLES)):
        return f"has the role {unknown[0]!r}, not one of {', '.join(ROLES)}"
    if info.gives == "labels" and not info.roles:
        return "gives labels and has no roles"
    return ""
