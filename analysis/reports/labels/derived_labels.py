"""Labels that follow from a dimension's own (`analysis.reports.labels.derived`), in addition to those in a source's
frame."""

from __future__ import annotations

import pandas as pd

from analysis.reports.labels.derived import derived_slug
from annotation.task_types import TaskType


def with_derived_labels(kind: TaskType, labels: pd.DataFrame) -> pd.DataFrame:
    """A frame with columns dimension and label, and a further row for each derived label of each of its rows."""
    frames = [labels]
    for dimension in kind.dimensions:
        for derived in dimension.derived:
            mine = labels[labels["dimension"] == dimension.slug]
            slug = derived_slug(dimension.slug, derived.slug)
            if len(mine):
                frames.append(mine.assign(dimension=slug, label=mine["label"].map(dict(derived.of))))
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else labels
