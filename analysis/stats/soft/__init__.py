"""Soft labels: distributions over labels, of the people who judged a unit and of a labeller."""

from analysis.stats.soft.comparing import SoftDistances, SoftLabelComparison, soft_label_comparison

__all__ = ["SoftDistances", "SoftLabelComparison", "soft_label_comparison"]
