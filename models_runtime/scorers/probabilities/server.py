"""How probable a causal language model on a vLLM server finds True, False and None: `local` from afar.

The same prompts, token by token, and the same scores. The server tells the prompts' and the answers' tokens, and reads
in one of two ways, which give the same numbers:

- `next-token`: after the prompt, and after the first tokens of each answer of several, each token that matters is asked
  for in a request of its own. The server keeps what prompts have in common, so that reads the prompt once.
- `prompt`: each spelling of each answer is sent behind the prompt, and the server returns the probabilities of the
prompt's tokens. Any vLLM can do that, and reads everything anew for each spelling.

`auto` is `next-token` where the server can be asked for tokens of our choice, which is tried once.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from ...contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ModelError, ParameterInfo, Prediction, Usage
from ...inputs import failed
from ...llm import vllm
from ...llm.asking import Exchange, Server
from ...llm.parameters import ENDPOINT, PATIENCE
from ...packages import OPENAI
from ...provenance import provenance
from .continuations import added_up, continuation_tokens, next_tokens
from .verdict_prompts import read_prompts
from .verdicts import MODES, PARAMETERS, SCORES, Asking, PromptPair, Tokens, prediction_of

KEPT_PROMPTS = 4096
# Two tokens cannot share more than everything; the rest is room for rounding.
MOST_OF_TWO = 1.01
NEXT_TOKEN, PROMPT = "next-token", "prompt"


INFO = CheckerInfo(
    slug="answer-probabilities-server",
    version="1",
    kind="answer-probabilities",
    title="Answer probabilities, from a server",
    summary="How probable a language model on a vLLM server finds True, False and None for the claim, "
    "without and with the evidence.",
    roles=(),
    needs="server",
    packages=(OPENAI,),
    gives="scores",
    parameters=(
        ENDPOINT,
        *PATIENCE,
        *PARAMETERS,
        ParameterInfo(
            "reading",
            "Source of probabilities",
            "str",
            "auto",
            choices=("auto", "next-token", "prompt"),
            hint="Both give the same numbers. prompt works with every vLLM, at one request for each spelling.",
        ),
    ),
    scores=SCORES,
)


@dataclass(frozen=True, slots=True)
class _Setup:
    """What is found out about the served model before anything is asked."""

    identity: tuple[str, str]
    window: int
    answers: dict[str, list[Tokens]]
    reading: str

    @property
    def longest(self) -> int:
        return max(len(one) for sequences in self.answers.values() for one in sequences)


class ServedAnswerProbabilitiesScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.server = Server.of(parameters)
        self.slice_at_least = self.server.slice_at_least
        self.prompts = read_prompts()
        self._setup: _Setup | None = None
        self._known: OrderedDict[Tokens, dict[str, float]] = OrderedDict()

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        server = self.server.describe()
        server.pop("answers")  # it reads probabilities, as `reading` says
        setup = self._set_up((server["model"], server["revision"]))
        return provenance(
            self.info,
            self.parameters,
            server,
            window=setup.window,
            prompts=f"verdict {self.prompts.version}, sha256:{self.prompts.sha256}",
            answer_tokens={answer: len(tokens) for answer, tokens in setup.answers.items()},
            reading=setup.reading,
            dimensions=[],
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        if self._setup is None:
            self.describe()
        asked: dict[int, PromptPair] = {}
        predictions: dict[int, Prediction] = {}
        for place, outcome in enumerate(self.server.ask_each(inputs, self._ask)):
            if outcome.error:
                predictions[place] = failed(inputs[place], outcome.error)
            else:
                asked[place] = outcome.result
        distinct = dict.fromkeys(prompt for one in asked.values() for prompt in one.prompts.values())
        new = [prompt for prompt in distinct if prompt not in self._known]
        outcomes = dict(zip(new, self.server.ask_each(new, self._read), strict=True))
        self._known.update((prompt, outcome.result) for prompt, outcome in outcomes.items() if not outcome.error)
        for place, one in asked.items():
            # What was asked for several inputs is the first one's cost.
            prompts = list(one.prompts.values())
            errors = [outcomes[prompt].error for prompt in prompts if prompt in outcomes and outcomes[prompt].error]
            usage = sum((outcomes[prompt].usage for prompt in prompts if prompt in new), Usage())
            new = [prompt for prompt in new if prompt not in prompts]
            predictions[place] = failed(inputs[place], errors[0]) if errors else self._answer(inputs[place], one, usage)
        while len(self._known) > KEPT_PROMPTS:
            self._known.popitem(last=False)
        return [predictions[place] for place in range(len(inputs))]

    def _answer(self, item: CheckerInput, one: PromptPair, usage: Usage) -> Prediction:
        by_mode = {mode: self._known[one.prompts[mode]] for mode in MODES}
        return prediction_of(item, one, by_mode, self.parameters["normalise"], usage)

    # ---- what the server is asked ----

    def _set_up(self, identity: tuple[str, str]) -> _Setup:
        if self._setup is None or self._setup.identity != identity:
            self._known.clear()
            (outcome,) = self.server.ask_each([identity], self._find_out)
            if isinstance(outcome.error, InputError):
                raise ModelError(f"the endpoint {self.server.endpoint.name}: {outcome.error.message}")
            if outcome.error:
                raise outcome.error
            self._setup = outcome.result
        return self._setup

    def _find_out(self, identity: tuple[str, str], exchange: Exchange) -> _Setup:
        if not exchange.is_vllm:
            raise ModelError(f"the endpoint {exchange.client.endpoint.name} is no vLLM, which this needs")

        def tokenizer(text: str, **ignored: Any) -> dict[str, Tokens]:
            return {"input_ids": vllm.tokenize(exchange, text, specials=False).ids}

        answers = continuation_tokens(tokenizer, self.prompts.spellings, self.prompts.ending)
        beginning = vllm.tokenize(exchange, self.prompts.ending)
        reading = self.parameters["reading"]
        if reading == "auto":
            reading = NEXT_TOKEN if self._tells_next_tokens(exchange, beginning.ids, answers) else PROMPT
        return _Setup(identity, beginning.window, answers, reading)

    def _tells_next_tokens(self, exchange: Exchange, prompt: Tokens, answers: Mapping[str, list[Tokens]]) -> bool:
        """Whether what it says of two tokens can be their shares of a vocabulary."""
        two = sorted({*prompt, *(token for tokens in next_tokens(answers).values() for token in tokens)})[:2]
        try:
            shares = [math.exp(vllm.next_token_log(exchange, prompt, token)) for token in two]
        except InputError as error:
            if error.reason != "rejected":
                raise
            return False
        return sum(shares) < MOST_OF_TWO

    def _ask(self, item: CheckerInput, exchange: Exchange) -> PromptPair:
        def encode(text: str) -> Tokens:
            return vllm.tokenize(exchange, text).ids

        def cut(text: str, excess: int) -> str:
            ids = vllm.tokenize(exchange, text, specials=False).ids
            # Half a character at the end of the kept tokens is not one of the text's.
            return commonprefix([text, vllm.detokenize(exchange, ids[: max(0, len(ids) - excess)])])

        # An answer is fed but for its last token, or as a whole, and one token is written behind it.
        limit = min(self._setup.window - 2, self.parameters["max_tokens"]) - (self._setup.longest - 1)
        return Asking(self.prompts, self.parameters["shots"], limit, encode, cut).ask(item)

    def _read(self, prompt: Tokens, exchange: Exchange) -> dict[str, float]:
        """The probability of each answer after the prompt."""
        answers = self._setup.answers
        if self._setup.reading == NEXT_TOKEN:
            logs = {
                (head, token): vllm.next_token_log(exchange, prompt + head, token)
                for head, tokens in next_tokens(answers).items()
                for token in dict.fromkeys(tokens)
            }
            return added_up(answers, lambda head, token: logs[head, token])
        sequences = [one for tokens_of in answers.values() for one in tokens_of]
        prompt_logs = vllm.prompt_logs(exchange, [prompt + sequence for sequence in sequences])
        logs = {}
        for sequence, tokens_of in zip(sequences, prompt_logs, strict=True):
            of_answer = tokens_of[len(tokens_of) - len(sequence) :]
            logs |= {(sequence[:end], token): of_answer[end] for end, token in enumerate(sequence)}
        return added_up(answers, lambda head, token: logs[head, token])


build = ServedAnswerProbabilitiesScorer
