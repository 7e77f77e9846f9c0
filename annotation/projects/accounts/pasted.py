"""Email addresses as people paste them: one or several in a line, with names, or a CSV with a column of them. What is
wrong is said with its line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from annotation import incoming

MOST = 100  # at a time: each is a mail, which the request waits for
PASTE_CHARS = 40_000
ROLE_HEADERS, GROUP_HEADERS = {"role", "roles"}, {"group", "groups"}
EMAIL_HEADERS = {"email", "e-mail", "mail", "email address", "e-mail address", "address"}
_SEPARATOR = re.compile(r"[,;\t]")
_BRACKETED = re.compile(r"<([^<>]{0,320})>")


@dataclass(frozen=True)
class PastedAddress:
    line: int
    text: str  # as written, or the address
    problem: str = ""  # why nobody can be invited by it
    # Of a table with these columns, as written.
    roles: str = ""
    group: str = ""


def parse_pasted(text: str) -> list[PastedAddress]:
    """Every address in the order of the text, with what is wrong with it alone, such as one that occurs twice."""
    found, seen = [], {}
    for line, raw, roles, group in _cells(text):
        bracketed = _BRACKETED.search(raw)
        address = (bracketed[1] if bracketed else raw).strip().strip("'\"").lower()
        problem = ""
        try:
            validate_email(address)
        except ValidationError:
            problem = "not an email address"
        if not problem and len(address) > incoming.EMAIL_CHARS:
            problem = f"longer than {incoming.EMAIL_CHARS} characters"
        if not problem and address in seen:
            problem = f"the same as in line {seen[address]}"
        if not problem:
            seen[address] = line
        shown = raw.strip() if problem == "not an email address" else address
        found.append(PastedAddress(line, shown, problem, roles, group))
    return found


def _cells(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Each cell that should be an address, with its line, and the roles and the group next to it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    columns, delimiter = ({}, "") if first is None else _columns_in(lines[first])
    for at, line in enumerate(lines):
        if not line.strip() or (columns and at == first):
            continue
        if columns:
            cells = dict(enumerate(_split(line, delimiter)))
            roles, group = (cells.get(columns.get(name), "").strip() for name in ("roles", "group"))
            yield at + 1, cells.get(columns["email"], line), roles, group
            continue
        parts = [part for part in _SEPARATOR.split(line) if part.strip()]
        is_list = "@" in parts[0] and "<" not in line and "\t" not in line if parts else False
        # Else a line of a table without a header, or names with commas: what has no @ is a name or the like.
        cells = parts if is_list else [part for part in parts if "@" in part] or [line]
        yield from ((at + 1, address, "", "") for cell in cells for address in _apart(cell))


def _apart(cell: str) -> list[str]:
    """The addresses of a cell that has spaces between them; else the cell."""
    words = cell.split()
    return words if len(words) > 1 and all("@" in word for word in words) and "<" not in cell else [cell]


def _columns_in(header: str) -> tuple[dict[str, int], str]:
    """The columns of addresses, roles and groups in a table's first line, and what separates its cells; none where it
    is no header."""
    for delimiter in (",", ";", "\t"):
        names = [name.strip().strip("\ufeff").lower() for name in _split(header, delimiter)]
        known = {"email": EMAIL_HEADERS, "roles": ROLE_HEADERS, "group": GROUP_HEADERS}
        first = ((of, next((at for at, name in enumerate(names) if name in like), None)) for of, like in known.items())
        columns = {of: at for of, at in first if at is not None}
        if "email" in columns:
            return columns, delimiter
    return {}, ""


def _split(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])
