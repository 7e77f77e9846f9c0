"""What figures are split by where it is not the source: a column of what units are made from, planned or not.

A split is a kind of content and a column of it, such as `evidence.article` or `claim.verdict`. Columns that nobody
planned stand in the metadata of the content, and are named alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from urllib.parse import urlsplit

from analysis.sources.links import LINKS, ORIGINS
from annotation.datasets.kinds import KIND_NAMED

METADATA = "metadata"
# Texts that are judged or read: nearly every unit has one of its own.
TEXTS = ("text", "answers", "head", "relation", "tail", "premise", "hypothesis")
BETWEEN_SEVERAL = "; "
WORDS = {"url": "site", "is_gold": "gold"}


def kinds_of(unit_kind: str) -> tuple[str, ...]:
    """Kinds of content that a unit leads to: what it is made from, and itself where it has a row of its own."""
    links = [name for name in LINKS if name in ORIGINS[unit_kind].links]
    return tuple(dict.fromkeys([*links, *([unit_kind] if unit_kind in KIND_NAMED else [])]))


def planned_columns(kind: str) -> tuple[str, ...]:
    """Columns of a kind's table that can be split by."""
    return tuple(name for name in KIND_NAMED[kind].columns if name not in (METADATA, *TEXTS))


def check(split: str) -> None:
    """ValueError where it is not written as a split is."""
    kind, _, name = split.partition(".")
    if kind not in KIND_NAMED or not name:
        raise ValueError(
            f"split is a kind of content and a column of it, such as evidence.article, not {split!r}; kinds are "
            f"{', '.join(KIND_NAMED)}"
        )


def check_kind(split: str, unit_kind: str) -> None:
    """ValueError where units of this kind do not lead to what the split is about."""
    kind, kinds = split.partition(".")[0], kinds_of(unit_kind)
    if kind not in kinds:
        raise ValueError(f"what is judged here has no {kind}; split is of {', '.join(kinds)}, not {split!r}")


def source_name(source: str) -> str:
    """What figures are split by: the site of an address, any other text as it is, 'unknown' where there is none."""
    if "://" in source:
        return urlsplit(source).netloc.removeprefix("www.") or source
    return source if source not in ("", "-") else "unknown"


def as_text(value: object) -> str:
    """A value of JSON or of a column as the name of a group; empty where there is none.

    >>> as_text(["b", "a", "b"]), as_text(3.0), as_text(True), as_text(None)
    ('a; b', '3', 'yes', '')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # databases differ in whether 3.0 comes back as 3
    if isinstance(value, list | tuple):
        return BETWEEN_SEVERAL.join(sorted({as_text(one) for one in value} - {""}))
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return " ".join(str(value).split())


def with_values(kind: str, rows: Iterable[dict]) -> list[str]:
    """Columns, and after them names in the metadata, that have a value in some of the rows."""
    planned = planned_columns(kind)
    there: set[str] = set()
    others: set[str] = set()
    for row in rows:
        there.update(name for name in planned if as_text(row[name]))
        others.update(name for name, value in (row[METADATA] or {}).items() if as_text(value))
    return [*(name for name in planned if name in there), *sorted(others - there)]


def split_in(made_from: dict) -> str:
    """The split of what a result was made from (`Source.described`); empty for the source."""
    return made_from.get("selection", {}).get("split", "")


def name_split(split: str) -> str:
    """What is split by, in the middle of a sentence.

    >>> name_split("evidence.article"), name_split("sub_sentence.is_gold"), name_split("")
    ('article of the evidence', 'gold of the sub-sentence', 'source')
    """
    kind, _, name = split.partition(".")
    return f"{_word(name)} of the {kind.replace('_', '-')}" if split else "source"


def split_heading(split: str) -> str:
    """The heading of a column of its values."""
    word = _word(split.partition(".")[2]) if split else "source"
    return word[:1].upper() + word[1:]


def _word(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))
