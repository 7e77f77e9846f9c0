"""The columns of a file with a judge's labels and people's: read whole, checked, coded."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.oddities import ReadingNotes

MOST_LABELS, MOST_VALUES = 1_000, 101
MOST_SIZE = 1e9  # of a number: squares of differences are added up
Cells = dict[str, list[str]]


class TableProblem(ValueError):
    """The file or its columns cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Columns:
    """Codes into `labels` by column, -1 where a cell is empty; the clusters of the rows, if a column names them."""

    name: str
    n_rows: int
    labels: tuple[str, ...]
    codes: dict[str, np.ndarray]
    cluster: np.ndarray | None


def read_columns(path: Path, label_columns: Sequence[str], cluster: str = "", order: Sequence[str] = ()) -> Columns:
    """Read the named columns of a CSV, TSV, JSON, JSON Lines or Parquet file (.gz and .zip too).

    `order` lists the labels, lowest first. Labels that differ only in case or in spaces at their ends are one label,
    written as most rows write it, and 3.0 is 3. TableProblem names the file, the line and the reason.
    """
    return coded(
        path, read_cells(path, [*label_columns, *([cluster] if cluster else [])]), label_columns, cluster, order
    )


def read_cells(path: Path, wanted: Sequence[str], noted: ReadingNotes | None = None) -> Cells:
    """The texts of these columns, by column, in the order of the rows."""
    cells: Cells = {name: [] for name in wanted}
    try:
        for table in open_tables([SourceFile(path)], Options(noted=noted or ReadingNotes())):
            if table.columns is not None:
                _refuse_missing(path, wanted, table.columns)
            for row in table.rows:
                if isinstance(row, RowError):
                    raise TableProblem(f"{row.file}: line {row.line}: {row.reason}")
                line, values = row
                if table.columns is None:
                    _refuse_missing(path, wanted, values, line)
                for name, column in cells.items():
                    column.append(_text(values.get(name)))
    except FormatError as error:
        raise TableProblem(str(error)) from None
    except OSError as error:
        raise TableProblem(f"{path}: {error.strerror}") from None
    if not cells[wanted[0]]:
        raise TableProblem(f"{path}: holds no rows")
    return cells


def coded(
    path: Path, cells: Cells, label_columns: Sequence[str], cluster: str = "", order: Sequence[str] = ()
) -> Columns:
    """The cells as numbers of labels; see `read_columns`."""
    labels, spelled = _labels(path, [cells[name] for name in label_columns], order)
    place = {label: code for code, label in enumerate(labels)}
    codes = {
        name: np.array([place[spelled[folded(cell)]] if cell else -1 for cell in cells[name]], dtype=np.int64)
        for name in label_columns
    }
    clusters = None
    if cluster:
        if "" in cells[cluster]:
            line = cells[cluster].index("") + 1
            raise TableProblem(f"{path}: row {line} has nothing in the column {cluster!r}, which names its cluster")
        clusters = np.unique(cells[cluster], return_inverse=True)[1]
    return Columns(path.name, len(cells[label_columns[0]]), labels, codes, clusters)


def _refuse_missing(path: Path, wanted: Sequence[str], columns, line: int | None = None) -> None:
    # Objects of JSON may leave out what is empty; a first row without the column is a slip.
    if line is not None and line > 1:
        return
    if missing := [name for name in wanted if name not in columns]:
        raise TableProblem(f"{path}: has no column {missing[0]!r}; it has {', '.join(map(str, columns))}")


def _text(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def folded(text: str) -> str:
    number = _number(text)
    return f"{number:.15g}" if number is not None else text.casefold()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _labels(path: Path, columns: Sequence[list[str]], order: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The labels in order, and the spelling of each folded one."""
    counts = Counter(cell for column in columns for cell in column if cell)
    spelled: dict[str, str] = {folded(label): label for label in order}
    for cell, _ in counts.most_common():
        known_as = folded(cell)
        if order and known_as not in spelled:
            raise TableProblem(f"{path}: holds the label {cell!r}, which --labels does not list: {', '.join(order)}")
        spelled.setdefault(known_as, cell)
    if order:
        return tuple(order), spelled
    labels = list(spelled.values())
    if len(labels) < 2:
        found = f"only the label {labels[0]!r}" if labels else "no label"
        raise TableProblem(f"{path}: holds {found} in {len(columns)} columns; a judge needs two")
    numbers = [_number(label) for label in labels]
    are_numbers = all(number is not None for number in numbers)
    if len(labels) > (most := MOST_VALUES if are_numbers else MOST_LABELS):
        advice = "Round the numbers, or make labels of them with thresholds." if are_numbers else "Are these labels?"
        raise TableProblem(f"{path}: holds {len(labels):,} different labels; {most:,} is the most. {advice}")
    if are_numbers:
        if (largest := max(labels, key=lambda label: abs(float(label)))) and abs(float(largest)) > MOST_SIZE:
            raise TableProblem(f"{path}: holds the number {largest}; divide, so that none is beyond {MOST_SIZE:,.0f}")
        return tuple(label for _, label in sorted(zip(numbers, labels, strict=True))), spelled
    return tuple(sorted(labels, key=str.casefold)), spelled
