"""The tables of a release for readers without Assay: a row per unit, and a row per judgement, as Parquet."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.releases.cards.final_labels import FinalLabel
from analysis.releases.writing import ROWS_AT_ONCE, is_missing, plain, release_memory, rows_of, slices
from analysis.sources.base import Source
from analysis.sources.releases.files import line_of
from annotation.datasets.kinds import KIND_NAMED
from annotation.exports.soft import SOFT_COLUMNS, cells_of, has_soft_label
from annotation.formats.studies import druid
from annotation.projects.cards import SPLIT_NAMES
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import pandas as pd

TABLES = "data"
LABELS, JUDGEMENTS = "labels", "judgements"
OF_JUDGEMENTS = dict.fromkeys(("unit", "annotator", "annotator_kind", "dimension", "label", "submitted_at"), "text")
OF_JUDGEMENTS |= {"seconds": "number", "guideline_version": "integer"}
OF_JUDGEMENTS |= {"arm": "text", "suggestion_shown": "boolean", "labels_seen": "boolean", "spans": "text"}
# Columns that a layout of a published data set has under names of its own.
OF_DRUID = {"relevance": "relevant", "stance": "evidence_stance"}
DESCRIBED = {
    "id": "Key of the unit",
    "item": "Key of the item that the unit was judged in",
    "group": "Key of the claim or question that units come in; splits never cut one",
    "unit": "Key of the unit, as in the labels' `id`",
    "annotator": "Pseudonym of the annotator",
    "annotator_group": "The group of raters that a file named, such as experts",
    "annotator_kind": "member, external (a person of an imported file) or slot (exchangeable places)",
    "dimension": "The question",
    "label": "The answer",
    "submitted_at": "When the answer was received, in UTC; of imported answers, when it was given",
    "seconds": "Seconds of activity on the item",
    "guideline_version": "Version of the guidelines that the annotator had acknowledged",
    "arm": "The arm of a trial of suggestions in which the answer was given: off, shown, or after the first answer",
    "suggestion_shown": "Whether a checker's suggestion was seen before",
    "labels_seen": "Whether others' labels had been served to the annotator before",
    "spans": "Highlights as JSON: field, start, end (code points, half open), and a label where they have one",
}


def split_of(group: str, shares: list[int]) -> str:
    """By the group's own name, so that it stays in its split when others come."""
    place = int.from_bytes(hashlib.sha256(group.encode()).digest()[:8], "big") % 10_000 / 100
    for name, share in zip(SPLIT_NAMES, shares, strict=True):
        if place < share:
            return name
        place -= share
    return SPLIT_NAMES[-1]


def write_tables(source: Source, folder: Path, found: dict[tuple[int, str], FinalLabel], splits: str) -> dict:
    """Write the tables; returns what was written: table -> {"columns": [[name, type, words]], "files": {split: name},
    "rows": {split: number}}."""
    units = source.unit_frame(source.type.unit_kind)
    groups = [cluster if cluster else key for cluster, key in zip(units["cluster"], units["unit_key"], strict=True)]
    shares = [int(part) for part in splits.split("/")] if splits else []
    of_unit = {
        unit: split_of(group, shares) if shares else SPLIT_NAMES[0]
        for unit, group in zip(units["unit"].tolist(), groups, strict=True)
    }
    return {
        LABELS: _write(folder, LABELS, _labels(source, folder, units, groups, found), of_unit),
        JUDGEMENTS: _write(folder, JUDGEMENTS, _judgements(source, units), of_unit),
    }


@dataclass(frozen=True)
class TableParts:
    """A table's columns, name -> (type, what it is), and its rows, some at a time: units, and values by column. What a
    release holds may be larger than what fits into memory several times over."""

    columns: dict[str, tuple[str, str]]
    parts: Iterator[tuple[list[int], dict[str, list]]]


def _write(folder: Path, table: str, rows: TableParts, of_unit: dict[int, str]) -> dict:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "boolean": pa.bool_(), "integer": pa.int64(), "number": pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, (kind, _) in rows.columns.items()])
    (folder / TABLES / table).mkdir(parents=True, exist_ok=True)
    names = {split: f"{TABLES}/{table}/{split}.parquet" for split in SPLIT_NAMES}
    counts: Counter[str] = Counter()
    with ExitStack() as files:
        writers = {}

        def write(split: str, part: pa.Table) -> None:
            if split not in writers:
                writers[split] = files.enter_context(
                    pq.ParquetWriter(folder / names[split], schema, compression="zstd")
                )
            writers[split].write_table(part)
            counts[split] += part.num_rows

        for units, values in rows.parts:
            places = [of_unit[unit] for unit in units]
            arrays = []
            for name, (kind, _) in rows.columns.items():
                column = map(_as_text, values[name]) if kind == "text" else values[name]
                arrays.append(pa.array(column, types[kind]))
            part = pa.Table.from_arrays(arrays, schema=schema)
            for split in sorted(set(places)):
                is_all = places.count(split) == len(places)
                write(split, part if is_all else part.filter(pa.array([place == split for place in places])))
        if not writers:
            write(SPLIT_NAMES[0], schema.empty_table())
    release_memory()
    written = [split for split in SPLIT_NAMES if split in writers]
    return {
        "columns": [[name, *described] for name, described in rows.columns.items()],
        "files": {split: names[split] for split in written},
        "rows": {split: counts[split] for split in written},
    }


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _kind_of(values: list) -> str:
    """The one type that all of them are of; what is not of a single type is text."""
    known = {type(value) for value in values} - {type(None)}
    for kind, types in (("boolean", {bool}), ("integer", {int}), ("number", {int, float})):
        if known and known <= types:
            return kind
    return "text"


def _labels(source: Source, folder: Path, units: pd.DataFrame, groups: list[str], found: dict) -> TableParts:
    numbers = units["unit"].tolist()
    content = _druid_rows(folder, units)
    is_druid = content is not None
    if content is None:
        content = _content_rows(source, units, groups)
    columns = dict(content.columns)
    settled: dict[str, tuple[str, Dimension]] = {}  # the column of each question that has one
    for dimension in source.type.dimensions:
        if dimension.is_hidden and not any(
            found[unit, dimension.slug].label or found[unit, dimension.slug].votes for unit in numbers
        ):
            continue
        name = OF_DRUID.get(dimension.role, dimension.slug) if is_druid else _free(dimension.slug, columns)
        settled[name] = dimension
        words = f"{dimension.title}: the one label of the unit; empty where there is none"
        if name not in columns:
            columns[name] = ("number" if dimension.takes_number else "text", words)
        else:
            columns[name] = (columns[name][0], words)
        columns[f"{name}_by"] = ("text", f"How {name} was decided: adjudicated, imported, rule or majority")
        columns[f"{name}_votes"] = ("text", f"How many people gave which label of {name}, as JSON")
        for part, words in SOFT_COLUMNS.items() if has_soft_label(dimension) else ():
            columns[_column(name, part)] = ("text", words.format(name))

    rated_in = _rated(source, units)

    def parts() -> Iterator[tuple[list[int], dict[str, list]]]:
        for here, values in content.parts:
            by_rater = rated_in(here)
            for name, dimension in settled.items():
                of_units = [found[unit, dimension.slug] for unit in here]
                if name not in values:
                    labels = [one.label for one in of_units]
                    values[name] = [_number(label) for label in labels] if dimension.takes_number else labels
                values[f"{name}_by"] = [one.method or None for one in of_units]
                values[f"{name}_votes"] = [line_of(one.votes) if one.votes else None for one in of_units]
                if has_soft_label(dimension):
                    cells = [cells_of(dimension, by_rater.get((unit, dimension.slug), {})) for unit in here]
                    values |= {_column(name, part): [one[part] for one in cells] for part in SOFT_COLUMNS}
            yield here, values

    return TableParts(columns, parts())


def _column(question: str, part: str) -> str:
    """Columns of Parquet go without dots, which some readers take for the fields of a record."""
    return f"{question}{part.replace('.', '_')}"


def _rated(source: Source, units: pd.DataFrame) -> Callable[[list[int]], dict[tuple[int, str], dict[str, str]]]:
    """A function from units, which come in the frame's order, to each rater's label by unit and dimension."""
    rows = rows_of(source.label_frame(units), ("unit", "dimension", "rater", "label"))
    of_units = groupby(rows, key=itemgetter(0))
    ahead: list = [next(of_units, None)]

    def rated_in(here: list[int]) -> dict[tuple[int, str], dict[str, str]]:
        found: dict[tuple[int, str], dict[str, str]] = {}
        for unit in here:
            if ahead[0] is None or ahead[0][0] != unit:
                continue
            for _, dimension, rater, label in ahead[0][1]:
                found.setdefault((unit, dimension), {})[str(rater)] = label
            ahead[0] = next(of_units, None)
        return found

    return rated_in


def _number(label: str | None) -> float | None:
    return None if label is None else float(label)


def _free(name: str, columns: dict) -> str:
    return f"{name}_label" if name in columns else name


def _druid_rows(folder: Path, units: pd.DataFrame) -> TableParts | None:
    """The 13 columns of DRUID where the release has its layout."""
    path = folder / "claims.jsonl"
    if not path.is_file():
        return None
    with open(path, encoding="utf-8") as lines:
        if [json.loads(line)["id"] for line in lines] != units["unit_key"].tolist():
            return None
    numbers = units["unit"].tolist()

    def parts() -> Iterator[tuple[list[int], dict[str, list]]]:
        with open(path, encoding="utf-8") as lines:
            for here in slices(len(numbers)):
                rows = [json.loads(line) for line in islice(lines, ROWS_AT_ONCE)]
                yield numbers[here], {name: [row.get(name) for row in rows] for name in druid.COLUMNS}

    return TableParts({name: (druid.TYPES[name], DESCRIBED.get(name, "")) for name in druid.COLUMNS}, parts())


def _content_rows(source: Source, units: pd.DataFrame, groups: list[str]) -> TableParts:
    """Of what a unit is made from, all but metadata, under names such as `claim_text`."""
    values: dict[str, list] = {"id": units["unit_key"].tolist(), "item": units["item_key"].tolist(), "group": groups}
    columns = {name: ("text", DESCRIBED[name]) for name in values}
    kinds = {name: units[name].tolist() for name in ("claim", "question", "evidence", "response", "aspect")}
    if source.type.unit_kind in KIND_NAMED and source.type.unit_kind not in kinds:
        kinds[source.type.unit_kind] = units["unit_key"].tolist()
    for kind, keys in kinds.items():
        wanted = {key for key in keys if not is_missing(key)}
        if not wanted:
            continue
        frame = source.content(kind)
        for name in KIND_NAMED[kind].columns:
            if name in ("metadata",) or name not in frame:
                continue
            known = dict(zip(frame["key"].tolist(), frame[name].tolist(), strict=True))
            column = [None if is_missing(key) or is_missing(value := known.get(key)) else plain(value) for key in keys]
            if any(value not in (None, "") for value in column):
                values[f"{kind}_{name}"] = column
                words = f"{name.replace('_', ' ').capitalize()} of the {kind.replace('_', ' ')}"
                columns[f"{kind}_{name}"] = (_kind_of(column), words)
    numbers = units["unit"].tolist()
    parts = ((numbers[here], {name: column[here] for name, column in values.items()}) for here in slices(len(numbers)))
    return TableParts(columns, parts)


def _judgements(source: Source, units: pd.DataFrame) -> TableParts:
    """Latest answers; comments and notes stay in `annotations.jsonl`."""
    labels = source.with_moments(source.label_frame(units))
    keys = dict(zip(units["unit"].tolist(), units["unit_key"].tolist(), strict=True))
    seconds, seen, arms = source.active_seconds(), source.labels_seen(), source.arms().to_dict()
    every_span = source.span_frame(units)

    def values(rows: pd.DataFrame) -> tuple[list[int], dict[str, list]]:
        here, annotations = rows["unit"].tolist(), rows["annotation"].tolist()
        spans = _spans(every_span[every_span["unit"].isin(here)])
        who, dimensions = rows["rater"].tolist(), rows["dimension"].tolist()
        shown, versions = rows["suggestion_shown"].tolist(), rows["guideline_version"].tolist()
        return here, {
            "unit": [keys[unit] for unit in here],
            "annotator": who,
            "annotator_kind": list(map(str, rows["rater_kind"])),
            "dimension": dimensions,
            "label": rows["label"].tolist(),
            "submitted_at": [None if is_missing(value) else plain(value) for value in rows["submitted_at"]],
            "seconds": [seconds.get(annotation) for annotation in annotations],
            "guideline_version": [None if is_missing(value) else int(value) for value in versions],
            "arm": [arms.get(annotation) for annotation in annotations],
            "suggestion_shown": [None if is_missing(value) else bool(value) for value in shown],
            "labels_seen": [annotation in seen for annotation in annotations],
            "spans": [spans.get(place) for place in zip(here, who, dimensions, strict=True)],
        }

    return TableParts(
        {name: (kind, DESCRIBED[name]) for name, kind in OF_JUDGEMENTS.items()},
        (values(labels.iloc[here]) for here in slices(len(labels))),
    )


def _spans(frame: pd.DataFrame) -> dict[tuple[int, str, str], str]:
    found: dict[tuple[int, str, str], list[str]] = {}
    columns = (frame[name].tolist() for name in ("unit", "rater", "dimension", "field", "start", "end", "own_label"))
    for unit, rater, dimension, field, start, end, label in zip(*columns, strict=True):
        span = {"field": field, "start": int(start), "end": int(end)} | ({"label": label} if label else {})
        found.setdefault((unit, rater, dimension), []).append(line_of(span))
    return {place: f"[{','.join(spans)}]" for place, spans in found.items()}
