"""What the report on a trial of suggestions holds."""

from __future__ import annotations

from analysis.figures.results import AgainstReference, EffectFigure, Record, ReportedQuestion

STRATA = ("all", "right", "wrong")  # suggestions of any kind, right ones, wrong ones


class AgreementStratum(Record):
    """Labels with the suggestion in view (`seen`) and without, and the shares and the odds that equal it."""

    stratum: str
    n_seen: int
    n_seen_agree: int
    seen: EffectFigure
    n_unseen: int
    n_unseen_agree: int
    unseen: EffectFigure
    difference: EffectFigure
    within: EffectFigure
    odds_ratio: EffectFigure
    marginal: EffectFigure


class AlphaStratum(Record):
    """Alpha of labels on either side, over so many units with a pair of them."""

    stratum: str
    level: str
    seen: EffectFigure | None = None
    unseen: EffectFigure | None = None
    n_seen: int = 0
    n_unseen: int = 0
    difference: EffectFigure


class TimeStratum(Record):
    stratum: str
    seen: EffectFigure
    n_seen: int
    unseen: EffectFigure
    n_unseen: int
    ratio: EffectFigure
    within: EffectFigure


class AnswerTimes(Record):
    strata: list[TimeStratum]
    n_revised: int
    n_untimed: int


class RevisedLabels(Record):
    """Labels given before the suggestion was shown, and what became of them."""

    n: int
    n_changed: int
    n_to_suggestion: int
    strata: list[AgreementStratum]
    contrast: EffectFigure


class TrialQuestion(ReportedQuestion):
    """`contrast` is the effect on right suggestions minus that on wrong ones."""

    level: str
    n_without_suggestion: int
    n_without_reference: int
    strata: list[AgreementStratum]
    contrast: EffectFigure
    alpha: list[AlphaStratum]
    revised: RevisedLabels | None


class PrefillTrial(AgainstReference):
    run: str
    checker: str
    version: str
    n_units: int
    n_people: int
    n_labels_of_slots: int
    n_seen: int
    n_unseen: int
    n_unknown: int
    n_other_run: int
    time: AnswerTimes
    dimensions: list[TrialQuestion]
    notes: list[str]
