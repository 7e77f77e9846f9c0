"""Figures over repeated generations: the mean over repetitions, its standard error, and an interval over queries.

A language model that writes anew gives other texts, so a figure is computed once per repetition. The standard error
says how far the mean over repetitions would vary if the same queries were generated for again; the interval, which
draws queries, says how far it would vary with other queries. Neither stands in for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.stats.accuracy.confusion import confusion_features, macro_f1_of
from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_ROW = "no query has a value"


@dataclass(frozen=True, eq=False, kw_only=True)
class RepeatedEstimate(Estimate):
    """A figure's mean over the repetitions in which it is defined.

    `n_units` counts rows (a query in a repetition), `n_pairable` those with a value, `n_queries` the distinct queries
    among the latter.

    Attributes
    ----------
    per_repetition : dict of hashable to float
        The figure in each repetition, nan where no row has a value.
    standard_error : float
        Standard deviation of the defined `per_repetition` (with n - 1) divided by the root of their number; nan with
        fewer than two.
    n_queries : int
    """

    per_repetition: dict[Hashable, float]
    standard_error: float
    n_queries: int
    names: tuple[Hashable, ...] = field(repr=False)  # of the queries, in the order of the sample's rows


def repeated_mean(
    value: Sequence[float] | np.ndarray, query: Sequence[Hashable], repetition: Sequence[Hashable]
) -> RepeatedEstimate:
    """Mean over queries in each repetition, then over repetitions.

    Parameters
    ----------
    value : (n_rows,) float array
        One value of a query in a repetition; nan where it has none, which is left out and counted.
    query, repetition : sequences of length n_rows
        A query may be missing from some repetitions, such as those in which its document is not matched.

    Returns
    -------
    RepeatedEstimate
        Undefined where no row has a value. Intervals draw queries, each with all its repetitions.

    Raises
    ------
    ValueError
        Columns of different lengths, or a query twice in one repetition.

    References
    ----------
    Yoon, Jung, Yoon, Park (2025), Hypothetical Documents or Knowledge Leakage? Rethinking LLM-based Query Expansion,
    section 4: average and standard error of eight repetitions.

    Examples
    --------
    Means 0.5 and 1.0 in two repetitions.

    >>> result = repeated_mean([0, 1, 1, np.nan], ["a", "b", "a", "b"], [1, 1, 2, 2])
    >>> result.estimate, result.standard_error, result.left_out
    (0.75, 0.25, {'no value': 1})
    """
    value = np.asarray(value, dtype=float)
    if value.ndim != 1 or not len(value) == len(query) == len(repetition):
        raise ValueError("value, query and repetition must be columns of one length")
    has = np.isfinite(value)
    features = np.column_stack([np.where(has, value, 0), np.ones(len(value))])
    reasons = {"no value": int((~has).sum())}
    return _over_repetitions(features, has, query, repetition, lambda sums: divide(sums[:, 0], sums[:, 1]), reasons)


def repeated_macro_f1(
    reference: Sequence[int] | np.ndarray,
    predicted: Sequence[int] | np.ndarray,
    categories: Sequence[str],
    query: Sequence[Hashable],
    repetition: Sequence[Hashable],
) -> RepeatedEstimate:
    """Macro-F1 in each repetition (as `classification` has it), then the mean over repetitions.

    Parameters
    ----------
    reference, predicted : (n_rows,) int arrays
        Codes into `categories`, -1 for none; rows without both are left out and counted.
    query, repetition : sequences of length n_rows

    Raises
    ------
    ValueError
        As `repeated_mean`, and for codes out of range.

    Examples
    --------
    >>> result = repeated_macro_f1([0, 1, 0, 1], [0, 1, 0, 0], ["no", "yes"], "abab", [1, 1, 2, 2])
    >>> round(result.estimate, 4), round(result.standard_error, 4)
    (0.6667, 0.3333)
    """
    k = len(categories)
    reference = code_column(reference, k, "reference")
    predicted = code_column(predicted, k, "predicted")
    if not len(reference) == len(predicted) == len(query) == len(repetition):
        raise ValueError("reference, predicted, query and repetition must be columns of one length")
    both = (reference >= 0) & (predicted >= 0)
    features = confusion_features(np.maximum(reference, 0), np.maximum(predicted, 0), k)
    reasons = {"no reference": int((reference < 0).sum()), "no prediction": int((both < (reference >= 0)).sum())}
    return _over_repetitions(features, both, query, repetition, macro_f1_of, reasons)


def repeated_difference(first: RepeatedEstimate, second: RepeatedEstimate) -> Estimate:
    """`first` minus `second`, with an interval that draws each query once for both.

    A query may enter both, such as one whose document is matched in some repetitions and not in others.

    Returns
    -------
    Estimate
        Undefined where either is.

    Examples
    --------
    >>> result = repeated_difference(repeated_mean([1, 0.5], "ab", [1, 1]), repeated_mean([0.25], "c", [1]))
    >>> result.estimate
    0.5
    """
    samples = (first.sample, second.sample)
    names = {name: place for place, name in enumerate(dict.fromkeys((*first.names, *second.names)))}
    widths = [sample.features.shape[1] for sample in samples]
    features = np.zeros((len(names), sum(widths)))
    for own, sample, start in zip((first.names, second.names), samples, (0, widths[0]), strict=True):
        rows = [names[name] for name in own]
        features[rows, start : start + sample.features.shape[1]] = sample.features
    undefined = first.undefined or second.undefined
    reasons = dict.fromkeys((*first.left_out, *second.left_out))
    statistics = [sample.statistic for sample in samples]
    return Estimate(
        estimate=np.nan if undefined else first.estimate - second.estimate,
        undefined=undefined,
        n_units=first.n_units + second.n_units,
        n_pairable=first.n_pairable + second.n_pairable,
        n_labels=first.n_labels + second.n_labels,
        left_out={name: first.left_out.get(name, 0) + second.left_out.get(name, 0) for name in reasons},
        sample=SumSample(
            features,
            np.arange(len(names)),
            np.arange(len(names)),
            lambda sums: statistics[0](sums[:, : widths[0]]) - statistics[1](sums[:, widths[0] :]),
            samples[0].work_per_row + samples[1].work_per_row,
        ),
    )


def _over_repetitions(
    features: np.ndarray,
    has: np.ndarray,
    query: Sequence[Hashable],
    repetition: Sequence[Hashable],
    statistic: Callable[[np.ndarray], np.ndarray],
    reasons: dict[str, int],
) -> RepeatedEstimate:
    """One row of features per query: those of its repetitions side by side, 0 for what it does not have."""
    if len(set(zip(query, repetition, strict=True))) < len(has):
        raise ValueError("a query stands twice in one repetition")
    repetitions = list(dict.fromkeys(repetition))
    place = {name: number for number, name in enumerate(repetitions)}
    kept = np.flatnonzero(has)
    names = tuple(dict.fromkeys(query[row] for row in kept))
    number = {name: row for row, name in enumerate(names)}
    width = features.shape[1]
    table = np.zeros((len(names), len(repetitions), width))
    rows, columns = [number[query[row]] for row in kept], [place[repetition[row]] for row in kept]
    table[rows, columns] = features[kept]

    def each(sums: np.ndarray) -> np.ndarray:
        return statistic(sums.reshape(-1, width)).reshape(len(sums), -1)

    def mean(sums: np.ndarray) -> np.ndarray:
        figures = each(sums)
        defined = ~np.isnan(figures)
        return divide(np.where(defined, figures, 0).sum(axis=1), defined.sum(axis=1))

    flat = table.reshape(len(names), len(repetitions) * width)
    figures = each(flat.sum(axis=0, keepdims=True))[0] if repetitions else np.empty(0)
    defined = figures[~np.isnan(figures)]
    sample = SumSample(flat, np.arange(len(names)), np.arange(len(names)), mean, 4 * max(flat.shape[1], 1))
    return RepeatedEstimate(
        estimate=float(defined.mean()) if len(defined) else np.nan,
        undefined="" if len(defined) else NO_ROW,
        n_units=len(has),
        n_pairable=len(kept),
        n_labels=len(kept),
        left_out={reason: n for reason, n in reasons.items() if n},
        sample=sample,
        per_repetition={name: float(figure) for name, figure in zip(repetitions, figures, strict=True)},
        standard_error=float(defined.std(ddof=1) / np.sqrt(len(defined))) if len(defined) > 1 else np.nan,
        n_queries=len(names),
        names=names,
    )
