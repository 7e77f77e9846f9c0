"""Bootstrap, intervals, clustered errors and adjusted p values: what the other families rest on."""

from analysis.stats.resampling.bootstrap import Estimate, Interval
from analysis.stats.resampling.cluster_robust import Effect, clustered_effect, clustered_logit, clustered_mean
from analysis.stats.resampling.means import GroupedMeans, grouped_means
from analysis.stats.resampling.multiplicity import benjamini_hochberg, holm
from analysis.stats.resampling.paired_permutation import PairedTest
from analysis.stats.resampling.wilson import wilson_interval

__all__ = [
    "Effect",
    "Estimate",
    "GroupedMeans",
    "Interval",
    "PairedTest",
    "benjamini_hochberg",
    "clustered_effect",
    "clustered_logit",
    "clustered_mean",
    "grouped_means",
    "holm",
    "wilson_interval",
]
