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
        tokenizer = self.loaded.tokenizer
        queries, passages = map(list, zip(*pairs, strict=True))
        cut = {"truncation": True, "max_length": self.loaded.window} if self.loaded.window else {}
        tokens = tokenizer(queries, passages, padding=False, verbose=False, **cut)
        encoded = [{name: tokens[name][place] for name in tokens} for place in range(len(pairs))]
        outcome = self.batcher.run(encoded, [len(one["input_ids"]) for one in encoded], self._judge)
        return [
            PredictionError("model-failed", f"{type(error).__name__}: {error}", permanent=False)
            if (error := outcome.failures.get(place))
            else value
            for place, value in enumerate(outcome.values)
        ]

    def _judge(self, encoded: list[dict[str, list[int]]]) -> list[float]:
        import torch

        pad = self.loaded.tokenizer.pad
        batch = pad(encoded, padding=True, padding_side="right", return_tensors="pt").to(self.loaded.device)
        with torch.inference_mode():
            values = self.loaded.model(**batch).logits.float()[:, 0].cpu().tolist()
        if not all(map(math.isfinite, values)):
            raise ArithmeticError("the model's answer is not finite")
        return [round(value, DIGITS) for value in values]

    def describe(self) -> dict[str, Any]:
        return self.loaded.describe() | {"libraries": versions("transformers", "torch")}
