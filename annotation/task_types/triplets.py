"""Pieces of a model's answer against reference passages (RefChecker, section 3).

Claim-triplets are the paper's choice; sub-sentences are the other unit of its granularity study.
"""

from .base import Dimension, Label, Metric, SpanRule, TaskType

ENTAILMENT = (
    Label("entailment", "Entailment", "At least one passage supports it.", 1.0),
    Label("neutral", "Neutral", "No passage supports or contradicts it.", 0.0),
    Label("contradiction", "Contradiction", "A passage says otherwise.", -1.0),
)
# With several passages (the paper's Noisy Context) the field of a span also tells which of them decided.
SUPPORT = SpanRule(
    fields=("passage-*",),
    title="What in the passages decides",
    labels=("entailment", "contradiction"),
    takes_whole_texts=True,
)


def pieces(
    variant: str, unit_kind: str, title: str, units_title: str, summary: str, bad: Label, more: tuple[str, ...] = ()
) -> TaskType:
    return TaskType(
        slug="triplets",
        variant=variant,
        version=1,
        title=title,
        summary=summary,
        anchor_kind="response",
        unit_kind=unit_kind,
        contents="response",
        dimensions=(
            Dimension(
                slug="entailment",
                title="Label",
                question="What do the passages say about it?",
                labels=(*ENTAILMENT, bad),
                spans=SUPPORT,
                role="entailment",
            ),
        ),
        template="annotation/tasks/pieces.html",
        export_layout="responses" if unit_kind == "triplet" else "content",
        units_title=units_title,
        checkers=("lexical", "embedding", "trained", "nli", "llm", "grounding", "model-knowledge", *more, "fake"),
        metrics=(Metric("entailment", "entailment"),),
    )


TRIPLETS = pieces(
    "",
    "triplet",
    "Claim-triplets of an answer",
    "Triplets",
    "Judge each triplet of a model's answer against the reference passages.",
    Label("bad_triplet", "Bad triplet", "It does not convey what the answer says."),
    # A sub-sentence has no subject and object of its own.
    more=("masked-reference", "masked-reference-server"),
)
SUB_SENTENCES = pieces(
    "sub-sentences",
    "sub_sentence",
    "Sub-sentences of an answer",
    "Sub-sentences",
    "Judge each sub-sentence of a model's answer against the reference passages.",
    Label("bad_sub_sentence", "Bad sub-sentence", "It does not convey what the answer says."),
)
