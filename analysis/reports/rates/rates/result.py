"""What the report on rates of models holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import AgainstReference, Figure, NamedLabel, Record, ReferenceCounts


class Rates(Record):
    """Mean shares of labels in answers, and the share of answers in which there is nothing to judge (None: not asked).

    `n_units` are the units of all answers, `n_of` those with each decided label, `n_without` answers without any.
    """

    shares: dict[str, Figure]
    abstained: Figure | None
    n_units: int
    n_without: int
    n_of: dict[str, int]


class Model(Rates):
    """A model's rates; `name` is the model with its method, where answers name one."""

    model: str
    method: str
    name: str
    n_responses: int
    n_answered: int
    n_abstained: int | None
    n_pending: int
    n_labels: int
    n_excluded: int


class RatesInSetting(Record):
    """Rates of one dimension's labels in one setting: of each model, and their unweighted mean."""

    n_responses: int
    n_pending: int
    n_without_units: int | None
    labels: list[NamedLabel]
    excluded: list[str]
    mean: Rates
    models: list[Model]


class DerivedPart(RatesInSetting):
    dimension: str
    title: str


class Setting(RatesInSetting):
    setting: str
    derived: list[DerivedPart]


class RatesOfModels(AgainstReference):
    response_words: str
    unit_words: str
    has_abstained: bool
    abstained_unknown: str
    dimension: str
    title: str
    votes: ReferenceCounts
    settings: list[Setting]
    notes: list[str] | UnsetType = UNSET
