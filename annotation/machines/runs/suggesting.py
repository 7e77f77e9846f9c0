"""Checker runs: starting one, working through its chunks, choosing the one that annotators see.

A chunk's suggestions, scores and failures are stored in one transaction with the chunk's own state. So a chunk either
is done with all of its results or has none, and plain inserts under unique constraints are right: were one ever to
clash, that would be a bug to hear about. Where a run is stopped in the middle of a chunk (its server refuses everything
or wants a pause, its limit is reached, a person cancels), what servers were paid for is stored in one transaction with
the chunk without those units; the large chunks of a GPU are stored in such parts all the time.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.jobs import lifecycle
from annotation.machines.runs import predicting, reuse, starting, storing, workers
from annotation.machines.runs.checker_inputs import checker_inputs, label_spaces, reader_of, why_not
from annotation.machines.runs.gathering import gather
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.limits import why_not as why_no_limits
from annotation.machines.runs.queries.suggestions import asked_anyway, summary
from annotation.machines.runs.retrieved import RETRIEVED, RetrievedPassages
from annotation.machines.runs.retrieved import why_not as why_not_retrieved
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.starting import SameRun as SameRun
from annotation.machines.runs.workers import CALIBRATION, REUSED_FROM
from annotation.machines.training import trained_models
from annotation.models import CheckerRun, Chunk, Item, Job, Project, RetrievalRun, Unit, User
from annotation.projects.prefill import scorers
from annotation.task_types import TaskType
from models_runtime import registry
from models_runtime.contracts import Checker, CheckerInfo, LabelSpace, Prediction, PredictionError

CHUNK_SIZE = 256
# On the queue of GPUs, which are quick where they get thousands of inputs; answers are stored in parts (`gathering`).
CHUNK_SIZE_ON_GPU = 8192
# Whose units are judged.
JUDGED = (Item.State.ACTIVE, Item.State.STUCK, Item.State.APART)  # a check has suggestions as work has
# What must be the same in every worker of a run, or its suggestions would not be one checker's.
IDENTITY = ("checker", "version", "model", "revision", "parameters", "options")


def start_run(
    project: Project,
    user: User,
    checker: str,
    parameters: Mapping[str, Any] | None = None,
    queue: str | None = None,
    *,
    again: bool = False,
    limits: CostLimits | None = None,
    only: Collection[int] | None = None,
    retrieved: RetrievedPassages | None = None,
    noted: Mapping[str, Any] | None = None,
    wake_workers: bool = True,
) -> CheckerRun:
    """A run of `checker` over the units of the project's items, on its way.

    Where an earlier run of the same checker has the answer to the same question about the same texts, it is taken over
    from there, unless `again`. Raises RunError (a checker that does not fit the task type, no units), ParameterError
    (by name) and, unless `again`, SameRun with the run to reuse. `queue` is one of `queues_of`, the first if not given.
    What only the worker can know, such as a missing model, fails the job. `only` are the units that are judged,
    of those of the items; `retrieved` are the passages that they are judged by, where a page shows none; `noted` is
    kept with the job, and `calibration` of it in the provenance.
    """
    task_type = project.type
    info = checker_info(task_type, checker, retrieved=retrieved is not None)
    if retrieved and (reason := why_not_retrieved(retrieved, project, user)):
        raise RunError(reason)
    if reason := registry.not_configured(info.slug):
        raise RunError(reason)
    complete, limits = registry.complete_parameters(info, parameters or {}), limits or CostLimits()
    if reason := trained_models.why_not(project, info, complete) or why_no_limits(limits, complete):
        raise RunError(reason)
    if project.is_preparing:
        raise RunError(project.why_not_ready)
    unit_keys = dict(run_units(project, task_type).values_list("pk", "key"))
    if only is not None:
        unit_keys = {pk: key for pk, key in unit_keys.items() if pk in only}
    unit_ids = list(unit_keys)
    if not unit_ids:
        raise RunError("The project has no units to judge")
    anyway = asked_anyway(project, task_type)
    asked = [",".join(map(str, unit_ids)), repr(asked_of(info, task_type, anyway))]
    if retrieved:
        asked.append(json.dumps(retrieved.as_json()))
    run = CheckerRun(project=project, checker=info.slug, version=info.version, parameters=complete, created_by=user)
    queue = starting.chosen_queue(info, queue)
    return starting.store_run(
        run,
        Job.Kind.CHECKER_RUN,
        queue=queue,
        chunks=_chunks(unit_ids, queue),
        asked={"units_sha256": hashlib.sha256("\n".join(asked).encode()).hexdigest()},
        noted={
            "units": len(unit_ids),
            "sample": storing.sample_of(unit_keys),
            "reuse": not again,
            "asked_anyway": anyway,
        }
        | limits.noted()
        | ({RETRIEVED: retrieved.as_json()} if retrieved else {})
        | dict(noted or {}),
        again=again,
        wake_workers=wake_workers,
    )


def start_by_retrievals(
    project: Project,
    user: User,
    checker: str,
    retrievals: Sequence[RetrievalRun],
    first: int,
    parameters: Mapping[str, Any] | None = None,
    queue: str | None = None,
    **options: Any,
) -> list[CheckerRun]:
    """A run for each of these retrievals, by its first passages; those that there are already included. SameRun where
    there is one retrieval, and its run."""
    found = []
    for retrieval in retrievals:
        retrieved = RetrievedPassages(str(retrieval.uuid), first)
        try:
            found.append(start_run(project, user, checker, parameters, queue, retrieved=retrieved, **options))
        except SameRun as same:
            if len(retrievals) == 1:
                raise
            found.append(same.run)
    return found


def checkers_of(task_type: TaskType, *, retrieved: bool = False) -> tuple[str, ...]:
    """The checkers that the task type names, and those from outside that answer all of its questions or only measure;
    none where no checker can be given what its pages show."""
    if why_not(task_type, retrieved=retrieved):
        return ()
    roles = {space.role for space in label_spaces(task_type)}
    added = (info.slug for info in registry.added() if info.gives_scores or roles <= set(info.roles))
    return (*task_type.checkers, *(slug for slug in added if slug not in task_type.checkers))


def checker_info(task_type: TaskType, checker: str, *, retrieved: bool = False) -> CheckerInfo:
    """The registry's entry, if that checker can be run for the task type; RunError otherwise."""
    if reason := why_not(task_type, retrieved=retrieved):
        raise RunError(reason)
    known = checkers_of(task_type, retrieved=retrieved)
    if checker not in known:
        raise RunError(f"{task_type.title} has no checker {checker!r}; it has {', '.join(known) or 'none'}")
    info = registry.get_info(checker)
    unknown = [space.dimension for space in asked_of(info, task_type) if space.role not in info.roles]
    if unknown:
        raise RunError(f"{info.title} does not answer {', '.join(unknown)}")
    return info


def asked_of(info: CheckerInfo, task_type: TaskType, anyway: Collection[str] = ()) -> tuple[LabelSpace, ...]:
    """The task type's questions, for a checker that answers them; none for one that gives scores only. Those `anyway`
    are asked whatever the answer is to the question that they depend on."""
    spaces = () if info.gives_scores else label_spaces(task_type)
    return tuple(replace(space, asked_when=None) if space.dimension in anyway else space for space in spaces)


def run_units(project: Project, task_type: TaskType):
    """The units of the project's items, each once, in a fixed order; what was replaced or withdrawn is left out."""
    return (
        Unit.objects.published()
        .filter(
            kind=task_type.unit_kind,
            item_units__item__project=project,
            item_units__item__state__in=JUDGED,
        )
        .distinct()
        .order_by("pk")
    )


def _chunks(unit_ids: list[int], queue: str) -> Iterator[tuple[dict, int]]:
    return starting.chunks_of("units", unit_ids, CHUNK_SIZE_ON_GPU if queue == "gpu" else CHUNK_SIZE)


def retry_failures(run: CheckerRun, *, include_permanent: bool = False) -> int:
    """See `starting.retry`."""
    chunks = functools.partial(_chunks, queue=run.job.queue)
    return starting.retry(run, "unit_id", chunks, include_permanent=include_permanent)


def show_to_annotators(run: CheckerRun) -> None:
    """Make this run's suggestions the ones that the project's annotators are shown, under its prefill policy."""
    if run.job.state != Job.State.DONE:
        raise RunError("Only a run that is done can be shown to annotators")
    if CALIBRATION in run.provenance:
        raise RunError("This run tried a prompt on a part of the items, so there is nothing to show on the others")
    if RETRIEVED in run.provenance:
        raise RunError("This run judged by passages that the pages of this project do not show")
    if run.checker in scorers():
        raise RunError(f"{run.checker} gives scores and no labels, so there is nothing to show to annotators")
    Project.objects.filter(pk=run.project_id).update(prefill_run=run, label_version=F("label_version") + 1)


class CheckerRunHandler:
    """Works through a run's job; see `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        run = CheckerRun.objects.select_related("project", "job").get(job_id=chunk.job_id)
        task_type = run.project.type
        info = workers.info_of(run.checker, run.version)
        anyway = run.job.parameters.get("asked_anyway", ())
        spaces = asked_of(info, task_type, anyway)
        checker = _load(run, spaces)
        provenance = workers.described(checker) | ({"asked_anyway": anyway} if anyway and spaces else {})
        if calibration := run.job.parameters.get(CALIBRATION):
            provenance[CALIBRATION] = calibration
        retrieved = RetrievedPassages.of(run)
        if retrieved:
            provenance[RETRIEVED] = retrieved.as_json()
        workers.check_identity(run.provenance, provenance, IDENTITY, run.parameters)

        unit_ids: list[int] = chunk.payload["units"]
        inputs = checker_inputs(task_type, unit_ids, with_origin=info.gives_scores, retrieved=retrieved)
        reader = reader_of(task_type)
        hashes = reuse.input_hashes(inputs, spaces, reader)
        known = reuse.find_answers(run, provenance, hashes) if run.job.parameters.get("reuse") else {}
        to_compute = inputs.keys() - {unit_id for found in known.values() for unit_id in found}
        sampled = set(run.job.parameters.get("sample", ()))

        stored: set[int] = set()

        def keep(found: dict[int, Prediction]) -> None:
            stored.update(found)
            with transaction.atomic():
                lease.keep({"units": [unit_id for unit_id in unit_ids if unit_id not in stored]}, len(found))
                _store_provenance(run, provenance, [])
                storing.store(run, found, spaces, reader, input_hashes=hashes, sampled=sampled)

        predictions = gather(
            run,
            checker,
            [item for unit_id, item in inputs.items() if unit_id in to_compute],
            lease,
            check=lambda prediction: predicting.checked(prediction, spaces),
            keep=keep if info.needs == "server" or run.job.queue == "gpu" else None,
            measures_time=info.needs != "server",
        )
        gone = PredictionError("withdrawn", "Its content was replaced or withdrawn after the run began", True)
        for unit_id in unit_ids:
            if unit_id not in inputs:
                predictions[unit_id] = Prediction(str(unit_id), error=gone)

        with transaction.atomic():
            lease.complete()  # first, so that who lost the lease writes nothing at all
            _store_provenance(run, provenance, list(known))
            for source, found in known.items():
                reuse.take_over(run, source, found, sampled)
            storing.store(run, predictions, spaces, reader, input_hashes=hashes, sampled=sampled)

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        run = CheckerRun.objects.get(job=job)
        result = summary(run)
        with transaction.atomic():
            chosen = Project.objects.filter(pk=run.project_id, prefill_run=None).exclude(prefill=Project.Prefill.OFF)
            if run.checker not in scorers() and not {CALIBRATION, RETRIEVED} & run.provenance.keys():
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
    trained_models.use_folder()
    with workers.final_errors():
        return registry.load(run.checker, spaces, run.parameters)


def _store_provenance(run: CheckerRun, provenance: dict, sources: list[CheckerRun]) -> None:
    """The descriptions of this run's workers, also of runs that answers were taken over from, and which runs those
    are."""
    described = [provenance, *(one for source in sources for one in workers.descriptions(source.provenance))]
    origins = {str(source.uuid) for source in sources}
    if _has_all(run, described, origins):
        return
    stored = CheckerRun.objects.select_for_update().get(pk=run.pk)
    workers.check_identity(stored.provenance, provenance, IDENTITY, stored.parameters)
    for description in described:
        workers.note_worker(stored.provenance, description)
    if origins:
        stored.provenance[REUSED_FROM] = sorted(origins | set(stored.provenance.get(REUSED_FROM, [])))
    stored.save(update_fields=["provenance"])


def _has_all(run: CheckerRun, described: list[dict], origins: set[str]) -> bool:
    known = workers.descriptions(run.provenance)
    return all(one in known for one in described) and origins <= set(run.provenance.get(REUSED_FROM, []))
