"""A project as the database has it now: the only reader of labels, suggestions and scores for figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter

import pandas as pd
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Concat

from analysis.sources import base, database_rankings
from analysis.sources.base import Run, Source
from analysis.sources.blocks import CodeReader, FlagReader, StringReader, read_columns, renamed
from analysis.sources.content_rows import content_frame, content_parts
from analysis.sources.links import LINKS, OF_RESPONSE, ORIGINS
from analysis.sources.outline import GeneratorRun
from analysis.sources.project import AT_ONCE, ProjectOutline
from analysis.sources.rankings import Retrieval
from analysis.sources.splits import source_name
from annotation import incoming
from annotation.exports.queries import exported_skips
from annotation.formats.records import SHOWN_ORDER
from annotation.models import (
    Annotation,
    Assignment,
    CheckerRun,
    Decision,
    GenerationRun,
    GuidelineAcknowledgement,
    Item,
    ItemUnit,
    Judgement,
    KeyResult,
    Project,
    Rater,
    RetrievalRun,
    Revision,
    RunFailure,
    Score,
    Span,
    Suggestion,
    User,
    answered_at,
    opened_at,
)
from annotation.projects.options import OPTIONS_VERSION, named_version
from annotation.projects.preparing import refuse_preparing
from annotation.task_types import TaskType, configured, task_type

# The arm of an answer: its assignment's, or that in the release from which it was imported.
ARM = Coalesce("assignment__prefill_arm", KT("origin__arm"), output_field=CharField())

# What the set is called that a decision belongs to, as `annotation.models.set_name` says.
SET_NAME = Case(When(rule="", then=F("method")), default=Concat("method", Value(":"), "rule"), output_field=CharField())


LABEL_KINDS = dict.fromkeys(("dimension", "label", "rater"), CodeReader) | dict.fromkeys(
    ("suggestion_shown", "is_latest"), FlagReader
)


class DatabaseSource(ProjectOutline, Source):
    """NotReady for a project in preparation."""

    def __init__(self, project: Project, reader: User | None = None):
        refuse_preparing(project)
        super().__init__(project, reader)

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        origin = ORIGINS[unit_kind]
        columns = {"unit": "unit_id", "unit_key": "unit__key", "item": "item_id", "item_key": "item__key"}
        if origin.response:
            columns |= {name: f"{origin.response}__{path}" for name, path in OF_RESPONSE.items()}
        columns |= {"source": origin.source} if origin.source else {}
        # A path may serve several columns, which one query can give only once.
        several = {path for paths in (origin.cluster, *origin.links.values()) for path in paths}
        paths = list(dict.fromkeys([*columns.values(), *sorted(several)]))
        rows = ItemUnit.objects.filter(item__project=self.project).exclude(item__state__in=Item.LEFT_OUT)
        kinds = dict.fromkeys(set(paths) - {"unit_id", "item_id"}, StringReader)
        found = read_columns(rows, dict(zip(paths, paths, strict=True)), kinds)
        frame = pd.DataFrame({name: found[path] for name, path in columns.items()})
        frame["cluster"] = _first(found, origin.cluster)
        for link in LINKS:
            frame[link] = _first(found, origin.links[link]) if link in origin.links else None
        source = frame["source"].fillna("") if origin.source else pd.Series("", index=frame.index)
        frame["source"] = source.map({text: source_name(text) for text in source.unique()})
        frame = frame.reindex(columns=list(base.UNIT_COLUMNS))
        return frame.sort_values("unit_key", kind="stable", ignore_index=True)

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        paths = {
            "unit": "unit_id",
            "dimension": "dimension",
            "label": "label",
            "annotation": "revision__annotation_id",
            "number": "revision__number",
            "suggestion_shown": "revision__suggestion_shown",
            "rater": "revision__annotation__rater_id",
        }
        if every_revision:
            paths["is_latest"] = "revision__is_latest"
        rows = Judgement.objects.filter(
            revision__annotation__item__project=self.project, revision__annotation__is_surplus=False
        ).exclude(revision__annotation__item__state__in=Item.LEFT_OUT)
        if not every_revision:
            rows = rows.filter(revision__is_latest=True)
        labels = read_columns(rows, paths, LABEL_KINDS)
        if not every_revision:
            labels["is_latest"] = True
        kinds = {pk: kind for pk, (_, kind, *_) in self._raters.items()}
        labels["rater_kind"] = labels["rater"].map(kinds).astype("str")
        labels["rater"] = renamed(labels["rater"], {pk: pseudonym for pk, (pseudonym, *_) in self._raters.items()})
        labels = base.in_order(labels[list(base.LABEL_COLUMNS)], units, self.type)
        return labels.astype(dict.fromkeys(("dimension", "label", "rater"), "str"))

    def _pseudonyms(self, raters: pd.Series) -> pd.Series:
        """Of the database's numbers; texts also where there are none, so that frames of raters can be merged."""
        return raters.map({pk: pseudonym for pk, (pseudonym, *_) in self._raters.items()}).astype("str")

    def revision_frame(self) -> pd.DataFrame:
        rows = Revision.objects.filter(annotation__item__project=self.project, annotation__is_surplus=False)
        rows = rows.exclude(annotation__item__state__in=Item.LEFT_OUT)
        found = rows.values_list("annotation_id", "number", answered_at(), "guideline_version")
        columns = list(base.REVISION_COLUMNS)
        return pd.DataFrame.from_records(found.iterator(chunk_size=AT_ONCE), columns=columns)

    def answer_frame(self) -> pd.DataFrame:
        return self._answers.copy()

    @cached_property
    def _answers(self) -> pd.DataFrame:
        paths = {
            "annotation": "pk",
            "item": "item_id",
            "item_key": "item__key",
            "rater": "rater_id",
            "arm": ARM,
            "seconds": "revisions__active_ms",
            "shown_at": opened_at("revisions__"),
            "submitted_at": answered_at("revisions__"),
            "guideline_version": "revisions__guideline_version",
            "suggestion_shown": "revisions__suggestion_shown",
            "n_planned": "item__planned",
        }
        rows = Annotation.objects.filter(item__project=self.project, is_surplus=False, revisions__is_latest=True)
        rows = rows.exclude(item__state__in=Item.LEFT_OUT)
        found = rows.values_list(*paths.values()).iterator(chunk_size=AT_ONCE)
        frame = pd.DataFrame.from_records(found, columns=list(paths))
        frame["seconds"] = frame["seconds"].astype(float) / 1000
        frame["rater"] = self._pseudonyms(frame["rater"])
        frame = frame.sort_values(["item_key", "rater"], ignore_index=True)
        return frame[list(base.ANSWER_COLUMNS)]

    def asked_under(self) -> tuple[dict[int, int], dict[int, TaskType]]:
        if not self.project.options_version:
            return {}, {}
        plain, versions = task_type(self.task_type), self.project.options_versions.values_list("version", "options")
        rows = Revision.objects.filter(is_latest=True, annotation__item__project=self.project)
        rows = rows.filter(metadata__has_key=OPTIONS_VERSION).values_list("annotation_id", "metadata")
        named = {annotation: named_version(metadata) for annotation, metadata in rows.iterator(chunk_size=AT_ONCE)}
        return named, {0: plain} | {version: configured(plain, options) for version, options in versions}

    def shown_orders(self) -> dict[int, tuple[str, ...]]:
        if self.type.shuffled is None:
            return {}
        rows = Revision.objects.filter(is_latest=True, annotation__item__project=self.project)
        rows = rows.filter(metadata__has_key=SHOWN_ORDER).values_list("annotation_id", "metadata")
        return {annotation: tuple(metadata[SHOWN_ORDER]) for annotation, metadata in rows.iterator(chunk_size=AT_ONCE)}

    def labels_seen(self) -> set[int]:
        marked = Revision.objects.filter(labels_seen=True, annotation__item__project=self.project)
        return set(marked.filter(annotation__is_surplus=False).values_list("annotation_id", flat=True))

    def further(self) -> set[int]:
        return {pk for rows in self._further() for pk in rows.values_list("pk", flat=True)}

    def arms(self) -> pd.Series:
        """As the answers say, without reading the rest of them: the first figures of a large project wait for it."""
        known = Q(assignment__isnull=False) | Q(origin__arm__isnull=False)
        rows = Annotation.objects.filter(known, item__project=self.project, is_surplus=False)
        rows = rows.exclude(item__state__in=Item.LEFT_OUT)
        return read_columns(rows, {"annotation": "pk", "arm": ARM}, {"arm": CodeReader}).set_index("annotation")["arm"]

    def exposure_frame(self) -> pd.DataFrame:
        checkers = {
            str(uuid): checker
            for uuid, checker in CheckerRun.objects.filter(project=self.project).values_list("uuid", "checker")
        }
        rows = Annotation.objects.filter(item__project=self.project, is_surplus=False)
        rows = rows.exclude(Q(assignment__exposure=[]) | Q(assignment=None) | Q(item__state__in=Item.LEFT_OUT))
        columns = ("item__key", "rater__pseudonym", "pk", "assignment__exposure", "assignment__suggestions_shown_at")
        found = [
            (annotation, shown.get("run"), checkers.get(shown.get("run")), shown_at)
            for _, _, annotation, exposure, shown_at in sorted(rows.values_list(*columns), key=lambda row: row[:2])
            for shown in exposure
        ]
        brought = Annotation.objects.filter(item__project=self.project, is_surplus=False)
        brought = brought.filter(origin__exposures__isnull=False)
        brought = brought.exclude(item__state__in=Item.LEFT_OUT).values_list(*columns[:3], "origin")
        found += [
            (annotation, shown.get("run"), shown.get("checker"), shown.get("shown_at"))
            for _, _, annotation, origin in sorted(brought, key=lambda row: row[:2])
            for shown in origin["exposures"]
        ]
        frame = pd.DataFrame(found, columns=list(base.EXPOSURE_COLUMNS))
        frame["shown_at"] = pd.to_datetime(frame["shown_at"], utc=True)
        return frame

    def item_frame(self) -> pd.DataFrame:
        return self._items.copy()

    @cached_property
    def _items(self) -> pd.DataFrame:
        rows = Item.objects.filter(project=self.project).exclude(state__in=Item.LEFT_OUT)
        paths = {"item": "pk", "item_key": "key", "n_units": "unit_count", "n_planned": "planned"}
        paths["in_random_share"] = "is_multiple"
        found = rows.values_list(*paths.values()).iterator(chunk_size=AT_ONCE)
        frame = pd.DataFrame.from_records(found, columns=list(paths))
        # Few are asked for; counting them with the items would look at every assignment.
        extra = Assignment.objects.filter(item__project=self.project, reason=Assignment.Reason.EXTRA)
        n_extra = Counter(extra.values_list("item_id", flat=True))
        n_extra.update({item: n for item, n in rows.filter(extra_before__gt=0).values_list("pk", "extra_before")})
        frame["n_extra"] = [n_extra[item] for item in frame["item"].tolist()]
        return frame.sort_values("item_key", ignore_index=True)[list(base.ITEM_COLUMNS)]

    def items_without_units(self) -> int:
        return Item.objects.filter(project=self.project, unit_count=0).exclude(state__in=Item.LEFT_OUT).count()

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        rows = Span.objects.filter(
            judgement__revision__annotation__item__project=self.project,
            judgement__revision__annotation__is_surplus=False,
            judgement__revision__is_latest=True,
        ).exclude(judgement__revision__annotation__item__state=Item.State.APART)
        found = rows.values_list(
            "judgement__unit_id",
            "judgement__revision__annotation__rater_id",
            "judgement__dimension",
            "judgement__label",
            "field",
            "start",
            "end",
            "label",
            "severity",
        ).iterator(chunk_size=AT_ONCE)
        frame = pd.DataFrame.from_records(found, columns=list(base.SPAN_COLUMNS))
        frame["rater"] = self._pseudonyms(frame["rater"])
        return base.in_order(frame, units, self.type)

    @cached_property
    def _raters(self) -> dict[int, tuple[str, str, str, str]]:
        rows = Rater.objects.filter(project=self.project).annotate(kind_there=Coalesce("origin_kind", "kind"))
        rows = rows.values_list("pk", "pseudonym", "kind_there", "name", "group")
        return {pk: tuple(described) for pk, *described in rows}

    def rater_frame(self) -> pd.DataFrame:
        return self._rater_rows(self._raters[pk] for pk in self._labelling().values_list("pk", flat=True))

    def everybody(self) -> pd.DataFrame:
        excluded = Rater.objects.filter(project=self.project, is_excluded=True).values_list("pk", flat=True)
        return self._rater_rows(self._raters[pk] for pk in self._raters.keys() - set(excluded))

    @staticmethod
    def _rater_rows(rows: Iterable[tuple[str, str, str, str]]) -> pd.DataFrame:
        return pd.DataFrame.from_records(sorted(rows), columns=list(base.RATER_COLUMNS))

    def key_result_frame(self) -> pd.DataFrame:
        done = KeyResult.objects.filter(rater__project=self.project, rater__is_excluded=False)
        rows = done.values_list("rater__pseudonym", "item__key", *base.KEY_RESULT_COLUMNS[2:])
        frame = self._with_brought("key_results", list(rows), base.KEY_RESULT_COLUMNS)
        return frame.sort_values(["rater", "created_at", "item"], ignore_index=True)

    def skip_frame(self) -> pd.DataFrame:
        frame = self._with_brought("skips", exported_skips(self.project), base.SKIP_COLUMNS)
        return frame.sort_values(["item", "rater"], ignore_index=True)

    def _with_brought(self, name: str, rows: list[tuple], columns: tuple[str, ...]) -> pd.DataFrame:
        """With what a release said of its raters."""
        brought = self.project.raters.filter(origin__has_key=name)
        for rater, origin in brought.values_list("pseudonym", "origin"):
            for row in origin[name]:
                row |= {"rater": rater} | {key: incoming.instant(row[key]) for key in row if key.endswith("_at")}
                rows.append(tuple(map(row.get, columns)))
        return pd.DataFrame.from_records(rows, columns=list(columns))

    def decision_frame(self, method: str) -> pd.DataFrame:
        rows = (
            Decision.objects.in_force()
            .of_set(method)
            .filter(project=self.project, unit__kind=self.type.unit_kind)
            .exclude(label="")
        )
        return _by_key(rows.values_list("unit__key", "unit_id", "dimension", "label"), ("unit", "dimension", "label"))

    def unanswered_frame(self, method: str) -> pd.DataFrame:
        rows = Decision.objects.in_force().of_set(method).filter(project=self.project, label="")
        rows = rows.filter(unit__kind=self.type.unit_kind)
        return _by_key(rows.values_list("unit__key", "unit_id", "dimension"), ("unit", "dimension"))

    def acknowledgement_frame(self) -> pd.DataFrame:
        rows = GuidelineAcknowledgement.objects.filter(rater__project=self.project, rater__is_excluded=False)
        found = sorted(rows.values_list("rater__pseudonym", "version", "acknowledged_at"))
        return pd.DataFrame.from_records(found, columns=list(base.ACKNOWLEDGEMENT_COLUMNS))

    def decision_history(self) -> pd.DataFrame:
        paths = ("unit_id", "dimension", "set", "number", "label", "decided_by__pseudonym", *base.DECISION_COLUMNS[6:])
        rows = Decision.objects.filter(project=self.project, unit__kind=self.type.unit_kind)
        rows = rows.annotate(set=SET_NAME).values_list("unit__key", *paths)
        frame = pd.DataFrame.from_records(
            rows.iterator(chunk_size=AT_ONCE), columns=["key", *base.DECISION_COLUMNS], coerce_float=False
        )
        order = ["key", "dimension", "method", "number"]
        return frame.sort_values(order, kind="stable", ignore_index=True)[list(base.DECISION_COLUMNS)]

    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        rows = Suggestion.objects.filter(run_id=self._runs[run])
        found = rows.values_list("unit__key", "unit_id", "dimension", "label", "probability")
        return _by_key(found, base.SUGGESTION_COLUMNS).astype({"probability": float})

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        rows = Suggestion.objects.filter(run_id=self._runs[run], dimension=dimension)
        found = [
            (key, unit, [probabilities[label] for label in labels])
            for key, unit, probabilities in rows.values_list("unit__key", "unit_id", "probabilities").iterator(
                chunk_size=AT_ONCE
            )
            if probabilities and all(label in probabilities for label in labels)
        ]
        found.sort(key=lambda row: row[0])  # sums of numbers in another order end in another digit
        return pd.DataFrame(
            [row[2] for row in found], index=[row[1] for row in found], columns=list(labels), dtype=float
        )

    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        columns = ("unit", "dimension", "label", "probability", "probabilities", "spans", "explanation")
        rows = Suggestion.objects.filter(run_id=self._runs[run]).values_list("unit__key", "unit_id", *columns[1:])
        for row in sorted(rows.iterator(chunk_size=AT_ONCE), key=lambda row: (row[0], row[2])):
            found = dict(zip(columns, row[1:], strict=True))
            if not found["explanation"]:
                del found["explanation"]
            yield {name: value for name, value in found.items() if value not in (None, {}, [])}

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        rows = Score.objects.filter(run_id=self._runs[run], name=name)
        return _by_key(rows.values_list("unit__key", "unit_id", "value"), ("unit", "value")).astype({"value": float})

    def failure_frame(self, run: Run) -> pd.DataFrame:
        rows = RunFailure.objects.filter(run_id=self._runs[run])
        return _by_key(rows.values_list("unit__key", "unit_id", "reason"), ("unit", "reason"))

    def content(self, kind: str) -> pd.DataFrame:
        return content_frame(self.project.dataset_id, kind)

    def content_parts(self, kind: str) -> Iterator[pd.DataFrame]:
        return content_parts(self.project.dataset_id, kind)

    def anchors(self, items: list[int]) -> list[int]:
        rows = dict(Item.objects.filter(project=self.project).values_list("pk", "anchor_id"))
        return [rows[item] for item in items]

    def generations(self) -> list[GeneratorRun]:
        return database_rankings.finished_runs(
            self.project, GenerationRun, GeneratorRun, counts=attrgetter("job.result")
        )

    def retrievals(self) -> list[Retrieval]:
        return database_rankings.finished_runs(self.project, RetrievalRun, Retrieval)

    def query_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return database_rankings.query_frame(retrieval)

    def ranking_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return database_rankings.ranking_frame(retrieval)


def _by_key(rows: QuerySet, columns: tuple[str, ...]) -> pd.DataFrame:
    """Rows that begin with a unit's key, in the order of keys and dimensions, which no database's collation decides."""
    frame = pd.DataFrame.from_records(rows.iterator(chunk_size=AT_ONCE), columns=["key", *columns])
    order = ["key", "dimension"] if "dimension" in columns else ["key"]
    return frame.sort_values(order, kind="stable", ignore_index=True)[list(columns)]


def _first(found: pd.DataFrame, paths: tuple[str, ...]) -> pd.Series:
    """The first of these columns that a row has."""
    first, *others = paths
    column = found[first]
    for path in others:
        if (is_missing := column.isna()).any() and found[path].notna().any():
            column = found[path].where(is_missing, column)
    return column
