"""What the environment holds by names, as one JSON object: endpoints, search providers, corpora."""

from __future__ import annotations

import json
import re

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


def named_entries(raw: str, what: str, name_of: str = "name") -> dict[str, object]:
    """The entries in the order given; ValueError says what is wrong and where."""
    try:
        entries = json.loads(raw, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(entries, dict):
        raise ValueError(f"must be a JSON object of {what}")
    for name in entries:
        if not _NAME.fullmatch(name):
            raise ValueError(f"has the {name_of} {name!r}; use up to 40 letters, digits, dots, dashes and underscores")
    return entries


def _without_twins(pairs: list[tuple[str, object]]) -> dict:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"names {next(name for name in names if names.count(name) > 1)!r} twice")
    return entries
