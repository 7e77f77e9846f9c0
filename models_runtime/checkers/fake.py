"""A checker without a judgement of its own, for tests and demonstrations: quick, repeatable, and failing on demand.

Everything is drawn from sha256 of the seed and the input's fields (not its id), so equal texts get equal answers, and
an input that fails does so on every attempt. It counts the words of its input as tokens, and its answer as one.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Sequence
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelPrediction,
    LabelSpace,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    ScoreInfo,
    Usage,
)
from ..inputs import answer_each, check_text
from ..labels.labelling import answer, kept_spans, prediction
from ..provenance import dimensions_of, provenance

# What a fixed label gets; the rest is shared by the others.
FIXED_PROBABILITY = 0.9


INFO = CheckerInfo(
    slug="fake",
    version="1",
    kind="fake",
    title="Random draw",
    summary="Draws its answers from a hash of the text, and fails on demand: for tests and demonstrations.",
    roles=ROLES,
    needs="cpu",
    licence="GPL-3.0-or-later",
    parameters=(
        ParameterInfo("seed", "Seed", "int", 0, 0, 2**31 - 1),
        ParameterInfo("delay_ms", "Delay per input (milliseconds)", "int", 0, 0, 60_000),
        ParameterInfo("failure_share", "Share of inputs that fail", "float", 0.0, 0, 1),
        ParameterInfo("permanent_failure_share", "Share of inputs that fail permanently", "float", 0.0, 0, 1),
        ParameterInfo("label", "Fixed label", "str", "", hint="Given wherever it is one of the labels."),
    ),
    scores=(ScoreInfo("draw", "Draw", 0, 1),),
)


class FakeChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.spaces, self.parameters = info, spaces, parameters

    def describe(self) -> dict[str, Any]:
        return provenance(self.info, self.parameters, libraries={}, dimensions=dimensions_of(self.spaces))

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        return answer_each(inputs, self._answer)

    def _answer(self, item: CheckerInput) -> Prediction:
        time.sleep(self.parameters["delay_ms"] / 1000)
        texts = _texts(item)
        draw = self._draw(texts, "failure")
        if draw < self.parameters["permanent_failure_share"]:
            raise InputError("fake-permanent", "this input was chosen to fail permanently")
        if draw < self.parameters["permanent_failure_share"] + self.parameters["failure_share"]:
            raise InputError("fake-transient", "this input was chosen to fail", permanent=False)
        labels = answer(self.spaces, lambda space: self._label(space, texts))
        return Prediction(
            item.id,
            labels,
            {"draw": self._draw(texts, "score")},
            kept_spans(self.spaces, labels, self._span(texts)),
            usage=Usage(sum(len(text.split()) for text in texts.values()), 1),
            trace={
                "prompt": "\n".join(f"{name}: {text}" for name, text in texts.items()),
                "output": ", ".join(f"{dimension}: {predicted.label}" for dimension, predicted in labels.items()),
            },
        )

    def _label(self, space: LabelSpace, texts: dict[str, str]) -> LabelPrediction:
        fixed = self.parameters["label"]
        if fixed not in space.values:
            return prediction(
                space, {value: 0.01 + self._draw(texts, space.dimension, value) for value in space.values}
            )
        others = len(space.values) - 1
        shared = (1 - FIXED_PROBABILITY) / others if others else 0.0
        return prediction(space, {value: FIXED_PROBABILITY if value == fixed else shared for value in space.values})

    def _span(self, texts: dict[str, str]) -> PredictedSpan | None:
        """One word of the evidence or of a passage."""
        words = [
            (field, match)
            for field, text in texts.items()
            if field == "evidence" or field.startswith("passages[")
            for match in re.finditer(r"\S+", text)
        ]
        if not words:
            return None
        draw = self._draw(texts, "span")
        field, match = words[int(draw * len(words))]
        return PredictedSpan(field, match.start(), match.end(), match.group(), draw)

    def _draw(self, texts: dict[str, str], *purpose: str) -> float:
        """A number in [0, 1)."""
        key = json.dumps([self.parameters["seed"], purpose, sorted(texts.items())])
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big") / 2**48


def _texts(item: CheckerInput) -> dict[str, str]:
    """Every text of the input by name, members of a tuple as `name[i]`."""
    texts = {}
    for name, value in item.fields.items():
        many = isinstance(value, tuple | list)
        texts |= (
            {f"{name}[{i}]": check_text(name, text) for i, text in enumerate(value)}
            if many
            else {name: check_text(name, value)}
        )
    if not any(text.strip() for text in texts.values()):
        raise InputError("empty-input", "there is no text to judge")
    return texts


build = FakeChecker
