"""Claims about a harbour, with or without evidence, and retrievals of passages for them, worked off in this process."""

from __future__ import annotations

import json
from pathlib import Path

from django.utils import timezone

from annotation.imports import importing
from annotation.imports.importing import ImportRequest
from annotation.jobs import lifecycle
from annotation.machines.retrieval import job as retrieval_job
from annotation.machines.retrieval import retrieving
from annotation.machines.retrieval.retrieving import RetrievalRequest
from annotation.models import Claim, Dataset, Job, Project, QueryRanking, RetrievalRun
from tests.factories import make_dataset, make_project

CLAIMS = {
    "ice": "Ice closed the harbour of Lindau in January.",
    "fish": "Perch has become rare in the lake.",
    "light": "The lighthouse was built in 1856.",
}
# (claim, id, text, gold)
EVIDENCE = (
    ("ice", "ice/a", "The harbour of Lindau stayed closed in January because of thick ice.", True),
    ("ice", "ice/b", "Trains ran on time all winter.", False),
    ("fish", "fish/a", "Catches of perch have fallen by half; perch is now a rare sight.", True),
    ("fish", "fish/b", "Ice covered the harbour in January.", False),
    ("light", "light/a", "Masons finished the tower with its lamp in 1856.", True),
)
WHOLE = {"chunker": "whole"}


def bring_in(tmp_path: Path, *lines: dict, dataset: Dataset | None = None) -> Dataset:
    dataset = dataset or make_dataset()
    path = tmp_path / "content.jsonl"
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in lines), encoding="utf-8")
    request = ImportRequest("content", importing.files_of_paths([path]), on_judged="supersede")
    job = lifecycle.run_here(importing.start(dataset.owner, dataset, request, is_dry_run=False, wake_workers=False))
    assert job.state == "done", (job.message, job.result)
    return dataset


def harbour(tmp_path: Path, *, evidence: tuple = EVIDENCE, **options) -> Project:
    lines = [
        {
            "claim": {"id": claim, "text": text},
            "passages": [
                {"id": key, "text": words, "gold": gold, "url": f"https://{key}.example.org", "title": "The Example"}
                for of, key, words, gold in evidence
                if of == claim
            ],
        }
        for claim, text in CLAIMS.items()
    ]
    return make_project(bring_in(tmp_path, *lines), **({"overlap": 1} | options))


def corpus(tmp_path: Path, settings, name: str = "papers", rows: tuple = EVIDENCE, **source) -> Path:
    """A corpus of the site, of documents that belong to no claim."""
    path = tmp_path / f"{name}.jsonl"
    path.write_text(
        "\n".join(json.dumps({"id": key, "text": text} | source) for _, key, text, _ in rows), encoding="utf-8"
    )
    settings.CORPORA = {**settings.CORPORA, name: path}
    return path


def start(project: Project, *, again: bool = False, queue: str | None = None, **wanted) -> RetrievalRun:
    request = RetrievalRequest(**({"retriever": "bm25", "asks": "claim"} | wanted))
    return retrieving.start(project, project.created_by, request, queue, again=again, wake_workers=False)


def search(project: Project, **wanted) -> RetrievalRun:
    run = start(project, **wanted)
    job = lifecycle.run_here(run.job)
    assert job.state == "done", (job.message, list(job.chunks.values_list("error", flat=True)))
    return RetrievalRun.objects.select_related("job", "project__dataset").get(pk=run.pk)


def found(run: RetrievalRun) -> dict[str, list[str]]:
    """By the query's key the documents of its ranking, best first."""
    rankings = QueryRanking.objects.filter(run=run).select_related(run.asks)
    return {
        getattr(ranking, run.asks).key: list(ranking.passages.order_by("rank").values_list("document", flat=True))
        for ranking in rankings
    }


def ranked(project: Project, *, retriever: str = "bm25") -> RetrievalRun:
    """A finished run as it is stored, for tests of pages: every claim's own evidence, in the order of the file."""
    job = Job.objects.create(
        kind=Job.Kind.RETRIEVAL,
        state=Job.State.DONE,
        project=project,
        created_by=project.created_by,
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    run = RetrievalRun.objects.create(
        project=project,
        job=job,
        asks="claim",
        corpus="each",
        corpus_hash="c" * 64,
        top=3,
        retriever=retriever,
        version="1",
        parameters={"chunker": "whole"},
        parameters_hash="",
        provenance={"retriever": retriever, "documents": 3},
        device_seconds=1.5,
        created_by=project.created_by,
    )
    for claim in Claim.objects.published().filter(dataset=project.dataset):
        ranking = QueryRanking.objects.create(run=run, claim=claim, text=claim.text)
        for rank, evidence in enumerate(claim.evidence_set.in_order()[:3], 1):
            ranking.passages.create(
                rank=rank,
                score=1 / rank,
                scores={retriever: 1 / rank},
                document=evidence.key,
                evidence=evidence,
                start=0,
                end=len(evidence.text),
                text=evidence.text,
            )
    job.result = retrieval_job.summary(run)
    job.progress_done = job.progress_total = run.rankings.count()
    job.save()
    return run
