"""The bodies of documents that retrievers may search, from the environment: only who runs the site names files.

`ASSAY_CORPORA` holds JSON: `{"wiki": "/data/wiki.jsonl"}`. A file has one document a line, `{"id": ..., "text": ...}`,
with its source; a folder has texts, pages and such files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

VARIABLE = "ASSAY_CORPORA"
# What a run calls the data set's own evidence: all of it, or each query's.
RESERVED = ("own", "each")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


def parse_corpora(raw: str) -> dict[str, Path]:
    """Files by name, in the order given; ValueError says what is wrong and where."""
    try:
        entries = json.loads(raw, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(entries, dict):
        raise ValueError('must be a JSON object of paths by name, such as {"wiki": "/data/wiki.jsonl"}')
    return {name: _checked(name, path) for name, path in entries.items()}


def problem_of(path: Path) -> str:
    """Why the file cannot be a corpus on this machine; empty where it can. Reads nothing but whether it may."""
    try:
        if path.is_dir():
            next(path.iterdir(), None)
            return ""
        with path.open("rb"):
            return ""
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"


def _without_twins(pairs: list[tuple[str, object]]) -> dict:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"names {next(name for name in names if names.count(name) > 1)!r} twice")
    return entries


def _checked(name: str, path: object) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(f"has the name {name!r}; use up to 40 letters, digits, dots, dashes and underscores")
    if name in RESERVED:
        raise ValueError(f"must not call a corpus {name!r}, which stands for the data set's evidence")
    if not isinstance(path, str) or not Path(path).is_absolute():
        raise ValueError(f"must give {name} the absolute path of a file or a folder, not {path!r}")
    return Path(path)
