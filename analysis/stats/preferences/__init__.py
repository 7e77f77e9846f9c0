"""Strengths of systems from choices between their outputs."""

from analysis.stats.preferences.bradley_terry import Fit, fit_strengths
from analysis.stats.preferences.ranking import Choices, SystemRanking, rank_systems

__all__ = ["Choices", "Fit", "SystemRanking", "fit_strengths", "rank_systems"]
