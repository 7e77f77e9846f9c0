"""Could this correlation have come about by chance? A permutation test, within strata and by clusters where there are
any."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from analysis.stats.correlation.coefficients import (
    FEW_PARTS,
    STATISTICS,
    ScoredItems,
    known_items,
    standardised,
    why_undefined,
)
from analysis.stats.correlation.stratified import numbered, stratified_correlation
from analysis.stats.resampling.bootstrap import BATCH_NUMBERS, one_blas_thread

NOTHING_TO_SWAP = "no two clusters are alike in size, so nothing can be swapped"
NOTHING_CHANGES = "what can be swapped has the same scores or the same labels, so swapping changes nothing"


@dataclass(frozen=True, kw_only=True)
class CorrelationTest:
    """Two-sided permutation test of a correlation.

    Attributes
    ----------
    coefficient : str
    statistic, p_value : float
        The coefficient (within strata where there are any) and its p value; nan where `undefined` gives a reason.
    n_permutations : int
        Drawn, or all that there are where `exact`.
    exact : bool
        Whether every permutation was tried.
    null : str
        What was permuted, in words.
    n_items, n_fixed : int
        Items that enter, and those of clusters that have no other of their size to be swapped with.
    """

    coefficient: str
    statistic: float
    p_value: float
    n_permutations: int
    exact: bool
    null: str
    n_items: int
    n_fixed: int
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Runs of items that move together. Runs of one group have the same length, and are next to each other."""

    start: np.ndarray
    size: np.ndarray
    group: np.ndarray

    @property
    def movable(self) -> np.ndarray:
        return np.bincount(self.group)[self.group] > 1

    def index(self, order: np.ndarray) -> np.ndarray:
        """For each item the item whose label it gets, if block k gets the labels of block ``order[k]``."""
        if len(self.start) == self.size.sum():  # every block is one item
            return order
        own = np.repeat(np.cumsum(self.size) - self.size, self.size)
        return np.repeat(self.start[order], self.size) + np.arange(len(own)) - own

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        n = len(self.start)
        if self.group[-1] == 0:
            return rng.permutation(n)
        return np.argsort(self.group + rng.random(n))


def correlation_test(
    score: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    coefficient: str = "spearman",
    stratum: Sequence[Hashable] | np.ndarray | None = None,
    cluster: Sequence[Hashable] | np.ndarray | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> CorrelationTest:
    """Test that score and label have nothing to do with each other.

    Under H0 any item could have had any other item's label. Labels are permuted: among all items; among items of one
    stratum, so that what differs between strata stays; whole clusters with clusters of the same size (and the same
    strata), so that items of one cluster stay as alike as they are. ``p = (1 + b) / (1 + m)`` with b of m permutations
    whose coefficient is at least as far from 0, so p is never 0. Where there are at most `n_permutations` ways to
    permute single items without strata, all are tried, the data themselves among them, and p is their share.

    Parameters
    ----------
    score, label : (n_items,) arrays
        As in `pearson`; items without both are left out.
    coefficient : {'pearson', 'spearman', 'kendall_tau_b'}
    stratum : (n_items,) sequence, optional
        The coefficient is then `stratified_correlation`'s `within`.
    cluster : (n_items,) sequence, optional
    n_permutations, seed : int

    Returns
    -------
    CorrelationTest
        Undefined where the coefficient is, where no two clusters are alike in size, and where those that are have the
        same scores or the same labels.

    Raises
    ------
    ValueError
        Another coefficient; columns of different length; n_permutations below 1.

    Notes
    -----
    H0 is independence. Where score and label depend on each other without correlating (one spreads more where the other
    is high), Pearson's test can reject more often than it says.

    References
    ----------
    Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9(1), 39 (the + 1);
    doi:10.2202/1544-6115.1585. Winkler et al. (2015), NeuroImage 123, 253-268 (exchangeable blocks);
    doi:10.1016/j.neuroimage.2015.05.092.

    Examples
    --------
    Of the 120 orders of five labels two are as far from 0 as the one found.

    >>> result = correlation_test([1, 2, 3, 4, 5], [0, 1, 2, 3, 4])
    >>> result.exact, result.n_permutations, round(result.p_value, 4)
    (True, 120, 0.0167)
    """
    if coefficient not in STATISTICS:
        raise ValueError(f"coefficient must be one of {', '.join(STATISTICS)}, not {coefficient!r}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, not {n_permutations}")
    score, label, both, _ = known_items(score, label, stratum=stratum, cluster=cluster)
    score, label = score[both], label[both]
    strata = np.zeros(len(score), dtype=np.int64) if stratum is None else numbered(_those(stratum, both))[1]
    clusters = np.arange(len(score)) if cluster is None else numbered(_those(cluster, both))[1]
    statistic, undefined = _statistic(score, label, strata, coefficient)
    if not undefined:
        order, blocks = _blocks(strata, clusters)
        if not blocks.movable.any():
            undefined = NOTHING_TO_SWAP
        elif not any(
            _differ(blocks, score[order], group) and _differ(blocks, label[order], group)
            for group in np.unique(blocks.group[blocks.movable])
        ):
            undefined = NOTHING_CHANGES
    null = _null(stratum is not None, cluster is not None)
    same = {"coefficient": coefficient, "null": null, "n_items": len(score)}
    if undefined:
        return CorrelationTest(
            statistic=np.nan, p_value=np.nan, n_permutations=0, exact=False, n_fixed=0, undefined=undefined, **same
        )
    measure = _NUMERATORS[coefficient](score[order], label[order], strata[order])
    n_blocks = len(blocks.start)
    exact = bool(blocks.group[-1] == 0) and n_blocks <= 12 and factorial(n_blocks) <= n_permutations
    with one_blas_thread():
        # Equal sums can differ by rounding.
        observed = abs(measure(np.arange(len(score))[None, :])[0]) * (1 - 1e-9) - 1e-12 * len(score)
        drawn = _all_orders(n_blocks) if exact else _drawn_orders(blocks, n_permutations, seed)
        as_far = sum(
            int((np.abs(measure(indices)) >= observed).sum()) for indices in _batches(drawn, blocks, len(score))
        )
    m = factorial(n_blocks) if exact else n_permutations
    return CorrelationTest(
        statistic=statistic,
        p_value=as_far / m if exact else (1 + as_far) / (1 + m),
        n_permutations=m,
        exact=exact,
        n_fixed=int(blocks.size[~blocks.movable].sum()),
        **same,
    )


def _differ(blocks: _Blocks, column: np.ndarray, group: int) -> bool:
    """Whether blocks of a group have different values."""
    mine = np.flatnonzero(blocks.group == group)
    rows = column[blocks.start[mine][:, None] + np.arange(blocks.size[mine[0]])]
    return bool((rows != rows[0]).any())


def _those(names: Sequence[Hashable] | np.ndarray, both: np.ndarray) -> list[Hashable]:
    return [name for name, is_known in zip(names, both.tolist(), strict=True) if is_known]


def _statistic(score: np.ndarray, label: np.ndarray, strata: np.ndarray, coefficient: str) -> tuple[float, str]:
    if strata.any():
        partial = stratified_correlation(score, label, strata, coefficient).within
        return partial.estimate, partial.undefined
    items = ScoredItems(score, label, None)
    if undefined := why_undefined(items):
        return np.nan, undefined
    return float(STATISTICS[coefficient](items, np.ones((1, len(score))))[0]), ""


def _null(stratified: bool, clustered: bool) -> str:
    what = "labels of whole clusters permuted among clusters of the same size" if clustered else "labels permuted"
    if clustered:
        return f"{what} and strata" if stratified else what
    return f"{what} within strata" if stratified else f"{what} among all items"


def _blocks(strata: np.ndarray, clusters: np.ndarray) -> tuple[np.ndarray, _Blocks]:
    """An order of the items in which each cluster is a run, and clusters that can be swapped are next to each other."""
    order = np.lexsort((strata, clusters))
    start = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    size = np.diff(start, append=len(order))
    ordered = strata[order]
    kinds: dict[tuple[int, ...], int] = {}
    kind = np.array(
        [
            kinds.setdefault(tuple(ordered[first : first + n].tolist()), len(kinds))
            for first, n in zip(start.tolist(), size.tolist(), strict=True)
        ]
    )
    by_kind = np.argsort(kind, kind="stable")
    start, size, kind = start[by_kind], size[by_kind], kind[by_kind]
    own = np.repeat(np.cumsum(size) - size, size)
    order = order[np.repeat(start, size) + np.arange(len(order)) - own]
    return order, _Blocks(np.cumsum(size) - size, size, kind)


def _all_orders(n: int):
    yield from (np.array(order) for order in permutations(range(n)))


def _drawn_orders(blocks: _Blocks, n_permutations: int, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(n_permutations):
        yield blocks.draw(rng)


def _batches(orders, blocks: _Blocks, n_items: int):
    size = max(1, BATCH_NUMBERS // 16 // n_items)
    batch = []
    for order in orders:
        batch.append(blocks.index(order))
        if len(batch) == size:
            yield np.array(batch)
            batch = []
    if batch:
        yield np.array(batch)


def _products(x: np.ndarray, y: np.ndarray, strata: np.ndarray):
    """Sum of products of x, less its mean in the stratum, with y: all of the covariance that permuting changes."""
    n = np.bincount(strata)
    x = standardised(x)
    x = x - (np.bincount(strata, x) / n)[strata]
    y = standardised(y)
    return lambda indices: y[indices] @ x


def _rank_products(x: np.ndarray, y: np.ndarray, strata: np.ndarray):
    from scipy.stats import rankdata

    return _products(rankdata(x), rankdata(y), strata)


def _balances(x: np.ndarray, y: np.ndarray, strata: np.ndarray):
    """Pairs of items of one stratum that x and y order alike, less those that they order unlike."""
    by_stratum = [np.flatnonzero(strata == code) for code in range(int(strata.max()) + 1)]
    parts = [place[np.argsort(x[place], kind="stable")] for place in by_stratum]
    values, level = np.unique(y, return_inverse=True)
    if len(values) > FEW_PARTS:
        return lambda indices: np.array([sum(_by_sorting(x[p], y[row[p]]) for p in parts) for row in indices])
    steps = [np.flatnonzero(np.diff(x[place], prepend=-np.inf)) for place in parts]

    def balance(indices: np.ndarray) -> np.ndarray:
        total = np.zeros(len(indices))
        for place, step in zip(parts, steps, strict=True):
            total += _by_levels(level[indices[:, place]], step, len(values))
        return total

    return balance


def _by_levels(level: np.ndarray, step: np.ndarray, n_levels: int) -> np.ndarray:
    """`level` is (batch, n) by rising x; `step` where x rises. Every item looks at those before its step."""
    total = np.zeros(len(level))
    for code in range(n_levels - 1):
        here = np.add.reduceat((level == code).astype(np.int64), step, axis=1)
        above = np.add.reduceat((level > code).astype(np.int64), step, axis=1)
        before_here = np.cumsum(here, axis=1)[:, :-1]
        before_above = np.cumsum(above, axis=1)[:, :-1]
        total += (before_here * above[:, 1:]).sum(axis=1) - (before_above * here[:, 1:]).sum(axis=1)
    return total


def _by_sorting(x: np.ndarray, y: np.ndarray) -> float:
    """``C - D`` from tau-b and what it is divided by, for columns of many values, in n log n."""
    from scipy.stats import kendalltau

    n = len(x)
    if n < 2:
        return 0.0
    tau = kendalltau(x, y).statistic
    if np.isnan(tau):
        return 0.0
    pairs = [(n**2 - (np.unique(column, return_counts=True)[1] ** 2).sum()) / 2 for column in (x, y)]
    return float(tau * np.sqrt(pairs[0] * pairs[1]))


_NUMERATORS = {"pearson": _products, "spearman": _rank_products, "kendall_tau_b": _balances}
