"""Does this model know a triplet to be so? (RefChecker, appendix D.1)

By `form` it is asked about the statement as it stands, or, as in the paper, a question that a model makes of it first,
maybe another one (`question_endpoint`): the paper has GPT-4 write the questions for all models.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, ScoreInfo
from ..inputs import read_claim
from ..llm import prompts
from ..llm.answers import TEXT, LabelAnswer, read_text
from ..llm.asking import Exchange, Server
from .asked import AskedScorer, ScoredQuestion, Texts, info_of

STATEMENT, QUESTION_FORM = "statement", "question"
WRITING, WRITING_TOKENS, MOST_CHARS = "knowledge-question", 256, 1000

INFO = info_of(
    "model-knowledge",
    "What the model itself knows",
    "Asks the language model, without any passage, whether it knows the piece to be so. Name the endpoint that "
    "serves the model which wrote the answers.",
    ScoreInfo("knows", "Knows it (1), unsure (0), knows otherwise (-1)", -1, 1),
    *(ScoreInfo(f"knows_{word}", f"P({word})", 0, 1) for word in ("yes", "no", "unsure")),
    more=(
        ParameterInfo(
            "form",
            "Asked about",
            "str",
            STATEMENT,
            choices=(STATEMENT, QUESTION_FORM),
            hint="statement: the piece as it stands. question: a question that a model makes of it first, as "
            "RefChecker does.",
        ),
        ParameterInfo(
            "question_endpoint",
            "Endpoint that writes the questions",
            "endpoint",
            "",
            hint="Empty: the model that is asked.",
        ),
    ),
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
# Of the question that the statement was turned into.
ABOUT_QUESTION = replace(
    QUESTION.space,
    question="Do you know the answer?",
    meanings=(
        ("yes", "Yes, I know that the answer is yes."),
        ("no", "No, I know that the answer is no."),
        ("unsure", "Unsure: I do not know, or what I know is contradictory."),
    ),
)


class KnowledgeByQuestion(AskedScorer):
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any]) -> None:
        super().__init__(info, parameters, replace(QUESTION, space=ABOUT_QUESTION))
        if not parameters["prompt"].strip():
            self.prompt = prompts.shipped(f"{info.slug}-question")
            self.instructions = self.prompt.filled(ABOUT_QUESTION)
        self.writing = prompts.shipped(WRITING)
        other = parameters["question_endpoint"]
        self.writer = Server.of(parameters | {"endpoint": other}) if other else self.server

    def describe(self) -> dict[str, Any]:
        found = super().describe()
        found["prompts"][self.info.slug].insert(0, self.writing.described())
        return found | ({"questions_by": self.writer.describe()} if self.writer is not self.server else {})

    def _ask(self, texts: Texts, exchange: Exchange) -> LabelAnswer:
        writing = Exchange(self.writer.client, is_vllm=False, mode=TEXT)
        try:
            message = prompts.texts_before(texts, "The question:")
            body = writing.ask(prompts.both(self.writing.instructions, message), max_tokens=WRITING_TOKENS)
            question = read_text(body, WRITING_TOKENS)
        finally:
            exchange.usage += writing.usage
            exchange.prompts += writing.prompts
            exchange.outputs += writing.outputs
        if len(question) > MOST_CHARS or "\n" in question:
            raise InputError("malformed", "what was written is not one question")
        return super()._ask([("question", question)], exchange)


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> AskedScorer:
    if parameters["form"] == QUESTION_FORM:
        return KnowledgeByQuestion(info, parameters)
    return AskedScorer(info, parameters, QUESTION)
