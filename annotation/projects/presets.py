"""Questions to begin a label set with, as descriptions have them (`annotation.task_types.label_sets`)."""

from __future__ import annotations

from annotation.formats.studies.wmt_esa import ESA


def _scale(*hints: str) -> list[dict]:
    """Labels 1 to 5; the first, the third and the last say what they mean."""
    words = dict(zip("135", hints, strict=True))
    return [{"value": value, "title": value} | ({"hint": words[value]} if value in words else {}) for value in "12345"]


def _criterion(title: str, question: str, *hints: str) -> dict:
    about = {"slug": title.lower(), "title": title, "question": question, "level": "interval"}
    return about | {"labels": _scale(*hints), "cannot_judge": True}


CONFIDENCE = {
    "slug": "confidence",
    "title": "Confidence",
    "question": "How sure are you of your answer?",
    "level": "ordinal",
    "labels": [
        {"value": "guess", "title": "A guess"},
        {"value": "unsure", "title": "Unsure"},
        {"value": "fairly_sure", "title": "Fairly sure"},
        {"value": "certain", "title": "Certain"},
    ],
}
RUBRIC = [
    _criterion("Correctness", "Is what the answer says true?", "Mostly wrong", "Some errors", "No errors"),
    _criterion("Completeness", "Does it answer all of the question?", "Hardly any of it", "The main part", "All of it"),
    _criterion("Clarity", "Is it easy to follow?", "Confusing", "With some effort", "Effortless"),
    _criterion("Helpfulness", "Would it help who asked?", "Not at all", "Partly", "Fully"),
]


PRESETS = {
    "rubric": {
        "name": "Rubric for answers",
        "version": 1,
        "page": "response",
        "summary": "Judge an answer by several criteria, each from 1 to 5.",
        "questions": RUBRIC,
    },
    "esa": ESA,
}
