"""Facts and aspects of a long answer, as ICAT has them: which of its atomic claims are supported, and which aspects of
the question the supported ones deal with (Samarinas et al. 2025, arXiv:2501.03545, section 3).

1. Every atomic claim is looked up in the passages of the question (`grounding`): a claim is supported if one of those
   ranked first entails it.
2. The supported claims are aligned with the aspects: by a checker that says of each claim and aspect whether the claim
   covers the aspect (`icat`), or by a language model that is shown all claims and all aspects at once (`icat-server`).
3. An aspect is covered if a supported claim deals with it. What an unsupported claim deals with counts for nothing.

| score | what it is |
|---|---|
| claims, claims_supported | atomic claims of the answer, and those that are supported |
| factuality | the share of the supported ones |
| claims_covering | supported claims that deal with this aspect |
| covered | 1 where there is one |

The first three are the answer's, and the same for all of its aspects. An answer without atomic claims, or a question
without passages, has no scores but a failure that says so. Where one claim cannot be judged, none of the answer's
aspects has scores, since its shares would be of something else.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, Prediction, PredictionError, Usage
from ..inputs import check_text, failed, read_claim
from ..llm import prompts
from ..llm.alignment import PROMPT, Alignable, ask_alignment
from ..llm.asking import Exchange, Server, shares
from .grounding import GroundingScorer

# What a checker is asked about an aspect and a claim.
COVERS = LabelSpace("covers", "coverage", (("covered", 1.0), ("not_covered", 0.0)))
# As many inputs as a worker takes at once, so that the aspects of one answer come together.
SLICE = 256


@dataclass(slots=True)
class _Answer:
    """One answer, with the inputs about its aspects. `covering` has, for each aspect asked about, the places of the
    supported claims that deal with it."""

    question: str
    aspects: tuple[str, ...]
    claims: tuple[str, ...]
    sources: tuple[str, ...]
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

    def align(self, answers: Sequence[_Answer]) -> None:
        """Fill `covering` of each, or its `error`; each has a supported claim."""


# What of its own settings the scorer hands to the checker that aligns.
HANDED_ON = {"embedding": ("device",), "nli": ("device", "model"), "lexical": ()}


class CheckerAligner:
    """Asks a checker of the house about each supported claim and each aspect."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        from ..registry import complete_parameters, get_info  # which lists this module

        # Built here rather than loaded: who builds this holds the lock of the registry's cache.
        info = get_info(parameters["alignment"])
        given = {name: parameters[name] for name in HANDED_ON[info.slug]}
        builder = importlib.import_module(f"models_runtime.checkers.{info.slug}").build
        self.checker = builder(info, (COVERS,), complete_parameters(info, given))

    def describe(self) -> dict[str, Any]:
        return self.checker.describe()

    def align(self, answers: Sequence[_Answer]) -> None:
        asked = [(one, aspect, place) for one in answers for aspect in one.asked for place in one.supported]
        inputs = [
            CheckerInput(str(n), {"claim": aspect, "evidence": one.claims[place], "question": one.question})
            for n, (one, aspect, place) in enumerate(asked)
        ]
        for (one, aspect, place), found in zip(asked, self.checker.predict(inputs), strict=True):
            if found.error:
                one.error = one.error or found.error
            elif found.labels[COVERS.dimension].label == "covered":
                one.covering.setdefault(aspect, set()).add(place)


class ServerAligner:
    """Shows a language model the supported claims of an answer and all aspects at once."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own, "$format") if own else prompts.shipped(PROMPT)

    def describe(self) -> dict[str, Any]:
        return {
            "checker": "aspect-alignment",
            "version": "1",
            "parameters": {},
            **self.server.describe(),
            "prompts": {PROMPT: [self.prompt.described()]},
        }

    def align(self, answers: Sequence[_Answer]) -> None:
        asked = [
            Alignable(one.question, tuple(one.claims[place] for place in one.supported), one.aspects) for one in answers
        ]
        for one, outcome in zip(answers, self.server.ask_each(asked, self._ask), strict=True):
            one.usage = outcome.usage
            if outcome.error:
                one.error = failed(one.work[0][0], outcome.error).error
                continue
            for place, aspects in zip(one.supported, outcome.result or (), strict=True):
                for aspect in aspects:
                    one.covering.setdefault(one.aspects[aspect], set()).add(place)

    def _ask(self, answer: Alignable, exchange: Exchange):
        return ask_alignment(answer, exchange, self.prompt)


class IcatScorer:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any], aligner: Aligner) -> None:
        self.info, self.parameters, self.aligner = info, parameters, aligner
        self.grounding = GroundingScorer(info, (), parameters)
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
        answers: dict[tuple, _Answer] = {}
        places: list[tuple[int, _Answer, int]] = []  # of the input, and of its place among the answer's
        for number, item in enumerate(inputs):
            try:
                aspect, texts = _read(item)
            except InputError as error:
                predictions[number] = failed(item, error)
                continue
            answer = answers.setdefault(texts, _Answer(*texts))
            places.append((number, answer, len(answer.work)))
            answer.work.append((item, aspect))
        self._ground(list(answers.values()))
        self.aligner.align([one for one in answers.values() if one.supported and not one.error])
        for number, answer, place in places:
            predictions[number] = _prediction(answer, place)
        return [predictions[number] for number in range(len(inputs))]

    def _ground(self, answers: Sequence[_Answer]) -> None:
        asked = [
            (one, place, CheckerInput(f"{number}/{place}", {"claim": claim, "passages": one.sources}))
            for number, one in enumerate(answers)
            for place, claim in enumerate(one.claims)
        ]
        found = self.grounding.predict([item for _, _, item in asked])
        for (one, place, _), judged in zip(asked, found, strict=True):
            if judged.error:
                one.error = one.error or judged.error
            elif judged.scores["grounded"]:
                one.supported += (place,)


def _read(item: CheckerInput) -> tuple[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """The aspect, and what an answer is told from others by: the fields of `_Answer` before `work`."""
    aspect = read_claim(item)
    claims, sources = _texts(item, "atomic_claims"), _texts(item, "sources")
    if not claims:
        raise InputError("no-atomic-claims", "the answer has no atomic claims; extract them first", permanent=False)
    if not sources:
        raise InputError("no-passages", "the question has no passages to look the claims up in", permanent=False)
    aspects = tuple(dict.fromkeys((*_texts(item, "aspects"), aspect)))
    return aspect, (check_text("question", item.fields.get("question", "")), aspects, claims, sources)


def _texts(item: CheckerInput, name: str) -> tuple[str, ...]:
    """The texts of a field that are not blank."""
    given = item.fields.get(name, ())
    if not isinstance(given, tuple | list):
        raise InputError("not-text", f"{name} is not a sequence of texts")
    readable = [check_text(f"{name}[{place}]", text) for place, text in enumerate(given)]
    return tuple(text for text in readable if text.strip())


def _prediction(answer: _Answer, place: int) -> Prediction:
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


def build_served(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> IcatScorer:
    return IcatScorer(info, parameters, ServerAligner(parameters))
