"""A retrieval run as a job: chunks of queries, each stored in one transaction with the chunk's own state."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import Count, F

from annotation.jobs import lifecycle
from annotation.machines.retrieval import expansions
from annotation.machines.retrieval.documents import evidence_ids, evidence_of, own_documents, searches_evidence
from annotation.machines.retrieval.index import Index, index_for
from annotation.machines.retrieval.queries.steps import sum_steps
from annotation.machines.retrieval.retrieving import EACH, queries_of
from annotation.machines.runs import workers
from annotation.machines.runs.gathering import gather
from annotation.machines.runs.reuse import CIRCUMSTANCES
from annotation.machines.runs.storing import storable, storable_json
from annotation.models import Chunk, Job, Project, QueryRanking, RankedPassage, RetrievalRun
from models_runtime.contracts import Prediction, PredictionError, Usage
from models_runtime.retrieval.contracts import PassageHit, Query, Ranking

PASSAGES_AT_ONCE = 1000


class RetrievalHandler:
    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        run = RetrievalRun.objects.select_related("project", "job").get(job_id=chunk.job_id)
        measures_time = workers.info_of(run.retriever, run.version).needs != "server"
        index, seconds = index_for(run, lease)
        _check_identity(run, index.provenance)
        rows = queries_of(run, chunk.payload["queries"])
        own = own_documents(run, rows) if run.corpus == EACH else {}
        made = expansions.stored_documents(run, rows)
        queries = [Query(str(row.pk), row.text, own.get(row.pk), about(row), made.get(row.pk, ())) for row in rows]
        texts = {row.pk: row.text for row in rows}

        def store(rankings: Mapping[int, Ranking], close: Callable[[], None]) -> None:
            documents = evidence_ids(run, (hit.passage.document for each in rankings.values() for hit in each.hits))
            with transaction.atomic():
                close()  # first, so that who lost the lease writes nothing at all
                _store_provenance(run, index)
                indexing = Usage(device_seconds=seconds)
                workers.add_usage(run, [indexing, *(ranking.usage for ranking in rankings.values())])
                _store(run, rankings, texts, documents)

        def keep(done: dict[int, Ranking]) -> None:
            left = [one for one in chunk.payload["queries"] if one not in done]
            store(done, lambda: lease.keep({"queries": left}, len(done)))

        rankings = gather(
            run,
            index.retriever,
            queries,
            lease,
            ask=lambda part: index.retriever.search(part, run.top),
            check=lambda answer: checked(_as_ranking(answer), run.top),
            keep=keep,
            measures_time=measures_time,
        )
        store(rankings, lease.complete)

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        run = RetrievalRun.objects.select_related("project").get(job=job)
        # Reports that were made without it are stale now.
        Project.objects.filter(pk=run.project_id).update(label_version=F("label_version") + 1)
        return summary(run) | ({"steps": sums} if (sums := sum_steps(run)) else {})

    def clean_up(self, job: Job) -> None:
        """What was stored stays, and the run goes on from there when it is resumed."""


HANDLER = RetrievalHandler()


def about(row) -> dict[str, str]:
    """What identifies a query in addition to its words."""
    day = getattr(row, "date", None)
    known = {name: getattr(row, name, "") for name in ("key", "claimant", "source")}
    return known | {"date": day.isoformat() if day else ""}


def _as_ranking(answer: Ranking | Prediction) -> Ranking:
    return Ranking(answer.id, error=answer.error, usage=answer.usage) if isinstance(answer, Prediction) else answer


def checked(ranking: Ranking, top: int) -> Ranking:
    """The ranking, or its failure if it has what cannot be a ranking or what no database stores."""
    if ranking.error:
        return ranking
    problem = ""
    if [hit.rank for hit in ranking.hits] != list(range(1, len(ranking.hits) + 1)):
        problem = "ranks do not count from 1"
    elif len(ranking.hits) > top:
        problem = f"{len(ranking.hits)} passages, and {top} were asked for"
    else:
        problem = next(filter(None, map(_problem_of, ranking.hits)), "")
    if not problem:
        return ranking
    return Ranking(ranking.id, error=PredictionError("invalid-answer", problem, True), usage=ranking.usage)


def _problem_of(hit: PassageHit) -> str:
    passage = hit.passage
    if not all(map(math.isfinite, [hit.score, *hit.scores.values()])):
        return f"a score of the passage at rank {hit.rank} is not finite"
    # What was joined of several stretches is longer or shorter than from the first to the last.
    is_stretch = "pieces" in passage.source or passage.end - passage.start == len(passage.text)
    if not 0 <= passage.start <= passage.end or not is_stretch:
        return f"the passage at rank {hit.rank} is not the stretch that it says"
    return ""


def _check_identity(run: RetrievalRun, provenance: dict) -> None:
    """All workers of a run must search alike, or its rankings would not be one retriever's."""
    began, here = _identity(run.provenance), _identity(provenance)
    workers.check_identity(began, here, sorted(began.keys() | here.keys()), run.parameters)


def _identity(described: object) -> object:
    """Without what says where and with what it was computed, which may differ: also inside of the stages."""
    if isinstance(described, dict):
        return {name: _identity(value) for name, value in described.items() if name not in CIRCUMSTANCES}
    return [_identity(value) for value in described] if isinstance(described, list) else described


def _store_provenance(run: RetrievalRun, index: Index) -> None:
    stored = RetrievalRun.objects.select_for_update().get(pk=run.pk)
    if not stored.provenance:
        stored.corpus_hash = index.corpus_hash
    else:
        _check_identity(stored, index.provenance)
        if stored.corpus_hash != index.corpus_hash:
            raise lifecycle.JobError("The documents have changed since this run began; start a new run")
        if index.provenance in workers.descriptions(stored.provenance):
            return
    workers.note_worker(stored.provenance, index.provenance)
    stored.save(update_fields=["provenance", "corpus_hash"])


def _store(
    run: RetrievalRun, rankings: Mapping[int, Ranking], texts: Mapping[int, str], documents: Mapping[str, int]
) -> None:
    column = f"{run.asks}_id"
    # Those of an earlier attempt, where failed queries are tried again.
    QueryRanking.objects.filter(run=run, **{f"{column}__in": list(rankings)}).exclude(reason="").delete()
    stored = {
        query_id: QueryRanking(
            run=run,
            text=texts[query_id],
            expanded=storable(ranking.expanded),
            made=[storable(text) for text in ranking.made],
            reason=ranking.error.reason[:80] if ranking.error else "",
            message=storable(ranking.error.message)[:2000] if ranking.error else "",
            is_permanent=bool(ranking.error and ranking.error.permanent),
            steps=storable_json(list(ranking.steps)),
            **{column: query_id},
        )
        for query_id, ranking in rankings.items()
    }
    QueryRanking.objects.bulk_create(stored.values())
    RankedPassage.objects.bulk_create(
        (
            RankedPassage(
                ranking=stored[query_id],
                rank=hit.rank,
                score=hit.score,
                scores=dict(hit.scores),
                document=hit.passage.document,
                evidence_id=documents.get(hit.passage.document),
                start=hit.passage.start,
                end=hit.passage.end,
                text=hit.passage.text,
                source=storable_json(dict(hit.passage.source)),
            )
            for query_id, ranking in rankings.items()
            for hit in ranking.hits
        ),
        batch_size=PASSAGES_AT_ONCE,
    )


def summary(run: RetrievalRun) -> dict:
    """A run in numbers, as its job keeps them: queries answered, failed and without any passage, passages, failures by
    reason, and `gold` (`gold_found`)."""
    rankings = QueryRanking.objects.filter(run=run)
    failures = list(
        rankings.exclude(reason="")
        .values("reason", "is_permanent")
        .annotate(n=Count("pk"))
        .order_by("-n", "reason", "is_permanent")
    )
    answered = rankings.filter(reason="")
    return {
        "answered": answered.count(),
        "empty": answered.filter(passages=None).count(),
        "passages": RankedPassage.objects.filter(ranking__run=run).count(),
        "failures": failures,
        "failed": sum(row["n"] for row in failures),
        "gold": gold_found(run),
    }


def gold_found(run: RetrievalRun) -> dict | None:
    """How much of the queries' own gold evidence is among the passages: `queries` that were answered and have some,
    `hit` of them with at least one found, `gold` pieces of evidence that they have, `found` of these. A piece counts
    once, however many of its passages were found; the same words under another claim do not count.

    None where nothing is known: no gold evidence, a corpus of the site, or atomic claims, which have none of their own.
    """
    if not searches_evidence(run) or run.asks not in ("claim", "question"):
        return None
    link = f"{run.asks}_id"
    answered = QueryRanking.objects.filter(run=run, reason="")
    gold = evidence_of(run).filter(is_gold=True, **{f"{link}__in": answered.values(link)})
    found = RankedPassage.objects.filter(
        ranking__run=run, evidence__is_gold=True, **{f"evidence__{link}": F(f"ranking__{link}")}
    )
    numbers = {
        "queries": gold.values(link).distinct().count(),
        "hit": found.values("ranking_id").distinct().count(),
        "gold": gold.count(),
        "found": found.values("evidence_id").distinct().count(),
    }
    return numbers if numbers["gold"] else None
