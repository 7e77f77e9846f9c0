"""Intervals for the competences that Dawid-Skene and MACE find, by resampling units or their clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .annotators import LatentTruth
from .bootstrap import one_blas_thread
from .intervals import ROUNDING, expanded_tail
from .labels import Labels
from .patterns import rater_patterns

SMALL = 1e-300
FEW_UNITS = "fewer than two units or clusters to resample"


@dataclass(frozen=True, eq=False, kw_only=True)
class CompetenceIntervals:
    """Expanded percentile intervals, one entry per rater; nan for a rater who is defined in fewer than two resamples or
    has the same competence in all of them, and everywhere where `undefined` gives a reason. `n_clusters` is None where
    units were drawn."""

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
    with one_blas_thread():
        start = model.start(found.posterior[units[first]], found.competence, patterns.times)
        values = np.empty((n_resamples, labels.n_raters))
        for row in values:
            drawn = np.bincount(rng.integers(0, len(distinct), len(distinct)), minlength=len(distinct))
            row[:] = model.competence(start, np.bincount(pattern, drawn[group], len(first)))
    low, high = unlabelled.copy(), unlabelled.copy()
    for rater in np.flatnonzero((~np.isnan(values)).sum(axis=0) > 1):
        if np.nanmax(values[:, rater]) - np.nanmin(values[:, rater]) <= ROUNDING:
            continue
        # Only what the rater labelled says something of the rater.
        n_drawn = max(len(np.unique(group[np.isin(units, labels.unit[labels.rater == rater])])), 2)
        tail = float(expanded_tail(n_drawn, level))
        low[rater], high[rater] = np.nanquantile(values[:, rater], [tail, 1 - tail], method="weibull")
    return CompetenceIntervals(low=low, high=high, level=level, n_resamples=n_resamples, n_clusters=n_clusters)


def _nothing(unlabelled: np.ndarray, level: float, reason: str, n_clusters: int | None = None) -> CompetenceIntervals:
    return CompetenceIntervals(
        low=unlabelled, high=unlabelled, level=level, n_resamples=0, n_clusters=n_clusters, undefined=reason
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """EM of either model over weighted patterns. `said` is (n_patterns, n_raters * q)."""

    said: sparse.csr_array
    n_raters: int
    q: int
    is_mace: bool

    def start(self, posterior: np.ndarray, competence: np.ndarray, weight: np.ndarray):
        """Where all resamples begin: the posterior (Dawid-Skene), or what MACE ends at on all data."""
        if not self.is_mace:
            return posterior
        expected = self._expected(posterior, weight)
        wrong = expected.sum(axis=2) - np.einsum("jll->jl", expected)
        habit = wrong + 0.1
        begin = np.nan_to_num(competence, nan=0.5), habit / habit.sum(axis=1, keepdims=True)
        return self._mace(begin, weight)

    def competence(self, start, weight: np.ndarray) -> np.ndarray:
        if self.is_mace:
            labelled = (self.said.T @ weight).reshape(self.n_raters, self.q).sum(axis=1) > 0
            return np.where(labelled, self._mace(start, weight)[0], np.nan)
        return self._dawid_skene(start, weight)

    def _expected(self, posterior: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Labels of each rater by label and true category, (n_raters, q, q)."""
        return (self.said.T @ (weight[:, None] * posterior)).reshape(self.n_raters, self.q, self.q)

    def _posterior(self, prior: np.ndarray, chance: np.ndarray) -> np.ndarray:
        logs = np.log(np.maximum(chance, SMALL)).reshape(-1, self.q)
        evidence = np.log(np.maximum(prior, SMALL)) + self.said @ logs
        share = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)

    def _dawid_skene(self, posterior: np.ndarray, weight: np.ndarray, max_iterations: int = 60) -> np.ndarray:
        before = np.full(self.n_raters, np.inf)
        for _ in range(max_iterations):
            prior = weight @ posterior / weight.sum()
            expected = self._expected(posterior, weight)
            total = expected.sum(axis=1, keepdims=True)
            chance = np.divide(expected, total, out=np.zeros_like(expected), where=total > 0)
            found = np.einsum("jkk->jk", chance) @ prior
            if np.abs(found - before).max(initial=0) < 1e-5:
                break
            before = found
            posterior = self._posterior(prior, chance)
        return np.where(total.sum(axis=(1, 2)) > 0, found, np.nan)

    def _mace(self, start, weight: np.ndarray, max_iterations: int = 60):
        theta, habit = start
        smoothing = 0.01 / self.q
        knows = np.eye(self.q)[None]
        for _ in range(max_iterations):
            guess = (1 - theta)[:, None] * habit
            chance = guess[:, :, None] + theta[:, None, None] * knows
            expected = self._expected(self._posterior(np.full(self.q, 1 / self.q), chance), weight)
            right = np.einsum("jll->jl", expected)
            share = theta[:, None] + guess
            known = right * np.divide(theta[:, None], share, out=np.zeros_like(share), where=share > 0)
            knowing = known.sum(axis=1) + smoothing
            guessing = expected.sum(axis=2) - known + smoothing
            before, theta = theta, knowing / (knowing + guessing.sum(axis=1) - (self.q - 1) * smoothing)
            habit = guessing / guessing.sum(axis=1, keepdims=True)
            if np.abs(theta - before).max(initial=0) < 1e-5:
                break
        return theta, habit
