"""Figures of systems (models, checkers): the mean of each over items, their mean, and how two scores rank them.

All systems answer the same items, so items are drawn once for all of them: a hard question is hard for every system.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.correlation.coefficients import (
    CONSTANT_LABEL,
    CONSTANT_SCORE,
    STATISTICS,
    Correlation,
    known_items,
    ratio,
)
from analysis.stats.correlation.stratified import numbered
from analysis.stats.resampling.bootstrap import (
    BATCH_NUMBERS,
    LEFT_OUT_WEIGHTS,
    NO_INFLUENCE,
    Estimate,
    SumSample,
    centred_influences,
    divide,
    draw_weights,
    one_blas_thread,
)
from analysis.stats.resampling.intervals import UNDEFINED_RESAMPLES, Interval, few_note, holding

NO_VALUE = "no item of the system has a value"
NO_SYSTEM = "no system"
NO_ITEM = "no item has three scores and labels that differ"
SYSTEM_UNDEFINED = "no value for at least one system"
TOO_FEW_SYSTEMS = "fewer than three systems have both a score and a label"
SAME_SCORE = CONSTANT_SCORE.replace("item", "system")
SAME_LABEL = CONSTANT_LABEL.replace("item", "system")
# Means that differ by less are equal but for rounding.
DIGITS = 12


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Mean of each system, in the order of `systems`, and the unweighted mean of the systems' means."""

    systems: tuple[Hashable, ...]
    means: tuple[Estimate, ...]
    mean: Estimate


def system_means(
    value: Sequence[float] | np.ndarray,
    system: Sequence[Hashable],
    item: Sequence[Hashable],
    systems: Sequence[Hashable] | None = None,
) -> SystemMeans:
    """Mean of a value over each system's items, and the unweighted mean over systems.

    Parameters
    ----------
    value : (n_rows,) float array
        nan where the row has none; it is left out and counted.
    system, item : (n_rows,) sequences
        A row is what one system made of one item; there may be several, or none.
    systems : sequence, optional
        Whose means are wanted, in order; by default those that occur, sorted by their text.

    Returns
    -------
    SystemMeans
        A system without a value is undefined, and so is then the mean over systems. Intervals draw items that have a
        value, for the mean over systems the same for all of them.

    Examples
    --------
    >>> result = system_means([1, 0, 1, float("nan"), 1], "aaabb", [1, 2, 3, 1, 2])
    >>> [round(one.estimate, 4) for one in result.means], round(result.mean.estimate, 4)
    ([0.6667, 1.0], 0.8333)
    """
    value = np.asarray(value, dtype=float)
    if not len(value) == len(system) == len(item):
        raise ValueError("value, system and item differ in length")
    names = tuple(sorted(set(system), key=str)) if systems is None else tuple(systems)
    place = {name: number for number, name in enumerate(names)}
    if unknown := set(system) - set(place):
        raise ValueError(f"system {min(unknown, key=str)!r} has values but is not among the systems")
    system_code = np.array([place[name] for name in system], dtype=np.int64)
    _, item_code = numbered(item)
    known = np.isfinite(value)
    means = tuple(
        _mean_of(value[mine & known], item_code[mine & known], mine)
        for mine in (system_code == number for number in range(len(names)))
    )
    # An item without a value is not drawn: it would let few items pass for many.
    used, used_code = np.unique(item_code[known], return_inverse=True)
    sums, counts = _tables(value[known], used_code, system_code[known], len(used), len(names))
    every = np.arange(len(used))
    sample = SumSample(np.hstack([sums, counts]), every, every, _mean_of_means)
    undefined = NO_SYSTEM if not names else SYSTEM_UNDEFINED if any(one.undefined for one in means) else ""
    return SystemMeans(
        systems=names,
        means=means,
        mean=Estimate(
            estimate=np.nan if undefined else sample.value(),
            undefined=undefined,
            n_units=len(value),
            n_pairable=int(known.sum()),
            n_labels=int(known.sum()),
            left_out=_without_value(known),
            sample=sample,
        ),
    )


def _without_value(known: np.ndarray) -> dict[str, int]:
    n = int((~known).sum())
    return {"no value": n} if n else {}


def _mean_of(value: np.ndarray, item: np.ndarray, mine: np.ndarray) -> Estimate:
    features, pattern = np.unique(value, return_inverse=True)
    features = np.column_stack([features, np.ones(len(features))]).reshape(-1, 2)
    sample = SumSample(features, pattern, item, lambda sums: divide(sums[:, 0], sums[:, 1]))
    n_units = int(mine.sum())
    return Estimate(
        estimate=sample.value() if len(value) else np.nan,
        undefined="" if len(value) else NO_VALUE,
        n_units=n_units,
        n_pairable=len(value),
        n_labels=len(value),
        left_out={"no value": n_units - len(value)} if n_units > len(value) else {},
        sample=sample,
    )


def _mean_of_means(sums: np.ndarray) -> np.ndarray:
    total, count = np.split(sums, 2, axis=1)
    return divide(total, count).mean(axis=1)


def _tables(
    value: np.ndarray, item: np.ndarray, system: np.ndarray, n_items: int, n_systems: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sums and numbers of values, (n_items, n_systems) each."""
    cell, size = item * n_systems + system, n_items * n_systems
    shape = (n_items, n_systems)
    return (
        np.bincount(cell, value, minlength=size).reshape(shape),
        np.bincount(cell, minlength=size).astype(float).reshape(shape),
    )


@dataclass(frozen=True, eq=False)
class _Systems:
    """Systems under the correlation of their means. `over` says what is drawn: 'items', 'systems' or both."""

    score: np.ndarray
    label: np.ndarray
    count: np.ndarray
    coefficient: str
    over: tuple[str, ...]

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        n = {"items": len(self.count), "systems": self.count.shape[1]}
        return min(n[what] for what in self.over), False

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        n_items, n_systems = self.count.shape
        batch = max(1, min(n_resamples, BATCH_NUMBERS // max(n_items, n_systems**2)))
        return np.concatenate(
            [self._batch(min(batch, n_resamples - start), rng) for start in range(0, n_resamples, batch)]
        )

    def _batch(self, size: int, rng: np.random.Generator) -> np.ndarray:
        drawn = {}
        for what in self.over:
            n = {"items": len(self.count), "systems": self.count.shape[1]}[what]
            drawn[what] = np.concatenate(list(draw_weights(np.arange(n), n, size, rng)))
        return np.broadcast_to(self._weighted(**drawn), (size,))

    def _weighted(self, items: np.ndarray | None = None, systems: np.ndarray | None = None) -> np.ndarray:
        items = np.ones((1, len(self.count))) if items is None else items
        systems = np.ones((1, self.count.shape[1])) if systems is None else systems
        means = [_rounded(divide(items @ table, items @ self.count)) for table in (self.score, self.label)]
        return weighted_correlation(self.coefficient, *means, systems)

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        n, _ = self.n_drawn(clusters)
        if len(self.over) > 1 or n > LEFT_OUT_WEIGHTS:
            return NO_INFLUENCE
        return centred_influences(self._weighted(**{self.over[0]: 1 - np.eye(n)}), np.ones(n))


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemLevel(Estimate):
    """A system-level correlation whose interval draws `over`: 'items', 'systems', or 'systems and items'."""

    over: str

    def confidence_interval(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> Interval:
        """Bootstrap interval over `over`. Where both are drawn its ends are plain percentiles, as in the paper: drawing
        twice spreads the resamples too far already."""
        if "and" not in self.over or self.undefined:
            interval = super().confidence_interval(n_resamples, level, seed, clusters)
            note = interval.note.replace("units", self.over)
            return replace(interval, method=interval.method.replace("units", self.over), note=note)
        with one_blas_thread():
            values = self.sample.values(n_resamples, np.random.default_rng(seed), clusters)
        defined = values[~np.isnan(values)]
        method, n_undefined = f"percentile bootstrap over {self.over}", n_resamples - len(defined)
        if len(defined) < 2:
            return Interval(np.nan, np.nan, level, method, n_resamples, n_undefined, None, UNDEFINED_RESAMPLES)
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        n = self.sample.n_drawn(clusters)[0]
        percentile = Interval(
            float(low), float(high), level, method, n_resamples, n_undefined, None, note=few_note(n, False)
        )
        return holding(replace(percentile, note=percentile.note.replace("units", self.over)), self.estimate)


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemCorrelation:
    """Correlation over systems of their mean scores with their mean labels: one value, three intervals.

    Attributes
    ----------
    coefficient : str
    systems : tuple
    score_means, label_means : (n_systems,) float arrays
    n_of_system : (n_systems,) int array
        Rows that enter each system's means.
    by_item : SystemLevel
        Would these systems correlate so on other items?
    by_system : SystemLevel
        Would other systems on these items?
    by_both : SystemLevel
        Would other systems on other items? The widest, and what a claim about the measure itself needs.
    """

    coefficient: str
    systems: tuple[Hashable, ...]
    score_means: np.ndarray
    label_means: np.ndarray
    n_of_system: np.ndarray
    by_item: SystemLevel
    by_system: SystemLevel
    by_both: SystemLevel


def system_correlation(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    system: Sequence[Hashable],
    item: Sequence[Hashable],
    coefficient: str = "spearman",
) -> SystemCorrelation:
    """System-level correlation: do the systems' mean scores order them as their mean labels do?

    Segment-level correlation, over single rows, is `pearson` and its like with the item as cluster; grouped by item,
    `item_correlation`; grouped by system, `stratified_correlation`.

    Parameters
    ----------
    score, label : (n_rows,) arrays
        As in `pearson`; rows without both are left out and counted.
    system, item : (n_rows,) sequences
        A row is what one system made of one item.
    coefficient : {'pearson', 'spearman', 'kendall_tau_b'}

    Returns
    -------
    SystemCorrelation
        Undefined with fewer than three systems, or where all have the same mean. A resample in which a system has no
        row is undefined and counted.

    References
    ----------
    Deutsch, Dror and Roth (2021), TACL 9, 1132-1146 (intervals over items, systems and both);
    doi:10.1162/tacl_a_00417.

    Examples
    --------
    >>> result = system_correlation([1, 2, 2, 3, 5, 4], [0, 1, 1, 1, 2, 2], "aabbcc", [1, 2, 1, 2, 1, 2])
    >>> result.by_item.estimate, result.score_means.tolist()
    (1.0, [1.5, 2.5, 4.5])
    """
    if coefficient not in STATISTICS:
        raise ValueError(f"coefficient must be one of {', '.join(STATISTICS)}, not {coefficient!r}")
    n_rows = len(score)
    score, label, both, left_out = known_items(score, label, system=system, item=item)
    known = np.flatnonzero(both)
    systems, system_code = numbered([system[place] for place in known])
    items, item_code = numbered([item[place] for place in known])
    shape = len(items), len(systems)
    scores, count = _tables(score[known], item_code, system_code, *shape)
    labels, _ = _tables(label[known], item_code, system_code, *shape)
    score_means, label_means = (divide(table.sum(axis=0), count.sum(axis=0)) for table in (scores, labels))
    rounded = [_rounded(means) for means in (score_means, label_means)]
    undefined = _why_undefined(*rounded)
    value = np.nan
    if not undefined:
        weights = np.ones((1, len(systems)))
        value = float(weighted_correlation(coefficient, *(means[None, :] for means in rounded), weights)[0])

    def drawn(*over: str) -> SystemLevel:
        return SystemLevel(
            estimate=value,
            undefined=undefined,
            n_units=n_rows,
            n_pairable=len(known),
            n_labels=len(systems),
            left_out=left_out,
            sample=_Systems(scores, labels, count, coefficient, over),
            over=" and ".join(over),
        )

    return SystemCorrelation(
        coefficient=coefficient,
        systems=tuple(systems),
        score_means=score_means,
        label_means=label_means,
        n_of_system=count.sum(axis=0).astype(int),
        by_item=drawn("items"),
        by_system=drawn("systems"),
        by_both=drawn("systems", "items"),
    )


def item_correlation(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    item: Sequence[Hashable],
    coefficient: str = "spearman",
) -> Correlation:
    """Mean over items of the correlation within each: does the score order what was made of one item as people do?

    Known as the summary level in summarisation, and as segment level grouped by item in translation.

    Parameters
    ----------
    score, label : (n_rows,) arrays
        As in `pearson`; rows without both are left out and counted.
    item : (n_rows,) sequence
        A row is what one system made of one item.
    coefficient : {'pearson', 'spearman', 'kendall_tau_b'}

    Returns
    -------
    Correlation
        Unweighted mean over the items where it is defined: those with at least three rows, neither of whose sides is
        constant. Rows of the others are counted in `left_out`. Intervals draw items.

    References
    ----------
    Deutsch, Dror and Roth (2021), TACL 9, 1132-1146, where it is r_SUM; doi:10.1162/tacl_a_00417.

    Examples
    --------
    >>> result = item_correlation([1, 2, 3, 3, 2, 1, 5, 5, 5], [0, 1, 2, 0, 1, 3, 0, 1, 2], [1, 1, 1, 2, 2, 2, 3, 3, 3])
    >>> result.estimate, result.left_out
    (0.0, {'in items without a correlation': 3})
    """
    if coefficient not in STATISTICS:
        raise ValueError(f"coefficient must be one of {', '.join(STATISTICS)}, not {coefficient!r}")
    n_rows = len(score)
    score, label, both, left_out = known_items(score, label, item=item)
    known = np.flatnonzero(both)
    items, code = numbered([item[place] for place in known])
    values = _within_items(coefficient, _rounded(score[known]), _rounded(label[known]), code, len(items))
    defined = np.isfinite(values)
    n = int(defined[code].sum())
    return Correlation(
        estimate=float(values[defined].mean()) if n else np.nan,
        undefined="" if n else NO_ITEM,
        n_units=n_rows,
        n_pairable=n,
        n_labels=n,
        left_out=left_out | ({"in items without a correlation": len(known) - n} if n < len(known) else {}),
        sample=_mean_of(values[defined], np.arange(int(defined.sum())), defined).sample,
        coefficient=coefficient,
    )


def _within_items(coefficient: str, score: np.ndarray, label: np.ndarray, item: np.ndarray, n_items: int) -> np.ndarray:
    """The correlation of each item's rows, (n_items,), nan where there is none."""
    if not n_items:
        return np.empty(0)
    sizes = np.bincount(item, minlength=n_items)
    order = np.argsort(item, kind="stable")
    row, column = item[order], np.arange(len(item)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tables = np.zeros((3, n_items, sizes.max()))
    for table, side in zip(tables, (score, label, np.ones(len(item))), strict=True):
        table[row, column] = side[order]
    step = max(1, BATCH_NUMBERS // tables.shape[2] ** 2)
    parts = [weighted_correlation(coefficient, *tables[:, at : at + step]) for at in range(0, n_items, step)]
    return np.where(sizes < 3, np.nan, np.concatenate(parts))


def _why_undefined(score_means: np.ndarray, label_means: np.ndarray) -> str:
    if len(score_means) < 3:
        return TOO_FEW_SYSTEMS
    if np.ptp(score_means) == 0:
        return SAME_SCORE
    return SAME_LABEL if np.ptp(label_means) == 0 else ""


def _rounded(means: np.ndarray) -> np.ndarray:
    """Equal where they differ by rounding only."""
    scale = np.nanmax(np.abs(means), initial=0) or 1.0
    return np.round(means / scale, DIGITS)


def weighted_correlation(coefficient: str, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Correlation of each row of x with that of y, whole-number weights standing for repeated entries.

    x, y and weights are (batch, n) or (1, n); the result is (batch,), nan where a row has a nan or a constant side.
    Work is n squared per row: for systems, which are few.
    """
    x, y, weights = np.broadcast_arrays(x, y, weights)
    bad = (np.isnan(x) | np.isnan(y)).any(axis=1)
    if coefficient == "kendall_tau_b":
        pairs = weights[:, :, None] * weights[:, None, :] / 2
        above_x, above_y = (np.sign(side[:, :, None] - side[:, None, :]) for side in (x, y))
        parts = [(pairs * a * b).sum(axis=(1, 2)) for a, b in ((above_x, above_y), (above_x,) * 2, (above_y,) * 2)]
        return np.where(bad, np.nan, ratio(*parts))
    if coefficient == "spearman":
        x, y = _ranks(x, weights), _ranks(y, weights)
    n = weights.sum(axis=1, keepdims=True)
    x, y = (side - divide((weights * side).sum(axis=1, keepdims=True), n) for side in (x, y))
    covariance, variance_x, variance_y = ((weights * a * b).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
    floor = 1e-18 * n[:, 0]
    return np.where(bad, np.nan, ratio(covariance, *(np.where(v > floor, v, 0) for v in (variance_x, variance_y))))


def _ranks(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    above = x[:, :, None] - x[:, None, :]
    return (((above > 0) + (above == 0) / 2) * weights[:, None, :]).sum(axis=2)
