"""Where scores of a judged file go: lines of JSON that tools for traces read, one for each row and further column. In
JSON ids stay texts: of the hexadecimal ones, `12e4` would be a number in CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.judge.parts import Answered
from analysis.judge.table import TableProblem, read_cells
from annotation.formats.cells import number_in
from annotation.formats.records import FormatError
from annotation.formats.sources import SourceFile
from annotation.formats.tables.mapping import preview


@dataclass(frozen=True)
class TraceScore:
    """`trace` is the file's id of what was judged. All values of a name are numbers, or all are texts."""

    trace: str
    name: str
    value: float | str

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, str)


@dataclass(frozen=True)
class Destination:
    """`ids` are columns that may hold the tool's ids, the first that there is counts; `fields` are what a score
    becomes."""

    ids: tuple[str, ...]
    fields: Callable[[TraceScore], dict]


def _langfuse(score: TraceScore) -> dict:
    kind = "NUMERIC" if score.is_number else "CATEGORICAL"
    return {"traceId": score.trace, "name": score.name, "value": score.value, "dataType": kind}


def _phoenix(score: TraceScore) -> dict:
    value = {"score" if score.is_number else "label": score.value}
    return {"span_id": score.trace, "name": score.name, "annotator_kind": "CODE"} | value


def _mlflow(score: TraceScore) -> dict:
    source = {"source_type": "CODE", "source_id": "assay"}
    return {"trace_id": score.trace, "name": score.name, "value": score.value} | source


DESTINATIONS = {
    "langfuse": Destination(("traceId", "trace_id", "id"), _langfuse),
    "phoenix": Destination(("context.span_id", "span_id", "id"), _phoenix),
    "mlflow": Destination(("trace_id", "request_id", "id"), _mlflow),
}


def write_scores(path: Path, out: Path, tool: str, every: Sequence[Answered]) -> None:
    """A score for each row and further column of each judge; empty cells have none. TableProblem where no column holds
    ids, an id is missing or repeated, or the file cannot be written."""
    destination = DESTINATIONS[tool]
    traces = _traces(path, tool, destination)
    part = out.with_name(f"{out.name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            for score in further_scores(traces, every):
                file.write(json.dumps(destination.fields(score), ensure_ascii=False) + "\n")
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


def further_scores(traces: Sequence, every: Sequence[Answered]) -> Iterator[TraceScore]:
    """Of each row, named by its trace, and each column that `--out` adds; empty cells have none."""
    for answered in every:
        for name, cells in answered.judgement.further_columns().items():
            rows = [(trace, cell) for trace, cell in zip(traces, cells, strict=True) if cell]
            numbers = [number_in(cell) for _, cell in rows]
            values = [cell for _, cell in rows] if None in numbers else numbers
            yield from (TraceScore(trace, name, value) for (trace, _), value in zip(rows, values, strict=True))
