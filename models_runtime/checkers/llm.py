"""Judging by a language model behind an OpenAI-compatible server, which picks one of the labels for each question.

For each question about an input the model gets instructions (`models_runtime/prompts/`, by the question's role), the
possible answers with a letter each and what people are told about them, and the texts. It may answer with one of the
letters only: by vLLM's choice constraint, elsewhere by a JSON schema. The probability of a label is that of its letter
at the place where the answer stands, normalised over the letters; the score `label_mass` is what they had together
before that, the least of an input's questions. Where the server tells no probabilities there are none.

A question that hangs on another's answer is asked only when that was given. Several passages go into one request, or
(`passages: each`) into one each, merged as elsewhere: entailed if any passage entails, else contradicted if any
contradicts, else as the one of which the model is surest; for relevance and coverage any one suffices, and for
correctness the best counts. Several claims are alternatives in one request. Texts are never cut: those that the model
cannot take at once fail. So does every answer that is refused, cut off or not one of the letters.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..contracts import (
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelPrediction,
    LabelSpace,
    ModelError,
    Prediction,
    Usage,
)
from ..failures import is_interruption
from ..inputs import check_text, failed, read_claims, read_passages
from ..labelling import YES_OR_NO, without_answer
from ..llm import prompts
from ..llm.answers import CHOICE, JSON, Answer, raw_text, read_answer, read_usage, request_options
from ..llm.client import Identity, LlmClient, UnreachableError
from ..llm.endpoints import HOW_TO, VARIABLE, Endpoint, configured

# Which prompts serve a role. Where there are two, the second is for inputs with passages.
PROMPTS = {
    "relevance": ("relevance",),
    "coverage": ("coverage", "sufficiency"),
    "stance": ("stance",),
    "entailment": ("entailment",),
    "correctness": ("correctness",),
}


@dataclass(slots=True)
class _Work:
    """One input on its way. What was spent and said stays known when it fails."""

    item: CheckerInput
    claims: list[str] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    question: str = ""
    usage: Usage = field(default_factory=Usage)
    prompts: list[dict[str, str]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    is_second_try: bool = False

    def failed(self, error: Exception) -> Prediction:
        found = failed(self.item, error)
        return Prediction(self.item.id, error=found.error, usage=self.usage, trace=self.trace())

    def trace(self) -> dict[str, Any] | None:
        return {"prompt": self.prompts, "output": "\n".join(self.outputs)} if self.prompts else None


class LlmChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.endpoint = find_endpoint(parameters["endpoint"])
        own = prompts.own(parameters["prompt"]) if parameters["prompt"].strip() else None
        self.prompts = {
            space.dimension: tuple(
                own if own and parameters["prompt_for"] in ("all", space.role) else prompts.shipped(name)
                for name in PROMPTS[space.role]
            )
            for space in spaces
        }
        self.letters = {space.dimension: prompts.letters_of(space) for space in spaces}
        self.instructions = {
            space.dimension: tuple(prompt.filled(space) for prompt in self.prompts[space.dimension]) for space in spaces
        }
        self.client = LlmClient(self.endpoint, timeout=parameters["timeout_seconds"], retries=parameters["retries"])
        # Fewer inputs at a time would leave the server waiting.
        self.slice_at_least = 2 * self.endpoint.max_in_flight
        self._identity: Identity | None = None

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        self._identity = self.client.wait_until_back(self.parameters["wait_seconds"])
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": self._identity.model,
            "revision": self._identity.revision,
            "parameters": dict(self.parameters),
            "device": "server",
            "endpoint": self.endpoint.name,
            "answers": self._mode(self._identity),
            "prompts": {
                dimension: [prompt.described() for prompt in found] for dimension, found in self.prompts.items()
            },
            "libraries": {"openai": importlib.metadata.version("openai")},
            "dimensions": [space.dimension for space in self.spaces],
        }

    def _mode(self, identity: Identity) -> str:
        if self.parameters["answers"] != "auto":
            return self.parameters["answers"]
        return CHOICE if identity.is_vllm else JSON

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        wait = self.parameters["wait_seconds"]
        before = self._identity = self._identity or self.client.wait_until_back(wait)
        mode = self._mode(before)
        found: list[Prediction | None] = [None] * len(inputs)
        work: dict[int, _Work] = {}
        for place, item in enumerate(inputs):
            prepared = self._prepare(item)
            if isinstance(prepared, Prediction):
                found[place] = prepared
            else:
                work[place] = prepared

        lost = self._answer(work, mode, found)
        now = self.client.wait_until_back(wait) if work else before
        if lost and now == before:
            for place in lost:
                work[place].is_second_try = True
            for place in self._answer({place: work[place] for place in lost}, mode, found):
                message = "the connection to the server was lost, again and again"
                found[place] = work[place].failed(InputError("server-error", message, permanent=False))
            now = self.client.wait_until_back(wait)
        if now != before:
            # Nobody knows which of the two gave an answer.
            for place, one in work.items():
                message = "the server began to serve something else meanwhile"
                found[place] = one.failed(InputError("model-changed", message, permanent=False))
        return [one for one in found if one is not None]

    def _prepare(self, item: CheckerInput) -> _Work | Prediction:
        """The input's texts, or the prediction where nothing is asked."""
        try:
            if found := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
                return found
            passages = [text for _, text in read_passages(item)]
            question = check_text("question", item.fields.get("question", ""))
            return _Work(item, read_claims(item), passages, question)
        except Exception as error:
            return failed(item, error)

    def _answer(self, work: dict[int, _Work], mode: str, found: list[Prediction | None]) -> list[int]:
        """Put predictions where they belong in `found`; the places of those for which the connection was lost."""
        answers = self.client.map(lambda one: self._attempt(one, mode), list(work.values()))
        for place, answer in zip(work, answers, strict=True):
            found[place] = answer
        return [place for place in work if found[place] is None]

    def _attempt(self, work: _Work, mode: str) -> Prediction | None:
        """The prediction; None where the connection was lost."""
        work.prompts, work.outputs = [], []
        try:
            labels, masses = self._answers(work, mode)
        except UnreachableError:
            return None
        except Exception as error:
            if is_interruption(error):
                raise
            return work.failed(error)
        told = [mass for mass in masses if mass is not None]
        scores = {"label_mass": min(told) if told else None}
        return Prediction(work.item.id, labels, scores, usage=work.usage, trace=work.trace())

    def _answers(self, work: _Work, mode: str) -> tuple[dict[str, LabelPrediction], list[float | None]]:
        """The labels of the questions that are asked, those first on which others hang."""
        present = {space.dimension for space in self.spaces}
        labels: dict[str, LabelPrediction] = {}
        masses: list[float | None] = []
        for space in sorted(self.spaces, key=lambda space: space.asked_when is not None):
            if space.asked_when and space.asked_when[0] in present:
                dimension, wanted = space.asked_when
                if dimension not in labels or labels[dimension].label not in wanted:
                    continue
            is_each = self.parameters["passages"] == "each"
            groups = [[text] for text in work.passages] if is_each else [work.passages]
            answers = [self._ask(work, space, group, mode) for group in groups]
            labels[space.dimension] = merged(space, [answer.prediction for answer in answers])
            masses += [answer.mass for answer in answers]
        return labels, masses

    def _ask(self, work: _Work, space: LabelSpace, passages: list[str], mode: str) -> Answer:
        letters = self.letters[space.dimension]
        instructions = self.instructions[space.dimension][-1 if "passages" in work.item.fields else 0]
        finds, looks_in = space.called
        named = [("question asked", work.question)] if work.question.strip() else []
        named += prompts.numbered(finds, work.claims) + prompts.numbered(looks_in, passages)
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": prompts.texts_message(named, list(letters))},
        ]
        work.prompts += messages
        # What breaks the connection each time must not take others down with it.
        is_second = work.is_second_try
        body = self.client.chat(messages, even_if_away=is_second, **request_options(letters, mode))
        work.usage += read_usage(body)
        work.outputs.append(raw_text(body))
        return read_answer(body, letters, mode)


def merged(space: LabelSpace, answers: Sequence[LabelPrediction]) -> LabelPrediction:
    """One answer from those about single passages; the surest of the ones that decide, the first of equals."""
    polarity = dict(space.labels)
    if space.role in YES_OR_NO:
        sides = [[one for one in answers if (polarity[one.label] or 0) > 0.5]]
    elif space.role == "correctness":
        best = max(_known(polarity[one.label]) for one in answers)
        sides = [[one for one in answers if _known(polarity[one.label]) == best]]
    else:
        sides = [
            [one for one in answers if (polarity[one.label] or 0) > 0],
            [one for one in answers if (polarity[one.label] or 0) < 0],
        ]
    deciding = next((side for side in sides if side), answers)
    return max(deciding, key=lambda one: -1.0 if one.probability is None else one.probability)


def _known(polarity: float | None) -> float:
    """A label outside the scale counts less than any on it."""
    return -2.0 if polarity is None else polarity


def find_endpoint(name: str) -> Endpoint:
    """The endpoint of this name, the first one where it is empty. ModelError where none is configured."""
    try:
        endpoints = configured()
    except ValueError as error:
        raise ModelError(f"{VARIABLE} {error}") from None
    if not endpoints:
        raise ModelError(HOW_TO)
    return endpoints[name] if name else next(iter(endpoints.values()))


build = LlmChecker
