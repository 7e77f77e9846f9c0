"""What the sentence encoder makes of a claim and a passage that it reads together.

Apart, the two sides meet only in their vectors. Here both go through the network as one text, so that words of one side
are read in the light of the other's. Of the layer half-way up the mean over the claim's tokens and the mean over the
passage's are kept: further up, an encoder that was trained on single texts says less about pairs. Passages too long for
the encoder are cut at their end. Marks between the texts count with the side that the encoder itself gives them to, and
with neither where it knows no sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..loading.batching import Batcher, BatchOutcome
from ..loading.models import release_memory

if TYPE_CHECKING:
    import numpy as np

MAX_TOKENS = 256


class PairReader:
    """Reads pairs with the transformer inside a sentence-embedding model."""

    def __init__(self, sentence_model: Any, token_budget: int) -> None:
        self._model = sentence_model[0].auto_model
        self._tokenizer = sentence_model.tokenizer
        self._layer = self._model.config.num_hidden_layers // 2
        self._has_sides = getattr(self._model.config, "type_vocab_size", 1) > 1
        self.batcher = Batcher(token_budget, release=release_memory)

    def states(self, pairs: Sequence[tuple[str, str]]) -> BatchOutcome:
        """Twice the hidden size (float32) for each pair of a claim and a passage: the claim's mean, the passage's."""
        if not pairs:
            return BatchOutcome([], {})
        claims, passages = zip(*pairs, strict=True)
        encoded = self._tokenizer(
            list(claims), list(passages), truncation="longest_first", max_length=MAX_TOKENS, return_token_type_ids=True
        )
        if self._has_sides:
            sides = encoded["token_type_ids"]
        else:
            sides = [
                [-1 if side is None else side for side in encoded.sequence_ids(place)] for place in range(len(pairs))
            ]
        rows = list(zip(encoded["input_ids"], sides, strict=True))
        return self.batcher.run(rows, [len(ids) for ids, _ in rows], self._run)

    def _run(self, rows: list[tuple[list[int], list[int]]]) -> list[np.ndarray]:
        import torch

        width, device = max(len(ids) for ids, _ in rows), self._model.device

        def padded(values: list[list[int]], padding: int):
            return torch.tensor([[*row, *[padding] * (width - len(row))] for row in values], device=device)

        mask = padded([[1] * len(ids) for ids, _ in rows], 0)
        sides = padded([sides for _, sides in rows], -1)
        with torch.no_grad():
            states = self._model(
                input_ids=padded([ids for ids, _ in rows], self._tokenizer.pad_token_id),
                attention_mask=mask,
                output_hidden_states=True,
                **({"token_type_ids": sides.clamp(min=0)} if self._has_sides else {}),
            ).hidden_states[self._layer]
            means = torch.cat([_mean(states, sides == side) for side in (0, 1)], dim=1)
        if not math.isfinite(float(means.sum())):
            raise ArithmeticError("a hidden state is not finite")
        return list(means.float().cpu().numpy())


def _mean(states: Any, mask: Any) -> Any:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
