"""Coarser labels that follow from a dimension's own (`Dimension.derived`), as further dimensions in every report.

A derived dimension is named `grade.outcome` and titled "Outcome, derived from Grade", so nobody takes its figures for
those of the labels that were given. Every label is mapped before anything is counted: a majority of perfect, acceptable
and incorrect is a tie of grades, and correct by two to one.
"""

from __future__ import annotations

from dataclasses import replace

from annotation.task_types import Derived, Dimension, Metric, TaskType

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
