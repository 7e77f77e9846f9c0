"""Questions behind the figures of the report on sufficient context: which lists a key stands for, and words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.reports.behind_sets import OR, either, joined
from analysis.reports.opened import Behind
from analysis.reports.sufficiency_grades import GROUPS, OUTCOMES

if TYPE_CHECKING:
    from annotation.task_types import TaskType

QUESTIONS = {"sufficient": 1, "insufficient": 0, "undecided": -1}
EVERY, DECIDED = either(*QUESTIONS), either(*GROUPS)
GRADED = either(*OUTCOMES)
BELOW = "below"  # every threshold
RATED = {"hits": "Both sufficient", "false": "Autorater only", "missed": "People only", "rest": "Neither"}
# The cells that a figure of an autorater is computed from.
RATED_BY = {
    "f1": tuple(RATED),
    "accuracy": tuple(RATED),
    "precision": ("hits", "false"),
    "recall": ("hits", "missed"),
}
CELLS = {"both": "contains and judged correct", "contains": "contains only", "judge": "judged correct only"}
CELLS |= {"neither": "neither"}


def opened(behind: Behind, figure: str) -> list[int] | None:
    return joined(behind, figure, 3)


def reaching(thresholds: Iterable[float], n: int) -> str:
    """What questions are called whose score reaches the first n thresholds and no more."""
    return f"{list(thresholds)[n - 1]:g}" if n else BELOW


IN_RATED = {
    "hits": "sufficient by people and the autorater",
    "false": "sufficient by the autorater only",
    "missed": "sufficient by people only",
    "rest": "insufficient by both",
    either("hits", "false"): "sufficient by the autorater, with a label by people",
    either("hits", "missed"): "sufficient by people, with a label by the autorater",
    either(*RATED): "questions with a label by people and by the autorater",
}
IN_CELLS = CELLS | {
    either(*CELLS): "to questions with ground truth, and graded",
    either("both", "contains"): "contains, and graded",
    either("both", "judge"): "judged correct, to questions with ground truth",
    "without": "to questions without ground truth",
}


def in_words(kind: TaskType, figure: str) -> str:
    place, _, rest = figure.partition("/")
    if place == "questions":
        return {"undecided": "undecided questions", EVERY: "all questions"}.get(
            rest, f"questions whose context is {_or(rest)}"
        )
    if place.startswith("autorater"):
        return IN_RATED.get(rest) or _scored(*rest.rsplit("/", 1))
    if place.startswith("curve"):
        return {
            "abstained": "questions to which an answer abstains",
            "given": "questions to which an answer with a score is given",
        }.get(rest, "questions to which an answer with a score is given, or abstains")
    group, _, last = rest.partition("/")
    if place.startswith("contains"):
        return f"answers: {IN_CELLS.get(last, last)}" + (f", {group} context" if group != "all" else "")
    context = "" if group == EVERY else f" with {_or(group)} context"
    answers = "graded" if last == GRADED else last
    return f"questions{context} whose answers are {answers}" + (", in either setting" if OR in place else "")


def _scored(score: str, thresholds: str) -> str:
    least = thresholds.partition(OR)[0]
    return f"questions with {score}" + ("" if least == BELOW else f" of at least {least}") + ", labelled by people"


def _or(names: str) -> str:
    return names.replace(OR, " or ")
