"""Two scores against the same people: which goes better with their labels, and by more than chance?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.results import number
from analysis.reports.checkers.comparison.associations import COEFFICIENTS, FEWER_PERMUTATIONS, FEWER_RESAMPLES, LARGE
from analysis.reports.checkers.comparison.result import ScoreDifference
from analysis.reports.checkers.comparison.significance import equivalent, significance
from analysis.reports.estimates import RESAMPLES, cluster_codes, to_figure
from analysis.stats import correlation_difference
from annotation.task_types import Dimension

PERMUTATIONS = 2000


def score_pair(
    dimension: Dimension,
    people: np.ndarray,
    score: np.ndarray,
    other: np.ndarray,
    units: pd.DataFrame,
    margin: float,
) -> list[ScoreDifference]:
    """Per coefficient, the correlation of `score` with the place of people's labels minus that of `other`, over units
    that have both scores and a label; nothing for a dimension without order.

    The permutation test comes first: it alone keeps the units of a claim or question together, and alone knows tau-b,
    whose every draw goes through all units in order."""
    if dimension.level == "nominal":
        return []
    rows = []
    for name, title in COEFFICIENTS.items():
        few = name == "kendall_tau_b" and len(units) > LARGE
        draws, resamples = (FEWER_PERMUTATIONS, FEWER_RESAMPLES) if few else (PERMUTATIONS, RESAMPLES)
        comparison = correlation_difference(score, other, people, name, cluster_codes(units), draws)
        tests = (
            [comparison.permutation]
            if name == "kendall_tau_b"
            else [comparison.permutation, comparison.williams, comparison.steiger]
        )
        rows.append(
            ScoreDifference.extending(
                to_figure(comparison.difference, quick=False, n_resamples=resamples),
                name=name,
                title=title,
                **{side: number(getattr(comparison, side)) for side in ("with_a", "with_b", "between")},
                tests=[significance(test, of=title) for test in tests],
                equivalence=equivalent(comparison.difference, margin, resamples),
            )
        )
    return rows
