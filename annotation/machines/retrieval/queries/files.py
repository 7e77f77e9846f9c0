"""A retrieval as a file, made while it is sent: TREC's run file, and JSON Lines with the passages."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import quote

from annotation.models import QueryRanking, RankedPassage, RetrievalRun

RANKINGS_AT_ONCE = 200
_BREAKS_A_COLUMN = re.compile(r"[\s%]")


def _rankings(run: RetrievalRun) -> Iterator[tuple[str, QueryRanking, list[RankedPassage]]]:
    """Key of the query, ranking and its passages, in the order of the queries."""
    link, last = f"{run.asks}_id", 0
    while True:
        found = run.rankings.filter(**{f"{link}__gt": last}).select_related(run.asks)
        rankings = list(found.order_by(link)[:RANKINGS_AT_ONCE])
        if not rankings:
            return
        last = getattr(rankings[-1], link)
        passages = defaultdict(list)
        for passage in RankedPassage.objects.filter(ranking__in=rankings).order_by("ranking_id", "rank"):
            passages[passage.ranking_id].append(passage)
        for ranking in rankings:
            yield getattr(ranking, run.asks).key, ranking, passages[ranking.pk]


def column(text: str) -> str:
    """An id as a column of TREC's: white space and `%` become percent escapes."""
    return _BREAKS_A_COLUMN.sub(lambda found: quote(found[0]), text)


def trec_lines(run: RetrievalRun) -> Iterator[str]:
    """`query Q0 document rank score tag`. A document stands once, at its best passage, as `trec_eval` wants it."""
    tag = f"{run.retriever}-{run.uuid.hex[:8]}"
    for key, _, passages in _rankings(run):
        best: dict[str, RankedPassage] = {}
        for passage in passages:
            best.setdefault(passage.document, passage)
        for rank, (document, passage) in enumerate(best.items(), 1):
            yield f"{column(key)} Q0 {column(document)} {rank} {passage.score!r} {tag}\n"


def json_lines(run: RetrievalRun) -> Iterator[str]:
    """One query a line with all of its passages; one that failed has `failed` with the reason and no passages."""
    for key, ranking, passages in _rankings(run):
        row = {"run": str(run.uuid), "query": key, "text": ranking.text}
        if ranking.expanded:
            row["expanded"] = ranking.expanded
        if ranking.reason:
            row["failed"] = ranking.reason
        if ranking.steps:
            row["steps"] = ranking.steps
        row["passages"] = [
            {
                "rank": passage.rank,
                "score": passage.score,
                "scores": passage.scores,
                "document": passage.document,
                "start": passage.start,
                "end": passage.end,
                "text": passage.text,
                **({"source": passage.source} if passage.source else {}),
            }
            for passage in passages
        ]
        yield json.dumps(row, ensure_ascii=False) + "\n"


def web_lines(run: RetrievalRun) -> Iterator[str]:
    """One search or page a line, in the order in which they were answered."""
    for answer in run.web_answers.order_by("pk").iterator(chunk_size=RANKINGS_AT_ONCE):
        row = {"kind": answer.kind, "asked": answer.asked, "answered_at": answer.answered_at.isoformat()}
        row |= {"problem": answer.problem} if answer.problem else {"answer": answer.body}
        yield json.dumps(row, ensure_ascii=False) + "\n"
