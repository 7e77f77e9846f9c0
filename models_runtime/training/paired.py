"""What the sentence encoder makes of a claim and a passage that it reads together.

Apart, the two sides meet only in their vectors. Here both go through the network as one text, so that words of one side
are read in the light of the other's. Of the layer `LAYER`, half-way up, the mean over the claim's tokens and the mean
over the passage's are kept: further up, an encoder that was trained on single texts says less about pairs. Passages too
long for the encoder are cut at their end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..loading.batching import Batcher, BatchOutcome
from ..loading.models import release_memory

if TYPE_CHECKING:
    import numpy as np

LAYER = 3
MAX_TOKENS = 256


class PairReader:
    """Reads pairs with the transformer inside a sentence-embedding model."""

    def __init__(self, sentence_model: Any, token_budget: int) -> None:
        self._model = sentence_model[0].auto_model
        self._tokenizer = sentence_model.tokenizer
        self.batcher = Batcher(token_budget, release=release_memory)

    def states(self, pairs: Sequence[tuple[str, str]]) -> BatchOutcome:
        """Twice the hidden size (float32) for each pair of a claim and a passage: the claim's mean, the passage's."""
        if not pairs:
            return BatchOutcome([], {})
        claims, passages = zip(*pairs, strict=True)
        encoded = self._tokenizer(
            list(claims), list(passages), truncation="longest_first", max_length=MAX_TOKENS, return_token_type_ids=True
        )
        rows = list(zip(encoded["input_ids"], encoded["token_type_ids"], strict=True))
        return self.batcher.run(rows, [len(ids) for ids, _ in rows], self._run)

    def _run(self, rows: list[tuple[list[int], list[int]]]) -> list[np.ndarray]:
        import torch

        width, device = max(len(ids) for ids, _ in rows), self._model.device

        def padded(values: list[list[int]], padding: int):
            return torch.tensor([[*row, *[padding] * (width - len(row))] for row in values], device=device)

        ids = padded([ids for ids, _ in rows], self._tokenizer.pad_token_id)
        sides = padded([sides for _, sides in rows], -1)
        with torch.no_grad():
            states = self._model(
                input_ids=ids,
                attention_mask=(sides >= 0).long(),
                token_type_ids=sides.clamp(min=0),
                output_hidden_states=True,
            ).hidden_states[LAYER]
            means = torch.cat([_mean(states, sides == side) for side in (0, 1)], dim=1)
        if not math.isfinite(float(means.sum())):
            raise ArithmeticError("a hidden state is not finite")
        return list(means.float().cpu().numpy())


def _mean(states: Any, mask: Any) -> Any:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
