"""Writes what a source knows into a release's files. A release read back and written again gives the same files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import pandas as pd

from analysis.sources.base import Source
from analysis.sources.releases.files import line_of
from annotation.datasets.kinds import KIND_NAMED

FRAMES = "frames"
# Of columns that are read as objects of Python, which take much more room than a frame does.
ROWS_AT_ONCE = 5_000
PLAIN = {str, int, bool}


def write_frames(source: Source, folder: Path) -> None:
    """All of `FRAME_FILES` below `folder`; those that would be empty are left out."""
    (folder / FRAMES / "content").mkdir(parents=True, exist_ok=True)
    for name, rows in FRAME_FILES.items():
        write_rows(folder / FRAMES / f"{name}.jsonl", rows(source))
    for kind in KIND_NAMED:
        rows = (row for part in source.content_parts(kind) for row in records(part))
        write_rows(folder / FRAMES / "content" / f"{kind}.jsonl", rows)


def release_memory() -> None:
    """Give the system back what was freed, between steps that each need much of it."""
    import pyarrow as pa  # which every release needs

    pa.default_memory_pool().release_unused()  # of the allocator `system`, this is malloc_trim


def write_rows(path: Path, rows: Iterable[dict]) -> int:
    """One line per row. A file without rows is not kept."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as out:
        for row in rows:
            out.write(line_of(row) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count


def records(frame: pd.DataFrame) -> Iterator[dict]:
    """Rows as plain data, values that are missing left out."""
    columns = list(frame.columns)
    for row in rows_of(frame, columns):
        yield {
            name: value if type(value) in PLAIN else plain(value)
            for name, value in zip(columns, row, strict=True)
            if type(value) in PLAIN or not is_missing(value)
        }


def rows_of(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    for here in slices(len(frame)):
        part = frame.iloc[here]
        yield from zip(*(part[name].tolist() for name in columns), strict=True)


def slices(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE))


def is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def plain(value: object) -> object:
    if hasattr(value, "item"):  # a numpy number
        return value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat().replace("+00:00", "Z")
    return list(value) if isinstance(value, tuple) else value


def _units(source: Source) -> Iterator[dict]:
    return records(source.unit_frame(source.type.unit_kind).drop(columns=["unit", "item"]))


def _items(source: Source) -> Iterator[dict]:
    return records(source.item_frame().drop(columns=["item"]))


def _raters(source: Source) -> Iterator[dict]:
    """Pseudonyms and kinds; names stay where they are."""
    return records(source.everybody()[["rater", "kind"]])


def _acknowledgements(source: Source) -> Iterator[dict]:
    return records(source.acknowledgement_frame())


def _key_results(source: Source) -> Iterator[dict]:
    return records(source.key_result_frame())


def _skips(source: Source) -> Iterator[dict]:
    return records(source.skip_frame())


def _answers(source: Source) -> Iterator[dict]:
    """The arm of each answer, what its person could see, and whether it was asked for because answers differed. Times
    stand in the annotations."""
    answers, items = source.answer_frame(), source.item_frame()
    keys = dict(zip(items["item"].tolist(), items["item_key"].tolist(), strict=True))
    exposures = source.exposure_frame()
    seen: dict[int, list[dict]] = {}
    for row in records(exposures):
        seen.setdefault(row.pop("annotation"), []).append(row)
    further = source.further()
    columns = (answers[name].tolist() for name in ("annotation", "item", "rater", "arm"))
    for annotation, item, rater, arm in zip(*columns, strict=True):
        answer = {"item": keys[item], "rater": rater}
        if not is_missing(arm):
            answer["arm"] = arm
        if annotation in seen:
            answer["exposures"] = seen[annotation]
        if annotation in further:
            answer["further"] = True
        if len(answer) > 2:
            yield answer


def _runs(source: Source) -> Iterator[dict]:
    for run in sorted(source.runs(), key=lambda run: run.uuid):
        yield {
            "run": run.uuid,
            "checker": run.checker,
            "version": run.version,
            "parameters": run.parameters,
            "provenance": run.provenance,
            "gives": run.gives,
            "scores": list(run.scores),
            "created_at": plain(run.created_at) if run.created_at else None,
        }


def _suggestions(source: Source) -> Iterator[dict]:
    keys = _keys_of_runs(source)
    for run in sorted(source.runs(), key=lambda run: run.uuid):
        for row in source.suggestion_rows(run):
            if row["unit"] in keys:
                yield row | {"unit": keys[row["unit"]], "run": run.uuid}


def _scores(source: Source) -> Iterator[dict]:
    keys = _keys_of_runs(source)
    for run in sorted(source.runs(), key=lambda run: run.uuid):
        for name in sorted(run.scores):
            for row in source.score_frame(run, name).itertuples():
                if row.unit in keys:
                    value = None if math.isnan(row.value) else row.value
                    yield {"run": run.uuid, "name": name, "unit": keys[row.unit], "value": value}


def _failures(source: Source) -> Iterator[dict]:
    keys = _keys_of_runs(source)
    for run in sorted(source.runs(), key=lambda run: run.uuid):
        for row in source.failure_frame(run).itertuples():
            if row.unit in keys:
                yield {"run": run.uuid, "unit": keys[row.unit], "reason": row.reason}


def _generations(source: Source) -> Iterator[dict]:
    return _of_runs(source.generations())


def _retrievals(source: Source) -> Iterator[dict]:
    return _of_runs(source.retrievals())


def _of_runs(runs: list) -> Iterator[dict]:
    for one in sorted(runs, key=lambda one: one.uuid):
        row = {field.name: getattr(one, field.name) for field in fields(one)}
        yield row | {"created_at": plain(one.created_at) if one.created_at else None}


def _queries(source: Source) -> Iterator[dict]:
    for one in sorted(source.retrievals(), key=lambda one: one.uuid):
        yield from (row | {"retrieval": one.uuid} for row in records(source.query_frame(one)))


def _rankings(source: Source) -> Iterator[dict]:
    for one in sorted(source.retrievals(), key=lambda one: one.uuid):
        yield from (row | {"retrieval": one.uuid} for row in records(source.ranking_frame(one)))


def _keys_of_runs(source: Source) -> dict[int, str]:
    """Units under judgement, which runs may have answered; of others (retired ones) nothing is frozen."""
    if not source.runs():
        return {}
    units = source.unit_frame(source.type.unit_kind)
    return dict(zip(units["unit"].tolist(), units["unit_key"].tolist(), strict=True))


FRAME_FILES: dict[str, Callable[[Source], Iterator[dict]]] = {
    "units": _units,
    "items": _items,
    "raters": _raters,
    "acknowledgements": _acknowledgements,
    "key_results": _key_results,
    "skips": _skips,
    "answers": _answers,
    "runs": _runs,
    "suggestions": _suggestions,
    "scores": _scores,
    "failures": _failures,
    "generations": _generations,
    "retrievals": _retrievals,
    "queries": _queries,
    "rankings": _rankings,
}
