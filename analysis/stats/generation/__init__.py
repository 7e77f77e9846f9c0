"""Figures of generated text: ICAT, RefChecker, DRUID, leakage, sufficient context."""

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

__all__ = [
    "OptimalAssignment",
    "ContextConflicts",
    "ContextUsage",
    "CopyRates",
    "CoverageDetection",
    "IcatScores",
    "LabelRates",
    "ModelRates",
    "Moved",
    "OutcomeShares",
    "PredictionShifts",
    "RepeatedEstimate",
    "ResponseCoverage",
    "ResponseEvaluation",
    "Share",
    "assigned_similarity",
    "context_usage",
    "copy_rates",
    "coverage_detection",
    "first_present",
    "icat_curve",
    "icat_scores",
    "inter_context_conflicts",
    "label_counts",
    "label_rates",
    "label_shares",
    "mean_coverage",
    "mean_icat",
    "mean_of",
    "memory_conflict",
    "most_frequent",
    "moved",
    "outcome_shares",
    "prediction_shifts",
    "repeated_difference",
    "repeated_macro_f1",
    "repeated_mean",
    "response_coverage",
    "response_evaluation",
    "similarity_matrix",
]
