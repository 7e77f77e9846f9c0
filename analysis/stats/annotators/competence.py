"""Intervals for what Dawid-Skene and MACE find of raters and labels, by resampling units or their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy

from analysis.stats.annotators.latent_truth import SEEN, LatentTruth, chance_to_be_right
from analysis.stats.annotators.patterns import rater_patterns
from analysis.stats.labels import Labels
from analysis.stats.resampling.bootstrap import BATCH_NUMBERS, one_blas_thread
from analysis.stats.resampling.intervals import NOT_CONTAINED, ROUNDING, expanded_tail

SMALL = 1e-300
FEW_UNITS = "fewer than two units or clusters to resample"
# Why a rater has a competence and no interval.
ONE_CLUSTER = "labelled units of fewer than two claims, questions or other clusters"
NO_SPREAD = "the same in all resamples, or defined in fewer than two"


@dataclass(frozen=True, eq=False, kw_only=True)
class CompetenceIntervals:
    """Expanded percentile intervals, one entry per rater; nan for a rater who labelled fewer than two units (clusters,
    where these were drawn), is defined in fewer than two resamples or has the same competence in all of them, or whose
    interval would not contain it, and everywhere where `undefined` gives a reason. `reason` says why for each rater and
    `prevalence_reason` for each category. `n_clusters` is None where units were drawn.

    `prevalence` holds the ends of each category's share, (2, n_categories), with nan for the same reasons; `confusion`
    those of Dawid-Skene's tables, (2, n_tables, n_categories, n_categories), and None for MACE. `n_drawn` counts the
    units or clusters that each rater labelled.
    """

    low: np.ndarray
    high: np.ndarray
    prevalence: np.ndarray
    confusion: np.ndarray | None
    level: float
    n_resamples: int
    n_clusters: int | None
    reason: tuple[str, ...]
    prevalence_reason: tuple[str, ...]
    n_drawn: np.ndarray
    undefined: str = ""


def competence_intervals(
    labels: Labels,
    truth: LatentTruth,
    n_resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    tables_of: Sequence[int] | None = None,
) -> CompetenceIntervals:
    """Bootstrap intervals of ``truth.competence``, of ``truth.prevalence`` and of ``truth.confusion``.

    Each resample draws as many units (or clusters, where `labels` has them) as there are and fits the model anew, from
    where the fit of all data ended, so that resamples stay at the same maximum of the likelihood and categories keep
    their names. Units with the same labels by the same raters are fitted as one with a weight.

    Parameters
    ----------
    labels : Labels
        Those that `truth` comes from.
    truth : LatentTruth
        Of `dawid_skene` or `mace`.
    n_resamples, level, seed : int, float, int
    tables_of : sequence of int, optional
        Raters whose confusion tables get intervals, in this order; by default all of them.

    Returns
    -------
    CompetenceIntervals
        Undefined where `truth` is and with fewer than two units or clusters. Tails are expanded by the number of units
        or clusters that the rater labelled (see `expanded_tail`), those of prevalences by that of all. Resamples
        without a unit of a category leave out that row of a table, those with one label only leave out MACE's
        prevalences.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69(4), 371-386, section
    4.4; doi:10.1080/00031305.2015.1089789.
    """
    chosen = np.arange(labels.n_raters) if tables_of is None else np.asarray(tables_of, dtype=np.int64)
    result = no_intervals(labels.n_raters, len(labels.categories), len(chosen), level, truth.undefined)
    if truth.undefined:
        return result
    patterns = rater_patterns(labels)
    units, pattern, first = patterns.units, patterns.pattern, patterns.first
    groups = units if labels.cluster is None else labels.cluster[units]
    distinct, group = np.unique(groups, return_inverse=True)
    n_clusters = None if labels.cluster is None else len(distinct)
    if len(distinct) < 2:
        nothing = no_intervals(labels.n_raters, len(labels.categories), len(chosen), level, FEW_UNITS)
        return replace(nothing, n_clusters=n_clusters)
    model = _Fit(patterns.one_hot, labels.n_raters, len(labels.categories), truth.confusion is None, chosen)
    rng = np.random.default_rng(seed)
    n_at_once = max(1, BATCH_NUMBERS // 4 // (len(first) * len(labels.categories)))
    with one_blas_thread():
        start = model.start(truth.posterior[units[first]], truth.competence, patterns.times)
        parts = []
        for begin in range(0, n_resamples, n_at_once):
            weight = np.empty((len(first), min(n_at_once, n_resamples - begin)))
            for column in weight.T:
                drawn = np.bincount(rng.integers(0, len(distinct), len(distinct)), minlength=len(distinct))
                column[:] = np.bincount(pattern, drawn[group], len(first))
            parts.append(model.fitted(start, weight))
    competence, prevalence, tables = (np.concatenate(part) for part in zip(*parts, strict=True))
    # Only what the rater labelled says something of the rater.
    n_drawn = _groups_of_raters(labels, units, group)
    ends, reason = _ends(competence, truth.competence, n_drawn, level)
    shares, reason_of_share = _ends(prevalence, truth.prevalence, np.full(prevalence.shape[1], len(distinct)), level)
    table_ends = None
    if not model.is_mace:
        table_ends, _ = _ends(tables, truth.confusion[chosen], n_drawn[chosen][:, None, None], level)
    return replace(
        result,
        low=ends[0],
        high=ends[1],
        prevalence=shares,
        confusion=table_ends,
        n_resamples=n_resamples,
        n_clusters=n_clusters,
        reason=tuple(reason.tolist()),
        prevalence_reason=tuple(reason_of_share.tolist()),
        n_drawn=n_drawn,
    )


def no_intervals(
    n_raters: int, n_categories: int, n_tables: int, level: float = 0.95, reason: str = ""
) -> CompetenceIntervals:
    """Intervals of nothing, for this reason."""
    return CompetenceIntervals(
        low=np.full(n_raters, np.nan),
        high=np.full(n_raters, np.nan),
        prevalence=np.full((2, n_categories), np.nan),
        confusion=np.full((2, n_tables, n_categories, n_categories), np.nan),
        level=level,
        n_resamples=0,
        n_clusters=None,
        reason=(reason,) * n_raters,
        prevalence_reason=(reason,) * n_categories,
        n_drawn=np.zeros(n_raters, dtype=np.int64),
        undefined=reason,
    )


def _groups_of_raters(labels: Labels, units: np.ndarray, group: np.ndarray) -> np.ndarray:
    """How many units or clusters each rater labelled, (n_raters,)."""
    unit_group = np.zeros(labels.n_units, dtype=np.int64)
    unit_group[units] = group
    pairs = np.unique(labels.rater.astype(np.int64) * (int(group.max()) + 1) + unit_group[labels.unit])
    return np.bincount(pairs // (int(group.max()) + 1), minlength=labels.n_raters)


def _ends(values: np.ndarray, estimate: np.ndarray, n_drawn: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of expanded percentile intervals of columns (n_resamples, ...), stacked in front: the (n + 1) p-th of n
    defined values. nan with fewer than two of them or of the units or clusters drawn, without any spread, and where the
    estimate would lie outside; and the reasons."""
    ordered = np.sort(values, axis=0)  # nan comes last
    n = (~np.isnan(values)).sum(axis=0)
    highest = np.take_along_axis(ordered, np.maximum(n - 1, 0)[None], axis=0)[0]
    n_drawn = np.broadcast_to(n_drawn, n.shape)
    known = (n > 1) & (n_drawn > 1) & (np.nan_to_num(highest - ordered[0]) > ROUNDING)
    tail = expanded_tail(np.maximum(n_drawn, 2), level)
    ends = []
    for share in (tail, 1 - tail):
        place = np.clip((n + 1) * share - 1, 0, np.maximum(n - 1, 0))
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n - 1, 0))
        low, high = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
        ends.append(np.where(known, low + (place - below) * (high - low), np.nan))
    low, high = ends
    close = ROUNDING * np.maximum(1, np.abs(np.nan_to_num(estimate)))
    narrow = known & (high - low <= close)
    inside = (low - close <= estimate) & (estimate <= high + close)
    reason = np.select([n_drawn < 2, ~known | narrow, ~inside], [ONE_CLUSTER, NO_SPREAD, NOT_CONTAINED], "")
    ends = np.stack([np.minimum(low, estimate), np.maximum(high, estimate)])
    return np.where(reason == "", ends, np.nan), reason


@dataclass(frozen=True, eq=False)
class _Fit:
    """EM of either model over patterns with weights, (n_patterns, n_fits), many fits at once. A fit that has come to
    rest takes no further steps, so its result does not depend on the others.

    `one_hot` is (n_patterns, n_raters * q). Tables have the fits before the categories: (..., n_fits, q). Confusion
    tables are kept of the raters `tables_of`.
    """

    one_hot: scipy.sparse.csr_array
    n_raters: int
    q: int
    is_mace: bool
    tables_of: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def by_rater(self) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array(self.one_hot.T)

    def start(self, posterior: np.ndarray, competence: np.ndarray, weight: np.ndarray):
        """Where all resamples begin: the posterior (Dawid-Skene), or what MACE ends at on all data."""
        if not self.is_mace:
            return posterior
        [expected] = self._expected(posterior[:, None], weight[:, None]).transpose(2, 0, 1, 3)
        wrong = expected.sum(axis=2) - np.einsum("jll->jl", expected)
        habit = wrong + 0.1
        theta, habit = np.nan_to_num(competence, nan=0.5), habit / habit.sum(axis=1, keepdims=True)
        theta, habit, _ = self._mace((theta, habit), weight[:, None])
        return theta[0], habit[0]

    def competence(self, start, weight: np.ndarray) -> np.ndarray:
        """Of each rater in each fit, (n_fits, n_raters)."""
        return self.fitted(start, weight)[0]

    def fitted(self, start, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Competences (n_fits, n_raters), prevalences (n_fits, q) and confusion tables (n_fits, n_tables, q, q)."""
        if self.is_mace:
            drawn = (self.by_rater @ weight).reshape(self.n_raters, self.q, -1)
            known = ((drawn.sum(axis=0) > 0).sum(axis=0) > 1)[:, None]  # as of one label alone: see `mace`
            theta, _, prevalence = self._mace(start, weight)
            competence = np.where(known & (drawn.sum(axis=1).T > 0), theta, np.nan)
            return competence, np.where(known, prevalence, np.nan), np.zeros((len(theta), 0, self.q, self.q))
        return self._dawid_skene(start, weight)

    def _expected(self, posterior: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Labels of each rater by label and true category, (n_raters, q, n_fits, q)."""
        weighted = (weight[:, :, None] * posterior).reshape(len(weight), -1)
        return (self.by_rater @ weighted).reshape(self.n_raters, self.q, -1, self.q)

    def _posterior(self, prior: np.ndarray, chance: np.ndarray) -> np.ndarray:
        logs = np.log(np.maximum(chance, SMALL)).reshape(self.n_raters * self.q, -1)
        evidence = np.log(np.maximum(prior, SMALL)) + (self.one_hot @ logs).reshape(self.one_hot.shape[0], -1, self.q)
        evidence -= _folded(np.maximum, evidence)
        share = np.exp(evidence, out=evidence)
        share /= _folded(np.add, share)
        return share

    def _dawid_skene(
        self, posterior: np.ndarray, weight: np.ndarray, max_iterations: int = 60
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        competence = np.empty((weight.shape[1], self.n_raters))
        prevalence = np.empty((len(competence), self.q))
        tables = np.empty((len(competence), len(self.tables_of), self.q, self.q))
        at = np.arange(weight.shape[1])
        posterior, before = posterior[:, None], np.full(competence.shape, np.inf)
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
            competence[at[ends]], prevalence[at[ends]] = now[ends], prior[ends]
            if ends.any():
                part = np.s_[:, :, ends]
                table = np.where(total[self.tables_of][part] > SEEN, chance[self.tables_of][part], np.nan)
                tables[at[ends]] = table.transpose(2, 0, 3, 1)
            if ends.all():
                break
            before = now
            if not moving.all():
                at, weight, before = at[moving], weight[:, moving], now[moving]
                prior, chance = prior[moving], chance[:, :, moving]
            posterior = self._posterior(prior, chance)
        return competence, prevalence, tables

    def _mace(self, start, weight: np.ndarray, max_iterations: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each rater knows, (n_fits, n_raters), and guesses, (n_fits, n_raters, q); and how often each category is
        true, (n_fits, q)."""
        n_fits = weight.shape[1]
        theta, habit = (np.repeat(part[None], n_fits, axis=0) for part in start)
        known_at_end, habit_at_end, at = np.empty_like(theta), np.empty_like(habit), np.arange(n_fits)
        prevalence = np.empty((n_fits, self.q))
        smoothing = 0.01 / self.q
        knows = np.eye(self.q)[:, None]
        for iteration in range(max_iterations):
            guess = (1 - theta)[:, :, None] * habit
            chance = guess.transpose(1, 2, 0)[..., None] + theta.T[:, None, :, None] * knows
            posterior = self._posterior(np.full(self.q, 1 / self.q), chance)
            expected = self._expected(posterior, weight)
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
            if ends.any():
                drawn = weight[:, ends]
                category_weight = np.einsum("ub,ubk->bk", drawn, posterior[:, ends])
                prevalence[at[ends]] = category_weight / drawn.sum(axis=0)[:, None]
            if ends.all():
                break
            if not moving.all():
                at, weight, theta, habit = at[moving], weight[:, moving], theta[moving], habit[moving]
        return known_at_end, habit_at_end, prevalence


def _folded(fold: np.ufunc, table: np.ndarray) -> np.ndarray:
    """Over the categories, which are few: one of them after the other is quicker than numpy's own way."""
    result = table[..., 0].copy()
    for code in range(1, table.shape[-1]):
        fold(result, table[..., code], out=result)
    return result[..., None]
