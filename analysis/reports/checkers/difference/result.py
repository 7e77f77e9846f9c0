"""What the report on the difference of two runs holds. `other` is the first run, where the change starts from; `run`
the second."""

from __future__ import annotations

from analysis.figures.results import Figure, NamedFigure, NamedLabel, Record, ReportedQuestion, Result


class NamedRun(Record):
    uuid: str
    checker: str
    version: str
    created_at: str


class MadeBy(Record):
    """Something in which the two runs describe themselves differently; empty where one says nothing of it."""

    name: str
    other: str
    run: str


class MeanProbability(NamedLabel):
    other: Figure
    run: Figure


class ShiftBar(Record):
    """`n` units whose probabilities moved by `low` to `high`."""

    low: float
    high: float
    n: int


class ProbabilityShift(Record):
    """How far the probabilities of `n` units moved: per unit half the sum of absolute differences over the labels, from
    0 (the same) to 1 (total variation)."""

    n: int
    mean: Figure
    bars: list[ShiftBar]
    labels: list[MeanProbability]


class LabelChanges(ReportedQuestion):
    """`confusion` counts units with a label of both runs: rows are the labels of the first, columns of the second."""

    level: str
    labels: list[NamedLabel]
    n_run: int
    n_other: int
    n_both: int
    n_changed: int
    n_only_run: int
    n_only_other: int
    agreement: NamedFigure
    kappa: NamedFigure
    confusion: list[list[int]]
    shift: ProbabilityShift | None


class ScoreChange(Record):
    """A score over the `n` units for which both runs define it; `moved` is the mean absolute difference."""

    name: str
    n: int
    other: Figure
    run: Figure
    moved: Figure
    pearson: Figure


class RunDifference(Result):
    run: NamedRun
    other: NamedRun
    n_units: int
    n_failed: int
    n_failed_other: int
    n_failures_gained: int
    n_failures_lost: int
    n_failures_both: int
    made_by: list[MadeBy]
    dimensions: list[LabelChanges]
    scores: list[ScoreChange]
