"""Which of a task type's dimensions a report is about, by the meaning of its labels."""

from __future__ import annotations

from analysis.sources.outline import Run
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

NO_SUGGESTION = "without a suggestion"  # what a unit without a checker's label is called
# Whose labels tell two groups apart.
SPLIT_BY = {"people": "people's labels", "checker": "the run's labels"}


def inference_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a pair's premise entails its hypothesis, of a task type that judges pairs; None
    where there is no such thing."""
    if kind.unit_kind != UnitKind.PAIR:
        return None
    kept = [dimension for dimension in kind.dimensions if entailing_labels(dimension)]
    return kept[0] if len(kept) == 1 else None


def entailing_labels(dimension: Dimension) -> tuple[str, ...]:
    return tuple(label.value for label in dimension.labels if (label.polarity or 0) > 0)


def against(checker: Run | None, touched: bool) -> tuple[Run, ...]:
    """The runs whose checkers must not have touched what stands for people."""
    return () if checker is None or touched else (checker,)
