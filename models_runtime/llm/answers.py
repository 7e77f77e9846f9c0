"""Reading a server's answer: the one letter that was asked for, and how probable each letter was; letters for several
numbered things; or any other JSON.

What is not exactly one of the letters is no answer (InputError), however clear its meaning may seem.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import InputError, LabelPrediction, Usage
from ..inputs import check_text

# vLLM's logarithm of the probability of a token that the constraint rules out.
RULED_OUT = -9000.0
CHOICE, JSON = "choice", "json_schema"
# Room for the letter and the end of the answer; with JSON also for what stands around it.
MAX_TOKENS = {CHOICE: 8, JSON: 64}
TOP_LOGPROBS = 20  # the most that OpenAI and vLLM (as it is set by default) give


@dataclass(frozen=True, slots=True)
class Answer:
    """`mass` is the probability that the letters had together among all tokens; None, like the label's probability,
    where the server told no probabilities."""

    prediction: LabelPrediction
    mass: float | None


def request_options(letters: Mapping[str, str], mode: str) -> dict[str, Any]:
    """What a request for one of these letters asks of the server."""
    options: dict[str, Any] = {
        "temperature": 0,
        "max_tokens": MAX_TOKENS[mode],
        "logprobs": True,
        "top_logprobs": TOP_LOGPROBS,
    }
    if mode == CHOICE:
        return options | {"extra_body": {"structured_outputs": {"choice": list(letters)}}}
    schema = object_schema({"answer": {"type": "string", "enum": list(letters)}})
    wanted = {"name": "answer", "schema": schema, "strict": True}
    return options | {"response_format": {"type": "json_schema", "json_schema": wanted}}


def json_options(name: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """What a request asks of the server whose answer is to be JSON of this schema."""
    wanted = {"name": name, "schema": schema, "strict": True}
    return {
        "temperature": 0,
        "max_tokens": max_tokens,
        "response_format": {"type": "json_schema", "json_schema": wanted},
    }


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of an object that has these and nothing else."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def joint_options(letters: Mapping[str, str], numbers: Sequence[str]) -> dict[str, Any]:
    """What a request for one of these letters for each number asks of the server."""
    schema = object_schema({number: {"type": "string", "enum": list(letters)} for number in numbers})
    told = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return json_options("answers", schema, joint_tokens(len(numbers))) | told


def joint_tokens(count: int) -> int:
    """Room for so many letters with their numbers, quotation marks and white space, one token for each character."""
    return 16 + 16 * count


def read_usage(body: Mapping[str, Any]) -> Usage:
    """The tokens that the server counted; those that it does not tell count as 0."""
    counts = body.get("usage")
    counts = counts if isinstance(counts, dict) else {}
    return Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def raw_text(body: Mapping[str, Any]) -> str:
    """What the model wrote, as it came; empty where it wrote nothing."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    found = (message.get("content") or message.get("refusal")) if isinstance(message, dict) else None
    return found if isinstance(found, str) else ""


def read_answer(body: Mapping[str, Any], letters: Mapping[str, str], mode: str) -> Answer:
    """The label behind the letter that was answered. InputError: malformed, refused or truncated."""
    content, logprobs = _said(body, MAX_TOKENS[mode])
    letter, place = _letter_in_json(content, letters) if mode == JSON else _bare_letter(content, letters)
    return _answer(letter, _weights(logprobs, content, place, letters), letters)


def _answer(letter: str, weights: Mapping[str, float], letters: Mapping[str, str]) -> Answer:
    label = letters[letter]
    if not weights:
        return Answer(LabelPrediction(label, None, {}), None)
    mass = sum(weights.values())
    probabilities = {value: weights.get(key, 0.0) / mass for key, value in letters.items()}
    return Answer(LabelPrediction(label, probabilities[label], probabilities), min(mass, 1.0))


def read_json(body: Mapping[str, Any], max_tokens: int) -> Any:
    """The JSON that was answered. InputError: malformed, refused or truncated."""
    content, _ = _said(body, max_tokens)
    return _json(content)


def read_joint(
    body: Mapping[str, Any], letters: Mapping[str, str], numbers: Sequence[str]
) -> list[Answer | InputError]:
    """For each number the label behind its letter, or why it has none. InputError, for all of them, where the answer is
    no object of these numbers."""
    content, logprobs = _said(body, joint_tokens(len(numbers)))
    found = _json(content)
    if not isinstance(found, dict) or not set(found) <= set(numbers):
        raise InputError("malformed", "the answer is not the JSON that was asked for")
    answers: list[Answer | InputError] = []
    for number in numbers:
        letter, place = found.get(number), re.search(rf'"{number}"\s*:\s*"', content)
        if not isinstance(letter, str) or letter not in letters or place is None:
            answers.append(InputError("malformed", "the answer for this number is not one of the letters"))
        else:
            answers.append(_answer(letter, _weights(logprobs, content, place.end(), letters), letters))
    return answers


def read_text(body: Mapping[str, Any]) -> str:
    """What the model wrote in words of its own, which may end where its room did. InputError: malformed or refused."""
    content, _ = _said(body, None)
    try:
        text = check_text("the answer", content).strip()
    except InputError as error:
        raise InputError("malformed", error.message) from None
    if not text:
        raise InputError("malformed", "the model wrote nothing")
    return text


def _said(body: Mapping[str, Any], max_tokens: int | None) -> tuple[str, object]:
    """What the model wrote, with the log probabilities as they came. InputError: malformed, refused or, unless
    `max_tokens` is None, truncated."""
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise InputError("malformed", "the server's answer holds no choice", permanent=False)
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        raise InputError("malformed", "the server's answer holds no message", permanent=False)
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise InputError("refused", "the model refuses to answer")
    if max_tokens is not None and choice.get("finish_reason") == "length":
        raise InputError("truncated", f"the answer was cut off after {max_tokens} tokens")
    content = message.get("content")
    if not isinstance(content, str):
        raise InputError("malformed", "the model wrote nothing")
    return content, choice.get("logprobs")


def _json(content: str) -> Any:
    try:
        return json.loads(content, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError):
        raise InputError("malformed", "the answer is not the JSON that was asked for") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _bare_letter(content: str, letters: Mapping[str, str]) -> tuple[str, int]:
    letter = content.strip()
    if letter not in letters:
        raise InputError("malformed", "the answer is not one of the letters that were offered")
    return letter, content.index(letter)


def _letter_in_json(content: str, letters: Mapping[str, str]) -> tuple[str, int]:
    found = _json(content)
    letter = found.get("answer") if isinstance(found, dict) and set(found) == {"answer"} else None
    place = re.search(r'"answer"\s*:\s*"', content)
    if not isinstance(letter, str) or letter not in letters or place is None:
        raise InputError("malformed", "the answer is not one of the letters that were offered")
    return letter, place.end()


def _weights(logprobs: object, content: str, place: int, letters: Mapping[str, str]) -> dict[str, float]:
    """The probability of each letter at the place where the answer stands; empty where that is not told.

    Tokens that stand for the same letter (with a space or a quotation mark about it) count together. A letter that is
    not among the tokens listed gets 0, which is right where the server rules out all other tokens before it counts, as
    vLLM does; elsewhere its probability is less than the least one listed.
    """
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        return {}
    # Where what stands there is not what was written (hidden thoughts, say), no place can be trusted.
    if not content.startswith("".join(str(token.get("token", "")) for token in tokens if not _ends(token))):
        return {}
    start = 0
    for token in tokens:
        end = start + len(str(token.get("token", "")))
        if start <= place < end:
            return _letters_of_token(token, letters)
        start = end
    return {}


def _ends(token: Mapping[str, Any]) -> bool:
    """Whether this is a token such as </s>, which ends the answer and is no part of it."""
    return re.fullmatch(r"<[^<>\s]+>", str(token.get("token", ""))) is not None


def _letters_of_token(token: Mapping[str, Any], letters: Mapping[str, str]) -> dict[str, float]:
    listed = token.get("top_logprobs")
    listed = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    # The token that was written stands in the list too, unless it is too improbable for it.
    if all(entry.get("token") != token.get("token") for entry in listed):
        listed = [*listed, token]
    weights: dict[str, float] = {}
    for entry in listed:
        letter, logprob = str(entry.get("token", "")).strip(' \t\r\n"}'), entry.get("logprob")
        if letter not in letters or not isinstance(logprob, int | float) or not math.isfinite(logprob):
            continue
        if logprob > RULED_OUT:
            weights[letter] = weights.get(letter, 0.0) + math.exp(min(logprob, 0.0))
    return weights if sum(weights.values()) > 0 else {}
