"""Strengths by Bradley and Terry (1952), with ties by Davidson (1970), of many tables of choices at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

MOST_STEPS = 100
LONGEST_STEP = 2.0
PRECISION = 1e-9
CURVATURE = 1e-9
FURTHEST = 15.0  # what is further out has no bound
# Numbers that one batch of tables holds.
BATCH_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Fit:
    """Log strengths with mean 0, (n, n_systems), and the log of Davidson's parameter of ties, (n,): -inf without ties.
    A system of strength a wins against one of strength b exp(a - b) times as often as it loses."""

    strengths: np.ndarray
    ties: np.ndarray


def are_comparable(wins: np.ndarray, ties: np.ndarray) -> bool:
    """Whether every system has won against, or tied with, another of any two parts of them: else some strength is
    without bound, or there is no way to compare (Ford 1957)."""
    won = (wins + ties + ties.T) > 0
    return sparse.csgraph.connected_components(won, connection="strong")[0] == 1


def fit_strengths(wins: np.ndarray, ties: np.ndarray, penalty: float = 0.0) -> Fit:
    """Maximum likelihood by Newton's method.

    Parameters
    ----------
    wins : (n, n_systems, n_systems) float array
        How often the system of the row was preferred to that of the column, in each table.
    ties : (n, n_systems, n_systems) float array
        How often the two tied, above the diagonal.
    penalty : float
        Times the sum of squares of strengths, and of the tie parameter, taken off the log likelihood: with 0 tables
        that are not comparable have no finite maximum, nor have some in which ties are many. These are nan.
    """
    n, n_systems, _ = wins.shape
    at_once = max(1, BATCH_NUMBERS // max(1, n_systems**2))
    parts = [
        _fit(wins[start : start + at_once], ties[start : start + at_once], penalty) for start in range(0, n, at_once)
    ]
    return Fit(np.concatenate([one.strengths for one in parts]), np.concatenate([one.ties for one in parts]))


def _fit(wins: np.ndarray, ties: np.ndarray, penalty: float) -> Fit:
    n, n_systems, _ = wins.shape
    tied = ties + ties.transpose(0, 2, 1)
    played = wins + wins.transpose(0, 2, 1) + tied
    scores = ((wins - wins.transpose(0, 2, 1)) / 2).sum(axis=2)
    n_tied, has_ties = ties.sum(axis=(1, 2)), ties.any(axis=(1, 2))
    strengths, log_tie = np.zeros((n, n_systems)), np.where(has_ties, 0.0, -np.inf)
    diagonal = np.arange(n_systems)
    left = np.arange(n)  # tables that have not converged
    for _ in range(MOST_STEPS):
        theta, delta, games, some = strengths[left], log_tie[left], played[left], has_ties[left]
        half = np.clip((theta[:, :, None] - theta[:, None, :]) / 2, -300, 300)
        win, lose = np.exp(half), np.exp(-half)
        tie = np.exp(delta)[:, None, None]
        total = win + lose + tie
        share = (win - lose) / (2 * total)  # what a system is expected to score in a game, from -1/2 to 1/2
        spread = (win + lose) / (4 * total) - share**2
        of_tie = tie / total
        slope = np.zeros((len(left), n_systems + 1))
        slope[:, :-1] = scores[left] - (games * share).sum(axis=2) - 2 * penalty * theta
        slope[:, -1] = np.where(some, n_tied[left] - (games * of_tie).sum(axis=(1, 2)) / 2, 0.0)
        slope[:, -1] -= np.where(some, 2 * penalty * delta, 0.0) if penalty else 0.0
        curve = np.zeros((len(left), n_systems + 1, n_systems + 1))
        information = games * spread
        curve[:, :-1, :-1] = 1.0 - information  # the 1 holds the mean at 0
        curve[:, diagonal, diagonal] = 1.0 + information.sum(axis=2) - information[:, diagonal, diagonal] + 2 * penalty
        cross = -(games * share * of_tie).sum(axis=2)
        curve[:, :-1, -1] = curve[:, -1, :-1] = np.where(some[:, None], cross, 0.0)
        tie_curve = (games * of_tie * (1 - of_tie)).sum(axis=(1, 2)) / 2 + 2 * penalty
        curve[:, -1, -1] = np.where(some, tie_curve, 1.0)
        curve += CURVATURE * np.eye(n_systems + 1)  # where the likelihood is flat far out, a step goes on
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        strengths[left] = theta + step[:, :-1]
        log_tie[left] = np.where(some, delta + step[:, -1], delta)
        left = left[np.abs(step).max(axis=1) > PRECISION]
        if not len(left):
            break
    strengths -= strengths.mean(axis=1, keepdims=True)
    is_endless = (np.abs(strengths) > FURTHEST).any(axis=1) | (has_ties & (np.abs(log_tie) > FURTHEST))
    is_endless[left] = True
    strengths[is_endless], log_tie[is_endless] = np.nan, np.nan
    return Fit(strengths, log_tie)
