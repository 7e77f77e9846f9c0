"""The tables of a release for readers without Assay: a row per unit, and a row per judgement, as Parquet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.releases.cards.settled import Settled
from analysis.releases.files import line_of
from analysis.releases.writing import is_missing, plain
from analysis.sources.base import Source
from annotation.datasets.kinds import KIND_NAMED
from annotation.formats.studies import druid
from annotation.projects.cards import SPLIT_NAMES

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = "data"
LABELS, JUDGEMENTS = "labels", "judgements"
# Columns that a layout of a published data set has under names of its own.
OF_DRUID = {"relevance": "relevant", "stance": "evidence_stance"}
DESCRIBED = {
    "id": "Key of the unit",
    "item": "Key of the item that the unit was judged in",
    "group": "Key of the claim or question that units come in; splits never cut one",
    "unit": "Key of the unit, as in the labels' `id`",
    "annotator": "Pseudonym of whoever judged",
    "annotator_group": "The group of raters that a file named, such as experts",
    "annotator_kind": "member, external (a person of an imported file) or slot (exchangeable places)",
    "dimension": "The question",
    "label": "The answer",
    "submitted_at": "When the answer was given, in UTC",
    "seconds": "Seconds of activity on the item",
    "guideline_version": "Version of the guidelines that the annotator had acknowledged",
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


def write_tables(source: Source, folder: Path, found: dict[tuple[int, str], Settled], splits: str) -> dict:
    """Write the tables; returns what was written: table -> {"columns": [[name, type, words]], "files": {split: name},
    "rows": {split: number}}."""
    units = source.unit_frame(source.type.unit_kind)
    groups = [cluster if cluster else key for cluster, key in zip(units["cluster"], units["unit_key"], strict=True)]
    shares = [int(part) for part in splits.split("/")] if splits else []
    of_unit = {
        unit: split_of(group, shares) if shares else SPLIT_NAMES[0]
        for unit, group in zip(units["unit"].tolist(), groups, strict=True)
    }
    written = {}
    labels, words = _label_rows(source, folder, units, groups, found)
    written[LABELS] = _write(folder, LABELS, labels, list(of_unit.values()), words)
    judgements = _judgement_rows(source, units)
    places = [of_unit[unit] for unit in judgements.pop("_unit")]
    written[JUDGEMENTS] = _write(folder, JUDGEMENTS, judgements, places, DESCRIBED)
    return written


def _write(folder: Path, table: str, columns: dict[str, list], places: list[str], words: dict[str, str]) -> dict:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = pa.table({name: _array(name, values) for name, values in columns.items()})
    files, rows = {}, {}
    for split in SPLIT_NAMES:
        mask = pa.array([place == split for place in places], type=pa.bool_())
        part = whole.filter(mask)
        if not part.num_rows and (split != SPLIT_NAMES[0] or any(places)):
            continue  # nothing would be read from it
        name = f"{TABLES}/{table}/{split}.parquet"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, folder / name, compression="zstd")
        files[split], rows[split] = name, part.num_rows
    described = [[field.name, TYPES[str(field.type)], words.get(field.name, "")] for field in whole.schema]
    return {"columns": described, "files": files, "rows": rows}


TYPES = {"string": "text", "bool": "boolean", "int64": "integer", "double": "number"}


def _array(name: str, values: list) -> pa.Array:
    """As one type; what is not one of a single kind is text."""
    import pyarrow as pa

    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return pa.array(values, type=pa.bool_())
    if known and all(type(value) is int for value in known):
        return pa.array(values, type=pa.int64())
    if known and all(type(value) in (int, float) for value in known) or name == "seconds":
        return pa.array(values, type=pa.float64())
    return pa.array([None if value is None else _as_text(value) for value in values], type=pa.string())


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _label_rows(source: Source, folder: Path, units, groups: list[str], found: dict) -> tuple[dict, dict[str, str]]:
    content = _druid_columns(folder, units["unit_key"].tolist())
    is_druid = content is not None
    words = dict(DESCRIBED)
    if content is None:
        content, more = _content_columns(source, units)
        words |= more
        content = {"id": units["unit_key"].tolist(), "item": units["item_key"].tolist(), "group": groups} | content
    numbers = units["unit"].tolist()
    for dimension in source.type.dimensions:
        of_units = [found[unit, dimension.slug] for unit in numbers]
        if dimension.is_hidden and not any(one.label or one.votes for one in of_units):
            continue
        name = OF_DRUID.get(dimension.role, dimension.slug) if is_druid else _free(dimension.slug, content)
        if name not in content:
            labels = [one.label for one in of_units]
            content[name] = [_number(label) for label in labels] if dimension.takes_number else labels
        words[name] = f"{dimension.title}: the one label of the unit; empty where there is none"
        words[f"{name}_by"] = f"What settled {name}: adjudicated, imported, rule or majority"
        words[f"{name}_votes"] = f"How many people gave which label of {name}, as JSON"
        content[f"{name}_by"] = [one.method or None for one in of_units]
        content[f"{name}_votes"] = [line_of(one.votes) if one.votes else None for one in of_units]
    return content, words


def _number(label: str | None) -> float | None:
    return None if label is None else float(label)


def _free(name: str, taken: dict) -> str:
    return f"{name}_label" if name in taken else name


def _druid_columns(folder: Path, keys: list[str]) -> dict[str, list] | None:
    """The 13 columns of DRUID where the release has its layout."""
    path = folder / "claims.jsonl"
    if not path.is_file():
        return None
    with open(path, encoding="utf-8") as lines:
        rows = {row["id"]: row for row in map(json.loads, lines)}
    if set(rows) != set(keys):
        return None
    return {name: [rows[key].get(name) for key in keys] for name in druid.COLUMNS}


def _content_columns(source: Source, units) -> tuple[dict[str, list], dict[str, str]]:
    """Of what a unit is made from, all but metadata, under names such as `claim_text`."""
    columns: dict[str, list] = {}
    words = {}
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
            values = dict(zip(frame["key"].tolist(), frame[name].tolist(), strict=True))
            column = [None if is_missing(key) or is_missing(value := values.get(key)) else plain(value) for key in keys]
            if any(value not in (None, "") for value in column):
                columns[f"{kind}_{name}"] = column
                words[f"{kind}_{name}"] = f"{name.replace('_', ' ').capitalize()} of the {kind.replace('_', ' ')}"
    return columns, words


def _judgement_rows(source: Source, units) -> dict[str, list]:
    """Latest answers; comments and notes stay in `annotations.jsonl`."""
    labels = source.with_moments(source.label_frame(units))
    keys = dict(zip(units["unit"].tolist(), units["unit_key"].tolist(), strict=True))
    seconds, seen = source.active_seconds(), source.labels_seen()
    raters = source.rater_frame()
    groups = dict(zip(raters["rater"].tolist(), raters["group"].tolist(), strict=True))
    spans = _spans(source, units)
    rows = labels[["unit", "dimension", "label", "annotation", "rater", "rater_kind", "suggestion_shown"]]
    found = list(rows.itertuples(index=False))
    moments = [None if is_missing(value) else plain(value) for value in labels["submitted_at"]]
    versions = [None if is_missing(value) else int(value) for value in labels["guideline_version"]]
    return {
        "_unit": [row.unit for row in found],
        "unit": [keys[row.unit] for row in found],
        "annotator": [row.rater for row in found],
        "annotator_kind": [str(row.rater_kind) for row in found],
        **({"annotator_group": [groups[row.rater] for row in found]} if any(groups.values()) else {}),
        "dimension": [row.dimension for row in found],
        "label": [row.label for row in found],
        "submitted_at": moments,
        "seconds": [seconds.get(row.annotation) for row in found],
        "guideline_version": versions,
        "suggestion_shown": [None if is_missing(row.suggestion_shown) else bool(row.suggestion_shown) for row in found],
        "labels_seen": [row.annotation in seen for row in found],
        "spans": [spans.get((row.unit, row.rater, row.dimension)) for row in found],
    }


def _spans(source: Source, units) -> dict[tuple[int, str, str], str]:
    found: dict[tuple[int, str, str], list[dict]] = {}
    for row in _rows(source.span_frame(units)):
        said = {"field": row.field, "start": int(row.start), "end": int(row.end)}
        found.setdefault((row.unit, row.rater, row.dimension), []).append(
            said | ({"label": row.own_label} if row.own_label else {})
        )
    return {place: line_of(spans) for place, spans in found.items()}


def _rows(frame) -> Iterator:
    return frame.itertuples(index=False)
