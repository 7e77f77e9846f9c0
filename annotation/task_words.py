"""Assay's own task types in the reader's language. What is stored and exported stays as the task type declares it, and
so do the words of label sets, of projects and of installed packages."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache

from django.conf import settings
from django.utils.translation import get_language, gettext, pgettext

from annotation.task_types import NONE_CHOSEN, NONE_TITLE, Dimension, Label, TaskType, own_task_types
from annotation.task_types.base import CANNOT_JUDGE, CANNOT_JUDGE_TITLE, EQUAL_TITLE, NumberRange, number_text

CONTEXT = "task"


def _words_of(kind: TaskType) -> Iterator[str]:
    yield from (kind.title, kind.units_title)
    if kind.free_text:
        yield from (kind.free_text.title, kind.free_text.hint)
    if kind.shuffled:
        yield kind.shuffled.title
    for dimension in kind.dimensions:
        yield from (dimension.title, dimension.question)
        labels = [label for label in dimension.labels if not label.ranks]
        if dimension.spans:
            yield dimension.spans.title
            labels += dimension.spans.own_labels
        for label in labels:
            yield from (label.title, label.hint)


@cache
def declared_words(identifier: str) -> frozenset[str]:
    """Those of one of Assay's own task types; of any other only what Assay adds to its labels."""
    own = own_task_types()
    return frozenset({NONE_TITLE, EQUAL_TITLE, *(_words_of(own[identifier]) if identifier in own else ())} - {""})


def in_words(text: str, kind: TaskType) -> str:
    return pgettext(CONTEXT, text) if text in declared_words(kind.identifier) else text


def worded(kind: TaskType) -> TaskType:
    """The task type as its reader sees it, to be shown and not to be stored. A project's own titles stay."""
    language = get_language()
    return kind if language == settings.LANGUAGE_CODE else _worded(kind, language)


@lru_cache(maxsize=64)
def _worded(kind: TaskType, language: str) -> TaskType:
    def title_of(label: Label) -> str:
        if not (label.ranks and kind.shuffled):
            return in_words(label.title, kind)
        return label.title.replace(kind.shuffled.title, in_words(kind.shuffled.title, kind))

    def labels(some: tuple[Label, ...]) -> tuple[Label, ...]:
        return tuple(replace(one, title=title_of(one), hint=in_words(one.hint, kind)) for one in some)

    def titled(part, *names: str, **more):
        return part and replace(part, **{name: in_words(getattr(part, name), kind) for name in names}, **more)

    return titled(
        kind,
        "units_title",
        free_text=titled(kind.free_text, "title", "hint"),
        shuffled=titled(kind.shuffled, "title"),
        dimensions=tuple(
            titled(
                one,
                "title",
                "question",
                labels=labels(one.labels),
                spans=one.spans and titled(one.spans, "title", own_labels=labels(one.spans.own_labels)),
            )
            for one in kind.dimensions
        ),
    )


def answer_title(dimension: Dimension, answer: str) -> str:
    """`title_of` of a question of a `worded` task type."""
    if answer == CANNOT_JUDGE:
        return gettext(CANNOT_JUDGE_TITLE)
    is_none = dimension.takes_several and answer == NONE_CHOSEN
    return pgettext(CONTEXT, NONE_TITLE) if is_none else dimension.title_of(answer)


def number_words(range_of: NumberRange | None) -> str:
    """What numbers answer a question, as `str` says it in English."""
    if range_of is None:
        return ""
    parts = (
        (gettext("from {number}"), range_of.least),
        (gettext("to {number}"), range_of.most),
        (gettext("in steps of {number}"), range_of.step),
    )
    named = [words.format(number=number_text(value)) for words, value in parts if value is not None]
    return " ".join((gettext("a number"), *named))
