"""How many tokens a judge's requests would take, told without a server and without its tokenizer.

The requests are written down as the judge writes them, and a token is counted for every four bytes of UTF-8: close to
what today's tokenizers make of English, and for other scripts the right order of magnitude.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def rough_usage(inputs: Sequence[CheckerInput]) -> Usage:
    """Tokens of one request for each input with all of its texts, for entries of other kinds of answers."""
    sent = 0
    for item in inputs:
        texts = [one for value in item.fields.values() for one in ([value] if isinstance(value, str) else value)]
        sent += TOKENS_INSTRUCTIONS + sum(len(text.encode(errors="replace")) for text in texts) // BYTES_PER_TOKEN
    return Usage(sent, TOKENS_ROUGHLY_WRITTEN * len(inputs))
