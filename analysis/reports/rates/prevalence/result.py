"""What the report on prevalence holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import Figure, Record, RunAgainstReference


class Mean(Figure):
    """A mean over `n` units that people judged, and `n_others` that the checker alone did."""

    n: int
    n_others: int
    n_clusters: int | None
    power: float | None | UnsetType = UNSET  # reliance on the checker, of both together


class Means(Record):
    """By people alone, by both together (prediction-powered), and by the checker alone, not corrected."""

    people: Mean
    powered: Mean
    checker: Mean


class LabelShare(Means):
    """The share of units with a label; `n_by_people` units have it from any rater."""

    label: str
    title: str
    n_by_people: int


class LabelInResponses(Record):
    """The mean share of a response's pieces with a label, and the share of responses with any such piece."""

    label: str
    title: str
    n_by_people: int
    share: Means
    any: Means


class JudgedCounts(Record):
    """How many were judged by both, by the checker alone (`n_others`), by people alone, and by neither."""

    n_both: int
    n_others: int
    n_people: int
    n_neither: int


class Responses(JudgedCounts):
    n: int
    n_pieces: int
    n_partly: int  # labelled by people in part
    labels: list[LabelInResponses]


class QuestionPrevalence(JudgedCounts):
    dimension: str
    title: str
    derived_from: str | None
    n_divided: int  # raters give more than one label
    n_tied: int  # of these, units without a majority
    n_undecided: int  # people labelled them, and no such decision is there
    labels: list[LabelShare]
    responses: Responses | None


class Prevalence(RunAgainstReference):
    n_units: int
    unit_words: str
    n_responses_without: int
    dimensions: list[QuestionPrevalence]
