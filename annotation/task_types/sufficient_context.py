"""Whether passages suffice to answer a question, independently of the model (Sufficient Context, appendix)."""

from .base import Dimension, FreeText, Label, Metric, SpanRule, TaskType

SUFFICIENT_CONTEXT = TaskType(
    slug="sufficient-context",
    variant="",
    version=1,
    title="Context that suffices to answer",
    summary="Judge whether the passages contain what is needed to infer an answer to the question.",
    anchor_kind="question",
    unit_kind="question",
    contents="question",
    dimensions=(
        Dimension(
            slug="sufficiency",
            title="Context",
            question="Do the passages suffice to infer an answer?",
            labels=(
                Label("sufficient", "Sufficient", "An answer follows from the passages, maybe in steps.", 1.0),
                Label("insufficient", "Insufficient", "Something needed is missing or contradictory.", 0.0),
            ),
            spans=SpanRule(
                fields=("passage-*",), title="What makes it sufficient", labels=("sufficient",), takes_whole_texts=True
            ),
            role="coverage",
        ),
    ),
    template="annotation/tasks/sufficient_context.html",
    export_layout="content",
    free_text=FreeText("Note", "What is missing, or how the answer follows."),
    checkers=("lexical", "embedding", "trained", "nli", "llm", "fake"),
    metrics=(Metric("sufficiency", "sufficiency"),),
)
