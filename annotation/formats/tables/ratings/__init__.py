"""A table of texts with labels, ratings and scores: each column has a role that the user names (`guessing.roles`).

Other columns are kept with the text. A text with a system is an answer of a model to its context; with a context alone,
a pair of premise and hypothesis; alone, a claim. One text may stand on several rows. What one rater says twice is once
where it is the same, and else a revision; rows of no named rater are exchangeable places where a text has several, and
decisions where every text has one. Empty cells are missing labels. Labels stay as they are written: those that differ
in case, spaces and hyphens alone are one only where that is chosen; 1 and 1.0 are one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from annotation.formats.cells import BadCell, LeftOut, row_error
from annotation.formats.info import TEXT_TABLES, Format
from annotation.formats.records import LostRecord, Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.mapping_file import RATINGS
from annotation.formats.tables.questions import made_of
from annotation.formats.tables.ratings.opening import Opening
from annotation.formats.tables.ratings.rows import RatingRows
from annotation.formats.tables.summary import sentences


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Content as it comes, then raters' and checkers' answers. FormatError for roles that do not fit the file."""
    rows = RatingRows(options)
    yield from _content(sources, options, rows)
    yield from rows.label_records()


def read_whole(sources: list[SourceFile], options: Options, name: str) -> tuple[list[Record], dict]:
    """What `read` and `label_set_of` give, in one pass."""
    rows = RatingRows(options)
    content = list(_content(sources, options, rows))
    description = made_of(rows, name)
    rows.write_numbers({one["slug"] for one in description.get("questions", ()) if one.get("answer") == "number"})
    return [*content, *rows.label_records()], description


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """The label set of the file's labels: a question for each that it names, with the values that occur. Numbers are at
    the interval level, in their order, or any number where more than 40 occur; others are nominal. {} where the file
    has no labels.

    Raises FormatError where a question has more than 1,000 different values that are not numbers.
    """
    rows = RatingRows(options)
    for _ in _content(sources, options, rows):
        pass
    return made_of(rows, name)


def _content(sources: list[SourceFile], options: Options, rows: RatingRows) -> Iterator[Record]:
    if rows.is_read_twice:
        rows.see(Opening(sources, options.quiet(), rows.has_places))
    yield from rows.places.odd()
    opening = Opening(sources, options, rows.has_places)
    for file, line, row in opening:
        if isinstance(row, RowError):
            yield row
            continue
        try:
            rows.places.at(file, line)
            yield from rows.records_of(file, line, row.cells, row.place)
        except BadCell as problem:
            error = row_error(file, line, problem)
            yield replace(error, cells=row.cells, is_chosen=isinstance(problem, LeftOut))
    for name, (number, first) in opening.without.items():
        yield LostRecord(f"Rows whose list of texts is empty: {name[:-2]}", number, first)


INFO = Format(
    slug=RATINGS,
    title="Table of texts with labels, ratings and scores",
    extensions=TEXT_TABLES,
    reader=read,
    needs_mapping=True,
    read_as=sentences,
    label_set_of=label_set_of,
)
