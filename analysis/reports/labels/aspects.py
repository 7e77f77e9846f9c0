"""Aspects that answers cover: what says so, and the options of reports on that."""

from __future__ import annotations

from analysis.reports.common import REFERENCES, SetTitles
from analysis.reports.options import LABELS, Option
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

# What becomes of ties is a choice of its own here.
TITLES = SetTitles(REFERENCES | {"majority": "Majority of people"})
TIES = {
    "excluded": "Ties do not count",
    "not_covered": "Ties count as not covered",
    "covered": "Ties count as covered",
}
MOST_LABELS = 50  # more labels of one aspect are nowhere asked for

LABELS_NEEDED = Option(
    "k", "Labels that an aspect needs", kind="count", default=1, low=1, high=MOST_LABELS, group=LABELS
)
TIED_ASPECT = Option("ties", "A tied aspect", choices=TIES, default="excluded", group=LABELS)


def covering_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a response covers an aspect: the only one with a label of positive polarity, of
    a task type that judges aspects in responses. None where there is no such thing."""
    if kind.unit_kind != UnitKind.RESPONSE_ASPECT:
        return None
    kept = [dimension for dimension in kind.dimensions if covering_labels(dimension)]
    return kept[0] if len(kept) == 1 else None


def covering_labels(dimension: Dimension) -> tuple[str, ...]:
    """The labels that say that an aspect is covered."""
    return tuple(label.value for label in dimension.labels if (label.polarity or 0) > 0)
