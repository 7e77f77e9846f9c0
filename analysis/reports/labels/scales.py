"""People's labels as numbers, for scores to go with: the reference's label on its scale, or raters' mean or median."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.reports.common import MEAN, NUMERIC, PLACE
from analysis.reports.labels.reference import Reference
from annotation.task_types import Dimension


def places_of(dimension: Dimension) -> list[float | None]:
    """What each label is as a number: its own value at the interval and ratio levels, its place (from 0) at the ordinal
    level, its polarity (None where it has none) at the nominal level."""
    if dimension.level in NUMERIC:
        return [float(value) for value in dimension.values]
    if dimension.level == "ordinal":
        return [float(place) for place in range(len(dimension.values))]
    return [label.polarity for label in dimension.labels]


def rated_by(dimension: Dimension, ratings: str, reference: str) -> str:
    """Which of PLACE, MEAN and MEDIAN a choice of RATINGS is for this dimension. Decisions are one label of a unit, and
    labels without an order have no mean."""
    if dimension.level == "nominal" or reference != "majority":
        return PLACE
    return ratings or (MEAN if dimension.level in NUMERIC else PLACE)


def values_of_people(
    dimension: Dimension, people: Reference, units: pd.DataFrame, labels: pd.DataFrame, how: str
) -> np.ndarray:
    """One number per unit, nan where people give none. `labels` are those that count, in columns unit, dimension and
    label; `how` is PLACE, MEAN or MEDIAN."""
    places = [np.nan if place is None else place for place in places_of(dimension)]
    if how == PLACE:
        return np.array([*places, np.nan])[people.code]
    mine = labels[labels["dimension"] == dimension.slug]
    number = mine["label"].map(dict(zip(dimension.values, places, strict=True))).astype(float)  # also without labels
    grouped = number.groupby(mine["unit"])
    centre = grouped.mean() if how == MEAN else grouped.median()
    return centre.reindex(units["unit"]).to_numpy(dtype=float)
