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
from collections.abc import Callable, Mapping, Sequence
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
from ..loading.parameters import DEVICE, DTYPE, TOKEN_BUDGET
from ..loading.tokens import Tokens, count_tokens, encode, padded, to_device
from ..packages import SPACY, TORCH, TRANSFORMERS
from ..provenance import dimensions_of, provenance, versions
from ..texts.segments import segments, whole_texts
from ..texts.splitting import content_bounds

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
        DTYPE,
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
class _Question:
    """What an input asks: per role group ('statement', 'relevance', ...) the hypotheses, and where to look."""

    hypotheses: dict[str, list[str]]
    passages: list[tuple[str, str]]

    @property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(text for group in self.hypotheses.values() for text in group))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Per role group and claim: the hypothesis and the segments to read it against."""

    asked: dict[str, list[tuple[str, list[_Segment]]]]

    def pairs(self) -> list[Pair]:
        return [
            (segment.text, hypothesis)
            for alternatives in self.asked.values()
            for hypothesis, entailment in alternatives
            for segment in entailment
        ]


@dataclass(frozen=True, slots=True)
class _Ready:
    """Inputs as the model reads them: what each asks, or its prediction where nothing is to be asked, and the distinct
    pairs of all with their tokens."""

    entries: list[_Prepared | Prediction]
    places: dict[Pair, int]
    rows: list[Tokens]


@dataclass(frozen=True, slots=True)
class _GroupReading:
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
        self.works_ahead = self.loaded.device != "cpu"  # a CPU has nothing to wait for
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

    def predict(self, inputs: Sequence[CheckerInput], ready: _Ready | None = None) -> list[Prediction]:
        """`ready` is what `prepare` made of the same inputs."""
        ready = ready or self.prepare(inputs)
        lengths = [len(row) for row in ready.rows]
        begun = time.perf_counter()
        outcome = self._judged(ready.rows, lengths)
        seconds_per_token = (time.perf_counter() - begun) / max(1, sum(lengths))
        return [
            self._answer(item, entry, ready.places, outcome, lengths, seconds_per_token)
            for item, entry in zip(inputs, ready.entries, strict=True)
        ]

    def prepare(self, inputs: Sequence[CheckerInput]) -> _Ready:
        """All that is done before the model is asked; may run in a thread while the model answers other inputs."""
        read = [self._question(item) for item in inputs]
        questions = [one for one in read if isinstance(one, _Question)]
        hypotheses = list(dict.fromkeys(text for one in questions for text in one.distinct))
        used = dict(zip(hypotheses, count_tokens(self.loaded.tokenizer, hypotheses), strict=True))
        sizes = {text: self._segment_size(used[text]) for text in hypotheses}
        looked_in = {  # a text and a hypothesis that it is read with
            (text, hypothesis): sizes[hypothesis]
            for one in questions
            for hypothesis in one.distinct
            for _, text in one.passages
            if sizes[hypothesis] >= LEAST_PREMISE_TOKENS
        }
        bounds = {text: content_bounds(text) for text, _ in looked_in}
        hypothesis_of = {text[slice(*found)]: one for (text, one) in looked_in if (found := bounds[text])}
        rows: dict[Pair, Tokens] = {}

        def count(texts: list[str]) -> list[int]:
            # As the first part of a pair, since most texts fit, and are tokenized once then.
            pairs = [(text, hypothesis_of[text]) for text in texts]
            rows.update(self._encoded(pairs))
            return [len(rows[pair]) - self.special_tokens - used[pair[1]] for pair in pairs]

        whole = whole_texts({(text, size) for (text, _), size in looked_in.items()}, bounds, count)

        def cut(text: str, hypothesis: str) -> list[tuple[int, int]]:
            size = sizes[hypothesis]
            return [whole[text, size]] if (text, size) in whole else self._cut(text, size)

        entries = [
            self._prepared(item, one, used, sizes, cut) if isinstance(one, _Question) else one
            for item, one in zip(inputs, read, strict=True)
        ]
        pairs = dict.fromkeys(pair for one in entries if isinstance(one, _Prepared) for pair in one.pairs())
        rows |= self._encoded([pair for pair in pairs if pair not in rows])
        return _Ready(entries, {pair: place for place, pair in enumerate(pairs)}, [rows[pair] for pair in pairs])

    def _encoded(self, pairs: list[Pair]) -> dict[Pair, Tokens]:
        return dict(zip(pairs, encode(self.loaded.tokenizer, pairs), strict=True))

    def _question(self, item: CheckerInput) -> _Question | Prediction:
        """What is to be judged, or the prediction where nothing is."""
        try:
            if prediction := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
                return prediction
            claims, passages = read_claims(item), read_passages(item)
            question = check_text("question", item.fields.get("question", ""))
            hypotheses = {
                group: list(dict.fromkeys(self._hypothesis(group, claim, question) for claim in claims))
                for group in dict.fromkeys(self.groups.values())
            }
            return _Question(hypotheses, passages)
        except Exception as error:
            return failed(item, error)

    def _prepared(
        self,
        item: CheckerInput,
        question: _Question,
        used: Mapping[str, int],
        sizes: Mapping[str, int],
        cut: Callable[[str, str], list[tuple[int, int]]],
    ) -> _Prepared | Prediction:
        try:
            asked = {}
            for group, hypotheses in question.hypotheses.items():
                for hypothesis in hypotheses:
                    if sizes[hypothesis] < LEAST_PREMISE_TOKENS:
                        raise InputError(
                            "claim-too-long",
                            f"the claim has {used[hypothesis]} tokens, and the model reads {self.loaded.window} of "
                            "claim and text together",
                        )
                asked[group] = [
                    (
                        hypothesis,
                        [
                            _Segment(field, start, end, text[start:end])
                            for field, text in question.passages
                            for start, end in cut(text, hypothesis)
                        ],
                    )
                    for hypothesis in hypotheses
                ]
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

    def _segment_size(self, used: int) -> int:
        """The most tokens of a segment that is read with a hypothesis of `used` tokens."""
        most = self.parameters["max_segment_tokens"]
        return most if self.loaded.window is None else min(most, self.loaded.window - self.special_tokens - used)

    def _cut_text(self, text: str, size: int) -> list[tuple[int, int]]:
        return segments(text, size, functools.partial(count_tokens, self.loaded.tokenizer))

    def _judged(self, rows: list[Tokens], lengths: list[int]) -> BatchOutcome:
        """NLIOutput of each row. What the batches give stays on the device until all have been started, so that it
        never waits for one to be read."""
        import torch

        outcome = self.batcher.run(rows, lengths, self._probabilities)
        there = [place for place, value in enumerate(outcome.values) if value is not None]
        if not there:
            return outcome
        read = torch.stack([outcome.values[place] for place in there]).cpu().tolist()
        values, failures, order = list(outcome.values), dict(outcome.failures), self.order
        for place, row in zip(there, read, strict=True):
            if not all(map(math.isfinite, row)):
                # An overflow in half precision; no comparison would notice it.
                values[place], failures[place] = None, ArithmeticError("the model's answer is not finite")
            elif order.is_three_way:
                values[place] = NLIOutput(row[order.entailment], row[order.neutral], row[order.contradiction])
            else:
                values[place] = NLIOutput(row[order.entailment])
        return BatchOutcome(values, failures)

    def _probabilities(self, rows: list[Tokens]) -> list[Any]:
        import torch

        batch = to_device(padded(self.loaded.tokenizer, rows), self.loaded.device)
        with torch.inference_mode():
            return list(self.loaded.model(**batch).logits.float().softmax(-1))

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
        readings = {
            group: self._read_group(
                group, [(*one, [outcome.values[places[s.text, one[0]]] for s in one[1]]) for one in asked]
            )
            for group, asked in entry.asked.items()
        }
        labels = answer(self.spaces, lambda space: self._label(space, readings))
        lead = readings[self.leading_group]
        span = PredictedSpan(
            lead.segment.field, lead.segment.start, lead.segment.end, lead.segment.text, _probability(lead)
        )
        tokens = sum(lengths[place] for place in own)
        return Prediction(
            item.id,
            labels,
            self._scores(readings),
            kept_spans(self.spaces, labels, span),
            usage=Usage(prompt_tokens=tokens, device_seconds=tokens * seconds_per_token),
            trace={
                "prompt": f"Premise: {lead.segment.text}\n\nHypothesis: {lead.hypothesis}",
                "output": ", ".join(f"{name} {value:.4f}" for name, value in _named(lead.judged).items()),
            },
        )

    def _read_group(self, group: str, alternatives: list[tuple[str, list[_Segment], list[NLIOutput]]]) -> _GroupReading:
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
                _GroupReading(decision, judged[place], read[place], hypothesis, len(read), min(neutral, default=None))
            )
        sided = self.knows_contradiction.get(group, False)
        return max(
            readings,
            key=lambda one: (
                one.decision.verdict == ENTAILMENT,
                one.judged.support if sided else one.decision.max_entailment,
            ),
        )

    def _label(self, space: LabelSpace, readings: dict[str, _GroupReading]) -> LabelPrediction:
        reading = readings[self.groups[space.dimension]]
        if space.role != "relevance":
            return label_of(space, reading.decision.verdict, reading.judged)
        share = self._relevance(readings)
        threshold = self.parameters["threshold"] if self.parameters["rule"] == "max-entailment" else 0.5
        return label_yes_or_no(space, share, share > threshold)

    def _relevance(self, readings: dict[str, _GroupReading]) -> float:
        share = readings["relevance"].decision.max_entailment
        stance = readings.get("statement")
        return share if stance is None or stance.least_neutral is None else max(share, 1 - stance.least_neutral)

    def _scores(self, readings: dict[str, _GroupReading]) -> dict[str, float | None]:
        lead = readings[self.leading_group]
        return {
            "p_entailment": lead.judged.entailment,
            "p_neutral": lead.judged.neutral,
            "p_contradiction": lead.judged.contradiction,
            "max_entailment": lead.decision.max_entailment,
            "relevance": self._relevance(readings) if "relevance" in readings else None,
            "n_segments": float(lead.n_segments),
        }


def _group(space: LabelSpace) -> str:
    """Spaces of one group are answered from the same hypothesis."""
    return "statement" if space.role in ("stance", "entailment") else space.role


def _named(judged: NLIOutput) -> dict[str, float]:
    if judged.contradiction is None:
        return {"entailment": judged.entailment, "not entailment": 1 - judged.entailment}
    return {"entailment": judged.entailment, "neutral": judged.neutral, "contradiction": judged.contradiction}


def _probability(reading: _GroupReading) -> float:
    """Of the merged verdict, in the segment that decided."""
    judged, verdict = reading.judged, reading.decision.verdict
    if verdict == ENTAILMENT:
        return judged.entailment
    if verdict == NEUTRAL:
        return 1 - judged.entailment if judged.neutral is None else judged.neutral
    return judged.contradiction


build = NLIChecker
