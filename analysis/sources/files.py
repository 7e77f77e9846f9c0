"""Files as a source: a release, or a table of labels that were made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.sources.base import Source
from analysis.sources.releases.files import is_release
from analysis.sources.releases.frames import ReleaseSource
from analysis.sources.tables.long_table import REQUIRED, LongTableSource, OtherTable, TableShape
from analysis.sources.tables.rated import RatedTableSource
from annotation.formats import FormatError, SourceFile
from annotation.formats.tables.guessing.columns import GuessedColumns, guess_columns
from annotation.formats.tables.joining import joined
from annotation.formats.tables.mapping_file import RATINGS, ChosenMapping


def source_of_files(
    path: Path,
    level: str = "",
    labels: Sequence[str] = (),
    siblings: Sequence[Path] = (),
    shape: TableShape | None = None,
    mapping: ChosenMapping | None = None,
    leaves_out: bool = False,
    join: str = "",
) -> Source:
    """A release's folder or zip, or a table of labels. ValueError says what cannot be read.

    `siblings` are releases of other projects on the release's data set, which some reports join with it. `level` is the
    level of a table's labels where the table does not say it, `labels` their order: `low,high`, or
    `quality=low,high` for each of several dimensions, and `shape` says which columns hold what, or
    `mapping` does as for an import. Without either a table that is not a long one is read with the roles that an import
    would guess. With `leaves_out` such a table is read without its bad rows. `join` names the column of ids by which
    tables among `siblings` are put together with the first.
    """
    if join and siblings:
        try:
            with joined([path, *siblings], join) as one:
                return source_of_files(one, level, labels, (), shape, mapping, leaves_out)
        except FormatError as error:
            raise ValueError(str(error)) from None
    if not path.exists() and not is_release(path):
        raise ValueError(f"{path}: there is no such file or folder")
    if is_release(path):
        return ReleaseSource(path, siblings)
    if siblings:
        raise ValueError(f"{path}: a table stands alone; name the column of ids by which others are joined with --join")
    if mapping is not None:
        return RatedTableSource(path, mapping, level, labels, leaves_out)
    guess = _guessed(path) if shape in (None, TableShape()) and path.is_file() else None
    has_models = guess is not None and any(role.startswith("prediction/") for role in guess.chosen.mapping)
    if not has_models or {*REQUIRED} <= {*guess.seen.columns}:
        try:
            return LongTableSource(path, level, labels, shape)
        except OtherTable:
            if guess is None:
                raise
    return RatedTableSource(path, guess.chosen, level, labels, leaves_out)


def _guessed(path: Path) -> GuessedColumns | None:
    """None where no column names a rater of labels."""
    try:
        guess = guess_columns(SourceFile(path), RATINGS)
    except FormatError:
        return None
    return guess if guess.names_raters else None
