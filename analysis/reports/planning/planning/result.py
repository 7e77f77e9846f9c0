"""What the report on planning holds."""

from __future__ import annotations

from analysis.figures.results import Figure, Record, Result


class PlannedWidth(Record):
    """The expected half width of a 95 % interval with so many units, and so many judgements (`n_raters`) each."""

    n_units: int
    n_raters: int
    half_width: float | None
    estimate: float | None
    undefined: str


class Widths(Record):
    judgements: int
    plans: list[PlannedWidth]


class UnitsNeeded(Record):
    """What the target takes, and how many units more than there are; None with the reason where it cannot be said."""

    n_units: int | None
    more_units: int | None
    judgements: int | None
    half_width: float | None
    undefined: str


class NeededForAlpha(Record):
    """By more units, or by more judgements of the units that have as many already as planned."""

    now: PlannedWidth
    by_units: UnitsNeeded
    by_judgements: UnitsNeeded


class LabelPlan(Record):
    """What the interval of a label's share is about now, and how many units reach the target, by people alone with one
    and with several judgements each, and together with the checker."""

    label: str
    title: str
    now: PlannedWidth
    one: UnitsNeeded
    several: UnitsNeeded
    checker: UnitsNeeded | None
    widths: list[Widths]


class QuestionPlan(Record):
    dimension: str
    title: str
    level: str
    undefined: str
    n_labelled: int
    n_shared: int
    n_full: int
    n_labels: int
    cluster_size: int
    correlation: float | None
    alpha: Figure
    widths: list[Widths]
    needed: NeededForAlpha | None
    rates: list[LabelPlan]


class Planning(Result):
    target: float
    judgements: int
    run: str
    checker: str
    touched: bool
    n_units: int
    n_studies: int
    dimensions: list[QuestionPlan]
    notes: list[str]
