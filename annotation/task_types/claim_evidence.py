"""Claim and one piece of evidence: is it relevant, and what does it say about the claim (DRUID, section 3)."""

from .base import Condition, Dimension, Label, Metric, SpanRule, TaskType

RELEVANCE = Dimension(
    slug="relevance",
    title="Relevance",
    question="Does the evidence bear on the claim?",
    labels=(
        Label("relevant", "Relevant", "It says something about what is claimed.", 1.0),
        Label("not_relevant", "Not relevant", "Another topic, or nothing that helps to judge the claim.", 0.0),
    ),
    role="relevance",
)

SIX_WAY = (
    Label("refutes", "Refutes", "The evidence shows that the claim is false.", -1.0),
    Label("insufficient-refutes", "Leans against", "Insufficient, but it points against the claim.", -0.5),
    Label("insufficient-contradictory", "Contradictory", "Insufficient: parts of it speak for, parts against.", -0.1),
    Label("insufficient-neutral", "Neutral", "Insufficient, and it points neither way.", 0.0),
    Label("insufficient-supports", "Leans in favour", "Insufficient, but it points towards the claim.", 0.5),
    Label("supports", "Supports", "The evidence shows that the claim is true.", 1.0),
)

THREE_WAY = (
    Label("refutes", "Refutes", "The evidence shows that the claim is false.", -1.0),
    Label("not_enough_info", "Not enough information", "The evidence does not settle the claim.", 0.0),
    Label("supports", "Supports", "The evidence shows that the claim is true.", 1.0),
)

# DRUID's released file writes this where the evidence is not relevant; it is no label anybody chooses.
NOT_APPLICABLE = "not_applicable"


def claim_evidence(variant: str, title: str, stances: tuple[Label, ...]) -> TaskType:
    return TaskType(
        slug="claim-evidence",
        variant=variant,
        version=1,
        title=title,
        summary="Judge whether a piece of evidence is relevant to a claim, and which stance it takes.",
        anchor_kind="evidence",
        unit_kind="evidence",
        contents="evidence",
        dimensions=(
            RELEVANCE,
            Dimension(
                slug="stance",
                title="Stance",
                question="What does the evidence say about the claim?",
                labels=stances,
                level="ordinal",
                asked_when=Condition("relevance", ("relevant",)),
                spans=SpanRule(fields=("evidence",), title="What in the evidence made you decide"),
                role="stance",
            ),
        ),
        template="annotation/tasks/claim_evidence.html",
        export_layout="druid",
        checkers=(
            *("lexical", "embedding", "trained", "nli", "llm", "fake"),
            *("characteristics", "answer-probabilities", "answer-probabilities-server"),
            *("source-reference", "verdict", "perplexity", "perplexity-server", "grounding"),
        ),
        metrics=(
            Metric("relevance", "relevance"),
            Metric("stance", "stance"),
            Metric("stance", "stance", level="ordinal"),
            Metric("stance, irrelevant counted as a label", "stance", missing_as=NOT_APPLICABLE),
        ),
    )


CLAIM_EVIDENCE_SIX = claim_evidence("six-way", "Claim and evidence, six-way stance", SIX_WAY)
CLAIM_EVIDENCE_THREE = claim_evidence("three-way", "Claim and evidence, three-way stance", THREE_WAY)
