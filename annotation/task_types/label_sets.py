"""Label sets that people make: a frozen description in JSON, and the task type that it gives.

    {"name": "Tone of claims", "version": 1, "page": "claim", "summary": "…",
     "questions": [{"slug": "tone", "title": "Tone", "question": "…", "level": "nominal",
                    "labels": [{"value": "neutral", "title": "Neutral", "hint": "…", "polarity": 0.0}, …],
                    "asked_when": {"question": "topic", "labels": ["politics"]},
                    "spans": {"title": "…", "fields": ["claim"], "required": false, "labels": ["loaded"],
                              "own_labels": [{"value": "irony", "title": "Irony"}, …],
                              "severities": [{"value": "major", "title": "Major", "weight": 5}, …],
                              "weights": [{"label": "irony", "severity": "major", "weight": 1}], "reasons": true},
                    "role": "stance"},
                   {"slug": "topics", "title": "Topics", "answer": "labels", "labels": […]},
                   {"slug": "share", "title": "Share", "answer": "number", "level": "ratio", "cannot_judge": true,
                    "number": {"min": 0, "max": 100, "step": 5, "unit": "%",
                               "anchors": [{"at": 0, "title": "None"}, {"at": 100, "title": "All"}]}}],
     "free_text": {"title": "Note", "hint": "…", "required": false}}

`answer` (one label unless it says "labels": any number of them, none included; or "number", which has a range in the
place of labels; or "text", which has neither and may be `optional`), `asked_when`, `spans`, `role`,
`polarity`, `hint`, `question`, `summary` and `free_text` may be left out. The identifier
of a label set is `name/hash/version`, with twelve hexadecimal digits of the SHA-256 of the description, so that the
same questions are the same task type on every Assay, and others never are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from .base import (
    LEVEL_MARK,
    Anchor,
    Condition,
    Derived,
    Dimension,
    FreeText,
    Label,
    Metric,
    NumberRange,
    Severity,
    SpanRule,
    TaskType,
    Weight,
)
from .pages import CHECKERS, PAGES
from .problems import BOUNDS, LATER_KEY, problems_of


class LabelSetError(ValueError):
    """A description that is no label set. `problems` pairs the place (`questions.1.labels`) with the reason."""

    def __init__(self, problems: list[tuple[str, str]]):
        super().__init__("; ".join(f"{place}: {reason}" if place else reason for place, reason in problems))
        self.problems = problems


def canonical(description: Mapping) -> str:
    """What is hashed. That a part is empty or left out is the same, and so are 1 and 1.0."""
    return json.dumps(_normal(description), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _normal(value: object, name: str = "") -> object:
    if isinstance(value, Mapping):
        parts = {key: _normal(part, key) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part not in ("", None, []) and part is not False}
    if isinstance(value, list):
        return [_normal(part) for part in value]
    return float(value) if name in ("polarity", "weight", "at", *BOUNDS) and value is not None else value


def slug_of(name: str) -> str:
    """The first part of the identifier, from the name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50].strip("-") or "label-set"


def identifier_of(description: Mapping) -> str:
    digest = hashlib.sha256(canonical(description).encode()).hexdigest()
    return f"{slug_of(description['name'])}/{digest[:12]}/{description['version']}"


def task_type_of(description: object, *, is_new: bool = False) -> TaskType:
    """The task type that a description gives; LabelSetError with everything that is wrong with it. Labels of one
    that is not new may have keys that the page uses by now."""
    problems = [one for one in problems_of(description) if is_new or one[1] != LATER_KEY]
    if problems:
        raise LabelSetError(problems)
    page = PAGES[description["page"]]
    slug, digest, version = identifier_of(description).split("/")
    dimensions = tuple(_dimension(question) for question in description["questions"])
    words = description.get("free_text")
    return replace(
        page,
        slug=slug,
        variant=digest,
        version=int(version),
        title=description["name"],
        summary=description.get("summary", ""),
        dimensions=dimensions,
        free_text=FreeText(**words) if words else None,
        checkers=CHECKERS if any(dimension.role for dimension in dimensions) else (),
        metrics=tuple(
            Metric(each.title.lower(), each.slug, each.level) for each in dimensions if each.answer == "label"
        ),
    )


def description_of(kind: TaskType, page: str, name: str) -> dict:
    """The description to begin with where a label set starts from a task type: its questions on `page`."""
    questions = []
    for dimension in kind.asked_dimensions:
        labels = [
            {"value": label.value, "title": label.title}
            | ({"hint": label.hint} if label.hint else {})
            | ({"polarity": label.polarity} if label.polarity is not None else {})
            | ({"key": label.key} if label.key else {})
            | ({"group": label.group} if label.group else {})
            for label in dimension.shown_labels
        ]
        question: dict = {"slug": dimension.slug, "title": dimension.title, "level": dimension.level, "labels": labels}
        if dimension.answer != "label":
            question["answer"] = dimension.answer
        if dimension.takes_text:
            question |= {"optional": True} if dimension.is_optional else {}
            del question["labels"]
        if (of := dimension.number) is not None:
            bounds = {"min": of.least, "max": of.most, "step": of.step}
            question["number"] = {name: value for name, value in bounds.items() if value is not None}
            question["number"] |= {"unit": of.unit} if of.unit else {}
            question["number"] |= {"anchors": list(map(asdict, of.anchors))} if of.anchors else {}
            del question["labels"]
        if dimension.has_cannot_judge:
            question["cannot_judge"] = True
        if dimension.question:
            question["question"] = dimension.question
        if condition := dimension.asked_when:
            question["asked_when"] = {"question": condition.dimension, "labels": list(condition.labels)}
        if rule := dimension.spans:
            question["spans"] = {"title": rule.title, "fields": list(rule.fields), "required": rule.required}
            question["spans"] |= {"labels": list(rule.labels)} if rule.labels else {}
            if rule.own_labels:
                own = [{"value": label.value, "title": label.title} for label in rule.own_labels]
                question["spans"]["own_labels"] = own
            question["spans"] |= {"severities": list(map(asdict, rule.severities))} if rule.severities else {}
            question["spans"] |= {"weights": list(map(asdict, rule.weights))} if rule.weights else {}
            question["spans"] |= {"reasons": True} if rule.takes_reasons else {}
        if dimension.role:
            question["role"] = dimension.role
        questions.append(question)
    words = kind.free_text
    return {"name": name, "version": 1, "page": page, "summary": kind.summary, "questions": questions} | (
        {"free_text": {"title": words.title, "hint": words.hint, "required": words.required}} if words else {}
    )


def page_of(kind: TaskType) -> str | None:
    """The page that shows what `kind` shows; None where no label set can be asked on such a page."""
    for name, page in PAGES.items():
        if (page.template, page.contents, page.unit_kind) == (kind.template, kind.contents, kind.unit_kind):
            return name
    return None


def _levels(labels: tuple[Label, ...]) -> Iterator[Derived]:
    """For each level of a tree of labels, from the top, the groups that its labels are in."""
    for level in range(1, max((len(label.path) for label in labels), default=0) + 1):
        # A label that stands higher is a group of its own, or the one that it is called like.
        known = {label.path[:level] for label in labels}
        own = {label.value: (*label.path, label.title)[:level] for label in labels}
        paths = {one.value: own[one.value] if own[one.value] in known else one.path[:level] for one in labels}
        of = [(label.value, LEVEL_MARK.join(paths[label.value]) or label.title) for label in labels]
        groups = dict.fromkeys(group for _, group in of)
        if 2 <= len(groups) < len(labels):
            yield Derived(f"level{level}", f"Level {level}", tuple(Label(one, one) for one in groups), tuple(of))


def _dimension(question: Mapping) -> Dimension:
    condition, spans = question.get("asked_when"), question.get("spans")
    dimension = Dimension(
        slug=question["slug"],
        title=question["title"],
        question=question.get("question", ""),
        level=question.get("level", "nominal"),
        answer=question.get("answer") or "label",
        labels=tuple(
            Label(
                label["value"],
                label["title"],
                label.get("hint", ""),
                label.get("polarity"),
                label.get("key", ""),
                group=label.get("group", ""),
            )
            for label in question.get("labels", ())
        ),
        is_optional=question.get("optional", False),
        has_cannot_judge=question.get("cannot_judge", False),
        number=_range(question.get("number") or {}) if question.get("answer") == "number" else None,
        asked_when=Condition(condition["question"], tuple(condition["labels"])) if condition else None,
        spans=SpanRule(
            tuple(spans["fields"]),
            spans["title"],
            spans.get("required", False),
            tuple(spans.get("labels", ())),
            tuple(Label(label["value"], label["title"]) for label in spans.get("own_labels", ())),
            tuple(Severity(one["value"], one["title"], one.get("weight", 0.0)) for one in spans.get("severities", ())),
            tuple(Weight(one["label"], one.get("severity", ""), one["weight"]) for one in spans.get("weights", ())),
            spans.get("reasons", False),
        )
        if spans
        else None,
        role=question.get("role", ""),
    )
    has_levels = dimension.answer == "label" and dimension.level == "nominal"
    return replace(dimension, derived=tuple(_levels(dimension.labels))) if has_levels else dimension


def _range(bounds: Mapping) -> NumberRange:
    anchors = (Anchor(float(one["at"]), one["title"]) for one in bounds.get("anchors") or ())
    return NumberRange(*(bounds.get(name) for name in BOUNDS), bounds.get("unit", ""), tuple(anchors))
