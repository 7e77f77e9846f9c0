"""What the columns of a table most likely mean, without a mapping: one guess for the import in the browser, by
command and by the API, for reports from files and for `assay judge`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.formats.records import FormatError
from annotation.formats.sources import SourceFile
from annotation.formats.tables.format import INFO as TABLE
from annotation.formats.tables.format import check_fields
from annotation.formats.tables.guessing.roles import check_roles, guess_roles
from annotation.formats.tables.guessing.shapes import as_table, refusal
from annotation.formats.tables.mapping import LAYOUTS, LOOKED_AT, RATINGS, Preview, guess_mapping, preview
from annotation.formats.tables.mapping_file import ChosenMapping
from annotation.formats.tables.nested import depth_of
from annotation.formats.tables.questions import range_in
from annotation.formats.tables.summary import raters_in, sentences
from annotation.formats.tools.flat_tables import is_flat


@dataclass(frozen=True, slots=True)
class GuessedColumns:
    """`seen` are the first rows as the layout has them; of ratings, with lists in them opened. `missing` are fields
    that the layout needs and no column could be guessed for, and `refusal` says why the table can have no guess."""

    seen: Preview
    chosen: ChosenMapping
    missing: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def format(self) -> str:
        return RATINGS if self.chosen.layout == RATINGS else TABLE.slug

    @property
    def sentences(self) -> list[str]:
        """How the columns are read. Raters are counted where these are all the rows."""
        mapping = self.chosen.mapping
        if self.chosen.layout != RATINGS:
            return TABLE.read_as(mapping, None)
        return sentences(mapping, raters_in(mapping, self.seen.rows) if len(self.seen.rows) < LOOKED_AT else None)

    @property
    def line(self) -> str:
        return f"Columns read as: {' '.join(self.sentences)}"

    @property
    def names_raters(self) -> bool:
        """Whether there are labels, and columns name who or what gave some: else any column of few values could be
        labels."""
        try:
            check_roles(self.chosen.mapping)
        except FormatError:
            return False
        kinds = _kinds(self.chosen.mapping)
        says_who = kinds & {"rater", "score", "prediction"} or _has_columns_of_raters(self.chosen.mapping)
        return bool(kinds & {"label", "marked"} and says_who)


def guess_columns(source: SourceFile, layout: str | None = None, encoding: str = "") -> GuessedColumns:
    """Of a file's first table. `layout`: RATINGS, "" for the layout of `mapping` that fits best, or None for whichever
    fits. FormatError where the file cannot be read."""
    return columns_of(preview(source, encoding=encoding), layout)


def check_chosen(chosen: ChosenMapping) -> None:
    """FormatError for roles that do not go together, and for what is no range of a scale."""
    if chosen.layout == RATINGS:
        check_roles(chosen.mapping)
    else:
        check_fields(chosen.layout, chosen.mapping)
    for question, text in chosen.ranges.items():
        range_in(text, question)


def columns_of(seen: Preview, layout: str | None = None) -> GuessedColumns:
    apart = as_table(seen)
    if layout == RATINGS or (layout is None and guessed_layout(seen, apart) == RATINGS):
        reason = refusal(seen.columns, seen.rows)
        roles = {} if reason else guess_roles(apart.columns, apart.rows)
        return GuessedColumns(apart, ChosenMapping(RATINGS, roles), refusal=reason)
    guess = guess_mapping(seen.columns, seen.rows, layout or "")
    return GuessedColumns(seen, ChosenMapping(guess.layout, guess.mapping), guess.missing)


def guessed_layout(seen: Preview, apart: Preview) -> str:
    """Ratings if the columns name raters, or scores as well as labels; "" where the layouts of `mapping` should be
    looked at. `apart` is the preview as tables of ratings are read."""
    if refusal(seen.columns, seen.rows) or is_flat(apart.columns):
        return RATINGS
    roles = guess_roles(apart.columns, apart.rows)
    kinds = _kinds(roles)
    has_raters = "rater" in roles or _has_columns_of_raters(roles)
    if kinds & {"label", "marked"} and (has_raters or "score" in kinds):
        return RATINGS
    if kinds & {"start", "quote", "spans"} and has_raters:
        return RATINGS
    guess = guess_mapping(seen.columns, seen.rows)
    # A layout that would keep the labels as metadata of the content does not fit this file.
    has_labels = any(target.dimension and target.slug in guess.fields for target in LAYOUTS[guess.layout])
    n_texts = len({str(row.get(roles.get("text"))) for row in apart.rows})
    is_of_texts = "context" in kinds or any(map(depth_of, roles.values())) or 2 * n_texts < len(apart.rows)
    is_of_texts = is_of_texts or ("text" in kinds and "claim" in guess.missing)
    if "prediction" in kinds:
        return RATINGS
    return RATINGS if "label" in kinds and is_of_texts and not (has_labels and not guess.missing) else ""


def _kinds(roles: Iterable[str]) -> set[str]:
    return {role.partition("/")[0] for role in roles}


def _has_columns_of_raters(roles: Iterable[str]) -> bool:
    return any(role.count("/") > 1 for role in roles)
