"""The bodies of documents that retrievers may search, from the environment: only who runs the site names files.

`ASSAY_CORPORA` holds JSON: `{"wiki": "/data/wiki.jsonl"}`. A file has one document a line, `{"id": ..., "text": ...}`,
with its source; a folder has texts, pages and such files.
"""

from __future__ import annotations

from pathlib import Path

from models_runtime.named_entries import named_entries

VARIABLE = "ASSAY_CORPORA"
# What a run calls the data set's own evidence: all of it, or each query's.
RESERVED = ("own", "each")


def parse_corpora(raw: str) -> dict[str, Path]:
    """Files by name, in the order given; ValueError says what is wrong and where."""
    entries = named_entries(raw, 'paths by name, such as {"wiki": "/data/wiki.jsonl"}')
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


def _checked(name: str, path: object) -> Path:
    if name in RESERVED:
        raise ValueError(f"must not call a corpus {name!r}, which stands for the data set's evidence")
    if not isinstance(path, str) or not Path(path).is_absolute():
        raise ValueError(f"must give {name} the absolute path of a file or a folder, not {path!r}")
    return Path(path)
