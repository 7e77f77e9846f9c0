"""Does this model know a triplet to be so? (RefChecker, appendix D.1)"""

from __future__ import annotations

from ..contracts import CheckerInput, LabelSpace, ScoreInfo
from ..inputs import read_claim
from .asked import ScoredQuestion, Texts, builder_of, info_of

INFO = info_of(
    "model-knowledge",
    "What the model itself knows",
    "Asks the language model, without any passage, whether it knows the piece to be so. Name the endpoint that "
    "serves the model which wrote the answers.",
    ScoreInfo("knows", "Knows it (1), unsure (0), knows otherwise (-1)", -1, 1),
    *(ScoreInfo(f"knows_{word}", f"P({word})", 0, 1) for word in ("yes", "no", "unsure")),
)


def _statement(item: CheckerInput) -> Texts:
    return [("statement", read_claim(item))]


QUESTION = ScoredQuestion(
    LabelSpace(
        "model-knowledge",
        "correctness",
        (("yes", 1.0), ("no", -1.0), ("unsure", 0.0)),
        question="Do you know the statement to be so?",
        meanings=(
            ("yes", "Yes, I know it to be so."),
            ("no", "No, what I know says otherwise."),
            ("unsure", "Unsure: I do not know, or what I know is contradictory."),
        ),
    ),
    "knows",
    (("yes", "knows_yes"), ("no", "knows_no"), ("unsure", "knows_unsure")),
    _statement,
)
build = builder_of(QUESTION)
