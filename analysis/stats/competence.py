"""Intervals for the competences that Dawid-Skene and MACE find, by resampling units or their clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from .annotators import SEEN, LatentTruth, chance_to_be_right
from .bootstrap import BATCH_NUMBERS, one_blas_thread
from .intervals import ROUNDING, expanded_tail
from .labels import Labels
from .patterns import rater_patterns

SMALL = 1e-300
FEW_UNITS = "fewer than two units or clusters to resample"


@dataclass(frozen=True, eq=False, kw_only=True)
class CompetenceIntervals:
    """Expanded percentile intervals, one entry per rater; nan for a rater who labelled fewer than two units (clusters,
    where these were drawn), is defined in fewer than two resamples or has the same competence in all of them, and
    everywhere where `undefined` gives a reason. `n_clusters` is None where units were drawn."""

    low: np.ndarray
    high: np.ndarray
    level: float
    n_resamples: int
    n_clusters: int | None
    undefined: str = ""


def competence_intervals(
    labels: Labels, found: LatentTruth, n_resamples: int = 200, level: float = 0.95, seed: int = 0
) -> CompetenceIntervals:
    """Bootstrap intervals of ``found.competence``.

    Each resample draws as many units (or clusters, where `labels` has them) as there are and fits the model anew, from
    where the fit of all data ended, so that resamples stay at the same maximum of the likelihood and categories keep
    their names. Units with the same labels by the same raters are fitted as one with a weight.

    Parameters
    ----------
    labels : Labels
        Those that `found` comes from.
    found : LatentTruth
        Of `dawid_skene` or `mace`.
    n_resamples, level, seed : int, float, int

    Returns
    -------
    CompetenceIntervals
        Undefined where `found` is and with fewer than two units or clusters. Tails are expanded by the number of units
        or clusters that the rater labelled (see `expanded_tail`).

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69(4), 371-386, section
    4.4; doi:10.1080/00031305.2015.1089789.
    """
    unlabelled = np.full(labels.n_raters, np.nan)
    if found.undefined:
        return _nothing(unlabelled, level, found.undefined)
    patterns = rater_patterns(labels)
    units, pattern, first = patterns.units, patterns.pattern, patterns.first
    groups = units if labels.cluster is None else labels.cluster[units]
    distinct, group = np.unique(groups, return_inverse=True)
    n_clusters = None if labels.cluster is None else len(distinct)
    if len(distinct) < 2:
        return _nothing(unlabelled, level, FEW_UNITS, n_clusters)
    model = _Fit(patterns.said, labels.n_raters, len(labels.categories), found.confusion is None)
    rng = np.random.default_rng(seed)
    n_at_once = max(1, BATCH_NUMBERS // 4 // (len(first) * len(labels.categories)))
    with one_blas_thread():
        start = model.start(found.posterior[units[first]], found.competence, patterns.times)
        values = np.empty((n_resamples, labels.n_raters))
        for begin in range(0, n_resamples, n_at_once):
            rows = values[begin : begin + n_at_once]
            weight = np.empty((len(first), len(rows)))
            for column in weight.T:
                drawn = np.bincount(rng.integers(0, len(distinct), len(distinct)), minlength=len(distinct))
                column[:] = np.bincount(pattern, drawn[group], len(first))
            rows[:] = model.competence(start, weight)
    low, high = unlabelled.copy(), unlabelled.copy()
    for rater in np.flatnonzero((~np.isnan(values)).sum(axis=0) > 1):
        if np.nanmax(values[:, rater]) - np.nanmin(values[:, rater]) <= ROUNDING:
            continue
        # Only what the rater labelled says something of the rater.
        n_drawn = len(np.unique(group[np.isin(units, labels.unit[labels.rater == rater])]))
        if n_drawn < 2:
            continue
        tail = float(expanded_tail(n_drawn, level))
        low[rater], high[rater] = np.nanquantile(values[:, rater], [tail, 1 - tail], method="weibull")
    return CompetenceIntervals(low=low, high=high, level=level, n_resamples=n_resamples, n_clusters=n_clusters)


def _nothing(unlabelled: np.ndarray, level: float, reason: str, n_clusters: int | None = None) -> CompetenceIntervals:
    return CompetenceIntervals(
        low=unlabelled, high=unlabelled, level=level, n_resamples=0, n_clusters=n_clusters, undefined=reason
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """EM of either model over patterns with weights, (n_patterns, n_fits), many fits at once. A fit that has come to
    rest takes no further steps, so what it ends at does not depend on those beside it.

    `said` is (n_patterns, n_raters * q). Tables have the fits before the categories: (..., n_fits, q).
    """

    said: sparse.csr_array
    n_raters: int
    q: int
    is_mace: bool

    @cached_property
    def by_rater(self) -> sparse.csr_array:
        return sparse.csr_array(self.said.T)

    def start(self, posterior: np.ndarray, competence: np.ndarray, weight: np.ndarray):
        """Where all resamples begin: the posterior (Dawid-Skene), or what MACE ends at on all data."""
        if not self.is_mace:
            return posterior
        [expected] = self._expected(posterior[:, None], weight[:, None]).transpose(2, 0, 1, 3)
        wrong = expected.sum(axis=2) - np.einsum("jll->jl", expected)
        habit = wrong + 0.1
        theta, habit = np.nan_to_num(competence, nan=0.5), habit / habit.sum(axis=1, keepdims=True)
        theta, habit = self._mace((theta, habit), weight[:, None])
        return theta[0], habit[0]

    def competence(self, start, weight: np.ndarray) -> np.ndarray:
        """Of each rater in each fit, (n_fits, n_raters)."""
        if self.is_mace:
            drawn = (self.by_rater @ weight).reshape(self.n_raters, self.q, -1)
            known = ((drawn.sum(axis=0) > 0).sum(axis=0) > 1)[:, None]  # as of one label alone: see `mace`
            return np.where(known & (drawn.sum(axis=1).T > 0), self._mace(start, weight)[0], np.nan)
        return self._dawid_skene(start, weight)

    def _expected(self, posterior: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Labels of each rater by label and true category, (n_raters, q, n_fits, q)."""
        of_pattern = (weight[:, :, None] * posterior).reshape(len(weight), -1)
        return (self.by_rater @ of_pattern).reshape(self.n_raters, self.q, -1, self.q)

    def _posterior(self, prior: np.ndarray, chance: np.ndarray) -> np.ndarray:
        logs = np.log(np.maximum(chance, SMALL)).reshape(self.n_raters * self.q, -1)
        evidence = np.log(np.maximum(prior, SMALL)) + (self.said @ logs).reshape(self.said.shape[0], -1, self.q)
        evidence -= _folded(np.maximum, evidence)
        share = np.exp(evidence, out=evidence)
        share /= _folded(np.add, share)
        return share

    def _dawid_skene(self, posterior: np.ndarray, weight: np.ndarray, max_iterations: int = 60) -> np.ndarray:
        found = np.empty((weight.shape[1], self.n_raters))
        at = np.arange(weight.shape[1])
        posterior, before = posterior[:, None], np.full(found.shape, np.inf)
        for iteration in range(max_iterations):
            weighted = weight[:, :, None] * posterior
            prior = weighted.sum(axis=0) / weight.sum(axis=0)[:, None]
            expected = (self.by_rater @ weighted.reshape(len(weight), -1)).reshape(self.n_raters, self.q, -1, self.q)
            total = expected.sum(axis=1, keepdims=True)
            chance = np.divide(expected, total, out=np.zeros_like(expected), where=total > 0)
            right, seen = np.einsum("jkbk->bjk", chance), total[:, 0].transpose(1, 0, 2) > SEEN
            now = chance_to_be_right(right, seen, prior[:, None])
            moving = np.abs(np.nan_to_num(now - before)).max(axis=1, initial=0) >= 1e-5
            ends = ~moving if iteration + 1 < max_iterations else np.ones_like(moving)
            found[at[ends]] = now[ends]
            if ends.all():
                break
            before = now
            if not moving.all():
                at, weight, before = at[moving], weight[:, moving], now[moving]
                prior, chance = prior[moving], chance[:, :, moving]
            posterior = self._posterior(prior, chance)
        return found

    def _mace(self, start, weight: np.ndarray, max_iterations: int = 60) -> tuple[np.ndarray, np.ndarray]:
        """What each rater knows, (n_fits, n_raters), and guesses, (n_fits, n_raters, q)."""
        n_fits = weight.shape[1]
        theta, habit = (np.repeat(part[None], n_fits, axis=0) for part in start)
        known_at_end, habit_at_end, at = np.empty_like(theta), np.empty_like(habit), np.arange(n_fits)
        smoothing = 0.01 / self.q
        knows = np.eye(self.q)[:, None]
        for iteration in range(max_iterations):
            guess = (1 - theta)[:, :, None] * habit
            chance = guess.transpose(1, 2, 0)[..., None] + theta.T[:, None, :, None] * knows
            expected = self._expected(self._posterior(np.full(self.q, 1 / self.q), chance), weight)
            right = np.einsum("jlbl->bjl", expected)
            share = theta[:, :, None] + guess
            known = right * np.divide(theta[:, :, None], share, out=np.zeros_like(share), where=share > 0)
            knowing = known.sum(axis=2) + smoothing
            guessing = expected.sum(axis=3).transpose(2, 0, 1) - known + smoothing
            before, theta = theta, knowing / (knowing + guessing.sum(axis=2) - (self.q - 1) * smoothing)
            habit = guessing / guessing.sum(axis=2, keepdims=True)
            moving = np.abs(theta - before).max(axis=1, initial=0) >= 1e-5
            ends = ~moving if iteration + 1 < max_iterations else np.ones_like(moving)
            known_at_end[at[ends]], habit_at_end[at[ends]] = theta[ends], habit[ends]
            if ends.all():
                break
            if not moving.all():
                at, weight, theta, habit = at[moving], weight[:, moving], theta[moving], habit[moving]
        return known_at_end, habit_at_end


def _folded(fold: np.ufunc, table: np.ndarray) -> np.ndarray:
    """Over the categories, which are few: one of them after the other is quicker than numpy's own way."""
    result = table[..., 0].copy()
    for code in range(1, table.shape[-1]):
        fold(result, table[..., code], out=result)
    return result[..., None]
