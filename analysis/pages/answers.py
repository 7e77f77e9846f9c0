"""All answers to a few items, revision by revision: now, or as a release's files have it. It takes as many
queries for many items as for few."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models.functions import Coalesce

from analysis.models import Release
from analysis.reports.common import FINAL
from analysis.sources.releases.archives import archive_path
from analysis.sources.releases.files import ANNOTATIONS, DECISIONS, Files, line_of
from annotation import models
from annotation.decisions.moments import decision_sets, sets_in_order
from annotation.formats.records import SPAN_VALUES, SpanRecord, span_of
from annotation.models import CheckerRun, Decision, Judgement, Project, Rater, Span


@dataclass(frozen=True)
class AnswerRevision:
    """One person's answer to one item at one time. `exposed` are the checkers whose suggestions they were shown
    there, None for one that is not known any more; `labels` by unit's key and dimension; `spans` by unit's key."""

    annotation: Hashable
    number: int
    rater: str
    name: str
    kind: str
    arm: str | None
    suggestion_shown: bool | None
    exposed: tuple[str | None, ...]
    submitted_at: datetime | None
    guideline_version: int | None
    received_at: datetime | None = None
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    spans: dict[str, list[SpanRecord]] = field(default_factory=dict)
    labels_seen: bool | None = None


def current_answers(project: Project, item_ids: Iterable[int], *, with_spans: bool = False) -> list[AnswerRevision]:
    """Every revision of the items' answers that are not surplus, three queries or, with spans, four."""
    checkers = {str(uuid): checker for uuid, checker in project.checker_runs.values_list("uuid", "checker")}
    rows = models.Revision.objects.filter(annotation__item__in=list(item_ids), annotation__is_surplus=False)
    revisions = {
        pk: AnswerRevision(
            annotation,
            number,
            *rater,
            arm or origin.get("arm"),
            shown,
            _exposed(exposure, at, checkers) or _exposed_before(origin),
            *when,
            labels_seen=seen,
        )
        for pk, seen, annotation, number, *rater, origin, arm, shown, exposure, at, submitted, version, received in (
            rows.values_list(
                "pk",
                "labels_seen",
                "annotation_id",
                "number",
                "annotation__rater__pseudonym",
                "annotation__rater__name",
                Coalesce("annotation__rater__origin_kind", "annotation__rater__kind"),
                "annotation__origin",
                "annotation__assignment__prefill_arm",
                "suggestion_shown",
                "annotation__assignment__exposure",
                "annotation__assignment__suggestions_shown_at",
                models.answered_at(),
                "guideline_version",
                "received_at",
            )
        )
        for when in ((submitted, version, received),)
    }
    judged = {}
    judgements = Judgement.objects.filter(revision__in=list(revisions))
    for pk, revision, unit, dimension, label in judgements.values_list(
        "pk", "revision_id", "unit__key", "dimension", "label"
    ):
        revisions[revision].labels.setdefault(unit, {})[dimension] = label
        judged[pk] = revisions[revision].spans, unit
    if with_spans:
        rows = Span.objects.filter(judgement__in=list(judged)).order_by("field", "start", "end")
        for judgement, *values in rows.values_list("judgement_id", *SPAN_VALUES):
            spans, unit = judged[judgement]
            spans.setdefault(unit, []).append(SpanRecord(*values))
    return list(revisions.values())


def _exposed(exposure: list[dict] | None, shown_at: datetime | None, checkers: dict[str, str]) -> tuple:
    return tuple(checkers.get(one.get("run")) for one in exposure or ()) if shown_at else ()


def _exposed_before(origin: dict) -> tuple:
    """The same of an answer that a release brought."""
    return tuple(one.get("checker") for one in origin.get("exposures", ()) if one.get("shown_at"))


def current_decisions(project: Project, method: str, unit_ids: Iterable[int]) -> dict[str, dict[str, str]]:
    """Unit's key -> dimension -> label; by the method `final` of the set that stands."""
    decisions: dict[str, dict[str, str]] = {}
    rows = Decision.objects.in_force().filter(project=project, unit__in=list(unit_ids))
    for name in _sets(method, decision_sets(project)):
        for unit, dimension, label in rows.of_set(name).values_list("unit__key", "dimension", "label"):
            decisions.setdefault(unit, {})[dimension] = label
    return decisions


def _sets(method: str, known: Iterable[str]) -> list[str]:
    """Those of one name, or all for `final`, the one that stands last."""
    return sets_in_order(list(known))[::-1] if method == FINAL else [method]


class Frozen:
    """The same from a release's files, which were compared with their hashes when its figures were computed; names of
    people, which files do not hold, are those that the project knows."""

    def __init__(self, release: Release):
        self.files, self.project = Files(archive_path(release)), release.project

    def revisions_of(self, items: set[str]) -> list[AnswerRevision]:
        """Every revision of answers to these items (keys) that are not surplus: one query."""
        if not items:
            return []
        of_items = _lines_with("item", items)
        lines = [
            line for line in self.files.rows(ANNOTATIONS, of_items) if line["item"] in items and not line["surplus"]
        ]
        answers = {(row["item"], row["rater"]): row for row in self.files.rows("frames/answers.jsonl", of_items)}
        people = Rater.objects.filter(project=self.project, pseudonym__in={line["annotator"] for line in lines})
        known = {row[0]: row for row in people.values_list("pseudonym", "name", "kind")}
        return [_revision(line, answers, known) for line in lines]

    def decided(self, method: str, units: set[str]) -> dict[str, dict[str, str]]:
        by_set: dict[str, dict[tuple[str, str], str]] = {}
        name = DECISIONS if DECISIONS in self.files else "frames/decisions.jsonl"
        for row in self.files.rows(name, _lines_with("unit", units)):
            if "unit_kind" in row or row["unit"] not in units:
                continue
            place, of_set = (row["unit"], row["dimension"]), by_set.setdefault(row["method"], {})
            of_set.pop(place, None)  # the newest comes last, and may be that it was withdrawn
            if row.get("label"):
                of_set[place] = row["label"]
        decisions: dict[str, dict[str, str]] = {}
        for set_name in _sets(method, by_set):
            for (unit, dimension), label in by_set.get(set_name, {}).items():
                decisions.setdefault(unit, {})[dimension] = label
        return decisions


def _lines_with(name: str, values: set[str]) -> re.Pattern[str]:
    """What a canonical line has where `name` is one of the values."""
    return re.compile(f'"{name}":(?:{"|".join(re.escape(line_of(value)) for value in sorted(values))})')


def _revision(line: dict, answers: dict[tuple[str, str], dict], known: dict[str, tuple]) -> AnswerRevision:
    place = line["item"], line["annotator"]
    answer = answers.get(place, {})
    labels: dict[str, dict[str, str]] = {}
    spans: dict[str, list[SpanRecord]] = {}
    for judgement in line["judgements"]:
        labels.setdefault(judgement["unit"], {})[judgement["dimension"]] = judgement["label"]
        for span in judgement["spans"]:
            spans.setdefault(judgement["unit"], []).append(span_of(span))
    submitted = line["submitted_at"]
    return AnswerRevision(
        place,
        line["revision"],
        *known.get(place[1], (place[1], place[1], Rater.Kind.EXTERNAL)),
        answer.get("arm"),
        line["suggestion_shown"],
        tuple(seen.get("checker") for seen in answer.get("exposures", ()) if seen.get("shown_at")),
        datetime.fromisoformat(submitted) if submitted else None,
        line["guideline_version"],
        None,
        labels,
        spans,
        line.get("labels_seen"),
    )


def runs_named(uuids: Iterable[str]) -> list[CheckerRun]:
    """The runs in this order; those that are gone are left out."""
    rows = {str(run.uuid): run for run in CheckerRun.objects.filter(uuid__in=list(uuids))}
    return [rows[uuid] for uuid in uuids if uuid in rows]
