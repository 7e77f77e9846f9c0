"""Answers of a language model to questions: from what it knows, or from passages that it is given.

A `form` says how the answer is asked for: in a few sentences; as the answer alone; or after reasons, with what follows
the last "The answer is:" as the answer, as in Joren et al. (2025), "Sufficient Context", and the whole is kept with it.
How sure a model is may be kept with each answer, as `confidence` from 0 to 1: the geometric mean of its tokens'
probabilities, or what it says when it is asked how probable its answer is right (P(Correct); Kadavath et al. 2022). An
answer without it, since the server tells none or says no number, is an answer all the same.

An answer that is cut off, empty or refused by the server is a failure with its reason, and its words stay in the trace.
One that says that it does not know is an answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..contracts import CheckerInfo, CheckerInput, InputError, ParameterInfo, Usage
from ..inputs import check_text, failed
from ..llm import prompts
from ..llm.answers import finish_reason, read_text, thought_of, token_logprobs
from ..llm.asking import Exchange, RequestOutcome, Server, keeping
from ..llm.estimating import tokens_of
from ..llm.parameters import ENDPOINT, PATIENCE
from ..packages import OPENAI
from ..provenance import provenance
from ..texts.abstention import is_abstention
from .contracts import Generation, GenerationInput

SENTENCES, REASONS, ANSWER_ONLY = FORMS = ("sentences", "reasons", "answer-only")
# The prompt of each form without passages; those with passages end in "-from-passages".
PROMPTS = {SENTENCES: "answer", REASONS: "answer-reasons", ANSWER_ONLY: "answer-only"}
FROM_PASSAGES = "-from-passages"
NO_CONFIDENCE, BY_TOKENS, ASKED = CONFIDENCES = ("none", "tokens", "asked")
CONFIDENCE_PROMPT, CONFIDENCE_TOKENS = "answer-confidence", 16
NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:%\s*)?(?:\.\s*)?")
DECISION = re.compile(r"the answer is\s*:[*_\s]*", re.IGNORECASE)
THOUGHT_CHARS = 20_000
# About how many tokens an answer of each form takes.
TOKENS_WRITTEN = {SENTENCES: 150, REASONS: 300, ANSWER_ONLY: 15}


INFO = CheckerInfo(
    slug="llm-answers",
    version="1",
    kind="llm",
    title="Language model",
    summary="Asks a language model on a server of this site's choice to answer the questions.",
    roles=("question",),
    needs="server",
    packages=(OPENAI,),
    gives="texts",
    parameters=(
        ENDPOINT,
        ParameterInfo(
            "form",
            "Form of the answer",
            "str",
            SENTENCES,
            choices=FORMS,
            hint="sentences: a few. reasons: chain of thought; what follows “The answer is:” becomes the response. "
            "answer-only: nothing else.",
        ),
        ParameterInfo(
            "prompt",
            "Custom instructions",
            "prompt",
            "",
            hint="Used instead of the shipped ones of this form. The question, its date and the passages follow them.",
        ),
        ParameterInfo(
            "confidence",
            "Confidence in each answer",
            "str",
            NO_CONFIDENCE,
            choices=CONFIDENCES,
            hint="tokens: the geometric mean of the answer's token probabilities, where the server tells them. asked: "
            "a second request asks the model how probable its answer is right.",
        ),
        ParameterInfo("temperature", "Temperature", "float", 0.0, 0, 2),
        ParameterInfo(
            "seed", "Seed", "int", 0, 0, 2**31 - 1, hint="Of the first repetition; each later one has the next seed."
        ),
        ParameterInfo(
            "max_tokens",
            "Maximum tokens per answer",
            "int",
            1024,
            1,
            65_536,
            hint="An answer that is longer is cut off, and fails.",
        ),
        *PATIENCE,
    ),
)


class LlmAnswers:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.server = Server.of(parameters)
        self.slice_at_least = self.server.slice_at_least

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        used = {prompt_for(self.parameters, has_passages=has) for has in (False, True)}
        used |= {prompts.shipped(CONFIDENCE_PROMPT)} if self.parameters["confidence"] == ASKED else set()
        described = sorted((prompt.described() for prompt in used), key=lambda one: one["name"])
        return provenance(self.info, self.parameters, self.server.describe(), prompts={"question": described})

    def generate(self, inputs: Sequence[GenerationInput]) -> list[Generation]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`, ModelError where it
        refuses the same again and again; what was answered before goes with the error."""
        with keeping(lambda done: [_generation(inputs[place], outcome) for place, outcome in done.items()]):
            outcomes = self.server.ask_each(inputs, self._ask)
        return [_generation(one, outcome) for one, outcome in zip(inputs, outcomes, strict=True)]

    def _ask(self, one: GenerationInput, exchange: Exchange) -> tuple[str, dict[str, Any]]:
        room, seed = self.parameters["max_tokens"], self.parameters["seed"] + one.repetition
        prompt = prompt_for(self.parameters, has_passages=bool(one.passages))
        options = {"max_tokens": room, "temperature": self.parameters["temperature"], "seed": seed}
        options |= {"logprobs": True} if self.parameters["confidence"] == BY_TOKENS else {}
        body = exchange.ask(messages_of(one, prompt), **options)
        whole = read_text(body, room)
        text = decided(whole) if self.parameters["form"] == REASONS else whole
        facts = {
            "temperature": self.parameters["temperature"],
            "seed": seed,
            "finish_reason": finish_reason(body),
            "prompt": prompt.described(),
            "prompt_tokens": exchange.usage.prompt_tokens,
            "completion_tokens": exchange.usage.completion_tokens,
        }
        if (sure := self._confidence(one, text, body, exchange)) is not None:
            facts["confidence"] = sure
        if is_abstention(text):
            facts["abstains"] = True
        if reasons := "\n\n".join(filter(None, [thought_of(body), whole if whole != text else ""])):
            facts["reasons"] = reasons[:THOUGHT_CHARS]
        return text, facts

    def _confidence(self, one: GenerationInput, text: str, body: Mapping[str, Any], exchange: Exchange) -> float | None:
        if self.parameters["confidence"] == BY_TOKENS:
            logs = token_logprobs(body)
            return math.exp(sum(logs) / len(logs)) if logs else None
        if self.parameters["confidence"] != ASKED:
            return None
        reply = exchange.ask(
            messages_of(one, prompts.shipped(CONFIDENCE_PROMPT), (("answer", text),), "The probability in percent:"),
            max_tokens=CONFIDENCE_TOKENS,
        )
        try:
            found = NUMBER.fullmatch(read_text(reply))
        except InputError:
            return None
        return float(found[1]) / 100 if found and float(found[1]) <= 100 else None


def prompt_for(parameters: Mapping[str, Any], *, has_passages: bool) -> prompts.Prompt:
    if own := parameters["prompt"].replace("\r\n", "\n").strip():
        return prompts.Prompt("own", "", own)
    return prompts.shipped(PROMPTS[parameters["form"]] + FROM_PASSAGES * has_passages)


def messages_of(
    one: GenerationInput,
    prompt: prompts.Prompt,
    more: Sequence[tuple[str, str]] = (),
    ending: str = "Your answer to the question:",
) -> prompts.Messages:
    """InputError where a text is none."""
    if not check_text("question", one.text).strip():
        raise InputError("empty-question", "there is no question to answer")
    passages = [check_text("passage", text) for text in one.passages]
    named = [("question", one.text)]
    named += [("date of the question", check_text("date", one.date))] if one.date else []
    named += prompts.numbered("passage", passages) if passages else []
    return prompts.both(prompt.instructions, prompts.texts_before([*named, *more], ending))


def decided(text: str) -> str:
    """What follows the last "The answer is:".

    >>> decided("It froze in 1963, so the answer is: no. Wait. The answer is: **1880**")
    '1880'
    """
    found = list(DECISION.finditer(text))
    answer = text[found[-1].end() :].strip("*_ \n") if found else ""
    if not answer:
        raise InputError("no-decision", "the answer does not end in “The answer is:” with an answer behind it")
    return answer


def estimated_usage(inputs: Sequence[GenerationInput], parameters: Mapping[str, Any]) -> Usage:
    """About how many tokens the answers take, without asking a server (see `llm.estimating`)."""
    sent = sum(tokens_of(messages_of(one, prompt_for(parameters, has_passages=bool(one.passages)))) for one in inputs)
    is_asked = parameters["confidence"] == ASKED
    return Usage(sent * (1 + is_asked), (TOKENS_WRITTEN[parameters["form"]] + 2 * is_asked) * len(inputs))


def _generation(one: GenerationInput, outcome: RequestOutcome[tuple[str, dict[str, Any]]]) -> Generation:
    if outcome.error:
        error = failed(CheckerInput(one.id, {}), outcome.error).error
        return Generation(one.id, error=error, usage=outcome.usage, trace=outcome.trace)
    text, facts = outcome.result
    return Generation(one.id, text, facts, usage=outcome.usage, trace=outcome.trace)


build = LlmAnswers
