"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook."""

from .alpha import Alpha, krippendorff_alpha
from .alternative import AlternativeTest, PersonTest, alternative_annotator_test, benjamini_yekutieli
from .annotators import LatentTruth, dawid_skene, mace
from .bootstrap import Estimate, Interval
from .calibration import Calibration, ReliabilityBin, calibration
from .chance import ChanceCorrected, brennan_prediger, gwet_ac, scott_pi
from .cohen import CohenKappa, cohen_kappa, cohen_kappa_table
from .competence import CompetenceIntervals, competence_intervals
from .confusion import Classification, LabelFigures, classification
from .correlation import Correlation, kendall_tau_b, pearson, spearman
from .coverage import ResponseCoverage, mean_coverage, response_coverage
from .coverage_detection import CoverageDetection, coverage_detection
from .curves import Areas, Threshold, ThresholdSweep, areas, threshold_sweep
from .differences import AgreementDifference, agreement_difference
from .fleiss import FleissKappa, fleiss_kappa
from .icat import IcatCurve, IcatScores, icat_curve, icat_scores, mean_icat
from .labels import Labels, encode
from .multiplicity import benjamini_hochberg, holm
from .others import OthersAgreement, agreement_with_others, mean_share, shares_of_others
from .paired import (
    CorrelationDifference,
    Equivalence,
    LabellerDifference,
    PairedTest,
    correlation_difference,
    equivalence,
    labeller_difference,
    steiger_test,
    williams_test,
)
from .percent import PercentAgreement, percent_agreement, pooled_percent_agreement
from .permutation import PermutationTest, agreement_permutation_test
from .prevalence import PoweredMean, prediction_powered_mean
from .rates import LabelRates, ModelRates, label_rates
from .spans import Marked, SpanAgreement, character_alpha, span_agreement
from .usage import ContextUsage, context_usage
from .voting import Majority, majority

__all__ = [
    "AgreementDifference",
    "Alpha",
    "AlternativeTest",
    "Areas",
    "Calibration",
    "ChanceCorrected",
    "Classification",
    "CohenKappa",
    "CompetenceIntervals",
    "ContextUsage",
    "Correlation",
    "CorrelationDifference",
    "CoverageDetection",
    "Equivalence",
    "Estimate",
    "FleissKappa",
    "IcatCurve",
    "IcatScores",
    "Interval",
    "LabelFigures",
    "LabelRates",
    "LabellerDifference",
    "Labels",
    "LatentTruth",
    "Majority",
    "Marked",
    "ModelRates",
    "OthersAgreement",
    "PairedTest",
    "PercentAgreement",
    "PermutationTest",
    "PersonTest",
    "PoweredMean",
    "ReliabilityBin",
    "ResponseCoverage",
    "SpanAgreement",
    "Threshold",
    "ThresholdSweep",
    "agreement_difference",
    "agreement_permutation_test",
    "agreement_with_others",
    "alternative_annotator_test",
    "areas",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "brennan_prediger",
    "calibration",
    "character_alpha",
    "classification",
    "cohen_kappa",
    "cohen_kappa_table",
    "competence_intervals",
    "context_usage",
    "correlation_difference",
    "coverage_detection",
    "dawid_skene",
    "encode",
    "equivalence",
    "fleiss_kappa",
    "gwet_ac",
    "holm",
    "icat_curve",
    "icat_scores",
    "kendall_tau_b",
    "krippendorff_alpha",
    "label_rates",
    "labeller_difference",
    "mace",
    "majority",
    "mean_coverage",
    "mean_icat",
    "mean_share",
    "pearson",
    "percent_agreement",
    "pooled_percent_agreement",
    "prediction_powered_mean",
    "response_coverage",
    "scott_pi",
    "shares_of_others",
    "span_agreement",
    "spearman",
    "steiger_test",
    "threshold_sweep",
    "williams_test",
]
