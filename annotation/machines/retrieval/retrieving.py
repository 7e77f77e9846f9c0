"""Retrieval runs: what is searched for, where, and the start of one.

A run searches the documents of one moment, its start: what is published while it runs is not in it. So workers that
build the index an hour apart search the same, and a hash of what they read proves it (`retrieval_index`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import models

from annotation.machines.runs import starting
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.starting import SameRun as SameRun
from annotation.models import (
    AtomicClaim,
    Claim,
    ContentBatch,
    Dataset,
    Evidence,
    Job,
    Project,
    Question,
    RetrievalRun,
    User,
)
from models_runtime import registry
from models_runtime.contracts import CheckerInfo

CHUNK_SIZE = 256
TOP_LIMIT = 1000
# Where is searched: all evidence of the data set, or each query's own; other names are corpora of the site.
OWN, EACH = "own", "each"


@dataclass(frozen=True, slots=True)
class QueryKind:
    """A kind of content that passages are searched for. `below` names the claim or question whose evidence is its own,
    as columns (id of a claim, id of a question)."""

    model: type[models.Model]
    title: str
    below: Callable[[Any], tuple[int | None, int | None]]
    links: tuple[str, ...] = ()


# By the value of `RetrievalRun.asks`, which is also the name of the link from a ranking to its query.
ASKED: dict[str, QueryKind] = {
    "claim": QueryKind(Claim, "Claims", lambda row: (row.pk, None)),
    "question": QueryKind(Question, "Questions", lambda row: (None, row.pk)),
    "atomic_claim": QueryKind(
        AtomicClaim,
        "Atomic claims",
        lambda row: (row.response.claim_id, row.response.question_id),
        links=("response",),
    ),
}


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    retriever: str
    asks: str
    corpus: str = OWN
    top: int = 10
    parameters: Mapping[str, Any] = field(default_factory=dict)


def retrievers() -> tuple[CheckerInfo, ...]:
    return tuple(info for info in registry.list_infos() if info.gives == "rankings")


def queries_in(dataset: Dataset, asks: str) -> models.QuerySet:
    """What is searched for, in a fixed order; what has no words is left out."""
    return ASKED[asks].model.objects.published().filter(dataset=dataset).exclude(text="").order_by("pk")


def can_be_asked(dataset: Dataset) -> dict[str, int]:
    """The kinds of queries that the data set has, with how many."""
    counts = {asks: queries_in(dataset, asks).count() for asks in ASKED}
    return {asks: number for asks, number in counts.items() if number}


def has_evidence(dataset: Dataset) -> bool:
    return Evidence.objects.published().filter(dataset=dataset).exists()


def corpora_for(dataset: Dataset) -> dict[str, str]:
    """Where one can search for this data set: value of `RetrievalRun.corpus` -> words for it."""
    own = {OWN: "All evidence of the data set", EACH: "Each query's own passages only, to rank them anew"}
    return (own if has_evidence(dataset) else {}) | {name: f"The corpus {name}" for name in settings.CORPORA}


def start(
    project: Project,
    user: User,
    request: RetrievalRequest,
    queue: str | None = None,
    *,
    again: bool = False,
    wake_workers: bool = True,
) -> RetrievalRun:
    """A run on its way. Raises RunError, ParameterError (by name) and, unless `again`, SameRun.

    What only the worker can know, such as a missing model, fails the job.
    """
    dataset = project.dataset
    info = _info(request)
    parameters = registry.complete_parameters(info, request.parameters)
    _check(project, request)
    query_ids = list(queries_in(dataset, request.asks).values_list("pk", flat=True))
    if not query_ids:
        raise RunError(f"The data set has no {ASKED[request.asks].title.lower()} with a text to search for")
    run = RetrievalRun(
        project=project,
        asks=request.asks,
        corpus=request.corpus,
        top=request.top,
        retriever=info.slug,
        version=info.version,
        parameters=parameters,
        created_by=user,
    )
    asked = [request.asks, request.corpus, request.top, query_ids, _stand_of(dataset, request.corpus)]
    return starting.store_run(
        run,
        Job.Kind.RETRIEVAL,
        queue=starting.chosen_queue(info, queue),
        chunks=_chunks(query_ids),
        asked={"asked_sha256": starting.digest_of(asked)},
        noted={"queries": len(query_ids)},
        again=again,
        wake_workers=wake_workers,
    )


def _info(request: RetrievalRequest) -> CheckerInfo:
    found = {info.slug: info for info in retrievers()}
    if request.retriever not in found:
        raise RunError(f"There is no retriever {request.retriever!r}; available: {', '.join(found) or 'none'}")
    if reason := registry.not_configured(request.retriever):
        raise RunError(reason)
    return found[request.retriever]


def _check(project: Project, request: RetrievalRequest) -> None:
    if project.state == Project.State.PREPARING:
        raise RunError("The project's items are still being made")
    if request.asks not in ASKED:
        raise RunError(f"What is searched for is one of {', '.join(ASKED)}, not {request.asks!r}")
    if not 1 <= request.top <= TOP_LIMIT:
        raise RunError(f"A query gets from 1 to {TOP_LIMIT} passages")
    corpora = corpora_for(project.dataset)
    if request.corpus not in corpora:
        if request.corpus in (OWN, EACH):
            raise RunError("The data set has no evidence to search in; import some, or search a corpus")
        raise RunError(f"There is no corpus {request.corpus!r} here; available: {', '.join(corpora) or 'none'}")


def _stand_of(dataset: Dataset, corpus: str) -> list:
    """What tells whether the documents may have changed, without reading them: the data set's last batch, or size and
    time of the corpus's file where this machine has it."""
    if corpus in (OWN, EACH):
        published = ContentBatch.objects.filter(dataset=dataset, state=ContentBatch.State.PUBLISHED)
        return list(published.order_by("-published_at", "-pk").values_list("pk", flat=True)[:1])
    path = settings.CORPORA[corpus]
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_size, found.st_mtime_ns]


def _chunks(query_ids: list[int]) -> Iterator[tuple[dict, int]]:
    return starting.chunks_of("queries", query_ids, CHUNK_SIZE)


def retry_failures(run: RetrievalRun, *, include_permanent: bool = False) -> int:
    """See `starting.retry`."""
    return starting.retry(run, f"{run.asks}_id", _chunks, include_permanent=include_permanent)


def queries_of(run: RetrievalRun, query_ids: Iterable[int]) -> list:
    """The rows to search for, in the order of their ids, also those that were replaced after the run began."""
    asked = ASKED[run.asks]
    return list(asked.model.objects.filter(pk__in=list(query_ids)).select_related(*asked.links).order_by("pk"))
