"""Every name that Assay makes of what a file or a form calls a question or a label; the same for every file and format.

A question's slug is a column name: small ASCII letters, digits and `_`. A label's value is the label as it is written;
only one that cannot be stored so, such as one with characters that nobody sees, has a key in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from unicodedata import category, combining, normalize

from annotation.formats.cells import digest, number_in
from annotation.task_types.base import NONE_CHOSEN, OWN_MARKS, SEPARATOR, VALUE_CHARS, number_text

OUTSIDE = "outside:"  # before the name of a checker whose labels were imported: no checker of Assay is called so
TITLE_CHARS = 200
SLUG_CHARS = 40
# `1`, `1.0` and `1e0` are written alike; `+1`, `01` and `-0` are not.
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?")


def run_name(checker: str, version: str = "") -> str:
    """A checker as pages and messages call it, with the version of a run."""
    return f"{checker.removeprefix(OUTSIDE)} {version}".strip()


def _remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """With a memory: a file says the same few names again and again. Long ones are not kept."""
    known = lru_cache(maxsize=5_000)(function)
    return wraps(function)(lambda name: known(name) if len(name) < 200 else function(name))


@_remembered
def question_slug(name: str) -> str:
    """A question's column name. Case, accents, spaces and punctuation do not count; where letters or signs that mean
    something would be lost (`情感`, `C#`), or the name is long, part of its hash tells it from others."""
    if not name.strip():
        return "label"
    folded = normalize("NFKD", normalize("NFKC", name).casefold())
    plain = "".join(char for char in folded if not combining(char))
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_").lstrip("0123456789_")
    loses = any(not char.isascii() and category(char)[0] in "LNS" or char in "#%*+<=>^~$" for char in plain)
    if slug and not loses and len(slug) <= SLUG_CHARS and not plain.lstrip(" _-")[:1].isdigit():
        return slug
    return f"{slug[:30].strip('_') or 'question'}_{digest(folded).hex()[:6]}"


@_remembered
def label_value(title: str) -> str:
    """What is stored for a label: the label as it is written, numbers with as many decimals as they need."""
    text = title.strip()
    if _PLAIN_NUMBER.fullmatch(text) and text != "-0":
        number = number_in(text)
        if number is not None and len(stored := number_text(number)) <= 30:
            return stored
    return text if text and text == shown(text) else label_key(title)


def chosen_value(title: str) -> str:
    """The same of a label that may be chosen together with others: nothing that parts them is in it."""
    value = label_value(title)
    return label_key(title) if SEPARATOR in value or value == NONE_CHOSEN else value


def highlight_value(title: str) -> str:
    """The same of a label of highlights, which a form lists in one line."""
    value = label_value(title)
    return label_key(title) if len(value) > VALUE_CHARS or any(mark in value for mark in OWN_MARKS) else value


@_remembered
def label_key(title: str) -> str:
    """A key that a label can have in place of its spelling: numbers in one spelling, small letters, `_` for spaces and
    hyphens. Labels that differ in these alone have one key."""
    number = number_in(title)
    if number is not None and len(stored := number_text(number)) <= 30:
        return stored
    folded = " ".join(title.casefold().split())
    value = re.sub(r"[ _-]+", "_", folded).strip("_")
    if re.fullmatch(r"\w[\w.+]*", value) and len(value) <= VALUE_CHARS:
        return value
    plain = re.sub(r"[^\w.+]+", "_", folded).strip("_.+")[:60]
    return f"{plain or 'label'}-{digest(folded).hex()[:6]}"


@_remembered
def shown(text: str) -> str:
    """A name as a title: on one line, with nothing that nobody sees."""
    title = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 8]}… {digest(text).hex()[:6]}"


# --- names that are stored already ----------------------------------------------------------------------------------


def find_question(name: str, known: Mapping[str, str]) -> str | None:
    """Of questions, slug -> title, the slug of the one that `name` is: by its slug, by its title, or by the slug that
    earlier versions made of the name. None where none is, or several are."""
    slug = question_slug(name)
    for wanted in (name, slug):
        if wanted in known:
            return wanted
    by_title = [one for one, title in known.items() if question_slug(title) == slug]
    return by_title[0] if len(by_title) == 1 else next((one for one in _earlier_slugs(name) if one in known), None)


def find_label(text: str, known: Mapping[str, str]) -> str | None:
    """Of labels, value -> title, the value of the one that `text` is: as it is written, by its title, or by its key now
    or before. None where none is, or several are."""
    for made in (label_value, chosen_value, highlight_value):
        if (value := made(text)) in known:
            return value
    title = shown(text)
    if by_title := [value for value, one in known.items() if one == title]:
        return by_title[0] if len(by_title) == 1 else None
    key = label_key(text)
    alike = [value for value, one in known.items() if key in (value, label_key(value), label_key(one))]
    return alike[0] if len(alike) == 1 else None


def _earlier_slugs(name: str) -> list[str]:
    """What earlier versions made of it: for files of tools, and for columns of tables."""
    of_tool = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_").lstrip("0123456789_")[:40]
    plain = "".join(char for char in normalize("NFKD", name.lower()) if not combining(char))
    of_column = re.sub(r"[^a-z0-9]+", "_", plain).strip("_").lstrip("0123456789_")[:40]
    mark = digest(name.casefold()).hex()[:6]
    return [
        of_tool,
        f"{of_tool[:30] or 'question'}_{mark}",
        of_column or "label",
        f"{of_column[:30] or 'label'}_{mark}",
    ]
