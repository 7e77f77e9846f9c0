"""Labellers and scores against a reference: accuracy, calibration, ROC, tests of differences."""

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
from analysis.stats.accuracy.paired_accuracy import MajorityBaseline, PairedAccuracy, majority_baseline, paired_accuracy
from analysis.stats.accuracy.per_label import LabelIntervals, label_intervals
from analysis.stats.accuracy.posterior_accuracy import expected_accuracy
from analysis.stats.accuracy.precision_recall import Detection, detection
from analysis.stats.accuracy.prediction_powered import PoweredMean, prediction_powered_mean, regression_mean
from analysis.stats.accuracy.ranking import RankingScores, ranking_scores
from analysis.stats.accuracy.risk_coverage import SelectiveCurve, selective_curve
from analysis.stats.accuracy.roc import Areas, Threshold, ThresholdSweep, areas, threshold_sweep
from analysis.stats.accuracy.roc_points import CurvePoints, curve_points

__all__ = [
    "AlternativeTest",
    "Areas",
    "Calibration",
    "Classification",
    "CurvePoints",
    "Detection",
    "Equivalence",
    "LabelFigures",
    "LabelIntervals",
    "LabellerDifference",
    "MajorityBaseline",
    "PairedAccuracy",
    "PersonTest",
    "PoweredMean",
    "RankingScores",
    "ReliabilityBin",
    "SelectiveCurve",
    "SeveralLabellers",
    "Threshold",
    "ThresholdSweep",
    "alternative_annotator_test",
    "areas",
    "benjamini_yekutieli",
    "calibration",
    "classification",
    "curve_points",
    "detection",
    "equivalence",
    "expected_accuracy",
    "label_intervals",
    "labeller_difference",
    "majority_baseline",
    "paired_accuracy",
    "prediction_powered_mean",
    "ranking_scores",
    "regression_mean",
    "selective_curve",
    "several_labellers",
    "threshold_sweep",
]
