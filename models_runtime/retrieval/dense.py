"""Nearest passages in a sentence-embedding space: cosine by FAISS.

score(query, passage) = cosine of their embeddings. Below a size every passage is compared, so the ranking is exact;
above it an approximate index finds candidates, and how many of the nearest it finds is measured and reported
(`vectors`). What FAISS finds is scored once more in double precision and ordered by that, so that neither the batch nor
a vector's place in memory moves a rank. A passage longer than the model's window is embedded as far as the window goes;
`truncated` counts them.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..checkers.embedding import PACKAGED_MODEL, Encoder
from ..contracts import CheckerInfo, InputError, PredictionError
from ..loading.model_files import is_hub_name, weights_hash
from ..loading.models import find_folder
from ..packages import FAISS, MINILM, SENTENCE_TRANSFORMERS, SPACY, TORCH
from ..provenance import versions
from .parameters import CHUNKS, COSINE, DENSE, HYDE, RERANKED, RERANKING
from .retriever import StagedRetriever
from .stages import Scored, Sought, best
from .vectors import VectorIndex, VectorStore

# FAISS adds in single precision; a passage that is nearer than the last one by less may have been missed.
_SLACK = 1e-5
_SPARE = 32


INFO = CheckerInfo(
    slug="dense",
    version="1",
    kind="retriever",
    title="Nearest in meaning",
    summary="Ranks passages by the cosine of sentence embeddings: compared with every passage, or from 200,000 on "
    "through an approximate index whose recall is reported.",
    roles=(),
    needs="cpu",
    packages=(TORCH, SENTENCE_TRANSFORMERS, MINILM, FAISS, SPACY),
    model=PACKAGED_MODEL,
    licence="Apache-2.0",
    gives="rankings",
    parameters=(*CHUNKS, *DENSE, *HYDE, *RERANKING),
    scores=(COSINE, RERANKED),
)


class DenseStage:
    name = "dense"

    def __init__(
        self,
        model: str,
        device: str,
        token_budget: int,
        query_prefix: str = "",
        passage_prefix: str = "",
        vector_index: str = "auto",
        probes: int = 0,
    ) -> None:
        self.model, self.query_prefix, self.passage_prefix = model, query_prefix, passage_prefix
        self.encoder = Encoder(str(find_folder(model)) if is_hub_name(model) else model, device, token_budget)
        self.kind, self.probes = vector_index, probes
        self.kept_in: Path | None = None
        self.begin()

    def keep_in(self, folder: Path) -> None:
        """From the next `begin` on vectors lie below this folder, and are found there again."""
        self.kept_in = folder

    def begin(self) -> None:
        self._index: VectorIndex | None = None
        self._store: VectorStore | None = None
        self._rows = array("q")
        self.truncated = 0

    def add(self, texts: Sequence[str]) -> None:
        sent = [self.passage_prefix + text for text in texts]
        if self._store is None:
            dimension = self.encoder.model.get_embedding_dimension()
            self._store = VectorStore(self._folder(), dimension)
        rows = self._store.add(sent, self._embed)
        self.truncated += self._store.is_cut(rows)
        self._rows.extend(rows)

    def _folder(self) -> Path | None:
        """One for each model, window and prefix: these make a text's vector."""
        if self.kept_in is None:
            return None
        made_by = [weights_hash(self.encoder.folder), self.encoder.model.max_seq_length]
        return self.kept_in / hashlib.sha256(json.dumps(made_by).encode()).hexdigest()[:32]

    def _embed(self, sent: list[str]) -> tuple[Any, list[bool]]:
        import numpy as np

        embedded = self.encoder.embed(sent)
        for text in sent:
            if error := embedded.failures.get(text):
                message = f"a passage cannot be embedded ({type(error).__name__}: {error}): {text[:80]!r}"
                raise InputError("encoding-failed", message, permanent=False)
        vectors = np.stack([embedded.vectors[text] for text in sent]).astype(np.float32)
        return vectors, [text in embedded.truncated for text in sent]

    def vectors(self) -> Any:
        """The unit vectors of all texts that were added, in their order."""
        return self._store.vectors(self._rows)

    def finish(self, order: Any) -> None:
        self._order = order
        if self._store is not None:
            self._index = VectorIndex(self._store, self._rows, self.kind, self.probes)

    def search(self, sought: Sequence[Sought], top: int) -> list[Scored | PredictionError]:
        vectors = self._vectors(sought)
        results: list[Scored | PredictionError] = list(vectors)
        free = [place for place, one in enumerate(sought) if one.places is None and not _failed(vectors[place])]
        if free:
            for place, scored in zip(free, self._nearest([vectors[one] for one in free], top), strict=True):
                results[place] = scored
        for place, one in enumerate(sought):
            if one.places is not None and not _failed(vectors[place]):
                results[place] = self._nearest_of(one.places, vectors[place], top)
        return results

    def _vectors(self, sought: Sequence[Sought]) -> list[Any]:
        """A unit vector for each, or why there is none."""
        import numpy as np

        sent = [
            [self.query_prefix + one.texts[0], *(self.passage_prefix + text for text in one.texts[1:])]
            for one in sought
        ]
        embedded = self.encoder.embed([text for texts in sent for text in texts])
        vectors: list[Any] = []
        for texts in sent:
            errors = [embedded.failures[text] for text in texts if text in embedded.failures]
            if errors:
                message = f"{type(errors[0]).__name__}: {errors[0]}"
                vectors.append(PredictionError("encoding-failed", message, permanent=False))
                continue
            mean = np.mean([embedded.vectors[text].astype(np.float64) for text in texts], axis=0)
            length = np.linalg.norm(mean)
            if length < 1e-9:
                vectors.append(PredictionError("no-direction", "the texts' embeddings cancel out", permanent=True))
                continue
            vectors.append(mean / length)
        return vectors

    def _nearest(self, vectors: list[Any], top: int) -> list[Scored]:
        import numpy as np

        total = 0 if self._index is None else len(self._index)
        if not total:
            return [[] for _ in vectors]
        queries = np.stack(vectors)
        # An approximate index orders by fewer bits: more of what it finds is scored again.
        asked = min(total, top + _SPARE if self._index.is_exact else 4 * top + _SPARE)
        scores, places = self._index.search(queries.astype(np.float32), asked)
        nearest = []
        for row, query in enumerate(queries):
            near_scores, near, wanted = scores[row], places[row], asked
            if not self._index.is_exact:
                nearest.append(self._nearest_of(near[near >= 0], query, top))
                continue
            # Until what was left out is surely farther than the last one that counts.
            while wanted < total and near_scores[-1] > near_scores[top - 1] - _SLACK:
                wanted = min(total, wanted * 4)
                (near_scores,), (near,) = self._index.search(query[None].astype(np.float32), wanted)
            nearest.append(self._nearest_of(near, query, top))
        return nearest

    def _nearest_of(self, places: Any, vector: Any, top: int) -> Scored:
        if not len(places):
            return []
        return best(self._index.exact_scores(places, vector), places, self._order, top)

    def describe(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "revision": f"sha256:{weights_hash(self.encoder.folder)}",
            "device": str(self.encoder.model.device),
            "window": self.encoder.model.max_seq_length,
            "truncated": self.truncated,
            **(self._index.describe() if self._index is not None and not self._index.is_exact else {}),
            "libraries": versions("faiss-cpu", "sentence-transformers", "transformers", "torch"),
        }


def _failed(vector: Any) -> bool:
    return isinstance(vector, PredictionError)


def stage_of(parameters: dict[str, Any]) -> DenseStage:
    names = ("model", "device", "token_budget", "query_prefix", "passage_prefix", "vector_index", "probes")
    return DenseStage(*(parameters[name] for name in names))


def build(info: CheckerInfo, parameters: dict[str, Any]) -> StagedRetriever:
    return StagedRetriever(info, parameters, [stage_of(parameters)])
