"""ICAT: how factual a long answer is, how many aspects its supported claims cover, and both in one score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide
from analysis.stats.resampling.means import GroupedMeans, grouped_means

UNKNOWN_CLAIMS = "without judged claims"
NO_CLAIMS = "without claims"
UNKNOWN_ASPECTS = "with aspects that nobody judged"
NO_ASPECTS = "without aspects"
BOTH_ZERO = "with neither a supported claim nor a covered aspect (0/0)"
REASONS = (UNKNOWN_CLAIMS, NO_CLAIMS, UNKNOWN_ASPECTS, NO_ASPECTS, BOTH_ZERO)
NOTHING_DEFINED = "no response has this figure"
# undefined: nan, and left out of means. zero: 0, as the public code of ICAT has it.
CONVENTIONS = ("undefined", "zero")
FIGURES = ("factuality", "coverage", "score")


@dataclass(frozen=True, eq=False)
class IcatScores:
    """ICAT's three figures of each response.

    Attributes
    ----------
    factuality, coverage, score : (n_responses,) float arrays
        nan where undefined; `score` is ICAT with the weight `beta`.
    reason : dict of str to (n_responses,) int array
        For each of FIGURES the position in REASONS of why it is undefined, -1 where it is defined.
    beta : float
    convention : str
        One of CONVENTIONS.
    """

    factuality: np.ndarray
    coverage: np.ndarray
    score: np.ndarray
    reason: dict[str, np.ndarray]
    beta: float
    convention: str

    def figure(self, name: str) -> np.ndarray:
        """One of FIGURES, (n_responses,)."""
        if name not in FIGURES:
            raise ValueError(f"a figure of ICAT is one of {', '.join(FIGURES)}, not {name!r}")
        return getattr(self, name)

    def why_undefined(self, name: str, response: int) -> str:
        """The reason of one response; empty where its figure is defined."""
        code = self.reason[name][response]
        return REASONS[code] if code >= 0 else ""


def icat_scores(
    n_supported: Sequence[int] | np.ndarray,
    n_claims: Sequence[int] | np.ndarray,
    n_covered: Sequence[int] | np.ndarray,
    n_aspects: Sequence[int] | np.ndarray,
    beta: float = 1.0,
    convention: str = "undefined",
) -> IcatScores:
    """Factuality, coverage and ICAT of each response, ``(1 + beta^2) F C / (beta^2 F + C)``.

    F is the share of the response's atomic claims that the knowledge source supports, C the share of its question's
    aspects that it covers (by ICAT's definition: that a supported claim deals with). A `beta` above 1 favours C.

    Parameters
    ----------
    n_supported, n_claims : (n_responses,) int arrays
        -1 in either where the claims were not extracted or not judged.
    n_covered, n_aspects : (n_responses,) int arrays
        -1 in either where some aspect was not judged.
    beta : float
        Above 0.
    convention : str
        F is undefined without claims, C without aspects, and the score where either is undefined or both are 0.
        `undefined` leaves these nan. `zero` makes them 0, as ICAT's public code does; what was not judged stays nan.

    Raises
    ------
    ValueError
        Columns of different lengths, more supported than claims or more covered than aspects, a wrong `beta` or
        `convention`.

    References
    ----------
    Samarinas, Krubner, Salemi, Kim and Zamani (2025), Beyond Factual Accuracy: Evaluating Coverage of Diverse Factual
    Information in Long-form Text Generation, arXiv:2501.03545, section 3.

    Examples
    --------
    Three of four claims supported, and one of three aspects covered; then a response without claims.

    >>> result = icat_scores([3, 0], [4, 0], [1, 0], [3, 3])
    >>> result.factuality.tolist(), result.score.round(4).tolist(), result.why_undefined("score", 1)
    ([0.75, nan], [0.4615, nan], 'without claims')
    >>> icat_scores([3, 0], [4, 0], [1, 0], [3, 3], convention="zero").score.round(4).tolist()
    [0.4615, 0.0]
    """
    _check_beta(beta)
    if convention not in CONVENTIONS:
        raise ValueError(f"convention is one of {', '.join(CONVENTIONS)}, not {convention!r}")
    supported, claims, covered, aspects = (
        np.asarray(column, dtype=np.int64) for column in (n_supported, n_claims, n_covered, n_aspects)
    )
    if len({column.shape for column in (supported, claims, covered, aspects)}) > 1 or supported.ndim != 1:
        raise ValueError("n_supported, n_claims, n_covered and n_aspects must be columns of one length")
    if (supported > claims)[claims >= 0].any():
        raise ValueError("a response has more supported claims than claims")
    if (covered > aspects)[aspects >= 0].any():
        raise ValueError("a response has more covered aspects than aspects")
    claims_reason = np.where((claims < 0) | (supported < 0), 0, np.where(claims == 0, 1, -1))
    aspects_reason = np.where((aspects < 0) | (covered < 0), 2, np.where(aspects == 0, 3, -1))
    factuality = np.where(claims_reason < 0, divide(supported.astype(float), claims.astype(float)), np.nan)
    coverage = np.where(aspects_reason < 0, divide(covered.astype(float), aspects.astype(float)), np.nan)
    score = combined(factuality, coverage, beta)
    score_reason = np.where(claims_reason >= 0, claims_reason, aspects_reason)
    # What was not judged outweighs what is not there, because no convention makes a number of it.
    score_reason = np.where(aspects_reason == 2, np.where(claims_reason == 0, 0, 2), score_reason)
    score_reason = np.where((score_reason < 0) & np.isnan(score), 4, score_reason)
    reason = {"factuality": claims_reason, "coverage": aspects_reason, "score": score_reason}
    values = {"factuality": factuality, "coverage": coverage, "score": score}
    if convention == "zero":
        for name, code in reason.items():
            is_made_zero = (code >= 0) & (code != 0) & (code != 2)
            values[name] = np.where(is_made_zero, 0.0, values[name])
            reason[name] = np.where(is_made_zero, -1, code)
    return IcatScores(**values, reason=reason, beta=float(beta), convention=convention)


def combined(factuality: np.ndarray, coverage: np.ndarray, beta: float | np.ndarray) -> np.ndarray:
    """ICAT of shares that are known, by broadcasting; nan where either is nan or both are 0."""
    square = np.square(beta)
    return divide((1 + square) * factuality * coverage, square * factuality + coverage)


def mean_icat(
    scores: IcatScores, figure: str, where: np.ndarray, cluster: np.ndarray | Sequence[int] | None = None
) -> Estimate:
    """Mean of one figure over some of the responses, each with equal weight: ICAT's 'per query, then averaged'.

    Responses without the figure are left out and counted by reason; undefined where all are.

    Parameters
    ----------
    scores : IcatScores
    figure : str
        One of FIGURES.
    where : (n_responses,) bool array
        The responses to average over, such as those of one model.
    cluster : (n_responses,) int array, optional
        The query of each response; intervals then resample queries.

    Examples
    --------
    >>> scores = icat_scores([1, 2, 0], [2, 2, 0], [1, 1, 1], [2, 2, 2])
    >>> mean = mean_icat(scores, "factuality", np.array([True, True, True]))
    >>> mean.estimate, mean.left_out
    (0.75, {'without claims': 1})
    """
    where = np.asarray(where, dtype=bool)
    values, reason = scores.figure(figure), scores.reason[figure]
    used = where & (reason < 0)
    # Few values differ; held once each and in their own order, so that the order of responses changes no interval.
    distinct, pattern = np.unique(values[used], return_inverse=True)
    sample = SumSample(
        np.column_stack([distinct, np.ones(len(distinct))]),
        pattern,
        None if cluster is None else np.asarray(cluster)[used],
        lambda sums: divide(sums[:, 0], sums[:, 1]),
    )
    counts = {name: int((reason[where] == code).sum()) for code, name in enumerate(REASONS)}
    return Estimate(
        estimate=sample.value() if len(pattern) else np.nan,
        undefined="" if len(pattern) else NOTHING_DEFINED,
        n_units=int(where.sum()),
        n_pairable=len(pattern),
        n_labels=len(pattern),
        left_out={name: n for name, n in counts.items() if n},
        sample=sample,
    )


def icat_curve(
    scores: IcatScores,
    betas: Sequence[float] | np.ndarray,
    groups: np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> GroupedMeans:
    """Mean of ICAT in groups of responses for each of several weights.

    Which responses have a score hangs on no weight, so the means of a group are over the same ones at every beta.

    Parameters
    ----------
    scores : IcatScores
        Their own beta plays no part; their convention does.
    betas : (n_betas,) float array
        Each above 0.
    groups : (n_responses, n_groups) bool array
        Such as the responses of each model, and all of them.
    cluster : (n_responses,) int array, optional
        The query of each response; intervals then resample queries, the same ones at every beta.

    Returns
    -------
    GroupedMeans
        With a row per group and a column per beta. `n_missing` counts the responses without a score.

    Examples
    --------
    >>> scores = icat_scores([1, 2], [2, 2], [1, 1], [2, 4])
    >>> icat_curve(scores, [0.5, 1, 2], np.array([[True], [True]])).mean.round(3).tolist()
    [[0.562, 0.45, 0.397]]
    """
    betas = np.asarray(betas, dtype=float)
    for beta in betas:
        _check_beta(float(beta))
    table = combined(scores.factuality[:, None], scores.coverage[:, None], betas)
    if scores.convention == "zero":
        table = np.where((scores.reason["score"] < 0)[:, None] & np.isnan(table), 0.0, table)
    return grouped_means(table, groups, cluster)


def _check_beta(beta: float) -> None:
    if not (np.isfinite(beta) and beta > 0):
        raise ValueError(f"beta must be a number above 0, not {beta}")
