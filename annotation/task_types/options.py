"""What a project may change about its task type without code. Labels that are stored keep their value and meaning.

Options are JSON, all of it optional:

    {"hidden": ["relevance"],
     "spans": {"stance": "required"},                        required | optional | off
     "captions": {"stance": {"title": "…", "question": "…", "spans": "…",
                             "labels": {"refutes": {"title": "…", "hint": "…"}}}},
     "order": {"stance": ["supports", …, "refutes"]},        every label once
     "free_text": {"title": "…", "hint": "…", "required": false}}     null takes the type's own away
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import lru_cache
from json import dumps, loads

from .base import Dimension, FreeText, Label, SpanRule, TaskType

SPAN_CHOICES = ("required", "optional", "off")
CAPTION_CHARS = 200
HINT_CHARS = 500
PARTS = ("hidden", "spans", "captions", "order", "free_text")


class OptionsError(ValueError):
    """Options that do not fit the task type. `problems` pairs the place (`captions.stance.title`) with the reason."""

    def __init__(self, problems: list[tuple[str, str]]):
        super().__init__("; ".join(f"{place}: {reason}" for place, reason in problems))
        self.problems = problems


def configured(description: TaskType, options: Mapping) -> TaskType:
    """The task type as the project asks it. Equal options give the same object. OptionsError where they do not fit."""
    if isinstance(options, Mapping) and not options:
        return description
    try:
        stored = dumps(options, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise OptionsError([("", "options are not JSON")]) from None
    return _configured(description, stored)


@lru_cache(maxsize=256)
def _configured(description: TaskType, stored: str) -> TaskType:
    options = loads(stored)
    problems = _problems(description, options)
    if problems:
        raise OptionsError(problems)
    dimensions = tuple(_dimension(dimension, options) for dimension in description.dimensions)
    free_text = description.free_text
    if "free_text" in options:
        free_text = _free_text(options["free_text"])
    return replace(description, dimensions=dimensions, free_text=free_text)


def options_of(description: TaskType, options: Mapping) -> dict:
    """The options without what says nothing: empty parts, captions and orders as the task type has them anyway.

    OptionsError where they do not fit.
    """
    problems = _problems(description, options)
    if problems:
        raise OptionsError(problems)
    kept: dict = {}
    if options.get("hidden"):
        kept["hidden"] = [each.slug for each in description.dimensions if each.slug in options["hidden"]]
    spans, captions, order = {}, {}, {}
    for dimension in description.dimensions:
        slug = dimension.slug
        choice = options.get("spans", {}).get(slug)
        if choice and choice != ("required" if dimension.spans.required else "optional"):
            spans[slug] = choice
        if changed := _new_captions(dimension, options.get("captions", {}).get(slug, {})):
            captions[slug] = changed
        if (values := options.get("order", {}).get(slug)) and tuple(values) != dimension.values:
            order[slug] = list(values)
    kept |= {name: part for name, part in (("spans", spans), ("captions", captions), ("order", order)) if part}
    if "free_text" in options:
        asked = _free_text(options["free_text"])
        if asked != description.free_text:
            kept["free_text"] = asked and asdict(asked)
    return kept


def _free_text(asked: Mapping | None) -> FreeText | None:
    return None if asked is None else FreeText(**asked)


def _new_captions(dimension: Dimension, captions: Mapping) -> dict:
    own = {"title": dimension.title, "question": dimension.question}
    own["spans"] = dimension.spans.title if dimension.spans else ""
    new = {name: text for name, text in captions.items() if name != "labels" and text and text != own[name]}
    labels = {}
    for value, texts in captions.get("labels", {}).items():
        label = dimension.label(value)
        # An empty hint takes the hint away; an empty title says nothing.
        kept = {name: text for name, text in texts.items() if text or name == "hint"}
        changed = {name: text for name, text in kept.items() if text != getattr(label, name)}
        if changed:
            labels[value] = changed
    return new | ({"labels": labels} if labels else {})


def _dimension(dimension: Dimension, options: Mapping) -> Dimension:
    slug = dimension.slug
    captions = options.get("captions", {}).get(slug, {})
    texts = captions.get("labels", {})
    order = tuple(options.get("order", {}).get(slug, dimension.shown_order))
    return replace(
        dimension,
        title=captions.get("title") or dimension.title,
        question=captions.get("question") or dimension.question,
        labels=tuple(replace(label, **_label_texts(label, texts.get(label.value, {}))) for label in dimension.labels),
        spans=_spans(dimension.spans, options.get("spans", {}).get(slug), captions.get("spans")),
        shown_order=() if order == dimension.values else order,
        is_hidden=slug in options.get("hidden", ()),
    )


def _label_texts(label: Label, texts: Mapping) -> dict:
    return {"title": texts.get("title") or label.title, "hint": texts.get("hint", label.hint)}


def _spans(rule: SpanRule | None, choice: str | None, title: str | None) -> SpanRule | None:
    if rule is None or choice == "off":
        return None
    required = rule.required if choice is None else choice == "required"
    return replace(rule, required=required, title=title or rule.title)


# --- what does not fit ----------------------------------------------------------------------------------------------


def _problems(description: TaskType, options: object) -> list[tuple[str, str]]:
    if not isinstance(options, Mapping):
        return [("", "options are a JSON object")]
    problems = [(str(name), f"is not one of {', '.join(PARTS)}") for name in options if name not in PARTS]
    known = {dimension.slug: dimension for dimension in description.dimensions}
    hidden = options.get("hidden", [])
    if not isinstance(hidden, list) or not all(isinstance(slug, str) for slug in hidden):
        problems.append(("hidden", "is a list of dimensions"))
    else:
        problems += [(f"hidden.{slug}", _no_dimension(known)) for slug in hidden if slug not in known]
        if set(known) <= set(hidden):
            problems.append(("hidden", "leaves nothing to ask; at least one dimension has to stay"))
    for name, check in (("spans", _span_problems), ("captions", _caption_problems), ("order", _order_problems)):
        part = options.get(name, {})
        if not isinstance(part, Mapping):
            problems.append((name, "is a JSON object with a dimension as each key"))
            continue
        for slug, value in part.items():
            place = f"{name}.{slug}"
            problems += check(place, known[slug], value) if slug in known else [(place, _no_dimension(known))]
    problems += _free_text_problems(options.get("free_text"))
    return problems or _same_titles(description, options.get("captions", {}))


def _same_titles(description: TaskType, captions: Mapping) -> list[tuple[str, str]]:
    """Two questions of one page, or two labels of one question, that nobody could tell apart."""
    problems = []
    titles = [captions.get(each.slug, {}).get("title") or each.title for each in description.dimensions]
    if _repeat(titles):
        problems.append(("captions", "gives two dimensions the same title"))
    for dimension in description.dimensions:
        texts = captions.get(dimension.slug, {}).get("labels", {})
        if _repeat([texts.get(label.value, {}).get("title") or label.title for label in dimension.labels]):
            problems.append((f"captions.{dimension.slug}.labels", "gives two labels the same title"))
    return problems


def _repeat(titles: list[str]) -> bool:
    return len({title.casefold() for title in titles}) < len(titles)


def _no_dimension(known: Mapping) -> str:
    return f"is not one of the task type's dimensions {', '.join(known)}"


def _span_problems(place: str, dimension: Dimension, choice: object) -> list[tuple[str, str]]:
    if choice not in SPAN_CHOICES:
        return [(place, f"is not one of {', '.join(SPAN_CHOICES)}")]
    return [] if dimension.spans else [(place, "is a dimension without highlights")]


def _caption_problems(place: str, dimension: Dimension, captions: object) -> list[tuple[str, str]]:
    if not isinstance(captions, Mapping):
        return [(place, "is a JSON object")]
    problems = []
    for name, text in captions.items():
        if name == "labels":
            continue
        if name not in ("title", "question", "spans"):
            problems.append((f"{place}.{name}", "is not one of title, question, spans, labels"))
        elif name == "spans" and dimension.spans is None:
            problems.append((f"{place}.spans", "is a caption of a dimension without highlights"))
        else:
            problems += text_problems(f"{place}.{name}", text, CAPTION_CHARS)
    labels = captions.get("labels", {})
    if not isinstance(labels, Mapping):
        return [*problems, (f"{place}.labels", "is a JSON object with a label as each key")]
    for value, texts in labels.items():
        at = f"{place}.labels.{value}"
        if value not in dimension.values:
            problems.append((at, f"is not one of the labels {', '.join(dimension.values)}"))
        elif not isinstance(texts, Mapping) or set(texts) - {"title", "hint"}:
            problems.append((at, "is a JSON object with title and hint"))
        else:
            problems += text_problems(f"{at}.title", texts.get("title", ""), CAPTION_CHARS)
            problems += text_problems(f"{at}.hint", texts.get("hint", ""), HINT_CHARS)
    return problems


def _order_problems(place: str, dimension: Dimension, order: object) -> list[tuple[str, str]]:
    fits = isinstance(order, list) and all(isinstance(value, str) for value in order)
    if fits and sorted(order) == sorted(dimension.values):
        return []
    return [(place, f"does not hold each of {', '.join(dimension.values)} once")]


def _free_text_problems(asked: object) -> list[tuple[str, str]]:
    if asked is None:
        return []
    if not isinstance(asked, Mapping) or set(asked) - {field.name for field in fields(FreeText)}:
        return [("free_text", "is a JSON object with title, hint and required")]
    problems = text_problems("free_text.title", asked.get("title", ""), CAPTION_CHARS)
    problems += text_problems("free_text.hint", asked.get("hint", ""), HINT_CHARS)
    if not problems and not asked.get("title", ""):
        problems.append(("free_text.title", "is empty: say what is asked"))
    if not isinstance(asked.get("required", False), bool):
        problems.append(("free_text.required", "is neither true nor false"))
    return problems


def text_problems(place: str, text: object, limit: int) -> list[tuple[str, str]]:
    if not isinstance(text, str) or "\0" in text or not _is_unicode(text):
        return [(place, "is not a text")]
    if text and not text.strip():
        return [(place, "is blank; leave it out to have the task's own")]
    return [(place, f"has {len(text):,} characters; at most {limit} fit")] if len(text) > limit else []


def _is_unicode(text: str) -> bool:
    """JSON can hold halves of surrogate pairs, which no database and no page can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
