"""Natural language inference over pairs, and the two small judgements of ICAT's components (appendix A.5).

Two-way labels are what the knowledge-leakage study collects per pair of gold evidence and generated sentence. Both
label sets stay in use, so they are variants that live side by side rather than versions that follow each other.
"""

from .base import Condition, Dimension, Label, Metric, TaskType

THREE_WAY = (
    Label("entailment", "Entailment", "Who accepts the premise must accept the hypothesis.", 1.0),
    Label("neutral", "Neutral", "The premise leaves it open.", 0.0),
    Label("contradiction", "Contradiction", "Both cannot be true.", -1.0),
)
TWO_WAY = (
    Label("entailment", "Entailment", "Who accepts the premise must accept the hypothesis.", 1.0),
    Label("non-entailment", "Non-entailment", "The premise leaves it open, or speaks against it.", 0.0),
)


def pairs(variant: str, title: str, labels: tuple[Label, ...]) -> TaskType:
    return TaskType(
        slug="nli",
        variant=variant,
        version=1,
        title=title,
        summary="Judge what a premise says about a hypothesis.",
        anchor_kind="pair",
        unit_kind="pair",
        contents="pair",
        dimensions=(
            Dimension(
                slug="entailment",
                title="Inference",
                question="What does the premise say about the hypothesis?",
                labels=labels,
                role="entailment",
            ),
        ),
        template="annotation/tasks/nli.html",
        export_layout="content",
        checkers=("lexical", "embedding", "trained", "nli", "llm", "fake"),
        metrics=(Metric("entailment", "entailment"),),
    )


NLI_THREE = pairs("three-way", "Premise and hypothesis, three-way", THREE_WAY)
NLI_TWO = pairs("two-way", "Premise and hypothesis, two-way", TWO_WAY)

# One claim per page and no answer with it: context would make any claim look as if it stood on its own.
ATOMIC_CLAIM = TaskType(
    slug="nli",
    variant="atomic-claim",
    version=1,
    title="Form of an atomic claim",
    summary="Judge whether an atomic claim is well formed on its own.",
    anchor_kind="atomic_claim",
    unit_kind="atomic_claim",
    contents="atomic-claim",
    dimensions=(
        Dimension(
            slug="form",
            title="Form",
            question="Is the claim well formed on its own?",
            labels=(
                Label("well_formed", "Well formed", "Self-contained, no open pronoun, and it could be verified.", 1.0),
                Label("badly_formed", "Badly formed", "It needs other sentences, or nothing could verify it.", 0.0),
            ),
        ),
        Dimension(
            slug="fault",
            title="Main fault",
            question="What is wrong with it?",
            labels=(
                Label("missing_context", "Missing context", "It cannot be understood without other sentences."),
                Label("open_pronoun", "Open pronoun", "Who or what is meant stands elsewhere."),
                Label("not_verifiable", "Not verifiable", "Nothing could show it to be true or false."),
                Label("several_claims", "Several claims", "It says more than one thing."),
            ),
            asked_when=Condition("form", ("badly_formed",)),
        ),
    ),
    template="annotation/tasks/atomic_claim.html",
    export_layout="content",
    metrics=(Metric("form", "form"), Metric("main fault", "fault")),
)

ASPECT_RELEVANCE = TaskType(
    slug="nli",
    variant="aspect-relevance",
    version=1,
    title="Relevance of generated aspects",
    summary="Judge for each generated aspect whether it is relevant to the question.",
    anchor_kind="question",
    unit_kind="aspect",
    contents="question-alone",
    dimensions=(
        Dimension(
            slug="relevance",
            title="Relevance",
            question="Is the aspect relevant to the question?",
            labels=(
                Label("relevant", "Relevant", "A good answer to the question could speak of it.", 1.0),
                Label("not_relevant", "Not relevant", "It belongs to another question, or to none.", 0.0),
            ),
            role="relevance",
        ),
    ),
    template="annotation/tasks/pieces.html",
    export_layout="content",
    units_title="Aspects",
    checkers=("lexical", "embedding", "trained", "nli", "llm", "fake"),
    metrics=(Metric("relevance", "relevance"),),
)
