"""Documents that a language model makes up for a query, to search with (Query2doc and HyDE).

Wang, Yang and Wei (2023), Query2doc: the query, repeated five times, and one made-up passage are the query for BM25.
Gao, Ma, Lin and Callan (2023), HyDE: the mean of the embeddings of the query and of N made-up passages is the query for
a dense index. Temperature 0.7, top_p 1 and at most 512 tokens are those of the study of knowledge leakage (Yoon, Jung,
Yoon and Park, 2025), which had N = 1. Passages are drawn, so each has a seed of its own, and the same seeds give the
same passages where the server keeps to them.

    server = Server("main")
    (found,) = hypothetical_documents(["Lake Constance froze over in 1963."], server, method="hyde")
    expanded_query("Lake Constance froze over in 1963.", found.texts[0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import CheckerInput, InputError, PredictionError, Usage
from ..inputs import check_text, failed
from . import prompts
from .answers import read_text
from .asking import Exchange, Server

METHODS = ("query2doc", "hyde")
# What a passage of HyDE is to look like, as the study of leakage adapts it to FEVER, SciFact and AVeriTeC.
ANY = "any"
STYLES = (ANY, "encyclopaedia", "paper", "fact-check")
REPEATS = 5  # of the query, before the passage: so that BM25 does not drown it
SETTINGS = {"temperature": 0.7, "top_p": 1.0, "max_tokens": 512}


def prompt_of(method: str, style: str = ANY, own: str = "") -> prompts.Prompt:
    """The instructions of a method, for HyDE in a style, or a user's own in their place."""
    if own.strip():
        return prompts.own(own, "")
    return prompts.shipped(method if style == ANY else f"{method}/{style}")


@dataclass(frozen=True, slots=True)
class Hypothetical:
    """What was made up for one query; or why nothing was: then there are no texts at all."""

    query: str
    texts: tuple[str, ...] = ()
    error: PredictionError | None = None
    usage: Usage = Usage()


def hypothetical_documents(
    queries: Sequence[str],
    server: Server,
    method: str = "query2doc",
    n: int = 1,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] = SETTINGS,
    prompt: prompts.Prompt | None = None,
) -> list[Hypothetical]:
    """`n` passages for each query, a claim or a question, in order, by the method's own prompt if none is given. A
    passage that is cut off at `max_tokens` counts as it stands, as in the papers. ValueError for another method or an
    `n` below 1; UnavailableError where the server is away for too long."""
    if method not in METHODS:
        raise ValueError(f"there is no method {method!r}; available: {', '.join(METHODS)}")
    if n < 1:
        raise ValueError(f"{n} passages are none to search with")
    instructions = (prompt or prompt_of(method)).instructions

    def ask(query: str, exchange: Exchange) -> tuple[str, ...]:
        if not check_text("query", query).strip():
            raise InputError("empty-query", "the query is empty")
        messages = prompts.both(instructions, prompts.texts_before([("query", query)], "The passage:"))
        return tuple(read_text(exchange.ask(messages, **settings, seed=seed + place)) for place in range(n))

    found = []
    for query, outcome in zip(queries, server.ask_each(list(queries), ask), strict=True):
        error = failed(CheckerInput("", {}), outcome.error).error if outcome.error else None
        found.append(Hypothetical(query, outcome.result or (), error, outcome.usage))
    return found


def expanded_query(query: str, document: str, repeats: int = REPEATS) -> str:
    """Query2doc's query for BM25.

    >>> expanded_query("who froze", "A lake.", 2)
    'who froze who froze A lake.'
    """
    return " ".join([*[query] * repeats, document])
