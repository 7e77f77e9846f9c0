"""What the steps of a pipeline took in, gave and dropped, over all queries of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from annotation.models import RetrievalRun

# Parameters that each step reads, for its row.
READS = {
    "query": ("query", "query_template", "endpoint"),
    "search": ("search", "results", "expansion"),
    "page text": (),
    "filter pages": ("drop_fact_check", "drop_publisher", "drop_later"),
    "chunk": ("chunker", "chunk_words", "chunk_overlap"),
    "filter passages": ("repeat_limit", "drop_duplicates", "least_words", "most_words"),
    "rerank": ("rerank", "reranker"),
    "choose": ("passages_per_page", "pages", "earlier_pages"),
    "join": ("join", "join_words"),
}
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
        known = {name: run.parameters[name] for name in READS.get(one["step"], ()) if name in run.parameters}
        known = {name: value for name, value in known.items() if value != ""}
        rows.append(StepRow(one["step"], known, one["took"], one["gave"], Counter(one.get("dropped", {}))))
    return rows


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
