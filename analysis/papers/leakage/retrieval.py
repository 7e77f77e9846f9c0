"""What retrievals found of each claim's gold evidence, and what a judge concluded from it: one row per claim and run.

A retrieval *family* is one retriever with one set of parameters, apart from the seed of made-up passages: its runs are
repeated generations. Which generation a run searched with is found from the words: the document that stands in what was
searched for. A run that searched with nobody's document has claims matched by any document that was generated for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from analysis.papers.leakage.choices import GENERATOR
from analysis.papers.leakage.matching import GENERATION, JudgedDocuments
from analysis.papers.leakage.texts import Texts
from analysis.papers.leakage.verdicts import CUTOFFS, Hit, Judge
from analysis.sources.base import Source
from analysis.sources.rankings import EACH, OWN, Retrieval
from analysis.stats.accuracy.ranking import ranking_scores

SEED = "expansion_seed"


@dataclass
class Family:
    """`rows`: query, repetition (the run's place), matched (1, 0, -1) and a column per measure, nan where undefined."""

    title: str
    retriever: str
    generator: dict[str, str]
    runs: list[str]
    rows: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def retrievals_of(sources: list[Source]) -> list[tuple[Source, Retrieval]]:
    """Finished retrievals for claims, of these projects, oldest first; each once."""
    retrievals: dict[str, tuple[Source, Retrieval]] = {}
    for source in sources:
        for retrieval in source.retrievals():
            if retrieval.asks == "claim":
                retrievals.setdefault(retrieval.uuid, (source, retrieval))
    return sorted(retrievals.values(), key=lambda pair: (str(pair[1].created_at), pair[1].uuid))


def families(
    sources: list[Source],
    judged: JudgedDocuments,
    side: str,
    texts: Texts,
    judge: Judge | None,
) -> list[Family]:
    """Every family of retrievals with its claims' scores. `texts` compares found passages with gold ones.

    Retrievals that searched with documents of the project that are not selected are left out.
    """
    evidence = sources[0].content("evidence")
    of_claims = evidence[evidence["claim"].notna()]
    gold = of_claims[of_claims["is_gold"].eq(True).fillna(False).astype(bool)]
    grouped: dict[tuple, list[tuple[Retrieval, dict, pd.DataFrame, list[str]]]] = {}
    for source, retrieval in retrievals_of(sources):
        rows, generator = _matched_rows(source, retrieval, judged, side)
        if rows is None:
            continue
        by_query = _hits(source.ranking_frame(retrieval))
        notes = _rank(rows, retrieval, by_query, gold)
        if texts.is_on:
            _compare(rows, by_query, gold, texts)
        if judge is not None:
            judge.conclude(rows, retrieval, by_query)
        grouped.setdefault(_family_key(retrieval, generator), []).append((retrieval, generator, rows, notes))
    made = [_family(runs) for runs in grouped.values()]
    _tell_apart(made, [runs[0][0] for runs in grouped.values()])
    return made


def _tell_apart(made: list[Family], retrievals: list[Retrieval]) -> None:
    """Adds to equal titles the parameters in which they differ, or else the beginning of a run's UUID."""
    alike: dict[str, list[int]] = {}
    for place, family in enumerate(made):
        alike.setdefault(family.title, []).append(place)
    for places in (places for places in alike.values() if len(places) > 1):
        names = sorted({name for place in places for name in retrievals[place].parameters} - {SEED})
        values = [{name: str(retrievals[place].parameters.get(name, "")) for name in names} for place in places]
        differing = [name for name in names if len({row[name] for row in values}) > 1]
        words = [", ".join(f"{name} {row[name] or 'none'}" for name in differing) for row in values]
        for place, parts in zip(places, words, strict=True):
            unique = parts if words.count(parts) == 1 and parts else f"run {retrievals[place].uuid[:8]}"
            made[place].title += f", {unique}"


def _family_key(retrieval: Retrieval, generator: dict) -> tuple:
    parameters = sorted((name, str(value)) for name, value in retrieval.parameters.items() if name != SEED)
    model = str(retrieval.provenance.get("model", ""))
    return (retrieval.retriever, retrieval.version, retrieval.corpus, model, *parameters, *generator.values())


def _family(runs: list[tuple[Retrieval, dict, pd.DataFrame, list[str]]]) -> Family:
    retrieval, generator = runs[0][0], runs[0][1]
    expansion = str(retrieval.parameters.get("expansion", ""))
    words = [retrieval.retriever, "" if expansion == "none" else expansion, generator.get("model", "")]
    where = {OWN: "all evidence", EACH: "own passages"}.get(retrieval.corpus, f"corpus {retrieval.corpus}")
    return Family(
        title=f"{' '.join(word for word in words if word)}, {where}",
        retriever=retrieval.retriever,
        generator=generator,
        runs=[run.uuid for run, *_ in runs],
        rows=pd.concat([rows.assign(repetition=place) for place, (*_, rows, _) in enumerate(runs)], ignore_index=True),
        notes=list(dict.fromkeys(note for *_, notes in runs for note in notes)),
    )


def _matched_rows(
    source: Source, retrieval: Retrieval, judged: JudgedDocuments, side: str
) -> tuple[pd.DataFrame | None, dict[str, str]]:
    """query, matched; and whose documents were searched with, if anybody's. None where no such document is selected."""
    queries = source.query_frame(retrieval)
    rows = queries[queries["reason"] == ""][["query", "expanded"]].reset_index(drop=True)
    searched = [
        next((generation for text, generation in judged.written.get(query, ()) if text in expanded), None)
        for query, expanded in zip(rows["query"], rows["expanded"], strict=True)
    ]
    makers = [generation[: len(GENERATOR)] for generation in searched if generation]
    if not makers:
        of_claim = judged.verdicts(side, ["claim"])
        rows["matched"] = of_claim.reindex(rows["query"]).fillna(-1).astype(int).to_numpy()
        return rows[["query", "matched"]], {}
    status = judged.verdicts(side, GENERATION).to_dict()
    makers = [generation[: len(GENERATOR)] for generation in searched if generation in status]
    if not makers:
        return None, {}
    rows["matched"] = [int(status.get(generation, -1)) if generation else -1 for generation in searched]
    rows = rows[[generation is None or generation in status for generation in searched]].reset_index(drop=True)
    usual = max(sorted(set(makers)), key=makers.count)
    return rows[["query", "matched"]], dict(zip(GENERATOR, usual, strict=True))


def _hits(ranking: pd.DataFrame) -> dict[str, list[Hit]]:
    """By query, best first."""
    hits: dict[str, list[Hit]] = {}
    columns = (ranking[name].tolist() for name in ("query", "document", "evidence", "start", "text"))
    for query, document, evidence, start, text in zip(*columns, strict=True):
        known = evidence if isinstance(evidence, str) else None
        hits.setdefault(query, []).append(Hit(document, known, int(start), text))
    return hits


def _rank(rows: pd.DataFrame, retrieval: Retrieval, by_query: dict[str, list[Hit]], gold: pd.DataFrame) -> list[str]:
    """Adds Recall@k and NDCG@k; says why where there are none."""
    wanted = _relevant(retrieval, gold)
    notes = []
    if not wanted:
        notes.append(
            f"No gold evidence is named among the documents of {retrieval.corpus}, so recall and NDCG are undefined; "
            "compare texts instead, or give gold evidence the id of its document as “document” in its metadata."
            if len(gold)
            else "No claim has gold evidence: import passages with “gold” set."
        )
    ranked = [[hit.document for hit in by_query.get(query, ())] for query in rows["query"]]
    relevant = [wanted.get(query, set()) for query in rows["query"]]
    for k in CUTOFFS:
        if k > retrieval.top:
            notes.append(f"{retrieval.retriever} kept {retrieval.top} passages of each claim, too few for k = {k}.")
            rows[f"recall@{k}"] = rows[f"ndcg@{k}"] = float("nan")
            continue
        scores = ranking_scores(ranked, relevant, k)
        rows[f"recall@{k}"], rows[f"ndcg@{k}"] = scores.recall, scores.ndcg
    return notes


def _relevant(retrieval: Retrieval, gold: pd.DataFrame) -> dict[str, set[str]]:
    """By claim the documents that are its gold evidence, as the retrieval calls documents."""
    relevant: dict[str, set[str]] = {}
    for row in gold.itertuples():
        name = row.key if retrieval.searches_evidence else (row.metadata or {}).get("document")
        if name is not None:
            relevant.setdefault(row.claim, set()).add(str(name))
    return relevant


def _compare(rows: pd.DataFrame, by_query: dict[str, list[Hit]], gold: pd.DataFrame, texts: Texts) -> None:
    """Adds how alike the first passages and the gold evidence are."""
    of_claim = {claim: mine["text"].tolist() for claim, mine in gold.groupby("claim", sort=False)}
    passages = [[hit.text for hit in by_query.get(query, ())] for query in rows["query"]]
    references = [of_claim.get(query, []) for query in rows["query"]]
    texts.learn((mine[: max(CUTOFFS)], wanted) for mine, wanted in zip(passages, references, strict=True))
    for k in CUTOFFS if texts.is_on else ():
        rows[f"similarity@{k}"] = [
            texts.similarity(mine[:k], wanted) for mine, wanted in zip(passages, references, strict=True)
        ]
