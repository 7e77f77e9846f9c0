"""What the report on leakage holds."""

from __future__ import annotations

from analysis.figures.results import AgainstReference, Figure, Record


class MatchedSide(Record):
    """Generations that are matched according to one side; `lowest` and `highest` are what the share of all of them may
    be, undecided ones included."""

    matched: int
    unmatched: int
    undecided: int
    share: Figure
    standard_error: float | None
    lowest: float
    highest: float


class Generator(Record):
    method: str
    model: str
    setting: str
    sides: dict[str, MatchedSide]
    n_documents: int
    n_claims: int
    n_repetitions: int

    @property
    def title(self) -> str:
        return "/".join(name or "-" for name in (self.method, self.model, self.setting))


class MatchCells(Record):
    both: int
    checker: int
    people: int
    neither: int


class SidesCompared(Record):
    """Two sides (`people` is the reference, `checker` what is compared with it), on units or documents."""

    level: str
    people: str
    checker: str
    f1: Figure
    precision: Figure
    recall: Figure
    accuracy: Figure
    kappa: Figure | None
    share_people: Figure
    share_checker: Figure
    n_people_only: int
    n_checker_only: int
    counts: MatchCells
    is_quick: bool


class RepeatedFigure(Figure):
    """A mean over repetitions."""

    standard_error: float | None
    n_repetitions: int
    n_claims: int


class GroupMeans(Record):
    all: RepeatedFigure
    matched: RepeatedFigure
    unmatched: RepeatedFigure


class GroupTest(Record):
    """Mann-Whitney's test of matched against unmatched claims."""

    u: float | None
    p_value: float | None
    p_holm: float | None
    method: str
    effect: Figure
    rank_biserial: float | None
    n_matched: int
    n_unmatched: int
    n_in_both: int
    undefined: str


class MeasuredGroups(Record):
    groups: GroupMeans
    difference: Figure
    test: GroupTest


class RowsByGroup(Record):
    all: int
    matched: int
    unmatched: int


class RetrievalFamily(Record):
    """Retrievals that repeat each other; `generator` is whose documents they searched with, if anybody's."""

    title: str
    generator: dict[str, str]
    runs: list[str]
    n_claims: int
    n_rows: RowsByGroup
    n_undecided: int
    measures: dict[str, MeasuredGroups]
    notes: list[str]


class Leakage(AgainstReference):
    run: str
    checker: str
    touched: bool
    by: str
    by_title: str
    documents: str
    verdicts: str
    verdict_run: str
    verdict_labels: list[str]
    verdict_by: str
    similarity: str
    similarity_title: str
    sides: list[str]
    n_units: int
    n_others: int
    unit: str
    generators: list[Generator]
    comparisons: list[SidesCompared]
    measures: dict[str, str]
    families: list[RetrievalFamily]
    notes: list[str]
