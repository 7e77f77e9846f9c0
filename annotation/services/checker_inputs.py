"""What a checker is given about a unit, by kind of unit, and what it is asked, from the task type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from annotation.models import Evidence, Unit
from annotation.models.content import UnitKind
from annotation.task_types import TaskType
from models_runtime.contracts import CheckerInput, LabelSpace

# For a unit: the links that its texts are reached by, and its fields from the unit and its parent's passages.
Fields = dict[str, str | tuple[str, ...]]


def _of_evidence(unit: Unit, passages: tuple[str, ...]) -> Fields:
    parent = unit.evidence.claim or unit.evidence.question
    return {"claim": parent.text, "evidence": unit.evidence.text}


def _of_pair(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.pair.hypothesis, "evidence": unit.pair.premise}


def _of_triplet(unit: Unit, passages: tuple[str, ...]) -> Fields:
    parts = (unit.triplet.head, unit.triplet.relation, unit.triplet.tail)
    return {"claim": " ".join(part.strip() for part in parts if part.strip()), "passages": passages}


def _of_sub_sentence(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.sub_sentence.text, "passages": passages}


def _of_atomic_claim(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.atomic_claim.text, "passages": passages}


READERS: dict[str, tuple[tuple[str, ...], Callable[[Unit, tuple[str, ...]], Fields]]] = {
    UnitKind.EVIDENCE: (("evidence__claim", "evidence__question"), _of_evidence),
    UnitKind.PAIR: (("pair",), _of_pair),
    UnitKind.TRIPLET: (("triplet__response",), _of_triplet),
    UnitKind.SUB_SENTENCE: (("sub_sentence__response",), _of_sub_sentence),
    UnitKind.ATOMIC_CLAIM: (("atomic_claim__response",), _of_atomic_claim),
}


def readable_kinds() -> frozenset[str]:
    """Kinds of units that checkers can be asked about."""
    return frozenset(READERS)


def label_spaces(task_type: TaskType) -> tuple[LabelSpace, ...]:
    """The task type's questions as checkers understand them; a dimension without a role is nobody's to suggest."""
    return tuple(
        LabelSpace(
            dimension=dimension.slug,
            role=dimension.role,
            labels=tuple((label.value, label.polarity) for label in dimension.labels),
            asked_when=(dimension.asked_when.dimension, dimension.asked_when.labels) if dimension.asked_when else None,
            span_field=dimension.spans.field if dimension.spans else None,
        )
        for dimension in task_type.dimensions
        if dimension.role
    )


def checker_inputs(kind: str, unit_ids: Iterable[int]) -> dict[int, CheckerInput]:
    """Inputs by unit, for those of `unit_ids` that readers may see now, in the order of their ids: two queries."""
    links, read = READERS[kind]
    units = list(
        Unit.objects.published().filter(pk__in=list(unit_ids), kind=kind).select_related(*links).order_by("pk")
    )
    passages = _passages(units)
    return {unit.pk: CheckerInput(str(unit.pk), read(unit, passages.get(unit.pk, ()))) for unit in units}


def _passages(units: list[Unit]) -> dict[int, tuple[str, ...]]:
    """Passages of the question or claim that each unit's response answers, in the order in which they are shown."""
    responses = {unit.pk: piece.response for unit in units if (piece := _piece(unit)) is not None}
    if not responses:
        return {}
    by_parent = defaultdict(list)
    rows = Evidence.objects.published().in_order()
    parents = {
        "question_id": {response.question_id for response in responses.values()} - {None},
        "claim_id": {response.claim_id for response in responses.values()} - {None},
    }
    for name, ids in parents.items():
        if ids:
            for parent, text in rows.filter(**{f"{name}__in": ids}).values_list(name, "text"):
                by_parent[name, parent].append(text)
    return {
        pk: tuple(
            by_parent["question_id", response.question_id]
            if response.question_id
            else by_parent["claim_id", response.claim_id]
        )
        for pk, response in responses.items()
    }


def _piece(unit: Unit):
    for link in ("triplet", "sub_sentence", "atomic_claim"):
        if getattr(unit, f"{link}_id") is not None:
            return getattr(unit, link)
    return None
