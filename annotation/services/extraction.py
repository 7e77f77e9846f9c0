"""Extraction runs: starting one over the responses or questions of a project's data set, and trying failures again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction

from annotation.models import ExtractionRun, Job, Project, User
from annotation.services import jobs, run_starting, run_storing
from annotation.services.draft_kinds import DRAFT_KINDS, DraftKind, drafted_for, sources_in
from annotation.services.suggesting import queues_of
from annotation.task_types import TaskType
from models_runtime import registry
from models_runtime.contracts import CheckerInfo

# Sources in one chunk, by what the extractor needs: a server's answers take long and cost, so less is done again.
CHUNK_SIZES = {"cpu": 256, "gpu": 256, "server": 32}


class ExtractionError(Exception):
    """The run cannot be started; the message is for the person who asked."""


class SameExtraction(run_starting.RunExists, ExtractionError):
    """There is a run of the same extractor, version, parameters and sources that is done or on its way."""


def extractors_for(task_type: TaskType) -> dict[str, CheckerInfo]:
    """By slug, what can propose pieces for a project of this type."""
    kind = drafted_for(task_type)
    found = (info for info in registry.list_infos() if kind and info.gives == "pieces" and kind.name in info.roles)
    return {info.slug: info for info in found}


def extractor_info(task_type: TaskType, extractor: str) -> CheckerInfo:
    """The registry's entry, if it proposes what the task type judges; ExtractionError otherwise."""
    if drafted_for(task_type) is None:
        raise ExtractionError(f"“{task_type.title}” judges nothing that an extractor proposes")
    known = extractors_for(task_type)
    if extractor not in known:
        raise ExtractionError(
            f"“{task_type.title}” has no extractor {extractor!r}; it has {', '.join(known) or 'none'}"
        )
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
    wake_workers: bool = True,
) -> ExtractionRun:
    """A run of `extractor` over the sources that have no pieces of the kind yet, or over all with `everything`.

    Raises ExtractionError (no such extractor, nothing to take apart), ParameterError (by name) and, unless `again`,
    SameExtraction with the run that there is. `queue` is one of `queues_of`, the first if not given.
    """
    task_type = project.type
    info = extractor_info(task_type, extractor)
    kind = drafted_for(task_type)
    if reason := registry.not_configured(info.slug):
        raise ExtractionError(reason)
    complete = registry.complete_parameters(info, parameters or {})
    queue = run_starting.chosen_queue(info, queues_of(info), queue, ExtractionError)
    found = sources_in(project.dataset, task_type, everything=everything)
    keys = dict(found.order_by("pk").values_list("pk", "key"))
    if not keys:
        raise ExtractionError(_why_none(project, task_type, kind))
    digest = run_starting.digest_of(complete)
    sources_digest = hashlib.sha256(",".join(map(str, keys)).encode()).hexdigest()
    with transaction.atomic():
        # Two people who press the button at once get one run.
        Project.objects.select_for_update().get(pk=project.pk)
        if (wake_workers or not again) and (same := _same_run(project, kind, info, digest, sources_digest, again)):
            raise SameExtraction(same)
        job = jobs.create_job(
            Job.Kind.EXTRACTION,
            user,
            project=project,
            queue=queue,
            chunks=chunks_of(list(keys), info),
            parameters={
                "sources": len(keys),
                "sources_sha256": sources_digest,
                "sample": run_storing.sample_of(keys),
                "everything": everything,
            },
            wake_workers=wake_workers,
        )
        return ExtractionRun.objects.create(
            project=project,
            job=job,
            kind=kind.name,
            extractor=info.slug,
            version=info.version,
            parameters=complete,
            parameters_hash=digest,
            created_by=user,
        )


def _why_none(project: Project, task_type: TaskType, kind: DraftKind) -> str:
    if sources_in(project.dataset, task_type).exists():
        return f"Every {kind.source_one} has {kind.several} already; ask for all of them to draft some beside those"
    return f"The data set has no {kind.source_several} with words to take {kind.several} from"


def _same_run(
    project: Project, kind: DraftKind, info: CheckerInfo, digest: str, sources_digest: str, again: bool
) -> ExtractionRun | None:
    return run_starting.same_run(
        ExtractionRun.objects.filter(
            project=project,
            kind=kind.name,
            extractor=info.slug,
            version=info.version,
            parameters_hash=digest,
            job__parameters__sources_sha256=sources_digest,
        ),
        again=again,
    )


def chunks_of(source_ids: list[int], info: CheckerInfo) -> Iterator[tuple[dict, int]]:
    return run_starting.chunks_of("sources", source_ids, CHUNK_SIZES[info.needs])


def retry_failures(run: ExtractionRun, *, include_permanent: bool = False) -> int:
    """Try the sources again that failed, of a run that is done; those that would fail again only on request.

    The number of sources; 0 also when the run is not done. A failure stays on record until there is an answer.
    """
    info = registry.get_info(run.extractor)
    return run_starting.retry(
        run.job,
        run.sources.exclude(reason=""),
        DRAFT_KINDS[run.kind].source_column,
        lambda source_ids: chunks_of(source_ids, info),
        include_permanent=include_permanent,
    )
