"""Extraction runs: starting one over the responses or questions of a project's data set, and trying failures again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from annotation.machines.drafts.extraction_job import read_sources
from annotation.machines.runs import starting, storing
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.limits import why_not as why_no_limits
from annotation.machines.runs.queries import costs
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.starting import SameRun as SameRun
from annotation.models import ExtractionRun, Job, Project, User
from annotation.projects.draft_kinds import DRAFT_KINDS, DraftKind, drafted_for, sources_in
from annotation.task_types import TaskType
from models_runtime import registry
from models_runtime.contracts import CheckerInfo

# Sources in one chunk, by what the extractor needs: a server's answers take long and cost, so less is done again.
CHUNK_SIZES = {"cpu": 256, "gpu": 256, "server": 32}


def extractors_for(task_type: TaskType) -> dict[str, CheckerInfo]:
    """By slug, what can propose pieces for a project of this type."""
    kind = drafted_for(task_type)
    found = (info for info in registry.list_infos() if kind and info.gives == "pieces" and kind.name in info.roles)
    return {info.slug: info for info in found}


def extractor_info(task_type: TaskType, extractor: str) -> CheckerInfo:
    """The registry's entry, if it proposes what the task type judges; RunError otherwise."""
    if drafted_for(task_type) is None:
        raise RunError(f"“{task_type.title}” does not judge pieces that extractors propose")
    known = extractors_for(task_type)
    if extractor not in known:
        raise RunError(f"“{task_type.title}” has no extractor {extractor!r}; it has {', '.join(known) or 'none'}")
    return known[extractor]


def start_extraction(
    project: Project,
    user: User,
    extractor: str,
    parameters: Mapping[str, Any] | None = None,
    queue: str | None = None,
    *,
    everything: bool = False,
    again: bool = False,
    limits: CostLimits | None = None,
    wake_workers: bool = True,
) -> ExtractionRun:
    """A run of `extractor` over the sources that have no pieces of the kind yet, or over all with `everything`.

    Raises RunError (no such extractor, nothing to take apart), ParameterError (by name) and, unless `again`,
    SameRun with the run that there is. `queue` is one of `queues_of`, the first if not given.
    """
    task_type = project.type
    info = extractor_info(task_type, extractor)
    kind = drafted_for(task_type)
    if reason := registry.not_configured(info.slug):
        raise RunError(reason)
    complete, limits = registry.complete_parameters(info, parameters or {}), limits or CostLimits()
    if reason := why_no_limits(limits, complete):
        raise RunError(reason)
    queue = starting.chosen_queue(info, queue)
    keys = dict(_sources(project, everything=everything).values_list("pk", "key"))
    if not keys:
        raise RunError(_why_none(project, task_type, kind))
    run = ExtractionRun(
        project=project,
        kind=kind.name,
        extractor=info.slug,
        version=info.version,
        parameters=complete,
        created_by=user,
    )
    return starting.store_run(
        run,
        Job.Kind.EXTRACTION,
        queue=queue,
        chunks=chunks_of(list(keys), info),
        asked={"sources_sha256": hashlib.sha256(",".join(map(str, keys)).encode()).hexdigest()},
        noted={"sources": len(keys), "sample": storing.sample_of(keys), "everything": everything} | limits.noted(),
        again=again,
        wake_workers=wake_workers,
    )


def estimate_of(
    project: Project, extractor: str, parameters: Mapping[str, Any] | None = None, *, everything: bool = False
) -> costs.RunEstimate | None:
    """What a run of an extractor with these parameters would cost; None where no server is asked, and where there is
    nothing to take apart. RunError where the project has no such extractor."""
    info, kind = extractor_info(project.type, extractor), drafted_for(project.type)
    ids = list(_sources(project, everything=everything).values_list("pk", flat=True))
    return costs.estimate_run(
        info,
        parameters,
        (len(ids), kind.source_one, kind.source_several),
        lambda: list(read_sources(kind, costs.evenly(ids)).values()),
        ExtractionRun.objects.filter(project=project, kind=kind.name, extractor=extractor),
        kind.name,
    )


def _sources(project: Project, *, everything: bool) -> QuerySet:
    without = None if everything else project.piece_set
    return sources_in(project.dataset, project.type, without=without).order_by("pk")


def _why_none(project: Project, task_type: TaskType, kind: DraftKind) -> str:
    if sources_in(project.dataset, task_type).exists():
        return f"Every {kind.source_one} already has {kind.several}; include those to draft more"
    return f"The data set has no {kind.source_several} with text to take {kind.several} from"


def chunks_of(source_ids: list[int], info: CheckerInfo) -> Iterator[tuple[dict, int]]:
    return starting.chunks_of("sources", source_ids, CHUNK_SIZES[info.needs])


def retry_failures(run: ExtractionRun, *, include_permanent: bool = False) -> int:
    """See `starting.retry`."""
    info, column = registry.get_info(run.extractor), DRAFT_KINDS[run.kind].source_column
    return starting.retry(run, column, lambda ids: chunks_of(ids, info), include_permanent=include_permanent)
