"""Checker runs: starting one, working through its chunks, choosing the one that annotators see.

A chunk's suggestions, scores and failures are stored in one transaction with the chunk's own state. So a chunk either
is done with all of its results or has none, and plain inserts under unique constraints are right: were one ever to
clash, that would be a bug to hear about.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.models import CheckerRun, Chunk, Item, Job, Project, RunFailure, Score, Suggestion, Unit, User
from annotation.queries.suggestions import summary
from annotation.services import jobs
from annotation.services.checker_inputs import checker_inputs, label_spaces, readable_kinds
from annotation.task_types import TaskType
from annotation.task_types import task_type as known_task_type
from models_runtime import registry
from models_runtime.contracts import (
    Checker,
    CheckerError,
    CheckerInfo,
    CheckerInput,
    LabelSpace,
    Prediction,
    PredictionError,
)
from models_runtime.failures import is_interruption

CHUNK_SIZE = 256
# A checker gets this many inputs at once to begin with. Many at once go faster, and cancelling takes effect in between,
# so the number grows while it takes less than the first of these times in seconds, and shrinks above the second.
SLICE_SIZE = 32
SLICE_SECONDS = (1.0, 4.0)
QUEUES = {"cpu": "cpu", "gpu": "gpu", "server": "llm"}
# What must be the same in every worker of a run, or its suggestions would not be one checker's.
IDENTITY = ("checker", "version", "model", "revision", "parameters")


class RunError(Exception):
    """The run cannot be started; the message is for the person who asked."""


class SameRun(RunError):
    """There is a run of the same checker, version, parameters and units that is done or on its way."""

    def __init__(self, run: CheckerRun) -> None:
        self.run = run
        super().__init__(f"The same run exists already, {run.job.state}, of {run.created_at:%Y-%m-%d %H:%M} UTC")


def start_run(
    project: Project,
    user: User,
    checker: str,
    parameters: Mapping[str, Any] | None = None,
    queue: str | None = None,
    *,
    again: bool = False,
    wake_workers: bool = True,
) -> CheckerRun:
    """A run of `checker` over the units of the project's items, on its way.

    Raises RunError (a checker that does not fit the task type, no units), ParameterError (by name) and, unless `again`,
    SameRun with the run to reuse. What only the worker can know, such as a missing model, fails the job.
    """
    task_type = known_task_type(project.task_type)
    info = checker_info(task_type, checker)
    complete = registry.complete_parameters(info, parameters or {})
    if project.state == Project.State.PREPARING:
        raise RunError("The project's items are still being made")
    unit_ids = list(run_units(project, task_type).values_list("pk", flat=True))
    if not unit_ids:
        raise RunError("The project has no units to judge")
    digest = hashlib.sha256(json.dumps(complete, sort_keys=True).encode()).hexdigest()
    units_digest = hashlib.sha256(",".join(map(str, unit_ids)).encode()).hexdigest()
    with transaction.atomic():
        # Two people who press the button at once get one run.
        Project.objects.select_for_update().get(pk=project.pk)
        if not again and (same := _same_run(project, info, digest, units_digest)):
            raise SameRun(same)
        job = jobs.create_job(
            Job.Kind.CHECKER_RUN,
            user,
            project=project,
            queue=queue or QUEUES[info.needs],
            chunks=_chunks(unit_ids),
            parameters={"units": len(unit_ids), "units_sha256": units_digest},
            wake_workers=wake_workers,
        )
        return CheckerRun.objects.create(
            project=project,
            job=job,
            checker=info.slug,
            version=info.version,
            parameters=complete,
            parameters_hash=digest,
            created_by=user,
        )


def checker_info(task_type: TaskType, checker: str) -> CheckerInfo:
    """The registry's entry, if the task type lets that checker suggest; RunError otherwise."""
    if checker not in task_type.checkers:
        raise RunError(
            f"{task_type.title} has no checker {checker!r}; it has {', '.join(task_type.checkers) or 'none'}"
        )
    info = registry.get_info(checker)
    if task_type.unit_kind not in readable_kinds():
        raise RunError(f"Checkers cannot judge units of the kind {task_type.unit_kind}")
    unknown = [space.dimension for space in label_spaces(task_type) if space.role not in info.roles]
    if unknown:
        raise RunError(f"{info.title} does not answer {', '.join(unknown)}")
    return info


def run_units(project: Project, task_type: TaskType):
    """The units of the project's items, each once, in a fixed order; what was replaced or withdrawn is left out."""
    return (
        Unit.objects.published()
        .filter(
            kind=task_type.unit_kind,
            item_units__item__project=project,
            item_units__item__state__in=[Item.State.ACTIVE, Item.State.STUCK],
        )
        .distinct()
        .order_by("pk")
    )


def _chunks(unit_ids: list[int]) -> Iterator[tuple[dict, int]]:
    for start in range(0, len(unit_ids), CHUNK_SIZE):
        part = unit_ids[start : start + CHUNK_SIZE]
        yield {"units": part}, len(part)


def _same_run(project: Project, info: CheckerInfo, digest: str, units_digest: str) -> CheckerRun | None:
    return (
        CheckerRun.objects.filter(
            project=project,
            checker=info.slug,
            version=info.version,
            parameters_hash=digest,
            job__parameters__units_sha256=units_digest,
            job__state__in=[*jobs.UNFINISHED, Job.State.DONE],
        )
        .select_related("job")
        .order_by("-pk")
        .first()
    )


def retry_failures(run: CheckerRun, *, include_permanent: bool = False) -> int:
    """Try the inputs again that failed, of a run that is done; those that would fail again only on request.

    The number of inputs; 0 also when the run is not done. A failure stays on record until its input has an answer.
    """
    failures = run.failures.order_by("unit_id")
    if not include_permanent:
        failures = failures.filter(is_permanent=False)
    unit_ids = list(failures.values_list("unit_id", flat=True))
    if not unit_ids or not jobs.add_chunks(run.job, _chunks(unit_ids)):
        return 0
    return len(unit_ids)


def show_to_annotators(run: CheckerRun) -> None:
    """Make this run's suggestions the ones that the project's annotators are shown, under its prefill policy."""
    if run.job.state != Job.State.DONE:
        raise RunError("Only a run that is done can be shown to annotators")
    Project.objects.filter(pk=run.project_id).update(prefill_run=run, label_version=F("label_version") + 1)


class CheckerRunHandler:
    """Works through a run's job; see `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: jobs.Lease) -> None:
        run = CheckerRun.objects.select_related("project").get(job_id=chunk.job_id)
        task_type = known_task_type(run.project.task_type)
        spaces = label_spaces(task_type)
        checker = _load(run, spaces)
        provenance = checker.describe()
        _check_identity(run, provenance)

        unit_ids: list[int] = chunk.payload["units"]
        inputs = checker_inputs(task_type.unit_kind, unit_ids)
        predictions = {
            int(prediction.id): _checked(prediction, spaces)
            for prediction in _predict(checker, list(inputs.values()), lease)
        }
        gone = PredictionError("withdrawn", "Its content was replaced or withdrawn after the run began", True)
        for unit_id in unit_ids:
            predictions.setdefault(unit_id, Prediction(str(unit_id), error=gone))

        with transaction.atomic():
            lease.complete()  # first, so that who lost the lease writes nothing at all
            _store_provenance(run, provenance)
            _store(run, predictions, spaces)

    def finish(self, job: Job, lease: jobs.Lease) -> dict:
        run = CheckerRun.objects.get(job=job)
        result = summary(run)
        with transaction.atomic():
            chosen = Project.objects.filter(pk=run.project_id, prefill_run=None).exclude(prefill=Project.Prefill.OFF)
            chosen.update(prefill_run=run)
            _raise_label_version(run)
        return result

    def clean_up(self, job: Job) -> None:
        """What was stored stays, and the run goes on from there when it is resumed."""
        _raise_label_version(CheckerRun.objects.get(job=job))


HANDLER = CheckerRunHandler()


def _raise_label_version(run: CheckerRun) -> None:
    Project.objects.filter(pk=run.project_id).update(label_version=F("label_version") + 1)


def _load(run: CheckerRun, spaces: tuple[LabelSpace, ...]) -> Checker:
    try:
        version = registry.get_info(run.checker).version
        if version != run.version:
            raise jobs.JobError(f"This run began with version {run.version} of {run.checker}; here is {version}")
        return registry.load(run.checker, spaces, run.parameters)
    except CheckerError as error:
        raise jobs.JobError(str(error)) from error


def _check_identity(run: CheckerRun, provenance: dict) -> None:
    for name in IDENTITY:
        if run.provenance and run.provenance.get(name) != provenance.get(name):
            raise jobs.JobError(
                f"This run began with {name} {run.provenance.get(name)!r}, and this worker has {provenance.get(name)!r}"
            )


def _store_provenance(run: CheckerRun, provenance: dict) -> None:
    """The first worker's description, and beside it those of workers with another device or other libraries."""
    if provenance in (_without_others(run), *_other_workers(run)):
        return
    stored = CheckerRun.objects.select_for_update().get(pk=run.pk)
    if not stored.provenance:
        stored.provenance = dict(provenance)
    else:
        _check_identity(stored, provenance)
        if provenance in (_without_others(stored), *_other_workers(stored)):
            return
        stored.provenance["other_workers"] = [*_other_workers(stored), provenance]
    stored.save(update_fields=["provenance"])


def _other_workers(run: CheckerRun) -> list[dict]:
    return run.provenance.get("other_workers", [])


def _without_others(run: CheckerRun) -> dict:
    return {name: value for name, value in run.provenance.items() if name != "other_workers"}


def _predict(checker: Checker, inputs: list[CheckerInput], lease: jobs.Lease) -> Iterator[Prediction]:
    """Predictions for all inputs. Where a whole slice breaks, its inputs are tried one by one, and those that break
    again fail alone; a checker that breaks on every one of them is itself broken, and its error is raised."""
    answered, broken, start = 0, None, 0
    while start < len(inputs):
        size = _slice_sizes.get(lease.chunk.job_id, SLICE_SIZE)
        part = inputs[start : start + size]
        start += len(part)
        begun = time.monotonic()
        lease.beat()
        try:
            yield from _predict_slice(checker, part)
            answered += len(part)
        except Exception as error:
            if is_interruption(error):
                raise
            for item in part:
                lease.beat()
                try:
                    yield from _predict_slice(checker, [item])
                    answered += 1
                except Exception as own_error:
                    if is_interruption(own_error):
                        raise
                    broken = own_error
                    yield Prediction(item.id, error=PredictionError("checker-broke", _told(own_error), False))
        if len(part) == size:
            _slice_sizes[lease.chunk.job_id] = _next_size(size, time.monotonic() - begun)
    lease.beat()
    if broken is not None and not answered:
        raise broken


# Per job, what its inputs allow on this machine; a worker process meets few jobs in its life.
_slice_sizes: dict[int, int] = {}


def _next_size(size: int, seconds: float) -> int:
    quick, slow = SLICE_SECONDS
    if seconds < quick:
        return min(size * 2, max(CHUNK_SIZE, 1))
    return max(size // 2, 1) if seconds > slow else size


def _predict_slice(checker: Checker, part: list[CheckerInput]) -> list[Prediction]:
    predictions = checker.predict(part)
    if [prediction.id for prediction in predictions] != [item.id for item in part]:
        raise ValueError(f"{len(part)} inputs went in, and other ones came out")
    return predictions


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]


def _checked(prediction: Prediction, spaces: tuple[LabelSpace, ...]) -> Prediction:
    """The prediction, or its failure if it says what the task type does not know or what no database stores."""
    if prediction.error:
        return prediction
    values = {space.dimension: space.values for space in spaces}
    for dimension, answer in prediction.labels.items():
        if answer.label not in values.get(dimension, ()):
            return _invalid(prediction, f"{dimension} has no label {answer.label!r}")
        if not all(map(math.isfinite, [answer.probability, *answer.probabilities.values()])):
            return _invalid(prediction, f"a probability of {dimension} is not finite")
    for name, value in prediction.scores.items():
        if value is not None and not math.isfinite(value):
            return _invalid(prediction, f"the score {name} is {value}")
    return prediction


def _invalid(prediction: Prediction, message: str) -> Prediction:
    return Prediction(prediction.id, error=PredictionError("invalid-answer", message, True))


def _store(run: CheckerRun, predictions: Mapping[int, Prediction], spaces: tuple[LabelSpace, ...]) -> None:
    # Those of an earlier attempt, where failed inputs are tried again.
    RunFailure.objects.filter(run=run, unit_id__in=list(predictions)).delete()
    RunFailure.objects.bulk_create(
        RunFailure(
            run=run,
            unit_id=unit_id,
            reason=prediction.error.reason[:80],
            message=_storable(prediction.error.message)[:2000],
            is_permanent=prediction.error.permanent,
        )
        for unit_id, prediction in predictions.items()
        if prediction.error
    )
    answered = {unit_id: prediction for unit_id, prediction in predictions.items() if not prediction.error}
    Suggestion.objects.bulk_create(_suggestions(run, answered, spaces))
    Score.objects.bulk_create(
        Score(run=run, unit_id=unit_id, name=name, value=value)
        for unit_id, prediction in answered.items()
        for name, value in prediction.scores.items()
    )


def _suggestions(
    run: CheckerRun, answered: Mapping[int, Prediction], spaces: tuple[LabelSpace, ...]
) -> Iterable[Suggestion]:
    for unit_id, prediction in answered.items():
        owner = _owner_of_spans(prediction, spaces)
        for dimension, answer in prediction.labels.items():
            yield Suggestion(
                run=run,
                unit_id=unit_id,
                dimension=dimension,
                label=answer.label,
                probability=answer.probability,
                probabilities=dict(answer.probabilities),
                spans=[
                    {
                        "field": span.field,
                        "start": span.start,
                        "end": span.end,
                        "quote": span.quote,
                        "score": span.score if math.isfinite(span.score) else None,
                    }
                    for span in prediction.spans
                    if dimension == owner
                ],
            )


def _owner_of_spans(prediction: Prediction, spaces: tuple[LabelSpace, ...]) -> str | None:
    """The dimension that a prediction's spans are kept with: the one with a span rule, else the last one answered."""
    answered = [space for space in spaces if space.dimension in prediction.labels]
    ruled = [space for space in answered if space.span_field] or answered
    return ruled[-1].dimension if ruled else None


def _storable(text: str) -> str:
    """Without NUL and lone surrogates, which PostgreSQL refuses; messages quote the text that failed."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
