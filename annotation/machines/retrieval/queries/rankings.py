"""Reads of retrievals for their pages: the list, a run's rankings, one ranking next to that of another run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Q, QuerySet

from annotation.machines.retrieval.documents import evidence_of, searches_evidence
from annotation.machines.retrieval.retrieving import ASKED, EACH, OWN, WEB
from annotation.models import Job, Project, QueryRanking, RankedPassage, RetrievalRun

FIRST_HITS = 3
# How many other runs a run can be compared with from its page.
OTHERS = 50


def runs_of(project: Project) -> QuerySet[RetrievalRun]:
    found = RetrievalRun.objects.filter(project=project)
    return found.select_related("job", "created_by").order_by("-pk")


def others_of(run: RetrievalRun) -> list[RetrievalRun]:
    """Other runs of the project for the same kind of queries that are done, newest first."""
    found = RetrievalRun.objects.filter(project=run.project_id, asks=run.asks, job__state=Job.State.DONE)
    return list(found.exclude(pk=run.pk).order_by("-pk")[:OTHERS])


def words_for(run: RetrievalRun) -> tuple[str, str]:
    """What the run searches for, and where."""
    where = {OWN: "all evidence of the data set", EACH: "each query's own passages"}
    if run.corpus.startswith(WEB):
        return ASKED[run.asks].title.lower(), f"the web, by {run.corpus.removeprefix(WEB).replace('+', ' and ')}"
    return ASKED[run.asks].title.lower(), where.get(run.corpus, f"the corpus {run.corpus}")


def find_rankings(run: RetrievalRun, search: str = "") -> QuerySet[QueryRanking]:
    """The run's rankings in the order of their queries, those whose key or words contain `search`."""
    found = run.rankings.select_related(run.asks).order_by(f"{run.asks}_id")
    if search:
        found = found.filter(Q(text__icontains=search) | Q(**{f"{run.asks}__key__icontains": search}))
    return found


@dataclass(frozen=True)
class GoldOfQuery:
    found: int
    total: int


@dataclass(frozen=True)
class RankingRow:
    """A ranking in the list: its first passages, how many there are, how much of the query's gold evidence is among
    them (None where it has none) and how many of them another run has, too (None where there is none to compare)."""

    ranking: QueryRanking
    key: str
    hits: list[RankedPassage]
    count: int
    gold: GoldOfQuery | None
    shared: int | None


def rows_of(run: RetrievalRun, rankings: list[QueryRanking], other: RetrievalRun | None) -> list[RankingRow]:
    """Five queries at most, however many rankings."""
    first = defaultdict(list)
    for hit in _passages(rankings).filter(rank__lte=FIRST_HITS):
        first[hit.ranking_id].append(hit)
    counts = dict(
        RankedPassage.objects.filter(ranking__in=rankings).values_list("ranking_id").annotate(Count("pk")).order_by()
    )
    gold = gold_of(run, rankings)
    shared = _shared(run, rankings, other) if other else {}
    return [
        RankingRow(
            ranking,
            getattr(ranking, run.asks).key,
            first[ranking.pk],
            counts.get(ranking.pk, 0),
            gold.get(ranking.pk),
            shared.get(ranking.pk),
        )
        for ranking in rankings
    ]


def _passages(rankings: Iterable[QueryRanking]) -> QuerySet[RankedPassage]:
    found = RankedPassage.objects.filter(ranking__in=list(rankings))
    return found.select_related("evidence").order_by("ranking_id", "rank")


def gold_of(run: RetrievalRun, rankings: list[QueryRanking]) -> dict[int, GoldOfQuery]:
    """By ranking, for queries that have gold evidence of their own among the documents of the run."""
    if not searches_evidence(run) or run.asks not in ("claim", "question"):
        return {}
    link = f"{run.asks}_id"
    parents = [getattr(ranking, link) for ranking in rankings]
    gold = evidence_of(run).filter(is_gold=True, **{f"{link}__in": parents})
    of_parent: dict[int, set[int]] = defaultdict(set)
    for parent, pk in gold.values_list(link, "pk"):
        of_parent[parent].add(pk)
    found: dict[int, set[int]] = defaultdict(set)
    hits = RankedPassage.objects.filter(ranking__in=rankings, evidence__is_gold=True)
    for ranking, evidence in hits.values_list("ranking_id", "evidence_id"):
        found[ranking].add(evidence)
    return {
        ranking.pk: GoldOfQuery(len(found[ranking.pk] & own), len(own))
        for ranking in rankings
        if (own := of_parent[getattr(ranking, link)])
    }


def _shared(run: RetrievalRun, rankings: list[QueryRanking], other: RetrievalRun) -> dict[int, int]:
    here, there = _stretches(rankings), _rankings_beside(run, rankings, other)
    return {
        ranking.pk: sum(1 for passage in here[ranking.pk] if rank_in(passage, there[ranking.pk]))
        for ranking in rankings
        if ranking.pk in there
    }


def _rankings_beside(
    run: RetrievalRun, rankings: list[QueryRanking], other: RetrievalRun
) -> dict[int, list[RankedPassage]]:
    """By ranking the passages that another run has for the same query."""
    link = f"{run.asks}_id"
    of_query = {getattr(ranking, link): ranking.pk for ranking in rankings}
    others = list(QueryRanking.objects.filter(run=other, reason="", **{f"{link}__in": list(of_query)}))
    passages = _stretches(others)
    return {of_query[getattr(each, link)]: passages[each.pk] for each in others}


def _stretches(rankings: list[QueryRanking]) -> dict[int, list[RankedPassage]]:
    found = defaultdict(list)
    columns = ("ranking_id", "rank", "document", "start", "end")
    for passage in RankedPassage.objects.filter(ranking__in=rankings).only(*columns).order_by("ranking_id", "rank"):
        found[passage.ranking_id].append(passage)
    return found


def rank_in(passage: RankedPassage, others: list[RankedPassage]) -> int | None:
    """The rank of the first of the other passages that shares characters of the same document with this one."""
    for other in others:
        same = other.document == passage.document
        if same and max(other.start, passage.start) < min(other.end, passage.end):
            return other.rank
    return None


@dataclass(frozen=True)
class ShownHit:
    """A passage of a ranking; `other_rank` is its place in the other run's, `is_gold` whether it is from gold evidence
    of its own query."""

    passage: RankedPassage
    is_gold: bool
    other_rank: int | None


@dataclass(frozen=True)
class ComparedRanking:
    """One query's ranking, and that of another run where one is given and has it."""

    ranking: QueryRanking
    key: str
    hits: list[ShownHit]
    gold: GoldOfQuery | None
    other: QueryRanking | None = None
    other_hits: list[ShownHit] = field(default_factory=list)

    @property
    def shared(self) -> int:
        return sum(1 for hit in self.hits if hit.other_rank)


def compared_with(run: RetrievalRun, key: str, other: RetrievalRun | None) -> ComparedRanking | None:
    """The ranking of the query with this key; None where the run has none."""
    link = f"{run.asks}_id"
    ranking = run.rankings.select_related(run.asks).filter(**{f"{run.asks}__key": key}).order_by(f"-{link}").first()
    if ranking is None:
        return None
    here, there, theirs = list(_passages([ranking])), [], None
    if other is not None:
        theirs = QueryRanking.objects.filter(run=other, **{link: getattr(ranking, link)}).first()
        there = list(_passages([theirs])) if theirs else []
    return ComparedRanking(
        ranking,
        key,
        _hits(run, ranking, here, there),
        gold_of(run, [ranking]).get(ranking.pk),
        theirs,
        _hits(other, theirs, there, here) if theirs else [],
    )


def _hits(
    run: RetrievalRun, ranking: QueryRanking, passages: list[RankedPassage], others: list[RankedPassage]
) -> list[ShownHit]:
    link = f"{run.asks}_id"

    def is_gold(passage: RankedPassage) -> bool:
        source = passage.evidence
        return bool(source and source.is_gold and getattr(source, link, None) == getattr(ranking, link))

    return [ShownHit(passage, is_gold(passage), rank_in(passage, others)) for passage in passages]


def neighbours(run: RetrievalRun, ranking: QueryRanking) -> tuple[str, str]:
    """Keys of the queries before and after this one; empty at the ends."""
    link, place = f"{run.asks}_id", getattr(ranking, f"{run.asks}_id")
    keys = run.rankings.values_list(f"{run.asks}__key", flat=True)
    before = keys.filter(**{f"{link}__lt": place}).order_by(f"-{link}").first()
    after = keys.filter(**{f"{link}__gt": place}).order_by(link).first()
    return before or "", after or ""
