"""The section on known answers: how often each person gave them."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.items import DIMENSION, RATER, Filter
from analysis.figures.page import Counts, Part
from analysis.figures.results import Figure, Record, ReportedQuestion
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.common import REFERENCES
from analysis.reports.labels.raters import RaterRow

METHODS = ("imported", "adjudicated")
# Of a label whose unit has a known answer: values of the column `<method>.known` of judgements.
RIGHT, FAILED = "right", "failed"
KNOWN = "known"  # the part of the judgements that counts everybody's last labels


class RaterAttention(RaterRow):
    n: Annotated[int, Column("Answers")]
    n_right: Annotated[int, Column("Correct")]
    n_failed: Annotated[int, Column("Failed")]
    share: Annotated[Figure, Column("Share correct")]


class Attention(Record):
    method: str
    n_units: int
    people: list[RaterAttention]


def parts(question: ReportedQuestion, attention: list[Attention]) -> list[Part]:
    return [part for group in attention for part in _parts(question, group)]


def _parts(question: ReportedQuestion, group: Attention) -> list[Part]:
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
            columns_of(RaterAttention, n=answers(RIGHT, FAILED), n_right=answers(RIGHT), n_failed=answers(FAILED)),
            group.people,
            note,
        ),
    ]


def methods(attention: list[Attention]) -> str:
    """What was done with known answers, for a paper; empty where there are none."""
    kinds = {group.method for group in attention}
    if not kinds:
        return ""
    named = " and ".join(REFERENCES[method].lower() for method in METHODS if method in kinds)
    return f"Answers known by {named} were compared with people's, with Wilson's score intervals (1927)."
