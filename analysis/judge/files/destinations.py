"""Where scores of a judged file go: tables that tools for traces read, with a score for each row and further column."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from analysis.judge.parts import Answered
from analysis.judge.table import TableProblem, read_cells
from annotation.formats.cells import number_in
from annotation.formats.records import FormatError
from annotation.formats.sources import SourceFile
from annotation.formats.tables.mapping import preview


@dataclass(frozen=True)
class TraceScore:
    """`trace` is the file's id of what was judged."""

    trace: str
    name: str
    value: str

    @property
    def number(self) -> float | None:
        return number_in(self.value)


@dataclass(frozen=True)
class Destination:
    """`ids` are columns that may hold the tool's ids, the first that there is counts; `columns` are what a score
    becomes."""

    ids: tuple[str, ...]
    is_json: bool
    columns: Callable[[TraceScore], dict]


def _langfuse(score: TraceScore) -> dict:
    kind = "CATEGORICAL" if score.number is None else "NUMERIC"
    value = score.value if score.number is None else score.number
    return {"traceId": score.trace, "name": score.name, "value": value, "dataType": kind}


def _phoenix(score: TraceScore) -> dict:
    is_label = score.number is None
    number = "" if is_label else score.value
    return {
        "context.span_id": score.trace,
        "name": score.name,
        "label": score.value if is_label else "",
        "score": number,
    }


def _mlflow(score: TraceScore) -> dict:
    return {
        "trace_id": score.trace,
        "name": score.name,
        "value": score.value,
        "source_type": "CODE",
        "source_id": "assay",
    }


DESTINATIONS = {
    "langfuse": Destination(("traceId", "trace_id", "id"), True, _langfuse),
    "phoenix": Destination(("context.span_id", "span_id", "id"), False, _phoenix),
    "mlflow": Destination(("trace_id", "request_id", "id"), False, _mlflow),
}


def write_scores(path: Path, out: Path, tool: str, every: Sequence[Answered]) -> None:
    """A score for each row and further column of each judge; empty cells have none. TableProblem where no column holds
    ids, an id is missing or repeated, or the file cannot be written."""
    destination = DESTINATIONS[tool]
    traces = _traces(path, tool, destination)
    rows = (destination.columns(score) for score in _scores(traces, every))
    part = out.with_name(f"{out.name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            (_write_lines if destination.is_json else _write_table)(file, rows)
        part.replace(out)
    except OSError as error:
        raise TableProblem(f"{out}: {error.strerror}") from None


def _traces(path: Path, tool: str, destination: Destination) -> list[str]:
    try:
        columns = preview(SourceFile(path)).columns
    except FormatError as error:
        raise TableProblem(str(error)) from None
    column = next((one for one in destination.ids if one in columns), None)
    if column is None:
        raise TableProblem(f"{path}: has no column of ids for {tool}; call it one of {', '.join(destination.ids)}")
    traces = read_cells(path, [column])[column]
    before: dict[str, int] = {}
    for number, trace in enumerate(traces, 1):
        if not trace or trace in before:
            why = f"repeats that of row {before[trace]}" if trace else "is empty"
            raise TableProblem(
                f"{path}: row {number}: the id in the column {column!r} {why}; {tool} needs one for each"
            )
        before[trace] = number
    return traces


def _scores(traces: Sequence[str], every: Sequence[Answered]) -> Iterator[TraceScore]:
    for answered in every:
        for name, cells in answered.judgement.further_columns().items():
            yield from (TraceScore(trace, name, cell) for trace, cell in zip(traces, cells, strict=True) if cell)


def _write_lines(file: IO[str], rows: Iterator[dict]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_table(file: IO[str], rows: Iterator[dict]) -> None:
    first = next(rows, None)
    if first is None:
        return
    table = csv.DictWriter(file, list(first), lineterminator="\n")
    table.writeheader()
    table.writerow(first)
    table.writerows(rows)
