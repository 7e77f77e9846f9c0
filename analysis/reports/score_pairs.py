"""Two scores against the same people: which goes better with their labels, and by more than chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.associations import COEFFICIENTS, FEWER_PERMUTATIONS, FEWER_RESAMPLES, LARGE
from analysis.reports.equivalence import equivalence_of
from analysis.reports.figures import RESAMPLES, figure, number
from analysis.reports.labellers import cluster_codes
from analysis.reports.versus import test_of
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PERMUTATIONS = 2000


def score_pair(
    dimension: Dimension,
    people: np.ndarray,
    score: pd.DataFrame,
    other: pd.DataFrame,
    units: pd.DataFrame,
    margin: float,
) -> list[dict]:
    """Per coefficient, the correlation of `score` with the place of people's labels minus that of `other`, over units
    that have both scores and a label; nothing for a dimension without order. Frames have columns unit and value.

    The permutation test comes first: it alone keeps the units of a claim or question together, and alone knows tau-b,
    whose every draw goes through all units in order."""
    from analysis.stats import correlation_difference

    if dimension.level != "ordinal":
        return []
    a, b = (frame.set_index("unit")["value"].reindex(units["unit"]).to_numpy(dtype=float) for frame in (score, other))
    rows = []
    for name, title in COEFFICIENTS.items():
        few = name == "kendall_tau_b" and len(units) > LARGE
        draws, resamples = (FEWER_PERMUTATIONS, FEWER_RESAMPLES) if few else (PERMUTATIONS, RESAMPLES)
        found = correlation_difference(a, b, people, name, cluster_codes(units), draws)
        tests = [found.permutation] if name == "kendall_tau_b" else [found.permutation, found.williams, found.steiger]
        rows.append(
            {"name": name, "title": title, **figure(found.difference, resamples)}
            | {side: number(getattr(found, side)) for side in ("with_a", "with_b", "between")}
            | {"tests": [test_of(test) | {"of": title} for test in tests]}
            | {"equivalence": equivalence_of(found.difference, margin, resamples)}
        )
    return rows


def scored_units(people: np.ndarray, units: pd.DataFrame, *scores: pd.DataFrame) -> list[int]:
    """Units with a label of people and a value of each of these scores."""
    import numpy as np

    where = people >= 0
    for frame in scores:
        where &= np.isfinite(frame.set_index("unit")["value"].reindex(units["unit"]).to_numpy(dtype=float))
    return units["unit"].to_numpy()[where].tolist()
