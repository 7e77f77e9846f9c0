"""What the report on hallucinations holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import AgainstReference, DecisionsLeftOut, Figure, NamedLabel, Record

RULES = {
    "soft": "soft: the label's share of each answer's pieces",
    "strict": "strict: answers by the worst label among their pieces",
    "major": "major: answers by the most frequent label among their pieces",
}
TIES = {"worst": "The worst of the tied labels", "undecided": "No label"}
KNOWLEDGE = {1.0: "yes", -1.0: "no", 0.0: "unsure"}  # scores of a run that asks what a model knows


# ---- label rates of models ----


class Abstained(Record):
    """The share of answers without pieces: of each model, in their order, and the mean of models."""

    models: list[Figure]
    mean: Figure


class Shares(Record):
    model: str
    shares: dict[str, Figure]  # by label


class RatesByRule(Record):
    rule: str
    n_counted: int
    n_not_counted: int
    models: list[Shares]
    mean: dict[str, Figure]


class RatesOfSetting(Record):
    setting: str
    n_responses: int
    n_abstained: int | None
    models: list[str]
    abstained: Abstained
    rules: list[RatesByRule]


# ---- checkers against people ----


class Accuracy(Record):
    accuracy: Figure
    macro_f1: Figure


class PiecesOfSetting(Accuracy):
    """`confusion` counts pieces by people's label (rows) and the checker's, both from best to worst."""

    setting: str
    n_people: int
    n_differ: int
    confusion: list[list[int]]


class Pieces(Record):
    settings: list[PiecesOfSetting]
    mean: Accuracy | None


class AnswersOfSetting(Record):
    """Answers of the models that are not left out; `n` are those that both sides label in full."""

    setting: str
    n_responses: int
    n_abstained: int | None
    n: int
    n_factual: int
    n_predicted_factual: int
    accuracy: Figure
    factual_f1: Figure
    non_factual_f1: Figure
    pearson: Figure
    spearman: Figure
    strict_accuracy: Figure
    strict_macro_f1: Figure
    n_differ: int
    n_strict_differ: int


class RankCorrelation(Record):
    """Spearman's correlation of the models' rates of a label; `by_both` draws models too."""

    label: str
    title: str
    n_models: int
    by_item: Figure
    by_both: Figure
    p_value: float | None
    n_permutations: int | None
    p_holm: float | None = None


class RankedRate(Record):
    people: Figure
    people_rank: int | float
    checker: Figure
    checker_rank: int | float


class RankingsOfSetting(Record):
    """`models` have `model`, `n` and, by the label's name, a `RankedRate`."""

    setting: str
    n_responses: int
    labels: list[RankCorrelation]
    models: list[dict[str, RankedRate | str | int]]


class Rankings(Record):
    settings: list[RankingsOfSetting]
    mean: dict[str, Figure] | None


class MeasuredChecker(Record):
    run: str
    title: str
    n_labels_all: int
    n_labels_untouched: int
    decisions_left_out: DecisionsLeftOut | None
    pieces: Pieces
    answers: list[AnswersOfSetting]
    rankings: Rankings


class GranularityOfSetting(Accuracy):
    setting: str
    n_differ: int


class Granularity(Record):
    """Strict labels of answers, by a run on this project's pieces or on another's."""

    pieces: str
    checker: str
    settings: list[GranularityOfSetting]
    mean: Accuracy | None


# ---- texts, and what models know ----


class ScoredSetting(Record):
    """Of a score with the rate of pieces that people do not call entailed, over answers."""

    setting: str
    pearson: Figure
    spearman: Figure


class ScoredAnswers(Record):
    """A score of whole answers, by a method elsewhere."""

    run: str
    title: str
    settings: list[ScoredSetting]


class Test(Record):
    p_value: float | None
    n_permutations: int
    undefined: str
    p_holm: float | None | UnsetType = UNSET


class CopyRate(Record):
    model: str
    rate: Figure


class CopiedLabel(Record):
    label: str
    title: str
    all: Figure
    models: list[CopyRate]


class CopyingOfSetting(Record):
    setting: str
    spearman: Figure
    test: Test | None
    labels: list[CopiedLabel]


class Copying(Record):
    settings: list[CopyingOfSetting]
    n_without: int


class Known(Record):
    """`counts` are pieces by what the model knows, with people's labels from worst to best."""

    setting: str
    model: str
    n: int
    counts: dict[str, list[int]]
    memory: Figure
    context: Figure
    neither: Figure


class Knowledge(Record):
    run: str
    asked: str
    by_question: bool  # made of the piece, instead of the piece itself
    rows: list[Known]

    @property
    def title(self) -> str:
        return f"{self.asked}, asked questions," if self.by_question else self.asked


class MaskedRow(Record):
    setting: str
    model: str
    n: int
    n_without: int
    shares: list[Figure]


class Masked(Record):
    run: str
    title: str
    rows: list[MaskedRow]


class RefChecker(AgainstReference):
    touched: bool
    without: list[str]
    major_ties: str
    other_pieces: str
    unit_words: str
    labels: list[NamedLabel]  # on the scale, from best to worst
    rules: dict[str, str]
    n_responses: int
    n_units: int
    abstained_unknown: str
    n_decided: int
    n_bad: int
    rates: list[RatesOfSetting]
    checkers: list[MeasuredChecker]
    scored: list[ScoredAnswers]
    granularity: list[Granularity]
    copying: Copying | None
    knowledge: list[Knowledge]
    masked: list[Masked]
    notes: list[str]

    @property
    def best(self) -> NamedLabel:
        return self.labels[0]

    @property
    def worst(self) -> NamedLabel:
        return self.labels[-1]
