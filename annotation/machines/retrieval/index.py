"""The index that a worker process keeps, so that the chunks of a run do not build it anew. One at a time: it may fill
much of the memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.conf import settings

from annotation.jobs.lifecycle import JobError, Lease
from annotation.machines.retrieval.corpora import BadLines
from annotation.machines.retrieval.documents import Hashed, documents_of, searches_evidence
from annotation.machines.retrieval.retrieving import searches_web, web_providers
from annotation.machines.retrieval.web import RunMemory
from annotation.machines.runs import starting, workers
from annotation.models import Job, RetrievalRun
from models_runtime import registry
from models_runtime.contracts import CheckerError, UnavailableError
from models_runtime.retrieval.contracts import VECTORS, Document, Retriever

BEAT_EVERY = 200
REPORT_SECONDS = 2.0
# How the parameters begin that say how queries are expanded.
EXPANSION = "expansion"


@dataclass(slots=True)
class Index:
    retriever: Retriever
    made_by: tuple[str, str, str]  # retriever, version, hash of the parameters that the index depends on
    parameters_hash: str
    corpus_hash: str
    documents: int
    provenance: dict
    # Known to search these documents with these parameters. Not by number: a rolled-back run's is given again.
    runs: set[UUID] = field(default_factory=set)
    is_web: bool = False


_kept: Index | None = None
_lock = threading.Lock()


def index_for(run: RetrievalRun, lease: Lease) -> tuple[Index, float]:
    """The run's index, and the seconds that building it took now (0 where it was kept). JobError where it cannot be
    built, or where the documents are not the ones that the run began with."""
    global _kept
    with _lock:
        made_by = (run.retriever, run.version, starting.digest_of(_parameters_of_index(run)))
        if _kept is not None and _kept.made_by == made_by and _can_search_for(run, _kept):
            if run.uuid in _kept.runs:
                return _kept, 0.0
            if not _kept.is_web and not searches_web(run) and _hash_of(run, lease) == _kept.corpus_hash:
                _kept = _searching_for(run, _kept)
                _refuse_other_documents(run, _kept.corpus_hash)
                return _kept, 0.0
        _kept = None  # before another one is built, so that the two are never in memory together
        begun = time.perf_counter()
        built = _build(run, lease, made_by)
        _refuse_other_documents(run, built.corpus_hash)
        built.runs.add(run.uuid)
        _kept = built
        return built, time.perf_counter() - begun


def _parameters_of_index(run: RetrievalRun) -> dict:
    """Without what says how queries are expanded: repeated generations search one index."""
    return {name: value for name, value in run.parameters.items() if not name.startswith(EXPANSION)}


def _can_search_for(run: RetrievalRun, kept: Index) -> bool:
    return kept.parameters_hash == run.parameters_hash or hasattr(kept.retriever, "searching_with")


def _searching_for(run: RetrievalRun, kept: Index) -> Index:
    if kept.parameters_hash == run.parameters_hash:
        kept.runs.add(run.uuid)
        return kept
    with workers.final_errors():
        retriever = kept.retriever.searching_with(run.parameters)
    provenance = workers.described(retriever)
    more = {"bad_lines": kept.provenance["bad_lines"]} if "bad_lines" in kept.provenance else {}
    return replace(
        kept,
        retriever=retriever,
        parameters_hash=run.parameters_hash,
        provenance=provenance | more,
        runs={run.uuid},
    )


def forget() -> None:
    """Drop what is kept."""
    global _kept
    with _lock:
        _kept = None


def _build(run: RetrievalRun, lease: Lease, made_by: tuple[str, str, str]) -> Index:
    if searches_web(run):
        return _open_web(run, made_by)
    bad = BadLines()
    hashed = Hashed(documents_of(run, bad), sources=not searches_evidence(run))
    try:
        retriever = registry.load_retriever(run.retriever, run.parameters)
        if hasattr(retriever, "keep_in"):
            retriever.keep_in(settings.DATA_DIR / VECTORS)
        retriever.index(_reported(hashed, run, lease))
        if not hashed.count:
            reported = f": {bad.count:,} bad lines, the first of them {bad.first[0]}" if bad.count else ""
            raise JobError(f"There is no document with a text to search in{reported}")
        described = retriever.describe()
        if bad.count:
            described = described | {"bad_lines": {"number": bad.count, "first": bad.first}}
    except UnavailableError:
        raise  # tried again later, unlike what would be the same then
    except CheckerError as error:
        raise JobError(str(error)) from error
    lease.beat()
    Job.objects.filter(pk=run.job_id).update(message="")
    # As the database gives it back, where tuples have become lists.
    provenance = json.loads(json.dumps(described))
    return Index(retriever, made_by, run.parameters_hash, hashed.digest, hashed.count, provenance)


def _open_web(run: RetrievalRun, made_by: tuple[str, str, str]) -> Index:
    """What is asked of the web belongs to its run, so nothing is indexed and nothing shared."""
    try:
        retriever = registry.load_retriever(run.retriever, run.parameters)
        retriever.search_web(web_providers(run), RunMemory(run), settings.PAGE_HOSTS)
        described = retriever.describe()
    except UnavailableError:
        raise
    except CheckerError as error:
        raise JobError(str(error)) from error
    provenance = json.loads(json.dumps(described))
    return Index(retriever, made_by, run.parameters_hash, "", 0, provenance, is_web=True)


def _reported(documents: Hashed, run: RetrievalRun, lease: Lease) -> Iterator[Document]:
    """The documents; says how many were read, and stops where the job was cancelled."""
    reported = 0.0
    for document in documents:
        if documents.count % BEAT_EVERY == 1:
            lease.beat()
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                Job.objects.filter(pk=run.job_id).update(message=f"Reading documents: {documents.count:,}")
        yield document
    Job.objects.filter(pk=run.job_id).update(message=f"Indexing {documents.count:,} documents")


def _hash_of(run: RetrievalRun, lease: Lease) -> str:
    hashed = Hashed(documents_of(run, BadLines()), sources=not searches_evidence(run))
    for _ in hashed:
        if hashed.count % BEAT_EVERY == 1:
            lease.beat()
    return hashed.digest


def _refuse_other_documents(run: RetrievalRun, corpus_hash: str) -> None:
    if run.corpus_hash and run.corpus_hash != corpus_hash:
        raise JobError("The documents have changed since this run began, so the rest would not fit; start a new run")
