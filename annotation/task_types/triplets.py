"""Claim-triplets of a model's answer against reference passages (RefChecker, section 3)."""

from .base import Dimension, Label, Metric, TaskType

TRIPLETS = TaskType(
    slug="triplets",
    variant="",
    version=1,
    title="Claim-triplets of an answer",
    summary="Judge each triplet of a model's answer against the reference passages.",
    anchor_kind="response",
    unit_kind="triplet",
    dimensions=(
        Dimension(
            slug="entailment",
            title="Label",
            question="What do the passages say about the triplet?",
            labels=(
                Label("entailment", "Entailment", "At least one passage supports it.", 1.0),
                Label("neutral", "Neutral", "No passage supports or contradicts it.", 0.0),
                Label("contradiction", "Contradiction", "A passage says otherwise.", -1.0),
                Label("bad_triplet", "Bad triplet", "It does not convey what the answer says."),
            ),
            role="entailment",
        ),
    ),
    template="annotation/tasks/triplets.html",
    export_layout="responses",
    checkers=("lexical", "embedding", "fake"),
    metrics=(Metric("entailment", "entailment"),),
)
