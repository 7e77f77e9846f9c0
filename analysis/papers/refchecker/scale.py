"""The dimension by which pieces of answers are judged, and its scale."""

from __future__ import annotations

from analysis.sources.links import ORIGINS
from annotation.task_types import Dimension, TaskType

ROLE = "entailment"
NEEDS = "needs judgements of pieces of models' answers; {!r} judges something else"


def scale(dimension: Dimension) -> tuple[str, ...]:
    """Labels that say something of the answer, from best to worst."""
    on_it = [label for label in dimension.labels if label.polarity is not None]
    return tuple(label.value for label in sorted(on_it, key=lambda label: -label.polarity))


def judged_dimension(kind: TaskType) -> Dimension | None:
    """The dimension by which pieces of answers are judged; None where the task type judges something else."""
    if not ORIGINS[kind.unit_kind].is_piece:
        return None
    kept = [one for one in kind.dimensions if one.role == ROLE and len(scale(one)) > 1]
    return kept[0] if len(kept) == 1 else None


def refuses(kind: TaskType) -> str:
    return "" if judged_dimension(kind) else f"It {NEEDS.format(kind.title)}"
