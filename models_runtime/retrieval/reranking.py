"""Ordering passages anew by a cross-encoder that reads query and passage together: a transformers sequence classifier
with one logit, which is the score. sentence-transformers' CrossEncoder models are such; theirs may pass the logit
through a sigmoid, which moves no rank. A pair longer than the model's window is cut, the longer text first, as there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..building import check_packages
from ..contracts import ModelError, PredictionError
from ..loading.batching import Batcher, choose_budget
from ..loading.models import load_model, release_memory
from ..loading.tokens import Tokens, encode, padded, to_device
from ..packages import TORCH, TRANSFORMERS
from ..provenance import versions
from .stages import DIGITS


class Reranker:
    name = "rerank"

    def __init__(self, slug: str, model: str, device: str, token_budget: int) -> None:
        check_packages(slug, (TORCH, TRANSFORMERS))
        self.loaded = load_model("classification", model, device)
        if (labels := self.loaded.model.config.num_labels) != 1:
            raise ModelError(f"the reranker {model} has {labels} labels; what is needed is one with a single score")
        self.batcher = Batcher(choose_budget(token_budget, self.loaded.device), release=release_memory)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float | PredictionError]:
        """The score of every (query, passage), or why there is none."""
        if not pairs:
            return []
        rows = encode(self.loaded.tokenizer, list(pairs), self.loaded.window)
        outcome = self.batcher.run(rows, list(map(len, rows)), self._judge)
        return [
            PredictionError("model-failed", f"{type(error).__name__}: {error}", permanent=False)
            if (error := outcome.failures.get(place))
            else value
            for place, value in enumerate(outcome.values)
        ]

    def _judge(self, rows: list[Tokens]) -> list[float]:
        import torch

        batch = to_device(padded(self.loaded.tokenizer, rows), self.loaded.device)
        with torch.inference_mode():
            values = self.loaded.model(**batch).logits.float()[:, 0].cpu().tolist()
        if not all(map(math.isfinite, values)):
            raise ArithmeticError("the model's answer is not finite")
        return [round(value, DIGITS) for value in values]

    def describe(self) -> dict[str, Any]:
        return self.loaded.describe() | {"libraries": versions("transformers", "torch")}
