"""Systems by strength, with intervals over prompts and people, and groups that cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import ndtr, stdtrit

from analysis.stats.preferences.bradley_terry import Fit, are_comparable, fit_strengths
from analysis.stats.shares import wilson_ends

# Resamples in which a system never wins, or never loses, have no finite maximum without it.
RESAMPLE_PENALTY = 1e-3
# Where members are of so many classes, drawing and counting them is quicker than a binomial for each class.
MANY_CLASSES = 50_000


@dataclass(frozen=True, eq=False)
class Choices:
    """Choices between two systems each, as arrays of one length.

    Parameters
    ----------
    first, second : (n,) int arrays
        The systems, by number.
    outcome : (n,) int array
        1 where the first was preferred, -1 where the second was, 0 for a tie.
    prompt, person : (n,) int arrays
        What each choice is about, and whose it is: both are resampled. Choices of people without a name are those of
        one person.
    n_systems : int
    """

    first: np.ndarray
    second: np.ndarray
    outcome: np.ndarray
    prompt: np.ndarray
    person: np.ndarray
    n_systems: int

    @cached_property
    def cell(self) -> np.ndarray:
        """Where each choice counts: winner and loser, and behind these ties of the lower with the higher number."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        winner = np.where(self.outcome == 0, low, np.where(self.outcome > 0, self.first, self.second))
        loser = np.where(self.outcome == 0, high, np.where(self.outcome > 0, self.second, self.first))
        return np.where(self.outcome == 0, self.n_systems**2, 0) + winner * self.n_systems + loser

    def tables(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Wins and ties of sums over cells, (n, 2 * n_systems ** 2)."""
        tables = sums.reshape(len(sums), 2, self.n_systems, self.n_systems)
        return tables[:, 0], tables[:, 1]

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Wins and ties of all choices, (n_systems, n_systems) each."""
        sums = np.bincount(self.cell, minlength=2 * self.n_systems**2).astype(float)
        wins, ties = self.tables(sums[None])
        return wins[0], ties[0]

    def resampled(self, by: np.ndarray, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
        """Sums over cells where the members that `by` numbers are drawn with replacement."""
        members, code = np.unique(by, return_inverse=True)
        n_members, n_cells = len(members), 2 * self.n_systems**2
        sums = sparse.csr_array(
            (np.ones(len(code)), (code, self.cell)), shape=(n_members, n_cells)
        )  # duplicates add up
        rows, times = _classes(sums)
        drawn = np.empty((n_resamples, len(times)))
        if len(times) <= MANY_CLASSES:
            drawn[:] = rng.multinomial(n_members, times / n_members, size=n_resamples)
        else:
            of_class = np.repeat(np.arange(len(times)), times)
            for place in range(n_resamples):
                picked = of_class[rng.integers(0, n_members, n_members)]
                drawn[place] = np.bincount(picked, minlength=len(times))
        return (rows.T @ drawn.T).T


def _classes(sums: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """The different rows, and how often each occurs: a member with one choice is like many others."""
    sums.sum_duplicates()
    sums.sort_indices()
    starts, first = sums.indptr, {}
    kind = np.empty(sums.shape[0], dtype=np.int64)
    kept = []
    for place in range(sums.shape[0]):
        here = slice(starts[place], starts[place + 1])
        row = sums.indices[here].tobytes() + sums.data[here].tobytes()
        kind[place] = first.setdefault(row, len(kept))
        if kind[place] == len(kept):
            kept.append(place)
    return sums[kept], np.bincount(kind, minlength=len(kept))


@dataclass(frozen=True, eq=False)
class SystemRanking:
    """Log strengths with mean 0 and what is known of them.

    Attributes
    ----------
    strengths, low, high : (n_systems,) float arrays; nan where undefined
    rates, rates_low, rates_high : (n_systems,) float arrays: shares of comparisons won, a tie being half of one
    tie : how often two systems of equal strength tie
    is_apart : (n_systems, n_systems) bool array: whether the two differ beyond chance, all pairs looked at together
    n_prompts, n_people : what was resampled
    undefined : why there are no strengths; empty where there are
    no_interval : why there are no intervals
    """

    strengths: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rates: np.ndarray
    rates_low: np.ndarray
    rates_high: np.ndarray
    tie: float
    is_apart: np.ndarray
    n_prompts: int
    n_people: int
    undefined: str = ""
    no_interval: str = ""

    @cached_property
    def order(self) -> np.ndarray:
        """Systems, the strongest first."""
        return np.argsort(-self.strengths, kind="stable")

    def groups(self) -> list[list[int]]:
        """Runs of systems in the order of strength in which no two are apart, each as long as it can be."""
        order, found = self.order, []
        for start in range(len(order)):
            end = start + 1
            while end < len(order) and not self.is_apart[np.ix_(order[start : end + 1], order[start : end + 1])].any():
                end += 1
            if not found or end > found[-1][1]:
                found.append((start, end))
        return [order[start:end].tolist() for start, end in found]


def rank_systems(
    choices: Choices, *, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, quick: bool = False
) -> SystemRanking:
    """Strengths of systems with intervals over prompts and people.

    Prompts and people are resampled apart, `n_resamples` times each, and their variances added: what both have in
    common counts twice, so that intervals are rather too wide (Owen 2007). The variance between people is pooled over
    systems, and intervals are by Student's t with Satterthwaite's degrees of freedom, since there are often few people.
    Two systems are apart where their difference exceeds what the largest of all differences reaches by chance at this
    level.
    """
    wins, ties = choices.counted
    n, n_prompts, n_people = choices.n_systems, len(np.unique(choices.prompt)), len(np.unique(choices.person))
    none, apart = np.full(n, np.nan), np.zeros((n, n), bool)
    undefined, strengths, tie = _why_undefined(wins, ties), none, np.nan
    if not undefined:
        found = fit_strengths(wins[None], ties[None])
        strengths, tie = found.strengths[0], _tie_share(found)
        if np.isnan(strengths).any():
            undefined = "ties and preferences follow each other without an exception, so that strengths have no bound"
    rates = win_rates(wins[None], ties[None])[0]
    about = {"tie": tie, "n_prompts": n_prompts, "n_people": n_people, "undefined": undefined}
    if quick or n_prompts < 2 or n < 2:
        why = "" if quick else "fewer than two prompts"
        return SystemRanking(strengths, none, none, rates, none, none, is_apart=apart, no_interval=why, **about)
    rng = np.random.default_rng(seed)
    members = [(choices.prompt, n_prompts), *([(choices.person, n_people)] if n_people > 1 else [])]
    tables = [choices.tables(choices.resampled(by, n_resamples, rng)) for by, _ in members]
    sizes = [n_members for _, n_members in members]
    half = _half_widths(*_deviations([win_rates(*one) for one in tables], sizes, rng), level)
    rates_low, rates_high = np.clip(rates - half, 0, 1), np.clip(rates + half, 0, 1)
    for place in np.flatnonzero(half == 0):  # no resample differs: as if each prompt were one comparison (Wilson)
        rates_low[place], rates_high[place] = wilson_ends(rates[place] * n_prompts, n_prompts, level)
    low = high = none
    if not undefined:
        fits = [fit_strengths(*one, RESAMPLE_PENALTY).strengths for one in tables]
        deviations, degrees = _deviations(fits, sizes, rng)
        half = _half_widths(deviations, degrees, level)
        low, high = strengths - half, strengths + half
        apart = _apart(strengths, deviations, degrees, level)
    return SystemRanking(strengths, low, high, rates, rates_low, rates_high, is_apart=apart, **about)


def win_rates(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Of each system in each table, nan where it was compared with no other."""
    half = (ties + ties.transpose(0, 2, 1)).sum(axis=2) / 2
    won, lost = wins.sum(axis=2) + half, wins.sum(axis=1) + half
    return np.divide(won, won + lost, out=np.full(won.shape, np.nan), where=won + lost > 0)


def _deviations(
    resampled: list[np.ndarray], sizes: list[int], rng: np.random.Generator
) -> tuple[list[np.ndarray], list[int]]:
    """Resamples of prompts, and of people where there are several, less their mean, and the degrees of freedom of each.
    Of n members drawn with replacement the variance is (n - 1) / n of what it should be."""
    centred = [
        np.nan_to_num(one - np.nanmean(one, axis=0)) * np.sqrt(n / (n - 1))
        for one, n in zip(resampled, sizes, strict=True)
    ]
    degrees, n_systems = [sizes[0] - 1], centred[0].shape[1]
    if len(centred) > 1:
        # Few people say little of how far they differ about each system: taken as equally far about all.
        spread = centred[1].var(axis=0).sum() / (n_systems - 1)
        drawn = rng.normal(0.0, np.sqrt(spread), centred[0].shape)
        centred[1] = drawn - drawn.mean(axis=1, keepdims=True)
        degrees.append((sizes[1] - 1) * (n_systems - 1))
    return centred, degrees


def _half_widths(deviations: list[np.ndarray], degrees: list[int], level: float) -> np.ndarray:
    variances = [one.var(axis=0) for one in deviations]
    return stdtrit(_satterthwaite(variances, degrees), (1 + level) / 2) * np.sqrt(sum(variances))


def _satterthwaite(variances: list[np.ndarray], degrees: list[int]) -> np.ndarray:
    parts = sum(one**2 / n for one, n in zip(variances, degrees, strict=True))
    return np.divide(sum(variances) ** 2, parts, out=np.full_like(parts, float(min(degrees))), where=parts > 0)


def _apart(strengths: np.ndarray, deviations: list[np.ndarray], degrees: list[int], level: float) -> np.ndarray:
    rows, columns = np.triu_indices(len(strengths), 1)
    differences = [one[:, rows] - one[:, columns] for one in deviations]
    variances = [one.var(axis=0) for one in differences]
    error = np.sqrt(sum(variances))
    error = np.where(error > 0, error, np.inf)
    # The quantile of the largest is one of normal variables; with few people they are Student's.
    reached = np.quantile(np.abs(sum(differences) / error).max(axis=1), level)
    reached = -stdtrit(_satterthwaite(variances, degrees), ndtr(-reached))
    is_apart = np.zeros((len(strengths), len(strengths)), bool)
    is_apart[rows, columns] = np.abs(strengths[rows] - strengths[columns]) / error > reached
    return is_apart | is_apart.T


def _tie_share(found: Fit) -> float:
    tie = float(np.exp(found.ties[0]))
    return tie / (2 + tie)


def _why_undefined(wins: np.ndarray, ties: np.ndarray) -> str:
    if len(wins) < 2:
        return "fewer than two systems"
    if not wins.any():
        return "all comparisons are ties, so that how often systems tie has no bound"
    if are_comparable(wins, ties):
        return ""
    played = wins + wins.T + ties + ties.T
    if sparse.csgraph.connected_components(played > 0, directed=False)[0] > 1:
        return "some systems were never compared with the others, not even through a third"
    return "some systems won, or lost, every comparison with the others, so that their strength has no bound"
