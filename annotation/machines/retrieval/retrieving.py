"""Retrieval runs: what is searched for, where, and the start of one.

A run searches the documents of one moment, its start: what is published while it runs is not in it. So workers that
build the index an hour apart search the same, and a hash of what they read proves it (`retrieval_index`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.db import models

from annotation import incoming
from annotation.datasets.queries import documents_of
from annotation.machines.retrieval.web import REPLAYS
from annotation.machines.runs import starting
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.limits import why_not as why_no_limits
from annotation.machines.runs.retrieved import DOCUMENTS as DOCUMENTS
from annotation.machines.runs.retrieved import SEED as SEED
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.starting import SameRun as SameRun
from annotation.models import (
    Aspect,
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
    WebAnswer,
)
from models_runtime import registry
from models_runtime.contracts import CheckerInfo
from models_runtime.evidence import providers
from models_runtime.evidence.presets import PRESETS as PRESETS

PIPELINE = "evidence"
CHUNK_SIZE = 256
TOP, TOP_LIMIT = 10, 1000
# Where is searched: all evidence of the data set, or each query's own; other names are corpora of the site.
OWN, EACH = "own", "each"
# The web, by the search providers that follow, with a plus between them.
WEB = "web:"
# Queries of a chunk where the web is asked: it takes seconds for each.
WEB_CHUNK_SIZE = 8


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
    "aspect": QueryKind(Aspect, "Aspects", lambda row: (None, row.question_id)),
}


# Of a run's job: whose stored documents it searches with. Also the value of the parameter that says so.
REPETITIONS_LIMIT = 32


@dataclass(frozen=True, slots=True)
class DocumentGenerator:
    """What made documents up for claims: a method with its model and setting."""

    method: str
    model: str
    setting: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> DocumentGenerator:
        return cls(stored["method"], stored["model"], stored["setting"])

    def documents(self, dataset: Dataset) -> models.QuerySet:
        return documents_of(dataset).filter(method=self.method, model=self.model, context_setting=self.setting)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.method, self.model, self.setting))) or "unnamed"


def generators_in(dataset: Dataset) -> dict[DocumentGenerator, list[int]]:
    """Who made up the documents of claims that the data set has, with the numbers of their repetitions."""
    found: dict[DocumentGenerator, list[int]] = {}
    columns = ("method", "model", "context_setting", "repetition")
    for *names, repetition in documents_of(dataset).order_by(*columns).values_list(*columns).distinct():
        found.setdefault(DocumentGenerator(*names), []).append(repetition)
    return found


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    retriever: str
    asks: str
    corpus: str = OWN
    top: int | None = TOP
    parameters: Mapping[str, Any] = field(default_factory=dict)
    replays: str = ""  # id of a run whose answers of the web are used again, and nothing is asked
    documents: DocumentGenerator | None = None  # whose stored documents are searched with, and nothing is generated
    repetition: int = 0  # of these documents
    limits: CostLimits = CostLimits()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> RetrievalRequest:
        """Of the values of a form or the body of a request, with the preset that they name."""
        values, documents = starting.values_for(cls, asked), asked.get("documents")
        if documents:
            values |= {"documents": DocumentGenerator.of(documents), "repetition": documents.get("repetition", 0)}
        return cls(**values).with_preset(asked.get("preset") or "")

    def with_preset(self, name: str) -> RetrievalRequest:
        """What is given comes before what the preset says. RunError for a preset that there is not."""
        if name and self.retriever != PIPELINE:
            raise RunError(f"Presets are for {PIPELINE}")
        if name and name not in PRESETS:
            raise RunError(f"There is no preset {name!r}; available: {', '.join(PRESETS)}")
        known = PRESETS[name].parameters if name else {}
        usual = PRESETS[name].top if name else TOP
        return replace(self, top=usual if self.top is None else self.top, parameters={**known, **self.parameters})

    def with_documents(self) -> RetrievalRequest:
        """The parameters say whether documents are stored ones."""
        if self.documents is None:
            return self
        return replace(self, parameters={**self.parameters, "expansion_from": DOCUMENTS})

    def repeated(self, times: int, dataset: Dataset) -> list[RetrievalRequest]:
        """As often as is wanted, each with a seed of its own; with stored documents once for each repetition of them
        that there is. RunError for a number that cannot be."""
        if self.documents is not None:
            stored = generators_in(dataset).get(self.documents, [self.repetition])
            return [replace(self, repetition=one) for one in stored]
        if not 1 <= times <= REPETITIONS_LIMIT:
            raise RunError(f"A search is repeated from 1 to {REPETITIONS_LIMIT} times")
        if times > 1 and self.parameters.get("expansion", "none") == "none":
            raise RunError("A search without expansion finds the same each time; choose an expansion to repeat it")
        seed, step = self.parameters.get(SEED, 0), self.parameters.get("expansion_passages", 1)
        parameters = [{**self.parameters, SEED: seed + place * step} for place in range(times)] if times > 1 else [{}]
        return [replace(self, parameters={**self.parameters, **one}) for one in parameters]


def retrievers() -> tuple[CheckerInfo, ...]:
    return tuple(info for info in registry.list_infos() if info.gives == "rankings")


def queries_in(dataset: Dataset, asks: str) -> models.QuerySet:
    """What is searched for, in a fixed order; what has no words is left out."""
    return ASKED[asks].model.objects.published().filter(dataset=dataset).exclude(text="").order_by("pk")


MAX_COUNTED = 10_000


def can_be_asked(dataset: Dataset) -> dict[str, int]:
    """The kinds of queries that the data set has, with how many, counted as far as MAX_COUNTED + 1."""
    counts = {asks: queries_in(dataset, asks).order_by()[: MAX_COUNTED + 1].count() for asks in ASKED}
    return {asks: number for asks, number in counts.items() if number}


def has_evidence(dataset: Dataset) -> bool:
    return Evidence.objects.published().filter(dataset=dataset).exists()


def corpora_for(dataset: Dataset) -> dict[str, str]:
    """Where one can search for this data set: value of `RetrievalRun.corpus` -> words for it."""
    own = {OWN: "All evidence of the data set", EACH: "Each query's own passages only, to rerank them"}
    corpora = {name: f"The corpus {name}" for name in settings.CORPORA}
    return (own if has_evidence(dataset) else {}) | corpora | web_choices()


def web_choices() -> dict[str, str]:
    names = providers.names()
    found = {f"{WEB}{name}": f"The web, by {name}" for name in names}
    together = WEB + "+".join(names)
    return found | ({together: f"The web, by {' and '.join(names)}"} if len(names) > 1 else {})


def searches_web(run: RetrievalRun) -> bool:
    return run.corpus.startswith(WEB)


def web_providers(run: RetrievalRun) -> list[str]:
    return run.corpus.removeprefix(WEB).split("+")


def replayable(project: Project) -> models.QuerySet:
    """Runs that asked the web, newest first."""
    asked = WebAnswer.objects.filter(run=models.OuterRef("pk"))
    return project.retrieval_runs.filter(models.Exists(asked)).select_related("job").order_by("-pk")


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
    request = request.with_preset("").with_documents()
    dataset = project.dataset
    info = retriever_info(request)
    parameters = registry.complete_parameters(info, request.parameters)
    _check(project, request)
    _check_documents(project, request, parameters)
    if reason := why_no_limits(request.limits, parameters):
        raise RunError(reason)
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
    if request.replays:
        asked.append(request.replays)
    noted: dict[str, Any] = {REPLAYS: request.replays} if request.replays else {}
    if request.documents:
        noted[DOCUMENTS] = {**asdict(request.documents), "repetition": request.repetition}
        asked.append([noted[DOCUMENTS], *_stand_of(dataset, OWN)])
    return starting.store_run(
        run,
        Job.Kind.RETRIEVAL,
        queue=starting.chosen_queue(info, queue),
        chunks=_chunks(query_ids, WEB_CHUNK_SIZE if searches_web(run) else CHUNK_SIZE),
        asked={"asked_sha256": starting.digest_of(asked)},
        noted={"queries": len(query_ids)} | noted | request.limits.noted(),
        again=again,
        wake_workers=wake_workers,
    )


def start_repeated(
    project: Project,
    user: User,
    request: RetrievalRequest,
    queue: str | None = None,
    *,
    times: int = 1,
    **options: bool,
) -> list[RetrievalRun]:
    """The runs of a search that is repeated, those that there are already included. SameRun where all of them are."""
    found, same = [], None
    for one in request.with_preset("").repeated(times, project.dataset):
        try:
            found.append(start(project, user, one, queue, **options))
        except SameRun as exists:
            same = exists
            found.append(exists.run)
    if same is not None and len(found) == 1:
        raise same
    return found


def _check_documents(project: Project, request: RetrievalRequest, parameters: Mapping[str, Any]) -> None:
    is_stored = parameters.get("expansion_from") == DOCUMENTS
    if request.documents is None:
        if is_stored and parameters["expansion"] != "none":
            raise RunError("Name the method, model and setting of the stored documents")
        return
    if parameters.get("expansion", "none") == "none":
        raise RunError("Choose the expansion that is applied to the stored documents")
    if request.asks != "claim":
        raise RunError("Stored documents are those of claims")
    if request.repetition not in generators_in(project.dataset).get(request.documents, ()):
        raise RunError(f"The data set has no documents of {request.documents}, repetition {request.repetition}")


def retriever_info(request: RetrievalRequest) -> CheckerInfo:
    """The registry's entry, if it is here and ready to search; RunError otherwise."""
    found = {info.slug: info for info in retrievers()}
    if request.retriever not in found:
        raise RunError(f"There is no retriever {request.retriever!r}; available: {', '.join(found) or 'none'}")
    if reason := registry.not_configured(request.retriever):
        raise RunError(reason)
    return found[request.retriever]


def _check(project: Project, request: RetrievalRequest) -> None:
    if project.is_preparing:
        raise RunError(project.why_not_ready)
    if request.asks not in ASKED:
        raise RunError(f"What is searched for is one of {', '.join(ASKED)}, not {request.asks!r}")
    if not 1 <= request.top <= TOP_LIMIT:
        raise RunError(f"A query gets from 1 to {TOP_LIMIT} passages")
    if request.replays:
        if not request.corpus.startswith(WEB):
            raise RunError("Only searches of the web can be replayed")
        if not _is_replayable(project, request.replays):
            raise RunError(f"There is no run {request.replays!r} of this project that asked the web")
    if request.corpus.startswith(WEB) and request.retriever != PIPELINE:
        raise RunError("Retrievers rank documents; for the web take the evidence pipeline")
    corpora = corpora_for(project.dataset)
    if request.corpus not in corpora:
        if request.corpus in (OWN, EACH):
            raise RunError("The data set has no evidence to search in; import some, or search a corpus")
        raise RunError(f"There is no corpus {request.corpus!r} here; available: {', '.join(corpora) or 'none'}")


def _is_replayable(project: Project, uuid: str) -> bool:
    try:
        return replayable(project).filter(uuid=incoming.uuid_of(uuid)).exists()
    except incoming.Refused:
        return False


def _stand_of(dataset: Dataset, corpus: str) -> list:
    """What tells whether the documents may have changed, without reading them: the data set's last batch, or size and
    time of the corpus's file where this machine has it."""
    if corpus in (OWN, EACH):
        published = ContentBatch.objects.filter(dataset=dataset, state=ContentBatch.State.PUBLISHED)
        return list(published.order_by("-published_at", "-pk").values_list("pk", flat=True)[:1])
    if corpus.startswith(WEB):
        return []
    path = settings.CORPORA[corpus]
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    try:
        found = [(str(file), file.stat()) for file in files]
    except OSError:
        return [str(path)]
    stand = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in found]
    return stand[0] if files == [path] else [str(path), starting.digest_of(stand)]


def _chunks(query_ids: list[int], size: int = CHUNK_SIZE) -> Iterator[tuple[dict, int]]:
    return starting.chunks_of("queries", query_ids, size)


def retry_failures(run: RetrievalRun, *, include_permanent: bool = False) -> int:
    """See `starting.retry`."""
    size = WEB_CHUNK_SIZE if searches_web(run) else CHUNK_SIZE
    chunks = partial(_chunks, size=size)
    return starting.retry(run, f"{run.asks}_id", chunks, include_permanent=include_permanent)


def queries_of(run: RetrievalRun, query_ids: Iterable[int]) -> list:
    """The rows to search for, in the order of their ids, also those that were replaced after the run began."""
    asked = ASKED[run.asks]
    return list(asked.model.objects.filter(pk__in=list(query_ids)).select_related(*asked.links).order_by("pk"))
