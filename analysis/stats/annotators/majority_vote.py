"""The label that most raters gave, with ties kept apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import Labels


@dataclass(frozen=True, eq=False)
class Majority:
    """Most frequent label per unit.

    Attributes
    ----------
    code : (n_units,) int array
        Position in the categories, -1 where there is no majority.
    tied : (n_units,) bool array
        Two or more labels are equally frequent.
    n_decided, n_tied, n_too_few, n_unlabelled : int
        Units with a majority, with a tie, with at least one but fewer than `min_labels` labels, and without a label;
        they add up to n_units.
    n_single : int
        Decided units that have one label only: no agreement stands behind them.
    min_labels : int
    """

    code: np.ndarray
    tied: np.ndarray
    n_decided: int
    n_tied: int
    n_too_few: int
    n_unlabelled: int
    n_single: int
    min_labels: int


def majority(labels: Labels, min_labels: int = 1) -> Majority:
    """Relative majority (plurality) label of each unit; ties get none.

    Parameters
    ----------
    labels : Labels
    min_labels : int
        Units with fewer labels get none.

    Returns
    -------
    Majority

    Examples
    --------
    >>> labels = Labels.from_columns("aaabbc", "xyzxyx", "++-+-+", "-+")
    >>> vote = majority(labels)
    >>> vote.code.tolist(), vote.n_tied, vote.n_single
    ([1, -1, 1], 1, 1)
    """
    if min_labels < 1:
        raise ValueError(f"min_labels must be at least 1, not {min_labels}")
    best = np.full(labels.n_units, -1)
    most = np.zeros(labels.n_units, dtype=np.int64)
    n_best = np.zeros(labels.n_units, dtype=np.int64)
    n_labels = np.zeros(labels.n_units, dtype=np.int64)
    for code in range(len(labels.categories)):
        times = np.bincount(labels.unit[labels.value == code], minlength=labels.n_units)
        n_labels += times
        ahead, level = times > most, (times == most) & (times > 0)
        best[ahead] = code
        n_best = np.where(ahead, 1, n_best + level)
        most = np.maximum(most, times)
    enough = n_labels >= min_labels
    tied = enough & (n_best > 1)
    decided = enough & ~tied
    return Majority(
        code=np.where(decided, best, -1),
        tied=tied,
        n_decided=int(decided.sum()),
        n_tied=int(tied.sum()),
        n_too_few=int(((n_labels > 0) & ~enough).sum()),
        n_unlabelled=int((n_labels == 0).sum()),
        n_single=int((decided & (n_labels == 1)).sum()),
        min_labels=min_labels,
    )
