"""The formats that a text may have, and rendering a text in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from annotation.rendering import conversation, html, markdown
from annotation.rendering.runs import N_, CannotRender, Mark, RunWriter

PLAIN, FOUND = "plain", conversation.SLUG  # the latter is found without being chosen
# Texts that may have a format, by name, as people know them.
TEXTS = {
    "claim": "Claims",
    "question": "Questions",
    "response": "Answers, outputs and generated documents",
    "evidence": "Evidence and passages",
    "premise": "Premises",
    "hypothesis": "Hypotheses",
}
MOST_CHARACTERS = 200_000
LOOKED_AT = 5_000  # characters, for a guess
KEPT = 128


@dataclass(frozen=True)
class TextFormat:
    """`write` puts a text into the page that it gets, or raises CannotRender; `is_written` says whether a text looks as
    if it had this format."""

    slug: str
    title: str
    write: Callable[[RunWriter], None] | None = None
    is_written: Callable[[str], bool] | None = None


FORMATS = {
    one.slug: one
    for one in (
        TextFormat(PLAIN, "Plain text, character for character"),
        TextFormat("markdown", "Markdown", markdown.render, markdown.is_written),
        TextFormat("html", "HTML", html.render, html.is_written),
        TextFormat(conversation.SLUG, N_("Conversation"), conversation.render, conversation.is_written),
    )
}


class BadFormats(ValueError):
    """What a file says of its texts' formats cannot be used; the message says why."""


def checked_formats(value: object) -> dict[str, str]:
    """Formats by text, as a file says them."""
    if not isinstance(value, Mapping):
        raise BadFormats("text_formats: is not a JSON object")
    for text, slug in value.items():
        if text not in TEXTS or not isinstance(slug, str) or slug not in FORMATS:
            raise BadFormats(f"text_formats.{text}: texts are {', '.join(TEXTS)}, formats {', '.join(FORMATS)}")
    return dict(value)


@dataclass(frozen=True)
class Rendered:
    """HTML that is safe to show, or the `reason` for which there is none (`CannotRender`)."""

    html: str = ""
    format: str = ""
    reason: str = ""
    n: int = 0

    def why(self, translate: Callable[[str], str] = str) -> str:
        """Why it is shown as its source; empty where it is not."""
        if not self.reason:
            return ""
        reason = translate(self.reason).format(n=f"{self.n:,}")
        words = translate(N_("Shown as its source, not as {format}: {reason}."))
        return words.format(format=translate(self.format), reason=reason)


def found_format(text: str) -> str:
    """The format of a text that nobody gave one: conversations are known by their first line."""
    return FOUND if conversation.is_written(text) else PLAIN


def look_of(text: str) -> str:
    """The format that a text looks like; other than `found_format`, a guess that has to be confirmed."""
    looked_at = text[:LOOKED_AT]
    return next((one.slug for one in reversed(FORMATS.values()) if one.is_written and one.is_written(looked_at)), PLAIN)


@lru_cache(maxsize=KEPT)
def render(text: str, format_: str = "", marks: tuple[Mark, ...] = ()) -> Rendered | None:
    """None for a text that is shown as it is stored. Without a format, it is the one that is found."""
    format_ = format_ or found_format(text)
    write = FORMATS[format_].write if format_ in FORMATS else None
    if write is None or not text.strip():
        return None
    try:
        if len(text) > MOST_CHARACTERS:
            raise CannotRender(N_("it is longer than {n} characters"), MOST_CHARACTERS)
        page = RunWriter(text, marks)
        write(page)
    except CannotRender as why:
        return Rendered("", FORMATS[format_].title, why.reason, why.n)
    return Rendered(page.html())
