"""Every task type there is. To add one: a file in this folder, a line in `TASK_TYPES`, a template; or a package of
one's own with an entry point in the group `assay.task_types`.

Label sets that people make (`label_sets`) are task types, too: those registered in this process, and those that a
lookup finds, which the database's rows are.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from plugins import EntryTable

from .base import (
    NONE_CHOSEN,
    NONE_TITLE,
    SEPARATOR,
    Condition,
    Derived,
    Dimension,
    FreeText,
    Label,
    Metric,
    NumberRange,
    SpanRule,
    TaskType,
)
from .label_sets import LabelSetError, task_type_of
from .options import OptionsError, configured, options_of

TASK_TYPES: EntryTable[TaskType] = EntryTable(
    "assay.task_types",
    "task type",
    (
        "annotation.task_types.claim_evidence:CLAIM_EVIDENCE_SIX",
        "annotation.task_types.claim_evidence:CLAIM_EVIDENCE_THREE",
        "annotation.task_types.triplets:TRIPLETS",
        "annotation.task_types.triplets:SUB_SENTENCES",
        "annotation.task_types.aspect_coverage:ASPECT_COVERAGE",
        "annotation.task_types.sufficient_context:SUFFICIENT_CONTEXT",
        "annotation.task_types.answer_grade:ANSWER_GRADE",
        "annotation.task_types.nli:NLI_THREE",
        "annotation.task_types.nli:NLI_TWO",
        "annotation.task_types.nli:ATOMIC_CLAIM",
        "annotation.task_types.nli:ASPECT_RELEVANCE",
        "annotation.task_types.evidence_inclusion:EVIDENCE_INCLUSION",
        "annotation.task_types.claim_verdict:CLAIM_VERDICT_THREE",
        "annotation.task_types.claim_verdict:CLAIM_VERDICT_FOUR",
        "annotation.task_types.preference:PREFERENCE",
        "annotation.task_types.preference:PREFERENCE_WITH_STRENGTH",
        "annotation.task_types.ranking:RANKING",
        "annotation.task_types.ranking:RANKING_WITH_TIES",
        "annotation.task_types.ranking:BEST_AND_WORST",
    ),
    name_of=lambda kind: kind.identifier,
    # Another version of a type is up to the package that has the first.
    family_of=lambda kind: kind.slug,
    # Django's checks look at the rest (`config.task_type_checks`).
    problem_of=lambda kind: "" if isinstance(kind, TaskType) else "it is no annotation.task_types.TaskType",
)


class UnknownTaskTypeError(KeyError):
    """Neither Assay nor an installed package has the task type, and no label set is called so."""

    def __str__(self) -> str:
        return str(self.args[0])


__all__ = [
    "NONE_CHOSEN",
    "NONE_TITLE",
    "SEPARATOR",
    "TASK_TYPES",
    "Condition",
    "Derived",
    "Dimension",
    "FreeText",
    "Label",
    "LabelSetError",
    "Metric",
    "NumberRange",
    "OptionsError",
    "SpanRule",
    "TaskType",
    "UnknownTaskTypeError",
    "asked_alike",
    "configured",
    "current_task_types",
    "every_task_type",
    "is_shipped",
    "learn",
    "look_up_in",
    "options_of",
    "own_task_types",
    "task_type",
]


def every_task_type() -> tuple[TaskType, ...]:
    """All versions, in the table's order. Nothing else reads the table, and nothing asks before it needs one."""
    return tuple(TASK_TYPES.values())


def own_task_types() -> Mapping[str, TaskType]:
    """Assay's own by identifier, without those of installed packages."""
    return TASK_TYPES.own_entries


def is_shipped(identifier: str) -> bool:
    """Whether Assay or an installed package has the task type; others are label sets."""
    return identifier in TASK_TYPES


def asked_alike(one: TaskType, other: TaskType) -> set[str]:
    """The questions that two versions of a task type ask alike, so that their labels may be pooled: about the same
    texts, in the same words, with the same labels, level and highlights, and after the same answer to a question that
    is equal as well. Keys and what is meant for checkers do not matter. Empty where these are no two versions."""
    if (one.slug, one.anchor_kind, one.unit_kind, one.contents) != (
        other.slug,
        other.anchor_kind,
        other.unit_kind,
        other.contents,
    ) or (one.variant != other.variant and (is_shipped(one.identifier) or is_shipped(other.identifier))):
        return set()
    questions, alike = {each.slug: each for each in other.dimensions}, set()
    for each in one.dimensions:
        same = each.slug in questions and _as_asked(each) == _as_asked(questions[each.slug])
        if same and (each.asked_when is None or each.asked_when.dimension in alike):
            alike.add(each.slug)
    return alike


def _as_asked(question: Dimension) -> Dimension:
    return replace(question, role="", labels=tuple(replace(one, key="", polarity=None) for one in question.labels))


# Label sets by identifier. What an identifier means never changes, since it holds the hash of it.
_LEARNT: dict[str, TaskType] = {}
_LOOKUPS: list[Callable[[str], Mapping | None]] = []


def look_up_in(find: Callable[[str], Mapping | None]) -> None:
    """Ask `find` for the description of identifiers that nothing here knows; None where it has none."""
    _LOOKUPS.append(find)


def learn(description: Mapping) -> TaskType:
    """The task type of a label set, known by its identifier from now on. LabelSetError where it is none."""
    kind = task_type_of(description)
    return _LEARNT.setdefault(kind.identifier, kind)


def task_type(identifier: str) -> TaskType:
    """The task type stored as `slug/variant/version`. Unknown identifiers raise UnknownTaskTypeError."""
    if identifier in TASK_TYPES:
        return TASK_TYPES[identifier]
    if identifier in _LEARNT:
        return _LEARNT[identifier]
    for find in _LOOKUPS:
        description = find(identifier)
        if description is not None:
            return learn(description)
    raise UnknownTaskTypeError(f"There is no task type {identifier!r}")


def current_task_types() -> list[TaskType]:
    """The newest version of every slug and variant, in the table's order: what a new project can choose."""
    newest: dict[tuple[str, str], TaskType] = {}
    for candidate in every_task_type():
        name = (candidate.slug, candidate.variant)
        if name not in newest or newest[name].version < candidate.version:
            newest[name] = candidate
    return list(newest.values())
