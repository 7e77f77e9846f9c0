"""A user's mapping of a table's columns, kept for the next file with the same header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from annotation.formats import FormatError
from annotation.formats.names import question_slug
from annotation.formats.sources import SourceFile
from annotation.formats.tables.guessing.columns import GuessedColumns, columns_of, guess_columns
from annotation.formats.tables.guessing.shapes import as_table
from annotation.formats.tables.guessing.spellings import own_name
from annotation.formats.tables.mapping import Preview, guess_values, preview
from annotation.formats.tables.mapping_file import RATINGS, ChosenMapping, read_mapping
from annotation.formats.tables.oddities import AS_GUESSED, ENCODING
from annotation.imports import importing
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest
from annotation.models import ColumnMapping, User
from annotation.task_types.label_sets import identifier_of


def header_hash(columns: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


def remember(user: User, columns: Sequence[str], chosen: ChosenMapping) -> None:
    stored = {name: dict(getattr(chosen, name)) for name in ("values", "ranges", "checkers")}
    ColumnMapping.objects.update_or_create(
        owner=user,
        header_hash=header_hash(columns),
        layout=chosen.layout,
        # As pairs: PostgreSQL's `jsonb` would put the names of an object into an order of its own.
        defaults={"mapping": {"mapping": [list(pair) for pair in chosen.mapping.items()], **stored}},
    )


def recall(user: User, seen: Preview, layout: str = "") -> tuple[GuessedColumns, bool]:
    """What the columns mean: as this person said last for such a header, else guessed; and which of the two. Without
    `layout`, the layout is that of what was said, or the one that fits."""
    known = ColumnMapping.objects.filter(owner=user, header_hash=header_hash(seen.columns))
    if layout:
        known = known.filter(layout=layout)
    last = known.order_by("-updated_at").first()
    guess = columns_of(seen, last.layout if last else layout or None)
    if last is None:
        return guess, False
    columns = guess.seen.columns
    mapping = {role: column for role, column in dict(last.mapping["mapping"]).items() if column in columns}
    more = {name: last.mapping.get(name, {}) for name in ("values", "ranges", "checkers")}
    return replace(guess, chosen=ChosenMapping(last.layout, mapping, **more), missing=(), refusal=""), True


def values_offered(guess: GuessedColumns) -> dict[str, dict[str, str | None]]:
    """What the values in columns of labels mean, by field: as mapped, else as guessed."""
    guessed = guess.chosen
    found = guess_values(guessed.layout, guessed.mapping, guess.seen.rows)
    return {target: {**values, **guessed.values.get(target, {})} for target, values in found.items()}


def is_asked_more(before: GuessedColumns, chosen: ChosenMapping) -> bool:
    """Whether a column of labels was chosen that the page did not ask about, and has values that nobody knows."""
    return any(
        before.chosen.mapping.get(target) != chosen.mapping[target] and None in found.values()
        for target, found in guess_values(chosen.layout, chosen.mapping, before.seen.rows).items()
    )


def guess_or_refuse(source: SourceFile, layout: str | None = None, encoding: str = "") -> GuessedColumns:
    """What the columns of a table are, without a mapping. ImportProblem where there is no guess."""
    guess = guess_columns(source, layout, encoding)
    if guess.refusal:
        raise ImportProblem(guess.refusal)
    if not guess.seen.columns:
        raise ImportProblem(f"{guess.seen.name} has no rows.")
    if guess.missing:
        columns = ", ".join(guess.seen.columns)
        raise ImportProblem(f"No column could be guessed for {', '.join(guess.missing)}. The columns are {columns}.")
    return guess


def read_anew(request: ImportRequest, before: FileChoices) -> ImportRequest:
    """The request in another encoding than the dry run's, in which columns and labels may be called otherwise."""
    chosen, encodings = request.choices, [one.treat.get(ENCODING, AS_GUESSED) for one in (before, request.choices)]
    if encodings[0] == encodings[1]:
        return request
    renamed = {}
    if chosen.mapping:
        source = importing.sources_of(request)[0]
        try:
            renamed = dict(zip(*(_names_in(source, encoding) for encoding in encodings), strict=False))
        except FormatError as error:
            raise ImportProblem(str(error)) from None
    mapping = {
        "/".join(renamed.get(part, part) for part in role.split("/")): renamed.get(column, column)
        for role, column in chosen.mapping.items()
    }
    wish, made = request.project, chosen.label_set
    if wish is not None and made and wish.task_type == identifier_of(made):
        wish = replace(wish, task_type="")  # that of the labels as they are read now
    return replace(request, choices=replace(chosen, mapping=mapping, label_set=None), project=wish)


def _names_in(source: SourceFile, encoding: str) -> list[str]:
    """Of columns, and of the questions that are called after them."""
    seen = preview(source, encoding=encoding)
    names = [*seen.columns, *as_table(seen).columns]
    return [*(question_slug(own_name(name)) for name in names), *names]


def as_file(format: str, choices: FileChoices) -> str:
    """The mapping as JSON, for `import_dataset --mapping` and for the page of the columns of another file."""
    content = {"format": format, "mapping": choices.mapping, "values": choices.values}
    content |= {name: part for name in ("ranges", "checkers") if (part := getattr(choices, name))}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def take_file(user: User, seen: Preview, raw: bytes) -> str:
    """Remember a mapping as if this person had chosen it for such columns. Returns its layout; FormatError says what is
    wrong with it."""
    chosen = read_mapping(raw)
    columns = as_table(seen).columns if chosen.layout == RATINGS else seen.columns
    chosen.check(columns)
    remember(user, seen.columns, chosen)
    return chosen.layout
