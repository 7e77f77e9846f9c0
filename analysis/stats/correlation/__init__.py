"""Correlation of scores with labels, over items, within strata and over systems."""

from analysis.stats.correlation.coefficients import Correlation, kendall_tau_b, pearson, spearman
from analysis.stats.correlation.difference import (
    CorrelationDifference,
    correlation_difference,
    steiger_test,
    williams_test,
)
from analysis.stats.correlation.features import FeatureCorrelations, feature_correlations
from analysis.stats.correlation.permutation import CorrelationTest, correlation_test
from analysis.stats.correlation.rank_sum import RankSum, mann_whitney
from analysis.stats.correlation.stratified import StratifiedCorrelation, stratified_correlation
from analysis.stats.correlation.systems import (
    SystemCorrelation,
    SystemMeans,
    item_correlation,
    system_correlation,
    system_means,
)

__all__ = [
    "Correlation",
    "CorrelationDifference",
    "CorrelationTest",
    "FeatureCorrelations",
    "RankSum",
    "StratifiedCorrelation",
    "SystemCorrelation",
    "SystemMeans",
    "correlation_difference",
    "correlation_test",
    "feature_correlations",
    "item_correlation",
    "kendall_tau_b",
    "mann_whitney",
    "pearson",
    "spearman",
    "steiger_test",
    "stratified_correlation",
    "system_correlation",
    "system_means",
    "williams_test",
]
