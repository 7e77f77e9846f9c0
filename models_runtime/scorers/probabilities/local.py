"""How probable a causal language model finds True, False and None for a claim, without and with the evidence.

What measures of context usage (DRUID, section 5) are computed from. Nothing is generated: the probability of an answer
is read after the prompt, added up over its spellings (with and without a space before it, in lower and upper case),
each the joint probability of its tokens. With `normalise` = vocabulary it is the share of everything that the model
might say, as in DRUID's tables, whose three probabilities add up to less than 1; with `answers` the three are divided
by their sum, which the scores `answers_without` and `answers_with` hold.

Evidence that does not fit into the model's window is cut at its end, and the score `truncated` says so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import Any

from ...contracts import CheckerInfo, CheckerInput, LabelSpace, Prediction, Usage
from ...inputs import failed
from ...loading.batching import Batcher
from ...loading.models import load_model, release_memory
from ...loading.parameters import CAUSAL, CAUSAL_MODEL
from ...packages import TORCH, TRANSFORMERS
from ...provenance import provenance, versions
from .continuations import Continuations, continuation_tokens
from .verdict_prompts import read_prompts
from .verdicts import MODES, PARAMETERS, SCORES, Asking, PromptPair, Tokens, prediction_of

# Several pieces of evidence belong to one claim, and may come in calls of their own.
KEPT_PROMPTS = 4096


INFO = CheckerInfo(
    slug="answer-probabilities",
    version="1",
    kind="answer-probabilities",
    title="Answer probabilities",
    summary="How probable a language model finds True, False and None for the claim, without and with the "
    "evidence. It needs a model: fetch the one below, or give the folder of another.",
    roles=(),
    needs="gpu",
    packages=(TORCH, TRANSFORMERS),
    model=CAUSAL_MODEL,
    licence="Apache-2.0",
    gives="scores",
    parameters=(
        *CAUSAL,
        *PARAMETERS,
    ),
    scores=SCORES,
)


class AnswerProbabilitiesScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.loaded = load_model("causal", parameters["model"], parameters["device"], parameters["dtype"])
        self.prompts = read_prompts()
        answers = continuation_tokens(self.loaded.tokenizer, self.prompts.spellings, self.prompts.ending)
        batcher = Batcher(parameters["token_budget"], release=release_memory)
        self.continuations = Continuations(self.loaded, answers, batcher)
        self._window = min(self.loaded.window or parameters["max_tokens"], parameters["max_tokens"])
        self.asking = Asking(
            self.prompts, parameters["shots"], self._window - self.continuations.longest, self._encode, self._cut
        )
        self._shared = {mode: self._beginning(mode) for mode in MODES}
        self._known: OrderedDict[Tokens, dict[str, float]] = OrderedDict()

    def describe(self) -> dict[str, Any]:
        return provenance(
            self.info,
            self.parameters,
            self.loaded.describe() | {"window": self._window},
            prompts=f"verdict {self.prompts.version}, sha256:{self.prompts.sha256}",
            answer_tokens={answer: len(tokens) for answer, tokens in self.continuations.answers.items()},
            libraries=versions("transformers", "torch"),
            dimensions=[],
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        asked: dict[int, PromptPair] = {}
        predictions: dict[int, Prediction] = {}
        for place, item in enumerate(inputs):
            try:
                asked[place] = self.asking.ask(item)
            except Exception as error:
                predictions[place] = failed(item, error)
        failures: dict[Tokens, Exception] = {}
        for mode in MODES:
            failures |= self._compute(mode, (one.prompts[mode] for one in asked.values()))
        for place, one in asked.items():
            errors = [failures[prompt] for prompt in one.prompts.values() if prompt in failures]
            predictions[place] = failed(inputs[place], errors[0]) if errors else self._answer(inputs[place], one)
        self._forget()
        return [predictions[place] for place in range(len(inputs))]

    def _compute(self, mode: str, prompts: Iterable[Tokens]) -> dict[Tokens, Exception]:
        """Each distinct prompt that is not known yet goes through the model; the failures."""
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._known]
        outcome = self.continuations.after(new, self._shared[mode])
        self._known.update((new[place], value) for place, value in enumerate(outcome.values) if value is not None)
        return {new[place]: error for place, error in outcome.failures.items()}

    def _forget(self) -> None:
        while len(self._known) > KEPT_PROMPTS:
            self._known.popitem(last=False)

    def _answer(self, item: CheckerInput, one: PromptPair) -> Prediction:
        by_mode = {mode: self._known[one.prompts[mode]] for mode in MODES}
        usage = Usage(prompt_tokens=sum(map(len, one.prompts.values())))
        return prediction_of(item, one, by_mode, self.parameters["normalise"], usage)

    def _cut(self, evidence: str, excess: int) -> str:
        offsets = self.loaded.tokenizer(evidence, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        kept = len(offsets) - excess
        return evidence[: offsets[kept][0]] if kept > 0 else ""

    def _encode(self, text: str) -> Tokens:
        return tuple(self.loaded.tokenizer(text, verbose=False)["input_ids"])

    def _beginning(self, mode: str) -> int:
        """The number of tokens that prompts of this mode begin with whatever the claim."""
        evidence = None if mode == "without" else "."
        return len(commonprefix([self._encode(self.asking.text(claim, evidence)) for claim in ("Zinc", "7, \u00e9")]))


build = AnswerProbabilitiesScorer
