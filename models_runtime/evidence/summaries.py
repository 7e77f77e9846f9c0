"""A fact-check's own summary, from its page: what its ClaimReview says, or what the page says of itself in short, or
the beginning of its text. The result names which of these it was."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any

from . import pages

LEAST_WORDS, MOST_WORDS = 5, 300


def summary_of_page(url: str, reviewed: str = "", allowed: Collection[str] = ()) -> dict[str, Any]:
    """`text`, `how`, `retrieved_at`, `sha256` and, where it is known, `date`; or `problem`. `reviewed` is what the
    review's data say themselves: it needs no page."""
    if len(reviewed.split()) >= LEAST_WORDS:
        return _summary(reviewed, "the review's data", {})
    page = pages.fetch_page(url, allowed)
    if page.problem:
        return {"problem": page.problem}
    description = page.source.get("description", "")
    if len(description.split()) >= LEAST_WORDS:
        return _summary(description, "the page's description", page.source)
    for paragraph in page.text.split("\n"):
        if len(paragraph.split()) >= LEAST_WORDS:
            return _summary(paragraph, "the first paragraph", page.source)
    return {"problem": "has no summary and no paragraph"}


def _summary(text: str, how: str, source: dict[str, Any]) -> dict[str, Any]:
    words = text.split()
    text = " ".join(words[:MOST_WORDS]) if len(words) > MOST_WORDS else text.strip()
    known = {name: source[name] for name in ("date", "retrieved_at") if source.get(name)}
    return {"text": text, "how": how, "sha256": hashlib.sha256(text.encode()).hexdigest(), **known}
