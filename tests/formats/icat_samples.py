"""ICAT's files in small: two queries, two models, three documents."""

from __future__ import annotations

import json
from pathlib import Path

from annotation.formats import SourceFile

from .helpers import put

COFFEE = ["benefits of coffee", "risks of coffee", "how much is safe"]
HORSES = ["hoof care", "hoof diseases"]
QUERIES = [
    {"query_id": 1, "query": "coffee", "subtopics": COFFEE},
    {"query_id": 2, "query": "horse hooves", "subtopics": HORSES},
]
DESCRIPTIONS = {1: "What does coffee do to health?", 2: "Find out about horse hooves."}
SUBTOPICS = {1: COFFEE, 2: HORSES}


def annotation(query: int = 1, covered: object = (), response: str = "Coffee wakes.", **more) -> dict:
    return {
        "query_id": query,
        "query_description": DESCRIPTIONS.get(query, "?"),
        "model_response": response,
        "subtopics": SUBTOPICS.get(query, []),
        "covered": list(covered) if isinstance(covered, tuple) else covered,
    } | more


def result(query: int = 1, facts=("Coffee wakes.", "Coffee is red."), entailed=("Coffee wakes.",), **more) -> dict:
    row = {"query_id": query, "query": QUERIES[query - 1]["query"], "subtopics": SUBTOPICS[query]}
    row |= {"atomic_facts": list(facts), "entailed_facts": list(entailed)}
    row |= {"covered_topics": [{"topic_id": 1, "evidence": [0]}]}
    return row | {"metrics": {"coverage": 1 / 3, "factuality": 0.5, "f1": 0.4}} | more


QRELS = [
    {"query_id": 1, "doc_id": "d1", "relevance": 1, "subtopic_id": 1},
    {"query_id": 1, "doc_id": "d1", "relevance": 0, "subtopic_id": 3},
    {"query_id": 1, "doc_id": "d2", "relevance": 0, "subtopic_id": 0},
    {"query_id": 2, "doc_id": "d1", "relevance": 2, "subtopic_id": 2},
]
CORPUS = [
    {"id": "d0", "contents": "Nobody names this."},
    {"id": "d1", "contents": "Coffee wakes.\r\nHooves grow.", "url": "https://e.org/1", "spam": 70},
    {"id": "d2", "contents": "Tea is another matter."},
]


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def source(tmp_path: Path, name: str, rows: list[dict]) -> SourceFile:
    return put(tmp_path, name, lines(rows))


def everything(tmp_path: Path) -> dict[str, SourceFile]:
    """By kind, with annotations of two models."""
    return {
        "annotations": source(
            tmp_path,
            "annotations/gpt-4.jsonl",
            [annotation(1, (COFFEE[2], COFFEE[0])), annotation(2, (), "Hooves.")],
        ),
        "more annotations": source(tmp_path, "annotations/mixtral.jsonl", [annotation(1, (COFFEE[1],), "Tea.")]),
        "results": source(tmp_path, "results/mixtral_results.jsonl", [result()]),
        "corpus": source(tmp_path, "corpus.jsonl", CORPUS),
        "qrels": source(tmp_path, "qrels.jsonl", QRELS),
        "queries": source(tmp_path, "queries.jsonl", QUERIES),
    }
