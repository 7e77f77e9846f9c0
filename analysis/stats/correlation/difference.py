"""Two automatic scores against the same people: which goes better with their labels, and is it by chance?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats.correlation.coefficients import STATISTICS, ScoredItems, WeightSample, known_items, standardised
from analysis.stats.resampling.bootstrap import NO_INFLUENCE, Estimate, divide
from analysis.stats.resampling.paired_permutation import PairedTest, Swaps, flip_test, swap_test, undefined_test

TOO_FEW_ITEMS = "fewer than four items have both scores and a label"
CONSTANT = "one of the three columns is the same for every item"
SAME_SCORES = "both scores are the same on every item once they are on one scale, so swapping them changes nothing"
ONE_CLUSTER = "the scores differ in one item or cluster only: swapping it turns the difference around, no more"
PERMUTATION = "paired permutation"
SAME = "the scores are the same once they are on one scale (0/0)"
PERFECT = "a perfect correlation (0/0)"
NO_MOMENTS = "made for Pearson's coefficient of values or ranks, which tau-b is not"
# Rounding keeps perfect correlations this near to 1, and decides nothing.
PERFECTLY = 1 - 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelationDifference:
    """Correlation of score a with the label minus that of score b, and the correlations it comes from."""

    coefficient: str
    difference: Estimate
    with_a: float
    with_b: float
    between: float
    permutation: PairedTest
    williams: PairedTest
    steiger: PairedTest


def correlation_difference(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    coefficient: str = "pearson",
    cluster: Sequence[int] | np.ndarray | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
) -> CorrelationDifference:
    """Which of two scores correlates better with the same people's labels.

    Both correlations share the labels and the scores correlate with each other, so they are dependent. All three tests
    allow for that. The paired permutation test swaps both scores of an item, or of a whole cluster, which are
    exchangeable under H0 once they are on one scale: standardised, for Spearman as ranks (standardised too, since ties
    narrow them). For tau-b the mean ranks are swapped as they are: tau-b asks only which of two items is
    higher, but where one has its rank by b and the next its rank by a, both must be places in one order. All pairs and
    ties are then counted anew. Scores that correlate alike without being exchangeable (only one errs by cluster) are
    tested at their level with many clusters only. Williams's t and Steiger's Z suppose independent items and roughly
    normal scores (for Spearman they are applied to ranks, an approximation; for tau-b there is none), and reject a true
    H0 too often where a score errs alike on items of one cluster. The interval of `difference` supposes neither and
    resamples clusters.

    Parameters
    ----------
    a, b : (n_items,) float arrays
        Missing (nan) and infinite scores leave the item out.
    label : (n_items,) int or float array
        As in `pearson`: -1 where there is none in whole numbers, nan in floats, whose negative values count.
    coefficient : {'pearson', 'spearman', 'kendall_tau_b'}
    cluster : (n_items,) int array, optional
        Intervals resample, and the permutation test swaps, whole clusters.
    n_permutations, seed : int
        See `flip_test`; with few clusters all swaps are tried. For tau-b a swap takes as long as a resample.

    Returns
    -------
    CorrelationDifference
        Undefined with fewer than four items or a constant column. Scores that are the same on one scale leave all
        tests undefined (0/0, nothing to swap), opposite ones Williams's (0/0), and a score that correlates perfectly
        with the label Steiger's; scores that differ in one cluster only leave the permutation test so.

    References
    ----------
    Deutsch, Dror and Roth (2021), Transactions of the ACL 9, 1132-1146 (swapping standardised scores);
    doi:10.1162/tacl_a_00417. Williams (1959), Journal of the Royal Statistical Society B 21(2), 396-399. Steiger
    (1980), Psychological Bulletin 87(2), 245-251, eq. 7 and 14 (pooled); doi:10.1037/0033-2909.87.2.245.

    Examples
    --------
    On seven items the scores differ, which makes 64 swaps that differ by more than the sign.

    >>> label = [0, 1, 2, 3, 4, 5, 6, 7]
    >>> result = correlation_difference([0, 1, 2, 3, 4, 5, 7, 6], [3, 1, 0, 6, 2, 7, 4, 5], label)
    >>> result.permutation.exact, result.permutation.n_permutations, round(result.permutation.p_value, 3)
    (True, 64, 0.016)
    """
    if coefficient not in STATISTICS:
        raise ValueError(f"coefficient must be one of {', '.join(STATISTICS)}, not {coefficient!r}")
    a, people, with_first, _ = known_items(a, label, cluster=cluster)
    b, _, with_second, _ = known_items(b, label)
    has_all = with_first & with_second
    score_a, score_b, known_label = (column[has_all] for column in (a, b, people))
    drawn_from = None if cluster is None else np.asarray(cluster)[has_all]
    n, undefined = len(score_a), ""
    if n < 4:
        undefined = TOO_FEW_ITEMS
    elif any(column.min() == column.max() for column in (score_a, score_b, known_label)):
        undefined = CONSTANT
    statistic = STATISTICS[coefficient]
    sample = _TwoScores(score_a, score_b, known_label, drawn_from, statistic)
    with_a = with_b = between = np.nan
    if not undefined:
        with_a, with_b = (
            WeightSample(ScoredItems(x, known_label, None), statistic).value() for x in (score_a, score_b)
        )
        between = _between(score_a, score_b, coefficient)
    left_out = int((~has_all).sum())
    swapped = _permute_orders if coefficient == "kendall_tau_b" else _permute_sums
    no_moments = undefined or (NO_MOMENTS if coefficient == "kendall_tau_b" else "")
    return CorrelationDifference(
        coefficient=coefficient,
        difference=Estimate(
            estimate=with_a - with_b,
            undefined=undefined,
            n_units=len(has_all),
            n_pairable=n,
            n_labels=n,
            left_out={"without both scores and a label": left_out} if left_out else {},
            sample=sample,
        ),
        with_a=with_a,
        with_b=with_b,
        between=between,
        permutation=undefined_test(PERMUTATION, undefined)
        if undefined
        else swapped(score_a, score_b, known_label, drawn_from, coefficient, n_permutations, seed),
        williams=williams_test(with_a, with_b, between, n, no_moments),
        steiger=steiger_test(with_a, with_b, between, n, no_moments),
    )


@dataclass(frozen=True, eq=False)
class _TwoScores:
    """Items under the difference of two correlations: every resample draws the same items for both."""

    a: np.ndarray
    b: np.ndarray
    label: np.ndarray
    cluster: np.ndarray | None
    statistic: Callable[[ScoredItems, np.ndarray], np.ndarray]

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        clustered = clusters and self.cluster is not None
        return (len(np.unique(self.cluster)) if clustered else len(self.label)), clustered

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        sides = []
        state = rng.bit_generator.state
        for sample in self._sides(clusters):
            rng.bit_generator.state = state
            sides.append(sample.values(n_resamples, rng, True))
        return sides[0] - sides[1]

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        (influence_a, times), (influence_b, _) = (sample.influences(True) for sample in self._sides(clusters))
        return (influence_a - influence_b, times) if len(influence_a) == len(influence_b) else NO_INFLUENCE

    def _sides(self, clusters: bool) -> list[WeightSample]:
        # Items are sorted by each score. Drawing by a number that stays with the item makes both draws alike.
        drawn_from = self.cluster if clusters and self.cluster is not None else np.arange(len(self.label))
        return [WeightSample(ScoredItems(score, self.label, drawn_from), self.statistic) for score in (self.a, self.b)]


def _between(a: np.ndarray, b: np.ndarray, coefficient: str) -> float:
    if coefficient == "kendall_tau_b":  # whose statistic of weights takes as long as there are distinct values of b
        from scipy.stats import kendalltau

        return float(kendalltau(a, b, method="asymptotic").statistic)
    return WeightSample(ScoredItems(a, b, None), STATISTICS[coefficient]).value()


def _permute_sums(a, b, label, cluster, coefficient: str, n_permutations: int, seed: int) -> PairedTest:
    """Pearson's and Spearman's coefficient: a swap changes a few sums."""
    a, b, label = (_on_one_scale(column, coefficient) for column in (a, b, label))
    n = len(label)
    features = np.column_stack([part for score in (a, b) for part in (score, score**2, score * label)])
    swaps = Swaps.from_features(features, np.arange(n), cluster)
    if len(swaps.change) < 2:
        return undefined_test(PERMUTATION, ONE_CLUSTER if len(swaps.change) else SAME_SCORES)

    def correlation(total: np.ndarray, squares: np.ndarray, products: np.ndarray) -> np.ndarray:
        # The label's mean is 0 and its mean square 1. A swap can leave a column constant: no correlation then.
        spread = squares / n - (total / n) ** 2
        return divide(products / n, np.sqrt(np.where(spread > 1e-12, spread, 0)))

    def difference(sums: np.ndarray) -> np.ndarray:
        return correlation(*sums[:, :3].T) - correlation(*sums[:, 3:].T)

    return swap_test(PERMUTATION, swaps, difference, n_permutations, seed)


def _permute_orders(a, b, label, cluster, coefficient: str, n_permutations: int, seed: int) -> PairedTest:
    """Tau-b. Every item stands in one order twice, by its rank in a and by that in b. A swap takes one of the two for
    each side, which is a weight of 1 or 0, so a side's tau-b is that of a resample."""
    from scipy.stats import rankdata

    n, statistic = len(label), STATISTICS[coefficient]
    a, b = rankdata(a), rankdata(b)
    group = np.arange(n) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    # Clusters that have the same ranks on both sides change nothing.
    changes = np.unique(group[a != b])
    if len(changes) < 2:
        return undefined_test(PERMUTATION, ONE_CLUSTER if len(changes) else SAME_SCORES)
    twice = ScoredItems(np.concatenate([a, b]), np.concatenate([label, label]), np.arange(2 * n))
    item, by_b = twice.cluster % n, twice.cluster >= n
    place = np.searchsorted(changes, group[item]).clip(max=len(changes) - 1)
    moves = changes[place] == group[item]

    def difference(flips: np.ndarray) -> np.ndarray:
        in_first = ((flips[:, place] & moves) == by_b).astype(float)
        return statistic(twice, in_first) - statistic(twice, 1 - in_first)

    return flip_test(PERMUTATION, len(changes), difference, n_permutations, seed, 16 * n)


def _on_one_scale(column: np.ndarray, coefficient: str) -> np.ndarray:
    if coefficient == "spearman":
        from scipy.stats import rankdata

        column = rankdata(column)
    centred = standardised(column)
    return centred / np.sqrt(np.mean(centred**2))


def williams_test(with_a: float, with_b: float, between: float, n: int, undefined: str = "") -> PairedTest:
    """Williams's t for two correlations that share a variable, n - 3 degrees of freedom, two-sided.

    It takes items as independent, and scores as normal.
    """
    name = "Williams's t"
    if undefined:
        return undefined_test(name, undefined)
    if between <= -PERFECTLY:
        return undefined_test(name, "the scores are each other's opposites (0/0)")
    determinant = 1 - with_a**2 - with_b**2 - between**2 + 2 * with_a * with_b * between
    mean = (with_a + with_b) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3
    if between >= PERFECTLY or spread <= 1e-15:
        return undefined_test(name, SAME)
    t = (with_a - with_b) * np.sqrt((n - 1) * (1 + between) / spread)
    return PairedTest(name=name, statistic=float(t), p_value=float(2 * scipy.special.stdtr(n - 3, -abs(t))))


def steiger_test(with_a: float, with_b: float, between: float, n: int, undefined: str = "") -> PairedTest:
    """Steiger's Z for two correlations that share a variable, with the pooled covariance, two-sided.

    It takes items as independent, and scores as normal.
    """
    name = "Steiger's Z"
    if undefined:
        return undefined_test(name, undefined)
    if max(abs(with_a), abs(with_b)) >= PERFECTLY:
        return undefined_test(name, PERFECT)
    mean = (with_a + with_b) / 2
    covariance = between * (1 - 2 * mean**2) - mean**2 / 2 * (1 - 2 * mean**2 - between**2)
    spread = 2 - 2 * covariance / (1 - mean**2) ** 2
    if between >= PERFECTLY or spread <= 1e-15:
        return undefined_test(name, SAME)
    z = (np.arctanh(with_a) - np.arctanh(with_b)) * np.sqrt((n - 3) / spread)
    return PairedTest(name=name, statistic=float(z), p_value=float(2 * scipy.special.ndtr(-abs(z))))
