"""What the report on coverage of aspects holds."""

from __future__ import annotations

from analysis.figures.results import AgainstReference, Figure, Record


class Aspects(Record):
    """Aspects by verdict, and the labels (votes) that they have."""

    n_aspects: int
    n_votes: int
    covered: int
    not_covered: int
    tied: int
    undecided: int


class MeanCoverage(Aspects):
    """The mean over answers that have a coverage; `n_aspects_left` are the aspects of the others."""

    n_responses: int
    n_aspects_left: int
    coverage: Figure


class ModelCoverage(MeanCoverage):
    model: str


class AnswerCoverage(Aspects):
    response: str
    query: str
    text: str
    model: str
    setting: str
    coverage: float | None
    undefined: str


class Coverage(AgainstReference):
    dimension: str
    title: str
    covering: list[str]
    k: int
    ties: str
    ties_title: str
    most_labels: int
    n_queries: int
    all: MeanCoverage
    models: list[ModelCoverage]
    responses: list[AnswerCoverage]
    n_responses_not_listed: int
