"""How good a model's answer is, given the ground truth (Sufficient Context, appendix)."""

from .base import Derived, Dimension, Label, Metric, TaskType

OUTCOME = Derived(
    slug="outcome",
    title="Outcome",
    labels=(Label("correct", "Correct"), Label("hallucinate", "Hallucinate"), Label("abstain", "Abstain")),
    of=(("perfect", "correct"), ("acceptable", "correct"), ("incorrect", "hallucinate"), ("missing", "abstain")),
)

ANSWER_GRADE = TaskType(
    slug="answer-grade",
    variant="",
    version=1,
    title="Grade of an answer",
    summary="Grade a model's answer to a question, given the ground truth.",
    anchor_kind="response",
    unit_kind="response",
    contents="response-graded",
    anchor_parent="question",
    dimensions=(
        Dimension(
            slug="grade",
            title="Grade",
            question="How good is the answer, given the ground truth?",
            labels=(
                Label("perfect", "Perfect", "Correct and complete, with nothing false beside it.", 1.0),
                Label("acceptable", "Acceptable", "Correct, with small faults that do not mislead.", 0.6),
                Label("incorrect", "Incorrect", "Wrong, or misleading.", -1.0),
                Label("missing", "Missing", "No answer: empty, “I don't know”, or a refusal.", means_no_answer=True),
            ),
            role="correctness",
            derived=(OUTCOME,),
        ),
    ),
    template="annotation/tasks/answer_grade.html",
    export_layout="content",
    checkers=("lexical", "embedding", "trained", "nli", "llm", "fake"),
    metrics=(Metric("grade", "grade"), Metric("correct, hallucinate or abstain", "grade", derived="outcome")),
)
