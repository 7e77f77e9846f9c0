"""What the report on agreement holds."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from analysis.figures.results import Figure, NamedFigure, NamedLabel, Record, ReportedQuestion, Result
from analysis.figures.tables import Column

# Whose labels are looked at.
GROUPS = {
    "all": "Everybody",
    "members": "Members of the project",
    "imported": "Raters of imported files",
}
# Units by what their labels say about agreement: values of the column that is called by the question.
SIDES = {
    "agree": "people agree",
    "disagree": "people disagree",
    "single": "one label only",
    "unlabelled": "no label",
}
PAIRED = ("agree", "disagree")
# The column of judgements that sets them against a set of decisions, and its values.
COMPARED = "against"
SAME, OTHER = "same", "other"
# How far a coefficient may be from what a package computes without being mentioned.
TOLERANCE = 1e-9


class ClosedForm(Record):
    """The interval if units were independent."""

    low: float | None
    high: float | None
    method: str
    note: str


class WithClosedForm(Figure):
    analytic: ClosedForm | UnsetType = UNSET


class Coefficient(NamedFigure):
    analytic: ClosedForm | UnsetType = UNSET


class Difference(Figure):
    """Alpha of a minus alpha of b, at the level of the scale, over `n_shared` claims or units that both have."""

    of_a: float | None
    of_b: float | None
    n_shared: int


class GivenLabel(NamedLabel):
    n: int


class LabelAgreement(GivenLabel):
    """One label against all others together."""

    percent_agreement: Figure
    alpha: Figure
    fleiss_kappa: Figure | UnsetType = UNSET
    gwet_ac1: Figure | UnsetType = UNSET
    brennan_prediger: Figure | UnsetType = UNSET


class RaterPair(WithClosedForm):
    """Cohen's kappa of two people, who are called `a` and `b` and have the pseudonyms `a_id` and `b_id`. `counts` has a
    row for each label of a and a column for each of b."""

    a: str
    b: str
    a_id: str
    b_id: str
    n_agree: int
    n_differ: int
    percent_agreement: WithClosedForm
    counts: list[list[int]]
    scott_pi: WithClosedForm | UnsetType = UNSET
    linear: WithClosedForm | None | UnsetType = UNSET
    quadratic: WithClosedForm | None


class AgreementOfPart(Record):
    """Figures of some of the labels."""

    n_units: int
    percent_agreement: Figure
    alpha_nominal: Figure
    alpha_of_level: Figure | None


class OfSource(AgreementOfPart):
    source: str
    against_the_rest: Difference


class OfArm(AgreementOfPart):
    arm: str
    title: str
    n_labels: int


class OfVersion(AgreementOfPart):
    version: int
    n_labels: int


class BetweenArms(Difference):
    a: str
    b: str


class BetweenVersions(Difference):
    version: int
    before: int


class Members(Difference):
    """Alpha of members minus alpha of raters of imported files."""

    n_paired_members: int
    n_paired_imported: int


class WithUnasked(Record):
    """The same coefficients with 'not asked' as one more label."""

    label: str
    n_labels: int
    n_paired: int
    figures: list[Coefficient]


class Chance(Record):
    """Alpha against permutations of the labels."""

    level: Annotated[str, Column("Level")]
    statistic: Annotated[
        float | None,
        Column("Alpha", lambda one: f"undefined: {one.undefined}" if one.statistic is None else one.statistic),
    ]
    chance_mean: Annotated[float | None, Column("Mean under chance")]
    chance_high: Annotated[float | None, Column("95 % quantile under chance")]
    p_value: Annotated[float | None, Column("p")]
    n_movable: Annotated[int, Column("Permutable labels")]
    n_labels: Annotated[int, Column("Labels")]
    n_permutations: Annotated[int, Column("Permutations")]
    null: Annotated[str, Column("Null")]
    undefined: str


class SelectedRow(Record):
    name: str
    title: str
    percent_agreement: Figure
    alpha: Figure
    effective_n: float | UnsetType = UNSET


class Selected(Record):
    """Agreement where some items were chosen for more judgements."""

    level: str
    rows: list[SelectedRow]
    n_drawn: int
    n_chosen: int
    n_chosen_and_drawn: int


class LabelsAgainst(Record):
    """Labels of one person, or of everybody, of units that something was decided about."""

    id: str
    name: str
    n: int
    n_same: int
    figures: list[NamedFigure]


class AgainstDecisions(Record):
    """Labels against what was decided of their unit."""

    n_units: int
    everybody: LabelsAgainst
    people: list[LabelsAgainst]
    n_people_not_listed: int


class Recomputed(Record):
    """`n` coefficients, called `title` together, that a package computed too, and the largest difference."""

    package: str
    version: str
    title: str
    n: int
    difference: float


class QuestionAgreement(ReportedQuestion):
    """`takes_number`: it is answered by a number, and has no labels. `takes_several`: labels are sets, and each label
    that they are made of is a question of its own, derived from this one."""

    level: str
    takes_several: bool
    takes_number: bool
    labels: list[GivenLabel]
    n_labels: int
    n_paired: int
    n_disagree: int  # of the units with a pair
    figures: list[Coefficient]
    chance: Chance
    per_label: list[LabelAgreement] = []
    pairs: list[RaterPair] = []
    n_pairs_not_listed: int = 0
    by_source: list[OfSource] = []
    n_sources_not_listed: int = 0
    by_arm: list[OfArm] = []
    arm_differences: list[BetweenArms] = []
    by_version: list[OfVersion] = []
    version_differences: list[BetweenVersions] = []
    n_labels_without_version: int = 0
    members_against_imported: Members | None = None
    with_unasked: WithUnasked | None = None
    selected: Selected | None = None
    against: AgainstDecisions | None = None
    recomputed: list[Recomputed] = []


class Agreement(Result):
    """`all`: with more statistics; what is UNSET, or an empty list, is one of these."""

    all: bool = False
    raters: str
    groups: list[str]
    n_items: int
    n_items_without_units: int
    n_units: int
    n_raters: int
    exchangeable: bool
    unanswered: list[str]
    dimensions: list[QuestionAgreement]
    reference: str = ""  # the set of decisions that people are compared with
    further: bool = False  # whether answers that were asked for because answers differed count
    n_further: int = 0
    pooled: list[str] | UnsetType = UNSET  # groups of raters that a file named and that are taken together

    @property
    def labelled(self) -> list[QuestionAgreement]:
        return [question for question in self.dimensions if question.n_labels]

    @property
    def headline_questions(self) -> list[QuestionAgreement]:
        """Those that the answer speaks of: of several labels at once, not of each of them."""
        sets = {question.dimension for question in self.dimensions if question.takes_several}
        return [question for question in self.labelled if question.derived_from not in sets]
