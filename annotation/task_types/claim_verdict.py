"""What the verdict on a claim is (the knowledge-leakage study, and AVeriTeC with its fourth label)."""

from .base import Dimension, FreeText, Label, Metric, TaskType

THREE = (
    Label("refuted", "Refuted", "What is known shows that the claim is false.", -1.0),
    Label("not_enough_evidence", "Not enough evidence", "What is known does not settle the claim.", 0.0),
    Label("supported", "Supported", "What is known shows that the claim is true.", 1.0),
)
# It lies outside of the scale from refuted to supported, so only a checker that reads words can choose it.
CONFLICTING = Label("conflicting_evidence", "Conflicting evidence", "Some speaks for the claim, some against it.")


def claim_verdict(variant: str, title: str, labels: tuple[Label, ...]) -> TaskType:
    return TaskType(
        slug="claim-verdict",
        variant=variant,
        version=1,
        title=title,
        summary="Judge whether a claim is supported or refuted; checkers judge it by what a retrieval found.",
        anchor_kind="claim",
        unit_kind="claim",
        contents="claim",
        dimensions=(
            Dimension(
                slug="verdict",
                title="Verdict",
                question="What is the verdict on the claim?",
                labels=labels,
                role="stance",
            ),
        ),
        template="annotation/tasks/claim.html",
        export_layout="content",
        free_text=FreeText("Note", "What the verdict rests on."),
        checkers=("lexical", "embedding", "nli", "llm", "fake"),
        metrics=(Metric("verdict", "verdict"),),
    )


CLAIM_VERDICT_THREE = claim_verdict("three-way", "Verdict on a claim, three-way", THREE)
CLAIM_VERDICT_FOUR = claim_verdict("four-way", "Verdict on a claim, four-way", (*THREE, CONFLICTING))
