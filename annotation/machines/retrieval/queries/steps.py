"""What the steps of a pipeline took in, gave and dropped, over all queries of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from annotation.machines.retrieval.retrieving import searches_web, web_providers
from annotation.models import RetrievalRun

# Parameters that each step reads, for its row; then those that only some searches, orders and expansions read.
READS = {
    "query": ("query",),
    "search": ("search", "results", "expansion"),
    "page text": (),
    "filter pages": ("drop_fact_check", "drop_publisher", "drop_later"),
    "chunk": ("chunker", "chunk_words", "chunk_overlap"),
    "filter passages": ("repeat_limit", "drop_duplicates", "least_words", "most_words"),
    "rerank": ("rerank",),
    "choose": ("passages_per_page", "pages", "earlier_pages"),
    "join": ("join", "join_words"),
}
_WORDS, _VECTORS = ("k1", "b"), ("model", "query_prefix", "passage_prefix", "vector_index", "probes")
_ORDERS = {"bm25": _WORDS, "dense": _VECTORS, "hybrid": (*_WORDS, *_VECTORS), "cross-encoder": ("reranker",)}
_EXPANDED = ("expansion_style", "expansion_prompt", "expansion_seed", "expansion_from")
QUERIES_AT_ONCE = 500


@dataclass(slots=True)
class StepRow:
    name: str
    parameters: dict = field(default_factory=dict)
    took: int = 0
    gave: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        return self.dropped.most_common()


def steps_of(run: RetrievalRun) -> list[StepRow]:
    """In the order of the pipeline; none of a retriever without steps. The sums are stored when the run is done."""
    sums = run.job.result.get("steps") if run.job.result else None
    if sums is None:
        sums = sum_steps(run)
    rows = []
    for one in sums:
        known = _parameters_of(one["step"], run)
        rows.append(StepRow(one["step"], known, one["took"], one["gave"], Counter(one.get("dropped", {}))))
    return rows


def _parameters_of(step: str, run: RetrievalRun) -> dict:
    chosen, names = run.parameters, list(READS.get(step, ()))
    if step == "query":
        names += {"template": ("query_template",), "generated": ("endpoint",)}.get(chosen["query"], ())
    elif step == "search" and searches_web(run):
        return {"providers": " + ".join(web_providers(run)), "results": chosen["results"]}
    elif step == "search":
        names += _ORDERS[chosen["search"]]
        names += (*_EXPANDED, "endpoint") if chosen["expansion"] != "none" else ()
        names += READS["chunk"] if chosen["rerank"] == "search" else ()  # which then has no row of its own
    elif step == "rerank":
        names += _ORDERS.get(chosen["rerank"], ())
    return {name: chosen[name] for name in names if chosen.get(name, "") != ""}


def sum_steps(run: RetrievalRun) -> list[dict]:
    found: dict[str, StepRow] = {}
    rankings = run.rankings.exclude(steps=[]).values_list("steps", flat=True)
    for steps in rankings.iterator(chunk_size=QUERIES_AT_ONCE):
        for step in steps:
            row = found.setdefault(step["step"], StepRow(step["step"]))
            row.took += step["took"]
            row.gave += step["gave"]
            row.dropped.update(step.get("dropped", {}))
    names = [*READS, *(name for name in found if name not in READS)]
    return [
        {"step": name, "took": found[name].took, "gave": found[name].gave, "dropped": dict(found[name].dropped)}
        for name in names
        if name in found
    ]
