"""Labels made elsewhere as a source: a table (docs/formats.md) with a row per label or a column per rater, or the two
JSON files of the alternative annotator test's data. Who is a model counts as a checker run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pandas as pd

from analysis.sources import base
from analysis.sources.base import Source
from analysis.sources.content_rows import content_columns
from analysis.sources.outline import EXTERNAL, SLOT, Run
from analysis.sources.splits import source_name
from annotation import incoming
from annotation.formats.cells import level_note, level_of, number_in
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.guessing.spellings import NAMES, spelling
from annotation.formats.tables.oddities import ODDITIES, ReadingNotes
from annotation.task_types import Dimension, Label, TaskType
from annotation.task_types.base import MANY_LABELS, NumberRange
from annotation.task_types.problems import LEVELS, fits_level

REQUIRED = ("item", "rater", "label")
OPTIONAL = ("unit", "dimension", "rater_kind", "level", "cluster", "source", "arm", "time")
# What others call the columns that are needed, in groups: a column of a later group is taken where there is none of an
# earlier. pandas' index has no name; such a column is called by its place.
OTHER_NAMES = {
    "item": (
        {*NAMES["id"], "unit"} - {"id"},
        {*NAMES["document"]},
        *({name} for name in ("id", "index", "unnamed0", "column1")),
    ),
    "rater": ({*NAMES["rater"]},),
    "label": ({*NAMES["label"]},),
}
NEEDED = {"interval": "labels that are numbers", "ratio": "labels that are numbers of at least 0"}
PERSON, MODEL = "person", "model"
KINDS = (PERSON, MODEL, SLOT)
FLOAT = re.compile(r"(-?\d+)\.0+")
ALT_TEST = {"human_annotations.json": PERSON, "llm_annotations.json": MODEL}
DIMENSION = "label"
# A table says nothing of what its items are, so its units are like those of any page that is its own unit.
ANY_KIND = "question"


@dataclass(frozen=True, slots=True)
class TableShape:
    """Where a table has what: `columns` names ours and the table's; `raters` and `models` are columns with the labels
    of one person or model each, in place of columns for rater and label."""

    columns: Mapping[str, str] = field(default_factory=dict)
    raters: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class OtherTable(ValueError):
    """The table is not as a long table is. It may be one of texts with labels and scores."""


class LongTableSource(Source):
    """`level` stands for labels whose rows name none; `orders` has the labels of dimensions in their order, lowest
    first, as the user gave them: `low,high` for the only dimension, or `quality=low,high`.

    People's labels are the labels of a dimension, or those said. A model's label outside them is a stray: on a
    scale it has no place and is refused; elsewhere it is an answer that nobody can share.

    Every problem of a file raises ValueError with file, line and reason.
    """

    overlap, multiple_share, prefill = 0, 1.0, "off"

    def __init__(self, path: Path, level: str = "", orders: Sequence[str] = (), shape: TableShape | None = None):
        self.path, self.level = path, level
        self.slug = self.title = path.stem if path.is_file() else path.name
        self.task_type = "table"
        noted, columns = ReadingNotes(), {}
        self._rows = _rows_of(path, shape or TableShape(), noted, columns)
        self.read_as = read_as(_in_words(columns, shape or TableShape()), noted)
        self.assumed_levels: dict[str, str] = {}
        self.type = self._type(orders)

    def described(self) -> dict:
        return {"kind": "table"} | ({"assumed_levels": self.assumed_levels} if self.assumed_levels else {})

    def _type(self, orders: Sequence[str]) -> TaskType:
        rows: dict[str, list[dict]] = {}
        for row in self._rows:
            rows.setdefault(row["dimension"], []).append(row)
        known = orders_of(orders, sorted(rows))
        return TaskType(
            slug="table",
            variant="",
            version=1,
            title="Labels of a table",
            summary="",
            anchor_kind=ANY_KIND,
            unit_kind=ANY_KIND,
            contents="",
            dimensions=tuple(self._dimension(name, rows[name], known.get(name, ())) for name in sorted(rows)),
            template="",
            export_layout="",
        )

    def _dimension(self, name: str, rows: list[dict], order: tuple[str, ...]) -> Dimension:
        by_people = [row for row in rows if row["rater_kind"] != MODEL] or rows
        chosen = {row["level"] or self.level for row in rows}
        values = [*{row["label"] for row in by_people}, *order]
        levels = {one or level_of(values) for one in chosen}
        if len(levels) > 1:
            raise ValueError(f"{self.path}: {name} has rows of several levels: {', '.join(sorted(levels))}")
        (level,), title = levels, name.replace("_", " ").capitalize()
        if "" in chosen and (words := level_note(values, level)):
            self.assumed_levels[title] = words
        self._refuse_alike(name, rows, order)
        if "" in chosen and level == "interval" and not order and len(set(values)) > MANY_LABELS:  # as an import has it
            return Dimension(name, title, (), level, answer="number", number=NumberRange())
        ordered = order or self._in_order(name, level, {row["label"] for row in by_people})
        known = set(ordered)
        if outside := next((row for row in by_people if row["label"] not in known), None):
            raise ValueError(
                f"{self.path}: line {outside['line']}: {name} has the label {outside['label']!r}, which the order of "
                "labels lacks"
            )
        stray = next((row for row in rows if row["label"] not in known), None)
        if stray and level == "ordinal":
            raise ValueError(
                f"{self.path}: line {stray['line']}: {stray['rater']!r} gives {name} the label {stray['label']!r}, "
                f"which has no place among {', '.join(ordered)}; list the whole scale with --labels {name}=a,b,c"
            )
        of_level = by_people if "" in chosen else rows  # what else a model says is a stray, and decides no level
        if wrong := next((row for row in of_level if not fits_level(row["label"], level)), None):
            raise ValueError(
                f"{self.path}: line {wrong['line']}: {name} is {level}, which needs {NEEDED[level]}, not "
                f"{wrong['label']!r}"
            )
        if not all(fits_level(value, level) for value in ordered):
            raise ValueError(f"{self.path}: {name} is {level}, which needs {NEEDED[level]}")
        return Dimension(name, title, tuple(Label(one, one) for one in ordered), level)

    def _refuse_alike(self, name: str, rows: list[dict], order: tuple[str, ...]) -> None:
        """Files put together from several write a number in several ways, and 1 and 1.0 would then be a disagreement.
        A user who lists both means that they differ."""
        first: dict[str, dict] = {}
        for row in rows:
            first.setdefault(row["label"], row)
        known: dict[float, dict] = {}
        for label, row in first.items():
            number = number_in(label)
            if number is None:
                continue
            other = known.setdefault(number, row)
            if other is not row and not {other["label"], label} <= set(order):
                raise ValueError(
                    f"{self.path}: line {row['line']}: {name} has the label {label!r}, and {other['label']!r} in line "
                    f"{other['line']}, which are the same number; write them alike, or list both with --labels where "
                    "they are different labels"
                )

    def _in_order(self, name: str, level: str, values: set[str]) -> tuple[str, ...]:
        numbers = {value: number_in(value) for value in values}
        if all(number is not None for number in numbers.values()):
            return tuple(sorted(values, key=lambda value: numbers[value]))
        if level == "nominal":
            return tuple(sorted(values))
        raise ValueError(
            f"{self.path}: {name} is {level}, and its labels are not numbers; say their order, lowest first, with "
            f"--labels {name}=a,b,c"
        )

    @cached_property
    def _frame(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows)

    @cached_property
    def _units(self) -> pd.DataFrame:
        frame = self._frame[["unit", "item", "cluster", "source", "line"]]
        first = frame.drop_duplicates("unit").sort_values("unit", ignore_index=True)
        for name in ("item", "cluster", "source"):
            several = frame.groupby("unit")[name].nunique(dropna=False)
            if (several > 1).any():
                raise ValueError(
                    f"{self.path}: unit {several[several > 1].index[0]!r} appears with more than one {name}"
                )
        items = {key: place for place, key in enumerate(sorted(first["item"].unique()))}
        units = pd.DataFrame({"unit": range(len(first)), "unit_key": first["unit"], "item_key": first["item"]})
        units["item"] = units["item_key"].map(items)
        units["cluster"], units["source"] = first["cluster"], first["source"].map(source_name)
        return units.reindex(columns=list(base.UNIT_COLUMNS)).astype({"item": int})

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        return self._units.copy()

    @cached_property
    def _labels(self) -> pd.DataFrame:
        numbers = dict(zip(self._units["unit_key"], self._units["unit"], strict=True))
        frame = self._frame[self._frame["rater_kind"] != MODEL].copy()
        frame["unit"] = frame["unit"].map(numbers)
        # What one person says of an item in several arms is several answers.
        frame["annotation"] = frame.groupby(["item", "rater", "arm"], sort=True, dropna=False).ngroup()
        frame["rater_kind"] = frame["rater_kind"].map({PERSON: EXTERNAL, SLOT: SLOT})
        if "number" not in frame:
            frame = frame.assign(number=1, is_latest=True)
        frame = frame.assign(suggestion_shown=None, guideline_version=None)
        return frame.rename(columns={"time": "submitted_at"})

    def revision_frame(self) -> pd.DataFrame:
        labels = self._labels.sort_values("submitted_at", kind="stable").drop_duplicates(["annotation", "number"])
        return labels[list(base.REVISION_COLUMNS)]

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        labels = self._labels if every_revision else self._labels[self._labels["is_latest"].astype(bool)]
        return base.in_order(labels[list(base.LABEL_COLUMNS)], units, self.type)

    def answer_frame(self) -> pd.DataFrame:
        items = dict(zip(self._units["item_key"], self._units["item"], strict=True))
        latest = self._labels[self._labels["is_latest"].astype(bool)]
        first = latest.drop_duplicates("annotation").sort_values("annotation", ignore_index=True)
        first = first.assign(item=first["item"].map(items), seconds=math.nan, shown_at=None, n_planned=0)
        return first[list(base.ANSWER_COLUMNS)]

    def exposure_frame(self) -> pd.DataFrame:
        return _empty(base.EXPOSURE_COLUMNS).assign(
            shown_at=lambda frame: frame["shown_at"].astype("datetime64[ns, UTC]")
        )

    def item_frame(self) -> pd.DataFrame:
        items = self._units.groupby("item", as_index=False).agg(
            item_key=("item_key", "first"), n_units=("unit", "size")
        )
        items = items.assign(n_planned=0, n_extra=0, in_random_share=True)
        return items[list(base.ITEM_COLUMNS)]

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        return _empty(base.SPAN_COLUMNS)

    def rater_frame(self) -> pd.DataFrame:
        first = self._labels.drop_duplicates("rater").sort_values("rater", ignore_index=True)
        frame = first[["rater", "rater_kind"]].rename(columns={"rater_kind": "kind"})
        return frame.assign(name=frame["rater"], group="")

    def decision_frame(self, method: str) -> pd.DataFrame:
        return _empty(("unit", "dimension", "label"))

    def decision_methods(self) -> list[str]:
        return []

    def runs(self) -> list[Run]:
        """A model's numbers for a question of numbers are scores."""
        by_models = self._frame[self._frame["rater_kind"] == MODEL]
        runs = []
        for name, rows in by_models.groupby("rater"):
            scores = tuple(sorted(set(rows["dimension"]) & self._numeric))
            gives = "scores" if set(rows["dimension"]) <= self._numeric else "labels"
            runs.append(Run(uuid=name, checker=name, version="", gives=gives, scores=scores))
        return runs

    @cached_property
    def _numeric(self) -> set[str]:
        return {dimension.slug for dimension in self.type.dimensions if dimension.takes_number}

    def how_to_have_runs(self) -> str:
        return (
            f"the table {self.slug} has no labels by a model to compare with people: rows with labels by a model have "
            f"{MODEL} in the column rater_kind"
        )

    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        for row in self.suggestion_frame(run).itertuples():
            yield {"unit": row.unit, "dimension": row.dimension, "label": row.label}

    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        suggestions = self._said_by(run)
        is_label = ~suggestions["is_stray"] & ~suggestions["dimension"].isin(self._numeric)
        return suggestions[is_label].reset_index(drop=True)[list(base.SUGGESTION_COLUMNS)]

    def stray_frame(self, run: Run) -> pd.DataFrame:
        suggestions = self._said_by(run)
        return suggestions[suggestions["is_stray"]].reset_index(drop=True)[list(base.STRAY_COLUMNS)]

    def suggestion_origins(self, run: Run) -> pd.DataFrame:
        return self._said_by(run).rename(columns={"time": "submitted_at"})[list(base.ORIGIN_COLUMNS)]

    def _said_by(self, run: Run) -> pd.DataFrame:
        numbers = dict(zip(self._units["unit_key"], self._units["unit"], strict=True))
        known = {(dimension.slug, value) for dimension in self.type.dimensions for value in dimension.values}
        mine = self._frame[(self._frame["rater_kind"] == MODEL) & (self._frame["rater"] == run.uuid)]
        is_stray = [
            number_in(label) is None if slug in self._numeric else (slug, label) not in known
            for slug, label in zip(mine["dimension"], mine["label"], strict=True)
        ]
        if "probability" not in mine:
            mine = mine.assign(probability=math.nan)
        mine = mine.assign(unit=mine["unit"].map(numbers), is_stray=is_stray)
        return mine.astype({"is_stray": bool}).sort_values(["unit", "dimension"], ignore_index=True)

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        return _empty(labels).astype(float)

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        if name not in self._numeric:
            return _empty(("unit", "value")).astype({"value": float})
        rows = self._said_by(run)
        scores = rows[(rows["dimension"] == name) & ~rows["is_stray"]].reset_index(drop=True)
        return pd.DataFrame({"unit": scores["unit"], "value": scores["label"].astype(float)})

    def failure_frame(self, run: Run) -> pd.DataFrame:
        strays = self.stray_frame(run)
        reasons = [f"{row.label!r} is not a label of {row.dimension}" for row in strays.itertuples()]
        return strays[["unit"]].assign(reason=reasons)

    def content(self, kind: str) -> pd.DataFrame:
        return _empty(content_columns(kind))


def orders_of(texts: Sequence[str], dimensions: list[str]) -> dict[str, tuple[str, ...]]:
    """By dimension, the labels in their order. ValueError if it is unclear which dimension they belong to."""
    orders: dict[str, tuple[str, ...]] = {}
    for one in texts:
        name, is_named, listed = one.partition("=")
        if not is_named:
            if len(dimensions) > 1:
                raise ValueError(
                    f"--labels {one}: the table has the dimensions {', '.join(dimensions)}; say whose labels these "
                    f"are, such as --labels {dimensions[0]}={one}"
                )
            name, listed = dimensions[0], one
        if name not in dimensions:
            raise ValueError(f"--labels {one}: there is no dimension {name!r}; there is {', '.join(dimensions)}")
        if name in orders:
            raise ValueError(f"--labels {one}: the labels of {name} are given twice")
        labels = tuple(label.strip() for label in listed.split(","))
        if "" in labels or len(set(labels)) < len(labels):
            raise ValueError(f"--labels {one}: a label is empty or stands twice")
        orders[name] = labels
    return orders


def _empty(columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(columns=list(columns))


def read_as(sentences: Sequence[str], noted: ReadingNotes) -> str:
    """A line that says how the columns were read, and the encoding where it was guessed."""
    notes = [f"{ODDITIES[one.kind].title}: {one.what}." for one in noted.odd()]
    return f"Columns read as: {' '.join([*sentences, *notes])}" if sentences else ""


def _in_words(columns: Mapping[str, str], shape: TableShape) -> list[str]:
    words = [f"{ours}s from {theirs}" for ours, theirs in columns.items()]
    for kind, named in ((PERSON, shape.raters), (MODEL, shape.models)):
        words += [f"labels of a {kind} each from {', '.join(named)}"] if named else []
    listed = ", ".join(words)
    return [f"{listed[0].upper()}{listed[1:]}."] if listed else []


def _rows_of(path: Path, shape: TableShape, noted: ReadingNotes, columns: dict[str, str]) -> list[dict]:
    """Every row with all columns, texts where the file has numbers; one row per rater, unit and dimension. `columns`
    gets our names with the table's."""
    rows = list(_alt_test(path)) if path.is_dir() else list(_table(path, shape, noted, columns))
    if not rows:
        raise ValueError(f"{path}: holds no labels")
    seen: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row["unit"], row["rater"], row["dimension"])
        if key in seen:
            raise OtherTable(
                f"{path}: line {row['line']}: {row['rater']!r} has labelled {row['unit']!r} before, "
                f"in line {seen[key]}; keep one of the two"
            )
        seen[key] = row["line"]
    return rows


def _table(path: Path, shape: TableShape, noted: ReadingNotes, columns: dict[str, str]) -> Iterator[dict]:
    """One row per label; cells without a label are passed over."""
    try:
        for table in open_tables([SourceFile(path)], Options(noted=noted)):
            for row in table.rows:
                if isinstance(row, RowError):
                    where = f"{row.file}: line {row.line}: {row.column}".removesuffix(": ")
                    raise ValueError(f"{where}: {row.reason}")
                line, cells = row
                if not columns:
                    columns |= _columns(path, line, table.columns or list(cells), shape)
                named = cells | {ours: cells.get(theirs) for ours, theirs in columns.items()}
                for one in _labels_of(named, shape):
                    if "label" not in one or _text(one["label"]) != "":
                        yield _row(path, line, one)
    except FormatError as error:
        raise ValueError(str(error)) from None


def _columns(path: Path, line: int, there: Sequence[str], shape: TableShape) -> dict[str, str]:
    """Our name -> the table's. ValueError where a column is missing or could be two."""
    for name in (*shape.columns.values(), *shape.raters, *shape.models):
        if name not in there:
            raise ValueError(f"{path}: has no column {name!r}; it has {', '.join(map(str, there))}")
    known = (*REQUIRED, *OPTIONAL)
    if unknown := [name for name in shape.columns if name not in known]:
        raise ValueError(f"--columns: {unknown[0]!r} is not one of {', '.join(known)}")
    needed = ("item",) if shape.raters or shape.models else REQUIRED
    columns = {name: name for name in needed if name in there} | dict(shape.columns)
    used = {*columns.values(), *shape.raters, *shape.models}
    for name in needed:
        if name in columns:
            continue
        free = [one for one in there if one not in used]
        groups = ([one for one in free if spelling(str(one)) in names] for names in OTHER_NAMES[name])
        others = next(filter(None, groups), [])
        if len(others) > 1:
            which = " or ".join(f"{name}={one}" for one in others)
            raise OtherTable(f"{path}: several columns could be the {name}; say which with --columns {which}")
        if not others:
            wide = "" if name == "item" else ". Where each rater has a column, name these with --rater-columns"
            raise OtherTable(
                f"{path}: line {line}: {name} is missing; the columns are {', '.join(map(str, there))}, and "
                f"{', '.join(needed)} are needed. Say which they are, such as --columns {name}={there[0]}{wide}"
            )
        columns[name] = others[0]
    return columns


def _labels_of(cells: dict, shape: TableShape) -> Iterator[dict]:
    """The labels of one row of the table."""
    if not shape.raters and not shape.models:
        yield cells
    for kind, columns in ((PERSON, shape.raters), (MODEL, shape.models)):
        for column in columns:
            yield cells | {"rater": column, "rater_kind": kind, "label": _whole(cells[column])}


def _whole(cell: object) -> object:
    """A column with a gap went through floats: 3.0 is the label 3 that other raters' columns have."""
    match = FLOAT.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return match[1] if match else cell


def _row(path: Path, line: int, cells: dict) -> dict:
    values = {name: _text(cells.get(name)) for name in (*REQUIRED, *OPTIONAL)}
    for name in REQUIRED:
        if values[name] == "":
            there_is = f"is missing; the columns are {', '.join(map(str, cells))}, and {', '.join(REQUIRED)} are needed"
            raise ValueError(f"{path}: line {line}: {name} {'is empty' if name in cells else there_is}")
    if values["level"] not in ("", *LEVELS):
        raise ValueError(f"{path}: line {line}: level is one of {', '.join(LEVELS)}, not {values['level']!r}")
    if values["rater_kind"] not in ("", *KINDS):
        raise ValueError(f"{path}: line {line}: rater_kind is one of {', '.join(KINDS)}, not {values['rater_kind']!r}")
    unit = values["unit"] or values["item"]
    return values | {
        "line": line,
        "unit": unit,
        "dimension": values["dimension"] or DIMENSION,
        "rater_kind": values["rater_kind"] or PERSON,
        "cluster": values["cluster"] or unit,
        "arm": values["arm"] or None,
        "time": _instant(path, line, values["time"]),
    }


def _text(value: object) -> str:
    """Cells of JSON and Parquet may be numbers: 3 and 3.0 are the label 3."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _instant(path: Path, line: int, text: str) -> datetime | None:
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
        return incoming.instant(instant if instant.tzinfo else instant.replace(tzinfo=UTC))
    except incoming.Refused as refused:
        raise ValueError(f"{path}: line {line}: time {refused}, not {text!r}") from None
    except ValueError:
        raise ValueError(
            f"{path}: line {line}: time is an instant such as 2026-05-31T12:00:00Z, not {text!r}"
        ) from None


def _alt_test(path: Path) -> Iterator[dict]:
    """`{rater: {item: label}}`, people in one file and models in the other; the line is the label's place there."""
    if not any((path / name).exists() for name in ALT_TEST):
        raise ValueError(f"{path}: holds neither a release nor {' and '.join(ALT_TEST)}")
    for name, kind in ALT_TEST.items():
        if not (path / name).exists():
            continue
        try:
            raters = json.loads((path / name).read_text(encoding="utf-8"))
            labels = [(rater, item, label) for rater, labels_of in raters.items() for item, label in labels_of.items()]
        except (ValueError, AttributeError, RecursionError):
            raise ValueError(f"{path / name}: is not of the form {{rater: {{item: label}}}}") from None
        for place, (rater, item, label) in enumerate(labels, 1):
            yield _row(path / name, place, {"item": item, "rater": rater, "label": label, "rater_kind": kind})
