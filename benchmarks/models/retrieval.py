"""Passages indexed and queries answered per second: BM25 by bm25s against plain Python, and FAISS against numpy.

    python -m benchmarks.models.retrieval [--quick] [--passages N] [--queries N]

Both of a pair do the same on the same machine in the same run, and must find the same passages. Plain BM25 has an
inverted index of dictionaries and computes the formula per query; brute force is one product of matrices and a
partial sort. Embedding is left out: vectors are random, of MiniLM's 384 dimensions. Claims are the queries.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable

from benchmarks.shared.made_up import druid_rows

TOP = 10
K1, B = 1.5, 0.75
DIMENSIONS = 384


def seconds_of(work: Callable, *given):
    started = time.perf_counter()
    found = work(*given)
    return time.perf_counter() - started, found


class PlainBM25:
    def __init__(self, texts: list[str]) -> None:
        from models_runtime.texts.splitting import words

        self.words = words
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.lengths = []
        for place, text in enumerate(texts):
            found = words(text)
            self.lengths.append(len(found))
            for word, often in Counter(found).items():
                self.postings[word].append((place, often))
        self.mean = sum(self.lengths) / len(self.lengths)

    def search(self, query: str) -> list[tuple[int, float]]:
        scores: dict[int, float] = defaultdict(float)
        n = len(self.lengths)
        for word in self.words(query):
            postings = self.postings.get(word, ())
            idf = math.log(1 + (n - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, often in postings:
                scores[place] += idf * often / (often + K1 * (1 - B + B * self.lengths[place] / self.mean))
        return sorted(scores.items(), key=lambda one: (-round(one[1], 6), one[0]))[:TOP]


def line(name: str, indexing: float, searching: float, passages: int, queries: int) -> None:
    print(f"{name:26} {passages / indexing:12,.0f} {queries / searching:12,.1f}")


def lexical(texts: list[str], queries: list[str]) -> None:
    from models_runtime import load_retriever
    from models_runtime.retrieval.contracts import Document, Query

    load_retriever("bm25").index([Document("", "warm up: what it imports is not to be measured")])
    retriever = load_retriever("bm25", {"chunker": "whole", "k1": K1, "b": B})
    indexing, _ = seconds_of(retriever.index, (Document(f"{place:09}", text) for place, text in enumerate(texts)))
    searching, found = seconds_of(retriever.search, [Query("", query) for query in queries], TOP)
    plain_indexing, plain = seconds_of(PlainBM25, texts)
    plain_searching, expected = seconds_of(lambda: [plain.search(query) for query in queries])
    line("bm25 (bm25s)", indexing, searching, len(texts), len(queries))
    line("plain Python", plain_indexing, plain_searching, len(texts), len(queries))
    print(f"ratio: {plain_indexing / indexing:.2f} indexing, {plain_searching / searching:.1f} searching")
    same = sum(
        [int(hit.passage.document) for hit in one.hits] == [place for place, _ in other]
        for one, other in zip(found, expected, strict=True)
    )
    print(f"the same {TOP} passages in the same order: {same} of {len(queries)}")


def dense(passages: int, queries: int) -> None:
    import faiss
    import numpy as np

    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(passages, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = draw.normal(size=(queries, DIMENSIONS)).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)

    def indexed():
        index = faiss.IndexFlatIP(DIMENSIONS)
        for start in range(0, passages, 1024):
            index.add(vectors[start : start + 1024])
        return index

    def brute_force():
        scores = asked @ vectors.T
        best = np.argpartition(-scores, TOP, axis=1)[:, :TOP]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

    def one_by_one():
        return [np.argpartition(-(vectors @ one), TOP)[:TOP] for one in asked]

    indexing, index = seconds_of(indexed)
    searching, (_, places) = seconds_of(index.search, asked, TOP)
    single, _ = seconds_of(lambda: [index.search(one[None], TOP) for one in asked])
    brute, expected = seconds_of(brute_force)
    brute_single, _ = seconds_of(one_by_one)
    line("FAISS, all at once", indexing, searching, passages, queries)
    line("FAISS, one by one", indexing, single, passages, queries)
    print(f"{'numpy, all at once':26} {'':12} {queries / brute:12,.1f}")
    print(f"{'numpy, one by one':26} {'':12} {queries / brute_single:12,.1f}")
    print(f"ratio: {brute / searching:.1f} all at once, {brute_single / single:.1f} one by one")
    print(f"the same {TOP} passages in the same order: {int((places == expected).all(axis=1).sum())} of {queries}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few passages")
    parser.add_argument("--passages", type=int)
    parser.add_argument("--queries", type=int)
    options = parser.parse_args()
    passages = options.passages or (2_000 if options.quick else 100_000)
    n_queries = options.queries or (50 if options.quick else 200)
    rows = list(druid_rows(passages))
    texts = [row.evidence for row in rows]
    claims = sorted({row.claim for row in rows})
    queries = random.Random(0).sample(claims, min(n_queries, len(claims)))
    words = sorted(len(text.split()) for text in texts)
    print(f"{len(texts):,} passages, half of them up to {words[len(words) // 2]} words; {len(queries)} queries")
    print(f"{'':26} {'passages/s':>12} {'queries/s':>12}")
    lexical(texts, queries)
    dense(passages, n_queries)


if __name__ == "__main__":
    main()
