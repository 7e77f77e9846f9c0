"""Every task type there is. To add one: a file beside this one, a line in `TASK_TYPES`, a template."""

from .answer_grade import ANSWER_GRADE
from .aspect_coverage import ASPECT_COVERAGE
from .base import Condition, Derived, Dimension, FreeText, Label, Metric, SpanRule, TaskType
from .claim_evidence import CLAIM_EVIDENCE_SIX, CLAIM_EVIDENCE_THREE
from .evidence_inclusion import EVIDENCE_INCLUSION
from .nli import ASPECT_RELEVANCE, ATOMIC_CLAIM, NLI_THREE, NLI_TWO
from .options import OptionsError, configured, options_of
from .sufficient_context import SUFFICIENT_CONTEXT
from .triplets import SUB_SENTENCES, TRIPLETS

TASK_TYPES: tuple[TaskType, ...] = (
    CLAIM_EVIDENCE_SIX,
    CLAIM_EVIDENCE_THREE,
    TRIPLETS,
    SUB_SENTENCES,
    ASPECT_COVERAGE,
    SUFFICIENT_CONTEXT,
    ANSWER_GRADE,
    NLI_THREE,
    NLI_TWO,
    ATOMIC_CLAIM,
    ASPECT_RELEVANCE,
    EVIDENCE_INCLUSION,
)

__all__ = [
    "TASK_TYPES",
    "Condition",
    "Derived",
    "Dimension",
    "FreeText",
    "Label",
    "Metric",
    "OptionsError",
    "SpanRule",
    "TaskType",
    "configured",
    "current_task_types",
    "every_task_type",
    "options_of",
    "task_type",
]


def every_task_type() -> tuple[TaskType, ...]:
    """All versions, in the table's order. Nothing else reads the table, and nothing asks before it needs one."""
    return TASK_TYPES


def task_type(identifier: str) -> TaskType:
    """The task type stored as `slug/variant/version`. Unknown identifiers raise KeyError."""
    for candidate in every_task_type():
        if candidate.identifier == identifier:
            return candidate
    raise KeyError(f"There is no task type {identifier!r}")


def current_task_types() -> list[TaskType]:
    """The newest version of every slug and variant, in the table's order: what a new project can choose."""
    newest: dict[tuple[str, str], TaskType] = {}
    for candidate in every_task_type():
        name = (candidate.slug, candidate.variant)
        if name not in newest or newest[name].version < candidate.version:
            newest[name] = candidate
    return list(newest.values())
