"""How somebody mapped a table's columns, kept for the next file with the same header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Q

from annotation.formats import FormatError
from annotation.formats.names import question_slug
from annotation.formats.sources import SourceFile
from annotation.formats.tables.guessing.columns import GuessedColumns, guess_columns, guessed_layout
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.guessing.shapes import as_table
from annotation.formats.tables.guessing.spellings import own_name
from annotation.formats.tables.mapping import (
    SURE,
    Guess,
    MappingGuess,
    Preview,
    guess_mapping,
    guess_values,
    preview,
)
from annotation.formats.tables.mapping_file import RATINGS, SaidMapping, read_mapping
from annotation.formats.tables.oddities import AS_GUESSED, ENCODING
from annotation.imports import importing
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest
from annotation.models import ColumnMapping, User
from annotation.task_types.label_sets import identifier_of


def header_hash(columns: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


def remember(user: User, columns: Sequence[str], layout: str, mapping: dict, values: dict, **more) -> None:
    ColumnMapping.objects.update_or_create(
        owner=user,
        header_hash=header_hash(columns),
        layout=layout,
        # As pairs: PostgreSQL's `jsonb` would put the names of an object into an order of its own.
        defaults={"mapping": {"mapping": [list(pair) for pair in mapping.items()], "values": values, **more}},
    )


def likely_layout(user: User, seen: Preview) -> str:
    """The layout to begin with: as this person said last for such a header; ratings where the columns name raters, or
    scores beside labels; "" where the layouts of `mapping` should be looked at."""
    apart = as_table(seen)
    known = ColumnMapping.objects.filter(
        Q(header_hash=header_hash(seen.columns)) | Q(header_hash=header_hash(apart.columns), layout=RATINGS), owner=user
    )
    last = known.order_by("-updated_at").first()
    if last is not None:
        return last.layout
    return guessed_layout(seen, apart)


def guess_or_refuse(source: SourceFile, layout: str | None = None, encoding: str = "") -> GuessedColumns:
    """What the columns of a table are, where nobody has said so. ImportProblem where there is no guess."""
    guess = guess_columns(source, layout, encoding)
    if guess.refusal:
        raise ImportProblem(guess.refusal)
    if guess.missing:
        columns = ", ".join(guess.seen.columns)
        raise ImportProblem(f"No column could be guessed for {', '.join(guess.missing)}. The columns are {columns}.")
    return guess


def recall_roles(
    user: User, columns: Sequence[str], rows: Sequence[dict], is_refused: bool = False
) -> tuple[SaidMapping, bool]:
    """What the columns of a table of ratings are, and whether this person said so."""
    known = ColumnMapping.objects.filter(owner=user, header_hash=header_hash(columns), layout=RATINGS).first()
    if known is None:
        return SaidMapping(RATINGS, {} if is_refused else guess_roles(columns, rows)), False
    said = known.mapping
    more = (said.get(name, {}) for name in ("values", "ranges", "checkers"))
    return SaidMapping(RATINGS, dict(said["mapping"]), *more), True


def recall(user: User, columns: Sequence[str], rows: Sequence[dict], layout: str = "") -> tuple[MappingGuess, bool]:
    """What the columns mean: as this person said last for such a header, else guessed. Tells which of the two."""
    known = ColumnMapping.objects.filter(owner=user, header_hash=header_hash(columns)).exclude(layout=RATINGS)
    if layout:
        known = known.filter(layout=layout)
    last = known.order_by("-updated_at").first()
    guess = guess_mapping(columns, rows, last.layout if last else layout)
    if last is None:
        return guess, False
    said = last.mapping
    mapping = {target: column for target, column in dict(said["mapping"]).items() if column in columns}
    guessed = guess_values(guess.layout, mapping, rows)
    values = {target: {**found, **said["values"].get(target, {})} for target, found in guessed.items()}
    fields = {target: Guess(column, SURE) for target, column in mapping.items()}
    return replace(guess, fields=fields, values=values), True


def is_asked_more(before: MappingGuess, mapping: dict[str, str], rows: Sequence[dict]) -> bool:
    """Whether a column of labels was chosen that the page did not ask about, and has values that nobody knows."""
    return any(
        before.mapping.get(target) != mapping[target] and None in found.values()
        for target, found in guess_values(before.layout, mapping, rows).items()
    )


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
    said = {"format": format, "mapping": choices.mapping, "values": choices.values}
    said |= {name: part for name in ("ranges", "checkers") if (part := getattr(choices, name))}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def take_file(user: User, seen: Preview, raw: bytes) -> str:
    """Remember a mapping as if this person had chosen it for such columns. Returns its layout; FormatError says what is
    wrong with it."""
    said = read_mapping(raw)
    columns = as_table(seen).columns if said.layout == RATINGS else seen.columns
    said.check(columns)
    more = {"ranges": dict(said.ranges), "checkers": dict(said.checkers)}
    remember(user, columns, said.layout, dict(said.mapping), dict(said.values), **more)
    return said.layout
