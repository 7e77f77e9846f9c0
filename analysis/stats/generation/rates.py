"""How often each label occurs in a model's responses: macro over responses, then over models.

Responses to one question are alike, whichever model wrote them, so the questions can be given to be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.stats.correlation.systems import SystemMeans, system_means
from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import NO_INFLUENCE, Estimate, Sample, SumSample, divide, effective_n_of_parts

NO_RESPONSE = "the model has no response"
ALL_ABSTAINED = "the model abstained from every response"
UNDEFINED_PART = "no value for at least one {}"


@dataclass(frozen=True, eq=False)
class ModelRates:
    """Rates of one model.

    Attributes
    ----------
    model : hashable
    shares : dict of str to Estimate
        Mean over its answered responses of the label's share within the response, for each kept label; they add up
        to 1.
    abstained : Estimate
        Share of its responses that have no triplet.
    n_responses, n_answered, n_abstained, n_only_excluded : int
        Responses; those with a kept label; those without a triplet; those whose triplets all carry excluded labels,
        which are neither answered nor abstained.
    n_labels, n_excluded : int
        Kept and excluded triplets.
    """

    model: Hashable
    shares: dict[str, Estimate]
    abstained: Estimate
    n_responses: int
    n_answered: int
    n_abstained: int
    n_only_excluded: int
    n_labels: int
    n_excluded: int


@dataclass(frozen=True, eq=False)
class LabelRates:
    """Rates per model, and the unweighted mean over models of each."""

    models: tuple[ModelRates, ...]
    shares: dict[str, Estimate]
    abstained: Estimate
    categories: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MeanSample:
    """Unweighted mean of figures of independent samples, each resampled by itself."""

    parts: tuple[Sample, ...] = field(repr=False)

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        drawn = [part.n_drawn(clusters) for part in self.parts]
        return sum(n for n, _ in drawn), bool(drawn) and all(clustered for _, clustered in drawn)

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        return np.mean([part.values(n_resamples, rng, clusters) for part in self.parts], axis=0)

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        if not all(hasattr(part, "influences") for part in self.parts):
            return NO_INFLUENCE
        parts = [part.influences(clusters) for part in self.parts]
        falls = [value / len(parts) for value, _ in parts]
        return np.concatenate(falls), np.concatenate([times for _, times in parts])

    def effective_n(self, clusters: bool) -> float:
        if not all(hasattr(part, "influences") for part in self.parts):
            return np.inf
        return effective_n_of_parts([part.influences(clusters) for part in self.parts])


def label_rates(
    label: Sequence[int] | np.ndarray,
    response: Sequence[Hashable],
    model: Sequence[Hashable],
    n_responses: Mapping[Hashable, int],
    categories: Sequence[str],
    excluded: Sequence[str] = (),
    cluster: Mapping[tuple[Hashable, Hashable], Hashable] | None = None,
) -> LabelRates:
    """Label and abstain rates from labelled triplets.

    A response's share of a label is the share among its triplets; a model's rate is the mean over its responses that
    have triplets; the overall rate is the unweighted mean over models. The abstain rate of a model is the share of its
    responses that have no triplet.

    Parameters
    ----------
    label : (n_triplets,) int array
        Codes into `categories`. A triplet nobody labelled has no row; decide before whether its response takes part.
    response, model : sequences of length n_triplets
        Identify the triplet's response and model. Response ids may repeat across models.
    n_responses : mapping of model to int
        All responses of each model, those without triplets included; a model without any triplet is named here too.
    categories : sequence of str
    excluded : sequence of str
        Labels whose triplets are dropped before shares are taken, such as a bad triplet.
    cluster : mapping of (model, response) to hashable, optional
        The question of every response, of those without triplets too.

    Returns
    -------
    LabelRates
        A model's shares are undefined where it answered nothing; the mean over models is then undefined as well.
        Intervals resample the questions with all that answers them, for the mean over models the same ones for all
        models, because a hard question is hard for each. Without `cluster` they resample the responses of each model by
        themselves.

    Raises
    ------
    ValueError
        A model missing from `n_responses`, more responses with triplets than responses, codes out of range, an excluded
        label that is no category, a `cluster` that does not name each response once.

    References
    ----------
    Hu et al. (2024), RefChecker, arXiv:2405.14486 (rates per model, macro-averaged over its responses).

    Examples
    --------
    Responses with shares (1, 0) and (1/2, 1/2), and one without triplets.

    >>> rates = label_rates([0, 0, 1], ["r1", "r2", "r2"], ["m", "m", "m"], {"m": 3}, ["true", "false"])
    >>> rates.shares["true"].estimate, round(rates.abstained.estimate, 4)
    (0.75, 0.3333)
    """
    categories, excluded = tuple(categories), tuple(excluded)
    label = code_column(label, len(categories), "label")
    if not len(label) == len(response) == len(model):
        raise ValueError("label, response and model differ in length")
    if len(label) and label.min() < 0:
        raise ValueError("label has codes below 0; leave out the rows of triplets without a label")
    if unknown := set(excluded) - set(categories):
        raise ValueError(f"excluded labels {sorted(unknown)} are no categories")
    kept = [code for code, category in enumerate(categories) if category not in excluded]
    counts: dict[Hashable, dict[Hashable, np.ndarray]] = {name: {} for name in n_responses}
    for code, response_id, name in zip(label.tolist(), response, model, strict=True):
        if name not in counts:
            raise ValueError(f"model {name!r} has triplets but no number of responses")
        row = counts[name].setdefault(response_id, np.zeros(len(categories), dtype=np.int64))
        row[code] += 1
    kept_labels = tuple(categories[code] for code in kept)
    models = tuple(
        _rates_of_model(name, list(rows.values()), n_responses[name], kept, categories) for name, rows in counts.items()
    )
    pooled = LabelRates(
        models=models,
        shares={label: mean_of([rates.shares[label] for rates in models]) for label in kept_labels},
        abstained=mean_of([rates.abstained for rates in models]),
        categories=kept_labels,
        excluded=excluded,
    )
    return pooled if cluster is None else _drawn_by_cluster(pooled, counts, kept, n_responses, cluster)


def _drawn_by_cluster(
    pooled: LabelRates,
    counts: dict[Hashable, dict[Hashable, np.ndarray]],
    kept: list[int],
    n_responses: Mapping[Hashable, int],
    cluster: Mapping[tuple[Hashable, Hashable], Hashable],
) -> LabelRates:
    """The same rates, resampled by clusters."""
    if Counter(name for name, _ in cluster) != Counter(dict(n_responses)):
        raise ValueError("cluster does not name as many responses of each model as there are")
    if lost := [pair for name, rows in counts.items() for pair in ((name, row) for row in rows) if pair not in cluster]:
        raise ValueError(f"response {lost[0][1]!r} of model {lost[0][0]!r} has triplets but no cluster")
    none = np.zeros(len(pooled.categories) + len(pooled.excluded))
    table = np.array([counts[name].get(response, none) for name, response in cluster], dtype=float)
    table = table.reshape(len(cluster), len(none))
    models, clusters, names = (
        [name for name, _ in cluster],
        list(cluster.values()),
        [one.model for one in pooled.models],
    )

    def drawn(value: np.ndarray) -> SystemMeans:
        return system_means(value, models, clusters, names)

    shares = divide(table[:, kept], table[:, kept].sum(axis=1, keepdims=True))
    by_label = {label: drawn(share) for label, share in zip(pooled.categories, shares.T, strict=True)}
    abstained = drawn((table.sum(axis=1) == 0).astype(float))

    def with_samples(rates: ModelRates, place: int) -> ModelRates:
        samples = {label: by.means[place].sample for label, by in by_label.items()}
        silent = replace(rates.abstained, sample=abstained.means[place].sample)
        return replace(rates, shares=_resampled(rates.shares, samples), abstained=silent)

    return replace(
        pooled,
        models=tuple(with_samples(rates, place) for place, rates in enumerate(pooled.models)),
        shares=_resampled(pooled.shares, {label: by.mean.sample for label, by in by_label.items()}),
        abstained=replace(pooled.abstained, sample=abstained.mean.sample),
    )


def _resampled(figures: dict[str, Estimate], samples: dict[str, Sample]) -> dict[str, Estimate]:
    return {label: replace(one, sample=samples[label]) for label, one in figures.items()}


def _rates_of_model(
    name: Hashable, rows: list[np.ndarray], n_responses: int, kept: list[int], categories: tuple[str, ...]
) -> ModelRates:
    counts = np.array(rows, dtype=np.int64).reshape(-1, len(categories))
    if len(counts) > n_responses:
        raise ValueError(f"model {name!r} has {len(counts)} responses with triplets, but {n_responses} responses")
    n_kept = counts[:, kept].sum(axis=1)
    n_abstained = n_responses - len(counts)
    n_answered = int((n_kept > 0).sum())
    # Per response: shares of the kept labels, answered, abstained, any. All without triplets are one pattern.
    shares = counts[:, kept] / np.maximum(n_kept, 1)[:, None]
    with_triplets = np.column_stack([shares, n_kept > 0, np.zeros(len(counts)), np.ones(len(counts))])
    without = np.array([[0.0] * len(kept) + [0, 1, 1]])
    features = np.vstack([with_triplets, without])
    pattern = np.concatenate([np.arange(len(counts)), np.full(n_abstained, len(counts))])
    left_out = {"abstained": n_abstained, "excluded labels only": len(counts) - n_answered}
    n_labels = int(n_kept.sum())

    def estimate_of(column: int, per: int, undefined: str, n_used: int, skipped: dict[str, int]) -> Estimate:
        sample = SumSample(features, pattern, None, lambda sums: divide(sums[:, column], sums[:, per]))
        return Estimate(
            estimate=sample.value(),
            undefined=undefined,
            n_units=n_responses,
            n_pairable=n_used,
            n_labels=n_labels,
            left_out={reason: n for reason, n in skipped.items() if n},
            sample=sample,
        )

    silent = NO_RESPONSE if not n_responses else "" if n_answered else ALL_ABSTAINED
    return ModelRates(
        model=name,
        shares={
            categories[code]: estimate_of(column, len(kept), silent, n_answered, left_out)
            for column, code in enumerate(kept)
        },
        abstained=estimate_of(len(kept) + 1, len(kept) + 2, "" if n_responses else NO_RESPONSE, n_responses, {}),
        n_responses=n_responses,
        n_answered=n_answered,
        n_abstained=n_abstained,
        n_only_excluded=len(counts) - n_answered,
        n_labels=n_labels,
        n_excluded=int(counts.sum()) - n_labels,
    )


def mean_of(figures: Sequence[Estimate], what: str = "model") -> Estimate:
    """Unweighted mean of figures of data that have nothing in common, such as one per setting.

    Undefined without figures, and where one is undefined; `what` names them in the reason. Counts are sums. Every
    figure is resampled by itself, by clusters where all have them.

    Examples
    --------
    >>> from analysis.stats import classification
    >>> parts = [classification([0, 1], [0, 1], "ab").accuracy, classification([0, 1], [0, 0], "ab").accuracy]
    >>> mean_of(parts, "setting").estimate
    0.75
    """
    reasons = list(dict.fromkeys(reason for figure in figures for reason in figure.left_out))
    is_defined = bool(figures) and not any(figure.undefined for figure in figures)
    return Estimate(
        estimate=float(np.mean([figure.estimate for figure in figures])) if is_defined else np.nan,
        undefined="" if is_defined else UNDEFINED_PART.format(what) if figures else f"no {what}",
        n_units=sum(figure.n_units for figure in figures),
        n_pairable=sum(figure.n_pairable for figure in figures),
        n_labels=sum(figure.n_labels for figure in figures),
        left_out={reason: sum(figure.left_out.get(reason, 0) for figure in figures) for reason in reasons},
        sample=MeanSample(tuple(figure.sample for figure in figures)),
    )
