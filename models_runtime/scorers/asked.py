"""Scores that are a language model's answer to one question, and how probable each of its answers was.

| entry | question | scores |
|---|---|---|
| source-reference | does the text refer to a source outside itself? (DRUID, 4.1) | refers_to_external_source: 1 or 0 |
| model-knowledge | does this model know a triplet to be so? (RefChecker, D.1) | knows: 1 yes, 0 unsure, -1 no |
| verdict | is the claim true by its evidence? (the leakage study) | verdict: 1 true, 0 none, -1 false |

Each answer's probability is a score of its own, normalised over the answers; undefined where the server tells none, and
so is `label_mass`, what the answers had together. What is no answer is a failure, as with the judge (`checkers.llm`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, Prediction, ScoreInfo
from ..inputs import failed
from ..llm import prompts
from ..llm.answers import LabelAnswer
from ..llm.asking import Exchange, RequestOutcome, Server, keeping
from ..llm.parameters import ANSWERS, ENDPOINT, LABEL_MASS, PATIENCE, PROMPT
from ..packages import OPENAI
from ..provenance import provenance

Texts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """`space` has the answers with the value that each gives the score `score`, and `probabilities` the name of the
    score with each answer's probability. `read` picks the texts of an input that are sent."""

    space: LabelSpace
    score: str
    probabilities: tuple[tuple[str, str], ...]
    read: Callable[[CheckerInput], Texts]

    def scores(self, answer: LabelAnswer) -> dict[str, float | None]:
        found = answer.prediction
        values = dict(self.space.labels)
        scores = {name: found.probabilities.get(label) for label, name in self.probabilities}
        return {self.score: values[found.label], **scores, "label_mass": answer.mass}


def info_of(
    slug: str, title: str, summary: str, *scores: ScoreInfo, more: tuple[ParameterInfo, ...] = ()
) -> CheckerInfo:
    """The entry of one question with scores for an answer, and `more` parameters."""
    return CheckerInfo(
        slug=slug,
        version="2",
        kind="llm",
        title=title,
        summary=summary,
        roles=(),
        needs="server",
        packages=(OPENAI,),
        gives="scores",
        parameters=(ENDPOINT, *more, PROMPT, ANSWERS, *PATIENCE),
        scores=(*scores, LABEL_MASS),
    )


class AskedScorer:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any], question: ScoredQuestion) -> None:
        self.info, self.parameters, self.question = info, parameters, question
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own) if own else prompts.shipped(info.slug)
        self.letters = prompts.letters_of(self.question.space)
        self.instructions = self.prompt.filled(self.question.space)
        self.slice_at_least = self.server.slice_at_least

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        prompts = {self.info.slug: [self.prompt.described()]}
        return provenance(self.info, self.parameters, self.server.describe(), prompts=prompts, dimensions=[])

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        found: list[Prediction | None] = [None] * len(inputs)
        texts: dict[int, Texts] = {}
        for place, item in enumerate(inputs):
            try:
                texts[place] = self.question.read(item)
            except InputError as error:
                found[place] = failed(item, error)
        asked = [inputs[place] for place in texts]
        with keeping(lambda outcomes: [self._prediction(asked[place], one) for place, one in outcomes.items()]):
            outcomes = self.server.ask_each(list(texts.values()), self._ask)
        for place, outcome in zip(texts, outcomes, strict=True):
            found[place] = self._prediction(inputs[place], outcome)
        return [one for one in found if one is not None]

    def _prediction(self, item: CheckerInput, outcome: RequestOutcome[LabelAnswer]) -> Prediction:
        if outcome.error:
            error = failed(item, outcome.error).error
            return Prediction(item.id, error=error, usage=outcome.usage, trace=outcome.trace)
        scores = self.question.scores(outcome.result)
        return Prediction(item.id, scores=scores, usage=outcome.usage, trace=outcome.trace)

    def _ask(self, texts: Texts, exchange: Exchange) -> LabelAnswer:
        messages = prompts.both(self.instructions, prompts.texts_message(texts, list(self.letters)))
        return exchange.ask_for_letter(messages, self.letters)


def builder_of(question: ScoredQuestion) -> Callable[..., AskedScorer]:
    def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> AskedScorer:
        return AskedScorer(info, parameters, question)

    return build
