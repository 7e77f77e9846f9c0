"""What keeps a description from being a label set (`label_sets`), with its place and the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from .base import (
    ANSWERS,
    CANNOT_JUDGE,
    LEVEL_MARK,
    MANY_LABELS,
    MAX_LABELS,
    MAX_LEVELS,
    MAX_OWN_LABELS,
    NONE_CHOSEN,
    OWN_MARKS,
    SEPARATOR,
    VALUE_CHARS,
    NumberRange,
    number_text,
)
from .keys import LATER_KEYS, PAGE_KEYS
from .options import CAPTION_CHARS, HINT_CHARS, text_problems
from .pages import PAGES, TEXTS

LEVELS = ("nominal", "ordinal", "interval", "ratio")
ROLES = ("relevance", "coverage", "stance", "entailment", "correctness")
MAX_QUESTIONS = 12
MAX_SEVERITIES, MAX_WEIGHT = 9, 1_000
MAX_ANCHORS = 11
SLUG_CHARS, UNIT_CHARS = 40, 20
BOUNDS = ("min", "max", "step")
OTHER_KEY = "is not one small letter or sign that the page does not use itself"
LATER_KEY = "is a key that the page uses itself by now; choose another one"
MAX_VERSION = 32_767

VALUE = re.compile(r"[\w+-][\w.+-]*")
_SLUG = re.compile(rf"[a-z][a-z0-9_-]{{0,{SLUG_CHARS - 1}}}")

Problems = list[tuple[str, str]]

_TOP = {"name", "version", "page", "summary", "questions", "free_text"}
_QUESTION = {
    "slug",
    "title",
    "question",
    "level",
    "answer",
    "labels",
    "number",
    "optional",
    "cannot_judge",
    "asked_when",
    "spans",
    "role",
}
_LABEL = {"value", "title", "hint", "polarity", "key", "group"}
_SPANS = {"title", "fields", "required", "labels", "own_labels", "severities", "weights", "reasons"}
_OWN_LABEL = {"value", "title"}
_ANCHOR = {"at", "title"}
_SEVERITY, _WEIGHT = {"value", "title", "weight"}, {"label", "severity", "weight"}
_WORDS = {"title", "hint", "required"}


def problems_of(description: object) -> Problems:
    """Everything that keeps a description from being a label set, with places."""
    if not isinstance(description, Mapping):
        return [("", "a label set is a JSON object")]
    problems = _unknown("", description, _TOP)
    problems += _title("name", description.get("name"), CAPTION_CHARS)
    version = description.get("version")
    if type(version) is not int or not 1 <= version <= MAX_VERSION:
        problems.append(("version", f"is not a whole number from 1 to {MAX_VERSION:,}"))
    problems += text_problems("summary", description.get("summary", ""), HINT_CHARS)
    page = description.get("page")
    if not isinstance(page, str) or page not in PAGES:
        problems.append(("page", f"is not one of {', '.join(PAGES)}"))
    questions = description.get("questions")
    if not isinstance(questions, list) or not all(isinstance(question, Mapping) for question in questions):
        return [*problems, ("questions", "is not a list of objects")]
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        problems.append(("questions", f"has {len(questions)} questions; a label set has 1 to {MAX_QUESTIONS}"))
    n_labels = sum(len(one["labels"]) for one in questions if isinstance(one.get("labels"), list))
    if n_labels > MAX_LABELS and len(questions) > 1:
        problems.append(("questions", f"has {n_labels:,} labels in all; a label set has at most {MAX_LABELS:,}"))
    before: dict[str, list[str]] = {}
    for number, question in enumerate(questions, 1):
        problems += _question_problems(f"questions.{number}", question, page, before)
        slug = question.get("slug")
        if isinstance(slug, str):
            before[slug] = _values(question)
    titles = [question["title"] for question in questions if isinstance(question.get("title"), str)]
    problems += [("questions", f"two questions have the title {title!r}") for title in _repeated(titles)]
    return problems + _words_problems(description.get("free_text"))


def _question_problems(place: str, question: Mapping, page: object, before: Mapping[str, list[str]]) -> Problems:
    problems = _unknown(place, question, _QUESTION)
    problems += _title(f"{place}.title", question.get("title"), CAPTION_CHARS)
    problems += text_problems(f"{place}.question", question.get("question", ""), CAPTION_CHARS)
    slug = question.get("slug")
    if not isinstance(slug, str) or not _SLUG.fullmatch(slug):
        problems.append(
            (
                f"{place}.slug",
                f"is not a column name: a small letter, then up to {SLUG_CHARS - 1} small letters, digits, - and _",
            )
        )
    elif slug in before:
        problems.append((f"{place}.slug", f"{slug!r} is the name of another question, too"))
    level = question.get("level", "nominal")
    if level not in LEVELS:
        problems.append((f"{place}.level", f"is not one of {', '.join(LEVELS)}"))
    if question.get("role", "") not in ("", *ROLES):
        problems.append((f"{place}.role", f"is not one of {', '.join(ROLES)}"))
    if (answer := question.get("answer", "")) not in ("", *ANSWERS):
        problems.append((f"{place}.answer", f"is not one of {', '.join(ANSWERS)}"))
    elif answer == "labels" and level in LEVELS[1:]:
        problems.append((f"{place}.level", f"is {level}, and several labels at once have no order: they are nominal"))
    elif answer == "labels" and question.get("role"):
        problems.append((f"{place}.role", "is not allowed with several labels, which no checker gives"))
    if not isinstance(question.get("cannot_judge", False), bool):
        problems.append((f"{place}.cannot_judge", "is neither true nor false"))
    if not isinstance(question.get("optional", False), bool):
        problems.append((f"{place}.optional", "is neither true nor false"))
    elif question.get("optional") and question.get("answer") != "text":
        problems.append((f"{place}.optional", "is only for questions that are answered in words"))
    if question.get("answer") == "text":
        for part in ("labels", "number", "role", "spans"):
            if question.get(part):
                problems.append((f"{place}.{part}", "is not allowed for a question that is answered in words"))
        if level != "nominal":
            problems.append((f"{place}.level", f"is {level}, and texts have no order: they are nominal"))
    elif question.get("answer") == "number":
        problems += _number_problems(place, question, level)
    else:
        problems += _label_problems(f"{place}.labels", question.get("labels"), level, page, answer == "labels")
        if question.get("number"):
            problems.append((f"{place}.number", "is only for questions that are answered by a number"))
    if "asked_when" in question:
        problems += _condition_problems(f"{place}.asked_when", question["asked_when"], before)
    if "spans" in question:
        problems += _span_problems(f"{place}.spans", question["spans"], page, _values(question))
    return problems


def _number_problems(place: str, question: Mapping, level: object) -> Problems:
    problems: Problems = []
    if question.get("labels"):
        problems.append((f"{place}.labels", "are not allowed for a question that is answered by a number"))
    if level not in ("interval", "ratio"):
        problems.append((f"{place}.level", f"is {level}, and numbers are at the interval or ratio level"))
    if question.get("role"):
        problems.append((f"{place}.role", "is not allowed for a question that is answered by a number"))
    bounds = question.get("number") or {}
    if not isinstance(bounds, Mapping):
        return [*problems, (f"{place}.number", "is not an object")]
    problems += _unknown(f"{place}.number", bounds, {*BOUNDS, "unit", "anchors"})
    unit = bounds.get("unit", "")
    problems += _title(f"{place}.number.unit", unit, UNIT_CHARS) if unit else []
    wrong = [name for name in BOUNDS if not _is_bound(bounds.get(name))]
    reason = "is not a number below a thousand million with at most 6 decimals"
    problems += [(f"{place}.number.{name}", reason) for name in wrong]
    if wrong:
        return problems
    least, most, step = (bounds.get(name) for name in BOUNDS)
    if least is not None and most is not None and least >= most:
        problems.append((f"{place}.number.max", "is not above the minimum"))
    if step is not None and step <= 0:
        problems.append((f"{place}.number.step", "is not above 0"))
    if level == "ratio" and (least is None or least < 0):
        problems.append((f"{place}.number.min", "is not at least 0, which the ratio level needs"))
    return problems or _anchor_problems(f"{place}.number.anchors", bounds)


def _anchor_problems(place: str, bounds: Mapping) -> Problems:
    anchors = bounds.get("anchors") or []
    if not isinstance(anchors, list) or not all(isinstance(anchor, Mapping) for anchor in anchors):
        return [(place, "is not a list of objects")]
    if not anchors:
        return []
    if None in (bounds.get("min"), bounds.get("max")):
        return [(place, "are on a scale, which needs a minimum and a maximum")]
    problems: Problems = []
    if not 2 <= len(anchors) <= MAX_ANCHORS:
        problems.append((place, f"has {len(anchors)} anchors; a scale has 2 to {MAX_ANCHORS}"))
    on_scale = NumberRange(*(bounds.get(name) for name in BOUNDS))
    places = [anchor.get("at") for anchor in anchors]
    for number, anchor in enumerate(anchors, 1):
        problems += _unknown(f"{place}.{number}", anchor, _ANCHOR)
        problems += _title(f"{place}.{number}.title", anchor.get("title"), CAPTION_CHARS)
        if (at := anchor.get("at")) is None or not _is_bound(at) or not on_scale.holds(number_text(at)):
            problems.append((f"{place}.{number}.at", f"is not {on_scale}"))
    if not problems and places != sorted(set(places)):
        problems.append((place, "are not in ascending order"))
    return problems


def _is_bound(value: object) -> bool:
    if value is None:
        return True
    if type(value) not in (int, float) or not abs(value) < 10**9:
        return False
    return round(value, 6) == value


def _most_labels(page: object) -> int:
    """Of a question: where a page shows several units, each of them shows all labels."""
    kind = PAGES.get(page) if isinstance(page, str) else None
    return MAX_LABELS if kind is None or kind.unit_kind == kind.anchor_kind else MANY_LABELS


def _label_problems(place: str, labels: object, level: object, page: object, takes_several: bool) -> Problems:
    if not isinstance(labels, list) or not all(isinstance(label, Mapping) for label in labels):
        return [(place, "is not a list of objects")]
    problems: Problems = []
    most = _most_labels(page)
    if not 2 <= len(labels) <= most:
        of = "a question" if most == MAX_LABELS else f"a question on the page {page}"
        problems.append((place, f"has {len(labels):,} labels; {of} has 2 to {most:,}"))
    for number, label in enumerate(labels, 1):
        at = f"{place}.{number}"
        problems += _unknown(at, label, _LABEL)
        problems += _named_problems(at, label)
        if label.get("value") == CANNOT_JUDGE:
            problems.append((f"{at}.value", "is how it is stored that a person cannot judge"))
        if takes_several and (label.get("value") == NONE_CHOSEN or SEPARATOR in str(label.get("value"))):
            problems.append((f"{at}.value", f"has {SEPARATOR}, which parts several labels, or is {NONE_CHOSEN}"))
        problems += text_problems(f"{at}.hint", label.get("hint", ""), HINT_CHARS)
        problems += text_problems(f"{at}.group", group := label.get("group", ""), CAPTION_CHARS)
        parts = group.split(LEVEL_MARK) if isinstance(group, str) and group else []
        if len(parts) > MAX_LEVELS or not all(map(str.strip, parts)):
            problems.append((f"{at}.group", f"is not 1 to {MAX_LEVELS} names with {LEVEL_MARK} between them"))
        polarity = label.get("polarity")
        if polarity is not None and not (type(polarity) in (int, float) and -1 <= polarity <= 1):
            problems.append((f"{at}.polarity", "is not a number from -1 to 1"))
        if (key := label.get("key", "")) != "" and not _is_key(key):
            problems.append((f"{at}.key", LATER_KEY if key in LATER_KEYS else OTHER_KEY))
        if not fits_level(label.get("value"), level):
            least = " of at least 0" if level == "ratio" else ""
            problems.append((f"{at}.value", f"is not a number{least}, which the {level} level needs"))
    keys = [label["key"] for label in labels if isinstance(label.get("key"), str) and label["key"]]
    problems += [(place, f"two labels have the key {key!r}") for key in _repeated(keys)]
    return problems + _label_repeats(place, labels)


def _is_key(key: object) -> bool:
    return isinstance(key, str) and bool(re.fullmatch(r"[!-~]", key)) and key == key.lower() and key not in PAGE_KEYS


def _condition_problems(place: str, condition: object, before: Mapping[str, list[str]]) -> Problems:
    if not isinstance(condition, Mapping) or set(condition) != {"question", "labels"}:
        return [(place, "is not an object with question and labels")]
    asked, labels = condition["question"], condition["labels"]
    if not isinstance(asked, str) or asked not in before:
        return [(f"{place}.question", "is not the name of a question before this one")]
    if not isinstance(labels, list) or not labels or any(label not in before[asked] for label in labels):
        return [(f"{place}.labels", f"does not list labels of {asked}: {', '.join(before[asked])}")]
    return []


def _span_problems(place: str, spans: object, page: object, values: list[str]) -> Problems:
    if not isinstance(spans, Mapping):
        return [(place, "is not an object")]
    problems = _unknown(place, spans, _SPANS) + _title(f"{place}.title", spans.get("title"), CAPTION_CHARS)
    if not isinstance(spans.get("required", False), bool):
        problems.append((f"{place}.required", "is neither true nor false"))
    texts, labels = spans.get("fields"), spans.get("labels", [])
    known = TEXTS.get(page, ()) if isinstance(page, str) else ()
    if not isinstance(texts, list) or not texts or any(text not in known for text in texts):
        problems.append((f"{place}.fields", f"does not list texts of the page: {', '.join(known)}"))
    if not isinstance(labels, list) or any(label not in values for label in labels):
        problems.append((f"{place}.labels", f"does not list labels of the question: {', '.join(values)}"))
    if not isinstance(spans.get("reasons", False), bool):
        problems.append((f"{place}.reasons", "is neither true nor false"))
    own, severities = spans.get("own_labels", []), spans.get("severities", [])
    problems += _own_label_problems(f"{place}.own_labels", own, MAX_OWN_LABELS, _OWN_LABEL)
    problems += _own_label_problems(f"{place}.severities", severities, MAX_SEVERITIES, _SEVERITY)
    return problems or _weight_problems(place, severities, own, spans.get("weights", []))


def _weight_problems(place: str, severities: list, own: list, weights: object) -> Problems:
    if not isinstance(weights, list) or not all(isinstance(one, Mapping) for one in weights):
        return [(f"{place}.weights", "is not a list of objects")]
    problems: Problems = []
    for name, listed, known in (("severities", severities, _SEVERITY), ("weights", weights, _WEIGHT)):
        for number, one in enumerate(listed, 1):
            problems += _unknown(f"{place}.{name}.{number}", one, known)
            if not (_is_bound(one.get("weight", 0.0)) and 0 <= (one.get("weight") or 0) <= MAX_WEIGHT):
                reason = f"is not a number from 0 to {MAX_WEIGHT:,} with at most 6 decimals"
                problems.append((f"{place}.{name}.{number}.weight", reason))
    for number, one in enumerate(weights, 1):
        for name, listed in (("label", own), ("severity", severities)):
            values = ["", *(each["value"] for each in listed)] if name == "severity" else [e["value"] for e in listed]
            if one.get(name, "") not in values:
                problems.append((f"{place}.weights.{number}.{name}", f"is none of {', '.join(filter(None, values))}"))
        if one.get("weight") is None:
            problems.append((f"{place}.weights.{number}.weight", "is missing"))
    return problems


def _own_label_problems(place: str, labels: object, most: int, known: set[str]) -> Problems:
    if not isinstance(labels, list) or not all(isinstance(label, Mapping) for label in labels):
        return [(place, "is not a list of objects")]
    problems: Problems = []
    if len(labels) > most:
        what = place.rpartition(".")[2].removeprefix("own_")
        problems.append((place, f"has {len(labels)} {what}; highlights have at most {most}"))
    for number, label in enumerate(labels, 1):
        problems += _unknown(f"{place}.{number}", label, known) + _named_problems(f"{place}.{number}", label)
        if any(mark in str(label.get("title")) for mark in OWN_MARKS):
            problems.append(
                (f"{place}.{number}.title", f"has one of {' '.join(OWN_MARKS)}, which the form cannot hold")
            )
        if len(str(label.get("value"))) > VALUE_CHARS:
            problems.append((f"{place}.{number}.value", f"has more than {VALUE_CHARS} characters"))
    return problems + _label_repeats(place, labels)


def _named_problems(place: str, label: Mapping) -> Problems:
    """A value is the title as it stands, or a name."""
    value = label.get("value")
    is_name = isinstance(value, str) and VALUE.fullmatch(value) and len(value) <= VALUE_CHARS
    is_name = is_name or _is_as_written(label)
    problems = (
        []
        if is_name
        else [(f"{place}.value", f"is not a name of at most {VALUE_CHARS} letters, digits, -, +, . and _")]
    )
    return problems + _title(f"{place}.title", label.get("title"), CAPTION_CHARS)


def _is_as_written(label: Mapping) -> bool:
    return isinstance(label.get("value"), str) and label["value"] == label.get("title")


def _label_repeats(place: str, labels: list[Mapping]) -> Problems:
    """Labels that are stored as they are written may differ in case alone, such as `US` and `us`."""
    problems: Problems = []
    for name in ("value", "title"):
        texts = [label[name] for label in labels if isinstance(label.get(name), str)]
        others = [label[name] for label in labels if isinstance(label.get(name), str) and not _is_as_written(label)]
        twice = [text for text in texts if texts.count(text) > 1]
        alike = {text.casefold() for text in others}
        repeated = [text for text in _repeated(texts) if text in twice or text.casefold() in alike]
        problems += [(place, f"two labels have the {name} {text!r}") for text in dict.fromkeys(repeated)]
    return problems


def _words_problems(words: object) -> Problems:
    if words is None:
        return []
    if not isinstance(words, Mapping):
        return [("free_text", "is not an object")]
    problems = _unknown("free_text", words, _WORDS) + _title("free_text.title", words.get("title"), CAPTION_CHARS)
    problems += text_problems("free_text.hint", words.get("hint", ""), HINT_CHARS)
    if not isinstance(words.get("required", False), bool):
        problems.append(("free_text.required", "is neither true nor false"))
    return problems


def _unknown(place: str, fields: Mapping, known: set[str]) -> Problems:
    reason = f"is not one of {', '.join(sorted(known))}"
    return [(".".join(filter(None, (place, str(name)))), reason) for name in fields if name not in known]


def _title(place: str, text: object, limit: int) -> Problems:
    """A text that something is known by: on one line, with nothing around it that nobody sees."""
    problems = text_problems(place, text, limit)
    if not problems and (not text or text != text.strip() or any(not char.isprintable() for char in text)):
        problems.append((place, "is empty" if not text else "has spaces around it, or characters that nobody sees"))
    return problems


def _values(question: Mapping) -> list[str]:
    labels = question.get("labels")
    values = (label.get("value") for label in labels if isinstance(label, Mapping)) if isinstance(labels, list) else ()
    return [value for value in values if isinstance(value, str)]


def fits_level(value: object, level: object) -> bool:
    """Whether a label's value can be measured at the level: numbers on the interval level, of at least 0 on ratio's."""
    if level not in ("interval", "ratio"):
        return True
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return False
    return math.isfinite(number) and (level != "ratio" or number >= 0)


def _repeated(texts: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return list(dict.fromkeys(text for text in texts if text.casefold() in seen or seen.add(text.casefold())))
