"""Which documents, or claims, are matched: any of their pairs is entailed by gold evidence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_GROUP = "none is decided yet"
UNDECIDED = "undecided"
# What a group is found to be, in the order of the codes.
VERDICTS = ("unmatched", "matched", "undecided")


@dataclass(frozen=True, kw_only=True)
class MatchedShare(Estimate):
    """Share of matched among the decided groups.

    Attributes
    ----------
    verdict : (n_groups,) int array
        Position in VERDICTS.
    n_matched, n_unmatched, n_undecided : int
        Groups; they add up to n_units.
    lowest, highest : float
        The share of all groups if every undecided one were unmatched, and matched; nan without groups.
    """

    verdict: np.ndarray
    n_matched: int
    n_unmatched: int
    n_undecided: int
    lowest: float
    highest: float


def matched_share(
    entailed: Sequence[int] | np.ndarray,
    group: Sequence[int] | np.ndarray,
    n_groups: int,
    cluster: Sequence[Hashable] | np.ndarray | None = None,
) -> MatchedShare:
    """Which groups of pairs are matched, and the share of those that are.

    A group (a generated document, or all documents of a claim) is matched if any of its pairs is entailed, whatever
    the others are. It is unmatched if each of its pairs has a label and none is entailed; a group without any pair is
    unmatched too, because nothing in it can be entailed. Otherwise it is undecided and left out of the share: a pair
    without a label could still turn it.

    Parameters
    ----------
    entailed : (n_pairs,) int array
        1 for entailment, 0 for any other label, -1 where the pair has no decided label.
    group : (n_pairs,) int array
        The group of each pair, 0 to n_groups - 1.
    n_groups : int
        Those without pairs included.
    cluster : sequence of length n_groups, optional
        What groups are drawn by for the interval, such as the claim of a document.

    Raises
    ------
    ValueError
        Codes out of range, or columns of different lengths.

    References
    ----------
    Yoon, Jung, Yoon, Park (2025), Hypothetical Documents or Knowledge Leakage? Rethinking LLM-based Query Expansion,
    section 3.3: "if there exists a label entailment, assign matched, otherwise assign unmatched". There every pair has
    a label, so that nothing is undecided.

    Examples
    --------
    Three documents: one entailed pair; none, all labelled; none so far, one pair open.

    >>> result = matched_share([1, -1, 0, 0, 0, -1], [0, 0, 1, 1, 2, 2], 3)
    >>> [VERDICTS[code] for code in result.verdict], result.estimate
    (['matched', 'unmatched', 'undecided'], 0.5)
    >>> round(result.lowest, 3), round(result.highest, 3)
    (0.333, 0.667)
    """
    entailed = code_column(entailed, 2, "entailed")
    group = code_column(group, n_groups, "group")
    if len(entailed) != len(group):
        raise ValueError(f"entailed has {len(entailed)} entries, group {len(group)}")
    if len(group) and group.min() < 0:
        raise ValueError("every pair belongs to a group")
    is_matched = np.bincount(group[entailed == 1], minlength=n_groups) > 0
    is_open = np.bincount(group[entailed < 0], minlength=n_groups) > 0
    verdict = np.where(is_matched, 1, np.where(is_open, 2, 0))
    n_unmatched, n_matched, n_undecided = (int((verdict == code).sum()) for code in range(len(VERDICTS)))
    decided = verdict < 2
    clusters = None
    if cluster is not None:
        if len(cluster) != n_groups:
            raise ValueError(f"cluster has {len(cluster)} entries for {n_groups} groups")
        _, clusters = np.unique(np.asarray(cluster, dtype=object)[decided].astype(str), return_inverse=True)
    sample = SumSample(
        features=np.array([[0.0, 1.0], [1.0, 1.0]]),
        pattern=verdict[decided],
        cluster=clusters,
        statistic=lambda sums: divide(sums[:, 0], sums[:, 1]),
    )
    n_decided = n_matched + n_unmatched
    return MatchedShare(
        estimate=sample.value() if n_decided else np.nan,
        undefined="" if n_decided else NO_GROUP,
        n_units=n_groups,
        n_pairable=n_decided,
        n_labels=int((entailed[decided[group]] >= 0).sum()),
        left_out={UNDECIDED: n_undecided},
        sample=sample,
        verdict=verdict,
        n_matched=n_matched,
        n_unmatched=n_unmatched,
        n_undecided=n_undecided,
        lowest=n_matched / n_groups if n_groups else np.nan,
        highest=(n_matched + n_undecided) / n_groups if n_groups else np.nan,
    )
