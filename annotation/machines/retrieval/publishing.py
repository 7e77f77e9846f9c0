"""The best passages of a retrieval run become evidence of what was searched for, and pages of work.

The key of a passage comes from the claim, the run and the rank, so publishing again changes nothing, and publishing
more of each ranking only adds. Its metadata trace it: `retrieval` has run and corpus, score, the document and the place
in it (code points), hash and time. Words that the claim has as evidence already are left out. A question that was
judged with the passages that it had keeps these, since another passage would alter what was judged: the new ones form
a second context where one is named, which is a question of its own with the same words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from annotation import incoming
from annotation.datasets.kinds import KIND_NAMED, uses_of
from annotation.formats.records import EvidenceRecord, QuestionRecord
from annotation.imports.publishing import KEEP
from annotation.imports.staged_job import (
    PublishingProblem,
    close_staging,
    found_in,
    make_items,
    publish_staged,
    stage,
    start_publishing,
    take_back,
)
from annotation.jobs.lifecycle import Lease
from annotation.machines.retrieval.retrieving import TOP_LIMIT
from annotation.models import (
    Chunk,
    Evidence,
    Item,
    Job,
    Project,
    QueryRanking,
    Question,
    RankedPassage,
    RetrievalRun,
    UnitKind,
    User,
)

CONTEXT, CONTEXT_CHARS = "context", 80
RANKINGS_AT_ONCE = 200


def why_not(run: RetrievalRun) -> str:
    """Why nothing of this run can be published; empty where something can."""
    if run.job.state != Job.State.DONE:
        return "Only a run that is done can be published"
    if run.project.is_preparing:
        return run.project.why_not_ready
    if run.project.state == Project.State.CLOSED:
        return f"The project is {run.project.state}; passages are published while it is open or paused"
    return ""


def start(user: User, run: RetrievalRun, top: int, context: str = "", *, wake_workers: bool = True) -> Job:
    """Store the job. PublishingProblem where it cannot be done, or the data set's content is being changed already.

    `context` names what the passages form for questions that were judged already."""
    if reason := why_not(run):
        raise PublishingProblem(reason)
    if not 1 <= top <= min(run.top, TOP_LIMIT):
        raise PublishingProblem(f"This run has at most {run.top} passages of each query; publish from 1 to {run.top}")
    if "/" in context or context != context.strip() or not context.isprintable() or len(context) > CONTEXT_CHARS:
        raise PublishingProblem(f"A context's name has at most {CONTEXT_CHARS} characters, no / and no line breaks")
    parameters = {"run": str(run.uuid), "top": top} | ({CONTEXT: context} if context else {})
    return start_publishing(Job.Kind.PASSAGES, user, run.project, parameters, wake_workers=wake_workers)


def context_key(question: str, context: str) -> str:
    return f"{question}/{CONTEXT}-{context}"


def is_context(question: Question) -> bool:
    """Whether it accompanies another one with passages of its own, to which no others are added."""
    known = question.metadata.get(CONTEXT)
    return isinstance(known, dict) and "question" in known


def passage_key(parent: str, run: RetrievalRun, rank: int) -> str:
    """claim/run-<first digits of the run's id>/rank"""
    return f"{parent}/run-{run.uuid.hex[:12]}/{rank}"


def unchanged(run: RetrievalRun, texts: dict[str, str]) -> dict[str, int]:
    """Ids of the newest versions, by key, of those claims or questions that still say what was searched for."""
    model = KIND_NAMED[run.asks].model
    rows = model.objects.published().filter(dataset=run.project.dataset_id, key__in=list(texts))
    return {key: pk for key, pk, text in rows.values_list("key", "pk", "text") if text == texts[key]}


@dataclass(slots=True)
class Passages:
    """One walk over a run's rankings; `counts` says afterwards what was found and what was left out."""

    run: RetrievalRun
    top: int
    context: str = ""
    counts: Counter = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.run.rankings.filter(reason="").count()

    def records(self, on_progress=lambda done: None) -> Iterator[EvidenceRecord | QuestionRecord]:
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

    def _of(self, rankings: list[QueryRanking]) -> Iterator[EvidenceRecord | QuestionRecord]:
        asks = self.run.asks
        parents = {ranking.pk: getattr(ranking, asks) for ranking in rankings}
        same = unchanged(self.run, {parents[ranking.pk].key: ranking.text for ranking in rankings})
        contexts = self._contexts(same) if self.context and asks == "question" else {}
        texts = self._texts_of({*same.values(), *(pk for _, pk in contexts.values() if pk is not None)})
        with_gold = self._with_gold(same.values())
        passages = defaultdict(list)
        found = RankedPassage.objects.filter(ranking__in=rankings, rank__lte=self.top).select_related("evidence")
        for passage in found.order_by("ranking_id", "rank"):
            passages[passage.ranking_id].append(passage)
        for ranking in rankings:
            parent = parents[ranking.pk].key
            self.counts["queries"] += 1
            if asks == "question" and is_context(parents[ranking.pk]):
                self.counts["kept_contexts"] += 1
                continue
            if parent not in same:
                self.counts["replaced"] += 1
                continue
            self.counts["without_passages"] += not passages[ranking.pk]
            below, owner = parent, same[parent]
            if parent in contexts and passages[ranking.pk]:
                question, companion = contexts[parent]
                self.counts["contexts"] += 1
                # Its id where it is there already; a new one has no texts yet.
                below, owner = question.key, companion if companion is not None else -owner
                yield question
            for passage in passages[ranking.pk]:
                key = passage_key(below, self.run, passage.rank)
                # Also by an earlier passage of this ranking.
                if texts[owner].setdefault(passage.text, key) != key:
                    self.counts["repeated"] += 1
                    continue
                self.counts["passages"] += 1
                yield self._record(passage, key, parent, below, same[parent] in with_gold)

    def _contexts(self, same: dict[str, int]) -> dict[str, tuple[QuestionRecord, int | None]]:
        """By key of a question that was judged: the question that accompanies it, and its id where it is there."""
        judged = {pk for _, pk in uses_of(("question", pk) for pk in same.values()).judged}
        rows = Question.objects.filter(pk__in=judged)
        records = {
            row.key: QuestionRecord(
                context_key(row.key, self.context),
                row.text,
                row.date,
                tuple(row.answers),
                {**row.metadata, CONTEXT: {"name": self.context, "question": row.key}},
            )
            for row in rows
        }
        keys = [record.key for record in records.values()]
        there = Question.objects.published().filter(dataset=self.run.project.dataset_id, key__in=keys)
        ids = dict(there.values_list("key", "pk"))
        return {key: (record, ids.get(record.key)) for key, record in records.items()}

    def _with_gold(self, parents: Iterable[int]) -> set[int]:
        link = f"{self.run.asks}_id"
        rows = Evidence.objects.published().filter(is_gold=True, **{f"{link}__in": list(parents)})
        return set(rows.values_list(link, flat=True))

    def _texts_of(self, parents) -> dict[int, dict[str, str]]:
        """By claim or question the texts of its evidence, with the key of each."""
        link = f"{self.run.asks}_id"
        found: dict[int, dict[str, str]] = defaultdict(dict)
        rows = Evidence.objects.published().filter(**{f"{link}__in": list(parents)}).in_order()
        for parent, text, key in rows.values_list(link, "text", "key"):
            found[parent].setdefault(text, key)
        return found

    def _record(self, passage: RankedPassage, key: str, parent: str, below: str, has_gold: bool) -> EvidenceRecord:
        """`below` is the parent, or the question that is a context of it. Where its gold evidence is known, what does
        not say that it is gold is not."""
        known = passage.evidence
        # A run of before that was noted has the sources of evidence only.
        source = passage.source or (
            {"url": known.url, "publisher": known.publisher, "date": known.date} if known is not None else {}
        )
        day = source.get("date")
        return EvidenceRecord(
            key,
            passage.text,
            **{self.run.asks: below},
            url=source.get("url", ""),
            publisher=source.get("publisher", ""),
            date=incoming.day(day) if isinstance(day, str) and day else day or None,
            is_gold=_is_gold(source.get("is_gold", False if has_gold and passage.source else None), parent),
            rank=passage.rank,
            metadata={"retrieval": self._trace(passage)},
        )

    def _trace(self, passage: RankedPassage) -> dict:
        found = {
            "run": str(self.run.uuid),
            "corpus": self.run.corpus,
            "score": passage.score,
            "document": passage.document,
            "start": passage.start,
            "end": passage.end,
        }
        if passage.source:
            shown = ("url", "publisher", "date", "is_gold")
            found |= {name: value for name, value in passage.source.items() if name not in shown}
            found |= {"scores": passage.scores}
            found.setdefault("retrieved_at", self.run.created_at.isoformat(timespec="seconds").replace("+00:00", "Z"))
        return found


def _is_gold(mark: object, parent: str) -> bool | None:
    """What a source says of itself, for this claim or question."""
    if isinstance(mark, list):
        return parent in mark
    return mark if isinstance(mark, bool) else None


class Walk(Protocol):
    """Over rankings, or the like, whose parts become content."""

    counts: Counter

    @property
    def total(self) -> int: ...

    def records(self, on_progress: Callable[[int], None]) -> Iterator: ...


class StagingHandler(ABC):
    """See `jobs.Handler`: one chunk stages what a walk gives, the end publishes it."""

    makes_items_of: tuple[str, ...] = ()  # kinds of anchors
    reads = "rankings"

    @abstractmethod
    def walk(self, job: Job) -> Walk:
        """What is staged of this job."""

    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset").get(pk=chunk.job_id)
        walk = self.walk(job)
        total = walk.total
        records = walk.records(lambda done: lease.progress(done, total, f"Reading {self.reads}"))
        result = found_in(job, stage(job, records, lease), KEEP, "published")
        close_staging(job, result | {"counts": dict(walk.counts)}, lease)

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset", "project").get(pk=job.pk)
        publish_staged(job, KEEP, lease)
        if job.project.type.anchor_kind in self.makes_items_of:
            make_items(job.project, lease)
        job.refresh_from_db(fields=["result"])
        # Counted from what is stored, so that a second attempt at the end says the same.
        new_items = Item.objects.filter(project=job.project, anchor__batch=job.batch).count()
        return job.result | {"new_items": new_items} | self.published(job)

    def published(self, job: Job) -> dict:
        return {}

    def clean_up(self, job: Job) -> None:
        take_back(job)


class PassagePublishingHandler(StagingHandler):
    makes_items_of = (UnitKind.EVIDENCE, UnitKind.QUESTION)

    def walk(self, job: Job) -> Passages:
        return Passages(_run_of(job), job.parameters["top"], job.parameters.get(CONTEXT, ""))

    def published(self, job: Job) -> dict:
        found = Evidence.objects.filter(batch=job.batch, version=1, metadata__retrieval__run=job.parameters["run"])
        return {"new_evidence": found.count()}


HANDLER = PassagePublishingHandler()


def _run_of(job: Job) -> RetrievalRun:
    return RetrievalRun.objects.select_related("project__dataset").get(uuid=job.parameters["run"])
