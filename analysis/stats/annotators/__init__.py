"""Models of raters, and how their work changes."""

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

__all__ = [
    "CompetenceIntervals",
    "Drift",
    "LatentTruth",
    "Majority",
    "SuggestionEffect",
    "TimeEffect",
    "alpha_effect",
    "change",
    "competence_intervals",
    "dawid_skene",
    "drift",
    "mace",
    "majority",
    "suggestion_effect",
    "time_effect",
]
