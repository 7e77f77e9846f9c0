"""Answering only where a score is high: how accurate the answers are that remain, and how many remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.accuracy.roc import SortedScores
from analysis.stats.resampling.bootstrap import NO_INFLUENCE, Estimate, divide, one_blas_thread
from analysis.stats.resampling.intervals import Interval, interval_method, resampled_interval

NO_PAIR = "no unit has both a score and an outcome"
NO_ANSWER = "no unit is answered at all"


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectiveCurve:
    """Accuracy against coverage over all thresholds of a score.

    Attributes
    ----------
    threshold, coverage, accuracy : (m,) float arrays
        At each distinct score, from the greatest down: what is answered by giving the answers whose score is at least
        as great. Coverage is the share of all units that are answered, accuracy the share of those that are right.
    area : Estimate
        Mean accuracy over the coverage that is reached (the curve's area divided by the greatest coverage).
    overall : Estimate
        Accuracy without withholding anything, which is what withholding at random gives at any coverage.
    gain : Estimate
        `area` minus `overall`.
    best : float
        The area of a score that puts every right answer before every wrong one.
    n_abstained : int
        Units that are not answered whatever their score.
    """

    threshold: np.ndarray
    coverage: np.ndarray
    accuracy: np.ndarray
    area: Estimate
    overall: Estimate
    gain: Estimate
    best: float
    n_abstained: int

    def at(self, coverages: Sequence[float]) -> np.ndarray:
        """Accuracy at the fewest answers whose coverage is at least as asked, nan beyond the coverage reached."""
        n = self.area.n_pairable
        if not len(self.coverage):
            return np.full(len(coverages), np.nan)
        return _at(self.accuracy[None, :], np.rint(self.coverage * n)[None, :], np.array([n]), coverages)[0]

    def band(
        self, coverages: Sequence[float], n_resamples: int = 1000, level: float = 0.95, seed: int = 0
    ) -> list[Interval]:
        """Intervals of `at`, point by point and not for the curve as a whole; the same resamples for all points."""
        sample = self.area.sample
        n_drawn, clustered = sample.n_drawn(True)
        what = "clusters" if clustered else "units"
        method, n_clusters = interval_method(clustered), n_drawn if clustered else None
        reason = self.area.undefined or (f"fewer than two {what} to resample" if n_drawn < 2 else "")
        if reason:
            return [Interval(np.nan, np.nan, level, method, 0, 0, n_clusters, reason) for _ in coverages]
        rng = np.random.default_rng(seed)
        with one_blas_thread():
            values = sample.curve_values(coverages, n_resamples, rng)
        intervals = []
        for estimate, column in zip(self.at(coverages), values.T, strict=True):
            missing = int(np.isnan(column).sum())
            if np.isnan(estimate) or missing > n_resamples - 2:
                reason = "this coverage is not reached, or in nearly no resample"
                intervals.append(Interval(np.nan, np.nan, level, method, n_resamples, missing, n_clusters, reason))
            else:
                intervals.append(resampled_interval(column, estimate, NO_INFLUENCE, n_drawn, clustered, level))
        return intervals


def _at(accuracy: np.ndarray, answered: np.ndarray, n: np.ndarray, coverages: Sequence[float]) -> np.ndarray:
    """Per row of `accuracy` and per coverage; `answered` counts units at each threshold, `n` all of them."""
    values = np.full((len(accuracy), len(coverages)), np.nan)
    for column, coverage in enumerate(coverages):
        # Rounding must not ask for one answer more: 0.3 of 10 units are 3.
        enough = answered >= np.round(coverage * n, 9)[:, None]
        first = enough.argmax(axis=1)
        reached = enough[np.arange(len(accuracy)), first]
        values[reached, column] = accuracy[reached, first[reached]]
    return values


@dataclass(frozen=True, eq=False)
class _Answers(SortedScores):
    """Units in falling order of their score; those that abstain come last, and count in the coverage alone."""

    answered: np.ndarray

    def _parts(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Right answers and answers in all up to each threshold, and units, per row of weights."""
        right = np.add.reduceat(weights * self.truth, self.start, axis=1).cumsum(axis=1)
        answered = np.add.reduceat(weights * self.answered, self.start, axis=1).cumsum(axis=1)
        return right, answered, weights.sum(axis=1)

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        right, answered, _ = self._parts(weights)
        return self.statistic(right, answered)

    def curve_values(self, coverages: Sequence[float], n_resamples: int, rng: np.random.Generator) -> np.ndarray:
        parts = []
        for weights in self.weights(n_resamples, rng, True):
            right, answered, n = self._parts(weights)
            parts.append(_at(divide(right, answered), answered, n, coverages))
        return np.concatenate(parts)


def _area(right: np.ndarray, answered: np.ndarray) -> np.ndarray:
    step = np.diff(answered, axis=1, prepend=0)
    return divide((step * np.nan_to_num(divide(right, answered))).sum(axis=1), answered[:, -1])


def _overall(right: np.ndarray, answered: np.ndarray) -> np.ndarray:
    return divide(right[:, -1], answered[:, -1])


def selective_curve(
    score: np.ndarray,
    right: np.ndarray,
    abstained: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> SelectiveCurve:
    """Accuracy against coverage when answers are withheld whose score is too low.

    Answers with equal scores are given or withheld together. The area takes each answer at the accuracy of the
    threshold that lets it through, so it does not depend on the order of equal scores; it is one minus the area under
    the risk-coverage curve where nothing abstains.

    Parameters
    ----------
    score : (n_units,) float array
        nan where there is none.
    right : (n_units,) int array
        1 for a right answer, 0 for a wrong one, -1 where it is not known.
    abstained : (n_units,) bool array, optional
        Units that gave no answer. They count among all units but are never answered; `right` of them is not looked at,
        and neither is their score.
    cluster : (n_units,) int array, optional

    Returns
    -------
    SelectiveCurve
        Undefined where no unit has both, and where all of them abstained. A unit that neither abstained nor has both is
        left out and counted.

    Raises
    ------
    ValueError
        Columns of different lengths, or other values of `right`.

    References
    ----------
    El-Yaniv and Wiener (2010), On the foundations of noise-free selective classification, JMLR 11, 1605-1641. Geifman
    and El-Yaniv (2017), Selective classification for deep neural networks, arXiv:1705.08500. Joren et al. (2025),
    Sufficient Context, arXiv:2411.06037 (selective generation).

    Examples
    --------
    The two right answers have the greatest scores: accuracies 1, 1, 2/3 and 1/2 at coverages 1/4 to 1.

    >>> result = selective_curve(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    >>> result.coverage.tolist(), result.accuracy.round(2).tolist(), round(result.area.estimate, 4)
    ([0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 0.67, 0.5], 0.7917)
    """
    score, right = np.asarray(score, dtype=float), np.asarray(right)
    silent = np.zeros(len(right), dtype=bool) if abstained is None else np.asarray(abstained, dtype=bool)
    columns = (score, right, silent) if cluster is None else (score, right, silent, np.asarray(cluster))
    if any(column.ndim != 1 or len(column) != len(score) for column in columns):
        raise ValueError("score, right, abstained and cluster must be columns of one length")
    if not np.isin(right[~silent], (-1, 0, 1)).all():
        raise ValueError("right is 1, 0, or -1 where it is not known")
    has_score, is_known = np.isfinite(score), right >= 0
    used = silent | (has_score & is_known)
    reasons = {
        "no outcome": int((~silent & ~is_known).sum()),
        "no score": int((~silent & is_known & ~has_score).sum()),
    }
    # Abstained answers come after every other, at a threshold of its own that the curve does not show.
    ranked = np.where(silent, -np.inf, score)[used]
    order = np.argsort(-ranked, kind="stable")
    answers, hits = ~silent[used][order], np.where(silent, 0, right)[used][order]
    falling = ranked[order]
    start = np.flatnonzero(np.append(True, falling[1:] != falling[:-1])[: len(falling)])
    n, n_answered = len(order), int(answers.sum())
    undefined = NO_PAIR if not n else "" if n_answered else NO_ANSWER
    group = None if cluster is None else np.asarray(cluster)[used][order]

    def estimate(statistic) -> Estimate:
        sample = _Answers(hits.astype(float), start, group, statistic, answers.astype(float))
        return Estimate(
            estimate=np.nan if undefined else sample.value(),
            undefined=undefined,
            n_units=len(score),
            n_pairable=n,
            n_labels=n_answered,
            left_out={reason: count for reason, count in reasons.items() if count},
            sample=sample,
        )

    ends = np.append(start[1:], n) - 1
    shown = answers[start] if n else np.empty(0, dtype=bool)
    counts, n_right_above = np.cumsum(answers)[ends[shown]], np.cumsum(hits)[ends[shown]]
    n_right = int(hits.sum())
    places = np.arange(1, n_answered + 1)
    return SelectiveCurve(
        threshold=falling[start[shown]],
        coverage=counts / n if n else np.empty(0),
        accuracy=n_right_above / counts,
        area=estimate(_area),
        overall=estimate(_overall),
        gain=estimate(lambda right, answered: _area(right, answered) - _overall(right, answered)),
        best=float((np.minimum(places, n_right) / places).mean()) if n_answered else np.nan,
        n_abstained=n - n_answered,
    )
