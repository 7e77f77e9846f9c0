"""Documents that a language model makes up for claims to search with: they become content, and content is searched
with.

A run with an expansion keeps what was made up for each claim, without the copies of the query. Runs that differ in the
seed alone repeat each other; their documents are stored together, each with its method, model, prompt (`setting`, where
it is not the method's own) and repetition, which is the seed. The key comes from claim and run, so storing again
changes nothing. Stored documents, wherever they come from, can be searched with in place of new ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from annotation.formats.records import ResponseRecord
from annotation.imports.staged_job import PublishingProblem, start_publishing
from annotation.machines.retrieval.publishing import RANKINGS_AT_ONCE, StagingHandler, unchanged
from annotation.machines.retrieval.retrieving import DOCUMENTS, SEED, DocumentGenerator, queries_in
from annotation.machines.runs.queries.costs import CostEstimate, evenly
from annotation.models import Claim, Job, Project, QueryRanking, Response, RetrievalRun, UnitKind, User
from models_runtime import registry
from models_runtime.contracts import Usage


def stored_documents(run: RetrievalRun, claims: list[Claim]) -> dict[int, tuple[str, ...]]:
    """By claim the texts that the run searches with; none where it asks a model for them, or for nothing."""
    chosen = run.job.parameters.get(DOCUMENTS)
    if chosen is None:
        return {}
    found: dict[int, list[str]] = defaultdict(list)
    rows = DocumentGenerator.of(chosen).documents(run.project.dataset).filter(repetition=chosen["repetition"])
    keys = {claim.key: claim.pk for claim in claims}
    for key, text in (
        rows.filter(claim__key__in=list(keys)).exclude(text="").order_by("pk").values_list("claim__key", "text")
    ):
        found[keys[key]].append(text)
    return {pk: tuple(texts) for pk, texts in found.items()}


def estimate_of(project: Project, asks: str, parameters: Mapping[str, Any], times: int = 1) -> CostEstimate | None:
    """What it would cost to make up documents for so many searches; None where no model is asked."""
    queries = queries_in(project.dataset, asks)
    ids = list(queries.values_list("pk", flat=True))
    sampled = list(queries.filter(pk__in=evenly(ids)).values_list("text", flat=True))
    usage = registry.estimated_expansions(parameters, sampled)
    if usage is None or not sampled:
        return None
    factor = times * len(ids) / len(sampled)
    total = Usage(round(factor * usage.prompt_tokens), round(factor * usage.completion_tokens))
    endpoints = [parameters.get("endpoint")]
    return CostEstimate.of(times * len(ids), "queries", total, len(sampled), endpoints=endpoints)


# --- documents become content ---


def repetitions_of(run: RetrievalRun) -> list[RetrievalRun]:
    """The runs of the project that are like this one but for the seed, itself included, by their seed and age."""
    alike = RetrievalRun.objects.filter(
        project=run.project_id,
        retriever=run.retriever,
        version=run.version,
        asks=run.asks,
        corpus=run.corpus,
        top=run.top,
    ).select_related("job", "project__dataset")
    wanted = _without_seed(run)
    found = [one for one in alike if one.pk == run.pk or (has_made(one) and _without_seed(one) == wanted)]
    return sorted(found, key=lambda one: (one.parameters.get(SEED, 0), one.pk))


def _without_seed(run: RetrievalRun) -> dict[str, Any]:
    return {name: value for name, value in run.parameters.items() if name != SEED}


def has_made(run: RetrievalRun) -> bool:
    """Whether a model makes documents up in this run."""
    return run.parameters.get("expansion", "none") != "none" and run.parameters.get("expansion_from") == "server"


def why_not(run: RetrievalRun) -> str:
    """Why no documents of this run can be stored; empty where some can."""
    if run.asks != "claim":
        return "Documents are stored for claims"
    if not has_made(run):
        return "No language model generated documents in this run"
    if not any(one.job.state == Job.State.DONE for one in repetitions_of(run)):
        return "Only documents of runs that are done can be stored"
    return ""


def start(user: User, run: RetrievalRun, *, wake_workers: bool = True) -> Job:
    """Store the job, for this run and those that repeat it, as far as they are done. PublishingProblem where it cannot
    be done, or the data set's content is being changed already."""
    if reason := why_not(run):
        raise PublishingProblem(reason)
    runs = [str(one.uuid) for one in repetitions_of(run) if one.job.state == Job.State.DONE]
    parameters = {"run": str(run.uuid), "runs": runs}
    return start_publishing(Job.Kind.DOCUMENTS, user, run.project, parameters, wake_workers=wake_workers)


def generator_of(run: RetrievalRun) -> DocumentGenerator:
    """Who made up the documents of this run, as content says it."""
    made_by = _made_by(run)
    prompt = made_by["prompt"]
    name = prompt["name"].removeprefix(f"{made_by['method']}/")
    if name == "own":
        name = f"prompt {prompt['sha256'][:8]}"
    return DocumentGenerator(made_by["method"], made_by["model"], "" if name == made_by["method"] else name)


def _made_by(run: RetrievalRun) -> dict[str, Any]:
    return run.provenance["stages"]["expansion"]


@dataclass(slots=True)
class MadeDocuments:
    """One walk over the rankings of runs that repeat each other; `counts` says afterwards what was found."""

    runs: list[RetrievalRun]
    counts: Counter = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return QueryRanking.objects.filter(run__in=self.runs).exclude(made=[]).count()

    def records(self, on_progress=lambda done: None) -> Iterator[ResponseRecord]:
        """`on_progress` hears how many rankings were looked at, and may raise to stop."""
        done = 0
        for run in self.runs:
            rankings, last = self._rankings(run), 0
            while part := list(rankings.filter(claim_id__gt=last)[:RANKINGS_AT_ONCE]):
                last = part[-1].claim_id
                yield from self._of(run, part)
                done += len(part)
                on_progress(done)

    def _rankings(self, run: RetrievalRun) -> QuerySet[QueryRanking]:
        return run.rankings.exclude(made=[]).select_related("claim").order_by("claim_id")

    def _of(self, run: RetrievalRun, rankings: list[QueryRanking]) -> Iterator[ResponseRecord]:
        generator, made_by, seed = generator_of(run), _made_by(run), run.parameters[SEED]
        same = unchanged(run, {ranking.claim.key: ranking.text for ranking in rankings})
        for ranking in rankings:
            claim = ranking.claim.key
            if claim not in same:
                self.counts["replaced"] += 1
                continue
            for place, text in enumerate(ranking.made):
                self.counts["documents"] += 1
                made_with = {name: made_by[name] for name in ("prompt", "settings", "endpoint")}
                yield ResponseRecord(
                    document_key(claim, run, place),
                    text,
                    claim=claim,
                    model=generator.model,
                    method=generator.method,
                    context_setting=generator.setting,
                    repetition=seed,
                    metadata={"expansion": {"run": str(run.uuid), "seed": seed + place, **made_with}},
                )


def document_key(claim: str, run: RetrievalRun, place: int) -> str:
    """claim/expansion-<first digits of the run's id>/place"""
    return f"{claim}/expansion-{run.uuid.hex[:12]}/{place}"


class DocumentsHandler(StagingHandler):
    makes_items_of = (UnitKind.RESPONSE,)

    def walk(self, job: Job) -> MadeDocuments:
        runs = RetrievalRun.objects.filter(uuid__in=job.parameters["runs"]).select_related("project", "job")
        return MadeDocuments(sorted(runs, key=lambda one: (one.parameters[SEED], one.pk)))

    def published(self, job: Job) -> dict:
        return {"new_documents": Response.objects.filter(batch=job.batch, version=1).count()}


HANDLER = DocumentsHandler()


def stored_from(run: RetrievalRun) -> list[Job]:
    """The jobs that stored documents of this run, newest first."""
    found = Job.objects.filter(kind=Job.Kind.DOCUMENTS, project=run.project_id).order_by("-pk")
    return [job for job in found if str(run.uuid) in job.parameters["runs"]]
