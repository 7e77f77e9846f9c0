"""Is the claim true by its evidence? (the study of knowledge leakage)"""

from __future__ import annotations

from ..contracts import CheckerInput, LabelSpace, ScoreInfo
from ..inputs import read_claim, read_passages
from ..llm import prompts
from .asked import ScoredQuestion, Texts, builder_of, info_of

INFO = info_of(
    "verdict",
    "Verdict from the evidence",
    "Asks a language model whether the evidence makes the claim true, false, or neither.",
    ScoreInfo("verdict", "True (1), none (0), false (-1)", -1, 1),
    *(ScoreInfo(f"verdict_{word.lower()}", f"P({word})", 0, 1) for word in ("True", "False", "None")),
)


def _claim_and_evidence(item: CheckerInput) -> Texts:
    return [("claim", read_claim(item)), *prompts.numbered("evidence", [text for _, text in read_passages(item)])]


QUESTION = ScoredQuestion(
    LabelSpace(
        "verdict",
        "stance",
        (("True", 1.0), ("False", -1.0), ("None", 0.0)),
        question="By the evidence, is the claim true?",
        meanings=(
            ("True", "True: the evidence shows that it is."),
            ("False", "False: the evidence shows that it is not."),
            ("None", "None: the evidence does not settle it."),
        ),
    ),
    "verdict",
    (("True", "verdict_true"), ("False", "verdict_false"), ("None", "verdict_none")),
    _claim_and_evidence,
)
build = builder_of(QUESTION)
