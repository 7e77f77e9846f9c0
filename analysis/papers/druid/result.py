"""What the report on DRUID's analyses holds."""

from __future__ import annotations

from analysis.figures.results import PENDING, AgainstReference, Figure, Record

NOT_RELEVANT = "not_applicable"  # the stance of evidence that is not relevant, as DRUID's files write it
ANSWERS = ("false", "none", "true")  # in the order of analysis.stats.generation.usage
DECIDED = {"refutes": "true", "supports": "false"}  # stances, and the answer from memory that each opposes
SHOWN_SOURCES = 12  # columns that still fit side by side; every source has rows in other tables
ALL = ""  # the row of all sources, or of all relevant evidence; both have names otherwise
SHARE, BOUNDED = "share", "bounded"
CONVENTIONS = {"mean": "acu_mean, -1 to 1 (the paper's equation 2)", "sum": "acu_sum, -3 to 3 (the paper's tables)"}
ACU = {"mean": ("acu_mean", 1), "sum": ("acu_sum", 3)}  # the figure of each, and its bound
BARS = {"sd": "One standard deviation, as in the paper", "interval": "95 % interval of the mean"}
TESTS = {
    "clusters": "Over claims",
    "units": "Pairs treated as independent, as in the paper",
    "permutation": "By permutation of pairs",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
# Notes that say what is missing.
NOT_YET = "Characteristics and the use of context are still being computed."
NO_ANSWERS = (
    "No finished run gives the probabilities of True, False and None without and with the evidence, so its use is "
    "unknown: start the checker “Answer probabilities” (answer-probabilities, or answer-probabilities-server)."
)
NO_FEATURES = (
    "No finished run has measured characteristics of the evidence: start the checker “Context characteristics” "
    "(characteristics)."
)
NO_PERPLEXITY = (
    "Perplexity is not measured: start the checker “Perplexity of the evidence” (perplexity, or perplexity-server)."
)


class StanceTitle(Record):
    name: str
    title: str


class PairMean(Figure):
    """A mean over pairs, with its interval over claims, and over how many of them it is."""

    sd: float | None
    n: int
    n_clusters: int
    n_undefined: int
    no_interval: str
    note: str

    @property
    def why_no_interval(self) -> str:
        return "" if self.low is not None or self.no_interval == PENDING else self.no_interval


# ---- claims, evidence, labels ----


class MetricAlpha(Figure):
    name: str


class ConflictShare(Figure):
    """Of claims with a stance of at least two pieces of evidence, the share in conflict; `n` are in conflict."""

    n: int


class EvidenceOfSource(Record):
    source: str
    n_claims: int
    n_pairs: int
    n_gold: int | None
    alpha: list[MetricAlpha]
    n_claims_with_both: int
    conflicts: ConflictShare


class EvidenceLabel(Record):
    label: str
    title: str
    n: int
    share: Figure
    by_source: list[int]


class WithoutLabel(Record):
    reason: str
    title: str
    n: int


class EvidenceLabels(Record):
    dimension: str
    title: str
    labels: list[EvidenceLabel]
    without: list[WithoutLabel]


class ClaimVerdict(Record):
    verdict: str
    n_claims: int


class EvidenceContent(Record):
    """`dimensions` are relevance, where it is asked, and stance."""

    sources: list[EvidenceOfSource]
    n_sources_not_listed: int
    metrics: list[str]
    dimensions: list[EvidenceLabels]
    verdicts: list[ClaimVerdict]
    n_verdicts_not_listed: int


# ---- characteristics ----


class MeasuredCharacteristic(Record):
    key: str
    title: str
    scale: str
    run: str
    checker: str


class CharacteristicsOfGroup(Record):
    by: str
    group: str
    n: int
    cells: list[PairMean]


class EvidenceCharacteristics(Record):
    """`cells` of each group stand in the order of `columns`."""

    columns: list[MeasuredCharacteristic]
    groups: list[CharacteristicsOfGroup]

    def of(self, by: str) -> list[CharacteristicsOfGroup]:
        return [group for group in self.groups if group.by == by]

    def key_of(self, title: str) -> str:
        return next(one.key for one in self.columns if one.title == title)

    @property
    def everything(self) -> CharacteristicsOfGroup:
        return self.of("all")[0]


class NamedMean(PairMean):
    title: str
    scale: str
    checker: str


class ComparedData(Record):
    """The characteristics of another project's evidence, or of this one's."""

    project: str
    title: str
    n_pairs: int
    n_claims: int
    characteristics: list[NamedMean]


# ---- use of evidence ----


class MeanUsage(Record):
    stance: str
    acu_mean: PairMean
    acu_sum: PairMean


class UsageOfStance(MeanUsage):
    """`desired` are the signs of the desired changes, in the order of ANSWERS; None where stances are together."""

    desired: list[int] | None
    dp_false: PairMean
    dp_none: PairMean
    dp_true: PairMean
    memory_conflict: PairMean
    desired_move: PairMean


class AnswerCounts(Record):
    """Pairs with an answer without and with the evidence; `after` and `change` in the order of ANSWERS."""

    n: int
    after: list[int]
    change: list[int]
    desired_moves: int
    memory_conflicts: int


class ShiftsOfStance(AnswerCounts):
    stance: str
    desired: list[int]
    before: list[int]
    transitions: list[list[int]]


class ShiftsOfPaper(AnswerCounts):
    """A row of the paper's table 21, of one stance or several."""

    row: str
    stances: list[str]
    memory_conflict: Figure


class AnswerShifts(Record):
    rows: list[ShiftsOfStance]
    paper: list[ShiftsOfPaper]
    left_out: dict[str, int]


class UndefinedUsage(Record):
    reason: str
    n: int


class ModelUsage(Record):
    run: str
    model: str
    checker: str
    stances: list[UsageOfStance]
    shifts: AnswerShifts
    undefined: list[UndefinedUsage]

    @property
    def relevant(self) -> tuple[str, ...]:
        """The stances of relevant evidence: the first row."""
        return tuple(row.stance for row in self.stances if row.desired and row.stance != NOT_RELEVANT)

    def desired(self, stance: str) -> list[int]:
        return next(row.desired for row in self.shifts.rows if row.stance == stance)


class UsageDifference(Record):
    a: str
    b: str
    rows: list[MeanUsage]


class EvidenceUsage(Record):
    models: list[ModelUsage]
    differences: list[UsageDifference]


class TestedCorrelation(Figure):
    p_value: float | None
    p_holm: float | None
    p_bh: float | None
    p_units: float | None
    no_p_value: str

    def is_significant(self, correction: str, level: float) -> bool:
        """After the correction; "" for none."""
        p_value = getattr(self, f"p_{correction or 'value'}")
        return p_value is not None and p_value < level


class FeatureCorrelation(Record):
    stance: str
    feature: str
    n: int
    n_clusters: int
    spearman: TestedCorrelation
    pearson: TestedCorrelation


class ModelCorrelations(Record):
    run: str
    model: str
    n_tests: dict[str, int]
    rows: list[FeatureCorrelation]


class Druid(AgainstReference):
    project_title: str
    probabilities: str
    characteristics: str
    acu: str
    bars: str
    test: str
    correction: str
    alpha: float
    evidence_beside: str
    n_pairs: int
    n_claims: int
    n_stances: int
    stances: list[StanceTitle]
    content: EvidenceContent
    described: EvidenceCharacteristics | None = None
    beside: list[ComparedData] = []
    usage: EvidenceUsage | None = None
    correlations: list[ModelCorrelations] = []
    notes: list[str] = []

    @property
    def stance(self) -> str:
        """The question that stances answer."""
        return self.content.dimensions[-1].dimension

    @property
    def titles(self) -> dict[str, str]:
        """Stance -> title."""
        return {ALL: "all relevant"} | {one.name: one.title for one in self.stances}
