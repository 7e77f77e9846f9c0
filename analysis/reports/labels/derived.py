"""Coarser labels that follow from a dimension's own (`Dimension.derived`), as dimensions of their own in every report.

A derived dimension is named `grade.outcome` and titled "Outcome, derived from Grade", so nobody takes its figures for
those of the labels that were given. Every label is mapped before anything is counted: a majority of perfect, acceptable
and incorrect is a tie of grades, and correct by two to one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.task_types import Derived, Dimension, Metric, TaskType

if TYPE_CHECKING:
    import pandas as pd

    from analysis.sources.base import Source

DERIVED_NOTE = "These labels are derived, one by one, from the labels that were given, before anything is counted."


def derived_slug(dimension: str, derived: str) -> str:
    return f"{dimension}.{derived}" if derived else dimension


def measured_by(metric: Metric) -> str:
    """The dimension, own or derived, that a metric measures."""
    return derived_slug(metric.dimension, metric.derived)


def _derived_dimension(dimension: Dimension, derived: Derived) -> Dimension:
    return Dimension(
        slug=derived_slug(dimension.slug, derived.slug),
        title=f"{derived.title}, derived from {dimension.title}",
        labels=derived.labels,
        asked_when=dimension.asked_when,
        is_hidden=dimension.is_hidden,
    )


def with_derived(kind: TaskType) -> TaskType:
    """The task type as reports see it: each dimension followed by those derived from it."""
    dimensions = []
    for dimension in kind.dimensions:
        dimensions += [dimension, *(_derived_dimension(dimension, derived) for derived in dimension.derived)]
    return replace(kind, dimensions=tuple(dimensions))


def fields_of_question(dimension: Dimension, origins: dict[str, str]) -> dict[str, str | None]:
    """What results say of any question; `origins` as of `derived_from`."""
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "derived_from": origins.get(dimension.slug),
    }


def derived_from(kind: TaskType) -> dict[str, str]:
    """By slug of each derived dimension, the slug of the dimension that it comes from."""
    return {
        derived_slug(dimension.slug, derived.slug): dimension.slug
        for dimension in kind.dimensions
        for derived in dimension.derived
    }


def with_derived_labels(kind: TaskType, labels: pd.DataFrame) -> pd.DataFrame:
    """A frame with columns dimension and label, and a further row for each derived label of each of its rows."""
    import pandas as pd

    frames = [labels]
    for dimension in kind.dimensions:
        for derived in dimension.derived:
            mine = labels[labels["dimension"] == dimension.slug]
            slug = derived_slug(dimension.slug, derived.slug)
            if len(mine):
                frames.append(mine.assign(dimension=slug, label=mine["label"].map(dict(derived.of))))
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else labels


def read_labels(source: Source, *, every_revision: bool = False) -> tuple[TaskType, pd.DataFrame, pd.DataFrame]:
    """What most reports begin with: the task type with derived questions, the source's units (`Source.unit_frame`), and
    their labels (`Source.label_frame`), derived ones included."""
    kind = with_derived(source.type)
    units = source.unit_frame(kind.unit_kind)
    return kind, units, with_derived_labels(kind, source.label_frame(units, every_revision=every_revision))
