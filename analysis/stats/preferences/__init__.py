"""Strengths of systems from choices between their outputs, and how far rankings of outputs agree."""

from analysis.stats.preferences.bradley_terry import Fit, fit_strengths
from analysis.stats.preferences.concordance import (
    BestWorstScores,
    Concordance,
    best_worst_scores,
    rank_agreement,
    rank_concordance,
)
from analysis.stats.preferences.ranking import Choices, SystemRanking, rank_systems

__all__ = [
    "BestWorstScores",
    "Choices",
    "Concordance",
    "Fit",
    "SystemRanking",
    "best_worst_scores",
    "fit_strengths",
    "rank_agreement",
    "rank_concordance",
    "rank_systems",
]
