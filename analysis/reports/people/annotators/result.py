"""What the report on annotators holds."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.results import EffectFigure, Figure, NamedLabel, Record, ReportedQuestion, Result
from analysis.figures.tables import Column


class RunAsRater(Record):
    uuid: str
    checker: str
    version: str


class CompetenceModel(Record):
    """A model of who errs how; `prevalence` says how often each label is true."""

    name: str
    title: Annotated[str, Column("Model")]
    prevalence: list[Figure]
    log_likelihood: float | None
    n_iterations: Annotated[int, Column("Iterations")]
    converged: Annotated[bool, Column("Converged", lambda row: "yes" if row.converged else "no")]
    n_resamples: Annotated[int, Column("Resamples")]
    n_clusters: int | None


class RaterCompetence(Record):
    """`confusion` are the chances by Dawid-Skene of each label (columns) where another is true (rows), with their ends;
    `counts` the labels given, by the most probable label of their unit."""

    id: str
    name: str
    kind: str
    n_labels: int
    n_shared: int
    n_against: int
    agreement: Figure
    dawid_skene: Figure
    mace: Figure
    confusion: list[list[float | None]]
    confusion_ends: list[list[list[float] | None]]
    counts: list[list[int]]


class UnitPosterior(Record):
    unit: str
    votes: list[int]
    dawid_skene: list[float]
    mace: list[float]
    label: str
    majority: str


class Posterior(Record):
    """What the models make of units: how many stay open, are outvoted, or get different labels by the models."""

    n_units: int
    n_uncertain: int
    n_outvoted: int
    n_models: int
    n_tied: int
    units: list[UnitPosterior]
    n_not_listed: int


class WithinFigure(Figure):
    title: str


class SpeedQuarter(Record):
    title: Annotated[str, Column("Quarter of each person's answers"), Column("Answers", "agreement.n_pairable")]
    median: Annotated[float | None, Column("Median seconds")]
    agreement: Annotated[Figure, Column("Agreement with others")]


class RaterSpeed(Record):
    id: str
    name: str
    n: int
    median: float | None
    agreement: Figure
    spearman: Figure


class Speed(Record):
    n: int = 0
    n_untimed: int = 0
    undefined: str
    quarters: list[SpeedQuarter] = []
    within: WithinFigure | None = None
    raters: list[RaterSpeed] = []


class RaterDrift(Record):
    id: str
    name: str
    n: int
    blocks: list[Figure]
    trend: EffectFigure


class Block(Record):
    title: str
    agreement: Figure


class VersionAgreement(Record):
    version: Annotated[int, Column("Version", lambda row: str(row.version))]
    n: Annotated[int, Column("Answers")]
    agreement: Annotated[Figure, Column("Agreement with others")]
    change: Annotated[
        EffectFigure | None,
        Column("Change from the previous version"),
        Column("p", lambda row: row.change.p_value if row.change else None),
    ]


class WorkDrift(Record):
    n: int = 0
    n_undated: int = 0
    min_answers: int
    people: list[RaterDrift] = []
    n_few: int = 0
    undefined: str
    blocks: list[Block] = []
    within: EffectFigure | None = None
    versions: list[VersionAgreement] = []


class RaterAttention(Record):
    id: str
    name: str
    n: int
    n_right: int
    n_failed: int
    share: Figure


class Attention(Record):
    method: str
    n_units: int
    people: list[RaterAttention]


class RatedQuestion(ReportedQuestion):
    level: str
    labels: list[NamedLabel]
    n_labels: int
    n_labels_of_slots: int
    n_raters: int
    n_units_labelled: int
    n_units_shared: int
    undefined: str
    models: list[CompetenceModel] = []
    raters: list[RaterCompetence] = []
    n_raters_not_listed: int = 0
    posterior: Posterior | None = None
    speed: Speed
    drift: WorkDrift
    attention: list[Attention]


class Annotators(Result):
    checkers: str
    runs: list[RunAsRater]
    units: str
    touched: bool
    min_shared: int
    certain: float
    n_units: int
    n_labels_touched: int
    dimensions: list[RatedQuestion]
