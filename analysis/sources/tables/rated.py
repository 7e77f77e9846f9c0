"""A table of texts with labels, ratings and scores as a source, read with the mapping that an import takes: the figures
are those of the project that the same file would make."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from analysis.sources import base
from analysis.sources.content_rows import content_columns
from analysis.sources.outline import Run, groups_in
from analysis.sources.splits import source_name
from analysis.sources.tables.long_table import MODEL, NEEDED, PERSON, LongTableSource, orders_of, read_as
from annotation.datasets.kinds import KIND_OF_RECORD
from annotation.formats.cells import level_note
from annotation.formats.names import find_label, label_value
from annotation.formats.records import (
    AnnotationRecord,
    DecisionRecord,
    FormatError,
    OddRecord,
    RowError,
    ScoreRecord,
    SuggestionRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.mapping_file import ChosenMapping
from annotation.formats.tables.oddities import IDENTICAL, ODDITIES, UNNAMED, ReadingNotes
from annotation.formats.tables.ratings import read_whole
from annotation.formats.tables.summary import sentences
from annotation.task_types import Dimension, Label, TaskType
from annotation.task_types.label_sets import task_type_of
from annotation.task_types.problems import fits_level

# Nobody can be asked here: rows that are the same are of people who agree.
AS_THEY_STAND = {IDENTICAL: "places", UNNAMED: "places"}


class RatedTableSource(LongTableSource):
    """`level` and `orders` say more of the questions than the file does, as for a long table.

    Every problem of the file raises ValueError with line and reason, but for bad rows that are left out, which
    `left_out` lists.
    """

    def __init__(
        self, path: Path, mapping: ChosenMapping, level: str = "", orders: Sequence[str] = (), leaves_out: bool = False
    ):
        self.path, self.level, self.column_mapping = path, level, mapping
        self.slug = self.title = path.stem
        self.task_type = "table"
        try:
            options = Options(
                mapping=mapping.mapping,
                values=mapping.values,
                ranges=mapping.ranges,
                treat=AS_THEY_STAND,
                noted=ReadingNotes(),
            )
            records, description = read_whole([SourceFile(path)], options, path.stem)
        except FormatError as error:
            raise ValueError(str(error)) from None
        if not description:
            raise ValueError(f"{path}: holds no labels in the columns of the mapping")
        self._read = _Read(path)
        self.left_out = [record for record in records if isinstance(record, RowError)] if leaves_out else []
        for record in records:
            if not (leaves_out and isinstance(record, RowError)):
                self._read.take(record)
        n_raters = len({row["rater"] for row in self._read.rows if row["rater_kind"] != MODEL})
        self.read_as = read_as(sentences(mapping.mapping, n_raters), options.noted)
        self.assumed_levels = {}
        self.type = self._with_levels(task_type_of(description), orders)
        self._rows = self._read.rows

    def described(self) -> dict:
        left_out = {"rows_left_out": len(self.left_out)} if self.left_out else {}
        return super().described() | {"mapping": dict(self.column_mapping.mapping)} | left_out

    def _with_levels(self, kind: TaskType, orders: Sequence[str]) -> TaskType:
        order_of = orders_of(orders, [dimension.slug for dimension in kind.dimensions])
        dimensions = [self._leveled(one, order_of.get(one.slug, ())) for one in kind.dimensions]
        return replace(kind, dimensions=tuple(dimensions))

    def _leveled(self, dimension: Dimension, order: tuple[str, ...]) -> Dimension:
        level = self.level or dimension.level
        values = {row["label"] for row in self._read.rows if row["dimension"] == dimension.slug}
        if not self.level and (words := level_note(values, level)):
            self.assumed_levels[dimension.title] = words
        if dimension.takes_number and level in ("interval", "ratio"):
            return replace(dimension, level=level)
        if dimension.takes_number:
            numbers = tuple(Label(value, value) for value in sorted(values, key=float))
            dimension = replace(dimension, answer="label", number=None, labels=numbers)
        known = {label.value: label.title for label in dimension.labels}
        values = tuple(find_label(one, known) or label_value(one) for one in order) or self._in_order(
            dimension.slug, level, set(dimension.values)
        )
        if lacking := [value for value in dimension.values if value not in values]:
            raise ValueError(
                f"{self.path}: {dimension.slug} has the label {lacking[0]!r}, which the order of labels lacks"
            )
        if wrong := next((value for value in values if not fits_level(value, level)), None):
            raise ValueError(f"{self.path}: {dimension.slug} is {level}, which needs {NEEDED[level]}, not {wrong!r}")
        titles = {label.value: label for label in dimension.labels}
        labels = tuple(
            titles.get(value) or Label(value, title) for value, title in zip(values, order or values, strict=True)
        )
        return replace(dimension, labels=labels, level=level)

    @cached_property
    def _units(self) -> pd.DataFrame:
        kind = self.type.unit_kind
        rows = [
            {"unit_key": record.key, "item_key": record.key, kind: record.key}
            | {"cluster": getattr(record, "question", None) or record.key}
            | {"source": source_name(getattr(record, "source", ""))}
            | (
                {"model": record.model, "method": "", "setting": "", "question": record.question}
                if kind == "response"
                else {}
            )
            for record in self._read.content[kind]
        ]
        frame = pd.DataFrame(rows).sort_values("unit_key", ignore_index=True)
        frame["unit"] = frame["item"] = range(len(frame))
        return frame.reindex(columns=list(base.UNIT_COLUMNS))

    @cached_property
    def _frame(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows, columns=list(_row("", "", "", "", PERSON)))

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        numbers = self._numbers
        rows = [(numbers[key], who, *span) for (key, who), spans in self._read.spans.items() for span in spans]
        return base.in_order(pd.DataFrame(rows, columns=list(base.SPAN_COLUMNS)), units, self.type)

    def decision_frame(self, method: str) -> pd.DataFrame:
        numbers = self._numbers
        rows = [(numbers[key], dimension, label) for key, dimension, label in self._read.decisions]
        frame = pd.DataFrame(rows if method == "imported" else [], columns=["unit", "dimension", "label"])
        return frame.sort_values(["unit", "dimension"], ignore_index=True)

    def decision_methods(self) -> list[str]:
        return ["imported"] if self._read.decisions else []

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(zip(self._units["unit_key"], self._units["unit"], strict=True))

    def runs(self) -> list[Run]:
        """A model that gives labels with a number is one run; those of numbers alone come last."""
        runs = [
            replace(run, scores=(run.uuid, *run.scores)) if run.uuid in self._read.scores else run
            for run in (super().runs() if self._rows else [])
        ]
        scoring = sorted(set(self._read.scores) - {run.uuid for run in runs})
        return [*runs, *(Run(name, name, "", gives="scores", scores=(name,)) for name in scoring)]

    def rater_groups(self) -> list[str]:
        return groups_in(self._read.groups.values())

    def rater_frame(self) -> pd.DataFrame:
        frame = super().rater_frame()
        return frame.assign(group=[self._read.groups.get(rater, "") for rater in frame["rater"]])

    def how_to_have_runs(self) -> str:
        return f"the table {self.slug} has no column that is mapped as a score or a label of a checker"

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        if name in self._numeric:
            return super().score_frame(run, name)
        numbers = self._numbers
        scores = sorted((numbers[key], value) for key, value in self._read.scores.get(name, {}).items())
        return pd.DataFrame(scores, columns=["unit", "value"]).astype({"value": float})

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        numbers = self._numbers
        probabilities = {
            numbers[key]: [of_unit[label] for label in labels]
            for key, of_unit in sorted(self._read.probabilities.get((run.uuid, dimension), {}).items())
            if all(label in of_unit for label in labels)
        }
        return pd.DataFrame(list(probabilities.values()), index=list(probabilities), columns=list(labels), dtype=float)

    def content(self, kind: str) -> pd.DataFrame:
        columns = content_columns(kind)
        rows = [{name: getattr(one, name, None) for name in columns} for one in self._read.content.get(kind, ())]
        frame = pd.DataFrame(rows, columns=list(columns))
        if "date" in frame:
            frame["date"] = [None if day is None else day.isoformat() for day in frame["date"]]
        return frame.sort_values("key", kind="stable", ignore_index=True)


@dataclass
class _Read:
    """What the records of a file say, as the frames want it."""

    path: Path
    content: dict[str, list] = field(default_factory=lambda: defaultdict(list))
    rows: list[dict] = field(default_factory=list)
    spans: dict[tuple[str, str], list[tuple]] = field(default_factory=dict)  # of the latest revisions
    decisions: list[tuple[str, str, str]] = field(default_factory=list)
    scores: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    probabilities: dict[tuple[str, str], dict] = field(default_factory=lambda: defaultdict(dict))
    latest: dict[tuple[str, str], list[dict]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    def take(self, record: object) -> None:
        match record:
            case RowError():
                raise ValueError(said_of(record))
            case AnnotationRecord():
                self._take_annotation(record)
            case OddRecord(is_open=True):
                title = ODDITIES[record.kind].title
                raise ValueError(f"{self.path}: {title} ({record.what}): import the file and choose how to read them")
            case SuggestionRecord():
                row = _row(record.unit, record.checker, record.dimension, record.label, MODEL)
                row["probability"] = math.nan if record.probability is None else record.probability
                if record.probabilities:
                    self.probabilities[record.checker, record.dimension][record.unit] = record.probabilities
                self.rows.append(row)
            case DecisionRecord():
                self.decisions.append((record.unit, record.dimension, record.label))
            case ScoreRecord():
                self.scores[record.checker][record.unit] = record.value
            case _ if (kind := KIND_OF_RECORD.get(type(record))) is not None:
                self.content[kind.name].append(record)

    def _take_annotation(self, record: AnnotationRecord) -> None:
        """Revisions of one rater on one text come in their order, the last of them at the end."""
        key, who = record.item, record.rater
        self.groups[who] = record.rater_group
        for row in self.latest.get((key, who), ()):
            row["is_latest"] = False
        rows = [_row(key, who, one.dimension, one.label, record.rater_kind) for one in record.judgements]
        for row in rows:
            row["number"], row["time"] = record.revision, record.submitted_at
        self.latest[key, who] = rows
        self.spans[key, who] = [
            (one.dimension, one.label, span.field, span.start, span.end, span.label)
            for one in record.judgements
            for span in one.spans
        ]
        self.rows += rows


def said_of(error: RowError) -> str:
    where = f"{error.file}: line {error.line}: {error.column}".removesuffix(": ")
    return f"{where}: {error.value!r} {error.reason}"


def _row(unit: str, rater: str, dimension: str, label: str, kind: str) -> dict:
    row = {"unit": unit, "item": unit, "rater": rater, "dimension": dimension, "label": label, "rater_kind": kind}
    return row | {"number": 1, "is_latest": True, "arm": None, "time": None, "probability": math.nan}
