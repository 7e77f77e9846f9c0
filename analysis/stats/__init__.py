"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook."""

from .alpha import Alpha, krippendorff_alpha
from .alternative import AlternativeTest, PersonTest, alternative_annotator_test, benjamini_yekutieli
from .annotators import LatentTruth, dawid_skene, mace
from .assignment import Assignment, assigned_similarity, similarity_matrix
from .bootstrap import Estimate, Interval
from .calibration import Calibration, ReliabilityBin, calibration
from .chance import ChanceCorrected, brennan_prediger, gwet_ac, scott_pi
from .clustered import Effect, clustered_effect, clustered_logit, clustered_mean
from .cohen import CohenKappa, cohen_kappa, cohen_kappa_table
from .competence import CompetenceIntervals, competence_intervals
from .confusion import Classification, LabelFigures, classification
from .continua import Continua, Marked
from .copying import CopyRates, copy_rates
from .correlation import Correlation, kendall_tau_b, pearson, spearman
from .correlation_tests import CorrelationTest, correlation_test
from .coverage import ResponseCoverage, mean_coverage, response_coverage
from .coverage_detection import CoverageDetection, coverage_detection
from .curve_points import CurvePoints, curve_points
from .curves import Areas, Threshold, ThresholdSweep, areas, threshold_sweep
from .detection import Detection, detection
from .differences import AgreementDifference, agreement_difference
from .drift import Drift, change, drift
from .feature_correlations import FeatureCorrelations, feature_correlations
from .fleiss import FleissKappa, fleiss_kappa
from .gamma import Gamma, gamma
from .icat import IcatScores, icat_curve, icat_scores, mean_icat
from .label_intervals import LabelIntervals, label_intervals
from .labels import Labels, encode
from .means import GroupedMeans, grouped_means
from .moved import Moved, moved
from .multiplicity import benjamini_hochberg, holm
from .others import OthersAgreement, agreement_with_others, mean_share, shares_of_others
from .outcomes import OutcomeShares, Share, outcome_shares
from .paired import Equivalence, LabellerDifference, equivalence, labeller_difference
from .paired_scores import CorrelationDifference, correlation_difference, steiger_test, williams_test
from .percent import PercentAgreement, percent_agreement, pooled_percent_agreement
from .permutation import PermutationTest, agreement_permutation_test
from .pilot import Pilot, pilot_of
from .planning import Needed, Planned, judgements_needed, planned_alpha, planned_rate, units_needed
from .posterior_accuracy import expected_accuracy
from .prefill import SuggestionEffect, TimeEffect, alpha_effect, suggestion_effect, time_effect
from .prevalence import PoweredMean, prediction_powered_mean
from .proportions import wilson_interval
from .rank_sum import RankSum, mann_whitney
from .ranking import RankingScores, ranking_scores
from .rates import LabelRates, ModelRates, label_rates, mean_of
from .repetitions import RepeatedEstimate, repeated_difference, repeated_macro_f1, repeated_mean
from .responses import (
    ResponseEvaluation,
    first_present,
    label_counts,
    label_shares,
    most_frequent,
    response_evaluation,
)
from .selection import WeightedAgreement, weighted_agreement
from .selective import SelectiveCurve, selective_curve
from .several import SeveralLabellers, several_labellers
from .shifts import ContextConflicts, PredictionShifts, inter_context_conflicts, memory_conflict, prediction_shifts
from .spans import SpanAgreement, character_alpha, span_agreement, span_agreement_by_label
from .stratified import StratifiedCorrelation, stratified_correlation
from .swaps import PairedTest
from .systems import SystemCorrelation, SystemMeans, system_correlation, system_means
from .two_way import agreement_effect, clustered_agreement
from .unitizing import UnitizingAlpha, unitizing_alpha
from .usage import ContextUsage, context_usage
from .voting import Majority, majority

__all__ = [
    "AgreementDifference",
    "Alpha",
    "AlternativeTest",
    "Areas",
    "Assignment",
    "Calibration",
    "ChanceCorrected",
    "Classification",
    "CohenKappa",
    "CompetenceIntervals",
    "ContextConflicts",
    "ContextUsage",
    "Continua",
    "CopyRates",
    "Correlation",
    "CorrelationDifference",
    "CorrelationTest",
    "CoverageDetection",
    "CurvePoints",
    "Detection",
    "Drift",
    "Effect",
    "Equivalence",
    "Estimate",
    "FeatureCorrelations",
    "FleissKappa",
    "Gamma",
    "GroupedMeans",
    "IcatScores",
    "Interval",
    "LabelFigures",
    "LabelIntervals",
    "LabelRates",
    "LabellerDifference",
    "Labels",
    "LatentTruth",
    "Majority",
    "Marked",
    "ModelRates",
    "Moved",
    "Needed",
    "OthersAgreement",
    "OutcomeShares",
    "PairedTest",
    "PercentAgreement",
    "PermutationTest",
    "PersonTest",
    "Pilot",
    "Planned",
    "PoweredMean",
    "PredictionShifts",
    "RankSum",
    "RankingScores",
    "ReliabilityBin",
    "RepeatedEstimate",
    "ResponseCoverage",
    "ResponseEvaluation",
    "SelectiveCurve",
    "SeveralLabellers",
    "Share",
    "SpanAgreement",
    "StratifiedCorrelation",
    "SuggestionEffect",
    "SystemCorrelation",
    "SystemMeans",
    "Threshold",
    "ThresholdSweep",
    "TimeEffect",
    "UnitizingAlpha",
    "WeightedAgreement",
    "agreement_difference",
    "agreement_effect",
    "agreement_permutation_test",
    "agreement_with_others",
    "alpha_effect",
    "alternative_annotator_test",
    "areas",
    "assigned_similarity",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "brennan_prediger",
    "calibration",
    "change",
    "character_alpha",
    "classification",
    "clustered_agreement",
    "clustered_effect",
    "clustered_logit",
    "clustered_mean",
    "cohen_kappa",
    "cohen_kappa_table",
    "competence_intervals",
    "context_usage",
    "copy_rates",
    "correlation_difference",
    "correlation_test",
    "coverage_detection",
    "curve_points",
    "dawid_skene",
    "detection",
    "drift",
    "encode",
    "equivalence",
    "expected_accuracy",
    "feature_correlations",
    "first_present",
    "fleiss_kappa",
    "gamma",
    "grouped_means",
    "gwet_ac",
    "holm",
    "icat_curve",
    "icat_scores",
    "inter_context_conflicts",
    "judgements_needed",
    "kendall_tau_b",
    "krippendorff_alpha",
    "label_counts",
    "label_intervals",
    "label_rates",
    "label_shares",
    "labeller_difference",
    "mace",
    "majority",
    "mann_whitney",
    "mean_coverage",
    "mean_icat",
    "mean_of",
    "mean_share",
    "memory_conflict",
    "most_frequent",
    "moved",
    "outcome_shares",
    "pearson",
    "percent_agreement",
    "pilot_of",
    "planned_alpha",
    "planned_rate",
    "pooled_percent_agreement",
    "prediction_powered_mean",
    "prediction_shifts",
    "ranking_scores",
    "repeated_difference",
    "repeated_macro_f1",
    "repeated_mean",
    "response_coverage",
    "response_evaluation",
    "scott_pi",
    "selective_curve",
    "several_labellers",
    "shares_of_others",
    "similarity_matrix",
    "span_agreement",
    "span_agreement_by_label",
    "spearman",
    "steiger_test",
    "stratified_correlation",
    "suggestion_effect",
    "system_correlation",
    "system_means",
    "threshold_sweep",
    "time_effect",
    "unitizing_alpha",
    "units_needed",
    "weighted_agreement",
    "williams_test",
    "wilson_interval",
]
