"""Vectors on disk: embedded once, shared, appended to; what an approximate index finds is measured against all."""

import numpy as np
import pytest

from models_runtime import load_retriever
from models_runtime.retrieval import vectors
from models_runtime.retrieval.contracts import Document, Query
from models_runtime.retrieval.vectors import VectorIndex, VectorStore

pytest.importorskip("faiss")


class Embeds:
    def __init__(self, dimension=32):
        self.rng, self.dimension, self.asked = np.random.default_rng(0), dimension, []

    def __call__(self, texts):
        self.asked += texts
        found = self.rng.normal(size=(len(texts), self.dimension)).astype("float32")
        return found / np.linalg.norm(found, axis=1, keepdims=True), [text.endswith("!") for text in texts]


def test_a_text_is_embedded_once_and_what_is_new_is_appended(tmp_path):
    embed = Embeds()
    first, other = VectorStore(tmp_path, 32), VectorStore(tmp_path, 32)
    rows = first.add(["a", "b!", "a"], embed)
    assert rows == [0, 1, 0] and first.is_cut(rows) == 1
    # Another process, which opened the folder before anything was in it.
    assert other.add(["c", "b!"], embed)[0] == 2 and embed.asked[:3] == ["a", "b!", "c"]
    again = VectorStore(tmp_path, 32)
    asked = len(embed.asked)
    assert again.add(["b!", "c", "a"], embed) == [1, 2, 0] and len(embed.asked) == asked
    assert np.array_equal(again.vectors([0, 1]), first.vectors([0, 1]))
    # A process that died while it wrote vectors has written no keys: the next one writes over them.
    with open(tmp_path / "vectors.f32", "ab") as file:
        file.write(b"\1" * 77)
    late = VectorStore(tmp_path, 32)
    assert late.add(["d"], embed) == [3] and np.isclose(np.linalg.norm(late.vectors([3])[0]), 1)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_an_approximate_index_lies_on_disk_grows_and_tells_its_recall(tmp_path, kind):
    embed = Embeds()
    store = VectorStore(tmp_path, 32)
    rows = store.add([str(number) for number in range(1500)], embed)
    exact = VectorIndex(store, rows, "exact")
    built = VectorIndex(store, rows, kind, 64)
    queries = np.array(store.vectors(rows))[::100]
    _, nearest = exact.search(queries, 10)
    _, found = built.search(queries, 40)
    share = np.mean([len(set(one) & set(other)) / 10 for one, other in zip(nearest, found, strict=True)])
    assert share > 0.8 and abs(built.recall - share) < 0.2
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("ann-*.faiss")}
    again = VectorIndex(VectorStore(tmp_path, 32), rows, kind, 64)
    assert again.describe() == built.describe() and np.array_equal(again.search(queries, 40)[1], found)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("ann-*.faiss")} == files
    more = [*rows, *store.add([f"new {number}" for number in range(100)], embed)]
    grown = VectorIndex(store, more, kind, 64)
    wanted = np.array(store.vectors(more[-1:]))
    assert grown.search(wanted, 1)[1].tolist() == exact_place(store, more, wanted) == [[1599]]


def test_from_a_size_on_an_index_is_approximate_and_files_are_mapped_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "APPROXIMATE_FROM", 1000)
    store = VectorStore(tmp_path, 32)
    rows = store.add([str(number) for number in range(1000)], Embeds())
    small, large = VectorIndex(store, rows[:999]), VectorIndex(store, rows)
    assert small.describe() == {"index": "exact"} and large.describe()["index"] == "ivf"
    assert large.describe()["recall_at_10"] == large.recall > 0.5
    assert isinstance(store.vectors(rows).base, np.memmap) and not store.vectors(rows).flags.writeable


def exact_place(store, rows, query):
    return VectorIndex(store, rows, "exact").search(query, 1)[1].tolist()


def test_dense_and_hybrid_share_vectors_and_rank_as_without_a_folder(tmp_path):
    documents = [Document(str(number), f"Ice number {number} in the harbour") for number in range(20)]

    def ranked(slug, folder=None, documents=documents):
        retriever = load_retriever(slug, {"chunker": "whole"})
        if folder:
            retriever.keep_in(folder)
        retriever.index(documents)
        stored = retriever.stages[-1].vectors()
        assert len(stored) == len(documents) and np.allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)
        (found,) = retriever.search([Query("q", "number 7")], 5)
        return [(hit.passage.document, hit.score) for hit in found.hits]

    assert ranked("dense", tmp_path) == ranked("dense") and ranked("hybrid", tmp_path) == ranked("hybrid")
    (keys,) = tmp_path.glob("*/keys.bin")
    assert keys.stat().st_size == 20 * 16
    ranked("dense", tmp_path, [*documents, Document("x", "A further one")])
    assert keys.stat().st_size == 21 * 16
