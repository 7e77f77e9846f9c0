"""What pages show of the making of pairs: what there is to make them from, and what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from annotation.datasets.queries import ContentCount, documents_of
from annotation.imports.pairs.pairing import REASONS, gold_evidence, with_gold_evidence
from annotation.imports.queries import ImportResult, import_result
from annotation.models import Dataset, Job, Pair, UnitKind
from annotation.task_types import current_task_types

# Counts of a job's result in the order of the page, in its words.
COUNTS = (
    ("claims", "Claims"),
    ("gold_evidence", "Gold evidence"),
    ("documents", "Documents"),
    ("sentences", "Sentences"),
    ("pairs", "Pairs"),
)
# What comes with them only if there is some.
NOTES = (
    ("documents_left_out", "document not drawn", "documents not drawn"),
    (
        "documents_without_gold",
        "document of a claim without gold evidence",
        "documents of claims without gold evidence",
    ),
    ("documents_without_pairs", "document without a sentence left", "documents without a sentence left"),
    ("repeated_evidence", "repeated piece of gold evidence", "repeated pieces of gold evidence"),
)


@dataclass(frozen=True, slots=True)
class PairsResult:
    found: ImportResult  # rows that are new, changed, wrong
    counts: tuple[ContentCount, ...]
    notes: tuple[tuple[int, str], ...]
    dropped: tuple[tuple[str, int, list[dict]], ...]  # reason, how many sentences, examples


# What pairs are made from, in the order of the page.
MATERIAL = {
    "documents": "Generated documents",
    "usable": "of claims with gold evidence",
    "gold_evidence": "Gold evidence",
    "pairs": "Pairs so far",
}


def count_material(datasets: Iterable[Dataset]) -> dict[int, dict[str, int]]:
    found = {}
    for dataset in datasets:
        documents = documents_of(dataset)
        rows = {
            "documents": documents,
            "usable": with_gold_evidence(documents),
            "gold_evidence": gold_evidence(dataset),
            "pairs": Pair.objects.published().filter(dataset=dataset),
        }
        found[dataset.pk] = {name: of_kind.count() for name, of_kind in rows.items()}
    return found


def material_counts(found: Mapping[str, int]) -> list[ContentCount]:
    """What `count_material` found, in the order of the page."""
    return [ContentCount(title, found[name]) for name, title in MATERIAL.items() if name in found]


def fitting_task_type() -> str:
    """The identifier of the type that asks least of a pair: what decides whether a claim is matched is entailment."""
    kinds = (kind for kind in current_task_types() if kind.unit_kind == UnitKind.PAIR)
    return min(kinds, key=lambda kind: sum(len(dimension.labels) for dimension in kind.dimensions)).identifier


def notes_on(counts: dict[str, int]) -> Iterator[tuple[int, str]]:
    """How many of what was left out or gives nothing, in words; only where there is some."""
    for name, one, several in NOTES:
        if number := counts.get(name):
            yield number, one if number == 1 else several


def pairs_result(job: Job) -> PairsResult:
    counts = job.result.get("counts", {})
    dropped = job.result.get("dropped", {})
    examples = job.result.get("examples", {})
    return PairsResult(
        found=import_result(job),
        counts=tuple(ContentCount(title, counts[name]) for name, title in COUNTS if name in counts),
        notes=tuple(notes_on(counts)),
        dropped=tuple((reason, dropped[reason], examples.get(reason, [])) for reason in REASONS if dropped.get(reason)),
    )
