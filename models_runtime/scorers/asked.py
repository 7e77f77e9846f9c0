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

from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, Prediction
from ..inputs import failed, read_claim, read_passages
from ..llm import prompts
from ..llm.answers import Answer
from ..llm.asking import Exchange, Server

Texts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Question:
    """`space` has the answers with the value that each gives the score `score`, and `probabilities` the name of the
    score with each answer's probability. `read` picks the texts of an input that are sent."""

    space: LabelSpace
    score: str
    probabilities: tuple[tuple[str, str], ...]
    read: Callable[[CheckerInput], Texts]

    def scores(self, answer: Answer) -> dict[str, float | None]:
        found = answer.prediction
        values = dict(self.space.labels)
        told = {name: found.probabilities.get(label) for label, name in self.probabilities}
        return {self.score: values[found.label], **told, "label_mass": answer.mass}


def _passage(item: CheckerInput) -> Texts:
    passages = read_passages(item)
    if len(passages) > 1:
        raise InputError("several-passages", f"there are {len(passages)} passages; this is asked of one text")
    return [("text", passages[0][1])]


def _statement(item: CheckerInput) -> Texts:
    return [("statement", read_claim(item))]


def _claim_and_evidence(item: CheckerInput) -> Texts:
    return [("claim", read_claim(item)), *prompts.numbered("evidence", [text for _, text in read_passages(item)])]


QUESTIONS = {
    "source-reference": Question(
        LabelSpace(
            "source-reference",
            "relevance",
            (("yes", 1.0), ("no", 0.0)),
            question="Does the text refer to an external source?",
            meanings=(("yes", "Yes, it refers to one."), ("no", "No, it refers to none.")),
        ),
        "refers_to_external_source",
        (("yes", "p_refers_to_external_source"),),
        _passage,
    ),
    "model-knowledge": Question(
        LabelSpace(
            "model-knowledge",
            "correctness",
            (("yes", 1.0), ("no", -1.0), ("unsure", 0.0)),
            question="Do you know the statement to be so?",
            meanings=(
                ("yes", "Yes, I know it to be so."),
                ("no", "No, what I know says otherwise."),
                ("unsure", "Unsure: I do not know, or what I know is contradictory."),
            ),
        ),
        "knows",
        (("yes", "knows_yes"), ("no", "knows_no"), ("unsure", "knows_unsure")),
        _statement,
    ),
    "verdict": Question(
        LabelSpace(
            "verdict",
            "stance",
            (("True", 1.0), ("False", -1.0), ("None", 0.0)),
            question="By the evidence, is the claim true?",
            meanings=(
                ("True", "True: the evidence shows that it is."),
                ("False", "False: the evidence shows that it is not."),
                ("None", "None: the evidence does not settle it."),
            ),
        ),
        "verdict",
        (("True", "verdict_true"), ("False", "verdict_false"), ("None", "verdict_none")),
        _claim_and_evidence,
    ),
}


class AskedScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters, self.question = info, parameters, QUESTIONS[info.slug]
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own) if own else prompts.shipped(info.slug)
        self.letters = prompts.letters_of(self.question.space)
        self.instructions = self.prompt.filled(self.question.space)
        self.slice_at_least = self.server.slice_at_least

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            **self.server.describe(),
            "parameters": dict(self.parameters),
            "prompts": {self.info.slug: [self.prompt.described()]},
            "dimensions": [],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        found: list[Prediction | None] = [None] * len(inputs)
        texts: dict[int, Texts] = {}
        for place, item in enumerate(inputs):
            try:
                texts[place] = self.question.read(item)
            except InputError as error:
                found[place] = failed(item, error)
        for place, outcome in zip(texts, self.server.ask_each(list(texts.values()), self._ask), strict=True):
            key = inputs[place].id
            if outcome.error:
                error = failed(inputs[place], outcome.error).error
                found[place] = Prediction(key, error=error, usage=outcome.usage, trace=outcome.trace)
            else:
                scores = self.question.scores(outcome.result)
                found[place] = Prediction(key, scores=scores, usage=outcome.usage, trace=outcome.trace)
        return [one for one in found if one is not None]

    def _ask(self, texts: Texts, exchange: Exchange) -> Answer:
        messages = prompts.both(self.instructions, prompts.texts_message(texts, list(self.letters)))
        return exchange.ask_for_letter(messages, self.letters)
