"""What the report on sufficient context holds."""

from __future__ import annotations

import msgspec

from analysis.figures.results import AgainstReference, DecisionsLeftOut, Figure, Record


class Rated(Record):
    """Questions that an autorater and people both label: sufficient by both (`hits`), by the autorater only (`false`),
    by people only (`missed`), by neither (`rest`)."""

    hits: int
    false: int
    missed: int
    rest: int


class AtThreshold(Record):
    """All questions whose score reaches a threshold taken as sufficient, in sample."""

    threshold: float
    n_taken: int
    precision: float | None
    recall: float | None
    f1: float | None
    accuracy: float | None


class Sweep(Record):
    """Thresholds on one score; `f1` and `accuracy` are out of fold, by the thresholds `chosen` there."""

    score: str
    roc_auc: Figure
    f1: Figure
    accuracy: Figure
    chosen: list[float]
    rows: list[AtThreshold]


class Autorater(Record):
    """A run against people."""

    run: str
    name: str
    decisions_left_out: DecisionsLeftOut | None
    f1: Figure
    precision: Figure
    recall: Figure
    accuracy: Figure
    counts: Rated
    thresholds: list[Sweep]


class System(Record):
    """A data set, model and context setting; all three are empty for all answers together."""

    dataset: str
    model: str
    setting: str
    title: str


class OutcomeShare(Figure):
    """The share of the `n` answers with an outcome."""

    n: int


class Outcomes(Record):
    correct: OutcomeShare
    abstain: OutcomeShare
    hallucinate: OutcomeShare


class Differences(Record):
    correct: Figure
    abstain: Figure
    hallucinate: Figure


class ByContext(Record):
    all: Outcomes
    sufficient: Outcomes
    insufficient: Outcomes


class Answers(System):
    """Outcomes of a system's answers, and the difference of sufficient and insufficient context."""

    n_questions: int
    n_ungraded: int
    n_without_sufficiency: int
    groups: ByContext
    difference: Differences


class SettingDifference(Record):
    """One context setting of a model minus another."""

    dataset: str
    model: str
    setting: str
    start: str = msgspec.field(name="from")
    difference: Differences


class Cells(Record):
    """Answers that contain a ground truth and are judged correct, only the one, only the other, neither."""

    both: int
    contains: int
    judge: int
    neither: int


class Contains(System):
    """Contains-answer against the judge, in answers to questions with one context (`group`)."""

    group: str
    n: int
    contains: Figure
    judged: Figure
    agreement: Figure
    kappa: Figure | None
    counts: Cells
    n_without_answers: int


class AtCoverage(Record):
    coverage: float
    accuracy: float | None
    low: float | None
    high: float | None


class AccuracyCurve(System):
    """Accuracy of a system's answers where those with low scores are withheld."""

    area: Figure
    overall: Figure
    gain: Figure
    best: float | None
    n_abstained: int
    most: float | None
    points: list[AtCoverage]
    line: list[tuple[float, float]]


class Sufficiency(AgainstReference):
    dimension: str
    run: str
    checker: str
    touched: bool
    by: str
    by_title: str
    grades: str
    judge: str
    n_questions: int
    n_sufficient: int
    n_insufficient: int
    n_undecided: int
    share_sufficient: Figure
    autoraters: list[Autorater]
    systems: list[Answers]
    settings: list[SettingDifference]
    contains: list[Contains]
    curves: list[AccuracyCurve]
    score_title: str
    notes: list[str]
