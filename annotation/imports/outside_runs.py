"""Scores and labels that checkers gave elsewhere: each checker of a file becomes a run that never ran here.

Its checker is called `outside:NAME`, which no checker of Assay can be. The same content twice is one run. Other content
is a new run, with the next version if none is given; under a given version and parameters it is refused,
unless it is said to be a new run all the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.bulk import batches, bulk_insert
from annotation.formats.content.assay import cells_of_span
from annotation.formats.names import OUTSIDE
from annotation.formats.records import DecisionRecord, ScoreRecord, SpanRecord, SuggestionRecord
from annotation.imports.labels import PART, LabelCheck
from annotation.imports.stored_labels import Journal
from annotation.jobs.lifecycle import JobError
from annotation.models import CheckerRun, ItemUnit, Job, Project, Score, Suggestion, User
from annotation.task_types import Dimension

REFUSE = "refuse"  # other content under an identity that there is
BATCH = 5_000
NAME_CHARS = CheckerRun._meta.get_field("checker").max_length - len(OUTSIDE)


@dataclass(slots=True)
class OutsideDone:
    runs: int = 0  # new
    runs_unchanged: int = 0


# What comes with labels, each by place: probability, probability of every label, explanation, spans.
Details = tuple[dict, dict, dict, dict] | tuple[()]
NO_DETAILS = (None, {}, "", [])


@dataclass(frozen=True, slots=True)
class _Gathered:
    values: dict[tuple[str, str], dict]  # (checker, what it gives) -> place -> value
    # Checker -> place -> probability of its label, and of each label; its explanation, and its spans
    sure: dict[str, dict]
    spread: dict[str, dict]
    reasons: dict[str, dict]
    marked: dict[str, dict]

    @classmethod
    def of(cls, records: Iterable) -> _Gathered:
        found = cls(*(defaultdict(dict) for _ in range(5)))
        for record in records:
            if isinstance(record, ScoreRecord):
                found.values[record.checker, "scores"][record.unit, ""] = record.value
            elif isinstance(record, SuggestionRecord):
                found.values[record.checker, "labels"][record.unit, record.dimension] = record.label
                if record.probability is not None:
                    found.sure[record.checker][record.unit, record.dimension] = record.probability
                if record.probabilities:
                    found.spread[record.checker][record.unit, record.dimension] = record.probabilities
                if record.explanation:
                    found.reasons[record.checker][record.unit, record.dimension] = record.explanation
                if record.spans:
                    found.marked[record.checker][record.unit, record.dimension] = record.spans
        return found

    def details(self, checker: str, gives: str) -> Details:
        if gives != "labels":
            return ()
        return self.sure[checker], self.spread[checker], self.reasons[checker], _cells(self.marked[checker])


def refuse_others(project: Project, records: Callable[[], Iterable], checkers: Mapping[str, Mapping]) -> None:
    """Before anything is stored: JobError as `bring_in` raises it for other content under a version that is given. The
    file is read for it only where there is such a run."""
    known = {
        checker: described
        for checker, described in checkers.items()
        if described.get("version")
        and project.checker_runs.filter(checker=f"{OUTSIDE}{checker}", version=described["version"]).exists()
    }
    if known:
        gathered = _Gathered.of(one for one in records() if getattr(one, "checker", None) in known)
        for (checker, gives), values in gathered.values.items():
            digest = _digest(gives, values, gathered.details(checker, gives))
            _has_run(project, checker, gives, digest, **known[checker])


def bring_in(
    project: Project,
    records: Iterable,
    user: User,
    guard: Callable[[], None] = lambda: None,
    beat: Callable[[], None] = lambda: None,
    leaves_out: bool = False,
    checkers: Mapping[str, Mapping] | None = None,
    journal: Journal | None = None,
) -> OutsideDone:
    """Store the scores and suggestions among `records`, a run per checker, each in one transaction. JobError for a unit
    that the project does not have, for labels that its questions do not have and for spans that are not in its texts,
    unless these are left out."""
    gathered = _Gathered.of(records)
    gathered_values = gathered.values
    if not gathered_values:
        return OutsideDone()
    units = units_by_key(project)
    known = {dimension.slug: dimension for dimension in project.type.dimensions}
    if leaves_out:
        for values in gathered_values.values():
            for place in [place for place, value in values.items() if _problem(place, value, units, known)]:
                del values[place]
    for (checker, _), values in gathered_values.items():
        if len(checker) > NAME_CHARS:
            raise JobError(f"{checker}: the name of a checker has at most {NAME_CHARS} characters")
        for place, value in values.items():
            if problem := _problem(place, value, units, known):
                raise JobError(f"{checker} says {value} of {place[0]}: {problem}")
    for checker, spans in gathered.marked.items():
        _hold_against_texts(project, checker, gathered_values[checker, "labels"], spans, leaves_out)
    done = OutsideDone()
    for (checker, gives), values in sorted(gathered_values.items()):
        beat()
        with transaction.atomic():
            guard()
            details = gathered.details(checker, gives)
            run = _store(project, user, checker, gives, values, units, details, **(checkers or {}).get(checker, {}))
            if run is not None:
                done.runs += 1
                if journal is not None:
                    journal.note(runs=[run.pk])
            else:
                done.runs_unchanged += 1
    return done


def _hold_against_texts(
    project: Project, checker: str, labels: dict, spans: Mapping[tuple, tuple[SpanRecord, ...]], leaves_out: bool
) -> None:
    """The spans are held against the texts as those of decisions are. Where they are not there, the label goes too."""
    check = LabelCheck(project.type, piece_set=project.piece_set)
    records = [DecisionRecord(*place, labels[place], spans=own) for place, own in spans.items() if place in labels]
    if leaves_out:
        kept = {(one.unit, one.dimension) for one in check.sound(records, project.dataset)}
        for record in records:
            if (record.unit, record.dimension) not in kept:
                del labels[record.unit, record.dimension]
        return
    for part in batches(records, PART):
        for column, value, reason in check.problems(part, project.dataset, None):
            raise JobError(f"{checker}, {column} {value}: {reason}")


def _cells(spans: Mapping[tuple, tuple[SpanRecord, ...]]) -> dict:
    return {place: [cells_of_span(span) for span in own] for place, own in spans.items()}


def units_by_key(project: Project) -> dict[str, int]:
    """The project's units by their keys; of a text that was replaced, the newest version."""
    rows = ItemUnit.objects.filter(item__project=project).order_by("unit__version")
    return dict(rows.values_list("unit__key", "unit_id").iterator(chunk_size=10_000))


def units_of_items(project: Project) -> dict[str, list[int]]:
    """The units of each item that has others than itself, by the item's key: what a score of a whole answer is of."""
    rows = ItemUnit.objects.filter(item__project=project).exclude(unit=F("item__anchor"))
    found: dict[str, list[int]] = {}
    for key, unit in rows.order_by("item_id", "index").values_list("item__key", "unit_id").iterator(chunk_size=10_000):
        found.setdefault(key, []).append(unit)
    return found


def _problem(place: tuple[str, str], value: object, units: dict[str, int], known: dict[str, Dimension]) -> str:
    unit, dimension = place
    if unit not in units:
        return "the project has no such unit"
    is_answer = not dimension or (dimension in known and known[dimension].takes(str(value)))
    return "" if is_answer else f"{dimension} has no such label"


def _digest(gives: str, values: dict, details: Details) -> str:
    content = sorted(
        ([*place, value, *filter(None, [detail.get(place) for detail in details])] for place, value in values.items()),
        key=lambda one: one[:2],
    )
    return hashlib.sha256(json.dumps([gives, content], sort_keys=True).encode()).hexdigest()


def _has_run(
    project: Project,
    checker: str,
    gives: str,
    digest: str,
    version: str = "",
    parameters: Mapping | None = None,
    existing: str = REFUSE,
) -> bool:
    """Whether a run has this content. JobError if one has other content under the checker's given version and
    parameters."""
    earlier = project.checker_runs.filter(checker=f"{OUTSIDE}{checker}", **({"version": version} if version else {}))
    known = earlier.filter(origin__sha256=digest).values_list("parameters", flat=True)
    if any(parameters is None or before == parameters for before in known):
        return True
    others = earlier.filter(origin__gives=gives).values_list("parameters", flat=True)
    if version and existing == REFUSE and (parameters or {}) in list(others):
        raise JobError(
            f"There is a run of {checker} {version} with these parameters and other {gives}; give another version, or "
            'say "existing": "new" of it under "checkers" in the file of the mapping'
        )
    return False


def _store(
    project: Project,
    user: User,
    checker: str,
    gives: str,
    values: dict,
    units: dict[str, int],
    details: Details,
    version: str = "",
    parameters: Mapping | None = None,
    existing: str = REFUSE,
) -> CheckerRun | None:
    """The new run; None where there is one with this content."""
    digest, name = _digest(gives, values, details), f"{OUTSIDE}{checker}"
    if _has_run(project, checker, gives, digest, version, parameters, existing):
        return None
    run = CheckerRun.objects.create(
        project=project,
        job=Job.objects.create(
            kind=Job.Kind.CHECKER_RUN,
            state=Job.State.DONE,
            project=project,
            created_by=user,
            result={"scores": [checker]} if gives == "scores" else {},
            progress_done=len({unit for unit, *_ in values}),
            progress_total=len({unit for unit, *_ in values}),
            finished_at=timezone.now(),
        ),
        checker=name,
        version=version or str(project.checker_runs.filter(checker=name).count() + 1),
        parameters=dict(parameters or {}),
        parameters_hash="",  # so that no other run is taken for the same
        origin={"outside": checker, "sha256": digest, "gives": gives},
        created_by=user,
    )
    rows = [(run.pk, units[unit], *rest) for (unit, *rest) in _columns(checker, gives, values, details)]
    model, columns = Score, ["name", "value"]
    if gives == "labels":
        model, columns = Suggestion, ["dimension", "label", "probability", "probabilities", "explanation", "spans"]
    for start in range(0, len(rows), BATCH):
        bulk_insert(model, rows[start : start + BATCH], ["run_id", "unit_id", *columns])
    return run


def _columns(checker: str, gives: str, values: dict, details: Details) -> list[tuple]:
    if gives == "scores":
        return [(unit, checker, value) for (unit, _), value in sorted(values.items())]
    columns = [*zip(details, NO_DETAILS, strict=True)]
    return [
        (*place, label, *(detail.get(place, none) for detail, none in columns))
        for place, label in sorted(values.items())
    ]
