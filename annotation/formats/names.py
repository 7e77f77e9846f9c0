"""From the names of questions and labels as people wrote them to what is stored, the same for every file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps

from annotation.formats.cells import digest, number_in
from annotation.task_types.base import number_text

TITLE_CHARS = 200


def _remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """With a memory: a file says the same few names again and again. Long ones are not kept."""
    known = lru_cache(maxsize=5_000)(function)
    return wraps(function)(lambda name: known(name) if len(name) < 200 else function(name))


@_remembered
def question_slug(name: str) -> str:
    """A question's column name, the same for every file; different questions have different ones."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_").lstrip("0123456789_")[:40]
    if slug and re.fullmatch(r"[a-z][a-z0-9_ -]{0,39}", name.lower()):
        return slug
    return f"{slug[:30] or 'question'}_{digest(name.casefold()).hex()[:6]}"


@_remembered
def label_value(title: str) -> str:
    """What is stored for a label: numbers in one spelling, small letters, `_` for spaces and hyphens. Labels that
    differ in these alone are one."""
    number = number_in(title)
    if number is not None and len(stored := number_text(number)) <= 30:
        return stored
    folded = " ".join(title.casefold().split())
    value = re.sub(r"[ _-]+", "_", folded).strip("_")
    if re.fullmatch(r"\w[\w.+]*", value) and len(value) <= 80:
        return value
    plain = re.sub(r"[^\w.+]+", "_", folded).strip("_.+")[:60]
    return f"{plain or 'label'}-{digest(folded).hex()[:6]}"


@_remembered
def shown(text: str) -> str:
    """A name as a title: on one line, with nothing that nobody sees."""
    title = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 8]}… {digest(text).hex()[:6]}"
