"""Coverage of aspects by a language model that is shown the whole answer and all of its aspects at once (ICAT).

Inputs with the same text and question are one answer with its aspects. Its sentences are numbered, and one request
says which aspects each sentence deals with (`llm.alignment`). An aspect is covered if a sentence deals with it, and the
first such sentence is the rationale. There are no probabilities: the model names aspects, it does not rate them.
Aspects are judged together with those that come in the same call; a judge that takes each alone is `llm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import (
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelPrediction,
    LabelSpace,
    PredictedSpan,
    Prediction,
)
from ..inputs import check_text, failed, read_claims, read_passages
from ..labels.labelling import check_spaces, kept_spans, without_answer
from ..llm import prompts
from ..llm.alignment import PROMPT, Alignable, ask_alignment
from ..llm.asking import Exchange, RequestOutcome, Server, shares
from ..llm.parameters import ENDPOINT, FORMAT_PROMPT, PATIENCE
from ..packages import OPENAI, SPACY
from ..provenance import dimensions_of, provenance
from ..texts.splitting import sentence_offsets

# As many inputs as a worker takes at once, so that the aspects of one answer come together.
SLICE = 256
Aspects = tuple[tuple[int, ...], ...]


INFO = CheckerInfo(
    slug="aspect-alignment",
    version="1",
    kind="alignment",
    title="Alignment of aspects",
    summary="Shows a language model all sentences of an answer and all aspects at once, and asks which "
    "sentence covers which aspect.",
    roles=("coverage",),
    needs="server",
    packages=(OPENAI, SPACY),
    parameters=(ENDPOINT, FORMAT_PROMPT, *PATIENCE),
)


@dataclass(frozen=True, slots=True)
class _Work:
    item: CheckerInput
    claims: list[str]
    passages: list[tuple[str, str]]
    question: str


@dataclass(frozen=True, slots=True)
class _Answer:
    """One text in its sentences, with the inputs that ask about it, and the places of each one's aspects."""

    work: list[_Work]
    places: list[set[int]]
    spans: list[PredictedSpan]
    asked: Alignable


class AspectAlignment:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own, "$format") if own else prompts.shipped(PROMPT)
        self.slice_at_least = SLICE

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        return provenance(
            self.info,
            self.parameters,
            self.server.describe(),
            prompts={PROMPT: [self.prompt.described()]},
            dimensions=dimensions_of(self.spaces),
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        prepared = [self._prepare(item) for item in inputs]
        answers = _answers([one for one in prepared if isinstance(one, _Work)])
        outcomes = self.server.ask_each([answer.asked for answer in answers], self._ask)
        predictions = {
            id(work): prediction
            for answer, outcome in zip(answers, outcomes, strict=True)
            for work, prediction in zip(answer.work, self._predictions(answer, outcome), strict=True)
        }
        return [one if isinstance(one, Prediction) else predictions[id(one)] for one in prepared]

    def _ask(self, answer: Alignable, exchange: Exchange) -> Aspects:
        return ask_alignment(answer, exchange, self.prompt)

    def _prepare(self, item: CheckerInput) -> _Work | Prediction:
        try:
            if prediction := without_answer(self.spaces, item, ()):
                return prediction
            question = check_text("question", item.fields.get("question", ""))
            return _Work(item, read_claims(item), read_passages(item), question)
        except InputError as error:
            return failed(item, error)

    def _predictions(self, answer: _Answer, outcome: RequestOutcome[Aspects]) -> Iterator[Prediction]:
        costs = shares(outcome.usage, len(answer.work))
        for work, places, usage in zip(answer.work, answer.places, costs, strict=True):
            if outcome.error:
                error = failed(work.item, outcome.error).error
                yield Prediction(work.item.id, error=error, usage=usage, trace=outcome.trace)
                continue
            covering = [n for n, aspects in enumerate(outcome.result) if not places.isdisjoint(aspects)]
            labels = {space.dimension: _label(space, bool(covering)) for space in self.spaces}
            spans = kept_spans(self.spaces, labels, answer.spans[covering[0]]) if covering else ()
            yield Prediction(work.item.id, labels, spans=spans, usage=usage, trace=outcome.trace)


def _answers(work: Sequence[_Work]) -> list[_Answer]:
    """One for each text with its question, in the order of the first input about it."""
    together: dict[tuple, list[_Work]] = {}
    for one in work:
        together.setdefault((tuple(one.passages), one.question), []).append(one)
    answers = []
    for (passages, question), group in together.items():
        spans = [
            PredictedSpan(field, start, end, text[start:end], 1.0)
            for field, text in passages
            for start, end in sentence_offsets(text)
        ]
        # Several answers may have the same words, and then they have the same aspects too.
        aspects = {aspect: place for place, aspect in enumerate(dict.fromkeys(a for one in group for a in one.claims))}
        places = [{aspects[aspect] for aspect in one.claims} for one in group]
        asked = Alignable(question, tuple(span.quote for span in spans), tuple(aspects))
        answers.append(_Answer(group, places, spans, asked))
    return answers


def _label(space: LabelSpace, is_covered: bool) -> LabelPrediction:
    """The label at that end of the scale."""
    scale = {value: polarity for value, polarity in space.labels if polarity is not None}
    label = (max if is_covered else min)(scale, key=scale.__getitem__)
    return LabelPrediction(label, None, {})


build = AspectAlignment
