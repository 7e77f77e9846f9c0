"""What figures are split by where it is not the source: a column of what units are made from, planned or not.

A split is a kind of content and a column of it, such as `evidence.article` or `claim.verdict`. Columns that nobody
planned stand in the metadata of the content, and are named alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.sources.base import Source, source_name
from analysis.sources.links import LINKS, ORIGINS
from annotation.datasets.kinds import KIND_NAMED

if TYPE_CHECKING:
    import pandas as pd

METADATA = "metadata"
# Texts that are judged or read, of which nearly every unit has one of its own.
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


def groups_of(source: Source, split: str) -> dict[str, str]:
    """Key of content -> what it comes under. ValueError names what there is where no row has the column.

    Addresses count by their site, numbers and truth values as text; several values are put in the order of the
    alphabet with '; ' between, so that the same ones are the same group. 'unknown' stands where there is none.
    """
    kind, _, name = split.partition(".")
    if source.described()["kind"] == "table":
        raise ValueError("a table of labels holds no content to split by; what its column `source` says is split by")
    content = source.content(kind)
    if name in planned_columns(kind):
        values = content[name].tolist()
    else:
        given = [row or {} for row in content[METADATA]]
        if given and not any(name in row for row in given):
            there = (f"{kind}.{one}" for one in with_values(kind, content.to_dict("records")))
            raise ValueError(f"there is no {split}; there are {', '.join(there) or 'no such columns'}")
        values = [row.get(name) for row in given]
    texts = list(map(as_text, values))
    names = {text: source_name(text) for text in set(texts)}
    return {key: names[text] for key, text in zip(content["key"].tolist(), texts, strict=True)}


def sources_of(units: pd.DataFrame, split: str, groups: dict[str, str]) -> list[str]:
    """The group that each unit comes under."""
    kind = split.partition(".")[0]
    unknown = source_name("")
    return [groups.get(key, unknown) for key in units[kind if kind in LINKS else "unit_key"]]


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


def in_words(split: str) -> str:
    """What is split by, in the middle of a sentence.

    >>> in_words("evidence.article"), in_words("sub_sentence.is_gold"), in_words("")
    ('article of the evidence', 'gold of the sub-sentence', 'source')
    """
    kind, _, name = split.partition(".")
    return f"{_word(name)} of the {kind.replace('_', '-')}" if split else "source"


def as_heading(split: str) -> str:
    """The heading of a column of its values."""
    word = _word(split.partition(".")[2]) if split else "source"
    return word[:1].upper() + word[1:]


def _word(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))
