"""Every task type there is. To add one: a file beside this one, a line in `TASK_TYPES`, a template."""

from .base import Condition, Dimension, Label, Metric, SpanRule, TaskType
from .claim_evidence import CLAIM_EVIDENCE_SIX, CLAIM_EVIDENCE_THREE
from .triplets import TRIPLETS

TASK_TYPES: tuple[TaskType, ...] = (CLAIM_EVIDENCE_SIX, CLAIM_EVIDENCE_THREE, TRIPLETS)

__all__ = [
    "TASK_TYPES",
    "Condition",
    "Dimension",
    "Label",
    "Metric",
    "SpanRule",
    "TaskType",
    "current_task_types",
    "task_type",
]


def task_type(identifier: str) -> TaskType:
    """The task type stored as `slug/variant/version`. Unknown identifiers raise KeyError."""
    for candidate in TASK_TYPES:
        if candidate.identifier == identifier:
            return candidate
    raise KeyError(f"There is no task type {identifier!r}")


def current_task_types() -> list[TaskType]:
    """The newest version of every slug and variant, in the table's order: what a new project can choose."""
    newest: dict[tuple[str, str], TaskType] = {}
    for candidate in TASK_TYPES:
        name = (candidate.slug, candidate.variant)
        if name not in newest or newest[name].version < candidate.version:
            newest[name] = candidate
    return list(newest.values())
