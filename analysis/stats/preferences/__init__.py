"""Strengths of systems from choices between their outputs."""

from analysis.stats.preferences.bradley_terry import Fit, fit_strengths
from analysis.stats.preferences.ranking import Choices, Ranking, rank_systems

__all__ = ["Choices", "Fit", "Ranking", "fit_strengths", "rank_systems"]
