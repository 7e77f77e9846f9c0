"""How somebody mapped a table's columns, kept for the next file with the same header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Q

from annotation.formats.sources import SourceFile
from annotation.formats.tables.format import INFO as TABLE
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.guessing.shapes import as_table, refusal
from annotation.formats.tables.mapping import (
    LAYOUTS,
    SURE,
    Guess,
    MappingGuess,
    Preview,
    guess_mapping,
    guess_values,
    preview,
)
from annotation.formats.tables.mapping_file import RATINGS, SaidMapping, read_mapping
from annotation.formats.tables.nested import depth_of
from annotation.formats.tables.summary import sentences
from annotation.formats.tools.flat_tables import is_flat
from annotation.imports.importing import FileChoices, ImportProblem
from annotation.models import ColumnMapping, User


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


def guessed_layout(seen: Preview, apart: Preview) -> str:
    """As `likely_layout`, for nobody; `apart` is the preview as tables of ratings are read."""
    if refusal(seen.columns, seen.rows):
        return RATINGS
    if is_flat(apart.columns):
        return RATINGS
    roles = guess_roles(apart.columns, apart.rows)
    kinds = {role.partition("/")[0] for role in roles}
    has_raters = "rater" in roles or any(role.count("/") > 1 for role in roles)
    if kinds & {"label", "marked"} and (has_raters or "score" in kinds):
        return RATINGS
    if kinds & {"start", "quote", "spans"} and has_raters:
        return RATINGS
    guess = guess_mapping(seen.columns, seen.rows)
    # A layout that would keep the labels beside the content is none for this file.
    has_labels = any(target.dimension and target.slug in guess.fields for target in LAYOUTS[guess.layout])
    n_texts = len({str(row.get(roles.get("text"))) for row in apart.rows})
    is_of_texts = "context" in kinds or any(map(depth_of, roles.values())) or 2 * n_texts < len(apart.rows)
    return RATINGS if "label" in kinds and is_of_texts and not (has_labels and not guess.missing) else ""


def guess_for_all(source: SourceFile, encoding: str = "") -> tuple[str, dict[str, str], list[str]]:
    """Format, mapping and what it is read as, of a table without a mapping. ImportProblem where there is no guess."""
    seen = preview(source, encoding=encoding)
    apart = as_table(seen)
    if guessed_layout(seen, apart) == RATINGS:
        mapping = roles_or_refusal(seen, apart)
        return RATINGS, mapping, sentences(mapping)
    guess = guess_mapping(seen.columns, seen.rows)
    if guess.missing:
        raise ImportProblem(f"Map the columns: none could be guessed for {', '.join(guess.missing)}")
    return TABLE.slug, guess.mapping, [f"{target} from {column}" for target, column in guess.mapping.items()]


def roles_or_refusal(seen: Preview, apart: Preview) -> dict[str, str]:
    if reason := refusal(seen.columns, seen.rows):
        raise ImportProblem(reason)
    return guess_roles(apart.columns, apart.rows)


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
