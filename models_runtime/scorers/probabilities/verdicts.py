"""What a model is asked about a claim and its evidence, and the scores that its answers' probabilities become.

The same for a model that is loaded here and for one on a server: only how texts become tokens, and how probabilities
are read, differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...contracts import CheckerInput, InputError, ParameterInfo, Prediction, ScoreInfo, Usage
from ...inputs import read_claim, read_passages
from .verdict_prompts import ANSWERS, VerdictPrompts

Tokens = tuple[int, ...]
MODES = ("without", "with")

# Parameters and scores, wherever they are computed.
PARAMETERS = (
    ParameterInfo("shots", "Examples before the claim", "int", 3, 0, 3, hint="0 and 3 are DRUID's two settings."),
    ParameterInfo(
        "normalise",
        "Normalisation of probabilities",
        "str",
        "vocabulary",
        choices=("vocabulary", "answers"),
        hint="vocabulary: over the model's whole vocabulary; answers: over the three answers.",
    ),
    ParameterInfo(
        "max_tokens",
        "Maximum tokens per prompt",
        "int",
        4096,
        64,
        1_000_000,
        hint="At most the model's context window. Longer evidence is truncated at its end.",
    ),
)
SCORES = (
    *tuple(
        score
        for mode, words in (("without", "without evidence"), ("with", "with evidence"))
        for score in (
            *(
                ScoreInfo(f"p_{answer.lower()}_{mode}", f"P({answer}) {words}", 0, 1)
                for answer in ("True", "False", "None")
            ),
            ScoreInfo(f"answers_{mode}", f"Probability of the three answers together, {words}", 0, 1),
        )
    ),
    ScoreInfo("truncated", "Evidence was cut to fit", 0, 1),
)


@dataclass(frozen=True, slots=True)
class PromptPair:
    """What is asked about one input: the token ids of both prompts, and the text of the second."""

    prompts: dict[str, Tokens]
    text: str
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class Asking:
    """`limit` is how many tokens a prompt may have; `encode` gives a text's tokens; `cut(text, excess)` the text
    without its last `excess` tokens at least."""

    prompts: VerdictPrompts
    shots: int
    limit: int
    encode: Callable[[str], Tokens]
    cut: Callable[[str, int], str]

    def text(self, claim: str, evidence: str | None) -> str:
        return self.prompts.text(claim, evidence, self.shots)

    def ask(self, item: CheckerInput) -> PromptPair:
        """Evidence that is too long is cut at its end. InputError where the claim alone is too long."""
        claim, passages = read_claim(item), read_passages(item)
        if len(passages) > 1:
            raise InputError("several-passages", f"there are {len(passages)} passages; this reads one evidence")
        evidence = passages[0][1]
        without = self.encode(self.text(claim, None))
        if len(without) > self.limit:
            raise self._too_long(without)
        text, is_truncated = self.text(claim, evidence), False
        prompt = self.encode(text)
        while len(prompt) > self.limit:
            is_truncated = True
            # Never as long as before, whatever the tokenizer makes of characters of several tokens.
            evidence = self.cut(evidence, len(prompt) - self.limit)[: len(evidence) - 1]
            if not evidence.strip():
                raise self._too_long(prompt)
            text = self.text(claim, evidence)
            prompt = self.encode(text)
        return PromptPair({"without": without, "with": prompt}, text, is_truncated)

    def _too_long(self, prompt: Tokens) -> InputError:
        return InputError(
            "too-long", f"the claim and its prompt have {len(prompt)} tokens and the model reads {self.limit}"
        )


def prediction_of(
    item: CheckerInput, asked: PromptPair, by_mode: Mapping[str, Mapping[str, float]], normalise: str, usage: Usage
) -> Prediction:
    """`found` has, for each mode, the probability of each answer as a share of the whole vocabulary."""
    scores: dict[str, float | None] = {}
    for mode in MODES:
        total = sum(by_mode[mode].values())
        for answer in ANSWERS:
            value = by_mode[mode][answer]
            if normalise == "answers":
                value = value / total if total else None
            scores[f"p_{answer}_{mode}"] = value
        scores[f"answers_{mode}"] = total
    scores["truncated"] = float(asked.is_truncated)
    output = ", ".join(f"{answer} {by_mode['with'][answer]:.4f}" for answer in ANSWERS)
    trace = {"prompt": asked.text, "output": f"nothing is written; probabilities of what would be: {output}"}
    return Prediction(item.id, scores=scores, usage=usage, trace=trace)
