"""How well rankings find what is relevant: recall and normalised discounted cumulative gain of the first k."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class RankingScores:
    """Scores of each query at one cut-off.

    Attributes
    ----------
    k : int
    recall, ndcg : (n_queries,) float arrays
        nan for a query for which nothing is relevant.
    n_relevant, n_found : (n_queries,) int arrays
        Relevant documents, and those among the first k.
    """

    k: int
    recall: np.ndarray
    ndcg: np.ndarray
    n_relevant: np.ndarray
    n_found: np.ndarray


def ranking_scores(
    ranked: Sequence[Sequence[Hashable]], relevant: Sequence[Collection[Hashable]], k: int
) -> RankingScores:
    """Recall@k and NDCG@k of every query, as trec_eval computes them (`recall_k`, `ndcg_cut_k`).

    Recall@k is the share of the relevant documents that stand among the first k. NDCG@k is
    ``sum_i rel_i / log2(i + 1)`` over the first k, divided by what the best order would give; relevance is 1 or 0, so
    that linear and exponential gains are the same. A query that has fewer than k documents is not padded.

    Parameters
    ----------
    ranked : sequence of n_queries sequences
        Documents of each query, best first. Where several passages of one document were found, the document stands at
        the place of its first passage, and the later ones are taken out before places are counted.
    relevant : sequence of n_queries collections
        The relevant documents of each query, whether ranked or not.
    k : int
        At least 1.

    Raises
    ------
    ValueError
        Different numbers of queries, or a k below 1.
    ImportError
        Without the package pytrec-eval-terrier.

    References
    ----------
    Jarvelin and Kekalainen (2002), Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 422-446;
    doi:10.1145/582415.582418. Van Gysel and de Rijke (2018), Pytrec_eval, SIGIR; doi:10.1145/3209978.3210065.

    Examples
    --------
    >>> result = ranking_scores([["x", "a", "b"], ["y"]], [{"a", "c"}, set()], k=2)
    >>> result.recall.tolist(), result.ndcg.round(4).tolist()
    ([0.5, nan], [0.3869, nan])
    """
    if len(ranked) != len(relevant):
        raise ValueError(f"ranked has {len(ranked)} queries, relevant {len(relevant)}")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    from pytrec_eval import RelevanceEvaluator

    wanted = [set(documents) for documents in relevant]
    distinct = [list(dict.fromkeys(documents)) for documents in ranked]
    # trec_eval knows documents as texts, and orders them by score; a place counted downwards is such a score.
    judged = {str(q): {_text(document): 1 for document in targets} for q, targets in enumerate(wanted) if targets}
    placed = {
        str(q): {_text(document): float(-place) for place, document in enumerate(distinct[q][:k])}
        for q, targets in enumerate(wanted)
        if targets and distinct[q]
    }
    scores = RelevanceEvaluator(judged, {f"recall.{k}", f"ndcg_cut.{k}"}).evaluate(placed)
    n_relevant = np.array([len(targets) for targets in wanted], dtype=np.int64)
    recall, ndcg = np.where(n_relevant > 0, 0.0, np.nan), np.where(n_relevant > 0, 0.0, np.nan)
    for query, measures in scores.items():
        recall[int(query)], ndcg[int(query)] = measures[f"recall_{k}"], measures[f"ndcg_cut_{k}"]
    n_found = np.array([len(targets & set(distinct[q][:k])) for q, targets in enumerate(wanted)], dtype=np.int64)
    return RankingScores(k=k, recall=recall, ndcg=ndcg, n_relevant=n_relevant, n_found=n_found)


def _text(document: Hashable) -> str:
    return document if isinstance(document, str) else repr(document)
