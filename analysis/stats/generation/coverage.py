"""How many of a question's aspects a response covers (ICAT's coverage), by the majority of people."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import Labels, code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_ASPECTS = "without aspects"
UNDECIDED = "with too few labels"
ALL_TIED = "with ties alone"
NO_RESPONSE = "no response has a coverage"
TIES = ("excluded", "not_covered", "covered")
# What an aspect is found to be, in the order of the codes.
VERDICTS = ("not_covered", "covered", "tied", "undecided")


@dataclass(frozen=True, eq=False)
class ResponseCoverage:
    """Coverage of each response.

    Attributes
    ----------
    share : (n_responses,) float array
        Covered aspects / aspects that count; nan where undefined.
    verdict : (n_units,) int array
        Position in VERDICTS of each aspect in its response: what most people say, a tie, or too few labels.
    n_labels : (n_units,) int array
        People who labelled it.
    n_aspects, n_covered, n_not_covered, n_tied, n_undecided : (n_responses,) int arrays
        Aspects, and how many of them have each verdict; the last four add up to the first.
    n_votes : (n_responses,) int array
        Labels of all of its aspects.
    reason : (n_responses,) int array
        Position in `reasons` of why the share is undefined, -1 where it is defined.
    reasons : tuple of str
    ties : str
    min_labels : int
    """

    share: np.ndarray
    verdict: np.ndarray
    n_labels: np.ndarray
    n_aspects: np.ndarray
    n_covered: np.ndarray
    n_not_covered: np.ndarray
    n_tied: np.ndarray
    n_undecided: np.ndarray
    n_votes: np.ndarray
    reason: np.ndarray
    reasons: tuple[str, ...]
    ties: str
    min_labels: int

    def why_undefined(self, response: int) -> str:
        """The reason of one response; empty where its coverage is defined."""
        return self.reasons[self.reason[response]] if self.reason[response] >= 0 else ""


def response_coverage(
    labels: Labels,
    response: np.ndarray,
    n_responses: int,
    covering: Collection[str],
    min_labels: int = 1,
    ties: str = "excluded",
) -> ResponseCoverage:
    """Share of its question's aspects that each response covers, by majority vote over each aspect.

    An aspect is covered if more of its labels are in `covering` than are not, not covered if fewer are, and tied if
    equally many are. With fewer than `min_labels` labels it is undecided. A response with an undecided aspect has no
    coverage, because coverage is a share of all aspects. Tied aspects leave numerator and denominator
    (`ties="excluded"`), or count as not covered or as covered. Coverage is undefined without aspects, with an undecided
    one, and where all are tied and excluded.

    Parameters
    ----------
    labels : Labels
        Units are aspects in responses; units without labels are units too.
    response : (n_units,) int array
        The response of each unit, 0 to n_responses - 1.
    n_responses : int
        Those to questions without aspects included.
    covering : collection of str
        The categories that say that the aspect is covered.
    min_labels : int
        At least 1.
    ties : str
        One of TIES.

    Raises
    ------
    ValueError
        Wrong `min_labels`, `ties`, responses out of range, or a covering label that is no category.

    References
    ----------
    Samarinas et al. (2025), Beyond Factual Accuracy: Evaluating Coverage of Diverse Factual Information in Long-form
    Text Generation, arXiv:2501.03545: coverage is covered aspects / all aspects, three annotators, majority vote, which
    never ties. Its public code gives 0 where there is no aspect; here that is undefined.

    Examples
    --------
    Two aspects with three labels each, both of response 0; response 1 has no aspects.

    >>> labels = Labels.from_columns("aaabbb", "xyzxyz", "++--+-", "-+")
    >>> result = response_coverage(labels, [0, 0], 2, "+")
    >>> result.share.tolist(), result.n_covered.tolist(), result.why_undefined(1)
    ([0.5, nan], [1, 0], 'without aspects')
    """
    if min_labels < 1:
        raise ValueError(f"min_labels must be at least 1, not {min_labels}")
    if ties not in TIES:
        raise ValueError(f"ties is one of {', '.join(TIES)}, not {ties!r}")
    if unknown := set(covering) - set(labels.categories):
        raise ValueError(f"covering labels {sorted(unknown)} are no categories")
    response = code_column(response, n_responses, "response")
    if len(response) != labels.n_units:
        raise ValueError(f"response has {len(response)} entries for {labels.n_units} units")
    if len(response) and response.min() < 0:
        raise ValueError("every unit belongs to a response")
    is_covering = np.isin(labels.value, [labels.categories.index(label) for label in covering])
    n_labels = np.bincount(labels.unit, minlength=labels.n_units)
    n_for = np.bincount(labels.unit[is_covering], minlength=labels.n_units)
    lead = 2 * n_for - n_labels
    verdict = np.where(n_labels < min_labels, 3, np.where(lead > 0, 1, np.where(lead < 0, 0, 2)))
    n_not, n_covered, n_tied, n_undecided = (
        np.bincount(response[verdict == code], minlength=n_responses) for code in range(len(VERDICTS))
    )
    n_aspects = np.bincount(response, minlength=n_responses)
    numerator = n_covered + (n_tied if ties == "covered" else 0)
    denominator = n_aspects - (n_tied if ties == "excluded" else 0)
    reason = np.where(n_aspects == 0, 0, np.where(n_undecided > 0, 1, np.where(denominator == 0, 2, -1)))
    share = np.where(reason < 0, divide(numerator.astype(float), denominator.astype(float)), np.nan)
    return ResponseCoverage(
        share=share,
        verdict=verdict,
        n_labels=n_labels,
        n_aspects=n_aspects,
        n_covered=n_covered,
        n_not_covered=n_not,
        n_tied=n_tied,
        n_undecided=n_undecided,
        n_votes=np.bincount(response[labels.unit], minlength=n_responses),
        reason=reason,
        reasons=(NO_ASPECTS, UNDECIDED, ALL_TIED),
        ties=ties,
        min_labels=min_labels,
    )


def mean_coverage(coverage: ResponseCoverage, where: np.ndarray, cluster: np.ndarray | None = None) -> Estimate:
    """Mean coverage over some of the responses, each with equal weight.

    Responses without a coverage are left out and counted by reason; undefined where all are.

    Parameters
    ----------
    coverage : ResponseCoverage
    where : (n_responses,) bool array
        The responses to average over.
    cluster : (n_responses,) int array, optional
        What responses come in, such as their query; intervals then resample clusters.

    Examples
    --------
    >>> labels = Labels.from_columns("abc", "xxx", "+-+", "-+")
    >>> result = response_coverage(labels, [0, 0, 1], 2, "+")
    >>> mean_coverage(result, np.array([True, True])).estimate
    0.75
    """
    where = np.asarray(where, dtype=bool)
    used = where & (coverage.reason < 0)
    # Few shares differ; held once each and in their own order, so that the order of responses changes no interval.
    share, pattern = np.unique(coverage.share[used], return_inverse=True)
    sample = SumSample(
        np.column_stack([share, np.ones(len(share))]),
        pattern,
        None if cluster is None else np.asarray(cluster)[used],
        lambda sums: divide(sums[:, 0], sums[:, 1]),
    )
    counts = {reason: int((coverage.reason[where] == code).sum()) for code, reason in enumerate(coverage.reasons)}
    return Estimate(
        estimate=sample.value() if len(pattern) else np.nan,
        undefined="" if len(pattern) else NO_RESPONSE,
        n_units=int(where.sum()),
        n_pairable=len(pattern),
        n_labels=int(coverage.n_votes[used].sum()),
        left_out={reason: n for reason, n in counts.items() if n},
        sample=sample,
    )
