"""Agreement on spans: pair by pair, unitizing alphas, gamma."""

from analysis.stats.spans.continua import Continua, Marked
from analysis.stats.spans.gamma import Gamma, gamma
from analysis.stats.spans.pairwise import SpanAgreement, character_alpha, span_agreement, span_agreement_by_label
from analysis.stats.spans.unitizing import UnitizingAlpha, unitizing_alpha

__all__ = [
    "Continua",
    "Gamma",
    "Marked",
    "SpanAgreement",
    "UnitizingAlpha",
    "character_alpha",
    "gamma",
    "span_agreement",
    "span_agreement_by_label",
    "unitizing_alpha",
]
