"""Correlations of many features with one outcome, within strata, tested as one family (DRUID, section 5.4).

Pieces of evidence of one claim are not independent: a claim's length is the same for all of them, and so is what a
language model thinks of the claim. The usual p value of a correlation supposes that they are, and finds too much. The
test here has a standard error from sums over clusters (a sandwich estimate) of each unit's influence on a coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from analysis.stats.labels import code_column
from analysis.stats.resampling.multiplicity import benjamini_hochberg, holm

COEFFICIENTS = ("spearman", "pearson")
TESTS = ("clusters", "units", "permutation")
TOO_FEW_UNITS = "fewer than three units have both values"
CONSTANT_FEATURE = "the feature is the same for every unit"
CONSTANT_OUTCOME = "the outcome is the same for every unit"
REASONS = (TOO_FEW_UNITS, CONSTANT_FEATURE, CONSTANT_OUTCOME)
TOO_FEW_CLUSTERS = "fewer than three clusters"
NO_VARIANCE = "the correlation is 0 in every cluster, so nothing says how far it varies"
# What is smaller than this is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class FeatureCorrelations:
    """A table of correlations, a row for each stratum and a column for each feature.

    Attributes
    ----------
    coefficient, test : str
        Of COEFFICIENTS and TESTS.
    estimate, p_value, p_holm, p_bh : (n_strata, n_features) float arrays
        nan where undefined. The two adjusted ones take all defined cells of the table as one family.
    p_units : (n_strata, n_features) float array
        p value of the test 'units', unadjusted, whatever the test: what the paper's figures mark.
    standard_error : (n_strata, n_features) float array
        Over clusters where `cluster` was given, else over units: for Spearman's coefficient from sums of influences,
        for Pearson's the jackknife that leaves out each cluster, nan where without some cluster a side is constant.
    n, n_clusters : (n_strata, n_features) int arrays
        Units with both values, and the clusters that they come in.
    reason : (n_strata, n_features) array of str
        Why the coefficient is undefined; empty where it is defined.
    p_reason : (n_strata, n_features) array of str
        Why a defined coefficient has no p value.
    """

    coefficient: str
    test: str
    estimate: np.ndarray
    standard_error: np.ndarray
    p_value: np.ndarray
    p_units: np.ndarray
    n: np.ndarray
    n_clusters: np.ndarray
    reason: np.ndarray
    p_reason: np.ndarray

    @cached_property
    def p_holm(self) -> np.ndarray:
        return holm(self.p_value.ravel()).reshape(self.p_value.shape)

    @cached_property
    def p_bh(self) -> np.ndarray:
        return benjamini_hochberg(self.p_value.ravel()).reshape(self.p_value.shape)

    def confidence_intervals(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Low and high, (n_strata, n_features): the standard error on Fisher's z scale, with Student's t quantile for
        the number of clusters less one. nan where there is no standard error, or it is 0."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level}")
        usable = (self.standard_error > ROUNDING) & (np.abs(self.estimate) < 1) & (self.n_clusters > 2)
        r = np.where(usable, self.estimate, 0)
        quantile = scipy.special.stdtrit(np.maximum(self.n_clusters - 1, 1), (1 + level) / 2)
        half = quantile * np.where(usable, self.standard_error, 0) / (1 - r**2)
        return tuple(np.where(usable, np.tanh(np.arctanh(r) + sign * half), np.nan) for sign in (-1, 1))


def feature_correlations(
    features: Sequence | np.ndarray,
    outcome: Sequence[float] | np.ndarray,
    stratum: Sequence[int] | np.ndarray,
    n_strata: int,
    cluster: Sequence[int] | np.ndarray | None = None,
    coefficient: str = "spearman",
    test: str = "clusters",
    n_permutations: int = 999,
    seed: int = 0,
) -> FeatureCorrelations:
    """Correlation of every feature with the outcome in every stratum.

    Parameters
    ----------
    features : (n, n_features) float array
        nan where undefined: left out of that feature's correlations alone (pairwise deletion).
    outcome : (n,) float array
        Such as accumulated context usage; nan is left out.
    stratum : (n,) int array
        0 to n_strata - 1; -1 for units in none.
    n_strata : int
    cluster : (n,) int array, optional
        What units come in; without it each stands for itself.
    coefficient : str
        'spearman' (Pearson's correlation of mean ranks) or 'pearson'.
    test : str
        'clusters': the coefficient over its standard error if the true one were 0, summed over clusters, against
        Student's t with one degree of freedom less than clusters.
        'units': ``r sqrt((n - 2) / (1 - r^2))`` against Student's t with n - 2, the usual test, right only where units
        are independent.
        'permutation': the outcome is permuted among the units of the stratum, all alike, so units are taken as
        independent too; p counts the data themselves, so it is at least 1 / (n_permutations + 1), and an adjustment for
        m tests cannot get below m times that.
    n_permutations : int
    seed : int

    Returns
    -------
    FeatureCorrelations
        Undefined with fewer than three units, or where a side is constant. With fewer than three clusters there is no
        p value under 'clusters'. How often the tests reject in simulated data without a correlation stands in
        docs/statistics/coverage.md.

    Raises
    ------
    ValueError
        Unknown names, infinite values, or lengths that differ.

    References
    ----------
    Influence of a unit on Spearman's coefficient: Croux and Dehon (2010), Statistical Methods and Applications 19,
    497-515; doi:10.1007/s10260-010-0142-z (here with mean ranks, so ties count). Sums of influences over clusters:
    Liang and Zeger (1986), Biometrika 73(1), 13-22; doi:10.1093/biomet/73.1.13. Leaving out clusters: Efron and
    Tibshirani (1993), An Introduction to the Bootstrap, eq. 11.5.

    Examples
    --------
    >>> result = feature_correlations([[1], [2], [3], [4], [5]], [0.1, 0.3, 0.2, 0.5, 0.4], [0] * 5, 1, test="units")
    >>> result.estimate.round(4).tolist(), result.p_value.round(4).tolist()
    ([[0.8]], [[0.1041]])
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient is one of {', '.join(COEFFICIENTS)}, not {coefficient!r}")
    if test not in TESTS:
        raise ValueError(f"test is one of {', '.join(TESTS)}, not {test!r}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, not {n_permutations}")
    table, y = np.asarray(features, dtype=float), np.asarray(outcome, dtype=float)
    if table.ndim != 2 or y.ndim != 1 or len(table) != len(y):
        raise ValueError(f"features and outcome have a row per unit each, not the shapes {table.shape} and {y.shape}")
    stratum = code_column(stratum, n_strata, "stratum")
    groups = np.arange(len(y)) if cluster is None else np.asarray(cluster)
    if not len(stratum) == len(groups) == len(y):
        raise ValueError("stratum, cluster and outcome differ in length")
    if np.isinf(table).any() or np.isinf(y).any():
        raise ValueError("values are finite, or nan where undefined")
    shape = (n_strata, table.shape[1])
    numbers = {name: np.full(shape, np.nan) for name in ("estimate", "standard_error", "p_value", "p_units")}
    counts = {name: np.zeros(shape, dtype=int) for name in ("n", "n_clusters")}
    words = {name: np.full(shape, "", dtype=object) for name in ("reason", "p_reason")}
    rng = np.random.default_rng(seed)
    for row in range(n_strata):
        mine = np.flatnonzero((stratum == row) & ~np.isnan(y))
        for column in range(shape[1]):
            cell, used = (row, column), mine[~np.isnan(table[mine, column])]
            pair = _Pair(table[used, column], y[used], groups[used], coefficient == "spearman")
            counts["n"][cell], counts["n_clusters"][cell] = pair.n, pair.n_clusters
            words["reason"][cell] = pair.undefined
            if pair.undefined:
                continue
            numbers["estimate"][cell] = pair.estimate
            numbers["standard_error"][cell] = pair.standard_error
            numbers["p_units"][cell] = pair.p_of_units()
            p_value, words["p_reason"][cell] = pair.p_of(test, n_permutations, rng)
            numbers["p_value"][cell] = p_value
    return FeatureCorrelations(coefficient, test, **numbers, **counts, **words)


class _Pair:
    """One feature and the outcome in one stratum, nothing missing."""

    def __init__(self, x: np.ndarray, y: np.ndarray, cluster: np.ndarray, by_ranks: bool) -> None:
        self.n = len(x)
        self._cluster = np.unique(cluster, return_inverse=True)[1]
        self.n_clusters = int(self._cluster.max()) + 1 if self.n else 0
        cases = (self.n < 3, self.n > 0 and np.ptp(x) == 0, self.n > 0 and np.ptp(y) == 0)
        self.undefined = next((reason for reason, holds in zip(REASONS, cases, strict=True) if holds), "")
        if self.undefined:
            return
        self._x, self._y = (_Ranks(column) if by_ranks else _Values(column) for column in (x, y))
        self.estimate = float(np.clip(np.mean(self._x.standardised * self._y.standardised), -1, 1))
        self.standard_error = self._error(self.estimate, around=0.0) if by_ranks else self._jackknife()

    def _jackknife(self) -> float:
        """Standard error of Pearson's coefficient from leaving out each cluster in turn, which its sums give exactly.
        Sums of influences alone vary too little where clusters are few: intervals from them would cover less."""
        if self.n_clusters < 2:
            return np.nan
        u, v = self._x.standardised, self._y.standardised
        parts = [np.bincount(self._cluster, weights=part) for part in (np.ones(self.n), u, v, u * u, v * v, u * v)]
        n, sum_u, sum_v, square_u, square_v, product = (part.sum() - part for part in parts)
        spread_u, spread_v = square_u - sum_u**2 / n, square_v - sum_v**2 / n
        if min(spread_u.min(), spread_v.min()) <= ROUNDING * self.n:
            return np.nan
        left = (product - sum_u * sum_v / n) / np.sqrt(spread_u * spread_v)
        return float(np.sqrt((self.n_clusters - 1) / self.n_clusters * ((left - left.mean()) ** 2).sum()))

    def _error(self, r: float, around: float) -> float:
        """Standard error if the true coefficient were `r`, from deviations of the units' influences.

        Root of the sum over clusters of squared sums of influences, times C / (C - 1). `around` is what the influences
        are on average.
        """
        if self.n_clusters < 2:
            return np.nan
        u, v = self._x.standardised, self._y.standardised
        # On the covariance and on both variances; what a unit does to the ranks of others is in `moved`.
        influence = u * v - r / 2 * (u**2 + v**2) + self._x.moved(v - r * u) + self._y.moved(u - r * v)
        sums = np.bincount(self._cluster, weights=influence - influence.mean() + around)
        return float(np.sqrt((sums**2).sum() * self.n_clusters / (self.n_clusters - 1)) / self.n)

    def p_of_units(self) -> float:
        rest = 1 - self.estimate**2
        t = abs(self.estimate) * np.sqrt((self.n - 2) / rest) if rest > ROUNDING else np.inf
        return float(2 * scipy.special.stdtr(self.n - 2, -t))

    def p_of(self, test: str, n_permutations: int, rng: np.random.Generator) -> tuple[float, str]:
        """Two-sided p value, or nan and why there is none."""
        if test == "units":
            return self.p_of_units(), ""
        if test == "permutation":
            # Rounding may put the same arrangement of ties a little below what was seen.
            seen = abs(self.estimate) - ROUNDING
            u, v = self._x.standardised, self._y.standardised
            hits = sum(abs(np.mean(u * rng.permutation(v))) >= seen for _ in range(n_permutations))
            return float((hits + 1) / (n_permutations + 1)), ""
        if self.n_clusters < 3:
            return np.nan, TOO_FEW_CLUSTERS
        # If the truth is 0, the influences vary around 0, and what they are on average is part of their variation.
        error = self._error(0.0, around=self.estimate)
        if error <= ROUNDING:
            return np.nan, NO_VARIANCE
        return float(2 * scipy.special.stdtr(self.n_clusters - 1, -abs(self.estimate) / error)), ""


class _Values:
    """A column as it is, standardised."""

    def __init__(self, column: np.ndarray) -> None:
        centred = column - column.mean()
        centred = centred / np.abs(centred).max()
        self.standardised = centred / np.sqrt(np.mean(centred**2))

    def moved(self, weight: np.ndarray) -> float:
        """A unit's value moves nobody else's."""
        return 0.0


class _Ranks:
    """A column's mean ranks, standardised."""

    def __init__(self, column: np.ndarray) -> None:
        self._tie = np.unique(column, return_inverse=True)[1]
        count = np.bincount(self._tie)
        rank = ((np.cumsum(count) - count / 2) / len(column) - 0.5)[self._tie]
        self._scale = np.sqrt(np.mean(rank**2))
        self.standardised = rank / self._scale

    def moved(self, weight: np.ndarray) -> np.ndarray:
        """What each unit adds by lifting the ranks of all above it by one, and of those that tie with it by a half:
        the mean of their weights."""
        by_tie = np.bincount(self._tie, weights=weight)
        above = by_tie[::-1].cumsum()[::-1] - by_tie / 2
        return above[self._tie] / (len(weight) * self._scale)
