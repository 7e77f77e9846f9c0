"""From labels of pieces (claim-triplets) to labels of the responses that they were taken from, and how two sets of them
compare."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.accuracy.confusion import Classification, accuracy_of, classification, confusion_features
from analysis.stats.correlation.coefficients import Correlation, pearson, spearman
from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_RESPONSE = "no response has pieces with labels on both sides"
NO_CLASS = "neither side has such a response (0/0)"
TIES = ("worst", "undecided")


def label_counts(
    label: Sequence[int] | np.ndarray, response: Sequence[int] | np.ndarray, n_responses: int, n_labels: int
) -> np.ndarray:
    """How many pieces of each response have each label, (n_responses, n_labels) int.

    Parameters
    ----------
    label : (n_pieces,) int array
        Codes from 0, or -1 for a piece without a label, which counts nowhere.
    response : (n_pieces,) int array
        Response of each piece, 0 to n_responses - 1. A response without pieces has a row of zeros.
    """
    label = code_column(label, n_labels, "label")
    response = code_column(response, n_responses, "response")
    if len(label) != len(response):
        raise ValueError("label and response differ in length")
    if len(response) and response.min() < 0:
        raise ValueError("response has numbers below 0")
    known = label >= 0
    cell = response[known].astype(np.int64) * n_labels + label[known]
    return np.bincount(cell, minlength=n_responses * n_labels).reshape(n_responses, n_labels)


def first_present(counts: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """The first label of `order` that occurs in each row of counts, (n,) int; -1 for a row of zeros.

    Two rules of RefChecker are this one. Strict aggregation of a response takes the worst label that occurs:
    contradiction, neutral, entailment. What several passages say of one triplet is merged the other way: entailment if
    any passage entails it, else contradiction if any contradicts it, else neutral.

    Parameters
    ----------
    counts : (n, n_labels) int array
    order : sequence of int
        Every label once.

    References
    ----------
    Hu et al. (2024), RefChecker, arXiv:2405.14486, sections 4.3 and 5.1 (zero tolerance), appendix A.3 (passages).

    Examples
    --------
    Labels 0, 1, 2 are entailment, neutral, contradiction.

    >>> counts = [[3, 0, 0], [2, 1, 0], [2, 1, 1], [0, 0, 0]]
    >>> first_present(counts, [2, 1, 0]).tolist(), first_present(counts, [0, 2, 1]).tolist()
    ([0, 1, 2, -1], [0, 0, 0, -1])
    """
    counts = _counts(counts, order)
    present = counts[:, list(order)] > 0
    return np.where(present.any(axis=1), np.asarray(order)[present.argmax(axis=1)], -1)


def most_frequent(counts: np.ndarray, worst_first: Sequence[int], ties: str = "worst") -> tuple[np.ndarray, np.ndarray]:
    """The most frequent label of each row, (n,) int with -1 for none, and where labels tied for it, (n,) bool.

    Parameters
    ----------
    counts : (n, n_labels) int array
    worst_first : sequence of int
        Every label once.
    ties : {'worst', 'undecided'}
        'worst': of labels equally frequent the one named first in `worst_first`. 'undecided': none of them.

    Examples
    --------
    >>> code, tied = most_frequent([[2, 1, 0], [1, 0, 1], [0, 0, 0]], [2, 1, 0])
    >>> code.tolist(), tied.tolist()
    ([0, 2, -1], [False, True, False])
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, not {ties!r}")
    counts = _counts(counts, worst_first)
    top = (counts == counts.max(axis=1, initial=0, keepdims=True)) & (counts > 0)
    tied = top.sum(axis=1) > 1
    code = first_present(top.astype(int), worst_first)
    return np.where(tied, -1, code) if ties == "undecided" else code, tied


def label_shares(counts: np.ndarray) -> np.ndarray:
    """Share of each label among a response's pieces, (n, n_labels); nan for a response without any ('soft')."""
    counts = np.asarray(counts)
    return divide(counts, counts.sum(axis=1, keepdims=True))


def _counts(counts: np.ndarray, order: Sequence[int]) -> np.ndarray:
    counts = np.asarray(counts)
    if counts.ndim != 2 or sorted(order) != list(range(counts.shape[1])):
        raise ValueError("counts is a table, and every column of it must be named once")
    return counts


@dataclass(frozen=True, eq=False, kw_only=True)
class ResponseEvaluation:
    """An automatic labeller against people, response by response.

    Attributes
    ----------
    accuracy, factual_f1, non_factual_f1 : Estimate
        Of 'factual' (every piece has a factual label) against the rest.
    pearson, spearman : Correlation
        Of the shares of pieces that are not factual (hallucination rates).
    strict : Classification
        Of the worst label of each response.
    n_factual, n_predicted_factual : int
        Factual responses by the reference, and by the labeller, among those that enter.
    """

    accuracy: Estimate
    factual_f1: Estimate
    non_factual_f1: Estimate
    pearson: Correlation
    spearman: Correlation
    strict: Classification
    n_factual: int
    n_predicted_factual: int


def response_evaluation(
    reference: np.ndarray,
    predicted: np.ndarray,
    categories: Sequence[str],
    worst_first: Sequence[int],
    factual: Sequence[int],
    cluster: Sequence[Hashable] | np.ndarray | None = None,
) -> ResponseEvaluation:
    """Compare responses by their pieces' labels: is each factual, and how much of it is not?

    A response is factual if and only if all of its pieces have a factual label. Its hallucination rate is the share of
    its pieces that do not.

    Parameters
    ----------
    reference, predicted : (n_responses, n_labels) int arrays
        As from `label_counts`, of the same responses; a row of zeros leaves the response out, counted by side. The
        sides may have different numbers of pieces (another extractor).
    categories : sequence of str
        The labels' names.
    worst_first : sequence of int
        Every label once, for the strict label of a response (see `first_present`).
    factual : sequence of int
        Labels that are factual, such as entailment.
    cluster : (n_responses,) sequence, optional
        Intervals then resample clusters (the question that several models answered).

    Returns
    -------
    ResponseEvaluation
        Undefined where no response has both. An F1 is undefined where neither side has a response of its class.

    References
    ----------
    Hu et al. (2024), RefChecker, arXiv:2405.14486, appendix C.1.

    Examples
    --------
    >>> people, checker = [[2, 0], [1, 1], [0, 2]], [[2, 0], [2, 0], [1, 1]]
    >>> result = response_evaluation(people, checker, ["yes", "no"], [1, 0], [0])
    >>> round(result.accuracy.estimate, 4), round(result.factual_f1.estimate, 4)
    (0.6667, 0.6667)
    """
    reference, predicted = _counts(reference, worst_first), _counts(predicted, worst_first)
    if reference.shape != predicted.shape or reference.shape[1] != len(categories):
        raise ValueError("reference, predicted and categories do not fit each other")
    if cluster is not None and len(cluster) != len(reference):
        raise ValueError("cluster and reference differ in length")
    drawn_from = None if cluster is None else np.unique(np.asarray(cluster), return_inverse=True)[1]
    is_factual, rates = zip(*(_factual(counts, factual) for counts in (reference, predicted)), strict=True)
    binary = _Binary(*is_factual, drawn_from)
    return ResponseEvaluation(
        accuracy=binary.estimate(accuracy_of),
        factual_f1=binary.estimate(lambda sums: _f1_of(sums, 1)),
        non_factual_f1=binary.estimate(lambda sums: _f1_of(sums, 0)),
        pearson=pearson(rates[1], rates[0], drawn_from),
        spearman=spearman(rates[1], rates[0], drawn_from),
        strict=classification(
            first_present(reference, worst_first), first_present(predicted, worst_first), categories, drawn_from
        ),
        n_factual=int(binary.truth[binary.both].sum()),
        n_predicted_factual=int(binary.predicted[binary.both].sum()),
    )


def _factual(counts: np.ndarray, factual: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """1 factual, 0 not, -1 for none, and the share of pieces that are not factual (nan for none)."""
    n = counts.sum(axis=1)
    n_factual = counts[:, list(factual)].sum(axis=1)
    return np.where(n > 0, n_factual == n, -1), divide((n - n_factual).astype(float), n)


@dataclass(frozen=True, eq=False)
class _Binary:
    truth: np.ndarray
    predicted: np.ndarray
    cluster: np.ndarray | None

    @property
    def both(self) -> np.ndarray:
        return (self.truth >= 0) & (self.predicted >= 0)

    def estimate(self, statistic) -> Estimate:
        both = self.both
        cell, pattern = np.unique(self.truth[both] * 2 + self.predicted[both], return_inverse=True)
        features = confusion_features(*np.divmod(cell, 2), 2)
        sample = SumSample(features, pattern, None if self.cluster is None else self.cluster[both], statistic)
        value = sample.value() if len(pattern) else np.nan
        left_out = {
            "no reference": int(((self.truth < 0) & (self.predicted >= 0)).sum()),
            "no prediction": int(((self.truth >= 0) & (self.predicted < 0)).sum()),
            "neither reference nor prediction": int(((self.truth < 0) & (self.predicted < 0)).sum()),
        }
        return Estimate(
            estimate=value,
            undefined=NO_RESPONSE if not len(pattern) else NO_CLASS if np.isnan(value) else "",
            n_units=len(self.truth),
            n_pairable=len(pattern),
            n_labels=2 * len(pattern),
            left_out={reason: n for reason, n in left_out.items() if n},
            sample=sample,
        )


def _f1_of(sums: np.ndarray, code: int) -> np.ndarray:
    hits, support, predicted = (part[:, code] for part in np.split(sums, 3, axis=1))
    return divide(2 * hits, support + predicted)
