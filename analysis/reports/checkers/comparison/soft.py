"""A checker against soft labels: the distribution of people's labels of each unit, which a reference hides."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import NamedFigure
from analysis.figures.soft import soft_figures, soft_note
from analysis.reports.checkers.comparison.result import SoftLabels
from analysis.reports.estimates import bounded_figure, cluster_codes
from analysis.reports.labels.scales import places_of
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import soft_label_comparison
from annotation.task_types import Dimension

# Units by labels that are held at once. Of more the first are taken, whose order is that of their keys, and said.
MOST_CELLS = 20_000_000


def soft_labels(
    items: Items,
    source: Source,
    dimension: Dimension,
    run: Run,
    checker: np.ndarray,
    leave_out: np.ndarray,
    labels: pd.DataFrame,
    units: pd.DataFrame,
) -> SoftLabels | None:
    """None where no unit has labels of two people and one of the checker. `checker` are codes, whose probability is 1
    where the run gave no probabilities; units where `leave_out` holds have none of the checker."""
    n_labels = len(dimension.values)
    mine = labels[labels["dimension"] == dimension.slug]
    unit = pd.Index(units["unit"].to_numpy()).get_indexer(mine["unit"].to_numpy())
    code = pd.Index(dimension.values, tupleize_cols=False).get_indexer(mine["label"])
    is_known = (unit >= 0) & (code >= 0)
    several = np.bincount(unit[is_known], minlength=len(units)) > 1
    every = np.flatnonzero(several & ~leave_out)
    rows = every[: MOST_CELLS // max(1, n_labels)]
    frame = source.probability_frame(run, dimension.slug, dimension.values)
    has_probabilities = not frame.empty
    if has_probabilities:
        table = frame.reindex(units["unit"].to_numpy()[rows]).to_numpy(dtype=float, copy=True)
        table[~(table.sum(axis=1) > 0)] = np.nan
    else:
        table = np.full((len(rows), n_labels), np.nan)
        has_label = checker[rows] >= 0
        table[has_label] = np.eye(n_labels)[checker[rows][has_label]]
    place = np.full(len(units), -1)
    place[rows] = np.arange(len(rows))
    counted = is_known & (place[unit] >= 0)
    counts = np.bincount(place[unit[counted]] * n_labels + code[counted], minlength=len(rows) * n_labels)
    is_ordered = dimension.level != "nominal"
    cluster = cluster_codes(units)[rows]
    found = soft_label_comparison(
        counts.reshape(len(rows), n_labels), table, places_of(dimension) if is_ordered else None, cluster
    )
    if not found.n:
        return None
    counts_here = np.zeros(len(units), dtype=bool)
    counts_here[rows[~np.isnan(table).any(axis=1)]] = True
    title = f"{dimension.title}: labels of two people or more and of {run.name}"
    items.add_flag(f"{dimension.slug}.soft", title, counts_here)
    return SoftLabels(
        figures=[
            NamedFigure.extending(
                bounded_figure(one.estimate, one.low, one.high, one.reason, one.n), name=one.name, title=one.title
            )
            for one in soft_figures(found, "checker")
        ],
        note=soft_note("checker", has_probabilities=has_probabilities)
        + (f" Of {len(every):,} such units only the first {len(rows):,} count." if len(rows) < len(every) else ""),
    )
