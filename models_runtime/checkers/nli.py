"""Natural language inference with a cross-encoder: any transformers sequence classifier whose labels say entailment.

The text looked in is the premise, what is looked for becomes the hypothesis:

- stance and entailment: the claim as it stands
- correctness: the ground-truth answer in `answer_template`, where the question is given; else as it stands
- coverage: the aspect in `about_template`; the question, told by its question mark, in `question_template`
- relevance: the claim, aspect or question in `about_template`. Where the same text is also judged for its stance,
  evidence that entails or contradicts the claim is relevant too: then relevance is the greater of this and 1 - pN

A premise is read in segments of at most `max_segment_tokens` tokens (`segments.segments`), fewer where the hypothesis
leaves less of the model's window, so nothing is cut off. Segments of all passages merge as in `labels.entailment`; the
segment that decided is the rationale. Of several claims (alternatives) the one that is entailed counts, and of equals
in that the one with the greatest support.

Each distinct pair of a segment and a hypothesis goes through the model once per call, in batches of like length.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelPrediction,
    LabelSpace,
    ModelError,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    ScoreInfo,
    Usage,
)
from ..inputs import check_text, failed, read_claims, read_passages
from ..labels.entailment import (
    ENTAILMENT,
    NEUTRAL,
    MergedVerdict,
    NLIOutput,
    decide,
    knows_contradiction,
    label_of,
    read_label_order,
)
from ..labels.entailment import yes_or_no as label_yes_or_no
from ..labels.labelling import answer, check_spaces, kept_spans, leading, without_answer
from ..loading.batching import Batcher, BatchOutcome, choose_budget
from ..loading.models import load_model, release_memory
from ..loading.parameters import DEVICE, TOKEN_BUDGET
from ..packages import SPACY, TORCH, TRANSFORMERS
from ..provenance import dimensions_of, provenance, versions
from ..texts.segments import segments

# A window that leaves a premise less than this is too small for the hypothesis.
LEAST_PREMISE_TOKENS = 16
# The batch that a CPU's caches hold, which goes fastest.
TOKENS_ON_CPU = 2048
Pair = tuple[str, str]  # premise, hypothesis


MODEL = "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"

INFO = CheckerInfo(
    slug="nli",
    version="1",
    kind="nli",
    title="Natural language inference",
    summary="Reads text and claim together with a model trained to tell entailment, and splits long texts.",
    roles=ROLES,
    needs="cpu",
    packages=(TORCH, TRANSFORMERS, SPACY),
    model=MODEL,
    licence="MIT",
    parameters=(
        ParameterInfo(
            "model",
            "Model",
            "model",
            MODEL,
            hint="A name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
        ),
        DEVICE,
        ParameterInfo(
            "dtype",
            "Precision",
            "str",
            "auto",
            choices=("auto", "float32", "bfloat16", "float16"),
            hint="auto: half on a GPU, float32 on a CPU, where bfloat16 can be faster and differs slightly.",
        ),
        ParameterInfo(
            "rule",
            "Merging of segments",
            "str",
            "refchecker",
            choices=("refchecker", "max-entailment"),
            hint="refchecker: entailed if any segment entails, else contradicted if any contradicts. "
            "max-entailment: entailed if the greatest probability of it is above the threshold.",
        ),
        ParameterInfo(
            "threshold",
            "Threshold of max-entailment",
            "float",
            0.5,
            0,
            1,
            hint="ICAT uses 0.5, the study of sufficient context 0.05.",
        ),
        ParameterInfo(
            "max_segment_tokens",
            "Tokens in a segment",
            "int",
            200,
            16,
            100_000,
            hint="Longer texts are read in segments of whole sentences.",
        ),
        ParameterInfo(
            "about_template",
            "Hypothesis for aspects and relevance",
            "str",
            "This text is about {claim}.",
            hint="{claim} stands for the aspect or claim, {question} for the question.",
            must_hold="{claim}",
        ),
        ParameterInfo(
            "question_template",
            "Hypothesis for questions",
            "str",
            "This text answers the question: {claim}",
            hint="{claim} stands for the question.",
            must_hold="{claim}",
        ),
        ParameterInfo(
            "answer_template",
            "Hypothesis for ground-truth answers",
            "str",
            "The answer to the question “{question}” is {claim}.",
            hint="{claim} stands for the answer, {question} for the question.",
            must_hold="{claim}",
        ),
        TOKEN_BUDGET,
    ),
    scores=(
        ScoreInfo("p_entailment", "Entailment (segment that decided)", 0, 1),
        ScoreInfo("p_neutral", "Neutral (segment that decided)", 0, 1),
        ScoreInfo("p_contradiction", "Contradiction (segment that decided)", 0, 1),
        ScoreInfo("max_entailment", "Greatest entailment of all segments", 0, 1),
        ScoreInfo("relevance", "Relevance", 0, 1),
        ScoreInfo("n_segments", "Segments read", 1),
    ),
)


@dataclass(frozen=True, slots=True)
class _Segment:
    field: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Per role group ('statement', 'relevance', ...) and claim: the hypothesis and the segments to read it against."""

    asked: dict[str, list[tuple[str, list[_Segment]]]]

    def pairs(self) -> list[Pair]:
        return [
            (segment.text, hypothesis)
            for alternatives in self.asked.values()
            for hypothesis, entailment in alternatives
            for segment in entailment
        ]


@dataclass(frozen=True, slots=True)
class _Settled:
    """What decided about one role group: the claim that counts, and its segment."""

    decision: MergedVerdict
    judged: NLIOutput
    segment: _Segment
    hypothesis: str
    n_segments: int
    least_neutral: float | None  # over all segments of the claim that counts


class NLIChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.groups = {space.dimension: _group(space) for space in spaces}
        self.leading_group = self.groups[leading(spaces).dimension]
        self.loaded = load_model("classification", parameters["model"], parameters["device"], parameters["dtype"])
        self.order = read_label_order(self.loaded.model.config.id2label)
        for space in spaces:
            if knows_contradiction(space) and not self.order.is_three_way:
                raise ModelError(
                    f"{parameters['model']} tells entailment from the rest only, and {space.dimension} has labels that "
                    "speak against a claim; choose a model that knows contradiction too"
                )
        self.knows_contradiction = {
            self.groups[space.dimension]: knows_contradiction(space) for space in spaces if space.role != "relevance"
        }
        tokenizer = self.loaded.tokenizer
        self.special_tokens = len(tokenizer("a", "a")["input_ids"]) - 2 * len(
            tokenizer("a", add_special_tokens=False)["input_ids"]
        )
        budget = choose_budget(parameters["token_budget"], self.loaded.device, TOKENS_ON_CPU)
        self.batcher = Batcher(budget, release=release_memory)
        # Inputs come in the order of their units: the triplets of one answer look into the same passages.
        self._cut = functools.lru_cache(maxsize=512)(self._cut_text)

    def describe(self) -> dict[str, Any]:
        return provenance(
            self.info,
            self.parameters,
            self.loaded.describe(),
            token_budget=self.batcher.token_budget,
            labels={str(place): str(name) for place, name in self.loaded.model.config.id2label.items()},
            libraries=versions("transformers", "tokenizers", "torch", "spacy"),
            dimensions=dimensions_of(self.spaces),
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        read = [self._prepare(item) for item in inputs]
        pairs = list(dict.fromkeys(pair for entry in read if isinstance(entry, _Prepared) for pair in entry.pairs()))
        encoded = self._encode(pairs)
        lengths = [len(one["input_ids"]) for one in encoded]
        begun = time.perf_counter()
        outcome = self.batcher.run(encoded, lengths, self._judge) if pairs else BatchOutcome([], {})
        seconds_per_token = (time.perf_counter() - begun) / max(1, sum(lengths))
        places = {pair: place for place, pair in enumerate(pairs)}
        return [
            self._answer(item, entry, places, outcome, lengths, seconds_per_token)
            for item, entry in zip(inputs, read, strict=True)
        ]

    def _prepare(self, item: CheckerInput) -> _Prepared | Prediction:
        """What is to be judged, or the prediction where nothing is."""
        try:
            if prediction := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
                return prediction
            claims, passages = read_claims(item), read_passages(item)
            question = check_text("question", item.fields.get("question", ""))
            asked = {}
            for group in dict.fromkeys(self.groups.values()):
                hypotheses = dict.fromkeys(self._hypothesis(group, claim, question) for claim in claims)
                asked[group] = [(hypothesis, self._segments(hypothesis, passages)) for hypothesis in hypotheses]
            return _Prepared(asked)
        except Exception as error:
            return failed(item, error)

    def _hypothesis(self, group: str, claim: str, question: str) -> str:
        claim, question = claim.strip(), question.strip()
        template = "{claim}"
        if group == "relevance":
            template = self.parameters["about_template"]
        elif group == "coverage":
            template = self.parameters["question_template" if claim.endswith("?") else "about_template"]
        elif group == "correctness" and question:
            template = self.parameters["answer_template"]
        if template != "{claim}":
            claim = claim.rstrip(". ") or claim
        # In one pass, so that braces in a question or claim are nobody's place-holder.
        before, _, after = template.partition("{claim}")
        return before.replace("{question}", question) + claim + after.replace("{question}", question)

    def _count(self, texts: list[str]) -> list[int]:
        ids = self.loaded.tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        return [len(one) for one in ids]

    def _segments(self, hypothesis: str, passages: list[tuple[str, str]]) -> list[_Segment]:
        size = self.parameters["max_segment_tokens"]
        if self.loaded.window is not None:
            (used,) = self._count([hypothesis])
            room = self.loaded.window - self.special_tokens - used
            if room < LEAST_PREMISE_TOKENS:
                raise InputError(
                    "claim-too-long",
                    f"the claim has {used} tokens, and the model reads {self.loaded.window} of claim and text together",
                )
            size = min(size, room)
        return [
            _Segment(field, start, end, text[start:end])
            for field, text in passages
            for start, end in self._cut(text, size)
        ]

    def _cut_text(self, text: str, size: int) -> list[tuple[int, int]]:
        return segments(text, size, self._count)

    def _encode(self, pairs: list[Pair]) -> list[dict[str, list[int]]]:
        if not pairs:
            return []
        premises, hypotheses = map(list, zip(*pairs, strict=True))
        encoded = self.loaded.tokenizer(premises, hypotheses, truncation=False, padding=False, verbose=False)
        return [{name: encoded[name][place] for name in encoded} for place in range(len(pairs))]

    def _judge(self, encoded: list[dict[str, list[int]]]) -> list[NLIOutput]:
        import torch

        # On the right whatever the tokenizer says: padding on the left would shift the positions that models count.
        pad = self.loaded.tokenizer.pad
        batch = pad(encoded, padding=True, padding_side="right", return_tensors="pt").to(self.loaded.device)
        with torch.inference_mode():
            rows = self.loaded.model(**batch).logits.float().softmax(-1).cpu().tolist()
        if not all(math.isfinite(value) for row in rows for value in row):
            # An overflow in half precision; no comparison would notice it.
            raise ArithmeticError("the model's answer is not finite")
        order = self.order
        if not order.is_three_way:
            return [NLIOutput(row[order.entailment]) for row in rows]
        return [NLIOutput(row[order.entailment], row[order.neutral], row[order.contradiction]) for row in rows]

    def _answer(
        self,
        item: CheckerInput,
        entry: _Prepared | Prediction,
        places: dict[Pair, int],
        outcome: BatchOutcome,
        lengths: list[int],
        seconds_per_token: float,
    ) -> Prediction:
        if isinstance(entry, Prediction):
            return entry
        own = {places[pair] for pair in entry.pairs()}
        for place in own:
            if error := outcome.failures.get(place):
                message = f"{type(error).__name__}: {error}"
                return failed(item, InputError("model-failed", message, permanent=False))
        settled = {
            group: self._settle(
                group, [(*one, [outcome.values[places[s.text, one[0]]] for s in one[1]]) for one in asked]
            )
            for group, asked in entry.asked.items()
        }
        labels = answer(self.spaces, lambda space: self._label(space, settled))
        lead = settled[self.leading_group]
        span = PredictedSpan(
            lead.segment.field, lead.segment.start, lead.segment.end, lead.segment.text, _probability(lead)
        )
        tokens = sum(lengths[place] for place in own)
        return Prediction(
            item.id,
            labels,
            self._scores(settled),
            kept_spans(self.spaces, labels, span),
            usage=Usage(prompt_tokens=tokens, device_seconds=tokens * seconds_per_token),
            trace={
                "prompt": f"Premise: {lead.segment.text}\n\nHypothesis: {lead.hypothesis}",
                "output": ", ".join(f"{name} {value:.4f}" for name, value in _named(lead.judged).items()),
            },
        )

    def _settle(self, group: str, alternatives: list[tuple[str, list[_Segment], list[NLIOutput]]]) -> _Settled:
        readings = []
        for hypothesis, read, judged in alternatives:
            decision = decide(
                self.parameters["rule"],
                self.parameters["threshold"],
                judged,
                knows_contradiction=self.knows_contradiction.get(group, False),
            )
            neutral = [one.neutral for one in judged if one.neutral is not None]
            place = decision.place
            readings.append(
                _Settled(decision, judged[place], read[place], hypothesis, len(read), min(neutral, default=None))
            )
        sided = self.knows_contradiction.get(group, False)
        return max(
            readings,
            key=lambda one: (
                one.decision.verdict == ENTAILMENT,
                one.judged.support if sided else one.decision.max_entailment,
            ),
        )

    def _label(self, space: LabelSpace, settled: dict[str, _Settled]) -> LabelPrediction:
        reading = settled[self.groups[space.dimension]]
        if space.role != "relevance":
            return label_of(space, reading.decision.verdict, reading.judged)
        share = self._relevance(settled)
        threshold = self.parameters["threshold"] if self.parameters["rule"] == "max-entailment" else 0.5
        return label_yes_or_no(space, share, share > threshold)

    def _relevance(self, settled: dict[str, _Settled]) -> float:
        share = settled["relevance"].decision.max_entailment
        stance = settled.get("statement")
        return share if stance is None or stance.least_neutral is None else max(share, 1 - stance.least_neutral)

    def _scores(self, settled: dict[str, _Settled]) -> dict[str, float | None]:
        lead = settled[self.leading_group]
        return {
            "p_entailment": lead.judged.entailment,
            "p_neutral": lead.judged.neutral,
            "p_contradiction": lead.judged.contradiction,
            "max_entailment": lead.decision.max_entailment,
            "relevance": self._relevance(settled) if "relevance" in settled else None,
            "n_segments": float(lead.n_segments),
        }


def _group(space: LabelSpace) -> str:
    """Spaces of one group are answered from the same hypothesis."""
    return "statement" if space.role in ("stance", "entailment") else space.role


def _named(judged: NLIOutput) -> dict[str, float]:
    if judged.contradiction is None:
        return {"entailment": judged.entailment, "not entailment": 1 - judged.entailment}
    return {"entailment": judged.entailment, "neutral": judged.neutral, "contradiction": judged.contradiction}


def _probability(settled: _Settled) -> float:
    """Of the merged verdict, in the segment that decided."""
    judged, verdict = settled.judged, settled.decision.verdict
    if verdict == ENTAILMENT:
        return judged.entailment
    if verdict == NEUTRAL:
        return 1 - judged.entailment if judged.neutral is None else judged.neutral
    return judged.contradiction


build = NLIChecker
