"""Which aspects of a question each statement of an answer deals with, asked in one request (ICAT's alignment).

Samarinas, Krubner, Salemi, Kim and Zamani (2025), ICAT, in its variants S and A: a language model is given all atomic
claims of an answer and all aspects of its question, and says which aspects each claim covers. An aspect of the answer
is covered if a claim covers it. Here the answer is a JSON object with every claim's number, so that none can be left
out unnoticed.

    server = Server("main")
    (found,) = align(server, [Alignable("When did it freeze?", ("It froze in 1963.",), ("the year", "the cost"))])
    found.aspects  # ((0,),): the first claim covers the first aspect
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import CheckerInput, InputError, PredictionError, Usage
from ..inputs import check_text, failed
from . import prompts
from .answers import json_options, object_schema, read_json
from .asking import Exchange, Server

PROMPT = "align-aspects"
# Of one request. Longer answers go into several, each with all aspects.
MOST_CLAIMS = 100


@dataclass(frozen=True, slots=True)
class Alignable:
    """The claims of one answer (atomic claims, or sentences) and the aspects of its question."""

    question: str
    claims: tuple[str, ...]
    aspects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """For each claim the places of the aspects that it covers, in order, from 0; or why nothing is known."""

    aspects: tuple[tuple[int, ...], ...] = ()
    error: PredictionError | None = None
    usage: Usage = Usage()

    def covering(self, aspect: int) -> tuple[int, ...]:
        """The places of the claims that cover this aspect."""
        return tuple(place for place, covered in enumerate(self.aspects) if aspect in covered)


def align(server: Server, answers: Sequence[Alignable]) -> list[Alignment]:
    """The alignment of each answer, in order. UnavailableError where the server is away for too long."""
    found = []
    for outcome in server.ask_each(list(answers), ask_alignment):
        error = failed(CheckerInput("", {}), outcome.error).error if outcome.error else None
        found.append(Alignment(outcome.result or (), error, outcome.usage))
    return found


def ask_alignment(
    answer: Alignable, exchange: Exchange, prompt: prompts.Prompt | None = None
) -> tuple[tuple[int, ...], ...]:
    """As `Alignment.aspects`, by the shipped prompt or another one. InputError where a text is none or the
    answer is malformed, refused or cut off."""
    question = check_text("question", answer.question)
    for name, texts in (("claim", answer.claims), ("aspect", answer.aspects)):
        for text in texts:
            if not check_text(name, text).strip():
                raise InputError(f"empty-{name}", f"an {name} is empty" if name == "aspect" else f"a {name} is empty")
    if not answer.aspects:
        return ((),) * len(answer.claims)
    found: list[tuple[int, ...]] = []
    for start in range(0, len(answer.claims), MOST_CLAIMS):
        part = answer.claims[start : start + MOST_CLAIMS]
        found += _ask(question, part, answer.aspects, exchange, prompt or prompts.shipped(PROMPT))
    return tuple(found)


def _ask(
    question: str, claims: Sequence[str], aspects: Sequence[str], exchange: Exchange, prompt: prompts.Prompt
) -> list[tuple[int, ...]]:
    numbers = [str(n) for n in range(1, len(claims) + 1)]
    named = [("question asked", question)] if question.strip() else []
    named += [(f"statement {n}", text) for n, text in zip(numbers, claims, strict=True)]
    named += [(f"aspect {n}", text) for n, text in enumerate(aspects, 1)]
    form = "{" + ", ".join(f'"{n}": [\u2026]' for n in numbers) + "}"
    messages = prompts.both(
        prompt.with_values(format=form, most=len(aspects)),
        prompts.texts_before(named, "The aspects of each statement, in the JSON form that is asked for:"),
    )
    # A number with its comma and white space is a few tokens; a statement's own number and marks are some more.
    most = 32 + len(claims) * (16 + 4 * len(aspects))
    chosen = {
        "type": "array",
        "items": {"type": "integer", "enum": list(range(1, len(aspects) + 1))},
        "maxItems": len(aspects),
    }
    body = exchange.ask(messages, **json_options("alignment", object_schema(dict.fromkeys(numbers, chosen)), most))
    return _read(read_json(body, most), numbers, len(aspects))


def _read(found: Any, numbers: Sequence[str], count: int) -> list[tuple[int, ...]]:
    if not isinstance(found, dict) or set(found) != set(numbers):
        raise InputError("malformed", "the answer does not have every statement's number, and these alone")
    for number in numbers:
        chosen = found[number]
        if not isinstance(chosen, list) or not all(
            isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= count for one in chosen
        ):
            raise InputError("malformed", f"the answer about statement {number} is not a list of aspects' numbers")
    return [tuple(sorted({one - 1 for one in found[number]})) for number in numbers]
