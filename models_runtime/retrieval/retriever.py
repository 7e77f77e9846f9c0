"""The retrievers: documents are cut, every stage takes in the passages, and a query's ranking comes from one stage, or
from several by reciprocal rank fusion, and is ordered anew by a reranker where there is one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..contracts import CheckerInfo, InputError, PredictionError
from ..inputs import check_text
from .chunkers import Chunker
from .contracts import Document, PassageHit, Query, Ranking
from .corpus import Corpus
from .expansion import Expanded, Expansion
from .reranking import Reranker
from .stages import NO_WORDS, Scored, Sought, Stage, reciprocal_ranks

# Passages that stages take in at a time.
AT_ONCE = 1024
FUSED = "fused"


class StagedRetriever:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any], stages: Sequence[Stage]) -> None:
        self.info, self.parameters, self.stages = info, parameters, stages
        self.chunker = Chunker(parameters["chunker"], parameters["chunk_words"], parameters["chunk_overlap"])
        self.reranker = None
        if parameters["reranker"].strip():
            self.reranker = Reranker(
                info.slug, parameters["reranker"].strip(), parameters["device"], parameters["token_budget"]
            )
        self.expansion = Expansion(parameters) if parameters.get("expansion", "none") != "none" else None
        self.corpus: Corpus | None = None

    @property
    def slice_at_least(self) -> int:
        """How many queries one call should have, so that a server is kept busy."""
        return self.expansion.slice_at_least if self.expansion else 1

    def searching_with(self, parameters: dict[str, Any]) -> StagedRetriever:
        """The same index, for another expansion of queries; all else of the parameters must be equal."""
        other = copy.copy(self)
        other.parameters = parameters
        other.expansion = Expansion(parameters) if parameters.get("expansion", "none") != "none" else None
        return other

    def keep_in(self, folder: Path) -> None:
        """Vectors lie below this folder from the next index on, and what is there already is not computed again."""
        for stage in self.stages:
            if hasattr(stage, "keep_in"):
                stage.keep_in(folder)

    def index(self, documents: Iterable[Document]) -> None:
        """Documents are taken one at a time, as they come. InputError names one that cannot be read or comes twice;
        nothing is indexed then."""
        corpus, self.corpus = Corpus(self.chunker), None
        for stage in self.stages:
            stage.begin()
        for texts in corpus.add_all(documents, AT_ONCE):
            for stage in self.stages:
                stage.add(texts)
        order = corpus.order()
        for stage in self.stages:
            stage.finish(order)
        self.corpus = corpus

    def search(self, queries: Sequence[Query], top: int) -> list[Ranking]:
        """A query that cannot be read gets a ranking with an error; the others go on. ValueError before `index`, or
        where `top` is less than 1."""
        if self.corpus is None:
            raise ValueError("nothing was indexed yet: index() comes before search()")
        if top < 1:
            raise ValueError(f"top is {top}; it must be at least 1")
        errors: dict[int, PredictionError] = {}
        readable: dict[int, Query] = {}
        for number, query in enumerate(queries):
            try:
                readable[number] = _readable(query)
            except InputError as error:
                errors[number] = PredictionError(error.reason, str(error), error.permanent)
        expanded = self._expanded(readable)
        places: dict[frozenset[str], Any] = {}
        asked: dict[int, Sought] = {}
        for number, one in expanded.items():
            if one.error:
                errors[number] = one.error
            else:
                asked[number] = Sought(one.texts, self._allowed(queries[number], places))
        candidates = self._candidates(asked, self._depth(top), errors)
        if self.reranker:
            candidates = self._reranked(queries, candidates, errors)
        rankings = []
        for number, query in enumerate(queries):
            searched = expanded.get(number, Expanded())
            hits = () if number in errors else self._hits(candidates[number][:top])
            rankings.append(Ranking(query.id, hits, searched.shown, errors.get(number), searched.usage, searched.made))
        return rankings

    def _expanded(self, queries: dict[int, Query]) -> dict[int, Expanded]:
        """What is searched for instead of each query; the query itself without an expansion."""
        if self.expansion is None:
            return {number: Expanded((query.text,)) for number, query in queries.items()}
        return dict(zip(queries, self.expansion.expand(list(queries.values())), strict=True))

    def _allowed(self, query: Query, known: dict[frozenset[str], Any]) -> Any:
        if query.documents is None:
            return None
        if query.documents not in known:
            known[query.documents] = self.corpus.places_in(query.documents)
        return known[query.documents]

    def _depth(self, top: int) -> int:
        """How many passages a stage is asked for."""
        deeper = [top]
        if self.reranker:
            deeper = [self.parameters["rerank_top"]]
        if len(self.stages) > 1:
            deeper.append(self.parameters["depth"])
        return max(deeper)

    def _candidates(
        self, asked: dict[int, Sought], depth: int, errors: dict[int, PredictionError]
    ) -> dict[int, list[tuple[int, dict[str, float]]]]:
        """Per query its passages, best first, with their scores by name; the last one decided."""
        rankings: dict[int, dict[str, Scored]] = {number: {} for number in asked}
        for stage in self.stages:
            for number, scored in zip(asked, stage.search(list(asked.values()), depth), strict=True):
                if not isinstance(scored, PredictionError):
                    rankings[number][stage.name] = scored
                elif scored.reason != NO_WORDS or len(self.stages) == 1:  # without words there is still a meaning
                    errors.setdefault(number, scored)
        return {number: self._fused(by_name) for number, by_name in rankings.items() if number not in errors}

    def _fused(self, rankings: dict[str, Scored]) -> list[tuple[int, dict[str, float]]]:
        scores: dict[int, dict[str, float]] = {}
        for name, scored in rankings.items():
            for place, score in scored:
                scores.setdefault(place, {})[name] = score
        if len(self.stages) == 1:
            return list(scores.items())
        lists = [[place for place, _ in scored] for scored in rankings.values()]
        for place, score in reciprocal_ranks(lists, self.parameters["rrf_constant"]).items():
            scores[place][FUSED] = score
        return sorted(scores.items(), key=lambda one: (-one[1][FUSED], self.corpus.key(one[0])))

    def _reranked(
        self,
        queries: Sequence[Query],
        candidates: dict[int, list[tuple[int, dict[str, float]]]],
        errors: dict[int, PredictionError],
    ) -> dict[int, list[tuple[int, dict[str, float]]]]:
        limit = self.parameters["rerank_top"]
        pairs = [(number, place, scores) for number, one in candidates.items() for place, scores in one[:limit]]
        judged = self.reranker.scores([(queries[number].text, self.corpus.text(place)) for number, place, _ in pairs])
        again: dict[int, list[tuple[int, dict[str, float]]]] = {number: [] for number in candidates}
        for (number, place, scores), score in zip(pairs, judged, strict=True):
            if isinstance(score, PredictionError):
                errors.setdefault(number, score)
            else:
                again[number].append((place, scores | {self.reranker.name: score}))
        name = self.reranker.name
        for ranking in again.values():
            ranking.sort(key=lambda one: (-one[1][name], self.corpus.key(one[0])))
        return again

    def _hits(self, scored: list[tuple[int, dict[str, float]]]) -> tuple[PassageHit, ...]:
        return tuple(
            PassageHit(self.corpus.passage(place), rank, list(scores.values())[-1], scores)
            for rank, (place, scores) in enumerate(scored, 1)
        )

    def describe(self) -> dict[str, Any]:
        """As the contract says. `model` and `revision` are those of the stage that has a model, if any; every stage's
        own are under `stages`."""
        stages = {stage.name: stage.describe() for stage in self.stages}
        if self.reranker:
            stages[self.reranker.name] = self.reranker.describe()
        models = [one for one in stages.values() if one.get("model")]
        if self.expansion:
            stages["expansion"] = self.expansion.describe()
        libraries: dict[str, str] = {}
        for one in stages.values():
            libraries |= one.pop("libraries")
        return {
            "retriever": self.info.slug,
            "version": self.info.version,
            "model": models[0]["model"] if models else "",
            "revision": models[0]["revision"] if models else "",
            "device": models[0]["device"] if models else "cpu",
            "parameters": dict(self.parameters),
            "chunker": self.chunker.label,
            "documents": len(self.corpus.ids) if self.corpus else 0,
            "passages": len(self.corpus) if self.corpus else 0,
            "stages": stages,
            "libraries": libraries,
        }


def _readable(query: Query) -> Query:
    if not check_text("query", query.text).strip():
        raise InputError("empty-query", "the query is empty")
    return query
