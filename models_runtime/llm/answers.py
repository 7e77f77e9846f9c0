"""Reading a server's answer: the one letter that was asked for, and how probable each letter was; letters for several
numbered things; or any other JSON.

What is not exactly one of the letters is no answer (InputError), however clear its meaning may seem. Nor is a letter
that a server does not list one of probability 0. It is a failure where the server promised every letter, as vLLM does:
it rules out what may not be written before it counts, so that its list holds everything else. Another server lists its
most probable tokens whatever they are, and a letter that is not among them is less probable than the least that is:
its probability is left out, and all are where so little cannot be neglected.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..contracts import InputError, LabelPrediction, Usage
from ..inputs import check_text
from .decisions import ModelDecision, last_object, read_decision

# vLLM's logarithm of the probability of a token that the constraint rules out.
RULED_OUT = -9000.0
CHOICE, JSON, TEXT = "choice", "json_schema", "text"
# Room for the letter and the end of the answer; with JSON also for what stands around it, and for words where nothing
# keeps the model from them.
MAX_TOKENS = {CHOICE: 8, JSON: 64, TEXT: 256}
TOP_LOGPROBS = 20  # the most that OpenAI and vLLM (as it is set by default) give
# What a letter that is not listed may have at most, as a share of those that are, for these to have probabilities.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    """`mass` is the probability that the letters listed had together among all tokens; None, like the label's
    probability, if the server gave no usable probabilities. `quotes` of the texts, by an answer with
    reasons."""

    prediction: LabelPrediction
    mass: float | None
    quotes: tuple[str, ...] = ()


def request_options(letters: Mapping[str, str], mode: str) -> dict[str, Any]:
    """What a request for one of these letters asks of the server."""
    options: dict[str, Any] = {
        "max_tokens": MAX_TOKENS[mode],
        "logprobs": True,
        "top_logprobs": TOP_LOGPROBS,
    }
    if mode == TEXT:
        return options
    if mode == CHOICE:
        return options | {"extra_body": {"structured_outputs": {"choice": list(letters)}}}
    schema = object_schema({"answer": {"type": "string", "enum": list(letters)}})
    wanted = {"name": "answer", "schema": schema, "strict": True}
    return options | {"response_format": {"type": "json_schema", "json_schema": wanted}}


def json_options(name: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """What a request asks of the server whose answer is to be JSON of this schema."""
    wanted = {"name": name, "schema": schema, "strict": True}
    return {
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
    options = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return json_options("answers", schema, joint_tokens(len(numbers))) | options


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
    """What the model wrote, as it came, after what it thought; empty where it wrote nothing."""
    message, thought = _message(body), thought_of(body)
    found = message.get("content") or message.get("refusal")
    found = found if isinstance(found, str) else ""
    return f"<think>{thought}</think>\n{found}" if thought else found


def read_answer(body: Mapping[str, Any], letters: Mapping[str, str], mode: str, *, lists_all: bool) -> LabelAnswer:
    """The label behind the letter that was answered; `lists_all`: the server lists every token that may be written, as
    far as its list goes. InputError: malformed, refused, truncated or incomplete."""
    content, logprobs = _written(body, MAX_TOKENS[mode])
    if mode == TEXT and content.strip() not in letters:
        return LabelAnswer(LabelPrediction(read_decision(content, letters).label, None, {}), None)
    letter, place = _letter_in_json(content, letters) if mode == JSON else _bare_letter(content, letters)
    return _answer(letter, _listed(logprobs, content, place), letters, lists_all=lists_all)


def _answer(letter: str, listed: _Listed | None, letters: Mapping[str, str], *, lists_all: bool) -> LabelAnswer:
    label = letters[letter]
    weights = listed.weights(letters) if listed else {}
    untold = [other for other in letters if other not in weights]
    if listed and untold and lists_all and listed.is_whole:
        raise InputError(
            "incomplete",
            f"the server gave no probability for {len(untold)} of {len(letters)} letters, though each might be written",
            permanent=False,
        )
    mass = sum(weights.values())
    if not listed or not weights or (untold and not listed.most_unlisted <= NEGLIGIBLE * mass):
        return LabelAnswer(LabelPrediction(label, None, {}), None)
    probabilities = {value: weights[key] / mass for key, value in letters.items() if key in weights}
    return LabelAnswer(LabelPrediction(label, probabilities[label], probabilities), min(mass, 1.0))


def read_json(body: Mapping[str, Any], max_tokens: int) -> Any:
    """The JSON that was answered; the last object in the text where the server could not be held to it. InputError:
    malformed, refused or truncated."""
    content, _ = _written(body, max_tokens)
    found = last_object(content) if body.get("is_free") else None
    return _json(content) if found is None else found


def read_reasoned(
    body: Mapping[str, Any], letters: Mapping[str, str], names: Mapping[str, str], max_tokens: int
) -> ModelDecision:
    """The decision at the end of an answer in words of its own. InputError: malformed, refused or truncated."""
    content, _ = _written(body, max_tokens)
    thought = thought_of(body)
    try:
        found = read_decision(check_text("the answer", content), letters, names)
    except InputError as error:
        raise InputError("malformed", error.message) from None
    return found if found.explanation or not thought else replace(found, explanation=thought)


def thought_of(body: Mapping[str, Any]) -> str:
    """What the model thought before it answered, where the server tells it apart."""
    message = _message(body)
    found = message.get("reasoning_content") or message.get("reasoning")
    return found.strip() if isinstance(found, str) else ""


def finish_reason(body: Mapping[str, Any]) -> str:
    """Why the model stopped, in the server's word; empty where it tells none."""
    found = _choice(body).get("finish_reason")
    return found if isinstance(found, str) else ""


def token_logprobs(body: Mapping[str, Any]) -> list[float]:
    """Of the tokens that were written, in order; none where the server does not tell them all."""
    logprobs = _choice(body).get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    found = [one.get("logprob") for one in tokens if isinstance(one, dict)] if isinstance(tokens, list) else []
    are_known = all(isinstance(one, int | float) and math.isfinite(one) and one <= 0 for one in found)
    return found if are_known and len(found) == len(tokens or ()) else []


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _message(body: Mapping[str, Any]) -> Mapping[str, Any]:
    message = _choice(body).get("message")
    return message if isinstance(message, dict) else {}


def read_joint(
    body: Mapping[str, Any], letters: Mapping[str, str], numbers: Sequence[str], *, lists_all: bool
) -> list[LabelAnswer | InputError]:
    """For each number the label behind its letter, or why it has none; `lists_all` as for `read_answer`. InputError,
    for all of them, where the answer is not an object of these numbers."""
    content, logprobs = _written(body, joint_tokens(len(numbers)))
    found = _json(content)
    if not isinstance(found, dict) or not set(found) <= set(numbers):
        raise InputError("malformed", "the answer is not the JSON that was asked for")
    answers: list[LabelAnswer | InputError] = []
    for number in numbers:
        letter, place = found.get(number), re.search(rf'"{number}"\s*:\s*"', content)
        if not isinstance(letter, str) or letter not in letters or place is None:
            answers.append(InputError("malformed", "the answer for this number is not one of the letters"))
            continue
        try:
            listed = _listed(logprobs, content, place.end())
            answers.append(_answer(letter, listed, letters, lists_all=lists_all))
        except InputError as error:
            answers.append(error)
    return answers


def read_text(body: Mapping[str, Any], max_tokens: int | None = None) -> str:
    """What the model wrote in words of its own, which may end where its room did unless that is given as `max_tokens`.
    InputError: malformed, refused or, then, truncated."""
    content, _ = _written(body, max_tokens)
    try:
        text = check_text("the answer", content).strip()
    except InputError as error:
        raise InputError("malformed", error.message) from None
    if not text:
        raise InputError("malformed", "the model wrote nothing")
    return text


def _written(body: Mapping[str, Any], max_tokens: int | None) -> tuple[str, object]:
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


def _listed(logprobs: object, content: str, place: int) -> _Listed | None:
    """The probabilities at the place of the answer; None where that is nothing."""
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        return None
    # Where what stands there is not what was written (hidden thoughts, say), no place can be trusted.
    if not content.startswith("".join(str(token.get("token", "")) for token in tokens if not _ends(token))):
        return None
    start = 0
    for token in tokens:
        end = start + len(str(token.get("token", "")))
        if start <= place < end:
            return _Listed.at(token, begins_with_letter=not content[start:place].strip())
        start = end
    return None


def _ends(token: Mapping[str, Any]) -> bool:
    """Whether this is a token such as </s>, which ends the answer and is not a part of it."""
    return re.fullmatch(r"<[^<>\s]+>", str(token.get("token", ""))) is not None


@dataclass(frozen=True, slots=True)
class _Listed:
    """The tokens that a server lists for one place with their probabilities, 0 for what is ruled out. `most_unlisted`
    is as much as another token may have.

    `is_whole`: there is no other token where the server lists all that may be written. There may be where its list is
    full, and where a token begins before the letter others lead to the letter in two steps.
    """

    tokens: tuple[tuple[str, float], ...]
    most_unlisted: float
    is_whole: bool

    @classmethod
    def at(cls, token: Mapping[str, Any], *, begins_with_letter: bool) -> _Listed:
        entries = token.get("top_logprobs")
        entries = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        listed = _shares(entries)
        least = min((share for _, share in listed), default=1.0) if begins_with_letter else 1.0
        # The token that was written stands in the list too, unless it is too improbable for it.
        is_apart = all(entry.get("token") != token.get("token") for entry in entries)
        tokens = [*listed, *_shares([token])] if is_apart else listed
        allowed = sum(share > 0 for _, share in tokens)
        return cls(tuple(tokens), least, begins_with_letter and allowed < TOP_LOGPROBS)

    def weights(self, letters: Mapping[str, str]) -> dict[str, float]:
        """By letter; tokens that stand for the same one (with a space or a quotation mark about it) count together."""
        found: dict[str, float] = {}
        for token, share in self.tokens:
            letter = token.strip(' \t\r\n"}')
            if share and letter in letters:
                found[letter] = found.get(letter, 0.0) + share
        return found


def _shares(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Tokens with their probabilities, where these are numbers."""
    logs = [(str(entry.get("token", "")), entry.get("logprob")) for entry in entries]
    return [
        (token, math.exp(min(log, 0.0)) if log > RULED_OUT else 0.0)
        for token, log in logs
        if isinstance(log, int | float) and math.isfinite(log)
    ]
