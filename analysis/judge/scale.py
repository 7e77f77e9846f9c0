"""A judge on an ordered or numeric scale: how it stands to people, its errors along the scale, and their correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analysis.judge.table import Columns, TableProblem
from analysis.judge.verdict import JudgedColumn, labels_of_people
from analysis.stats.resampling.padded import padded_ratio
from analysis.stats.scale.distances import LEAST_ROWS
from analysis.stats.scale.errors import ErrorsAlong, errors_along
from analysis.stats.scale.standing import USABLE, ScaleStanding, scale_standing
from annotation.formats.cells import number_in

if TYPE_CHECKING:
    from analysis.stats.accuracy.prediction_powered import PoweredMean
    from analysis.stats.resampling.bootstrap import Estimate
    from analysis.stats.scale.calibration import ScaleCalibration

MOST_DIFFERING = 10


def refuse_without_order(path: Path, labels: Sequence[str], level: str, has_order: bool) -> None:
    """TableProblem where these labels cannot be on a scale of this level."""
    texts = [label for label in labels if number_in(label) is None]
    if level == "interval" and texts:
        raise TableProblem(
            f"{path}: holds the label {texts[0]!r}, which is no number, so the level cannot be interval; remove it, or "
            "choose --level ordinal with --labels, or --level nominal"
        )
    if level == "ordinal" and texts and not has_order:
        raise TableProblem(
            f"{path}: labels such as {texts[0]!r} have no order; list all of them with --labels, lowest first"
        )


class JudgedScale(JudgedColumn):
    """One judge against people on a scale. `values` are those of the labels: numbers at level interval, else places
    from 1. With several people the reference is their mean at level interval, else their median; `bound` is the margin
    in steps of the scale, with one person the floor of weighted kappa."""

    is_scale = True

    def __init__(
        self,
        columns: Columns,
        judge: str,
        bound: float | None = None,
        level: str = "interval",
        humans: Sequence[str] = (),
    ):
        self.values = (
            np.array([float(label) for label in columns.labels])
            if level == "interval"
            else np.arange(1.0, len(columns.labels) + 1)
        )
        self.scale_values = self.values
        self.people = np.stack([self._of(columns.codes[human]) for human in humans])
        self.labeller = self._of(columns.codes[judge])
        self.reference_values = _summary(self.people, np.nanmean if level == "interval" else np.nanmedian)
        used = np.unique(self.people[np.isfinite(self.people)])
        self.scale = used if len(used) else self.values
        nearest = np.abs(np.nan_to_num(self.reference_values)[:, None] - self.values[None, :]).argmin(axis=1)
        reference = np.where(np.isfinite(self.reference_values), nearest, -1)
        super().__init__(columns, judge, reference, bound, level, humans)
        self.standing: ScaleStanding = scale_standing(self.people, self.labeller, self.scale, columns.cluster, bound)
        self.bound = self.standing.bound

    def _of(self, codes: np.ndarray) -> np.ndarray:
        return np.where(codes >= 0, self.values[codes], np.nan)

    @property
    def title(self) -> str:
        """The scale, such as 1 to 5."""
        return f"{self.columns.labels[0]} to {self.columns.labels[-1]}"

    @cached_property
    def errors(self) -> ErrorsAlong:
        return errors_along(self.labeller, self.reference_values, self.scale, self.columns.cluster)

    @property
    def measures(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        return [("mean", self.reference_values, self.labeller)]

    def quality(self, of: np.ndarray) -> dict:
        labeller = np.where(of, self.labeller, np.nan)
        error = errors_along(labeller, self.reference_values, self.scale, self.columns.cluster).all
        return {"accuracy": None, "error": error, "mean": corrected_mean(self, of)}

    @property
    def passes(self) -> bool:
        return self.standing.verdict == USABLE

    @property
    def differing(self) -> list[int]:
        """Rows, from 0, on which the judge differs from people, those that differ most first."""
        distance = np.nan_to_num(np.abs(self.labeller - self.reference_values))
        rows = np.argsort(-distance, kind="stable")
        return rows[distance[rows] > 0].tolist()

    def value_words(self, value: float) -> str:
        """A value as its label where it is one."""
        place = np.flatnonzero(np.isclose(self.values, value))
        return self.columns.labels[place[0]] if len(place) else f"{value:.3g}"

    def both_labels(self, row: int) -> tuple[str, ...]:
        """Also how far they are apart."""
        mine, theirs = self.labeller[row], self.reference_values[row]
        return self.value_words(mine), self.value_words(theirs), f"{abs(mine - theirs):.3g}"

    def further_columns(self) -> dict[str, list[str]]:
        """For the rows of the file: people's value, the judge's error, and its calibrated value."""
        columns = {
            "people": self.reference_values,
            "error": self.labeller - self.reference_values,
            "calibrated": self.calibration.calibrated,
        }
        return {
            f"{self.judge}.{name}": ["" if math.isnan(value) else f"{value:.6g}" for value in column.tolist()]
            for name, column in columns.items()
        }

    @cached_property
    def associations(self) -> dict[str, Estimate]:
        """Linear kappa and correlations with people; with several people kappa is of pairs, as in `standing`."""
        from analysis.stats.agreement.cohen import cohen_kappa
        from analysis.stats.correlation.coefficients import kendall_tau_b, pearson, spearman
        from analysis.stats.labels import Labels

        cluster, rows = self.columns.cluster, np.arange(self.columns.n_rows)
        codes = np.stack([self.columns.codes[human] for human in self.humans])
        person, row = np.nonzero((codes >= 0) & (self.with_peers if self.has_peers else self.both))
        of_row = rows if cluster is None else cluster
        labels = Labels.of_two(
            codes[person, row], self.predicted[row], self.columns.labels, of_row[row], ("people", self.judge)
        )
        columns = self.labeller, self.reference_values, cluster
        return {
            "linear_kappa": cohen_kappa(labels, 0, 1, "linear", self.values),
            "pearson": pearson(*columns),
            "spearman": spearman(*columns),
            "kendall_tau_b": kendall_tau_b(*columns),
        }

    @cached_property
    def calibration(self) -> ScaleCalibration:
        from analysis.stats.scale.calibration import isotonic_calibration

        return isotonic_calibration(self.labeller, self.reference_values, self.columns.cluster)

    @cached_property
    def alternative(self):
        """The alternative annotator test by root mean squared differences; None with one person."""
        if not self.has_peers:
            return None
        from analysis.judge.verdict import ALTERNATIVE_UNITS
        from analysis.stats.accuracy.alternative_annotator import alternative_annotator_test

        people = labels_of_people(self.columns, self.humans)
        return alternative_annotator_test(
            people, self.predicted, scoring="rmse", values=self.values, min_units=ALTERNATIVE_UNITS
        )

    @cached_property
    def corrected(self) -> CorrectedMean:
        return corrected_mean(self, np.ones(self.columns.n_rows, dtype=bool))


@dataclass(frozen=True)
class CorrectedMean:
    """A judge's mean over all of its rows, and what people's would be: prediction-powered, and by regression."""

    raw: float
    powered: PoweredMean
    regression: PoweredMean


def corrected_mean(judged: JudgedScale, of: np.ndarray) -> CorrectedMean:
    """Of the rows `of`. Where the judge has no further rows, people's own mean."""
    from analysis.stats.accuracy.prediction_powered import prediction_powered_mean, regression_mean

    both, only = judged.both & of, of & ~np.isfinite(judged.reference_values) & np.isfinite(judged.labeller)
    cluster = judged.columns.cluster
    columns = judged.reference_values[both], judged.labeller[both], judged.labeller[only]
    clusters = (None, None) if cluster is None else (cluster[both], cluster[only])
    known = np.isfinite(judged.labeller) & of
    raw = float(judged.labeller[known].mean()) if known.any() else math.nan
    powered = prediction_powered_mean(*columns, *clusters, power=None if only.any() else 0.0)
    return CorrectedMean(raw, powered, regression_mean(*columns, *clusters))


@dataclass(frozen=True)
class ErrorDifference:
    """The mean absolute error of judge `a` minus that of `b`, over rows with both and people's value."""

    a: str
    b: str
    estimate: float
    low: float
    high: float
    n: int


def error_differences(judgements: Sequence[JudgedScale]) -> list[ErrorDifference]:
    found = []
    for a, b in combinations(judgements, 2):
        rows = a.both & b.both
        if not rows.any():
            found.append(ErrorDifference(a.judge, b.judge, math.nan, math.nan, math.nan, 0))
            continue
        of_a, of_b = (np.abs(one.labeller - one.reference_values)[rows] for one in (a, b))
        cluster = None if a.columns.cluster is None else a.columns.cluster[rows]
        reach = float(np.ptp(a.values))
        ratio = padded_ratio(of_a - of_b, np.ones(len(of_a)), reach, cluster)
        low, high = ratio.ends(reach) if ratio.n_effective >= LEAST_ROWS else (math.nan, math.nan)
        found.append(ErrorDifference(a.judge, b.judge, ratio.estimate, low, high, int(rows.sum())))
    return found


def people_with_each_other(judged: JudgedScale) -> Estimate | None:
    """Weighted kappa of all pairs of people, over the rows by which the rule decides; None with one person."""
    if not judged.has_peers:
        return None
    from analysis.stats.agreement.cohen import cohen_kappa
    from analysis.stats.labels import Labels

    codes = np.where(judged.with_peers, np.stack([judged.columns.codes[human] for human in judged.humans]), -1)
    rows = np.arange(judged.columns.n_rows) if judged.columns.cluster is None else judged.columns.cluster
    pairs = [(codes[a], codes[b]) for a in range(len(codes)) for b in range(len(codes)) if a != b]
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    labels = Labels.of_two(first, second, judged.columns.labels, np.tile(rows, len(pairs)), ("one", "other"))
    return cohen_kappa(labels, 0, 1, "quadratic", judged.values)


def _summary(people: np.ndarray, mean) -> np.ndarray:
    """Of each row's people; nan where it has none."""
    found, has = np.full(people.shape[1], np.nan), np.isfinite(people).any(axis=0)
    if has.any():
        found[has] = mean(people[:, has], axis=0)
    return found
