"""The draft of a label set as its form holds it: field names are the places in the description
(`questions.2.labels.1.title`), so that whatever is wrong stands at its field, and every button that adds, removes or
moves something sends the whole form and gets it back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.http import QueryDict

from annotation.formats.names import label_key, question_slug
from annotation.projects.presets import CONFIDENCE
from annotation.task_types import TaskType
from annotation.task_types.base import MANY_LABELS, MAX_LABELS, number_text
from annotation.task_types.label_sets import LabelSetError, task_type_of
from annotation.task_types.pages import PAGES, TEXTS
from annotation.task_types.problems import LEVELS, MAX_QUESTIONS

MOST_ERRORS = 10
PARTS = ("title", "slug", "question", "level", "answer", "number", "role", "asked_when", "spans")
BOUNDS = ("min", "max", "step", "unit")
EMPTY_LABEL = {"value": "", "title": "", "hint": "", "polarity": "", "key": "", "group": ""}
# Many labels are written one per line, with these parts between tabs, below the group's name after #.
OF_LINE = ("title", "value", "hint", "polarity", "key")
GROUP = "# "
LEVEL_TITLES = {
    "nominal": "Nominal: labels without an order",
    "ordinal": "Ordinal: labels in the order below, from low to high",
    "interval": "Interval: labels are numbers whose distances count (a rating from 1 to 5)",
    "ratio": "Ratio: numbers with a true zero",
}
NUMBER_LEVEL_TITLES = {"interval": "Interval: numbers whose distances count", "ratio": LEVEL_TITLES["ratio"]}
ANSWER_TITLES = {
    "": "One label",
    "labels": "Several labels: any number of them, none included",
    "number": "A number",
    "text": "A text in the annotator's words",
}
ROLE_TITLES = {
    "": "None: no checker answers it",
    "relevance": "Relevance: how much the text bears on the claim or question",
    "coverage": "Coverage: whether the text contains what is asked for",
    "stance": "Stance: what the evidence says about the claim",
    "entailment": "Entailment: what the premise says about the hypothesis",
    "correctness": "Correctness: whether the answer agrees with the true answers",
}
TEXT_TITLES = {
    "claim": "Claim",
    "evidence": "Evidence",
    "premise": "Premise",
    "hypothesis": "Hypothesis",
    "question": "Question or claim",
    "response": "Answer",
    "passage-*": "Passages",
    "answer-*": "True answers",
}
BUTTON = re.compile(
    r"(add-question|add-confidence|add-label|remove-question|remove-label|up|down)(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?"
)


@dataclass
class LabelSetDraft:
    """`raw` is a description that may be wrong; `errors` are by place, filled by `check`."""

    raw: dict
    errors: dict[str, list[str]] = field(default_factory=dict)

    def check(self) -> TaskType | None:
        """The task type, or None with `errors` filled. Rows of labels that nobody filled in go first, so that places in
        the description are those of the form."""
        for question in self.raw["questions"]:
            question["labels"] = [one for one in question["labels"] if _is_filled(one)] or [EMPTY_LABEL, EMPTY_LABEL]
        try:
            return task_type_of(self.description, is_new=True)
        except LabelSetError as error:
            for place, reason in error.problems:
                sentence = f"T{reason[1:]}" if reason.startswith("two ") else f"This {reason}"
                self.errors.setdefault(place, []).append(sentence)
            return None

    def kind(self) -> TaskType | None:
        """The task type as far as it can be shown now; None while something is wrong."""
        try:
            return task_type_of(self.description)
        except LabelSetError:
            return None

    @property
    def description(self) -> dict:
        """The draft with what is left to Assay filled in: values from titles, names of columns, numbers."""
        questions = []
        for fields in self.raw["questions"]:
            question = {"slug": fields["slug"] or question_slug(fields["title"]), "title": fields["title"]}
            # The form hides what an answer has no use for; what was typed there before does not count.
            if fields["answer"] == "number":
                question["level"] = fields["number_level"]
                parse = {"unit": str, "anchors": _anchors}
                question["number"] = {
                    name: parse.get(name, _number)(part) for name, part in fields["number"].items() if part
                }
            elif fields["answer"] == "text":
                question |= {"level": "nominal"} | ({"optional": True} if fields["optional"] else {})
            else:
                question["level"] = "nominal" if fields["answer"] == "labels" else fields["level"]
                question["labels"] = [_label(one) for one in fields["labels"] if _is_filled(one)]
            question |= {name: fields[name] for name in ("question", "role", "answer", "cannot_judge") if fields[name]}
            if fields["when"]:
                asked = fields["when"][0].partition(" ")[0]
                # Places of two questions are refused as labels that the first one does not have.
                conditions = [one.partition(" ") for one in fields["when"]]
                question["asked_when"] = {
                    "question": asked,
                    "labels": [value if slug == asked else f"{slug} {value}" for slug, _, value in conditions],
                }
            if fields["spans"]["fields"]:
                question["spans"] = {name: part for name, part in fields["spans"].items() if part or name == "title"}
                if own := _own_labels(fields["spans"]["own_labels"]):
                    question["spans"]["own_labels"] = own
                for name, parse in (("severities", _severities), ("weights", _weights)):
                    if parsed := parse(fields["spans"][name]):
                        question["spans"][name] = parsed
            questions.append(question)
        description = {name: self.raw[name] for name in ("name", "version", "page", "summary")}
        words = self.raw["free_text"]
        return description | {"questions": questions} | ({"free_text": words} if any(words.values()) else {})

    def questions(self) -> list[dict]:
        """What the form shows of each question: its fields, and what it can choose from."""
        page, known = TEXTS.get(self.raw["page"], ()), self.description["questions"]
        shown = []
        for number, fields in enumerate(self.raw["questions"]):
            place = f"questions.{number + 1}"
            before = [
                (f"{other['slug']} {label['value']}", f"{other['title']}: {label['title']}")
                for other in known[:number]
                for label in other.get("labels", ())
                if isinstance(label.get("value"), str)
            ]
            shown.append(
                fields
                | {
                    "place": place,
                    "number_range": fields["number"],
                    "number": number + 1,
                    "choices": {
                        "level": [(level, LEVEL_TITLES[level]) for level in LEVELS],
                        "number_level": list(NUMBER_LEVEL_TITLES.items()),
                        "answer": list(ANSWER_TITLES.items()),
                        "role": list(ROLE_TITLES.items()),
                        "when": before,
                        "texts": [(text, TEXT_TITLES[text]) for text in page],
                        "carry": [
                            (label["value"], label["title"])
                            for label in known[number].get("labels", ())
                            if label["value"]
                        ],
                    },
                    "lines": lines_of(fields["labels"]) if len(fields["labels"]) > MANY_LABELS else "",
                    "labels": []
                    if len(fields["labels"]) > MANY_LABELS
                    else [
                        one
                        | {"place": (at := f"{place}.labels.{row}"), "error": "; ".join(self.errors.get(at, ()))}
                        | {"errors": {part: self.error_at(f"{at}.{part}") for part in EMPTY_LABEL}}
                        for row, one in enumerate(fields["labels"], 1)
                    ],
                    "errors": {part: self.error_at(f"{place}.{part}") for part in PARTS}
                    | {"labels": self._of_labels(place, len(fields["labels"]))},
                }
            )
        return shown

    def _of_labels(self, place: str, n_labels: int) -> str:
        """What is wrong with the labels together; of many, whose fields are lines, also with each of the first ones."""
        found = list(self.errors.get(f"{place}.labels", ()))
        for number in range(1, n_labels + 1) if n_labels > MANY_LABELS else ():
            at = f"{place}.labels.{number}"
            parts = [(part, self.error_at(f"{at}.{part}")) for part in EMPTY_LABEL]
            found += [f"Label {number}, {part}: {reason}" for part, reason in parts if reason]
        return "; ".join(found[:MOST_ERRORS])

    def error_at(self, place: str) -> str:
        """What is wrong at a place and below it, to be read after the field's name."""
        matching = (reasons for at, reasons in self.errors.items() if at == place or at.startswith(f"{place}."))
        return "; ".join(reason for reasons in matching for reason in reasons)


def _number(text: str) -> float | int | str:
    """A bound as it was entered; what is not a number stays, to be refused at its place."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _is_filled(label: Mapping) -> bool:
    return any(str(part).strip() for part in label.values())


def _label(fields: Mapping) -> dict:
    label = {"value": fields["value"] or label_key(fields["title"]), "title": fields["title"]}
    label |= {name: fields[name] for name in ("hint", "key", "group") if fields[name]}
    if str(fields["polarity"]).strip():
        try:
            label["polarity"] = float(fields["polarity"])
        except ValueError:
            label["polarity"] = fields["polarity"]
    return label


def lines_of(labels: Sequence[Mapping]) -> str:
    lines, group = [], ""
    for label in labels:
        if label["group"] != group:
            group = label["group"]
            lines.append(f"{GROUP}{group}".strip())
        parts = ["" if label[part] is None else str(label[part]).replace("\t", " ") for part in OF_LINE]
        lines.append("\t".join(parts).rstrip("\t"))
    return "\n".join(lines)


def labels_in(lines: str) -> list[dict]:
    """Labels of lines as `lines_of` writes them; a # alone ends a group."""
    found, group = [], ""
    for line in lines.splitlines():
        if line.strip() == GROUP.strip() or line.startswith(GROUP):
            group = line[1:].strip()
        elif line.strip():
            parts = dict(zip(OF_LINE, map(str.strip, line.split("\t")), strict=False))
            found.append(EMPTY_LABEL | parts | {"group": group})
    return found


def blank(page: str = "claim") -> LabelSetDraft:
    return LabelSetDraft(
        {"name": "", "version": 1, "page": page, "summary": "", "questions": [_question({})], "free_text": _words({})}
    )


def draft_from(description: Mapping, version: int) -> LabelSetDraft:
    """A draft to go on from: a new version of the description, or a copy with version 1."""
    fields = {"name": description["name"], "version": version, "page": description["page"]}
    fields |= {"summary": description.get("summary", ""), "free_text": _words(description.get("free_text") or {})}
    return LabelSetDraft(fields | {"questions": [_question(one) for one in description["questions"]]})


def _question(one: Mapping) -> dict:
    condition, spans = one.get("asked_when"), one.get("spans") or {}
    return {
        "slug": one.get("slug", ""),
        "title": one.get("title", ""),
        "question": one.get("question", ""),
        "level": one.get("level", "nominal"),
        "number_level": "ratio" if one.get("level") == "ratio" else "interval",
        "answer": one.get("answer", "") if one.get("answer") != "label" else "",
        "role": one.get("role", ""),
        "number": {name: _bound(one, name) for name in BOUNDS} | {"anchors": _anchor_lines(one)},
        "optional": one.get("optional", False),
        "cannot_judge": one.get("cannot_judge", False),
        "labels": [EMPTY_LABEL | label for label in one.get("labels", ())] or [EMPTY_LABEL, EMPTY_LABEL],
        "when": [f"{condition['question']} {value}" for value in condition["labels"]] if condition else [],
        "spans": {
            "title": spans.get("title", ""),
            "fields": list(spans.get("fields", ())),
            "required": spans.get("required", False),
            "labels": list(spans.get("labels", ())),
            "own_labels": ", ".join(map(_own_words, spans.get("own_labels", ()))),
            "severities": ", ".join(
                f"{_own_words(one)} = {number_text(one.get('weight') or 0)}" for one in spans.get("severities", ())
            ),
            "weights": ", ".join(
                f"{' | '.join(filter(None, (one['label'], one.get('severity'))))} = {number_text(one['weight'])}"
                for one in spans.get("weights", ())
            ),
            "reasons": spans.get("reasons", False),
        },
    }


def _bound(question: Mapping, name: str) -> str:
    bound = (question.get("number") or {}).get(name)
    return "" if bound is None else bound if isinstance(bound, str) else number_text(bound)


def _anchor_lines(question: Mapping) -> str:
    """`0 = Nothing`, one per line."""
    anchors = (question.get("number") or {}).get("anchors") or ()
    return "\n".join(f"{number_text(one['at'])} = {one['title']}" for one in anchors)


def _anchors(lines: str) -> list[dict]:
    parts = (line.partition("=") for line in lines.splitlines() if line.strip())
    return [{"at": _number(at.strip()), "title": title.strip()} for at, _, title in parts]


def _own_words(label: Mapping) -> str:
    """The title, and its value where that is not made from it."""
    made = label_key(label["title"]) == label["value"]
    return label["title"] if made else f"{label['title']} = {label['value']}"


def _own_labels(words: str) -> list[dict]:
    """Titles with commas between them, each with `= value` if one is given."""
    parts = (part.partition("=") for part in words.split(",") if part.strip())
    return [{"value": value.strip() or label_key(title.strip()), "title": title.strip()} for title, _, value in parts]


def _weighed(words: str) -> Iterator[tuple[str, float | str]]:
    """Parts with commas between them, each with `= weight` at its end."""
    for part in filter(str.strip, words.split(",")):
        name, _, weight = part.rpartition("=")
        yield name.strip(), _number(weight.strip())


def _severities(words: str) -> list[dict]:
    """`Minor = 1`, or `Minor = min = 1` with the value that is stored."""
    return [own | {"weight": weight} for name, weight in _weighed(words) for own in _own_labels(name) or [{}]]


def _weights(words: str) -> list[dict]:
    """`Punctuation | Minor = 0.1`, or `Non-translation = 25` for all severities."""
    found = []
    for name, weight in _weighed(words):
        label, _, severity = (part.strip() for part in name.partition("|"))
        found.append({"label": label} | ({"severity": severity} if severity else {}) | {"weight": weight})
    return found


def _words(one: Mapping) -> dict:
    return {"title": one.get("title", ""), "hint": one.get("hint", ""), "required": one.get("required", False)}


def draft_of(data: QueryDict, version: int) -> LabelSetDraft:
    """What a form says. Places that are not there count as empty."""

    def text(name: str) -> str:
        return data.get(name, "").strip()

    questions = []
    while len(questions) <= MAX_QUESTIONS and f"questions.{len(questions) + 1}.title" in data:
        place, labels = f"questions.{len(questions) + 1}", []
        if lines := text(f"{place}.lines"):
            labels = labels_in(lines)[: MAX_LABELS + 1]
        while not lines and len(labels) <= MANY_LABELS and f"{place}.labels.{len(labels) + 1}.title" in data:
            at = f"{place}.labels.{len(labels) + 1}"
            labels.append({name: text(f"{at}.{name}") for name in EMPTY_LABEL})
        questions.append(
            {name: text(f"{place}.{name}") for name in ("slug", "title", "question", "level", "answer", "role")}
            | {"number": {name: text(f"{place}.number.{name}") for name in (*BOUNDS, "anchors")}}
            | {"number_level": text(f"{place}.number_level") or "interval"}
            | {name: f"{place}.{name}" in data for name in ("optional", "cannot_judge")}
            | {"labels": labels or [EMPTY_LABEL, EMPTY_LABEL], "when": data.getlist(f"{place}.when")}
            | {
                "spans": {
                    "title": text(f"{place}.spans.title"),
                    "fields": data.getlist(f"{place}.spans.fields"),
                    "required": f"{place}.spans.required" in data,
                    "labels": data.getlist(f"{place}.spans.labels"),
                    "own_labels": text(f"{place}.spans.own_labels"),
                    "severities": text(f"{place}.spans.severities"),
                    "weights": text(f"{place}.spans.weights"),
                    "reasons": f"{place}.spans.reasons" in data,
                }
            }
        )
    words = {"title": text("free_text.title"), "hint": text("free_text.hint")}
    fields = {"name": text("name"), "version": version, "page": text("page"), "summary": text("summary")}
    return LabelSetDraft(
        fields
        | {
            "questions": questions or [_question({})],
            "free_text": words | {"required": "free_text.required" in data},
        }
    )


def pressed(draft: LabelSetDraft, button: str) -> bool:
    """Do what a button of the form says; whether it is one that changes the draft."""
    match = BUTTON.fullmatch(button)
    if match is None:
        return False
    what, questions = match[1], draft.raw["questions"]
    if what in ("add-question", "add-confidence"):
        if len(questions) < MAX_QUESTIONS:
            questions.append(_question(CONFIDENCE if what == "add-confidence" else {}))
        return True
    number = int(match[2] or 0) - 1
    if not 0 <= number < len(questions):
        return True
    place, rows = (int(match[3]) - 1, questions[number]["labels"]) if match[3] else (number, questions)
    if what == "add-label":
        if len(questions[number]["labels"]) <= MANY_LABELS:
            questions[number]["labels"] = [*questions[number]["labels"], EMPTY_LABEL]
    elif what.startswith("remove"):
        if 0 <= place < len(rows) > 1:
            del rows[place]
    else:
        there = place + (1 if what == "down" else -1)
        if 0 <= place < len(rows) and 0 <= there < len(rows):
            rows[place], rows[there] = rows[there], rows[place]
    return True


PAGE_CHOICES = [(name, page.title) for name, page in PAGES.items()]
