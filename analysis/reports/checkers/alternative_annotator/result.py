"""What the report on the alternative annotator test holds."""

from __future__ import annotations

from analysis.figures.results import Figure, Record, ReportedQuestion, Result


class AgainstPerson(Record):
    """One checker against one person. `n_needed` units would decide an open case, `n_more` beyond those there are."""

    id: str
    name: str
    n_units: int
    model_wins: Figure
    person_wins: Figure
    n_model_ahead: int
    n_person_ahead: int
    p_value: float | None
    rejected: bool
    n_needed: int | None
    n_more: int | None


class LeftOutPerson(Record):
    id: str
    name: str
    n_units: int


class ToPass(Record):
    """Against how many more people the checker must hold its own, and the units that each of the nearest must label."""

    people: int
    units: list[int]


class CheckerTest(Record):
    run: str
    checker: str
    version: str
    n_suggestions: int
    passes: bool | None
    to_pass: ToPass | None
    undefined: str
    winning_rate: Figure
    advantage: Figure
    people: list[AgainstPerson]
    left_out: list[LeftOutPerson]
    n_labels: int
    n_labels_touched: int
    n_strays: int


class StandInQuestion(ReportedQuestion):
    scored_by: str
    checkers: list[CheckerTest]


class AlternativeAnnotator(Result):
    epsilon: float
    q: float
    scoring: str
    min_units: int
    touched: bool
    n_units: int
    dimensions: list[StandInQuestion]
