"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook."""

from analysis.stats.accuracy.alternative_annotator import (
    AlternativeTest,
    PersonTest,
    alternative_annotator_test,
    benjamini_yekutieli,
)
from analysis.stats.accuracy.calibration import Calibration, ReliabilityBin, calibration
from analysis.stats.accuracy.cochran_q import SeveralLabellers, several_labellers
from analysis.stats.accuracy.confusion import Classification, LabelFigures, classification
from analysis.stats.accuracy.equivalence import Equivalence, equivalence
from analysis.stats.accuracy.mcnemar import LabellerDifference, labeller_difference
from analysis.stats.accuracy.per_label import LabelIntervals, label_intervals
from analysis.stats.accuracy.posterior_accuracy import expected_accuracy
from analysis.stats.accuracy.precision_recall import Detection, detection
from analysis.stats.accuracy.prediction_powered import PoweredMean, prediction_powered_mean
from analysis.stats.accuracy.ranking import RankingScores, ranking_scores
from analysis.stats.accuracy.risk_coverage import SelectiveCurve, selective_curve
from analysis.stats.accuracy.roc import Areas, Threshold, ThresholdSweep, areas, threshold_sweep
from analysis.stats.accuracy.roc_points import CurvePoints, curve_points
from analysis.stats.agreement.alpha import Alpha, krippendorff_alpha
from analysis.stats.agreement.chance_corrected import ChanceCorrected, brennan_prediger, gwet_ac, scott_pi
from analysis.stats.agreement.cohen import CohenKappa, cohen_kappa, cohen_kappa_table
from analysis.stats.agreement.difference import AgreementDifference, agreement_difference
from analysis.stats.agreement.fleiss import FleissKappa, fleiss_kappa
from analysis.stats.agreement.inverse_probability import WeightedAgreement, weighted_agreement
from analysis.stats.agreement.leave_one_out import OthersAgreement, agreement_with_others, mean_share, shares_of_others
from analysis.stats.agreement.percent import PercentAgreement, percent_agreement, pooled_percent_agreement
from analysis.stats.agreement.permutation import PermutationTest, agreement_permutation_test
from analysis.stats.agreement.two_way import agreement_effect, clustered_agreement
from analysis.stats.annotators.competence import CompetenceIntervals, competence_intervals
from analysis.stats.annotators.drift import Drift, change, drift
from analysis.stats.annotators.latent_truth import LatentTruth, dawid_skene, mace
from analysis.stats.annotators.majority_vote import Majority, majority
from analysis.stats.annotators.suggestions import (
    SuggestionEffect,
    TimeEffect,
    alpha_effect,
    suggestion_effect,
    time_effect,
)
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
from analysis.stats.correlation.systems import SystemCorrelation, SystemMeans, system_correlation, system_means
from analysis.stats.generation.copying import CopyRates, copy_rates
from analysis.stats.generation.coverage import ResponseCoverage, mean_coverage, response_coverage
from analysis.stats.generation.coverage_detection import CoverageDetection, coverage_detection
from analysis.stats.generation.icat import IcatScores, icat_curve, icat_scores, mean_icat
from analysis.stats.generation.optimal_assignment import OptimalAssignment, assigned_similarity, similarity_matrix
from analysis.stats.generation.outcomes import OutcomeShares, Share, outcome_shares
from analysis.stats.generation.paired_measurements import Moved, moved
from analysis.stats.generation.rates import LabelRates, ModelRates, label_rates, mean_of
from analysis.stats.generation.repetitions import (
    RepeatedEstimate,
    repeated_difference,
    repeated_macro_f1,
    repeated_mean,
)
from analysis.stats.generation.responses import (
    ResponseEvaluation,
    first_present,
    label_counts,
    label_shares,
    most_frequent,
    response_evaluation,
)
from analysis.stats.generation.shifts import (
    ContextConflicts,
    PredictionShifts,
    inter_context_conflicts,
    memory_conflict,
    prediction_shifts,
)
from analysis.stats.generation.usage import ContextUsage, context_usage
from analysis.stats.planning.pilot import Pilot, pilot_of
from analysis.stats.planning.sample_size import (
    Needed,
    Planned,
    judgements_needed,
    planned_alpha,
    planned_rate,
    units_needed,
)
from analysis.stats.resampling.bootstrap import Estimate, Interval
from analysis.stats.resampling.cluster_robust import Effect, clustered_effect, clustered_logit, clustered_mean
from analysis.stats.resampling.means import GroupedMeans, grouped_means
from analysis.stats.resampling.multiplicity import benjamini_hochberg, holm
from analysis.stats.resampling.paired_permutation import PairedTest
from analysis.stats.resampling.wilson import wilson_interval
from analysis.stats.spans.continua import Continua, Marked
from analysis.stats.spans.gamma import Gamma, gamma
from analysis.stats.spans.pairwise import SpanAgreement, character_alpha, span_agreement, span_agreement_by_label
from analysis.stats.spans.unitizing import UnitizingAlpha, unitizing_alpha

from .labels import Labels, encode

__all__ = [
    "AgreementDifference",
    "Alpha",
    "AlternativeTest",
    "Areas",
    "OptimalAssignment",
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
