"""The best passages of a retrieval run become evidence of its claims or questions, and pages of work.

The key of a passage comes from the claim, the run and the rank, so publishing again changes nothing, and publishing
more of each ranking only adds. Its metadata trace it: `retrieval` has run and corpus, score, the document and the place
in it (code points). Words that the claim has as evidence already are left out; so is everything for a question that was
judged with the passages that it had, since another passage would alter what was judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import F

from annotation.datasets.kinds import KIND_NAMED
from annotation.formats.records import EvidenceRecord
from annotation.imports import importing
from annotation.imports.importing import ImportProblem
from annotation.imports.publishing import KEEP
from annotation.imports.staged_job import (
    PublishingProblem,
    found_in,
    guard_of,
    make_items,
    open_batch,
    publish_staged,
    take_back,
)
from annotation.imports.staging import ContentPass, read_all
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import JobError, Lease
from annotation.machines.retrieval.retrieving import TOP_LIMIT
from annotation.models import (
    Chunk,
    Evidence,
    Item,
    Job,
    Project,
    QueryRanking,
    RankedPassage,
    RetrievalRun,
    UnitKind,
    User,
)

# What passages can be evidence of. An atomic claim has no evidence of its own.
PARENTS = ("claim", "question")
RANKINGS_AT_ONCE = 200


def why_not(run: RetrievalRun) -> str:
    """Why nothing of this run can be published; empty where something can."""
    if run.asks not in PARENTS:
        return "Passages become evidence of claims and questions; atomic claims have none of their own"
    if run.job.state != Job.State.DONE:
        return "Only a run that is done can be published"
    if run.project.state in (Project.State.PREPARING, Project.State.CLOSED):
        return f"The project is {run.project.state}; passages are published while it is open or paused"
    return ""


def start(user: User, run: RetrievalRun, top: int, *, wake_workers: bool = True) -> Job:
    """Store the job. PublishingProblem where it cannot be done, or the data set's content is being changed already."""
    if reason := why_not(run):
        raise PublishingProblem(reason)
    if not 1 <= top <= min(run.top, TOP_LIMIT):
        raise PublishingProblem(f"This run has at most {run.top} passages of each query; publish from 1 to {run.top}")
    dataset = run.project.dataset
    try:
        importing.refuse_second(dataset)
    except ImportProblem as problem:
        raise PublishingProblem(str(problem)) from None
    return lifecycle.create_job(
        Job.Kind.PASSAGES,
        user,
        chunks=[({}, 0)],
        project=run.project,
        dataset=dataset,
        parameters={"run": str(run.uuid), "top": top},
        wake_workers=wake_workers,
    )


def passage_key(parent: str, run: RetrievalRun, rank: int) -> str:
    """claim/run-<first digits of the run's id>/rank"""
    return f"{parent}/run-{run.uuid.hex[:12]}/{rank}"


@dataclass(slots=True)
class Passages:
    """One walk over a run's rankings; `counts` says afterwards what was found and what was left out."""

    run: RetrievalRun
    top: int
    counts: Counter = field(default_factory=Counter)

    def records(self, on_progress=lambda done: None) -> Iterator[EvidenceRecord]:
        """`on_progress` hears how many rankings were looked at, and may raise to stop."""
        link = f"{self.run.asks}_id"
        last, done = 0, 0
        while True:
            rankings = list(
                QueryRanking.objects.filter(run=self.run, reason="", **{f"{link}__gt": last})
                .select_related(self.run.asks)
                .order_by(link)[:RANKINGS_AT_ONCE]
            )
            if not rankings:
                return
            last = getattr(rankings[-1], link)
            yield from self._of(rankings)
            done += len(rankings)
            on_progress(done)

    def _of(self, rankings: list[QueryRanking]) -> Iterator[EvidenceRecord]:
        asks = self.run.asks
        parents = {ranking.pk: getattr(ranking, asks) for ranking in rankings}
        same = self._unchanged({parents[ranking.pk].key: ranking.text for ranking in rankings})
        texts = self._texts_of(same.values())
        passages = defaultdict(list)
        found = RankedPassage.objects.filter(ranking__in=rankings, rank__lte=self.top).select_related("evidence")
        for passage in found.order_by("ranking_id", "rank"):
            passages[passage.ranking_id].append(passage)
        for ranking in rankings:
            parent = parents[ranking.pk].key
            self.counts["queries"] += 1
            if parent not in same:
                self.counts["replaced"] += 1
                continue
            self.counts["without_passages"] += not passages[ranking.pk]
            for passage in passages[ranking.pk]:
                key = passage_key(parent, self.run, passage.rank)
                # Also by an earlier passage of this ranking.
                if texts[same[parent]].setdefault(passage.text, key) != key:
                    self.counts["repeated"] += 1
                    continue
                self.counts["passages"] += 1
                yield self._record(passage, key, parent)

    def _unchanged(self, texts: dict[str, str]) -> dict[str, int]:
        """Ids of the newest versions, by key, of those claims or questions that still say what was searched for."""
        model = KIND_NAMED[self.run.asks].model
        rows = model.objects.published().filter(dataset=self.run.project.dataset_id, key__in=list(texts))
        return {key: pk for key, pk, text in rows.values_list("key", "pk", "text") if text == texts[key]}

    def _texts_of(self, parents) -> dict[int, dict[str, str]]:
        """By claim or question the texts of its evidence, with the key of each."""
        link = f"{self.run.asks}_id"
        found: dict[int, dict[str, str]] = defaultdict(dict)
        rows = Evidence.objects.published().filter(**{f"{link}__in": list(parents)}).in_order()
        for parent, text, key in rows.values_list(link, "text", "key"):
            found[parent].setdefault(text, key)
        return found

    def _record(self, passage: RankedPassage, key: str, parent: str) -> EvidenceRecord:
        source = passage.evidence
        return EvidenceRecord(
            key,
            passage.text,
            **{self.run.asks: parent},
            url=source.url if source else "",
            publisher=source.publisher if source else "",
            date=source.date if source else None,
            rank=passage.rank,
            metadata={
                "retrieval": {
                    "run": str(self.run.uuid),
                    "corpus": self.run.corpus,
                    "score": passage.score,
                    "document": passage.document,
                    "start": passage.start,
                    "end": passage.end,
                }
            },
        )


class PassagePublishingHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        run = _run_of(job)
        passages = Passages(run, job.parameters["top"])
        total = run.rankings.filter(reason="").count()
        try:
            batch = open_batch(job, lease)
        except ImportProblem as error:
            raise JobError(str(error)) from error
        content = ContentPass(job.dataset, batch=batch, guard=guard_of(lease))
        findings = read_all(
            passages.records(lambda done: lease.progress(done, total, "Reading rankings")), content, lease.beat
        )
        result = found_in(job, findings, KEEP, "published")
        with transaction.atomic():
            Job.objects.filter(pk=job.pk).update(
                result=result | {"counts": dict(passages.counts)}, progress_done=F("progress_total")
            )
            lease.complete()

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset", "project").get(pk=job.pk)
        publish_staged(job, KEEP, lease)
        if job.project.type.anchor_kind == UnitKind.EVIDENCE:
            make_items(job.project, lease)
        job.refresh_from_db(fields=["result"])
        return job.result | _published(job)

    def clean_up(self, job: Job) -> None:
        take_back(job)


HANDLER = PassagePublishingHandler()


def _run_of(job: Job) -> RetrievalRun:
    return RetrievalRun.objects.select_related("project__dataset").get(uuid=job.parameters["run"])


def _published(job: Job) -> dict:
    """Counted from what is stored, so that a second attempt at the end says the same."""
    evidence = Evidence.objects.filter(batch=job.batch, version=1, metadata__retrieval__run=job.parameters["run"])
    return {
        "new_evidence": evidence.count(),
        "new_items": Item.objects.filter(project=job.project, anchor__batch=job.batch).count(),
    }


def published_from(run: RetrievalRun) -> list[Job]:
    """The publishings of a run, newest first."""
    found = Job.objects.filter(kind=Job.Kind.PASSAGES, project=run.project_id, parameters__run=str(run.uuid))
    return list(found.select_related("created_by").order_by("-pk"))
