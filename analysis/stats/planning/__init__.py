"""How many units and judgements a study needs."""

from analysis.stats.planning.pilot import Pilot, pilot_of
from analysis.stats.planning.sample_size import (
    Needed,
    Planned,
    judgements_needed,
    planned_alpha,
    planned_rate,
    units_needed,
)

__all__ = [
    "Needed",
    "Pilot",
    "Planned",
    "judgements_needed",
    "pilot_of",
    "planned_alpha",
    "planned_rate",
    "units_needed",
]
