"""Judging by a language model behind an OpenAI-compatible server, which picks one of the labels for each question.

For each question about an input the model gets instructions (`models_runtime/prompts/`, by the question's role), the
possible answers with a letter each and what people are told about them, and the texts. It may answer with one of the
letters only: by vLLM's choice constraint, elsewhere by a JSON schema. The probability of a label is that of its letter
at the place where the answer stands, normalised over the letters; the score `label_mass` is what they had together
before that, the least of an input's questions. Where the server tells no probabilities there are none.

A question that hangs on another's answer is asked only when that was given. Several passages go into one request, or
(`passages: each`) into one each, merged as elsewhere: entailed if any passage entails, else contradicted if any
contradicts, else as the one that the model is surest of; for relevance and coverage any one suffices, and for
correctness the best counts. Several claims are alternatives in one request. Texts are never cut: those that the model
cannot take at once fail. So does every answer that is refused, cut off or not one of the letters.

Instead of one letter the model may give its reasons first (`reasoning`): in a JSON object that the server holds it to,
or in words of its own that end in such an object (`llm.decisions` says what is read of them). Its explanation stands
with the label, what it quotes of the texts becomes spans where it is found there, and there are no probabilities.

Pieces of one answer (inputs with the same passages) can be judged in one request, as RefChecker does (`pieces: joint`),
where the question is about entailment: each has a number, and the answer is a JSON object with a letter for each. What
is no such object fails all of them, a letter that is none fails its own piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelPrediction,
    LabelSpace,
    ParameterError,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    Usage,
)
from ..inputs import check_text, failed, read_claims, read_passages
from ..labels.labelling import YES_OR_NO, without_answer
from ..llm import prompts
from ..llm.answers import LabelAnswer, joint_options, json_options, object_schema, read_joint, read_reasoned
from ..llm.asking import Exchange, RequestOutcome, Server, keeping, shares
from ..llm.decisions import names_of
from ..llm.estimating import tokens_of
from ..llm.parameters import ANSWERS, ENDPOINT, LABEL_MASS, PATIENCE, PROMPT
from ..packages import OPENAI
from ..provenance import dimensions_of, provenance
from ..texts.quoting import find_quote

# Which prompts serve a role. Where there are two, the second is for inputs with passages.
PROMPTS = {
    "relevance": ("relevance",),
    "coverage": ("coverage", "sufficiency"),
    "stance": ("stance",),
    "entailment": ("entailment",),
    "correctness": ("correctness",),
}


JOINT_PROMPTS = {"entailment": ("entailment-joint",)}
# As many inputs as a worker takes at once, so that the pieces of one answer come together.
JOINT_SLICE = 256
# Ways to an answer: at once; or after reasons, in an object that the server holds the model to, or in its own words.
LETTER, OBJECT, FREE = REASONING = ("none", "json", "free")
MOST_QUOTES = 5
# About what is written: a letter and the end, a letter for each piece in JSON, or an explanation and quotes before it.
TOKENS_WRITTEN = {LETTER: 2, OBJECT: 150, FREE: 400}
TOKENS_OF_PIECE = 6


INFO = CheckerInfo(
    slug="llm",
    version="3",
    kind="llm",
    title="Language model as judge",
    summary="Asks a language model on a server of this site's choice, which picks one of the labels, at once or after "
    "giving its reasons.",
    roles=ROLES,
    needs="server",
    packages=(OPENAI,),
    parameters=(
        ENDPOINT,
        ParameterInfo(
            "reasoning",
            "Reasoning",
            "str",
            LETTER,
            choices=REASONING,
            hint="none: one letter, with probabilities. json: an explanation and quotes before the letter, in a form "
            "that the server holds the model to. free: reasons in the model's own words, and the decision at the end.",
        ),
        ParameterInfo(
            "reasoning_tokens",
            "Maximum tokens of an answer with reasons",
            "int",
            2048,
            64,
            65_536,
            hint="An answer that is longer is cut off, and fails.",
        ),
        ParameterInfo(
            "passages",
            "Several passages",
            "str",
            "joint",
            choices=("joint", "each"),
            hint="joint: all in one request. each: one request for each, with the answers merged.",
        ),
        ParameterInfo(
            "pieces",
            "Several pieces of one answer",
            "str",
            "each",
            choices=("each", "joint"),
            hint="each: one request for each. joint: several that have the same passages in one, which costs less. "
            "Only where the question is whether passages entail a piece.",
        ),
        ParameterInfo(
            "pieces_at_once",
            "Pieces in a joint request, at most",
            "int",
            25,
            1,
            200,
            hint="Models that judge many at once lose count.",
        ),
        PROMPT,
        ParameterInfo(
            "prompt_for",
            "Use custom instructions for",
            "str",
            "all",
            choices=("all", *ROLES),
            hint="All questions, or those of one role; the others keep the shipped instructions.",
        ),
        ANSWERS,
        *PATIENCE,
    ),
    scores=(LABEL_MASS,),
)


@dataclass(slots=True)
class _Work:
    """One input with its texts, and what has been answered about it."""

    item: CheckerInput
    claims: list[str]
    passages: list[str]
    fields: list[str]  # of the passages, as `PredictedSpan` calls them
    question: str
    date: str
    spans: list[PredictedSpan] = field(default_factory=list)
    labels: dict[str, LabelPrediction] = field(default_factory=dict)
    masses: list[float] = field(default_factory=list)
    error: InputError | None = None

    @property
    def shared(self) -> tuple:
        """What is the same for pieces of one answer."""
        return tuple(self.passages), self.question, self.date, "passages" in self.item.fields

    def take(self, space: LabelSpace, answers: Sequence[LabelAnswer | InputError]) -> None:
        """The answers about its passages."""
        self.error = next((one for one in answers if isinstance(one, InputError)), None)
        if self.error is None:
            chosen = merged(space, [one.prediction for one in answers])
            self.labels[space.dimension] = chosen
            self.masses += [one.mass for one in answers if one.mass is not None]
            decisive = next(place for place, one in enumerate(answers) if one.prediction is chosen)
            self._take_quotes(space, answers[decisive].quotes, decisive if len(answers) > 1 else None)

    def _take_quotes(self, space: LabelSpace, quotes: Sequence[str], passage: int | None) -> None:
        """Where the texts have what the answer quotes; quotes that they lack go to the explanation."""
        absent = []
        texts = list(zip(self.fields, self.passages, strict=True))
        texts = texts if passage is None else [texts[passage]]
        for quote in quotes:
            found = next(((name, text, at) for name, text in texts if (at := find_quote(text, quote))), None)
            if found is None:
                absent.append(quote)
                continue
            name, text, (start, end) = found
            span = PredictedSpan(name, start, end, text[start:end])
            self.spans += [] if span in self.spans else [span]
        if absent:
            answer = self.labels[space.dimension]
            explanation = "\n".join(
                [answer.explanation, "Quoted, and not in the texts:", *(f"“{one}”" for one in absent)]
            )
            self.labels[space.dimension] = replace(answer, explanation=explanation.strip())


class LlmChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.server = Server.of(parameters)
        self.reasons = parameters["reasoning"]
        if self.reasons != LETTER and parameters["pieces"] == "joint":
            raise ParameterError("pieces", "several pieces in one request are answered by letters, without reasoning")
        self.is_joint = parameters["pieces"] == "joint" and all(space.role in JOINT_PROMPTS for space in spaces)
        shipped = prompts.shipped if self.reasons == LETTER else prompts.reasoned
        own = prompts.own(parameters["prompt"]) if parameters["prompt"].strip() else None
        self.prompts = {
            space.dimension: tuple(
                own if own and parameters["prompt_for"] in ("all", space.role) else shipped(name)
                for name in (JOINT_PROMPTS if self.is_joint else PROMPTS)[space.role]
            )
            for space in spaces
        }
        self.letters = {space.dimension: prompts.letters_of(space) for space in spaces}
        self.instructions = {
            space.dimension: tuple(prompt.filled(space) for prompt in self.prompts[space.dimension]) for space in spaces
        }
        self.slice_at_least = JOINT_SLICE if self.is_joint else self.server.slice_at_least

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        return provenance(
            self.info,
            self.parameters,
            self.server.describe(),
            prompts={
                dimension: [prompt.described() for prompt in prompts] for dimension, prompts in self.prompts.items()
            },
            dimensions=dimensions_of(self.spaces),
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        prepared = [self._prepare(item) for item in inputs]
        groups = list(self._groups([one for one in prepared if isinstance(one, _Work)]))
        with keeping(
            lambda done: [one for place, outcome in done.items() for one in _predictions(groups[place], outcome)]
        ):
            outcomes = self.server.ask_each(groups, self._answer)
        answered = {
            id(one): prediction
            for group, outcome in zip(groups, outcomes, strict=True)
            for one, prediction in zip(group, _predictions(group, outcome), strict=True)
        }
        return [one if isinstance(one, Prediction) else answered[id(one)] for one in prepared]

    def _prepare(self, item: CheckerInput) -> _Work | Prediction:
        """The input's texts, or the prediction where nothing is asked."""
        try:
            if found := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
                return found
            fields, passages = map(list, zip(*read_passages(item), strict=True))
            question, date = (check_text(name, item.fields.get(name, "")) for name in ("question", "question_date"))
            return _Work(item, read_claims(item), passages, fields, question, date)
        except Exception as error:
            return failed(item, error)

    def _groups(self, work: Sequence[_Work]) -> Iterator[list[_Work]]:
        """What goes into one request: an input alone, or the pieces of one answer."""
        together: dict[tuple, list[_Work]] = {}
        for one in work:
            if self.is_joint and len(one.claims) == 1:
                together.setdefault(one.shared, []).append(one)
            else:
                yield [one]
        most = self.parameters["pieces_at_once"]
        for pieces in together.values():
            yield from (pieces[start : start + most] for start in range(0, len(pieces), most))

    def _answer(self, group: list[_Work], exchange: Exchange) -> None:
        """Ask the questions, those first on which others hang."""
        for one in group:
            one.labels, one.masses, one.spans, one.error = {}, [], [], None
        present = {space.dimension for space in self.spaces}
        for space in sorted(self.spaces, key=lambda space: space.asked_when is not None):
            condition = space.asked_when if space.asked_when and space.asked_when[0] in present else None
            asked = [one for one in group if one.error is None and _holds(condition, one.labels)]
            if not asked:
                continue
            answers = [self._ask(exchange, space, asked, part) for part in self._parts(asked)]
            for place, one in enumerate(asked):
                one.take(space, [found[place] for found in answers])

    def _parts(self, asked: list[_Work]) -> list[list[str]]:
        """The passages of each request."""
        passages = asked[0].passages
        return [[text] for text in passages] if self.parameters["passages"] == "each" else [passages]

    def _ask(
        self, exchange: Exchange, space: LabelSpace, asked: list[_Work], passages: list[str]
    ) -> list[LabelAnswer | InputError]:
        """The answer for each input, or why it has none."""
        letters, messages = self.letters[space.dimension], self._messages(space, asked, passages)
        try:
            if self.reasons != LETTER:
                return [self._ask_with_reasons(exchange, space, messages)]
            if not self._is_by_number(asked):
                return [exchange.ask_for_letter(messages, letters)]
            numbers = _numbers(asked)
            body = exchange.ask(messages, **joint_options(letters, numbers))
            return read_joint(body, letters, numbers, lists_all=exchange.is_vllm)
        except InputError as error:
            return [error] * len(asked)

    def _is_by_number(self, asked: list[_Work]) -> bool:
        return self.is_joint and len(asked[0].claims) == 1

    def _messages(self, space: LabelSpace, asked: list[_Work], passages: list[str]) -> prompts.Messages:
        letters = list(self.letters[space.dimension])
        instructions = self.instructions[space.dimension][-1 if "passages" in asked[0].item.fields else 0]
        finds, looks_in = space.called
        named = [
            (name, text)
            for name, text in (("question asked", asked[0].question), ("date of the question", asked[0].date))
            if text.strip()
        ]
        if self._is_by_number(asked):
            numbers = _numbers(asked)
            named += [(f"{finds} {n}", one.claims[0]) for n, one in zip(numbers, asked, strict=True)]
            form = ", ".join(f'"{n}": "\u2026"' for n in numbers)
            ending = f"Your answer, a letter ({' or '.join(letters)}) for each {finds}, as JSON {{{form}}}:"
            named += prompts.numbered(looks_in, passages)
            return prompts.both(instructions, prompts.texts_before(named, ending))
        named += prompts.numbered(finds, asked[0].claims) + prompts.numbered(looks_in, passages)
        if self.reasons == LETTER:
            return prompts.both(instructions, prompts.texts_message(named, letters))
        ending = prompts.reasons_wanted(letters, is_free=self.reasons == FREE)
        return prompts.both(instructions, prompts.texts_before(named, ending))

    def _ask_with_reasons(self, exchange: Exchange, space: LabelSpace, messages: prompts.Messages) -> LabelAnswer:
        letters, room = self.letters[space.dimension], self.parameters["reasoning_tokens"]
        options = {"max_tokens": room}
        if self.reasons == OBJECT:
            # vLLM takes a limit of a text's length, so that none is cut off; others refuse a form that says so.
            bound = {"maxLength": room // 2} if exchange.is_vllm else {}
            quoted = {"maxLength": room // 20} if exchange.is_vllm else {}
            explanation = {"type": "string"} | bound
            quotes = {"type": "array", "items": {"type": "string"} | quoted, "maxItems": MOST_QUOTES}
            answer = {"type": "string", "enum": list(letters)}
            schema = object_schema({"explanation": explanation, "quotes": quotes, "answer": answer})
            options = json_options("judgement", schema, room)
        found = read_reasoned(exchange.ask(messages, **options), letters, names_of(space), room)
        return LabelAnswer(LabelPrediction(found.label, None, {}, found.explanation), None, found.quotes)

    def estimated_usage(self, inputs: Sequence[CheckerInput]) -> Usage:
        """About how many tokens the requests take, without asking the server; an upper bound where a question hangs on
        another's answer. What cannot be asked costs nothing."""
        prepared = [self._prepare(item) for item in inputs]
        found = Usage()
        for group in self._groups([one for one in prepared if isinstance(one, _Work)]):
            written = TOKENS_OF_PIECE * len(group) if self._is_by_number(group) else TOKENS_WRITTEN[self.reasons]
            for space in self.spaces:
                for passages in self._parts(group):
                    found += Usage(tokens_of(self._messages(space, group, passages)), written)
        return found


def estimated_usage(inputs: Sequence[CheckerInput], spaces: Sequence[LabelSpace], parameters: dict[str, Any]) -> Usage:
    return LlmChecker(INFO, tuple(spaces), parameters).estimated_usage(inputs)


def _numbers(asked: list[_Work]) -> list[str]:
    return [str(n) for n in range(1, len(asked) + 1)]


def _holds(condition: tuple[str, tuple[str, ...]] | None, labels: dict[str, LabelPrediction]) -> bool:
    if condition is None:
        return True
    dimension, wanted = condition
    return dimension in labels and labels[dimension].label in wanted


def _predictions(group: Sequence[_Work], outcome: RequestOutcome[None]) -> Iterator[Prediction]:
    for one, usage in zip(group, shares(outcome.usage, len(group)), strict=True):
        if error := outcome.error or one.error:
            yield Prediction(one.item.id, error=failed(one.item, error).error, usage=usage, trace=outcome.trace)
        else:
            scores = {"label_mass": min(one.masses, default=None)}
            yield Prediction(one.item.id, one.labels, scores, tuple(one.spans), usage=usage, trace=outcome.trace)


def merged(space: LabelSpace, answers: Sequence[LabelPrediction]) -> LabelPrediction:
    """One answer from those about single passages; the surest of the ones that decide, the first of equals."""
    polarity = dict(space.labels)
    if space.role in YES_OR_NO:
        sides = [[one for one in answers if (polarity[one.label] or 0) > 0.5]]
    elif space.role == "correctness":
        best = max(_known(polarity[one.label]) for one in answers)
        sides = [[one for one in answers if _known(polarity[one.label]) == best]]
    else:
        sides = [
            [one for one in answers if (polarity[one.label] or 0) > 0],
            [one for one in answers if (polarity[one.label] or 0) < 0],
        ]
    deciding = next((side for side in sides if side), answers)
    return max(deciding, key=lambda one: -1.0 if one.probability is None else one.probability)


def _known(polarity: float | None) -> float:
    """A label outside the scale counts less than any on it."""
    return -2.0 if polarity is None else polarity


build = LlmChecker
