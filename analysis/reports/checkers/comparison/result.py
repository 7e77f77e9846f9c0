"""What the comparison of a checker with people holds."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from analysis.figures.results import (
    Figure,
    NamedFigure,
    NamedLabel,
    Record,
    ReferenceCounts,
    ReportedQuestion,
    RunAgainstReference,
)
from analysis.reports.common import FINAL, OF_PEOPLE

# Kinds of tests of correlations: p values are adjusted within each, since another null is another question.
PLAIN, WITHIN, OF_MODELS = "permutation", "permutation within strata", "permutation of models"
OF_ITEMS = "mean of claims or questions"
ALPHA = 0.05  # of every verdict
PARTIAL = " (partial)"  # ends the words of a level within strata


class LabelMeasures(NamedLabel):
    """`support` units have the label from people, `predicted` from the checker."""

    precision: Figure
    recall: Figure
    f1: Figure
    support: int
    predicted: int


class MeasuresWithUnasked(Record):
    """Measures with `label` (not asked) as one more label."""

    label: str
    figures: list[NamedFigure]


class Significance(Record, frozen=False):
    """A test. Its adjusted p values are set once all tests of its kind are there; of a first pass there are none."""

    name: str
    statistic: float | None
    p_value: float | None
    undefined: str
    n_permutations: int | None
    of: str | UnsetType = UNSET  # the coefficient whose difference is tested
    exact: bool | UnsetType = UNSET
    n_items: int | UnsetType = UNSET
    n_fixed: int | UnsetType = UNSET
    null: str | UnsetType = UNSET
    holm: float | None = None
    benjamini_hochberg: float | None = None

    @property
    def is_shown(self) -> bool:
        """The rule of every verdict that rests on a test: p, adjusted for all of its kind on the page, is at most
        ALPHA."""
        return self.holm is not None and self.holm <= ALPHA


class Equivalent(Record):
    """Two one-sided tests, with the interval that they rest on; `equivalent` is None where they are undefined."""

    margin: float
    alpha: float
    low: float | None
    high: float | None
    equivalent: bool | None
    undefined: str

    @property
    def verdict(self) -> str:
        if self.equivalent is None:
            return f"undefined: {self.undefined}"
        return "equivalent" if self.equivalent else "not shown"


class MeasureDifference(NamedFigure):
    """A measure of the run minus that of the other, and both."""

    run: float | None
    other: float | None
    equivalence: Equivalent


class Versus(Record):
    figures: list[MeasureDifference]
    n_only_run: int
    n_only_other: int
    tests: list[Significance]


class Rival(Versus):
    run: str
    name: str


class RightRun(Record):
    run: str
    name: str
    n_right: int


class Several(Record):
    n_pairable: int
    n_discordant: int
    runs: list[RightRun]
    tests: list[Significance]


class Labeller(Record):
    """A checker or a person; `id` is a run's UUID or a pseudonym."""

    kind: str
    id: str
    name: str
    accuracy: Figure
    macro_f1: Figure


class WithPerson(Record):
    """The checker and one person on the same units, against the same reference, which has no label of either where it
    is made of people's labels."""

    id: str
    name: str
    n_pairable: int
    checker: float | None
    person: float | None
    n_only_checker: int
    n_only_person: int
    test: Significance


class Baseline(Record):
    """The accuracy of always giving `title`, the reference's most frequent label, and the test of the checker's."""

    title: str
    share: float
    test: Significance


class PosteriorAccuracy(Record):
    """Of Dawid and Skene's model of the people; `expected_accuracy` by checker."""

    undefined: str
    n_iterations: int
    converged: bool
    n_raters: int
    expected_accuracy: list[Figure]


class Labellers(Record):
    """`against_people` has a row for each checker and a column for each of the `people`; `with_people` has a row for
    each person who can be held against the run that is compared."""

    labellers: list[Labeller]
    posterior: PosteriorAccuracy | UnsetType = UNSET
    people: list[str]
    against_people: list[list[Figure]] = []
    n_people_not_listed: int
    with_people: list[WithPerson]

    def of_kind(self, kind: str) -> list[Labeller]:
        return [one for one in self.labellers if one.kind == kind]


class ScoreDifference(NamedFigure):
    """A correlation of one score with people's labels minus that of another, and the two scores' with each other."""

    with_a: float | None
    with_b: float | None
    between: float | None
    tests: list[Significance]
    equivalence: Equivalent


class CoefficientTest(Significance, frozen=False):
    title: str


class CorrelationLevel(Figure):
    level: str
    over: str
    coefficient: str
    drawn: str
    test: Significance | None


class Associations(Record):
    """`n_scored` units have a label of people and the score."""

    tests: list[CoefficientTest]
    levels: list[CorrelationLevel]
    n_scored: int


class Bin(Record):
    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: Figure


class LabelThreshold(Record):
    threshold: float
    n_taken: int
    precision: float | None
    recall: float | None
    f1: float | None
    accuracy: float | None


class LabelCurve(Record):
    threshold: list[float]
    false_positive_rate: list[float]
    recall: list[float]
    precision: list[float]


class LabelProbabilities(NamedLabel):
    """How well the probabilities tell a label from the rest; F1 and accuracy are out of fold."""

    share: float | None
    roc_auc: Figure
    average_precision: Figure
    curve: LabelCurve
    f1: Figure
    accuracy: Figure
    chosen: list[float]
    thresholds: list[LabelThreshold]


class Probabilities(Record):
    ece: Figure
    brier: Figure
    bins: list[Bin]
    labels: list[LabelProbabilities]


class ErrorAt(NamedLabel):
    """Errors of the checker on units to which people give this label."""

    n: int
    error: Figure
    absolute: Figure


class OnScale(Record):
    """The checker's labels on a scale: the verdict in a sentence, the rule that gives it, figures, errors at each value
    of people with a `note` on them, and how many units are so many steps apart (`distances`)."""

    sentence: str
    rule: str
    note: str
    verdict: str
    closeness: str
    n: int
    figures: list[NamedFigure]
    along: list[ErrorAt]
    distances: list[int]


class SoftLabels(Record):
    """The checker against the shares of people who gave each label, with a `note` on what counts."""

    figures: list[NamedFigure]
    note: str


class ComparedDimension(ReportedQuestion):
    """What is None was not asked, cannot be had, is left out of a first pass, or is one of more statistics."""

    level: str
    n_labels_all: int
    n_labels_untouched: int
    votes: ReferenceCounts
    n_suggestions: int
    n_checker_not_asked: int
    labels: list[NamedLabel]
    accuracy: Figure
    macro_f1: Figure
    balanced_accuracy: Figure
    mcc: Figure
    per_label: list[LabelMeasures]
    confusion: list[list[int]]
    with_unasked: MeasuresWithUnasked | None
    rated_by: str  # label, mean or median: what of people's labels goes with the score
    correlations: list[NamedFigure]
    probabilities: Probabilities | None
    versus: Versus | None
    several: Several | None
    rivals: list[Rival] | None
    labellers: Labellers | None
    baseline: Baseline | None
    scores: list[ScoreDifference] | None
    associations: Associations | None
    on_scale: OnScale | None
    soft: SoftLabels | None = None


class ComparedRun(Record):
    run: str
    checker: str
    version: str


class Comparison(RunAgainstReference):
    """`all`: with more statistics."""

    all: bool = False
    margin: float
    gives: str
    score: str
    scores: list[str]
    other_score: str
    score_pair: list[list[str]] | None  # both scores, each with the run that it is of where these differ
    other: ComparedRun | None
    families: dict[str, int]
    n_units: int
    own_units: bool
    unanswered: list[str]
    dimensions: list[ComparedDimension]
    pooled: list[str] | UnsetType = UNSET  # groups of raters that a file named and that are taken together
    without_labels: list[str] | UnsetType = UNSET  # questions answered by numbers, which the reference has no label for

    @property
    def gives_labels(self) -> bool:
        return self.gives != "scores"


def is_of_people(result: Comparison) -> bool:
    """Whether the reference is made of people's labels, so that a person's own must be kept out of it."""
    return result.reference in OF_PEOPLE


def others_of(result: Comparison) -> str:
    """What the checker and a person are both held against, for a sentence."""
    if result.reference == "majority":
        return "the majority of the others"
    if result.reference == FINAL:
        return "the decision, else the majority of the others"
    return "the most probable label by the others" if is_of_people(result) else result.reference_title.lower()
