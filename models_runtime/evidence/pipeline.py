"""The pipeline as an entry of the registry: a retriever whose rankings are evidence, with what each step did.

query -> search (documents of an index, or the web) -> page text -> filter pages -> chunk -> filter passages -> rerank
-> choose -> join. A page that cannot be read is dropped and listed; a query whose search fails has an error of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..building import build_entry, check_packages
from ..checkers.embedding import PACKAGED_MODEL
from ..contracts import CheckerInfo, InputError, ParameterError, ParameterInfo, PredictionError, Usage
from ..inputs import check_text
from ..packages import BM25S, ROUGE_SCORE, SPACY, TRAFILATURA
from ..retrieval import bm25, dense, hybrid
from ..retrieval.contracts import Document, Passage, PassageHit, Query, Ranking
from ..retrieval.parameters import (
    BM25,
    BY_BM25,
    CHUNKS,
    COSINE,
    DENSE,
    EXPANDED,
    FUSED,
    RERANKED,
    RERANKING,
    STYLE,
)
from ..retrieval.stages import Sought
from . import pages, providers, queries, steps
from .contracts import Forgetful, FoundPage, JoinedEvidence, Memory, QueryWork, StepFunction

SEARCHES = {"bm25": bm25, "dense": dense, "hybrid": hybrid}
ORDERS = ("bm25", "dense", "cross-encoder", "search")
DOCUMENT_CHARS = 400
AT_ONCE = 8  # pages that are fetched at the same time
AFTER_SEARCH: tuple[StepFunction, ...] = (steps.filter_pages, steps.chunk, steps.filter_passages)
AFTER_RERANKING: tuple[StepFunction, ...] = (steps.choose, steps.join)
_EXPANSION = ParameterInfo(
    "expansion",
    "Query expansion",
    "str",
    "none",
    choices=("none", "query2doc", "hyde"),
    hint="Where documents are searched: query2doc with bm25, hyde with dense.",
)
INFO = CheckerInfo(
    slug="evidence",
    version="1",
    kind="retriever",
    title="Evidence pipeline",
    summary="Searches documents or the web, cuts and filters pages, reranks their passages, and joins the best of each "
    "page into one piece of evidence; what every step dropped is shown.",
    roles=(),
    needs="cpu",
    packages=(BM25S, SPACY, ROUGE_SCORE, TRAFILATURA),
    model=PACKAGED_MODEL,
    licence="Apache-2.0",
    gives="rankings",
    parameters=(
        ParameterInfo(
            "query",
            "Query",
            "str",
            "text",
            choices=queries.FORMS,
            hint="text: the claim or question. claimant: the claimant, then the claim. template: the words below. "
            "generated: what a language model would type.",
        ),
        ParameterInfo("query_template", "Template", "str", "{claimant} {text}", hint="{text}, {claimant}, {date}."),
        ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="The server for generated queries and expansions."),
        ParameterInfo("search", "Search of documents", "str", "bm25", choices=tuple(SEARCHES)),
        _EXPANSION,
        STYLE,
        *EXPANDED,
        ParameterInfo("results", "Results per search", "int", 20, 1, providers.MOST_RESULTS),
        replace(CHUNKS[0], default="paragraphs"),
        *CHUNKS[1:],
        ParameterInfo("drop_fact_check", "Drop the fact-check itself", "bool", False),
        ParameterInfo("drop_publisher", "Drop pages of the fact-check's publisher", "bool", False),
        ParameterInfo("drop_later", "Drop pages published after the claim", "bool", False),
        ParameterInfo(
            "repeat_limit", "Drop sentences with ROUGE-L to the claim above", "float", 0.8, 0, 1, hint="1: none."
        ),
        ParameterInfo("drop_duplicates", "Drop passages with the words of another", "bool", True),
        ParameterInfo("least_words", "Minimum words of a passage", "int", 0, 0, 10_000),
        ParameterInfo("most_words", "Maximum words of a passage", "int", 0, 0, 1_000_000, hint="0: any number."),
        ParameterInfo(
            "rerank",
            "Order of passages",
            "str",
            "bm25",
            choices=ORDERS,
            hint="bm25: shared words. dense: embeddings. cross-encoder: the reranking model. search: that of the "
            "search, for documents cut as the search cuts them.",
        ),
        *(one for one in RERANKING if one.name != "rerank_top"),
        ParameterInfo("passages_per_page", "Passages of a page", "int", 3, 0, 1000, hint="0: all."),
        ParameterInfo("pages", "Pages per query", "int", 4, 0, 1000, hint="0: all."),
        ParameterInfo("earlier_pages", "Minimum pages older than the claim", "int", 2, 0, 1000),
        ParameterInfo("join", "Join the passages of a page", "bool", True),
        ParameterInfo("join_words", "Maximum words of joined passages", "int", 300, 1, 1_000_000),
        *BM25,
        *DENSE,
    ),
    scores=(BY_BM25, COSINE, FUSED, RERANKED),
)


class EvidencePipeline:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        if parameters["query"] == "template":
            queries.check_template(parameters["query_template"])
        self._check_order()
        self.server = None
        if parameters["query"] == "generated":
            from ..llm.asking import Server

            self.server = Server(parameters["endpoint"])
        self.inner: Any = None
        self.kept_in: Path | None = None
        self.providers: list[providers.Provider] = []
        self.memory: Memory = Forgetful()
        self.allowed: Collection[str] = ()
        self.order: Any = None

    def _check_order(self) -> None:
        order, model = self.parameters["rerank"], self.parameters["reranker"].strip()
        if order == "cross-encoder" and not model:
            raise ParameterError("reranker", "name the model that orders the passages")
        if order != "cross-encoder" and model:
            raise ParameterError("rerank", "is cross-encoder where a reranking model is named")
        if order == "search" and self.parameters["join"]:
            raise ParameterError("join", "has no passages to join where they keep the order of the search")

    @property
    def slice_at_least(self) -> int:
        return max(one.slice_at_least if one is not None else 1 for one in (self.server, self.inner))

    # --- what is searched -----------------------------------------------------------------------------------------

    def keep_in(self, folder: Path) -> None:
        self.kept_in = folder

    def searching_with(self, parameters: dict[str, Any]) -> EvidencePipeline:
        """The same index, for another expansion of queries; all else of the parameters must be equal."""
        other = copy.copy(self)
        other.parameters = parameters
        other.inner = self.inner.searching_with(self.inner.parameters | other._of_search())
        return other

    def _of_search(self) -> dict[str, Any]:
        """Those of the parameters that the search of documents takes."""
        known = {one.name for one in SEARCHES[self.parameters["search"]].INFO.parameters}
        if self.parameters["expansion"] != "none" and "expansion" not in known:
            raise ParameterError("expansion", f"is not for the search {self.parameters['search']}")
        return {name: value for name, value in self.parameters.items() if name in known and name != "reranker"}

    def index(self, documents: Iterable[Document]) -> None:
        self.inner = build_entry(SEARCHES[self.parameters["search"]], self._of_search())
        if self.kept_in is not None:
            self.inner.keep_in(self.kept_in)
        self.inner.index(documents)
        self._load_order()

    def search_web(self, names: Sequence[str], memory: Memory, allowed: Collection[str] = ()) -> None:
        """Instead of `index`: pages are found by these providers. ParameterError for one that is not configured."""
        check_packages(self.info.slug, self.info.packages)
        if self.parameters["rerank"] == "search":
            raise ParameterError("rerank", "is search for documents only: results of the web are whole pages")
        self._load_order()
        found = providers.configured()
        for name in names:
            if name not in found:
                raise ParameterError("search", f"there is no search provider {name!r} here; {providers.HOW_TO}")
        self.providers = [found[name] for name in names]
        self.memory, self.allowed = memory, allowed

    def _load_order(self) -> None:
        parameters = self.parameters
        if parameters["rerank"] == "cross-encoder":
            from ..retrieval.reranking import Reranker

            self.order = Reranker(
                self.info.slug, parameters["reranker"].strip(), parameters["device"], parameters["token_budget"]
            )
        elif parameters["rerank"] != "search":
            self.order = SEARCHES[parameters["rerank"]].stage_of(parameters)

    # --- the way of a query ---------------------------------------------------------------------------------------

    def search(self, asked: Sequence[Query], top: int) -> list[Ranking]:
        if self.inner is None and not self.providers:
            raise ValueError("nothing was indexed yet: index() or search_web() comes before search()")
        errors: dict[int, PredictionError] = {}
        works: dict[int, QueryWork] = {}
        usage: dict[int, Usage] = {}
        for number, (sought, error, cost) in enumerate(self._sought(asked)):
            if cost:
                usage[number] = cost
            if error:
                errors[number] = error
            else:
                works[number] = QueryWork(asked[number], sought)
                works[number].begin("query", 1).gave = 1
        find = self._find_on_web if self.providers else self._find_in_documents
        find(works, errors, usage)
        for number in [number for number in works if number in errors]:
            del works[number]
        rankings: dict[int, Ranking] = {}
        for work in works.values():
            if self.parameters["rerank"] != "search":
                for step in AFTER_SEARCH:
                    step(work, self.parameters)
            else:
                steps.filter_pages(work, self.parameters)
                work.pieces = [piece for piece in work.pieces if piece.page in work.pages]
                steps.filter_passages(work, self.parameters)
        self._rerank(works, errors)
        for number, work in works.items():
            if number in errors:
                continue
            for step in AFTER_RERANKING:
                step(work, self.parameters)
            shown = work.expanded or (work.sought if work.sought != work.query.text else "")
            rankings[number] = Ranking(
                work.query.id, self._hits(work, top), shown, usage=usage.get(number), made=work.made, steps=_steps(work)
            )
        return [
            rankings.get(number) or Ranking(query.id, error=errors[number], usage=usage.get(number))
            for number, query in enumerate(asked)
        ]

    def _sought(self, asked: Sequence[Query]) -> list[tuple[str, PredictionError | None, Usage | None]]:
        found: list[tuple[str, PredictionError | None, Usage | None]] = []
        for query in asked:
            try:
                if not check_text("query", query.text).strip():
                    raise InputError("empty-query", "the query is empty")
                words = "" if self.server else queries.in_words(query, self.parameters)[: queries.MOST_CHARS]
                found.append((words, None, None))
            except InputError as error:
                found.append(("", _failure_of(error), None))
        if self.server is None:
            return found
        good = [number for number, (_, error, _) in enumerate(found) if error is None]
        for number in good if self.providers else ():
            found[number] = self._written_before(asked[number])
        new = [number for number in good if not any(found[number])]
        made = queries.generated([asked[number] for number in new], self.server)
        for number, one in zip(new, made, strict=True):
            found[number] = one
            if self.providers and one[0]:
                self.memory.put("query", _about(asked[number]), {"query": one[0]})
        return found

    def _written_before(self, query: Query) -> tuple[str, PredictionError | None, Usage | None]:
        """What the model wrote for the query in this run, or in the one that is replayed; nothing where it did not."""
        if known := self.memory.get("query", _about(query)):
            return known[0]["query"], None, None
        if self.memory.only_remembers():
            error = InputError("not-recorded", "the run that is replayed has no query for it", permanent=True)
            return "", _failure_of(error), None
        return "", None, None

    def _find_in_documents(self, works: dict[int, QueryWork], errors: dict, usage: dict) -> None:
        """Distinct documents of the first passages; where passages keep the order of the search, these themselves."""
        keeps, wanted = self.parameters["rerank"] == "search", self.parameters["results"]
        queries_ = [replace(work.query, text=work.sought) for work in works.values()]
        for number, ranking in zip(works, self.inner.search(queries_, wanted if keeps else 4 * wanted), strict=True):
            work = works[number]
            if ranking.usage:
                usage[number] = usage.get(number, Usage()) + ranking.usage
            if ranking.error:
                errors[number] = ranking.error
                continue
            work.expanded, work.made = ranking.expanded, ranking.made
            step = work.begin("search", 1)
            known: dict[str, FoundPage] = {}
            for hit in ranking.hits:
                key = hit.passage.document
                if key not in known and len(known) < wanted:
                    document = self.inner.corpus.document(key)
                    known[key] = FoundPage(
                        key,
                        str(document.source.get("url", "")),
                        document.text,
                        dict(document.source),
                        {self.parameters["search"]: len(known) + 1},
                    )
                if keeps:
                    piece = steps.Stretch(
                        known[key], hit.passage.start, hit.passage.end, hit.passage.text, hit.score, dict(hit.scores)
                    )
                    work.pieces.append(piece)
            work.pages = list(known.values())
            step.gave = len(work.pieces) if keeps else len(work.pages)

    def _find_on_web(self, works: dict[int, QueryWork], errors: dict, usage: dict) -> None:
        for number, work in works.items():
            step, known = work.begin("search", len(self.providers)), {}
            failed: InputError | None = None
            for provider in self.providers:
                try:
                    results = self._results(provider, work.sought)
                except InputError as error:
                    failed = error
                    step.drop(provider.name, "the search failed", str(error))
                    continue
                for rank, one in enumerate(results, 1):
                    self._take_result(provider, rank, one, known, step)
            if failed is not None and step.dropped["the search failed"] == len(self.providers):
                errors[number] = _failure_of(failed)
                continue
            work.pages = list(known.values())
            step.gave = len(work.pages)
        self._read_pages([work for number, work in works.items() if number not in errors])

    def _results(self, provider: providers.Provider, sought: str) -> list[dict[str, Any]]:
        asked = f"{provider.kind} {self.parameters['results']} {sought}"
        known = self.memory.get("search", asked)
        if known is None:
            if self.memory.only_remembers():
                raise InputError("not-recorded", f"{provider.name} was not asked this in the run that is replayed")
            try:
                found = providers.search(provider, sought, self.parameters["results"])
            except InputError as error:
                if error.permanent:
                    self.memory.put("search", asked, {}, str(error))
                raise
            self.memory.put("search", asked, {"results": found})
            return found
        body, problem = known
        if problem:
            raise InputError("search-failed", problem, permanent=False)
        return body["results"]

    def _take_result(
        self, provider: providers.Provider, rank: int, one: dict[str, Any], known: dict[str, FoundPage], step: Any
    ) -> None:
        url = one.get("url")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            step.drop(str(url), "no address of a page")
            return
        address = steps.page_address(url) or url
        if address in known:
            known[address].ranks.setdefault(provider.name, rank)
            step.drop(url, "found already")
            return
        described = {name: one[name] for name in ("title", "publisher") if isinstance(one.get(name), str) and one[name]}
        day = one.get("date")
        if isinstance(day, str) and (found := pages._day(day[:10])):
            described["date"] = found
        known[address] = FoundPage(url, url, "", {"url": url, **described}, {provider.name: rank})

    def _read_pages(self, works: Sequence[QueryWork]) -> None:
        wanted = dict.fromkeys(page.url for work in works for page in work.pages)
        new = [url for url in wanted if self.memory.get("page", url) is None]
        if new and not self.memory.only_remembers():
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for url, found in zip(new, pool.map(lambda url: pages.fetch_page(url, self.allowed), new), strict=True):
                    self.memory.put("page", url, {"text": found.text, "source": found.source}, found.problem)
        for work in works:
            step, kept = work.begin("page text", len(work.pages)), []
            for page in work.pages:
                body, problem = self.memory.get("page", page.url) or ({}, "not recorded in the run that is replayed")
                if problem:
                    step.drop(page.url, "cannot be read", problem)
                    continue
                page.text = body["text"]
                # What the page says of itself comes before what a provider says of it, but for its day.
                page.source = page.source | body["source"] | ({"date": page.date} if page.date else {})
                kept.append(page)
            work.pages, step.gave = kept, len(kept)

    # --- order ----------------------------------------------------------------------------------------------------

    def _rerank(self, works: Mapping[int, QueryWork], errors: dict[int, PredictionError]) -> None:
        order = self.parameters["rerank"]
        for work in works.values():
            if order != "search":
                step = work.begin("rerank", len(work.pieces))
                step.gave = len(work.pieces)
        if order == "cross-encoder":
            self._by_cross_encoder(works, errors)
        elif order != "search":
            for number, work in works.items():
                if work.pieces:
                    error = self._by_stage(work)
                    if error:
                        errors[number] = error

    def _by_stage(self, work: QueryWork) -> PredictionError | None:
        """By words or embeddings among the query's own passages."""
        import numpy as np

        stage = self.order
        stage.begin()
        stage.add([piece.text for piece in work.pieces])
        stage.finish(np.arange(len(work.pieces)))
        (scored,) = stage.search([Sought((work.query.text,))], len(work.pieces))
        if isinstance(scored, PredictionError):
            return scored
        for place, score in scored:
            work.pieces[place].score, work.pieces[place].scores = score, {stage.name: score}
        return None

    def _by_cross_encoder(self, works: Mapping[int, QueryWork], errors: dict[int, PredictionError]) -> None:
        asked = [(number, work, piece) for number, work in works.items() for piece in work.pieces]
        scores = self.order.scores([(work.query.text, piece.text) for _, work, piece in asked])
        for (number, _, piece), score in zip(asked, scores, strict=True):
            if isinstance(score, PredictionError):
                errors.setdefault(number, score)
            else:
                piece.score, piece.scores = score, {"rerank": score}

    # --- results --------------------------------------------------------------------------------------------------

    def _hits(self, work: QueryWork, top: int) -> tuple[PassageHit, ...]:
        step = work.steps[-1]
        for one in work.evidence[top:]:
            step.drop(one.text, f"not among the first {top}")
        work.evidence = work.evidence[:top]
        step.gave = len(work.evidence)
        return tuple(
            PassageHit(_passage(one), rank, one.score, one.scores or {"search": one.score})
            for rank, one in enumerate(work.evidence, 1)
        )

    def describe(self) -> dict[str, Any]:
        inner = self.inner.describe() if self.inner is not None else {}
        ordered = self.order.describe() if self.order is not None else {}
        described = {
            "retriever": self.info.slug,
            "version": self.info.version,
            "model": inner.get("model", ""),
            "revision": inner.get("revision", ""),
            "device": inner.get("device", "cpu"),
            "parameters": dict(self.parameters),
            "chunker": steps.Chunker(
                self.parameters["chunker"], self.parameters["chunk_words"], self.parameters["chunk_overlap"]
            ).label,
            "libraries": pages.libraries() | inner.get("libraries", {}) | ordered.pop("libraries", {}),
        }
        if inner:
            described |= {"documents": inner["documents"], "passages": inner["passages"], "stages": inner["stages"]}
        if ordered.get("model"):
            described["ordered_by"] = {"model": ordered["model"], "revision": ordered["revision"]}
        if self.providers:
            described["providers"] = [f"{one.name} ({one.kind})" for one in self.providers]
        if self.server is not None:
            is_replay = self.memory.only_remembers()
            described["queries_by"] = {"from": "the run that is replayed"} if is_replay else self.server.describe()
        return described


def _passage(one: JoinedEvidence) -> Passage:
    import hashlib

    source = dict(one.page.source)
    if one.page.text:
        source["sha256"] = hashlib.sha256(one.page.text.encode()).hexdigest()
    if one.page.ranks:
        source["search_ranks"] = dict(one.page.ranks)
    start, end = one.pieces[0].start, one.pieces[-1].end
    if len(one.pieces) > 1 or one.pieces[0].is_cut:
        source["pieces"] = [[piece.start, piece.end] for piece in one.pieces]
    key = one.page.id if len(one.page.id) <= DOCUMENT_CHARS else f"{one.page.id[: DOCUMENT_CHARS - 1]}…"
    return Passage(key, start, end, one.text, source)


def _about(query: Query) -> str:
    """What a model is shown of a query."""
    return "\n".join(filter(None, (query.about.get("claimant", ""), query.text)))


def _steps(work: QueryWork) -> tuple[dict[str, Any], ...]:
    return tuple(step.as_json() for step in work.steps)


def _failure_of(error: InputError) -> PredictionError:
    return PredictionError(error.reason, str(error), error.permanent)


build: Callable[[CheckerInfo, dict[str, Any]], EvidencePipeline] = EvidencePipeline
