"""How probable a causal language model finds True, False and None for a claim, without and with the evidence.

What measures of context usage (DRUID, section 5) are computed from. Nothing is generated: the probability of an answer
is read after the prompt, added up over its spellings (with and without a space before it, in lower and upper case),
each the joint probability of its tokens. With `normalise` = vocabulary it is the share of everything that the model
might say, as in DRUID's tables, whose three probabilities add up to less than 1; with `answers` the three are divided
by their sum, which the scores `answers_without` and `answers_with` hold.

Evidence that does not fit into the model's window is cut at its end, and the score `truncated` says so.
"""

from __future__ import annotations

import importlib.metadata
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import Any

from ..batching import Batcher
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, Prediction, Usage
from ..inputs import failed, read_claim, read_passages
from ..loading import load_model, release_memory
from .continuations import Continuations, Tokens, continuation_tokens
from .verdict_prompts import ANSWERS, read_prompts

MODES = ("without", "with")
# Several pieces of evidence belong to one claim, and may come in calls of their own.
KEPT_PROMPTS = 4096


class _Asked:
    """What is asked about one input: the token ids of both prompts, and the text of the second."""

    def __init__(self, prompts: dict[str, Tokens], text: str, is_truncated: bool) -> None:
        self.prompts, self.text, self.is_truncated = prompts, text, is_truncated


class AnswerProbabilitiesScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.loaded = load_model("causal", parameters["model"], parameters["device"], parameters["dtype"])
        self.prompts = read_prompts()
        answers = continuation_tokens(self.loaded.tokenizer, self.prompts.spellings, self.prompts.ending)
        batcher = Batcher(parameters["token_budget"], release=release_memory)
        self.continuations = Continuations(self.loaded, answers, batcher)
        self._window = min(self.loaded.window or parameters["max_tokens"], parameters["max_tokens"])
        self._shared = {mode: self._beginning(mode) for mode in MODES}
        self._known: OrderedDict[Tokens, dict[str, float]] = OrderedDict()

    def describe(self) -> dict[str, Any]:
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": self.parameters["model"],
            "revision": self.loaded.revision,
            "parameters": dict(self.parameters),
            "device": self.loaded.device,
            "dtype": self.loaded.dtype,
            "window": self._window,
            "prompts": f"verdict {self.prompts.version}, sha256:{self.prompts.sha256}",
            "answer_tokens": {answer: len(found) for answer, found in self.continuations.answers.items()},
            "libraries": {name: importlib.metadata.version(name) for name in ("transformers", "torch")},
            "dimensions": [],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        asked: dict[int, _Asked] = {}
        predictions: dict[int, Prediction] = {}
        for place, item in enumerate(inputs):
            try:
                asked[place] = self._ask(item)
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
        self._known.update((new[place], found) for place, found in enumerate(outcome.values) if found is not None)
        return {new[place]: error for place, error in outcome.failures.items()}

    def _forget(self) -> None:
        while len(self._known) > KEPT_PROMPTS:
            self._known.popitem(last=False)

    def _answer(self, item: CheckerInput, one: _Asked) -> Prediction:
        scores: dict[str, float | None] = {}
        for mode in MODES:
            found = self._known[one.prompts[mode]]
            total = sum(found.values())
            for answer in ANSWERS:
                value = found[answer]
                if self.parameters["normalise"] == "answers":
                    value = value / total if total else None
                scores[f"p_{answer}_{mode}"] = value
            scores[f"answers_{mode}"] = total
        scores["truncated"] = float(one.is_truncated)
        usage = Usage(prompt_tokens=sum(map(len, one.prompts.values())))
        said = ", ".join(f"{answer} {self._known[one.prompts['with']][answer]:.4f}" for answer in ANSWERS)
        trace = {"prompt": one.text, "output": f"nothing is written; probabilities of what would be: {said}"}
        return Prediction(item.id, scores=scores, usage=usage, trace=trace)

    def _ask(self, item: CheckerInput) -> _Asked:
        claim, passages = read_claim(item), read_passages(item)
        if len(passages) > 1:
            raise InputError("several-passages", f"there are {len(passages)} passages; this reads one evidence")
        evidence = passages[0][1]
        without = self._encode(self._text(claim, None))
        self._check_fits(without)
        text, is_truncated = self._text(claim, evidence), False
        prompt = self._encode(text)
        while len(prompt) > self._limit:
            is_truncated = True
            evidence = self._cut(evidence, len(prompt) - self._limit)
            if not evidence.strip():
                self._check_fits(prompt, always=True)
            text = self._text(claim, evidence)
            prompt = self._encode(text)
        return _Asked({"without": without, "with": prompt}, text, is_truncated)

    @property
    def _limit(self) -> int:
        return self._window - self.continuations.longest

    def _check_fits(self, prompt: Tokens, always: bool = False) -> None:
        if always or len(prompt) > self._limit:
            raise InputError(
                "too-long", f"the claim and its prompt have {len(prompt)} tokens and the model reads {self._limit}"
            )

    def _cut(self, evidence: str, excess: int) -> str:
        """The evidence without its last `excess` tokens at least."""
        found = self.loaded.tokenizer(evidence, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        kept = len(found) - excess
        # Never longer than before, whatever the tokenizer makes of characters of several tokens.
        return evidence[: min(found[kept][0], len(evidence) - 1)] if kept > 0 else ""

    def _text(self, claim: str, evidence: str | None) -> str:
        return self.prompts.text(claim, evidence, self.parameters["shots"])

    def _encode(self, text: str) -> Tokens:
        return tuple(self.loaded.tokenizer(text, verbose=False)["input_ids"])

    def _beginning(self, mode: str) -> int:
        """The number of tokens that prompts of this mode begin with whatever the claim."""
        evidence = None if mode == "without" else "."
        return len(commonprefix([self._encode(self._text(claim, evidence)) for claim in ("Zinc", "7, \u00e9")]))


build = AnswerProbabilitiesScorer
