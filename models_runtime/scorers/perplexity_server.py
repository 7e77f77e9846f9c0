"""Perplexity of the evidence under a causal language model on a vLLM server: the scores of `perplexity` from afar.

The server tells the text's tokens, and for each window the probabilities of its tokens after those before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contracts import (
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ModelError,
    ParameterError,
    ParameterInfo,
    Prediction,
)
from ..inputs import failed, read_passages
from ..llm import vllm
from ..llm.asking import Exchange, Server
from ..llm.parameters import ENDPOINT, PATIENCE
from ..packages import OPENAI
from ..provenance import provenance
from .perplexity import SCORES, STRIDE, scores_of, sliding_windows

INFO = CheckerInfo(
    slug="perplexity-server",
    version="1",
    kind="perplexity",
    title="Perplexity of the evidence, from a server",
    summary="How unexpected the evidence is to a language model on a vLLM server, by a sliding window.",
    roles=(),
    needs="server",
    packages=(OPENAI,),
    gives="scores",
    parameters=(
        ENDPOINT,
        *PATIENCE,
        ParameterInfo(
            "window",
            "Tokens in a window",
            "int",
            2048,
            2,
            16_384,
            hint="Or what the server takes at once, if that is smaller.",
        ),
        STRIDE,
    ),
    scores=SCORES,
)


class ServedPerplexityScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        if parameters["stride"] >= parameters["window"]:
            raise ParameterError("stride", f"{parameters['stride']} is not below the window of {parameters['window']}")
        self.server = Server.of(parameters)
        self.slice_at_least = self.server.slice_at_least

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        server = self.server.describe()
        server.pop("answers")  # no reading of letters
        return provenance(self.info, self.parameters, server, dimensions=[])

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        return [
            failed(item, outcome.error)
            if outcome.error
            else Prediction(item.id, scores=scores_of(outcome.result), usage=outcome.usage)
            for item, outcome in zip(inputs, self.server.ask_each(inputs, self._losses), strict=True)
        ]

    def _losses(self, item: CheckerInput, exchange: Exchange) -> list[list[float]]:
        """Negative log probabilities of the tokens that each window predicts."""
        if not exchange.is_vllm:
            raise ModelError(f"the endpoint {exchange.client.endpoint.name} is no vLLM, which this needs")
        passages = read_passages(item)
        if len(passages) > 1:
            raise InputError("several-passages", f"there are {len(passages)} passages; this reads one evidence")
        text = vllm.tokenize(exchange, passages[0][1])
        size, stride = min(text.window - 1, self.parameters["window"]), self.parameters["stride"]
        if stride >= size:
            raise InputError("window-too-small", f"the stride of {stride} is not below the window of {size} tokens")
        losses = []
        for window in sliding_windows(len(text.ids), size, stride):
            (logs,) = vllm.prompt_logs(exchange, [text.ids[window.start : window.end]])
            losses.append([-log for log in logs[window.first - window.start - 1 :]])
        return losses


build = ServedPerplexityScorer
