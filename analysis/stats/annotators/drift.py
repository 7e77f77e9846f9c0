"""Whether a person's agreement with others changes as their work goes on, or with a new version of the guidelines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement.leave_one_out import OthersAgreement, mean_share
from analysis.stats.resampling.cluster_robust import Effect, clustered_effect


@dataclass(frozen=True, eq=False, kw_only=True)
class Drift:
    """Of one person. `blocks` are consecutive parts of their own sequence, as equal in size as can be; `trend` is the
    change of agreement from the first to the last answer along a straight line."""

    blocks: tuple[OthersAgreement, ...]
    trend: Effect


def drift(share: np.ndarray, order: np.ndarray, cluster: np.ndarray, n_blocks: int = 4) -> Drift:
    """Agreement of one person with others along the sequence of their own answers.

    Parameters
    ----------
    share : (n,) float array
        Of each answer, the share of others' labels that are equal (`shares_of_others`); nan without another label.
    order : (n,) array
        What the sequence is sorted by, such as the moment; equal ones keep the order of the rows.
    cluster : (n,) column
        What answers come in; errors are clustered by it.
    n_blocks : int
        Fewer where there are fewer answers.

    Returns
    -------
    Drift
        Positions run from 0 (first answer) to 1 (last), with those without another label. The trend is undefined with
        one answer, and has no interval within a single cluster. Others may change as well: what moves is the agreement,
        not necessarily this person.

    Raises
    ------
    ValueError
        Columns of different lengths; fewer than one block.

    Examples
    --------
    >>> result = drift([1, 1, 0.5, 0], [10, 20, 30, 40], [0, 1, 2, 3], n_blocks=2)
    >>> [block.estimate for block in result.blocks], round(result.trend.estimate, 2)
    ([1.0, 0.25], -1.05)
    """
    share, cluster = np.asarray(share, dtype=float), np.asarray(cluster)
    if not len(share) == len(order) == len(cluster):
        raise ValueError("share, order and cluster differ in length")
    if n_blocks < 1:
        raise ValueError(f"there is at least 1 block, not {n_blocks}")
    sequence = np.argsort(np.asarray(order), kind="stable")
    share, cluster = share[sequence], cluster[sequence]
    codes = np.unique(cluster, return_inverse=True)[1]
    parts = np.array_split(np.arange(len(share)), min(n_blocks, max(len(share), 1)))
    position = np.arange(len(share)) / max(len(share) - 1, 1)
    return Drift(
        blocks=tuple(mean_share(share[part], codes[part]) for part in parts),
        trend=clustered_effect(share, position, [cluster]),
    )


def change(share: np.ndarray, after: np.ndarray, cluster: np.ndarray, rater: np.ndarray | None = None) -> Effect:
    """Agreement after something (a new version of the guidelines) minus before, with errors clustered.

    Parameters
    ----------
    share : (n,) float array
        As in `drift`, of one person's or several people's answers.
    after : (n,) bool array
    cluster : (n,) column
    rater : (n,) column, optional
        Who gave each answer, for several people: each is then compared with themself, and errors are clustered by
        person as well.

    Returns
    -------
    Effect
        Undefined where all answers are on one side, or nobody has answers on both.

    Examples
    --------
    >>> round(change([0.5, 0.5, 1.0, 1.0], [0, 0, 1, 1], [0, 1, 2, 3]).estimate, 6)
    0.5
    """
    groups = [np.asarray(cluster)] if rater is None else [np.asarray(rater), np.asarray(cluster)]
    return clustered_effect(share, after, groups, within=rater)
