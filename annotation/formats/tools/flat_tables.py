"""Tables of labels: `labels` has a row for every unit with its final labels, `ratings` one for every unit and rater.
They come back by the roles that `roles_of` gives their columns (annotation.formats.tables.guessing.roles).

A question has the column of its name; `NAME.by` says what made its label, `NAME.highlights` has what was highlighted in
the judged text, and `NAME.other_highlights` in other texts, as lists in JSON; `NAME.raters` has each rater's label and
`NAME.soft` the share of raters who gave each label, as objects in JSON. An empty `NAME.one` says that the
question takes one label, where `|` is part of a label. No name of a question has a dot.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from annotation.formats.files.spreadsheets import DELIMITERS, write_delimited, write_parquet
from annotation.formats.tables.guessing.values import are_free_texts, texts_in
from annotation.task_types.base import NONE_CHOSEN, SEPARATOR

# Of a unit and its texts, before its labels.
OF_UNIT = ("id", "item", "text", "context", "passages", "answers", "document", "system")
OF_RATER = ("rater", "group", "time", "seconds", "surplus", "at_decision", "comment", "free_text")
UNDECIDED, METADATA = "undecided", "metadata"
KNOWN = frozenset({*OF_UNIT, *OF_RATER, UNDECIDED, METADATA})
BY, HIGHLIGHTS, ELSEWHERE, CANNOT = ".by", ".highlights", ".other_highlights", ".cannot_judge"
RATERS, SOFT = ".raters", ".soft"
# An empty column next to a question that takes one label, where a label has in it what else parts several.
ONE = ".one"
# Columns that are roles of the same name where a table comes back.
AS_NAMED = ("id", "text", "context", "document", "system", "rater", "group", "time", "comment")
# Type of a column -> that of Parquet.
TYPES = {"text": "string", "labels": "string list", "number": "double", "boolean": "bool"}
LOSES = (
    "Names: raters are called by their pseudonyms, exchangeable places too",
    "Titles of questions and labels: these are called as they are stored, with their titles in manifest.json",
    "Levels, number ranges, and conditions on which questions are asked",
    "Highlights and notes of decisions",
)


def column_of(question: str) -> str:
    """What a question's column is called: as the question, where no other column is."""
    return f"{question}_label" if question in KNOWN else question


def write(path: Path, columns: Mapping[str, str], rows: Iterable[Mapping[str, str | None]]) -> int:
    """Write the rows to `path`, which ends in .tsv, .csv or .parquet. `columns` is name -> text, labels, number or
    boolean; values are answers as they are stored, None where there is none. Parquet has lists of labels, numbers and
    truth values; delimited text is escaped as `spreadsheets` describes. Returns the number of rows."""
    kind = path.suffix.lstrip(".")
    if kind in DELIMITERS:
        cells = (tuple(row.get(column) or "" for column in columns) for row in rows)
        return write_delimited(path, tuple(columns), cells, kind)
    types = {column: TYPES[of] for column, of in columns.items()}
    return write_parquet(
        path, types, ({name: _typed(row.get(name), columns[name]) for name in columns} for row in rows)
    )


def _typed(value: str | None, kind: str) -> object:
    if value is None or kind in ("text", "number"):
        return value
    if kind == "boolean":
        return value == "true"
    return [] if value == NONE_CHOSEN else value.split(SEPARATOR)


def highlights_cell(spans: Sequence[Mapping]) -> str | None:
    return json.dumps(spans, ensure_ascii=False) if spans else None


def is_flat(columns: Collection[str]) -> bool:
    """Whether the table is one of these."""
    return {"id", "text", METADATA} <= set(columns) and bool({UNDECIDED, "surplus"} & set(columns))


def roles_of(columns: Sequence[str], rows: Sequence[Mapping]) -> dict[str, str]:
    """Role -> column of a table that this module wrote, from its first rows."""
    found = {name: name for name in AS_NAMED if name in columns and texts_in(name, rows)}
    if "document" in found and "item" in columns:
        found["document"] = "item"  # the context of a piece has the answer in it, so it differs within a document
    if "document" in found and "system" in columns:
        found["system"] = "system"  # answers, although no row may name who wrote them
    questions = [one for one in columns if one not in KNOWN and "." not in one]
    for question in questions:
        values = texts_in(question, rows)
        if f"{question}{ONE}" in columns:
            found[f"label/{question}"] = question
        elif any(value == NONE_CHOSEN or SEPARATOR in value for value in values) or _has_lists(question, rows):
            found[f"labels/{question}"] = question
        elif not are_free_texts(values):
            found[f"label/{question}"] = question
        elif "rater" in found:
            found[f"row/{question}"] = question
    if "rater" in found:
        found |= dict(_of_rows(found, columns, questions, rows))
    return found


def _has_lists(column: str, rows: Sequence[Mapping]) -> bool:
    return any(isinstance(row.get(column), list) for row in rows)


def _of_rows(
    found: Mapping[str, str], columns: Collection[str], questions: Sequence[str], rows: Sequence[Mapping]
) -> Iterator[tuple[str, str]]:
    """Highlights, and what else is kept with a rater's answer."""
    for question in questions:
        marked = f"{question}{HIGHLIGHTS}"
        if marked in columns and found.keys() & {f"label/{question}", f"labels/{question}"}:
            yield f"spans/{question}", marked
        for part in (ELSEWHERE, CANNOT):
            if f"{question}{part}" in columns:
                yield f"row/{question}{part}", f"{question}{part}"
    for name in ("seconds", "surplus", "at_decision", "free_text"):
        if name in columns and any(row.get(name) not in (None, "") for row in rows):
            yield f"row/{name}", name
