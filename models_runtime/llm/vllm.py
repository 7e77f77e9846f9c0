"""What vLLM answers beyond chats: a text's token ids, and the exact probabilities of tokens of our choice.

Never with `logprob_token_ids`: while one request of a batch has that, vLLM (0.32) tells every other request the written
token alone, whatever it asked for. So a token of our choice is the only one that may be written, and its probability is
told as it was before that rule (`raw_logprobs`, vLLM's default). Nobody else's request can spoil that, nor does it
spoil another's.

Prompts go as token ids, so that what is read is about the tokens that were meant. Errors are those of `LlmClient`; an
answer that holds something else than what was asked for is an InputError `malformed`. Tokens that the server counts are
added to the exchange's usage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import InputError
from .answers import read_usage
from .asking import Exchange

Tokens = tuple[int, ...]
# As it comes out of the network: a model's own defaults for writing must not be in the probabilities.
PLAIN = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
# What vLLM writes for the logarithm of 0.
IMPOSSIBLE = -9999.0
# Logarithms of probabilities are not above 0, but for rounding.
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Tokenized:
    ids: Tokens
    window: int  # tokens that the server takes at once


def tokenize(exchange: Exchange, text: str, *, specials: bool = True) -> Tokenized:
    """The token ids of a text, with those that the model wants before it where `specials`."""
    found = _post(exchange, "/tokenize", above=True, prompt=text, add_special_tokens=specials)
    ids, window = found.get("tokens"), found.get("max_model_len")
    if not isinstance(ids, list) or not all(map(_is_count, ids)) or not _is_count(window):
        raise _malformed("it tells no tokens")
    return Tokenized(tuple(ids), window)


def detokenize(exchange: Exchange, ids: Sequence[int]) -> str:
    found = _post(exchange, "/detokenize", above=True, tokens=list(ids))
    if not isinstance(found.get("prompt"), str):
        raise _malformed("it tells no text")
    return found["prompt"]


def next_token_log(exchange: Exchange, prompt: Tokens, token: int) -> float:
    """The logarithm of the probability of `token` after the prompt, of the whole vocabulary.

    A server that counts what it may write alone (`processed_logprobs`, and before version 1) says 0 for every token.
    """
    options = {"logprobs": 0, "allowed_token_ids": [token], "return_tokens_as_token_ids": True}
    (choice,) = _complete(exchange, [prompt], options)
    logprobs = choice.get("logprobs")
    logprobs = logprobs if isinstance(logprobs, dict) else {}
    if logprobs.get("tokens") != [f"token_id:{token}"]:
        raise _malformed("it wrote something else than the token that it was to write")
    logs = logprobs.get("token_logprobs")
    if not isinstance(logs, list) or len(logs) != 1:
        raise _malformed("it tells no probability of the token")
    return _log(logs[0])


def prompt_logs(exchange: Exchange, prompts: Sequence[Tokens]) -> list[list[float]]:
    """Of each prompt's tokens but the first, the logarithm of its probability after those before it."""
    choices = _complete(exchange, prompts, {"prompt_logprobs": 0})
    return [_of_prompt(choice, prompt) for choice, prompt in zip(choices, prompts, strict=True)]


def _complete(exchange: Exchange, prompts: Sequence[Tokens], options: dict[str, Any]) -> list[dict]:
    """One choice for each prompt, in their order. One token is written, since less cannot be asked for."""
    found = _post(
        exchange, "/completions", prompt=[list(prompt) for prompt in prompts], max_tokens=1, **PLAIN, **options
    )
    choices = found.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise _malformed("it holds no choices")
    by_index = {choice.get("index"): choice for choice in choices}
    if len(choices) != len(prompts) or set(by_index) != set(range(len(prompts))):
        raise _malformed(f"it holds {len(choices)} choices for {len(prompts)} prompts")
    return [by_index[index] for index in range(len(prompts))]


def _post(exchange: Exchange, path: str, *, above: bool = False, **body: Any) -> dict[str, Any]:
    found = exchange.client.post(path, body, above=above, even_if_away=exchange.is_second_try)
    exchange.usage += read_usage(found)
    return found


def _of_prompt(choice: dict, prompt: Tokens) -> list[float]:
    places = choice.get("prompt_logprobs")
    if not isinstance(places, list) or len(places) != len(prompt):
        raise _malformed("it tells no probabilities of the prompt")
    found = []
    for token, place in zip(prompt[1:], places[1:], strict=True):
        entry = place.get(str(token)) if isinstance(place, dict) else None
        if not isinstance(entry, dict):
            raise _malformed("it tells no probability of a token of the prompt")
        found.append(_log(entry.get("logprob")))
    return found


def _log(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value > ROUNDING:
        raise _malformed("what it calls a logarithm of a probability is none")
    return -math.inf if value <= IMPOSSIBLE else min(float(value), 0.0)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _malformed(problem: str) -> InputError:
    return InputError("malformed", f"the server's answer cannot be used: {problem}", permanent=False)
