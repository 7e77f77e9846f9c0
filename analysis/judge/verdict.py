"""Whether a judge may stand in for people, label by label, and what says so.

The rule with one person: a judge is usable for a label where the intervals of its sensitivity and of its specificity
both lie above a floor, and not usable where one of them lies below. The intervals hold 95 % for all labels together,
since one sentence names those for which the judge is usable. With several people nobody's labels are the truth, and
both are compared with what the other people reach against the same persons (`peers`): the intervals of the differences
must lie above minus a margin. In between the rows do not decide, and the number of rows that would is estimated. A
judge that agrees with people no better than chance is usable for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np

from analysis.judge.peers import MARGIN, Gap, gap_of
from analysis.judge.table import Columns
from analysis.stats.accuracy.confusion import Classification, classification
from analysis.stats.agreement.cohen import CohenKappa, cohen_kappa
from analysis.stats.annotators.majority_vote import majority
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import Interval
from analysis.stats.shares import wilson_ends

FEW_CLUSTERS = 30  # as for other intervals
USABLE, NOT_USABLE, UNDECIDED, UNKNOWN = "usable", "not usable", "undecided", "unknown"
FLOOR = 0.8
RESAMPLES = 1000
ALTERNATIVE_UNITS = 30


@dataclass(frozen=True)
class Rate:
    """Cases among n rows, with the interval of the share at this `level`; `reason` says why there is none."""

    n_cases: int
    n: int
    low: float
    high: float
    reason: str = ""
    level: float = 0.95

    @property
    def value(self) -> float:
        return self.n_cases / self.n if self.n else math.nan

    def rows_needed(self, bound: float) -> int | None:
        """Further rows after which Wilson's interval leaves the bound out, the share being what it is. It does as soon
        as ``n (p - bound)^2 > z^2 bound (1 - bound)``."""
        gap = self.value - bound
        if abs(gap) < 0.005:
            return None  # so near that no number of rows is worth naming
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        return max(1, math.floor(z * z * bound * (1 - bound) / gap**2) + 1 - self.n)


@dataclass(frozen=True)
class LabelVerdict:
    """One label against the rest.

    Sensitivity: the share of rows with the label, by people, to which the judge gave it. Specificity: the share of
    other rows to which it did not. With several people both are gaps (`peers.Gap`). Where the rows do not decide,
    `open` names which of the two keeps it open, and `n_more` how many further rows of its kind would decide if the
    shares stayed as they are; None where they are too near the bound to say.
    """

    label: str
    sensitivity: Rate | Gap
    specificity: Rate | Gap
    verdict: str
    open: str = ""
    n_more: int | None = None


@dataclass(frozen=True)
class CorrectedPrevalence:
    """How common a label is: among the judge's labels of all rows, and corrected by people's (prediction-powered)."""

    label: str
    raw: float
    corrected: float
    low: float
    high: float
    undefined: str


def rate_of(hits: np.ndarray, cluster: np.ndarray | None, rows: np.ndarray, level: float = 0.95) -> Rate:
    """A share of the rows chosen by `rows`: Wilson's interval, or with clusters one with the robust standard error of
    their sums, `p -+ t se`, cut to 0..1. Where clusters do not differ there is no such error, and rows of one cluster
    may all say the same: Wilson's interval of as many rows as there are clusters."""
    n, n_cases = int(rows.sum()), int(hits[rows].sum())
    if not n:
        return Rate(0, 0, math.nan, math.nan, "no row counts", level)
    if cluster is None:
        return Rate(n_cases, n, *wilson_ends(n_cases, n, level), level=level)
    from analysis.stats.resampling.cluster_robust import clustered_mean

    effect = clustered_mean(hits[rows].astype(float), [cluster[rows]], level)
    if math.isnan(effect.low):
        n_clusters = len(np.unique(cluster[rows]))
        return Rate(n_cases, n, *wilson_ends(n_clusters * n_cases / n, n_clusters, level), level=level)
    return Rate(n_cases, n, max(0.0, effect.low), min(1.0, effect.high), level=level)


def decide(label: str, sensitivity: Rate | Gap, specificity: Rate | Gap, floor: float) -> LabelVerdict:
    """The rule applied to one label; `floor` is minus the margin for gaps."""
    rates = {"sensitivity": sensitivity, "specificity": specificity}
    if not all(rate.n for rate in rates.values()):
        return LabelVerdict(label, sensitivity, specificity, UNKNOWN)
    if all(rate.low > floor for rate in rates.values()):
        return LabelVerdict(label, sensitivity, specificity, USABLE)
    if any(rate.high < floor for rate in rates.values()):
        return LabelVerdict(label, sensitivity, specificity, NOT_USABLE)
    needed = {name: rate.rows_needed(floor) for name, rate in rates.items() if not rate.low > floor}
    nearest = max(needed, key=lambda name: math.inf if needed[name] is None else needed[name])
    return LabelVerdict(label, sensitivity, specificity, UNDECIDED, nearest, needed[nearest])


class JudgedColumn:
    """One judge against the people of the columns `humans`. `reference` is people's label per row, by plurality where
    there are several, -1 for none or a tie. `bound` is the floor of the rule, with several people its margin."""

    is_scale = False
    scale_values: np.ndarray | None = None  # of the labels, on a scale

    def __init__(
        self,
        columns: Columns,
        judge: str,
        reference: np.ndarray,
        bound: float | None = None,
        level: str = "nominal",
        humans: Sequence[str] = (),
    ):
        self.columns, self.judge, self.reference, self.humans = columns, judge, reference, tuple(humans)
        self.has_peers = len(self.humans) > 1
        self.bound = bound if bound is not None else MARGIN if self.has_peers else FLOOR
        self.level = level
        self.predicted = columns.codes[judge]
        self.both = (reference >= 0) & (self.predicted >= 0)

    @property
    def n(self) -> int:
        """Rows with a label of both."""
        return int(self.both.sum())

    @cached_property
    def with_peers(self) -> np.ndarray:
        """Rows with a label of the judge and of two people or more."""
        n_labels = np.stack([self.columns.codes[human] >= 0 for human in self.humans]).sum(axis=0)
        return (n_labels > 1) & (self.predicted >= 0)

    @property
    def differing(self) -> list[int]:
        """Rows, from 0, with another label of the judge than people's."""
        return np.flatnonzero(self.both & (self.predicted != self.reference)).tolist()

    def both_labels(self, row: int) -> tuple[str, ...]:
        """The judge's and people's label of a row, for a table of rows that differ."""
        return self.columns.labels[self.predicted[row]], self.columns.labels[self.reference[row]]

    @property
    def n_ruled(self) -> int:
        """Rows by which the rule decides."""
        return int(self.with_peers.sum()) if self.has_peers else self.n

    @property
    def n_clusters(self) -> int | None:
        """Of the rows by which the rule decides; None without clusters."""
        if self.columns.cluster is None:
            return None
        return len(np.unique(self.columns.cluster[self.with_peers if self.has_peers else self.both]))

    @cached_property
    def figures(self) -> Classification:
        return classification(self.reference, self.predicted, self.columns.labels, self.columns.cluster)

    @cached_property
    def accuracy(self) -> Interval:
        return self.figures.accuracy.confidence_interval(RESAMPLES)

    @cached_property
    def majority_share(self) -> float:
        """The accuracy of always giving people's most frequent label."""
        return float(self.figures.confusion.sum(axis=1).max() / self.n) if self.n else math.nan

    @cached_property
    def kappa(self) -> CohenKappa:
        people, judge = (np.where(self.both, codes, -1) for codes in (self.reference, self.predicted))
        labels = Labels.of_two(people, judge, self.columns.labels, self.columns.cluster, ("people", self.judge))
        return cohen_kappa(labels, 0, 1)

    @cached_property
    def kappa_interval(self) -> Interval:
        return self.kappa.confidence_interval(RESAMPLES)

    @cached_property
    def is_above_chance(self) -> bool:
        """By the lower end of kappa's interval. Where every resample gives the same there is none: on rows that all
        agree, kappa itself says it, and the intervals of the labels say whether the rows are enough."""
        low = self.kappa_interval.low
        return bool(self.kappa.estimate > 0 if math.isnan(low) else low > 0)

    @cached_property
    def n_judged(self) -> int:
        """Labels that people gave: of those there are verdicts."""
        if not self.has_peers:
            return len(np.unique(self.reference[self.both]))
        codes = np.stack([self.columns.codes[human][self.with_peers] for human in self.humans])
        return len(np.unique(codes[codes >= 0]))

    @property
    def confidence(self) -> float:
        """Of the interval of each share, so that 95 % holds for all labels together (Bonferroni): one sentence says for
        which of them the judge is usable. The shares of two labels are the same ones turned around."""
        return 1 - 0.05 / self.n_judged if self.n_judged > 2 else 0.95

    @cached_property
    def labels(self) -> tuple[LabelVerdict, ...]:
        verdicts = []
        for code, label in enumerate(self.columns.labels):
            if self.has_peers:
                one = decide(label, *self._gaps(code), -self.bound)
            else:
                is_label, is_predicted = self.reference == code, self.predicted == code
                sensitivity = rate_of(is_predicted, self.columns.cluster, self.both & is_label, self.confidence)
                specificity = rate_of(~is_predicted, self.columns.cluster, self.both & ~is_label, self.confidence)
                one = decide(label, sensitivity, specificity, self.bound)
            chance = one.verdict == USABLE and not self.is_above_chance
            verdicts.append(replace(one, verdict=NOT_USABLE) if chance else one)
        return tuple(verdicts)

    def _gaps(self, code: int) -> tuple[Gap, Gap]:
        rows = self.with_peers
        people = np.stack([self.columns.codes[human][rows] for human in self.humans])
        judge, is_given = self.predicted[rows], people >= 0
        cluster = None if self.columns.cluster is None else self.columns.cluster[rows]
        sensitivity = gap_of(people == code, judge == code, is_given, cluster, self.confidence)
        return sensitivity, gap_of(people != code, judge != code, is_given, cluster, self.confidence)

    @cached_property
    def prevalences(self) -> tuple[CorrectedPrevalence, ...]:
        """Of all rows that the judge labelled; people's labels of some of them correct it."""
        from analysis.stats.accuracy.prediction_powered import prediction_powered_mean

        only = (self.reference < 0) & (self.predicted >= 0)
        cluster = self.columns.cluster
        corrected_prevalences = []
        for label, is_label, is_predicted in self.measures:
            mean = prediction_powered_mean(
                is_label[self.both],
                is_predicted[self.both],
                is_predicted[only],
                None if cluster is None else cluster[self.both],
                None if cluster is None else cluster[only],
            )
            raw = float(is_predicted[self.predicted >= 0].mean()) if (self.predicted >= 0).any() else math.nan
            corrected_prevalences.append(
                CorrectedPrevalence(label, raw, mean.estimate, mean.low, mean.high, mean.undefined)
            )
        return tuple(corrected_prevalences)

    @property
    def measures(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """What means are taken of: a name, people's value of each row, and the judge's. Here shares of labels."""
        return [
            (label, (self.reference == code).astype(float), (self.predicted == code).astype(float))
            for code, label in enumerate(self.columns.labels)
        ]

    def quality(self, of: np.ndarray) -> dict:
        """How good the judge is on these rows, as a field of a slice."""
        return {"accuracy": rate_of(self.predicted == self.reference, self.columns.cluster, self.both & of)}

    def further_columns(self) -> dict[str, list[str]]:
        """For the rows of the file: the verdict for the label that the judge gave, people's label, and whether these
        differ."""
        verdicts, names = [one.verdict for one in self.labels], self.columns.labels
        return {
            f"{self.judge}.verdict": ["" if code < 0 else verdicts[code] for code in self.predicted],
            f"{self.judge}.people": ["" if code < 0 else names[code] for code in self.reference],
            f"{self.judge}.differs": [
                "" if not both else "yes" if a != b else "no"
                for a, b, both in zip(self.predicted, self.reference, self.both, strict=True)
            ],
        }

    @property
    def has_rows_of_its_own(self) -> bool:
        return bool(((self.reference < 0) & (self.predicted >= 0)).any())

    def of_verdict(self, verdict: str) -> list[LabelVerdict]:
        return [one for one in self.labels if one.verdict == verdict]

    @property
    def passes(self) -> bool:
        """Whether it is usable for every label that people gave."""
        labelled = [one for one in self.labels if one.sensitivity.n]
        return bool(labelled) and all(one.verdict == USABLE for one in labelled)


def reference_of(columns: Columns, humans: Sequence[str]) -> tuple[np.ndarray, int]:
    """People's label per row, by relative majority where there are several columns, and the number of ties, which get
    none."""
    if len(humans) == 1:
        return columns.codes[humans[0]], 0
    vote = majority(labels_of_people(columns, humans))
    return vote.code, vote.n_tied


def labels_of_people(columns: Columns, humans: Sequence[str]) -> Labels:
    table = np.stack([columns.codes[human] for human in humans])
    rater, unit = np.nonzero(table >= 0)
    return Labels(
        unit=unit,
        rater=rater,
        value=table[rater, unit],
        n_units=columns.n_rows,
        categories=columns.labels,
        cluster=columns.cluster,
        rater_names=tuple(humans),
    )


def share_changed(columns: Columns, judge: str, other: str) -> Rate:
    """The share of rows to which a second column of the same judge gives another label: noise where it is a repeated
    run, position bias where the order was swapped."""
    a, b = columns.codes[judge], columns.codes[other]
    return rate_of(a != b, columns.cluster, (a >= 0) & (b >= 0))


@dataclass(frozen=True)
class Shift:
    """How often a label is given in either order of the answers, on rows with labels in both. Of noise alone a label
    would be lost about as often as gained: `p` is McNemar's, exact, rows being independent."""

    label: str
    share: float
    share_swapped: float
    n_lost: int
    n_gained: int
    p: float


def shifts(columns: Columns, judge: str, swapped: str) -> tuple[Shift, ...]:
    from analysis.stats.accuracy.mcnemar import mcnemar_test

    both = (columns.codes[judge] >= 0) & (columns.codes[swapped] >= 0)
    a, b = columns.codes[judge][both], columns.codes[swapped][both]
    found = []
    for code, label in enumerate(columns.labels) if len(a) else ():
        lost, gained = int(((a == code) & (b != code)).sum()), int(((a != code) & (b == code)).sum())
        p = mcnemar_test(lost, gained, len(a)).p_value
        found.append(Shift(label, float((a == code).mean()), float((b == code).mean()), lost, gained, p))
    return tuple(found)


def compared(judgements: Sequence[JudgedColumn]) -> list[tuple[JudgedColumn, JudgedColumn, object, float]]:
    """Each pair of judges on the rows that both labelled and people did: the difference, and McNemar's p adjusted by
    Holm."""
    from analysis.stats.accuracy.mcnemar import labeller_difference
    from analysis.stats.resampling.multiplicity import holm

    pairs = [
        (a, b, labeller_difference(a.reference, a.predicted, b.predicted, a.columns.labels, a.columns.cluster))
        for a, b in combinations(judgements, 2)
    ]
    p = np.array([comparison.mcnemar.p_value for _, _, comparison in pairs])
    p[~np.isnan(p)] = holm(p[~np.isnan(p)])
    return [(a, b, comparison, float(one)) for (a, b, comparison), one in zip(pairs, p, strict=True)]


def stands_in(judgement: JudgedColumn, humans: Sequence[str]):
    """The alternative annotator test of the judge; None with fewer than two people."""
    if len(humans) < 2:
        return None
    from analysis.stats.accuracy.alternative_annotator import alternative_annotator_test

    people = labels_of_people(judgement.columns, humans)
    return alternative_annotator_test(people, judgement.predicted, min_units=ALTERNATIVE_UNITS)
