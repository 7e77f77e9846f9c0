"""The rows of a judged file with what people's labels say of the judge's, as CSV."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.judge.parts import Answered
from analysis.judge.table import TableProblem
from annotation.formats.files.tables import OpenTable, open_tables
from annotation.formats.sources import Options, SourceFile


def write_corrected(path: Path, out: Path, every: Sequence[Answered]) -> None:
    """All columns and rows of the file as they are, and further columns for each judge. TableProblem where a column of
    that name is there, or the file cannot be written."""
    more = {name: cells for one in every for name, cells in one.judgement.further_columns().items()}
    columns = list(_columns(path))
    if there := [name for name in more if name in columns]:
        raise TableProblem(f"{path}: has a column {there[0]!r} already; --out adds it")
    if out.exists() and out.samefile(path):
        raise TableProblem(f"{out}: is the file itself; name another one with --out")
    part = out.with_name(f"{out.name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow([*columns, *more])
            for row, cells in enumerate(_rows(path)):
                table.writerow([*(_cell(cells.get(name)) for name in columns), *(one[row] for one in more.values())])
        part.replace(out)
    except OSError as error:
        raise TableProblem(f"{out}: {error.strerror}") from None


def _cell(value: object) -> str:
    """Texts as they are; of JSON and Parquet what is no text as JSON."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _tables(path: Path) -> Iterator[OpenTable]:
    return open_tables([SourceFile(path)], Options(keeps_line_ends=True))


def _columns(path: Path) -> dict[str, None]:
    found: dict[str, None] = {}
    for table in _tables(path):
        if table.columns is not None:
            found |= dict.fromkeys(table.columns)
        else:
            for _, cells in table.rows:
                found |= dict.fromkeys(cells)
    return found


def _rows(path: Path) -> Iterator[dict]:
    for table in _tables(path):
        for _, cells in table.rows:
            yield cells
