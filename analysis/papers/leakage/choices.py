"""What the report on leakage can be made of: task types, other projects, and measures of texts."""

from __future__ import annotations

from analysis.reports.labels.dimensions import entailing_labels
from analysis.reports.options import sibling_projects
from analysis.sources.outline import Outline
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

GENERATOR = ["method", "model", "setting"]
# Value -> title; the page says what a missing one needs.
MEASURES = {
    "rouge-l": "ROUGE-L",
    "meteor": "METEOR",
    "bertscore": "BERTScore by MiniLM (slow)",
    "none": "none",
}


def matching_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a pair is entailed, or whether a document made for a claim includes evidence."""
    is_document = kind.unit_kind == UnitKind.RESPONSE and kind.anchor_parent == "claim"
    if kind.unit_kind != UnitKind.PAIR and not is_document:
        return None
    matching = [dimension for dimension in kind.dimensions if entailing_labels(dimension)]
    return matching[0] if len(matching) == 1 else None


def refuses(kind: TaskType) -> str:
    if matching_dimension(kind) is not None:
        return ""
    return (
        "It needs pairs of gold evidence and generated sentences (premise and hypothesis), or generated documents "
        "that are judged by whether they include gold evidence."
    )


def judges_documents(kind: TaskType) -> bool:
    return kind.unit_kind == UnitKind.RESPONSE and matching_dimension(kind) is not None


def judges_verdicts(kind: TaskType) -> bool:
    """Whether verdicts are asked about: of claims by several passages together, or with one piece of evidence each."""
    return kind.unit_kind == UnitKind.EVIDENCE or verdict_dimension(kind) is not None


def verdict_dimension(kind: TaskType) -> Dimension | None:
    """The dimension whose labels are verdicts on claims."""
    asked = [one for one in kind.asked_dimensions if one.role == "stance"] if kind.unit_kind == UnitKind.CLAIM else []
    return asked[0] if len(asked) == 1 else None


def document_projects(source: Outline) -> dict[str, str]:
    """Projects on the same data set in which people say of whole documents whether they include gold evidence."""
    return sibling_projects(source, judges_documents)


def verdict_projects(source: Outline) -> dict[str, str]:
    return sibling_projects(source, judges_verdicts)
