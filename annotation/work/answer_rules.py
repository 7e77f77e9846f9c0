"""What counts as a complete answer, derived from the task type: nothing here knows any particular type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from annotation import incoming
from annotation.formats.records import SpanRecord, place_of_span
from annotation.task_types import Dimension, SpanRule, TaskType

# More than anybody marks by hand; keeps a broken or hostile client from filling the database.
MAX_SPANS = 1000
MAX_COMMENT = 10_000


@dataclass(frozen=True)
class FieldError:
    """What is wrong with an answer and where; the places are empty where the whole answer is meant."""

    message: str
    unit: str = ""
    dimension: str = ""
    field: str = ""


class InvalidSubmission(Exception):
    """The answer cannot be stored as it is. `errors` say why, for people."""

    def __init__(self, errors: Sequence[FieldError]):
        super().__init__("; ".join(error.message for error in errors))
        self.errors = list(errors)


@dataclass(frozen=True)
class CheckedJudgement:
    unit: str
    dimension: str
    label: str
    spans: tuple[SpanRecord, ...] = ()


def check(
    description: TaskType, units: Sequence[str], texts: Mapping[str, str], judgements: object
) -> list[CheckedJudgement]:
    """The judgements, in the order of units and dimensions, or InvalidSubmission with everything that is wrong.

    `units` are the keys on the page, `texts` the shown texts by field (offsets are code points of them).
    """
    errors: list[FieldError] = []
    by_place = _by_place(description, units, judgements, errors)
    checked = []
    for unit in units:
        answers = {
            dimension.slug: by_place[unit, dimension.slug]["label"]
            for dimension in description.dimensions
            if (unit, dimension.slug) in by_place
        }
        for dimension in description.dimensions:
            judgement = by_place.get((unit, dimension.slug))
            if not description.is_asked(dimension, answers):
                if judgement is not None:
                    errors.append(
                        FieldError(
                            _("{question} is not asked here").format(question=dimension.title),
                            unit,
                            dimension.slug,
                        )
                    )
                continue
            if judgement is None and dimension.is_optional:
                continue
            if judgement is None:
                errors.append(
                    FieldError(_("{question} has no answer").format(question=dimension.title), unit, dimension.slug)
                )
                continue
            spans = _checked_spans(dimension, unit, judgement, texts, errors)
            checked.append(CheckedJudgement(unit, dimension.slug, judgement["label"], spans))
    if errors:
        raise InvalidSubmission(errors)
    return checked


def check_key(
    description: TaskType, units: Sequence[str], texts: Mapping[str, str], answers: object
) -> list[CheckedJudgement]:
    """Right answers to some of the questions, in the order of units and dimensions; InvalidSubmission with everything
    that is wrong. They need no highlights, and words are not compared."""
    errors: list[FieldError] = []
    by_place = _by_place(description, units, answers, errors)
    checked = []
    for unit in units:
        for dimension in description.asked_dimensions:
            answer = by_place.get((unit, dimension.slug))
            if answer is None:
                continue
            if dimension.takes_text:
                errors.append(FieldError(f"{dimension.title} is answered in words, which no key has", unit))
                continue
            if dimension.spans:
                dimension = replace(dimension, spans=replace(dimension.spans, required=False))
            spans = _checked_spans(dimension, unit, answer, texts, errors)
            checked.append(CheckedJudgement(unit, dimension.slug, answer["label"], spans))
    if not checked and not errors:
        errors.append(FieldError("A key needs the right answer to a question at least", field="answers"))
    if errors:
        raise InvalidSubmission(errors)
    return checked


def check_spans(dimension: Dimension, label: str, spans: list, texts: Mapping[str, str]) -> tuple[SpanRecord, ...]:
    """The highlights of one answer, apart from the rest of it; InvalidSubmission with everything that is wrong."""
    errors: list[FieldError] = []
    checked = _checked_spans(dimension, "", {"label": label, "spans": spans}, texts, errors)
    if errors:
        raise InvalidSubmission(errors)
    return checked


def _by_place(description, units, judgements, errors) -> dict[tuple[str, str], dict]:
    """The judgements whose unit, dimension and label are known, by unit and dimension."""
    known_units = set(units)
    dimensions = {dimension.slug: dimension for dimension in description.dimensions}
    by_place: dict[tuple[str, str], dict] = {}
    if not isinstance(judgements, list):
        raise InvalidSubmission([FieldError("The answer has no list of judgements", field="judgements")])
    for judgement in judgements:
        if not isinstance(judgement, dict):
            raise InvalidSubmission([FieldError("A judgement is not an object", field="judgements")])
        unit, slug, label = (judgement.get(name) for name in ("unit", "dimension", "label"))
        if not all(isinstance(value, str) for value in (unit, slug, label)):
            errors.append(FieldError("A judgement needs a unit, a dimension and a label", field="judgements"))
        elif unit not in known_units:
            errors.append(FieldError(_("This is not on the page"), unit, slug))
        elif slug not in dimensions:
            errors.append(FieldError(_("This is not asked in this task"), unit, slug))
        elif not dimensions[slug].may_answer(label):
            dimension = dimensions[slug]
            message = _("{question} has no such label") if dimension.labels else _("{question} takes {answers}")
            words = message.format(question=dimension.title, answers=dimension.known_answers)
            errors.append(FieldError(words, unit, slug, "label"))
        elif (unit, slug) in by_place:
            errors.append(
                FieldError(_("{question} is answered twice").format(question=dimensions[slug].title), unit, slug)
            )
        else:
            by_place[unit, slug] = judgement
    return by_place


def _checked_spans(dimension: Dimension, unit, judgement, texts, errors) -> tuple[SpanRecord, ...]:
    rule, label = dimension.spans, judgement["label"]
    spans = judgement.get("spans") or []

    def wrong(message: str) -> None:
        errors.append(FieldError(message, unit, dimension.slug, "spans"))

    if not isinstance(spans, list):
        wrong("Highlights must be a list")
        return ()
    may_carry = dimension.may_carry(label)
    if spans and not may_carry:
        wrong(_("Highlights do not belong to this answer"))
        return ()
    if may_carry and rule.required and not spans and _has_text(rule, texts):
        wrong(_("{question}: nothing is highlighted").format(question=rule.title))
    if len(spans) > MAX_SPANS:
        wrong(_("More than {n} highlights").format(n=MAX_SPANS))
        return ()
    checked, places = [], set()
    for span in spans:
        problem, good = checked_span(span, rule, texts)
        if good is None:
            wrong(problem)
        elif place_of_span(good) in places:
            wrong(_("The same highlight is there twice"))
        else:
            checked.append(good)
            places.add(place_of_span(good))
    return tuple(checked)


def _has_text(rule: SpanRule, texts: Mapping[str, str]) -> bool:
    """Where there is nothing to mark (an answer that came without passages), nothing can be required."""
    return any(text.strip() and rule.takes(field) for field, text in texts.items())


def checked_span(span, rule: SpanRule, texts: Mapping[str, str]) -> tuple[str, SpanRecord | None]:
    """The span, held against the texts by their names; otherwise what is wrong with it."""
    if not isinstance(span, dict):
        return "A highlight is not an object", None
    start, end = span.get("start"), span.get("end")
    field = span.get("field")
    if not isinstance(field, str) or field not in texts or not rule.takes(field):
        return _("A highlight is in a text that takes none"), None
    if not all(type(value) is int for value in (start, end)):
        return "A highlight needs whole numbers as its start and end", None
    text = texts[field]
    if not 0 <= start < end <= len(text):
        return _("A highlight is outside its text"), None
    if span.get("quote") != text[start:end]:
        return _("A highlight does not quote its text"), None
    more = [span.get(name, "") for name in ("label", "severity", "reason")]
    for name, value in zip(("label", "severity", "reason"), more, strict=True):
        if not isinstance(value, str):
            return f"A highlight has a {name} that is no text", None
    if problem := rule.problem_of(*more):
        return f"A highlight {problem}", None
    if not incoming.is_storable(more[-1]):
        return "A highlight has a reason that cannot be stored", None
    return "", SpanRecord(field, start, end, text[start:end], *more)


def check_free_text(description: TaskType, text: str) -> str:
    """The answer to the task's free-text question, or InvalidSubmission."""
    asked, text = description.free_text, text.strip()
    if text and asked is None:
        raise InvalidSubmission([FieldError(_("This task has no free-text question"), field="free_text")])
    if asked is not None and asked.required and not text:
        raise InvalidSubmission(
            [FieldError(_("{question}: nothing is written").format(question=asked.title), field="free_text")]
        )
    return text
