"""Vectors of passages on disk, and the search among them.

A store is a folder of one model's vectors: each text is embedded once, whichever corpus, retriever or process it comes
up in, and what is new is appended. Files are memory-mapped, so processes share them and the system decides how much of
them is in memory. An index is the rows of one corpus in its order: compared one by one, or, from a size on, searched
through an inverted file or a graph of FAISS that is stored next to the vectors. What these find is scored once more
exactly.

    vectors.f32   unit vectors, one after the other
    keys.bin      16 bytes of each text's SHA-256
    cut.bin       1 where the model's window cut the text
    ann-*.faiss   approximate indexes, and what they are of (ann-*.json)
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

# From so many passages on an index is approximate, unless one says otherwise.
APPROXIMATE_FROM = 200_000
KINDS = ("auto", "exact", "ivf", "hnsw")
LEFT_SECONDS = 3600  # after which a file that nobody completes is removed
BLOCK = 65_536
MEASURED_QUERIES = 100
_KEY_BYTES = 16


def key_of(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


class VectorStore:
    """`folder` None keeps everything in memory, for as long as the object lives."""

    def __init__(self, folder: Path | None, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._memory: list[Any] = []
        self._cut = bytearray()
        self._rows: dict[bytes, int] = {}
        self._mapped: Any = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._read_keys()

    def __len__(self) -> int:
        return len(self._cut)

    def add(self, texts: Sequence[str], embed: Callable[[list[str]], tuple[Any, list[bool]]]) -> list[int]:
        """The rows of the texts; `embed` gives the vectors of those that are new, and which of them were cut."""
        keys = [key_of(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if missing:
            vectors, cut = embed(list(missing.values()))
            with self._locked():
                self._read_keys()  # what others appended meanwhile stays theirs
                own = [place for place, key in enumerate(missing) if key not in self._rows]
                self._append([list(missing)[place] for place in own], vectors[own], [cut[place] for place in own])
        return [self._rows[key] for key in keys]

    def is_cut(self, rows: Sequence[int]) -> int:
        return sum(self._cut[row] for row in rows)

    def vectors(self, rows: Any) -> Any:
        """float32, in the order of the rows."""
        import numpy as np

        if self.folder is None:
            stored = self._memory[0] if len(self._memory) == 1 else np.concatenate(self._memory)
            self._memory = [stored]
        else:
            stored = self._map()
        rows = np.asarray(rows)
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (len(rows) == 1 or (np.diff(rows) == 1).all()):
            return stored[rows[0] : rows[-1] + 1]
        return stored[rows]

    def _map(self) -> Any:
        import numpy as np

        if self._mapped is None or len(self._mapped) < len(self):
            shape = (len(self), self.dimension)
            self._mapped = np.memmap(self.folder / "vectors.f32", dtype=np.float32, mode="r", shape=shape)
        return self._mapped

    def _append(self, keys: list[bytes], vectors: Any, cut: list[bool]) -> None:
        if not keys:
            return
        first = len(self)
        if self.folder is None:
            self._memory.append(vectors)
        else:
            # Vectors first and keys last: a process that dies in between leaves bytes that the next one writes over.
            marks = bytes(map(int, cut))
            row = self.dimension * 4
            for name, at, raw in (
                ("vectors.f32", first * row, vectors.astype("<f4").tobytes()),
                ("cut.bin", first, marks),
                ("keys.bin", first * _KEY_BYTES, b"".join(keys)),
            ):
                with open(self.folder / name, "r+b" if (self.folder / name).exists() else "w+b") as file:
                    file.truncate(at)
                    file.seek(at)
                    file.write(raw)
                    file.flush()
                    os.fsync(file.fileno())
        self._cut += bytes(map(int, cut))
        self._rows.update((key, first + place) for place, key in enumerate(keys))

    def _read_keys(self) -> None:
        if self.folder is None or not (self.folder / "keys.bin").exists():
            return
        with open(self.folder / "keys.bin", "rb") as file:
            file.seek(len(self) * _KEY_BYTES)
            raw = file.read()
        first, new = len(self), len(raw) // _KEY_BYTES
        with open(self.folder / "cut.bin", "rb") as file:
            file.seek(first)
            self._cut += file.read(new)
        for place in range(new):
            self._rows[raw[place * _KEY_BYTES : (place + 1) * _KEY_BYTES]] = first + place

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self.folder is None:
            yield
            return
        with open(self.folder / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class VectorIndex:
    """The passages of a corpus among the vectors of a store."""

    def __init__(self, store: VectorStore, rows: Any, kind: str = "auto", probes: int = 0) -> None:
        import numpy as np

        self.store, self.rows = store, np.asarray(rows, dtype=np.int64)
        self.kind = ("ivf" if len(self.rows) >= APPROXIMATE_FROM else "exact") if kind == "auto" else kind
        self.probes = probes
        self.recall: float | None = None
        self._approximate: Any = self._load() if self.kind != "exact" and len(self.rows) else None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_exact(self) -> bool:
        return self._approximate is None

    def describe(self) -> dict[str, Any]:
        if self._approximate is None:
            return {"index": "exact"}
        found = {"index": self.kind, "measured_on": f"{MEASURED_QUERIES} passages, each a little moved"}
        if self.kind == "ivf":
            found |= {"lists": self._approximate.nlist, "probes": self._approximate.nprobe}
        return found | {"recall_at_10": self.recall}

    def search(self, queries: Any, count: int) -> tuple[Any, Any]:
        """Scores and places of the `count` nearest, best first; approximate where the index is."""
        count = min(count, len(self.rows))
        if self._approximate is None:
            return self.search_exactly(queries, count)
        scores, places = self._approximate.search(queries, count)
        return scores, places

    def search_exactly(self, queries: Any, count: int) -> tuple[Any, Any]:
        import faiss
        import numpy as np

        best_scores = np.full((len(queries), count), -np.inf, dtype=np.float32)
        best_places = np.full((len(queries), count), -1, dtype=np.int64)
        for start in range(0, len(self.rows), BLOCK):
            block = np.ascontiguousarray(self.store.vectors(self.rows[start : start + BLOCK]))
            scores, places = faiss.knn(queries, block, min(count, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
            scores = np.concatenate([best_scores, scores], axis=1)
            places = np.concatenate([best_places, places + start], axis=1)
            order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
            best_scores = np.take_along_axis(scores, order, axis=1)
            best_places = np.take_along_axis(places, order, axis=1)
        return best_scores, best_places

    def exact_scores(self, places: Any, vector: Any) -> Any:
        """In double precision, so that neither the batch nor a vector's place in memory moves a rank."""
        import numpy as np

        return self.store.vectors(self.rows[places]).astype(np.float64) @ vector

    # --- approximate ----------------------------------------------------------------------------------------------

    def _load(self) -> Any:
        """The index that is stored next to the vectors, with what is new added; or a new one."""
        import faiss

        path = self._path()
        known = path.with_suffix(".json") if path else None
        if known is not None and known.exists() and path.exists():
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
            self.recall = json.loads(known.read_text())["recall_at_10"]
        else:
            index = self._grown() or self._built()
            self._set_probes(index)
            self.recall = self._measured(index)
            if path is not None:
                for left in path.parent.glob("ann-*.part"):  # of processes that died while they wrote
                    if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                        left.unlink(missing_ok=True)
                partial = path.with_suffix(f".{os.getpid()}.part")
                faiss.write_index(index, str(partial))
                os.replace(partial, path)
                stored = {"kind": self.kind, "rows": len(self.rows), "recall_at_10": self.recall}
                stored["sha256"] = _digest(self.rows)
                partial.write_text(json.dumps(stored))
                os.replace(partial, known)
        self._set_probes(index)
        return index

    def _path(self) -> Path | None:
        if self.store.folder is None:
            return None
        return self.store.folder / f"ann-{self.kind}-{_digest(self.rows)[:24]}.faiss"

    def _grown(self) -> Any:
        """An index of the first of these rows, with the others added: a corpus that grew by less than half."""
        import faiss

        if self.store.folder is None:
            return None
        for known in sorted(self.store.folder.glob(f"ann-{self.kind}-*.json")):
            stored = json.loads(known.read_text())
            count = stored["rows"]
            if len(self.rows) / 1.5 <= count < len(self.rows) and stored["sha256"] == _digest(self.rows[:count]):
                index = faiss.read_index(str(known.with_suffix(".faiss")))
                self._add(index, count)
                return index
        return None

    def _built(self) -> Any:
        import faiss
        import numpy as np

        dimension = self.store.dimension
        if self.kind == "hnsw":
            index = faiss.IndexHNSWSQ(dimension, faiss.ScalarQuantizer.QT_8bit, 32, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = 80
            wanted = 50_000
        else:
            lists = max(1, min(int(2 * len(self.rows) ** 0.5), len(self.rows) // 40 or 1))
            coarse = faiss.IndexFlatIP(dimension)
            index = faiss.IndexIVFScalarQuantizer(
                coarse, dimension, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
            )
            index.own_fields, wanted = True, 40 * lists
            coarse.this.disown()
        rng = np.random.default_rng(0)
        sample = np.sort(rng.choice(len(self.rows), min(wanted, len(self.rows)), replace=False))
        index.train(np.ascontiguousarray(self.store.vectors(self.rows[sample])))
        self._add(index, 0)
        return index

    def _add(self, index: Any, first: int) -> None:
        import numpy as np

        for start in range(first, len(self.rows), BLOCK):
            index.add(np.ascontiguousarray(self.store.vectors(self.rows[start : start + BLOCK])))

    def _set_probes(self, index: Any) -> None:
        if self.kind == "ivf":
            index.nprobe = self.probes or max(8, index.nlist // 32)
        else:
            index.hnsw.efSearch = self.probes or 128

    def _measured(self, index: Any) -> float:
        """Of the ten nearest, how many are found: for passages of the index, each moved a little."""
        import numpy as np

        rng = np.random.default_rng(1)
        chosen = np.sort(rng.choice(len(self.rows), min(MEASURED_QUERIES, len(self.rows)), replace=False))
        queries = np.array(self.store.vectors(self.rows[chosen]), dtype=np.float32)
        queries += 0.5 * rng.normal(size=queries.shape).astype(np.float32) / queries.shape[1] ** 0.5
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        count = min(10, len(self.rows))
        _, exact = self.search_exactly(queries, count)
        _, found = index.search(queries, min(4 * count, len(self.rows)))
        hits = sum(len(set(one) & set(other)) for one, other in zip(exact.tolist(), found.tolist(), strict=True))
        return round(hits / (count * len(queries)), 3)


def _digest(rows: Any) -> str:
    return hashlib.sha256(rows.tobytes()).hexdigest()
