"""The section on known answers: how often each person gave them."""

from __future__ import annotations

from analysis.figures.items import DIMENSION, RATER, Filter
from analysis.figures.page import Counts, Part
from analysis.figures.tables import Column, Table
from analysis.reports.common import REFERENCES
from analysis.reports.labels.raters import rater_cell
from analysis.reports.people.annotators.result import Attention, RatedQuestion, RaterAttention

METHODS = ("imported", "adjudicated")
# Of a label whose unit has a known answer: values of the column `<method>.known` of judgements.
RIGHT, FAILED = "right", "failed"
KNOWN = "known"  # the part of the judgements that counts everybody's last labels


def parts(question: RatedQuestion) -> list[Part]:
    return [part for group in question.attention for part in _parts(question, group)]


def _parts(question: RatedQuestion, group: Attention) -> list[Part]:
    method, slug = group.method, question.dimension
    with_known = {f"{slug}.known.{method}": "yes"}

    def answers(*which: str):
        def wanted(row: RaterAttention) -> Filter:
            return Filter(with_known, ({RATER: row.id, DIMENSION: slug, f"{method}.{KNOWN}": which},))

        return wanted

    note = (
        f"All units with a known answer: {REFERENCES[method].lower()}. Attention checks have one; every other item "
        "that has one is counted as well. Wilson's 95 % intervals."
    )
    if method == "adjudicated":
        note += " Adjudicators saw these answers and decided where they differ, so neither is independent."
    return [
        Counts([(f"units with a known answer, {REFERENCES[method].lower()}", group.n_units, Filter(with_known))]),
        Table(
            f"{question.title}: known answers, {REFERENCES[method].lower()}",
            [
                Column("Annotator", rater_cell),
                Column("Answers", "n", items=answers(RIGHT, FAILED)),
                Column("Correct", "n_right", items=answers(RIGHT)),
                Column("Failed", "n_failed", items=answers(FAILED)),
                Column("Share correct", "share", interval=True),
            ],
            group.people,
            note,
        ),
    ]


def methods(questions: list[RatedQuestion]) -> str:
    """What was done with known answers, for a paper; empty where there are none."""
    kinds = {group.method for question in questions for group in question.attention}
    if not kinds:
        return ""
    named = " and ".join(REFERENCES[method].lower() for method in METHODS if method in kinds)
    return f"Answers known by {named} were compared with people's, with Wilson's score intervals (1927)."
