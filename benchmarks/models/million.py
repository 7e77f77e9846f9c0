"""Retrieval at size: embedding, a million vectors on disk, BM25 over a million passages, the pipeline on 1,000 claims.

    python -m benchmarks.models.million [--quick] [--part embedding|vectors|bm25|pipeline] [--size N] [--real N]
        [--device cpu|cuda] [--budget TOKENS]

Vectors are drawn near those of real passages (made-up claims and evidence, embedded by MiniLM): each is one of them,
moved by a third of a unit. Seconds are of this process's processors; memory is the greatest resident size, in which
mapped files count as far as they are in memory. Recall is told by the index itself, against all vectors.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.shared.made_up import druid_rows

REAL, QUERIES, TOP = 20_000, 200, 10
PARTS = ("embedding", "vectors", "bm25", "pipeline")


class Clock:
    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu


def told(what: str, clock: Clock, count: int, unit: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what}: {clock.wall:,.1f} s, {clock.cpu:,.1f} s of processors, {count / clock.wall:,.1f} {unit}/s, "
          f"{peak:,.0f} MB at most", flush=True)  # fmt: skip


def texts(count: int) -> list[str]:
    return [row.evidence for row in druid_rows(count)]


def embedding(count: int, device: str, budget: int):
    import numpy as np

    from models_runtime.retrieval.dense import DenseStage

    stage, found = DenseStage("all-MiniLM-L6-v2", device, budget), []
    passages = texts(count)
    stage.encoder.embed(passages[:64])
    with Clock() as clock:
        for start in range(0, count, 1024):
            vectors, _ = stage._embed(passages[start : start + 1024])
            found.append(vectors)
    told(f"embedding of {count:,} passages", clock, count, "passages")
    print(f"extrapolated to 1,000,000: {1_000_000 * clock.wall / count / 3600:.1f} hours")
    return np.concatenate(found)


def million_vectors(size: int, real) -> None:
    import numpy as np

    from models_runtime.retrieval.vectors import VectorIndex, VectorStore

    draw = np.random.default_rng(0)
    dimension = real.shape[1]

    def near(count: int):
        found = real[draw.integers(len(real), size=count)]
        found = found + draw.normal(size=found.shape).astype(np.float32) / (3 * dimension**0.5)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    with tempfile.TemporaryDirectory() as folder:
        store, rows = VectorStore(Path(folder), dimension), []
        with Clock() as clock:
            for start in range(0, size, 50_000):
                names = [str(number) for number in range(start, min(start + 50_000, size))]
                rows += store.add(names, lambda new: (near(len(new)), [False] * len(new)))
        told(f"storing {size:,} vectors", clock, size, "vectors")
        with Clock() as clock:
            exact = VectorIndex(VectorStore(Path(folder), dimension), rows, "exact")
        told("opening the store", clock, size, "vectors")
        asked = near(QUERIES)
        with Clock() as clock:
            exact.search(asked, TOP)
        told(f"exact, {QUERIES} queries at once", clock, QUERIES, "queries")
        with Clock() as clock:
            index = VectorIndex(store, rows, "ivf")
        told("building the approximate index", clock, size, "vectors")
        print(index.describe())
        with Clock() as clock:
            VectorIndex(store, rows, "ivf")
        told("opening it again", clock, size, "vectors")
        with Clock() as clock:
            for one in asked:
                index.search(one[None], 4 * TOP + 32)
        told(f"approximate, {QUERIES} queries one by one", clock, QUERIES, "queries")


def lexical(size: int) -> None:
    from models_runtime import load_retriever
    from models_runtime.retrieval.contracts import Document, Query

    retriever = load_retriever("bm25", {"chunker": "whole"})
    rows = druid_rows(size)
    with Clock() as clock:
        retriever.index(Document(str(place), f"{row.evidence} {place}") for place, row in enumerate(rows))
    told(f"BM25 over {size:,} passages", clock, size, "passages")
    claims = sorted({row.claim for row in druid_rows(2_000)})[:QUERIES]
    with Clock() as clock:
        retriever.search([Query("", claim) for claim in claims], TOP)
    told("BM25", clock, len(claims), "queries")


def pipeline(claims: int, documents: int) -> None:
    from models_runtime import load_retriever
    from models_runtime.evidence.presets import PRESETS
    from models_runtime.retrieval.contracts import Document, Query

    retriever = load_retriever("evidence", PRESETS["druid"].parameters)
    rows = list(druid_rows(documents))
    with Clock() as clock:
        retriever.index(Document(str(place), row.evidence) for place, row in enumerate(rows))
    told(f"pipeline: {documents:,} documents indexed", clock, documents, "documents")
    asked = list(dict.fromkeys(row.claim for row in rows))[:claims]
    with Clock() as clock:
        found = retriever.search([Query(str(place), text) for place, text in enumerate(asked)], 4)
    told(f"pipeline: {len(asked):,} claims", clock, len(asked), "claims")
    print(f"{sum(len(one.hits) for one in found):,} pieces of evidence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--size", type=int, help="vectors, and passages of BM25")
    parser.add_argument("--real", type=int, help="passages that are embedded, and documents of the pipeline")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device that embeds")
    parser.add_argument("--budget", type=int, default=16_384, help="tokens in one batch that is embedded")
    options = parser.parse_args()
    size = options.size or (5_000 if options.quick else 1_000_000)
    real = options.real or (500 if options.quick else REAL)
    parts = options.part or PARTS
    vectors = embedding(real, options.device, options.budget) if {"embedding", "vectors"} & set(parts) else None
    if "vectors" in parts:
        million_vectors(size, vectors)
    if "bm25" in parts:
        lexical(size)
    if "pipeline" in parts:
        pipeline(100 if options.quick else 1_000, real)


if __name__ == "__main__":
    main()
