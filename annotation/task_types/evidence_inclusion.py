"""Whether a document that a model generated for a claim contains gold evidence (the knowledge-leakage study)."""

from .base import Dimension, Label, Metric, SpanRule, TaskType

EVIDENCE_INCLUSION = TaskType(
    slug="evidence-inclusion",
    variant="",
    version=1,
    title="Gold evidence in a generated document",
    summary="Judge whether a generated document includes the whole or part of any gold evidence of its claim.",
    anchor_kind="response",
    unit_kind="response",
    contents="document",
    anchor_parent="claim",
    dimensions=(
        Dimension(
            slug="inclusion",
            title="Inclusion",
            question="Does the document include any of the gold evidence, or a part of it?",
            labels=(
                Label("included", "Included", "It states what a piece of gold evidence states, whole or in part.", 1.0),
                Label("not_included", "Not included", "Nothing of what it says stands in the gold evidence.", 0.0),
            ),
            spans=SpanRule(fields=("response",), title="What is included", labels=("included",)),
            role="entailment",
        ),
    ),
    template="annotation/tasks/evidence_inclusion.html",
    export_layout="content",
    checkers=("lexical", "embedding", "trained", "nli", "llm", "fake"),
    metrics=(Metric("inclusion", "inclusion"),),
)
