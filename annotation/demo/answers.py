"""What the demo's two annotators lean on. These labels stay out of the database until an annotator gives them.

`fixtures/demo/labels/` has a file per project with an answer for each of its units, by the unit's key: labels by
dimension, quotes by text where the answer can be marked, and, for units about which careful people differ, a `doubt`:
the other answer. The claims' answers are made from the labels that DRUID's layout carries with the texts.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.conf import settings

FIXTURES = Path(settings.FIXTURES_DIR) / "demo"


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    labels: dict[str, str]  # by dimension
    quotes: dict[str, list[str]] = field(default_factory=dict)  # by the field of the text
    note: str = ""
    doubt: DemoAnswer | None = None


def answers_in(name: str, dimensions: tuple[str, ...] = ()) -> dict[str, DemoAnswer]:
    """The answers of `labels/<name>.json`, by unit; where `dimensions` are given, to these alone."""
    stored = json.loads((FIXTURES / "labels" / f"{name}.json").read_text(encoding="utf-8"))
    return {unit: _answer(described, dimensions) for unit, described in stored.items()}


def _answer(described: dict, dimensions: tuple[str, ...]) -> DemoAnswer:
    labels = {slug: label for slug, label in described["labels"].items() if slug in dimensions or not dimensions}
    doubt = _answer(described["doubt"], dimensions) if "doubt" in described else None
    return DemoAnswer(**{**described, "labels": labels, "doubt": doubt if doubt and doubt.labels != labels else None})


# The answer of an annotator who hesitates. Neutral evidence is taken for irrelevant, and the other way round.
STANCE_DOUBTS = {
    "refutes": "insufficient-refutes",
    "insufficient-refutes": "refutes",
    "insufficient-contradictory": "insufficient-neutral",
    "insufficient-neutral": None,
    None: "insufficient-neutral",
    "insufficient-supports": "supports",
    "supports": "insufficient-supports",
}
SIX_WAY = {stance: stance for stance in STANCE_DOUBTS if stance}
THREE_WAY = dict.fromkeys(SIX_WAY, "not_enough_info") | {"refutes": "refutes", "supports": "supports"}


def claim_answers(stances: Mapping[str, str]) -> dict[str, DemoAnswer]:
    """The answers in `claims.tsv`; `stances` says how the project's task type calls the file's."""
    answers = {}
    for row in _claims():
        stance = row["evidence_stance"] if row["relevant"] == "True" else None
        first_clause = row["evidence"].split(". ")[0].split(", ")[0]
        answer = _stance_answer(stance, stances, first_clause)
        doubt = _stance_answer(STANCE_DOUBTS[stance], stances, first_clause)
        answers[row["id"]] = replace(answer, doubt=doubt) if doubt.labels != answer.labels else answer
    return answers


def _claims() -> list[dict[str, str]]:
    with (FIXTURES / "claims.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def verdict_answers(conflict: str) -> dict[str, DemoAnswer]:
    """Verdicts on the claims of `claims.tsv`, by the label that decides them there; `conflict` is the label where the
    evidence does so both ways. Who hesitates lets weak evidence of the other side count."""
    stances: dict[str, set[str]] = {}
    for row in _claims():
        stances.setdefault(row["claim_id"], set()).add(row["evidence_stance"])
    answers = {}
    for claim, found in stances.items():
        certain, doubted = (_verdict(found & counted, conflict) for counted in (SETTLING, SETTLING | WEAK))
        doubt = DemoAnswer({"verdict": doubted}) if doubted != certain else None
        answers[claim] = DemoAnswer({"verdict": certain}, doubt=doubt)
    return answers


SETTLING = {"supports", "refutes"}
WEAK = {"insufficient-supports", "insufficient-refutes"}


def _verdict(stances: set[str], conflict: str) -> str:
    sides = {stance.removeprefix("insufficient-") for stance in stances}
    if sides == SETTLING:
        return conflict
    return {"supports": "supported", "refutes": "refuted"}[sides.pop()] if sides else "not_enough_evidence"


def _stance_answer(stance: str | None, stances: Mapping[str, str], quote: str) -> DemoAnswer:
    if stance is None:
        return DemoAnswer({"relevance": "not_relevant"})
    return DemoAnswer({"relevance": "relevant", "stance": stances[stance]}, {"evidence": [quote]})
