"""What the report on versions of a prompt holds."""

from __future__ import annotations

from analysis.figures.results import Figure, Record, ReportedQuestion, Result


class TriedVersion(Record):
    """One run of a version on one part: agreement with people, and the alternative annotator test."""

    run: str
    version: int
    part: str
    model: str
    reasoning: str
    n_suggestions: int
    n_failed: int
    n_touched: int
    agreement: Figure
    kappa: Figure
    passes: bool | None
    why_untested: str
    winning_rate: Figure
    advantage: Figure
    n_people: int


class CalibratedQuestion(ReportedQuestion):
    versions: list[TriedVersion]


class PromptCalibration(Result):
    epsilon: float
    min_units: int
    touched: bool
    n_units: int
    n_tested: int  # versions that were run on the held-out part
    dimensions: list[CalibratedQuestion]
