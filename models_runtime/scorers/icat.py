"""Facts and aspects of a long answer, as ICAT has them: which of its atomic claims are supported, and which aspects of
the question the supported ones deal with (Samarinas et al. 2025, arXiv:2501.03545, section 3).

1. Every atomic claim is looked up in evidence of its own, such as a retrieval for it found, or else in the passages of
   the question (`grounding`): a claim is supported if one of those ranked first entails it. Where others have evidence
   and a claim has nothing to look in, it is not supported.
2. The supported claims are aligned with the aspects: by a checker that says of each claim and aspect whether the claim
   covers the aspect (`icat`), or by a language model that is shown all claims and all aspects at once (`icat-server`).
3. An aspect is covered if a supported claim deals with it. What an unsupported claim deals with counts for nothing.

| score | what it is |
|---|---|
| claims, claims_supported | atomic claims of the answer, and those that are supported |
| factuality | the share of the supported ones |
| claims_covering | supported claims that deal with this aspect |
| covered | 1 where there is one |

The first three are the answer's, and the same for all of its aspects. An answer without atomic claims, or without any
text to look them up in, has no scores but a failure that says so. Where one claim cannot be judged, none of the
answer's aspects has scores, since its shares would be of something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..building import build_entry
from ..checkers import embedding, lexical, nli
from ..contracts import (
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ParameterInfo,
    Prediction,
    PredictionError,
    ScoreInfo,
    Usage,
)
from ..inputs import check_text, failed, read_claim
from ..llm.asking import shares
from ..packages import MINILM, SENTENCE_TRANSFORMERS
from . import grounding

# What a checker is asked about an aspect and a claim.
COVERS = LabelSpace("covers", "coverage", (("covered", 1.0), ("not_covered", 0.0)))
# As many inputs as a worker takes at once, so that the aspects of one answer come together.
SLICE = 256
SCORES = (
    ScoreInfo("claims", "Atomic claims of the answer", 1),
    ScoreInfo("claims_supported", "Supported claims of the answer", 0),
    ScoreInfo("factuality", "Factuality of the answer", 0, 1),
    ScoreInfo("claims_covering", "Supported claims that deal with the aspect", 0),
    ScoreInfo("covered", "Aspect covered by a supported claim", 0, 1),
)
_ALIGNMENT = ParameterInfo(
    "alignment",
    "Alignment of claims with aspects",
    "str",
    "embedding",
    choices=("embedding", "nli", "lexical"),
    hint="embedding: by similarity of embeddings. nli: by the inference model. lexical: by shared words.",
)
INFO = CheckerInfo(
    slug="icat",
    version="1",
    kind="icat",
    title="Facts and aspects (ICAT)",
    summary="Finds the atomic claims of the answer that their evidence or the question's passages support, and the "
    "aspects that these cover. It needs atomic claims of the answers, and evidence for these or for the questions.",
    roles=(),
    needs="cpu",
    packages=(*grounding.INFO.packages, SENTENCE_TRANSFORMERS, MINILM),
    model=nli.MODEL,
    licence="MIT",
    gives="scores",
    parameters=(_ALIGNMENT, *grounding.PARAMETERS),
    scores=SCORES,
)


@dataclass(slots=True)
class AnswerAspects:
    """One answer, with the inputs about its aspects. `covering` has, for each aspect asked about, the places of the
    supported claims that deal with it."""

    question: str
    aspects: tuple[str, ...]
    claims: tuple[str, ...]
    sources: tuple[str, ...]
    claim_sources: tuple[tuple[str, ...], ...] = ()  # of each claim, where claims have evidence of their own
    work: list[tuple[CheckerInput, str]] = field(default_factory=list)  # with the aspect
    supported: tuple[int, ...] = ()
    covering: dict[str, set[int]] = field(default_factory=dict)
    error: PredictionError | None = None
    usage: Usage | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(aspect for _, aspect in self.work))


class Aligner(Protocol):
    def describe(self) -> dict[str, Any]: ...

    def align(self, answers: Sequence[AnswerAspects]) -> None:
        """Fill `covering` of each, or its `error`; each has a supported claim."""


# The checkers that may align, with what of its own settings the scorer hands to them.
CHECKERS = {"embedding": (embedding, ("device",)), "nli": (nli, ("device", "model")), "lexical": (lexical, ())}


class CheckerAligner:
    """Asks one of Assay's checkers about each supported claim and each aspect."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        checker, names = CHECKERS[parameters["alignment"]]
        self.checker = build_entry(checker, {name: parameters[name] for name in names}, (COVERS,))

    def describe(self) -> dict[str, Any]:
        return self.checker.describe()

    def align(self, answers: Sequence[AnswerAspects]) -> None:
        asked = [(one, aspect, place) for one in answers for aspect in one.asked for place in one.supported]
        inputs = [
            CheckerInput(str(n), {"claim": aspect, "evidence": one.claims[place], "question": one.question})
            for n, (one, aspect, place) in enumerate(asked)
        ]
        for (one, aspect, place), prediction in zip(asked, self.checker.predict(inputs), strict=True):
            if prediction.error:
                one.error = one.error or prediction.error
            elif prediction.labels[COVERS.dimension].label == "covered":
                one.covering.setdefault(aspect, set()).add(place)


class IcatScorer:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any], aligner: Aligner) -> None:
        self.info, self.parameters, self.aligner = info, parameters, aligner
        self.grounding = grounding.GroundingScorer(info, (), parameters)
        self.slice_at_least = SLICE

    def describe(self) -> dict[str, Any]:
        grounded, aligned = self.grounding.describe(), self.aligner.describe()
        served = {name: aligned[name] for name in ("endpoint", "prompts") if name in aligned}
        return {
            **{name: grounded[name] for name in ("checker", "version", "device", "ranked_by", "judged_by")},
            "model": grounded["model"],
            "revision": grounded["revision"],
            "parameters": dict(self.parameters),
            "aligned_by": {name: aligned[name] for name in ("checker", "version", "model", "revision", "parameters")},
            **served,
            "libraries": grounded["libraries"] | aligned["libraries"],
            "dimensions": [],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """UnavailableError where a server is away for too long."""
        predictions: dict[int, Prediction] = {}
        answers: dict[tuple, AnswerAspects] = {}
        places: list[tuple[int, AnswerAspects, int]] = []  # of the input, and of its place among the answer's
        for number, item in enumerate(inputs):
            try:
                aspect, texts = _read(item)
            except InputError as error:
                predictions[number] = failed(item, error)
                continue
            answer = answers.setdefault(texts, AnswerAspects(*texts))
            places.append((number, answer, len(answer.work)))
            answer.work.append((item, aspect))
        self._ground(list(answers.values()))
        self.aligner.align([one for one in answers.values() if one.supported and not one.error])
        for number, answer, place in places:
            predictions[number] = _prediction(answer, place)
        return [predictions[number] for number in range(len(inputs))]

    def _ground(self, answers: Sequence[AnswerAspects]) -> None:
        asked = [
            (one, place, CheckerInput(f"{number}/{place}", {"claim": claim, "passages": texts}))
            for number, one in enumerate(answers)
            for place, claim in enumerate(one.claims)
            if (texts := (one.claim_sources[place] if one.claim_sources else ()) or one.sources)
        ]
        predictions = self.grounding.predict([item for _, _, item in asked])
        for (one, place, _), judged in zip(asked, predictions, strict=True):
            if judged.error:
                one.error = one.error or judged.error
            elif judged.scores["grounded"]:
                one.supported += (place,)


def _read(item: CheckerInput) -> tuple[str, tuple]:
    """The aspect, and what distinguishes an answer from others: the fields of `AnswerAspects` before `work`."""
    aspect = read_claim(item)
    claims, sources = _texts(item, "atomic_claims"), _texts(item, "sources")
    if not claims:
        raise InputError("no-atomic-claims", "the answer has no atomic claims; extract them first", permanent=False)
    own = item.fields.get("claim_sources", ())
    listed = item.fields.get("atomic_claims", ())
    of_claims = tuple(tuple(own[place]) for place, text in enumerate(listed) if text.strip()) if own else ()
    if not sources and not any(of_claims):
        message = "neither the claims nor the question have passages to look the claims up in"
        raise InputError("no-passages", message, permanent=False)
    aspects = tuple(dict.fromkeys((*_texts(item, "aspects"), aspect)))
    return aspect, (check_text("question", item.fields.get("question", "")), aspects, claims, sources, of_claims)


def _texts(item: CheckerInput, name: str) -> tuple[str, ...]:
    """The texts of a field that are not blank."""
    texts = item.fields.get(name, ())
    if not isinstance(texts, tuple | list):
        raise InputError("not-text", f"{name} is not a sequence of texts")
    readable = [check_text(f"{name}[{place}]", text) for place, text in enumerate(texts)]
    return tuple(text for text in readable if text.strip())


def _prediction(answer: AnswerAspects, place: int) -> Prediction:
    item, aspect = answer.work[place]
    usage = shares(answer.usage, len(answer.work))[place] if answer.usage else None
    if answer.error:
        return Prediction(item.id, error=answer.error, usage=usage)
    covering = answer.covering.get(aspect, set())
    scores = {
        "claims": float(len(answer.claims)),
        "claims_supported": float(len(answer.supported)),
        "factuality": len(answer.supported) / len(answer.claims),
        "claims_covering": float(len(covering)),
        "covered": float(bool(covering)),
    }
    supported = set(answer.supported)
    listed = [
        f"{n}. [{'covers it' if n - 1 in covering else 'supported' if n - 1 in supported else 'not supported'}] {claim}"
        for n, claim in enumerate(answer.claims, 1)
    ]
    trace = {"prompt": f"Aspect: {aspect}", "output": "\n".join(listed)}
    return Prediction(item.id, scores=scores, usage=usage, trace=trace)


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> IcatScorer:
    return IcatScorer(info, parameters, CheckerAligner(parameters))
