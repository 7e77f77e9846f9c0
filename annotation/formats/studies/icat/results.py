"""Rows of ICAT's results: atomic facts, which of them the corpus entails, and which aspects they were found to cover.

Variants differ in their columns: M has `facts` (each with its retrieved documents), S `subtopics`, A
`generated_topics`. In `covered_topics` a `topic_id` counts from 1, and `evidence` counts the entailed facts from 0.
"""

from __future__ import annotations

from annotation.formats.cells import BadCell, to_bool, to_list, to_text
from annotation.formats.records import AtomicClaimRecord
from annotation.formats.studies.icat.subtopics import Subtopics, as_number

VARIANTS = {"facts": "M", "generated_topics": "A"}
FIGURES = ("metrics", "covered_topics", "generated_topics")


def variant_of(cells: dict) -> str:
    """M, S or A."""
    return next((variant for name, variant in VARIANTS.items() if name in cells), "S")


def figures_of(cells: dict) -> dict:
    """What ICAT computed from the facts, as the row has it."""
    return {name: cells[name] for name in FIGURES if cells.get(name) is not None}


def facts_of(cells: dict) -> list[str]:
    """The facts in order, blank ones (an empty line of a language model's answer) included."""
    if "facts" in cells:
        return [
            to_text(_of_object(entry, "fact", f"facts[{place}]"), f"facts[{place}].fact")
            for place, entry in enumerate(_list(cells, "facts"))
        ]
    return [to_text(fact, f"atomic_facts[{place}]") for place, fact in enumerate(_list(cells, "atomic_facts"))]


def claims_of(
    cells: dict, facts: list[str], response: str, query: str, subtopics: Subtopics
) -> list[AtomicClaimRecord]:
    """Atomic claims, `c` and the fact's place as their key; blank facts are none.

    Their metadata: `entailed`; `document` that entails it (M); `aspects` that it supports (S), as keys.
    """
    metadata = _of_documents(cells) if "facts" in cells else _of_lists(cells, facts, query, subtopics)
    return [
        AtomicClaimRecord(f"{response}/c{place}", response, place, fact, metadata[place])
        for place, fact in enumerate(facts)
        if fact.strip()
    ]


def _of_documents(cells: dict) -> list[dict]:
    cited = []
    for place, entry in enumerate(_list(cells, "facts")):
        path = f"facts[{place}].retrieved_docs"
        documents = to_list(entry.get("retrieved_docs") or [], path)
        entailing = [
            _of_object(document, "doc_id", f"{path}[{at}]")
            for at, document in enumerate(documents)
            if to_bool(_of_object(document, "is_entailed", f"{path}[{at}]"), f"{path}[{at}].is_entailed")
        ]
        cited.append({"entailed": bool(entailing)} | ({"document": to_text(entailing[0], path)} if entailing else {}))
    return cited


def _of_lists(cells: dict, facts: list[str], query: str, subtopics: Subtopics) -> list[dict]:
    entailed = [to_text(fact, f"entailed_facts[{place}]") for place, fact in enumerate(_list(cells, "entailed_facts"))]
    known = set(facts)
    for place, fact in enumerate(entailed):
        if fact not in known:
            raise BadCell(f"entailed_facts[{place}]", fact, "is not one of the atomic facts")
    supports = _supports(cells, entailed, query, subtopics) if variant_of(cells) == "S" else {}
    is_entailed = set(entailed)
    return [
        {"entailed": fact in is_entailed} | ({"aspects": supports[fact]} if fact in supports else {}) for fact in facts
    ]


def _supports(cells: dict, entailed: list[str], query: str, subtopics: Subtopics) -> dict[str, list[str]]:
    """Entailed fact -> keys of the aspects that it was found to support."""
    supports: dict[str, list[str]] = {}
    for place, entry in enumerate(_list(cells, "covered_topics")):
        path = f"covered_topics[{place}]"
        topic = as_number(_of_object(entry, "topic_id", path))
        if topic is None or not 1 <= topic <= len(subtopics):
            raise BadCell(f"{path}.topic_id", entry.get("topic_id"), f"is not a topic from 1 to {len(subtopics)}")
        for number in to_list(entry.get("evidence") or [], f"{path}.evidence"):
            # A language model's numbers: ICAT lets those pass that only fit the longer list of all facts.
            at = as_number(number)
            if at is not None and 0 <= at < len(entailed):
                aspects = supports.setdefault(entailed[at], [])
                if (key := f"{query}/a{topic - 1}") not in aspects:
                    aspects.append(key)
    return supports


def _list(cells: dict, name: str) -> list:
    value = cells.get(name)
    return [] if value is None else to_list(value, name)


def _of_object(entry: object, name: str, path: str) -> object:
    if not isinstance(entry, dict):
        raise BadCell(path, entry, "is not a JSON object")
    return entry.get(name)
