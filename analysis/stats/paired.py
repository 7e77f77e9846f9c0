"""Two automatic labellers, or two automatic scores, against the same people: which is closer, and is it by chance?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .bootstrap import NO_INFLUENCE, Estimate, Interval, SumSample
from .confusion import accuracy_of, confusion_features, macro_f1_of
from .correlation import STATISTICS, Items, WeightSample
from .labels import code_column

NO_SHARED = "no unit has a reference and both predictions"
TOO_FEW_ITEMS = "fewer than four items have both scores and a label"
CONSTANT = "one of the three columns is the same for every item"


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """A test's statistic and two-sided p value; both nan where `undefined` gives a reason."""

    name: str
    statistic: float
    p_value: float
    undefined: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class LabellerDifference:
    """Figures of a minus figures of b, on the units that have a reference and both predictions.

    `only_a_right` and `only_b_right` are the discordant units of McNemar's test.
    """

    accuracy: Estimate
    macro_f1: Estimate
    only_a_right: int
    only_b_right: int
    mcnemar: PairedTest
    permutation: PairedTest


def labeller_difference(
    reference: Sequence[int] | np.ndarray,
    a: Sequence[int] | np.ndarray,
    b: Sequence[int] | np.ndarray,
    categories: Sequence[str],
    cluster: Sequence[int] | np.ndarray | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
) -> LabellerDifference:
    """Accuracy and macro-F1 of labeller a minus those of b (see `classification`).

    McNemar's test is exact: under H0 the units that only one is right on are equally often a's and b's (binomial,
    two-sided). It takes units as independent. The permutation test is for macro-F1: under H0 a's and b's labels of a
    unit (or of a whole cluster) can be swapped; ``p = (1 + number of |differences| at least as large) / (1 + n)``.

    Parameters
    ----------
    reference, a, b : (n_units,) int arrays
        Codes into `categories`, -1 for none; units without all three are left out and counted.
    categories : sequence of str
    cluster : (n_units,) int array, optional
        Intervals resample, and the permutation test swaps, whole clusters.
    n_permutations, seed : int

    Returns
    -------
    LabellerDifference
        Undefined where no unit has all three.

    References
    ----------
    McNemar (1947), Psychometrika 12(2), 153-157; doi:10.1007/BF02295996. Dror et al. (2018), The hitchhiker's guide to
    testing statistical significance in NLP, ACL; doi:10.18653/v1/P18-1128.

    Examples
    --------
    >>> found = labeller_difference([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0], ["no", "yes"])
    >>> round(found.accuracy.estimate, 2), found.only_a_right, found.only_b_right, found.mcnemar.p_value
    (0.4, 2, 0, 0.5)
    """
    k = len(tuple(categories))
    columns = [code_column(column, k, name) for column, name in ((reference, "reference"), (a, "a"), (b, "b"))]
    if len({len(column) for column in columns}) > 1 or (cluster is not None and len(cluster) != len(columns[0])):
        raise ValueError("reference, a, b and cluster differ in length")
    has_all = np.all([column >= 0 for column in columns], axis=0)
    truth, of_a, of_b = (column[has_all] for column in columns)
    drawn_from = None if cluster is None else np.asarray(cluster)[has_all]
    cell, pattern = np.unique((truth.astype(np.int64) * k + of_a) * k + of_b, return_inverse=True)
    first, in_b = np.divmod(cell, k)
    in_truth, in_a = np.divmod(first, k)
    features = np.column_stack([confusion_features(in_truth, in_a, k), confusion_features(in_truth, in_b, k)])

    def estimate_of(figure) -> Estimate:
        def statistic(sums: np.ndarray) -> np.ndarray:
            half = sums.shape[1] // 2
            return figure(sums[:, :half]) - figure(sums[:, half:])

        sample = SumSample(features, pattern, drawn_from, statistic)
        left_out = int((~has_all).sum())
        return Estimate(
            estimate=sample.value(),
            undefined="" if len(truth) else NO_SHARED,
            n_units=len(has_all),
            n_pairable=len(truth),
            n_labels=3 * len(truth),
            left_out={"without reference and both predictions": left_out} if left_out else {},
            sample=sample,
        )

    macro_f1 = estimate_of(macro_f1_of)
    only_a, only_b = int(((of_a == truth) & (of_b != truth)).sum()), int(((of_b == truth) & (of_a != truth)).sum())
    return LabellerDifference(
        accuracy=estimate_of(accuracy_of),
        macro_f1=macro_f1,
        only_a_right=only_a,
        only_b_right=only_b,
        mcnemar=_mcnemar(only_a, only_b, len(truth)),
        permutation=_swap_test(features, pattern, drawn_from, n_permutations, seed),
    )


def _mcnemar(only_a: int, only_b: int, n: int) -> PairedTest:
    name = "McNemar, exact"
    if not n:
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined=NO_SHARED)
    discordant = only_a + only_b
    p = float(stats.binomtest(only_a, discordant).pvalue) if discordant else 1.0
    return PairedTest(name=name, statistic=float(only_a), p_value=p)


def _swap_test(features, pattern, cluster, n_permutations: int, seed: int) -> PairedTest:
    name = "paired permutation of macro-F1"
    if not len(pattern):
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined=NO_SHARED)
    half = features.shape[1] // 2
    swapped = np.hstack([features[:, half:], features[:, :half]])
    group = np.unique(cluster, return_inverse=True)[1] if cluster is not None else np.arange(len(pattern))
    # What swapping one group changes in the sums, so that a permutation is one product with random signs.
    change = np.zeros((int(group.max()) + 1, 2 * half))
    np.add.at(change, group, (swapped - features)[pattern])
    total = features[pattern].sum(axis=0)
    rng = np.random.default_rng(seed)

    def difference(sums: np.ndarray) -> np.ndarray:
        return macro_f1_of(sums[:, :half]) - macro_f1_of(sums[:, half:])

    observed = float(difference(total[None, :])[0])
    batch = max(1, 2_000_000 // len(change))
    larger = 0
    for start in range(0, n_permutations, batch):
        flips = rng.random((min(batch, n_permutations - start), len(change))) < 0.5
        drawn = difference(total + flips.astype(float) @ change)
        larger += int((np.abs(drawn) >= abs(observed) - 1e-12).sum())
    return PairedTest(name=name, statistic=observed, p_value=(1 + larger) / (1 + n_permutations))


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelationDifference:
    """Correlation of score a with the label minus that of score b, and the correlations it comes from."""

    coefficient: str
    difference: Estimate
    with_a: float
    with_b: float
    between: float
    williams: PairedTest
    steiger: PairedTest


def correlation_difference(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    label: Sequence[float] | np.ndarray,
    coefficient: str = "pearson",
    cluster: Sequence[int] | np.ndarray | None = None,
) -> CorrelationDifference:
    """Which of two scores correlates better with the same people's labels.

    Both correlations share the labels and the scores correlate with each other, so they are dependent; Williams's t and
    Steiger's Z allow for that. Both suppose independent items and roughly normal scores (for Spearman they are applied
    to ranks, an approximation); the interval of `difference` supposes neither and resamples clusters.

    Parameters
    ----------
    a, b : (n_items,) float arrays
        Missing (nan) and infinite scores leave the item out.
    label : (n_items,) int or float array
        -1 or nan where there is none.
    coefficient : {'pearson', 'spearman'}
    cluster : (n_items,) int array, optional

    Returns
    -------
    CorrelationDifference
        Undefined with fewer than four items or a constant column. Two scores that correlate perfectly leave the tests
        undefined (0/0).

    References
    ----------
    Williams (1959), Journal of the Royal Statistical Society B 21(2), 396-399. Steiger (1980), Psychological Bulletin
    87(2), 245-251, eq. 7 and 14 (pooled); doi:10.1037/0033-2909.87.2.245.
    """
    if coefficient not in ("pearson", "spearman"):
        raise ValueError(f"coefficient must be 'pearson' or 'spearman', not {coefficient!r}")
    columns = [np.asarray(column, dtype=float) for column in (a, b, label)]
    lengths = {len(column) for column in columns} | ({len(cluster)} if cluster is not None else set())
    if len(lengths) > 1 or any(column.ndim != 1 for column in columns):
        raise ValueError("a, b, label and cluster must be columns of one length")
    has_all = np.all([np.isfinite(column) for column in columns], axis=0) & ~(columns[2] < 0)
    of_a, of_b, of_people = (column[has_all] for column in columns)
    drawn_from = None if cluster is None else np.asarray(cluster)[has_all]
    n, undefined = len(of_a), ""
    if n < 4:
        undefined = TOO_FEW_ITEMS
    elif any(column.min() == column.max() for column in (of_a, of_b, of_people)):
        undefined = CONSTANT
    statistic = STATISTICS[coefficient]
    sample = _TwoScores(of_a, of_b, of_people, drawn_from, statistic)
    with_a = with_b = between = np.nan
    if not undefined:
        with_a, with_b, between = (
            WeightSample(Items(x, y, None), statistic).value()
            for x, y in ((of_a, of_people), (of_b, of_people), (of_a, of_b))
        )
    left_out = int((~has_all).sum())
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
        williams=williams_test(with_a, with_b, between, n, undefined),
        steiger=steiger_test(with_a, with_b, between, n, undefined),
    )


@dataclass(frozen=True, eq=False)
class _TwoScores:
    """Items under the difference of two correlations: every resample draws the same items for both."""

    a: np.ndarray
    b: np.ndarray
    label: np.ndarray
    cluster: np.ndarray | None
    statistic: Callable[[Items, np.ndarray], np.ndarray]

    def n_drawn(self, clusters: bool) -> tuple[int, bool]:
        clustered = clusters and self.cluster is not None
        return (len(np.unique(self.cluster)) if clustered else len(self.label)), clustered

    def values(self, n_resamples: int, rng: np.random.Generator, clusters: bool) -> np.ndarray:
        found = []
        state = rng.bit_generator.state
        for sample in self._sides(clusters):
            rng.bit_generator.state = state
            found.append(sample.values(n_resamples, rng, True))
        return found[0] - found[1]

    def influences(self, clusters: bool) -> tuple[np.ndarray, np.ndarray]:
        (of_a, times), (of_b, _) = (sample.influences(True) for sample in self._sides(clusters))
        return (of_a - of_b, times) if len(of_a) == len(of_b) else NO_INFLUENCE

    def _sides(self, clusters: bool) -> list[WeightSample]:
        # Items are sorted by each score. Drawing by a number that stays with the item makes both draws alike.
        drawn_from = self.cluster if clusters and self.cluster is not None else np.arange(len(self.label))
        return [WeightSample(Items(score, self.label, drawn_from), self.statistic) for score in (self.a, self.b)]


def williams_test(with_a: float, with_b: float, between: float, n: int, undefined: str = "") -> PairedTest:
    """Williams's t for two correlations that share a variable, n - 3 degrees of freedom, two-sided."""
    name = "Williams's t"
    if undefined:
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined=undefined)
    determinant = 1 - with_a**2 - with_b**2 - between**2 + 2 * with_a * with_b * between
    mean = (with_a + with_b) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3
    if spread <= 1e-15:
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined="the scores are the same (0/0)")
    t = (with_a - with_b) * np.sqrt((n - 1) * (1 + between) / spread)
    return PairedTest(name=name, statistic=float(t), p_value=float(2 * stats.t.sf(abs(t), n - 3)))


def steiger_test(with_a: float, with_b: float, between: float, n: int, undefined: str = "") -> PairedTest:
    """Steiger's Z for two correlations that share a variable, with the pooled covariance, two-sided."""
    name = "Steiger's Z"
    if undefined:
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined=undefined)
    mean = (with_a + with_b) / 2
    covariance = between * (1 - 2 * mean**2) - mean**2 / 2 * (1 - 2 * mean**2 - between**2)
    spread = 2 - 2 * covariance / (1 - mean**2) ** 2 if abs(mean) < 1 else 0.0
    if spread <= 1e-15 or max(abs(with_a), abs(with_b)) >= 1:
        return PairedTest(name=name, statistic=np.nan, p_value=np.nan, undefined="a perfect correlation (0/0)")
    z = (np.arctanh(with_a) - np.arctanh(with_b)) * np.sqrt((n - 3) / spread)
    return PairedTest(name=name, statistic=float(z), p_value=float(2 * stats.norm.sf(abs(z))))


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Whether a difference lies within ``(-margin, margin)``; None where its interval is undefined."""

    margin: float
    interval: Interval
    equivalent: bool | None


def equivalence(difference: Estimate, margin: float, alpha: float = 0.05, n_resamples: int = 2000) -> Equivalence:
    """Two one-sided tests at alpha, by the interval at ``1 - 2 alpha``: equivalent if it lies within the margin.

    Parameters
    ----------
    difference : Estimate
        Any difference with a bootstrap interval.
    margin : float
        The largest difference that would not matter, above 0, chosen before looking.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; doi:10.1007/BF01068419.
    """
    if margin <= 0 or not 0 < alpha < 0.5:
        raise ValueError("margin must be above 0, alpha between 0 and 0.5")
    if difference.undefined:
        interval = difference.confidence_interval(1, 1 - 2 * alpha)
        return Equivalence(margin=margin, interval=interval, equivalent=None)
    interval = difference.confidence_interval(n_resamples, 1 - 2 * alpha)
    known = not interval.undefined
    inside = known and -margin < interval.low and interval.high < margin
    return Equivalence(margin=margin, interval=interval, equivalent=inside if known else None)
