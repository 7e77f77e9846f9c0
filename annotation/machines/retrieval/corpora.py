"""The corpora of the site: a file of JSON Lines, or a folder of texts, pages and such files (docs/formats.md).

A line that is no document is left out and told; the others are searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from annotation import incoming
from annotation.models import RankedPassage
from models_runtime.egress import AddressRefused, check_public
from models_runtime.evidence import pages
from models_runtime.retrieval.contracts import Document

ID_LENGTH = RankedPassage._meta.get_field("document").max_length
LINES, TEXTS, PAGES = (".jsonl", ".ndjson"), (".txt", ".md"), (".html", ".htm")
# Of one line, and of one file of a folder. A larger one is no document.
DOCUMENT_BYTES = 16 * 1024 * 1024
KEPT = 20
OTHERS = ("title", "source", "language", "author")
DAYS = ("date", "published")  # two names for one thing
MARKS = ("is_gold", "gold")


@dataclass(slots=True)
class BadLines:
    """How many there were, and the first of them in words."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, place: str, reason: object) -> None:
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(f"{place}: {reason}")


def read_corpus(path: Path, bad: BadLines | None = None) -> Iterator[Document]:
    """The documents, in the order of the file, or of the names in a folder; those without words are left aside.
    Windows' line ends become plain ones. Without `bad`, a ValueError names the first line that is no document."""
    seen: set[str] = set()
    is_folder = path.is_dir()
    for file in _files_of(path) if is_folder else [path]:
        name = file.relative_to(path).as_posix() if is_folder else ""
        suffix = file.suffix.lower() if is_folder else LINES[0]
        for place, read in _lines_of(file) if suffix in LINES else [("", partial(_whole, file, name, suffix))]:
            try:
                document = read()
                if document.id in seen:
                    raise ValueError(f"the id {document.id!r} is on an earlier line, too")
            except ValueError as error:
                where = ", ".join(filter(None, (name, place)))
                if bad is None:
                    raise ValueError(f"{where}: {error}") from None
                bad.add(where, error)
                continue
            seen.add(document.id)
            if document.text.strip():
                yield document


def _files_of(folder: Path) -> list[Path]:
    known = {*LINES, *TEXTS, *PAGES}
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() in known and file.is_file())


def _lines_of(path: Path):
    """Place of each line, and what reads it."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(DOCUMENT_BYTES):
            number += 1
            if len(line) == DOCUMENT_BYTES and not line.endswith(b"\n"):
                while (rest := file.readline(DOCUMENT_BYTES)) and not rest.endswith(b"\n"):
                    pass
                yield f"line {number}", _too_long
            elif line.strip():
                yield f"line {number}", partial(_document, line)


def _too_long() -> Document:
    raise ValueError(f"is longer than {DOCUMENT_BYTES // 2**20} MB")


def _whole(file: Path, name: str, suffix: str) -> Document:
    """A file that is one document, whose id is its name in the folder."""
    if len(name) > ID_LENGTH:
        raise ValueError(f"has a name of {len(name):,} characters; at most {ID_LENGTH} are stored")
    if file.stat().st_size > DOCUMENT_BYTES:
        _too_long()
    raw = file.read_bytes()
    if suffix in PAGES:
        page = pages.read_page(raw, "text/html")
        if page.problem:
            raise ValueError(page.problem)
        return Document(name, page.text, page.source)
    try:
        return Document(name, _storable(raw.decode().replace("\r\n", "\n")))
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def _document(line: bytes) -> Document:
    try:
        row = json.loads(line, object_pairs_hook=incoming.each_name_once)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    except incoming.RepeatedNameError as error:
        raise ValueError(f"gives {error.name!r} twice") from None
    except (ValueError, RecursionError):
        raise ValueError("is not JSON that can be read: nested too deep, or a number of thousands of digits") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ValueError('must be an object with "id" and "text"')
    found = row.get("id")
    if isinstance(found, bool) or not isinstance(found, str | int) or not str(found).strip():
        raise ValueError('must have an "id" that is a text or a whole number')
    if len(str(found)) > ID_LENGTH:
        raise ValueError(f"has an id of {len(str(found)):,} characters; at most {ID_LENGTH} are stored")
    text = _storable(row["text"].replace("\r\n", "\n"))
    return Document(_storable(str(found)), text, _source(row))


def _source(row: dict) -> dict:
    found: dict[str, object] = {}
    for name in ("url", "publisher", *OTHERS):
        value = row.get(name)
        if value in (None, ""):
            continue
        if not isinstance(value, str):
            raise ValueError(f'has a "{name}" that is not a text')
        found[name] = _storable(value)
    if "url" in found:
        try:
            check_public(found["url"])
        except AddressRefused as refused:
            raise ValueError(f"has the url {found['url'][:100]!r}, which {refused}") from None
    days = {str(row[name]) for name in DAYS if row.get(name) not in (None, "")}
    if len(days) > 1:
        raise ValueError(f"has two dates, {' and '.join(sorted(days))}; give one of {' and '.join(DAYS)}")
    for name, value, take in (
        ("date", days.pop() if days else "", incoming.day),
        ("retrieved_at", row.get("retrieved_at"), incoming.instant),
    ):
        if value not in (None, ""):
            try:
                found[name] = take(value).isoformat().replace("+00:00", "Z")
            except incoming.Refused as refused:
                raise ValueError(f"has a {name} that {refused}") from None
    marks = [row[name] for name in MARKS if row.get(name) is not None]
    if len(marks) > 1 and marks[0] != marks[1]:
        raise ValueError('says both "is_gold" and "gold", and not the same')
    if marks:
        found["is_gold"] = _gold(marks[0])
    return found


def _gold(mark: object) -> bool | list[str]:
    if isinstance(mark, bool):
        return mark
    if isinstance(mark, list) and all(isinstance(key, str) for key in mark):
        return [_storable(key) for key in mark]
    raise ValueError('has an "is_gold" that is neither true, false nor a list of ids of claims or questions')


def _storable(text: str) -> str:
    if not incoming.is_storable(text):
        raise ValueError("holds a NUL character or half of a surrogate pair, which no database stores")
    return text
