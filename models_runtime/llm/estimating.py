"""An estimate of the tokens that requests would take, without a server and without its tokenizer.

The requests are written down by what would send them, and a token is counted for every four bytes of UTF-8: close to
what today's tokenizers make of English, and for other scripts the right order of magnitude.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..contracts import CheckerInput, Usage
from . import prompts

BYTES_PER_TOKEN = 4
# What chat templates put around a message.
TOKENS_AROUND = 10
# Of a request whose exact form is not written down here, and its answer.
TOKENS_INSTRUCTIONS = 400
TOKENS_ROUGHLY_WRITTEN = 40
# What says where texts begin and end, a made-up passage, and what is typed into a search engine.
TOKENS_OF_MARKS = 60
TOKENS_OF_PASSAGE = 200
TOKENS_OF_SEARCH = 20


def tokens_of(messages: prompts.Messages) -> int:
    """Of a request with these messages."""
    return sum(TOKENS_AROUND + _bytes_of(message["content"]) // BYTES_PER_TOKEN for message in messages)


def passages_usage(
    instructions: str, queries: Sequence[str], passages: int = 1, written: int = TOKENS_OF_PASSAGE
) -> Usage:
    """Tokens of requests for so many made-up passages for each query, of `written` tokens."""
    sent = sum(map(_bytes_of, queries)) // BYTES_PER_TOKEN
    sent += len(queries) * (2 * TOKENS_AROUND + TOKENS_OF_MARKS + _bytes_of(instructions) // BYTES_PER_TOKEN)
    return Usage(sent * passages, written * len(queries) * passages)


def searches_usage(queries: Sequence[str]) -> Usage:
    """Tokens of a request for each query for what to type into a search engine."""
    return passages_usage(prompts.shipped("search_query").instructions, queries, written=TOKENS_OF_SEARCH)


def rough_usage(inputs: Sequence[CheckerInput], parameters: Mapping[str, Any]) -> Usage:
    """Tokens of one request for each input with all of its texts, for entries that do not tell."""
    own = parameters.get("prompt", "")
    sent = len(inputs) * (_bytes_of(own) // BYTES_PER_TOKEN if own.strip() else TOKENS_INSTRUCTIONS)
    sent += sum(sum(map(_bytes_of, item.fields.values())) // BYTES_PER_TOKEN for item in inputs)
    return Usage(sent, TOKENS_ROUGHLY_WRITTEN * len(inputs))


def _bytes_of(value: str | Iterable) -> int:
    """Of a text, or of all texts in a field, however they are nested."""
    return len(value.encode(errors="replace")) if isinstance(value, str) else sum(map(_bytes_of, value))
