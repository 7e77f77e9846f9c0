"""A release's files as a source: every frame as it was when the labels were frozen, without a database."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from sys import intern

import numpy as np
import pandas as pd

from analysis.sources import base
from analysis.sources.base import Source
from analysis.sources.content_rows import NUMBERS, content_columns
from analysis.sources.outline import GeneratorRun, Run, groups_in
from analysis.sources.rankings import QUERY_COLUMNS, RANKING_COLUMNS, Retrieval
from analysis.sources.releases.files import ANNOTATIONS, DECISIONS, Files, ReleaseError
from annotation.formats.records import SHOWN_ORDER
from annotation.projects.options import named_version
from annotation.task_types import LabelSetError, TaskType, configured, learn, task_type

# Columns that stay whole numbers though some rows have none.
WHOLE = ("guideline_version", "rank", *NUMBERS)
# What a canonical line has where its author had been served others' labels.
MARKED = re.compile('"labels_seen":true')
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_TIME = np.iinfo(np.int64).min  # numpy's NaT


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the annotations say, surplus ones left out; `annotators` gave them or surplus ones."""

    labels: pd.DataFrame  # of every revision
    answers: pd.DataFrame
    spans: pd.DataFrame
    revisions: pd.DataFrame
    annotators: set[str]
    groups: dict[str, str]  # of annotators who have one
    options_versions: dict[int, int]  # annotation -> the version of the options that its newest revision names
    shown_orders: dict[
        int, tuple[str, ...]
    ]  # annotation -> the order of texts in its newest revision, where it has one


class ReleaseSource(Source):
    """Reads a folder or a zip. Its files are checked against their hashes first; ReleaseError says what is wrong.

    `siblings` are releases of other projects on the same data set.
    """

    def __init__(self, path: Path, siblings: Sequence[Path] = ()):
        self.files = Files(path)
        self.sibling_sources: dict[str, Source] = {source.slug: source for source in map(ReleaseSource, siblings)}
        if self.files.parts:
            named = ", ".join(str(path / name) for name in self.files.parts)
            raise ReleaseError(f"{path}: holds several projects; name one of them: {named}")
        self.files.verify()
        manifest, release = self.files.manifest, self.files.manifest["release"]
        self.slug, self.title, self.task_type = manifest["project"], release["title"], manifest["task_type"]
        try:
            kind = learn(manifest["label_set"]) if "label_set" in manifest else task_type(self.task_type)
            self._plain, self.type = kind, configured(kind, manifest.get("options", {}))
        except LabelSetError as error:
            raise ReleaseError(f"{path}: label_set: {error}") from None
        except KeyError:
            raise ReleaseError(f"{path}: this Assay does not know the task type {self.task_type}") from None
        self.overlap, self.multiple_share = release["overlap"], release["multiple_share"]
        self.prefill = release["prefill"]
        self.decisions = manifest.get("decisions", "")
        self.piece_set = manifest.get("settings", {}).get("piece_set", "")

    def described(self) -> dict:
        release = self.files.manifest["release"]
        facts = {"kind": "release", "number": release["number"], "sha256": release["sha256"]}
        return facts | self._choices_described()

    def _frame(self, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
        return frame_of(self.files.rows(f"frames/{name}.jsonl"), columns)

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        if unit_kind != self.type.unit_kind:
            raise ReleaseError(f"{self.slug} judges {self.type.unit_kind}, and its release holds no {unit_kind}")
        return self._units.copy(deep=False)

    @cached_property
    def _units(self) -> pd.DataFrame:
        columns = tuple(name for name in base.UNIT_COLUMNS if name not in ("unit", "item"))
        frame = self._frame("units", columns)
        frame.insert(0, "unit", range(len(frame)))
        frame.insert(2, "item", frame["item_key"].map(self._item_numbers).astype(int))
        return frame[list(base.UNIT_COLUMNS)]

    @cached_property
    def _unit_numbers(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self._units["unit_key"].tolist())}

    def item_frame(self) -> pd.DataFrame:
        return self._items.copy(deep=False)

    @cached_property
    def _items(self) -> pd.DataFrame:
        frame = self._frame("items", base.ITEM_COLUMNS[1:])
        frame.insert(0, "item", range(len(frame)))
        return frame.astype({"n_units": int, "n_planned": int, "n_extra": int, "in_random_share": bool})

    @cached_property
    def _item_numbers(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self._items["item_key"].tolist())}

    @cached_property
    def _stored(self) -> _Stored:
        """All read in one go, by column and without texts of single lines: there may be millions."""
        everybody = self.everybody()
        kinds = dict(zip(everybody["rater"], everybody["kind"], strict=True))
        annotators: set[str] = set()
        groups: dict[str, str] = {}
        labels = _columns("unit annotation number", "dimension label suggestion_shown rater rater_kind")
        lines = _columns("annotation number shown_at submitted_at", "seconds guideline_version suggestion_shown")
        spans = _columns("annotation number unit start end", "rater dimension label field own_label severity")
        places: dict[tuple[int, str], int] = {}
        named: dict[int, tuple[int, int]] = {}  # annotation -> its newest revision, and the options that it names
        orders: dict[int, tuple[str, ...]] = {}
        for line in self.files.rows(ANNOTATIONS):
            annotators.add(line["annotator"])
            if "annotator_group" in line:
                groups[line["annotator"]] = line["annotator_group"]
            if line["surplus"]:
                continue
            rater, seconds = intern(line["annotator"]), line["active_ms"]
            place = places.setdefault((self._item_numbers[line["item"]], rater), len(places))
            revision, shown = line["revision"], line["suggestion_shown"]
            lines["annotation"].append(place)
            lines["number"].append(revision)
            lines["shown_at"].append(_microseconds(line["shown_at"]))
            lines["submitted_at"].append(_microseconds(line["submitted_at"]))
            lines["seconds"].append(None if seconds is None else seconds / 1000)
            lines["guideline_version"].append(line["guideline_version"])
            if revision >= named.get(place, (0, 0))[0]:
                named[place] = revision, named_version(line)
                if SHOWN_ORDER in line:
                    orders[place] = tuple(line[SHOWN_ORDER])
            lines["suggestion_shown"].append(shown)
            for judgement in line["judgements"]:
                unit, dimension, label = (
                    self._unit_numbers[judgement["unit"]],
                    intern(judgement["dimension"]),
                    intern(judgement["label"]),
                )
                row = unit, place, revision, dimension, label, shown, rater, kinds[rater]
                for column, value in zip(labels.values(), row, strict=True):
                    column.append(value)
                for span in judgement["spans"]:
                    where = span["start"], span["end"], rater, dimension, label, intern(span["field"])
                    more = span.get("label", ""), span.get("severity", "")
                    for column, value in zip(spans.values(), (place, revision, unit, *where, *more), strict=True):
                        column.append(value)
        newest = np.zeros(len(places), dtype=np.int64)
        np.maximum.at(newest, np.asarray(lines["annotation"]), np.asarray(lines["number"]))

        def is_latest(columns: dict) -> np.ndarray:
            return np.asarray(columns["number"]) == newest[np.asarray(columns["annotation"])]

        frame = pd.DataFrame({name: labels[name] for name in base.LABEL_COLUMNS if name in labels})
        frame.insert(base.LABEL_COLUMNS.index("is_latest"), "is_latest", is_latest(labels))
        marked = pd.DataFrame({name: spans[name] for name in base.SPAN_COLUMNS})[is_latest(spans)]
        every = {name: lines[name] for name in base.REVISION_COLUMNS}
        return _Stored(
            frame,
            self._answers_of(lines, np.flatnonzero(is_latest(lines)), list(places)),
            marked.reset_index(drop=True) if len(marked) else _table([], base.SPAN_COLUMNS),
            pd.DataFrame(every | {"submitted_at": _moments(lines["submitted_at"])}),
            annotators,
            groups,
            {place: version for place, (_, version) in named.items() if version},
            orders,
        )

    def shown_orders(self) -> dict[int, tuple[str, ...]]:
        return self._stored.shown_orders

    def asked_under(self) -> tuple[dict[int, int], dict[int, TaskType]]:
        versions = self.files.manifest.get("options_versions", {})
        if not versions:
            return {}, {}
        kinds = {int(version): configured(self._plain, options) for version, options in versions.items()}
        return self._stored.options_versions, {0: self._plain} | kinds

    def _answers_of(self, lines: dict, latest: np.ndarray, places: list[tuple[int, str]]) -> pd.DataFrame:
        """By item and rater; `latest` are the lines of the latest revisions."""
        arms = {
            (self._item_numbers[row["item"]], row["rater"]): row.get("arm")
            for row in self.files.rows("frames/answers.jsonl")
        }
        planned = self._items["n_planned"].tolist()
        annotations = lines["annotation"]
        latest = np.array(sorted(latest.tolist(), key=lambda line: places[annotations[line]]), dtype=np.int64)
        who = [places[annotations[line]] for line in latest]
        values = {name: [lines[name][line] for line in latest] for name in base.ANSWER_COLUMNS if name in lines}
        values |= {name: _moments(values[name]) for name in ("shown_at", "submitted_at")}
        values |= {"item": [item for item, _ in who], "rater": [rater for _, rater in who]}
        values |= {"arm": [arms.get(place) for place in who], "n_planned": [planned[item] for item, _ in who]}
        return pd.DataFrame(values, columns=list(base.ANSWER_COLUMNS)).astype({"seconds": float})

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        labels = self._stored.labels
        if not every_revision and not labels["is_latest"].all():
            labels = labels[labels["is_latest"].astype(bool)]
        return base.in_order(labels, units, self.type)

    def revision_frame(self) -> pd.DataFrame:
        return self._stored.revisions.copy(deep=False)

    def answer_frame(self) -> pd.DataFrame:
        return self._stored.answers.copy(deep=False)

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        return base.in_order(self._stored.spans, units, self.type)

    def labels_seen(self) -> set[int]:
        marked = {
            (line["item"], line["annotator"])
            for line in self.files.rows(ANNOTATIONS, MARKED)
            if line.get("labels_seen") and not line["surplus"]
        }
        keys = self._items["item_key"].tolist()
        answers = self._stored.answers[["annotation", "item", "rater"]].itertuples() if marked else ()
        return {row.annotation for row in answers if (keys[row.item], row.rater) in marked}

    def further(self) -> set[int]:
        rows = self.files.rows("frames/answers.jsonl")
        asked = {(row["item"], row["rater"]) for row in rows if row.get("further")}
        keys = self._items["item_key"].tolist()
        answers = self._stored.answers[["annotation", "item", "rater"]].itertuples() if asked else ()
        return {row.annotation for row in answers if (keys[row.item], row.rater) in asked}

    def exposure_frame(self) -> pd.DataFrame:
        answers = self._stored.answers
        keys = self._items["item_key"].tolist()
        numbers = {
            (keys[row.item], row.rater): row.annotation for row in answers[["item", "rater", "annotation"]].itertuples()
        }
        rows = [
            (numbers[line["item"], line["rater"]], seen.get("run"), seen.get("checker"), instant(seen.get("shown_at")))
            for line in self.files.rows("frames/answers.jsonl")
            for seen in line.get("exposures", [])
        ]
        frame = pd.DataFrame(rows, columns=list(base.EXPOSURE_COLUMNS))
        frame["shown_at"] = pd.to_datetime(frame["shown_at"], utc=True)
        return frame

    def rater_frame(self) -> pd.DataFrame:
        everybody = self.everybody()
        everybody = everybody[everybody["rater"].isin(self._stored.annotators)].reset_index(drop=True)
        return everybody.assign(group=[self._stored.groups.get(rater, "") for rater in everybody["rater"]])

    def rater_groups(self) -> list[str]:
        return groups_in(self._stored.groups.values())

    def everybody(self) -> pd.DataFrame:
        frame = self._frame("raters", ("rater", "kind"))
        return frame.assign(name=frame["rater"], group="")

    def acknowledgement_frame(self) -> pd.DataFrame:
        return self._moments_of("acknowledgements", base.ACKNOWLEDGEMENT_COLUMNS)

    def has_checks(self) -> bool:
        return bool((self.key_result_frame()["purpose"] == base.CHECK).any())

    def key_result_frame(self) -> pd.DataFrame:
        return self._moments_of("key_results", base.KEY_RESULT_COLUMNS)

    def skip_frame(self) -> pd.DataFrame:
        return self._moments_of("skips", base.SKIP_COLUMNS)

    def _moments_of(self, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
        """A frame whose columns `..._at` are moments."""
        rows = self.files.rows(f"frames/{name}.jsonl")
        moments = [column for column in columns if column.endswith("_at")]
        return frame_of((row | {column: instant(row[column]) for column in moments} for row in rows), columns)

    def decision_history(self) -> pd.DataFrame:
        return self._decisions.copy(deep=False)

    @cached_property
    def _decisions(self) -> pd.DataFrame:
        """What a release was frozen with before decisions had a history says nothing but what was in force."""
        rows = [
            row
            | {"unit": self._unit_numbers[row["unit"]], "number": row.get("number", 1), "label": row.get("label", "")}
            | {"note": row.get("note", ""), "decided_at": instant(row.get("decided_at"))}
            for row in self.files.rows(DECISIONS if DECISIONS in self.files else "frames/decisions.jsonl")
            if "unit_kind" not in row  # a verdict on what the units hang below
        ]
        return frame_of(rows, base.DECISION_COLUMNS)

    @cached_property
    def _standing(self) -> pd.DataFrame:
        newest = self._decisions.drop_duplicates(["unit", "dimension", "method"], keep="last")
        return newest[newest["label"] != ""]

    def decision_frame(self, method: str) -> pd.DataFrame:
        decisions = self._standing[self._standing["method"] == method]
        return decisions[["unit", "dimension", "label"]].reset_index(drop=True)

    def unanswered_frame(self, method: str) -> pd.DataFrame:
        places = self._without_label.get(method, ())
        return frame_of(({"unit": unit, "dimension": name} for unit, name in places), ("unit", "dimension"))

    @cached_property
    def _without_label(self) -> dict[str, list[tuple[int, str]]]:
        """Places by the set that says that they have no label."""
        newest: dict[tuple[str, int, str], bool] = {}
        for row in self.files.rows(DECISIONS) if DECISIONS in self.files else ():
            if "unit_kind" not in row:
                newest[row["method"], self._unit_numbers[row["unit"]], row["dimension"]] = "outcome" in row
        found: dict[str, list[tuple[int, str]]] = {}
        for (method, *place), is_open in newest.items():
            if is_open:
                found.setdefault(method, []).append(tuple(place))
        return found

    def decision_methods(self) -> list[str]:
        return sorted({*self._standing["method"].tolist(), *self._without_label})

    def runs(self) -> list[Run]:
        return list(self._runs)

    @cached_property
    def _runs(self) -> list[Run]:
        runs = [
            Run(
                uuid=row["run"],
                checker=row["checker"],
                version=row["version"],
                parameters=row["parameters"],
                provenance=row["provenance"],
                gives=row["gives"],
                scores=tuple(sorted(row["scores"], key=lambda name: (name != "support", name))),
                created_at=instant(row["created_at"]),
            )
            for row in self.files.rows("frames/runs.jsonl")
        ]
        runs.sort(key=lambda run: run.created_at, reverse=True)
        return sorted(runs, key=lambda run: run.gives == "scores")

    @cached_property
    def _suggestions(self) -> dict[str, list[dict]]:
        suggestions: dict[str, list[dict]] = {}
        for row in self.files.rows("frames/suggestions.jsonl"):
            suggestions.setdefault(row.pop("run"), []).append(row | {"unit": self._unit_numbers[row["unit"]]})
        return suggestions

    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        yield from self._suggestions.get(run.uuid, [])

    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        frame = frame_of(self._suggestions.get(run.uuid, []), base.SUGGESTION_COLUMNS)
        return frame.astype({"probability": float})

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        probabilities = {
            row["unit"]: row["probabilities"]
            for row in self._suggestions.get(run.uuid, [])
            if row["dimension"] == dimension and all(label in row.get("probabilities", {}) for label in labels)
        }
        rows = [[of_unit[label] for label in labels] for of_unit in probabilities.values()]
        return pd.DataFrame(rows, index=list(probabilities), columns=list(labels), dtype=float)

    @cached_property
    def _scores(self) -> dict[tuple[str, str], list[tuple[int, float | None]]]:
        scores: dict[tuple[str, str], list[tuple[int, float | None]]] = {}
        for row in self.files.rows("frames/scores.jsonl"):
            scores.setdefault((row["run"], row["name"]), []).append((self._unit_numbers[row["unit"]], row["value"]))
        return scores

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        return _table(self._scores.get((run.uuid, name), []), ("unit", "value")).astype({"value": float})

    def failure_frame(self, run: Run) -> pd.DataFrame:
        rows = [row for row in self.files.rows("frames/failures.jsonl") if row["run"] == run.uuid]
        return _table([(self._unit_numbers[row["unit"]], row["reason"]) for row in rows], ("unit", "reason"))

    def anchors(self, items: list[int]) -> list[int]:
        """After the units, in the order of items."""
        return [len(self._units) + item for item in items]

    def generations(self) -> list[GeneratorRun]:
        return self._made(GeneratorRun, "generations")

    def retrievals(self) -> list[Retrieval]:
        return self._made(Retrieval, "retrievals")

    def _made(self, kind: type, name: str) -> list:
        """What a frame says of each run, oldest first."""
        rows = self.files.rows(f"frames/{name}.jsonl")
        made = [kind(**(row | {"created_at": instant(row.get("created_at"))})) for row in rows]
        return sorted(made, key=lambda one: (str(one.created_at), one.uuid))

    def query_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self._of_retrieval("queries", retrieval, QUERY_COLUMNS)

    def ranking_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self._of_retrieval("rankings", retrieval, RANKING_COLUMNS)

    def _of_retrieval(self, name: str, retrieval: Retrieval, columns: tuple[str, ...]) -> pd.DataFrame:
        rows = (row for row in self.files.rows(f"frames/{name}.jsonl") if row["retrieval"] == retrieval.uuid)
        return frame_of(rows, columns)

    def sibling(self, slug: str) -> Source:
        if slug not in self.sibling_sources:
            known = ", ".join(self.sibling_sources) or "none"
            raise ValueError(f"no release of {slug!r} is given with that of {self.slug} (--beside); given: {known}")
        return self.sibling_sources[slug]

    def siblings(self) -> dict[str, str]:
        return {slug: source.title for slug, source in self.sibling_sources.items()}

    def content(self, kind: str) -> pd.DataFrame:
        return self._frame(f"content/{kind}", content_columns(kind))


def instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _columns(numbers: str, objects: str) -> dict[str, array | list]:
    """Empty columns by name; whole numbers take the least room."""
    return {name: array("q") for name in numbers.split()} | {name: [] for name in objects.split()}


def _microseconds(text: str | None) -> int:
    """Since 1970, as numpy counts them."""
    if not text:
        return NO_TIME
    passed = datetime.fromisoformat(text) - EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def _moments(microseconds: Iterable[int]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(np.array(microseconds, dtype=np.int64).view("M8[us]")).tz_localize("UTC")


def _table(rows: list[tuple], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame.from_records(rows, columns=list(columns))


def frame_of(rows: Iterable[dict], columns: tuple[str, ...]) -> pd.DataFrame:
    """A frame of objects; what an object does not name is None. By column, with one object per text: there may be many
    rows, and keys stand in several columns."""
    values: dict[str, list] = {name: [] for name in columns}
    texts: dict[str, str] = {}
    for row in rows:
        for name, column in values.items():
            value = row.get(name)
            column.append(texts.setdefault(value, value) if type(value) is str else value)
    return pd.DataFrame(values) if values[columns[0]] else _table([], columns)
