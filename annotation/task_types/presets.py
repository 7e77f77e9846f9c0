"""Questions to begin a label set with, as descriptions have them (`label_sets`)."""

from __future__ import annotations


def _scale(*hints: str) -> list[dict]:
    """Labels 1 to 5, of which the first, the third and the last say what they mean."""
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
# Error span annotation (Kocmi et al. 2024, arXiv 2406.11580). What is missing is marked in the source.
ERRORS = {
    "slug": "errors",
    "title": "Errors",
    "question": "Mark each error in the translation, and in the source what is missing from it.",
    "level": "nominal",
    "labels": [{"value": "marked", "title": "Errors"}, {"value": "none", "title": "No error"}],
    "spans": {
        "title": "Errors",
        "fields": ["question", "response"],
        "labels": ["marked"],
        "severities": [
            {"value": "Minor", "title": "Minor", "weight": 1.0},
            {"value": "Major", "title": "Major", "weight": 5.0},
        ],
    },
}
SCORE = {
    "slug": "score",
    "title": "Score",
    "question": "How well does the translation preserve the meaning?",
    "answer": "number",
    "level": "interval",
    "number": {
        "min": 0.0,
        "max": 100.0,
        "step": 1.0,
        "anchors": [
            {"at": 0.0, "title": "No meaning preserved"},
            {"at": 33.0, "title": "Some meaning preserved"},
            {"at": 66.0, "title": "Most meaning preserved"},
            {"at": 100.0, "title": "Perfect meaning and grammar"},
        ],
    },
}
RUBRIC = [
    _criterion("Correctness", "Is what the answer says true?", "Mostly wrong", "Some errors", "No errors"),
    _criterion("Completeness", "Does it answer all of the question?", "Hardly any of it", "The main part", "All of it"),
    _criterion("Clarity", "Is it easy to follow?", "Confusing", "With some effort", "Effortless"),
    _criterion("Helpfulness", "Would it help who asked?", "Not at all", "Partly", "Fully"),
]


def _label_set(name: str, summary: str, questions: list[dict]) -> dict:
    return {"name": name, "version": 1, "page": "response", "summary": summary, "questions": questions}


PRESETS = {
    "rubric": _label_set("Rubric for answers", "Judge an answer by several criteria, each from 1 to 5.", RUBRIC),
    "esa": _label_set("Error spans and score", "Mark the errors of a translation, then score it.", [ERRORS, SCORE]),
}
