"""Tables about the same texts, such as people's labels in one file and a judge's in another, put together by an id."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.formats.cells import to_text
from annotation.formats.files.tables import listed, open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.guessing.raters import is_called_label
from annotation.formats.tables.guessing.values import are_free_texts
from annotation.formats.tables.oddities import ReadingNotes

Rows = dict[str, dict]  # by id


@contextmanager
def joined(paths: Sequence[Path], by: str) -> Iterator[Path]:
    """One file of JSON Lines with the rows of all, in the order of the first; ids that only some have keep the columns
    of these. A column that several have is named after its file (`judge.label`), and so is one that is only called
    label or the like; texts that are the same in all are one column.

    FormatError for an id that a file lacks or has twice.
    """
    tables = {path.name.partition(".")[0]: _rows_of(path, by) for path in paths}
    if len(tables) < len(paths):
        raise FormatError("The files to join have the same name: rename one, since columns are named after the files")
    columns = {name: dict.fromkeys(column for row in rows.values() for column in row) for name, rows in tables.items()}
    several = {one for one, number in Counter(chain.from_iterable(columns.values())).items() if number > 1}
    together = {column for column in several if _is_same_text(column, list(tables.values()))}

    def called(name: str, column: str) -> str:
        is_own = column == by or column in together or not (column in several or is_called_label(column))
        return column if is_own else f"{name}.{column}"

    with TemporaryDirectory() as folder:
        path = Path(folder, f"{next(iter(tables))}.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            for key in dict.fromkeys(key for rows in tables.values() for key in rows):
                row = {called(name, column): None for name, own in columns.items() for column in own}
                for name, rows in tables.items():
                    row |= {called(name, column): value for column, value in rows.get(key, {}).items()}
                out.write(json.dumps({**row, by: key}, ensure_ascii=False, default=str) + "\n")
        yield path


def _rows_of(path: Path, by: str) -> Rows:
    found: Rows = {}
    for table in open_tables([SourceFile(path)], Options(noted=ReadingNotes())):
        for row in table.rows:
            if isinstance(row, RowError):
                raise FormatError(f"{row.file}: line {row.line}: {row.reason}")
            line, cells = row
            key = to_text(cells.get(by), by).strip()
            if not key:
                raise FormatError(f"{path.name}: line {line}: has no {by}; the columns are {listed(tuple(cells))}")
            if key in found:
                raise FormatError(f"{path.name}: line {line}: has the {by} {key!r} a second time")
            found[key] = cells
    return found


def _is_same_text(column: str, tables: Sequence[Rows]) -> bool:
    cells = [{key: row[column] for key, row in rows.items() if row.get(column) not in (None, "")} for rows in tables]
    both = [(one[key], other[key]) for one in cells for other in cells for key in one.keys() & other.keys()]
    return all(one == other for one, other in both) and are_free_texts(list(max(cells, key=len).values()))
