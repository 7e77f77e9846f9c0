"""Perplexity of the evidence under a causal language model, by a sliding window (DRUID, section 4.1).

A text that fits into the window is read at once. A longer one is read in windows of `window` tokens that move on by
`stride`: every token but the first is predicted once, in the first window that has it, so with at least
`window - stride` tokens before it; `perplexity` is exp of the mean of their negative log probabilities. A stride of 1
gives each token the longest context that there is, at the price of a pass for each.

`perplexity_window_mean` is the variant of common public code: exp of the mean over the windows of each window's own
mean, so that the last window's few tokens weigh as much as all of another one's. For one window both are the same.
Both are undefined for fewer than two tokens (special tokens such as the beginning of the text count as context).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import (
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ParameterError,
    ParameterInfo,
    Prediction,
    ScoreInfo,
    Usage,
)
from ..inputs import failed, read_passages
from ..loading.batching import Batcher
from ..loading.models import load_model, release_memory
from ..loading.parameters import CAUSAL, CAUSAL_MODEL
from ..packages import TORCH, TRANSFORMERS
from ..provenance import provenance, versions

# Positions whose logits are turned into probabilities at once: with 128,000 words in a vocabulary, 0.25 GiB.
_AT_ONCE = 512


STRIDE = ParameterInfo(
    "stride",
    "Stride (tokens)",
    "int",
    512,
    1,
    1_000_000,
    hint="Smaller strides give each token more context, and take longer.",
)
SCORES = (
    ScoreInfo("perplexity", "Perplexity of the evidence", 1),
    ScoreInfo("perplexity_window_mean", "Perplexity, windows averaged as in common public code", 1),
    ScoreInfo("tokens", "Tokens predicted", 0),
)
INFO = CheckerInfo(
    slug="perplexity",
    version="1",
    kind="perplexity",
    title="Perplexity of the evidence",
    summary="How unexpected the evidence is to a language model, by a sliding window. It needs a model: "
    "fetch the one below, or give the folder of another.",
    roles=(),
    needs="gpu",
    packages=(TORCH, TRANSFORMERS),
    model=CAUSAL_MODEL,
    licence="Apache-2.0",
    gives="scores",
    parameters=(
        *CAUSAL,
        ParameterInfo(
            "window",
            "Tokens in a window",
            "int",
            2048,
            2,
            1_000_000,
            hint="Or the model's window, if that is smaller.",
        ),
        STRIDE,
    ),
    scores=SCORES,
)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens start to end of a text; those from `first` on are predicted here."""

    start: int
    end: int
    first: int


def sliding_windows(length: int, size: int, stride: int) -> list[Window]:
    """Windows over `length` tokens such that each token but the first is predicted in exactly one.

    >>> sliding_windows(10, 6, 3)
    [Window(start=0, end=6, first=1), Window(start=3, end=9, first=6), Window(start=6, end=10, first=9)]
    """
    if length < 2:
        return []
    windows = [Window(0, min(size, length), 1)]
    while (done := windows[-1].end) < length:
        start = windows[-1].start + stride
        windows.append(Window(start, min(start + size, length), done))
    return windows


class PerplexityScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.loaded = load_model("causal", parameters["model"], parameters["device"], parameters["dtype"])
        self.window = min(self.loaded.window or parameters["window"], parameters["window"])
        if not 1 <= parameters["stride"] < self.window:
            raise ParameterError("stride", f"{parameters['stride']} is not below the window of {self.window} tokens")
        self.batcher = Batcher(parameters["token_budget"], release=release_memory)
        self._takes_positions = "position_ids" in inspect.signature(self.loaded.model.forward).parameters

    def describe(self) -> dict[str, Any]:
        model = self.loaded.describe() | {"window": self.window}
        return provenance(self.info, self.parameters, model, libraries=versions("transformers", "torch"), dimensions=[])

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        texts: dict[int, tuple[int, ...]] = {}
        predictions: dict[int, Prediction] = {}
        for place, item in enumerate(inputs):
            try:
                texts[place] = self._encode(item)
            except Exception as error:
                predictions[place] = failed(item, error)
        windows = {ids: sliding_windows(len(ids), self.window, self.parameters["stride"]) for ids in texts.values()}
        pieces = [(ids, window) for ids, windows_of in windows.items() for window in windows_of]
        outcome = self.batcher.run(pieces, [window.end - window.start for _, window in pieces], self._losses)
        losses: dict[tuple[int, ...], list[list[float]]] = {ids: [] for ids in windows}
        errors: dict[tuple[int, ...], Exception] = {}
        for place, (ids, _) in enumerate(pieces):
            if place in outcome.failures:
                errors[ids] = outcome.failures[place]
            else:
                losses[ids].append(outcome.values[place])
        for place, ids in texts.items():
            item = inputs[place]
            predictions[place] = failed(item, errors[ids]) if ids in errors else _answer(item, ids, losses[ids])
        return [predictions[place] for place in range(len(inputs))]

    def _encode(self, item: CheckerInput) -> tuple[int, ...]:
        passages = read_passages(item)
        if len(passages) > 1:
            raise InputError("several-passages", f"there are {len(passages)} passages; this reads one evidence")
        return tuple(self.loaded.tokenizer(passages[0][1], verbose=False)["input_ids"])

    def _losses(self, pieces: list[tuple[tuple[int, ...], Window]]) -> list[list[float]]:
        """Negative log probabilities of the tokens that each window predicts."""
        import torch

        rows = [ids[window.start : window.end] for ids, window in pieces]
        width = max(map(len, rows))
        padding, device = self.loaded.tokenizer.pad_token_id, self.loaded.device
        # Padding comes last: no token looks ahead, and its own predictions are not read.
        ids = torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        options = (
            {"position_ids": torch.arange(width, device=device).expand(len(rows), -1)} if self._takes_positions else {}
        )
        with torch.no_grad():
            logits = self.loaded.model(input_ids=ids, attention_mask=mask, use_cache=False, **options).logits
            outcomes = [
                _loss(logits[row], ids[row], window.first - window.start, window.end - window.start)
                for row, (_, window) in enumerate(pieces)
            ]
        for losses in outcomes:
            if not all(map(math.isfinite, losses)):
                raise ArithmeticError("a probability is not a number")
        return outcomes


def _loss(logits: Any, ids: Any, first: int, end: int) -> list[float]:
    import torch

    losses: list[float] = []
    for start in range(first, end, _AT_ONCE):
        stop = min(start + _AT_ONCE, end)
        before = logits[start - 1 : stop - 1].float()  # what stands before a token predicts it
        losses += torch.nn.functional.cross_entropy(before, ids[start:stop], reduction="none").double().tolist()
    return losses


def _answer(item: CheckerInput, ids: tuple[int, ...], windows: list[list[float]]) -> Prediction:
    return Prediction(item.id, scores=scores_of(windows), usage=Usage(prompt_tokens=len(ids)))


def scores_of(windows: list[list[float]]) -> dict[str, float | None]:
    """The scores from each window's negative log probabilities, in nats."""
    scored = sum(map(len, windows))
    means = [math.fsum(window) / len(window) for window in windows]
    return {
        "perplexity": _exp(math.fsum(map(math.fsum, windows)) / scored) if scored else None,
        "perplexity_window_mean": _exp(math.fsum(means) / len(means)) if means else None,
        "tokens": float(scored),
    }


def _exp(value: float) -> float | None:
    """None where it is too large for a number."""
    return math.exp(value) if value < 700 else None


build = PerplexityScorer
