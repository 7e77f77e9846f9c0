"""How many tokens a judge's requests would take, told without a server and without its tokenizer.

The requests are written down as the judge writes them, and a token is counted for every four bytes of UTF-8: close to
what today's tokenizers make of English, and for other scripts the right order of magnitude.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..contracts import CheckerInput, InputError, LabelSpace, Usage
from ..inputs import read_claims, read_passages
from . import prompts

BYTES_PER_TOKEN = 4
# What chat templates put around a message, and what is written: one letter and the end.
TOKENS_AROUND = 10
TOKENS_WRITTEN = 2
# Of a request whose exact form is not written down here, and its answer.
TOKENS_INSTRUCTIONS = 400
TOKENS_ROUGHLY_WRITTEN = 40
# What says where texts begin and end, a made-up passage, and what is typed into a search engine.
TOKENS_OF_MARKS = 60
TOKENS_OF_PASSAGE = 200
TOKENS_OF_SEARCH = 20


def estimated_usage(spaces: Sequence[LabelSpace], inputs: Sequence[CheckerInput]) -> Usage:
    """Tokens of one request for each question about each input, several passages together; an upper bound where a
    question hangs on another's answer. What cannot be asked costs nothing."""
    sent = written = 0
    for space in spaces:
        instructions = prompts.shipped(space.role).filled(space)
        letters = list(prompts.letters_of(space))
        finds, looks_in = space.called
        for item in inputs:
            try:
                named = prompts.numbered(finds, read_claims(item))
                named += prompts.numbered(looks_in, [text for _, text in read_passages(item)])
            except InputError:
                continue
            question = str(item.fields.get("question", ""))
            named += [("question asked", question)] if question.strip() else []
            for message in (instructions, prompts.texts_message(named, letters)):
                sent += TOKENS_AROUND + len(message.encode(errors="replace")) // BYTES_PER_TOKEN
            written += TOKENS_WRITTEN
    return Usage(sent, written)


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


def rough_usage(inputs: Sequence[CheckerInput]) -> Usage:
    """Tokens of one request for each input with all of its texts, for entries of other kinds of answers."""
    sent = 0
    for item in inputs:
        sent += TOKENS_INSTRUCTIONS + sum(map(_bytes_of, item.fields.values())) // BYTES_PER_TOKEN
    return Usage(sent, TOKENS_ROUGHLY_WRITTEN * len(inputs))


def _bytes_of(value: str | Iterable) -> int:
    """Of a text, or of all texts in a field, however they are nested."""
    return len(value.encode(errors="replace")) if isinstance(value, str) else sum(map(_bytes_of, value))
