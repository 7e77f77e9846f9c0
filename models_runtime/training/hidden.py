"""What a causal language model makes of a claim and its evidence: hidden states of one layer or more (RepC's idea).

Claim and evidence are put into one text (`prompts/pair-1.txt`; what is looked in stands where it says evidence), which
goes through the model once. Of each layer that was chosen, the state at the last token, or the mean over all tokens, is
kept. Layers are counted as transformers does: 0 is the embeddings, 1 the first layer's output, -1 the last one's.
Evidence too long for the model's window, or for `MAX_TOKENS`, is cut at its end.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from ..contracts import InputError, ModelError, ParameterError
from ..loading.batching import Batcher, BatchOutcome
from ..loading.model_files import check_name
from ..loading.models import load_model, release_memory
from ..provenance import versions

if TYPE_CHECKING:
    import numpy as np

FILE = Path(__file__).parent / "prompts" / "pair-1.txt"
POOLINGS = {"last": "The last token", "mean": "The mean over all tokens"}
MAX_TOKENS = 2048
TOKEN_BUDGET = 4096
ALL = "all"


@dataclass(frozen=True, slots=True)
class HiddenStates:
    """Which model, which of its layers ("-1", "8,16,24" or "all" but the embeddings), and what is kept of a layer."""

    model: str
    layers: str = "-1"
    pooling: str = "last"

    def __post_init__(self) -> None:
        check_name("model", self.model)
        if self.pooling not in POOLINGS:
            raise ParameterError("pooling", f"{self.pooling!r} is not one of {', '.join(POOLINGS)}")
        if self.layers.strip() != ALL:
            _numbers(self.layers)

    def places(self, n_layers: int) -> list[int]:
        """The layers as numbers from 0 to `n_layers`, each once, in ascending order. ParameterError beyond that."""
        if self.layers.strip() == ALL:
            return list(range(1, n_layers + 1))
        places = set()
        for number in _numbers(self.layers):
            place = number + n_layers + 1 if number < 0 else number
            if not 0 <= place <= n_layers:
                raise ParameterError("layers", f"there is no layer {number}; {self.model} has {n_layers}")
            places.add(place)
        return sorted(places)


def _numbers(layers: str) -> list[int]:
    try:
        return [int(part) for part in layers.split(",")]
    except ValueError:
        raise ParameterError("layers", f"{layers!r} is neither “all” nor numbers with commas between them") from None


@functools.cache
def read_prompt() -> tuple[Template, str]:
    """The template, and how provenance names it."""
    content = FILE.read_bytes()
    return Template(content.decode().rstrip("\n")), f"pair 1, sha256:{hashlib.sha256(content).hexdigest()}"


class HiddenEncoder:
    """Turns pairs of texts into arrays of layers by hidden size. Loads the model."""

    def __init__(self, wanted: HiddenStates, device: str) -> None:
        self.wanted = wanted
        self.loaded = load_model("causal", wanted.model, device)
        config = self.loaded.model.config.get_text_config()
        self.size = config.hidden_size
        try:
            self.places = wanted.places(config.num_hidden_layers)
        except ParameterError as error:
            raise ModelError(str(error)) from None
        self.batcher = Batcher(TOKEN_BUDGET, release=release_memory)
        self._limit = min(self.loaded.window or MAX_TOKENS, MAX_TOKENS)

    def describe(self) -> dict[str, Any]:
        return {
            "encoder": self.wanted.model,
            "encoder_revision": self.loaded.revision,
            "layers": ",".join(map(str, self.places)),
            "pooling": self.wanted.pooling,
            "prompt": read_prompt()[1],
            "dtype": self.loaded.dtype,
        }

    @staticmethod
    def libraries() -> dict[str, str]:
        return versions("transformers", "torch")

    def states(self, pairs: Sequence[tuple[str, str]]) -> BatchOutcome:
        """An array of layers by hidden size (float32) for each pair of a claim and what to look in."""
        ids: dict[int, list[int]] = {}
        failures: dict[int, Exception] = {}
        for place, (claim, evidence) in enumerate(pairs):
            try:
                ids[place] = self._tokens(claim, evidence)
            except InputError as error:
                failures[place] = error
        places = list(ids)
        outcome = self.batcher.run([ids[place] for place in places], [len(ids[place]) for place in places], self._run)
        values: list[Any] = [None] * len(pairs)
        for place, value in zip(places, outcome.values, strict=True):
            values[place] = value
        return BatchOutcome(values, failures | {places[index]: error for index, error in outcome.failures.items()})

    def _tokens(self, claim: str, evidence: str) -> list[int]:
        template, _ = read_prompt()
        tokens = self._encode(template.substitute(claim=claim.strip(), evidence=evidence.strip()))
        while len(tokens) > self._limit:
            offsets = self.loaded.tokenizer(
                evidence, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )["offset_mapping"]
            kept = len(offsets) - (len(tokens) - self._limit)
            evidence = evidence[: min(offsets[kept][0], len(evidence) - 1)] if kept > 0 else ""
            if not evidence.strip():
                raise InputError("too-long", f"the claim leaves no room for evidence in {self._limit} tokens")
            tokens = self._encode(template.substitute(claim=claim.strip(), evidence=evidence.strip()))
        return tokens

    def _encode(self, text: str) -> list[int]:
        return self.loaded.tokenizer(text, verbose=False)["input_ids"]

    def _run(self, rows: list[list[int]]) -> list[np.ndarray]:
        import torch

        width, device = max(map(len, rows)), self.loaded.device
        padding = self.loaded.tokenizer.pad_token_id
        # Padding comes last: no token looks ahead.
        ids = torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        with torch.no_grad():
            outputs = self.loaded.model.base_model(
                input_ids=ids, attention_mask=mask, output_hidden_states=True, use_cache=False
            ).hidden_states
            layers = torch.stack([self._pooled(outputs[place], mask) for place in self.places], dim=1)
        if not math.isfinite(float(layers.sum())):
            raise ArithmeticError("a hidden state is not finite")
        return list(layers.cpu().numpy())

    def _pooled(self, states: Any, mask: Any) -> Any:
        """Rows by hidden size, float32."""
        import torch

        if self.wanted.pooling == "last":
            return states[torch.arange(len(states), device=states.device), mask.sum(dim=1) - 1].float()
        weights = mask.unsqueeze(-1).float()
        return (states.float() * weights).sum(dim=1) / weights.sum(dim=1)
