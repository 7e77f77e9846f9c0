"""Tables that lift decisions to the parent: a verdict per line, with what must hold of the labels below it.

    disputed: any supports, any refutes
    supports: any supports
    not_enough_info: otherwise

The first line counts whose conditions all hold. A line without a match leaves the parent undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

OTHERWISE = "otherwise"
# Tables that are offered first, by the labels that they are about; elsewhere all children have to say the same.
TABLES = (
    (
        ("supports", "refutes"),
        "disputed: any supports, any refutes\nsupports: any supports\nrefutes: any refutes\nnot_enough_info: otherwise",
    ),
    (
        ("entailment", "contradiction"),
        "contradiction: any contradiction\nentailment: all entailment\nneutral: otherwise",
    ),
)
# Condition -> whether it holds, of how many children have the label and how many there are.
HOLDS = {
    "any": lambda n, total: n > 0,
    "no": lambda n, total: n == 0,
    "all": lambda n, total: n == total,
    "most": lambda n, total: 2 * n > total,
}
MAX_LINES, VERDICT_CHARS = 100, 80


class TableError(ValueError):
    """The table cannot be read; the message says which line and why."""


@dataclass(frozen=True, slots=True)
class VerdictLine:
    verdict: str
    conditions: tuple[tuple[str, str], ...]  # (name in HOLDS, label); none: otherwise


def table_for(labels: Sequence[str]) -> str:
    """The table that is offered first for these labels."""
    for known, table in TABLES:
        if set(known) <= set(labels):
            return table
    return "\n".join([*(f"{label}: all {label}" for label in labels), f"mixed: {OTHERWISE}"])


def parse_table(text: str, labels: Sequence[str]) -> tuple[VerdictLine, ...]:
    lines: list[VerdictLine] = []
    for number, row in enumerate(filter(str.strip, text.splitlines()), 1):
        verdict, colon, conditions = (part.strip() for part in row.rpartition(":"))
        if not colon or not verdict or len(verdict) > VERDICT_CHARS:
            raise TableError(f"line {number}: write a verdict, a colon and its conditions, not {row.strip()!r}")
        if lines and not lines[-1].conditions:
            raise TableError(f"line {number}: is never reached, since the line before it always holds")
        lines.append(VerdictLine(verdict, tuple(_conditions(conditions, number, labels))))
    if not lines or len(lines) > MAX_LINES:
        raise TableError(f"has {len(lines)} lines; it has from 1 to {MAX_LINES}")
    return tuple(lines)


def _conditions(text: str, number: int, labels: Sequence[str]) -> Iterable[tuple[str, str]]:
    if text == OTHERWISE:
        return
    for condition in text.split(","):
        word, _, label = condition.strip().partition(" ")
        if word not in HOLDS:
            known = ", ".join(f"{name} LABEL" for name in HOLDS)
            raise TableError(f"line {number}: {condition.strip()!r} is not one of {known}, {OTHERWISE}")
        if label.strip() not in labels:
            raise TableError(f"line {number}: {label.strip()!r} is not one of the labels {', '.join(labels)}")
        yield word, label.strip()


def verdict_of(lines: Sequence[VerdictLine], counts: Mapping[str, int]) -> str | None:
    """The verdict on a parent whose children have these labels so often; None where no line holds."""
    total = sum(counts.values())
    for line in lines:
        if all(HOLDS[word](counts.get(label, 0), total) for word, label in line.conditions):
            return line.verdict
    return None


def cells_of(text: str, labels: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The table with a column per label: by line its verdict, and of each label the condition, empty where there is
    none. TableError where it cannot be read, or a line has several conditions of one label."""
    rows = []
    for number, line in enumerate(parse_table(text, labels), 1):
        words: dict[str, str] = {}
        for word, label in line.conditions:
            if label in words:
                raise TableError(f"line {number}: has two conditions about {label!r}")
            words[label] = word
        rows.append((line.verdict, [words.get(label, "") for label in labels]))
    return rows


def text_of(rows: Iterable[tuple[str, Sequence[str]]], labels: Sequence[str]) -> str:
    """What `cells_of` reads; empty rows are left out."""
    lines = []
    for verdict, words in rows:
        conditions = ", ".join(f"{word} {label}" for word, label in zip(words, labels, strict=True) if word)
        if verdict or conditions:
            lines.append(f"{verdict}: {conditions or OTHERWISE}")
    return "\n".join(lines)
