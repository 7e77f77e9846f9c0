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

Rows = dict[str, list[dict]]  # by id


@contextmanager
def joined(paths: Sequence[Path], by: str) -> Iterator[Path]:
    """One file of JSON Lines with the rows of all, in the order of the first; ids that only some have keep the columns
    of these. A column that several have is named after its file (`judge.label`), and so is one that is only called
    label or the like; texts that are the same in all are one column.

    In the first file an id may have several rows, such as one for each rater, which all get the others' columns. Its
    columns keep their names then, where no other file has them.

    FormatError for an id that a row lacks, or that another file has twice.
    """
    tables = {path.name.partition(".")[0]: _rows_of(path, by, may_repeat=path is paths[0]) for path in paths}
    if len(tables) < len(paths):
        raise FormatError("The files to join have the same name: rename one, since columns are named after the files")
    columns = {
        name: dict.fromkeys(column for row in chain.from_iterable(rows.values()) for column in row)
        for name, rows in tables.items()
    }
    several = {one for one, number in Counter(chain.from_iterable(columns.values())).items() if number > 1}
    together = {column for column in several if _is_same_text(column, list(tables.values()))}
    first = next(iter(tables))
    has_repeats = any(len(rows) > 1 for rows in tables[first].values())

    def called(name: str, column: str) -> str:
        is_plain = column not in several and (not is_called_label(column) or (has_repeats and name == first))
        return column if is_plain or column == by or column in together else f"{name}.{column}"

    nothing = {called(name, column): None for name, own in columns.items() for column in own}
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{first}.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            for key in dict.fromkeys(chain.from_iterable(tables.values())):
                for row in tables[first].get(key, [{}]):
                    parts = [
                        (first, row),
                        *((name, *rows[key]) for name, rows in tables.items() if name != first and key in rows),
                    ]
                    cells = nothing | {
                        called(name, column): value for name, part in parts for column, value in part.items()
                    }
                    out.write(json.dumps({**cells, by: key}, ensure_ascii=False, default=str) + "\n")
        yield path


def _rows_of(path: Path, by: str, *, may_repeat: bool) -> Rows:
    found: Rows = {}
    for table in open_tables([SourceFile(path)], Options(noted=ReadingNotes())):
        for row in table.rows:
            if isinstance(row, RowError):
                raise FormatError(f"{row.file}: line {row.line}: {row.reason}")
            line, cells = row
            key = to_text(cells.get(by), by).strip()
            if not key:
                raise FormatError(f"{path.name}: line {line}: has no {by}; the columns are {listed(tuple(cells))}")
            if key in found and not may_repeat:
                raise FormatError(f"{path.name}: line {line}: has the {by} {key!r} a second time")
            found.setdefault(key, []).append(cells)
    return found


def _is_same_text(column: str, tables: Sequence[Rows]) -> bool:
    cells = [
        {key: row[column] for key, (row, *_) in rows.items() if row.get(column) not in (None, "")} for rows in tables
    ]
    both = [(one[key], other[key]) for one in cells for other in cells for key in one.keys() & other.keys()]
    return all(one == other for one, other in both) and are_free_texts(list(max(cells, key=len).values()))
