"""What the ICAT report holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import AgainstReference, Figure, Record

CONVENTIONS = {
    "undefined": "left out of means",
    "zero": "0, as ICAT's public code has it",
}
ANNOTATORS = 3  # of each aspect in ICAT's study
MAX_POINTS = 2_000  # beyond so many answers the picture shows those that come first; figures are always over all


class LabelsPerAspect(Record):
    """How far the annotators agree, and how many aspects have three labels, as in ICAT's study, or fewer."""

    fleiss: Figure
    form: str
    n_labels: int
    n_three: int
    n_fewer: int


class ScoresOfModel(Record):
    """Means over a model's answers: people's coverage and, by the machine that is chosen, its three figures."""

    model: str
    n_responses: int
    people: Figure
    factuality: Figure | UnsetType = UNSET
    coverage: Figure | UnsetType = UNSET
    score: Figure | UnsetType = UNSET


class ScoreOverBeta(Record):
    """The mean score for each of the report's `betas`."""

    model: str
    n: int
    estimate: list[float | None]
    low: list[float | None] | None
    high: list[float | None] | None


class CoverageTest(Record):
    p_value: float | None
    n_permutations: int
    null: str
    undefined: str
    p_holm: float | None | UnsetType = UNSET


class CoverageCorrelation(Record):
    """Of a measure with people's coverage, over answers."""

    name: str
    title: str
    figure: Figure
    test: CoverageTest | None


class Measure(Record):
    key: str
    title: str
    correlations: list[CoverageCorrelation]


class BaselineMeasure(Measure):
    """`missing` says why no answer has a value; empty where some have."""

    missing: str


class AspectDetection(Record):
    """Precision, recall and F1 of aspects found covered, together and as means over answers; `counts` by who finds them
    covered: both, machine, people, neither."""

    pooled: dict[str, Figure]
    mean: dict[str, Figure]
    counts: dict[str, int]


class MachineCoverage(Measure):
    is_of_supported_claims: bool
    failures: dict[str, int]
    detection: AspectDetection | None
    n_labels_all: int
    n_labels_untouched: int


class PlottedAnswer(Record):
    response: str
    query: str
    model: str
    people: float
    automatic: float


class PlottedAnswers(Record):
    """The first answers with both coverages, of `n`."""

    key: str
    title: str
    n: int
    answers: list[PlottedAnswer]


class OtherCoverage(Record):
    """Coverage of the same answers by the aspects of this set, as people have it, and by those of another set, as
    people or a machine have it; over answers with both."""

    name: str
    title: str
    here: Figure
    there: Figure
    distance: Figure
    correlations: list[CoverageCorrelation]


class ScoresOfSet(Record):
    """Means over all answers of the three figures by a machine, with the aspects of one set."""

    title: str
    machine: str
    factuality: Figure
    coverage: Figure
    score: Figure


class OtherAspects(Record):
    """Another set, as a project judges it."""

    project: str
    units_title: str
    n_aspects: float | None  # of an answer, on average
    rows: list[OtherCoverage]


class AspectSets(Record):
    """This set of aspects and others: each by its own scores, and the others against this one."""

    n_aspects: float | None  # of this set
    scores: list[ScoresOfSet]
    others: list[OtherAspects]


class Icat(AgainstReference):
    k: int
    ties: str
    ties_title: str
    touched: bool
    automatic: str
    automatic_title: str
    baselines: str
    baselines_title: str
    beta: float
    convention: str
    convention_title: str
    n_responses: int
    n_queries: int
    n_units: int
    agreement: LabelsPerAspect
    all: ScoresOfModel
    models: list[ScoresOfModel]
    betas: list[float]
    curve: list[ScoreOverBeta] | None
    compared: list[MachineCoverage]
    baseline_rows: list[BaselineMeasure]
    points: PlottedAnswers | None
    notes: list[str]
    sets: AspectSets | UnsetType = UNSET

    @property
    def measures(self) -> list[Measure]:
        return [*self.compared, *self.baseline_rows]
