"""What is searched for: the claim, claimant and claim, words of one's own, or what a language model makes of it."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from ..contracts import InputError, ParameterError, PredictionError, Usage
from ..retrieval.contracts import Query

FORMS = ("text", "claimant", "template", "generated")
FIELDS = ("text", "claimant", "date")
SETTINGS = {"temperature": 0.0, "max_tokens": 64}
MOST_CHARS = 2_000


def check_template(template: str) -> None:
    """ParameterError for what holds other fields than FIELDS, or not the text."""
    try:
        names = [name for _, name, spec, how in string.Formatter().parse(template) if name is not None]
        if any(spec or how for _, name, spec, how in string.Formatter().parse(template) if name is not None):
            raise ValueError
    except ValueError:
        raise ParameterError("query_template", "has braces that do not name a field") from None
    if unknown := [name for name in names if name not in FIELDS]:
        raise ParameterError("query_template", f"{{{unknown[0]}}} is none of {', '.join(FIELDS)}")
    if "text" not in names:
        raise ParameterError("query_template", "it must hold {text}")


def in_words(query: Query, parameters: Mapping[str, Any]) -> str:
    known = {"text": query.text, "claimant": query.about.get("claimant", ""), "date": query.about.get("date", "")}
    if parameters["query"] == "claimant":
        return f"{known['claimant']} {query.text}".strip()
    if parameters["query"] == "template":
        return " ".join(parameters["query_template"].format(**known).split())
    return query.text


def generated(queries: Sequence[Query], server: Any) -> list[tuple[str, PredictionError | None, Usage | None]]:
    """What the model would type into a search engine, for each. UnavailableError where its server is away."""
    from ..llm import prompts
    from ..llm.answers import read_text

    instructions = prompts.shipped("search_query").instructions

    def ask(query: Query, exchange: Any) -> str:
        named = [("claim", query.text), ("claimant", query.about.get("claimant", "") or "unknown")]
        message = prompts.texts_before(named, "The search query, on one line:")
        body = exchange.ask(
            [{"role": "system", "content": instructions}, {"role": "user", "content": message}], **SETTINGS
        )
        line = next((line.strip().strip('"') for line in read_text(body).splitlines() if line.strip()), "")
        if not line:
            raise InputError("no-query", "the model made no search query", permanent=False)
        return line[:MOST_CHARS]

    found = []
    for outcome in server.ask_each(queries, ask):
        error = outcome.error
        if error is not None and not isinstance(error, InputError):
            error = InputError("model-failed", f"{type(error).__name__}: {error}", permanent=False)
        failure = PredictionError(error.reason, str(error), error.permanent) if error else None
        found.append((outcome.result or "", failure, outcome.usage))
    return found
