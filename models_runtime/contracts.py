"""What every checker takes and gives. Nothing here imports anything but the standard library.

A checker answers `LabelSpace`s, which the caller hands over, about `CheckerInput`s, and gives one `Prediction` per
input: `predict(inputs)` keeps order and length, and an input that cannot be answered fails alone, with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

# What a question is about. A checker declares which of these it can answer.
#   relevance    does the passage bear on the claim? polarity from 0 (no) to 1 (yes)
#   coverage     does the text say what the claim asks for, be it a topic or a question? polarity from 0 to 1
#   stance       what does the evidence say about the claim? polarity from -1 (against) to 1 (for)
#   entailment   do the passages entail the claim? polarity from -1 (contradicted) to 1 (entailed)
#   correctness  does the text give the answer that the claim names? polarity from -1 (wrong) to 1 (right)
ROLES = ("relevance", "coverage", "stance", "entailment", "correctness")


@dataclass(frozen=True, slots=True)
class LabelSpace:
    """One question to answer.

    `labels` are pairs of a value and its polarity; a label with polarity None lies outside the scale, and a checker
    that only measures polarity never predicts it. `asked_when` names another dimension and the labels of it under
    which this one is asked. `span_field` is the field of the input whose spans belong to the answer, `evidence` or
    `passages`; `span_labels` are the labels that may carry them, all where empty. `no_answer` is the label of a text
    that is no answer at all (empty, or "I don't know"; see `abstention`), whatever the claim.

    The rest is for checkers that read words, and may be left out: `question` is what people are asked, `meanings` are
    pairs of a label and its description for people, `called` is what they call the text to find and the one to look in.
    """

    dimension: str
    role: str
    labels: tuple[tuple[str, float | None], ...]
    asked_when: tuple[str, tuple[str, ...]] | None = None
    span_field: str | None = None
    span_labels: tuple[str, ...] = ()
    no_answer: str | None = None
    question: str = ""
    meanings: tuple[tuple[str, str], ...] = ()
    called: tuple[str, str] = ("claim", "evidence")

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise SpaceError(f"{self.dimension}: role {self.role!r} is not one of {', '.join(ROLES)}")
        values = self.values
        if not values or len(set(values)) != len(values):
            raise SpaceError(f"{self.dimension}: labels must be given and distinct, not {values!r}")
        for value, polarity in self.labels:
            if polarity is not None and not -1 <= polarity <= 1:
                raise SpaceError(f"{self.dimension}: polarity of {value!r} is {polarity}, outside -1 to 1")
        for value in (*self.span_labels, *((self.no_answer,) if self.no_answer is not None else ())):
            if value not in values:
                raise SpaceError(f"{self.dimension} has no label {value!r}; it has {', '.join(values)}")

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for value, _ in self.labels)

    def takes_spans_of(self, field: str) -> bool:
        """Whether spans of this field of the input (`evidence`, `passages[i]`) belong to the answer."""
        return self.span_field == field.partition("[")[0]

    def may_carry(self, label: str) -> bool:
        """Whether an answer with this label may carry spans."""
        return self.span_field is not None and (not self.span_labels or label in self.span_labels)


# Ready-made questions for notebooks; the web app hands over its own.
RELEVANCE = LabelSpace("relevance", "relevance", (("relevant", 1.0), ("not_relevant", 0.0)))
STANCE = LabelSpace(
    "stance", "stance", (("refutes", -1.0), ("not_enough_info", 0.0), ("supports", 1.0)), span_field="evidence"
)
ENTAILMENT = LabelSpace("entailment", "entailment", (("entailment", 1.0), ("neutral", 0.0), ("contradiction", -1.0)))


@dataclass(frozen=True, slots=True)
class CheckerInput:
    """One unit to judge. `fields` has what is to be found and where to look.

    `claim` is one text (the hypothesis, an aspect, a question), or `claims` are alternatives: texts; the best one
    counts (ground-truth answers, pieces of gold evidence). `evidence` is one text to look in, or
    `passages` are several. `question` may come with them: what was asked, for checkers that read it.

    >>> CheckerInput("1", {"claims": ("1963", "in early 1963"), "evidence": "It froze in 1963."}).fields["evidence"]
    'It froze in 1963.'
    """

    id: str
    fields: dict[str, str | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class LabelPrediction:
    """The predicted label, its probability, and the probability of every label of the space (they sum to 1).

    A checker that cannot tell how sure it is gives None, and no probabilities. `explanation` is what it says of its
    reasons, where it gives some.
    """

    label: str
    probability: float | None
    probabilities: dict[str, float]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class PredictedSpan:
    """A stretch of a field that the answer rests on: code points, end exclusive, `quote == text[start:end]`.

    `field` is `evidence`, or `passages[i]` for the passage that decided. `score` is None where there is none.
    """

    field: str
    start: int
    end: int
    quote: str
    score: float | None = None


# Reasons of failures that are no fault of what was asked, once it is known that the server refuses everything.
OF_THE_SERVER = ("rejected", "server-error")


@dataclass(frozen=True, slots=True)
class PredictionError:
    """Why there is no answer. `reason` is a slug to count by; a permanent error would come again on a retry."""

    reason: str
    message: str
    permanent: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What answers cost: tokens sent and received, and seconds of the machine that computed them. Adds up.

    >>> Usage(12, 1) + Usage(30, 2, device_seconds=0.5)
    Usage(prompt_tokens=42, completion_tokens=3, device_seconds=0.5)
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    device_seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.device_seconds + other.device_seconds,
        )


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer about one input. A score that is undefined for it is None; labels not asked are absent.

    `usage` is what this input cost, failed ones included; None where the checker does not count, and the caller may
    then measure time itself. `trace` shows how the answer came about, for people: JSON with `prompt` (messages or text
    as sent) and `output` (the raw answer). Callers store it for some inputs, cut to a limit.
    """

    id: str
    labels: dict[str, LabelPrediction] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)
    spans: tuple[PredictedSpan, ...] = ()
    error: PredictionError | None = None
    usage: Usage | None = None
    trace: dict[str, Any] | None = None


class Checker(Protocol):
    """One that works on several inputs at the same time may say with an attribute `slice_at_least` how many it wants in
    one call. One with an attribute `works_ahead` that is true has a method `prepare(inputs)`, whose result `predict`
    takes as `ready`: it is called in a thread while `predict` answers other inputs in another one."""

    def describe(self) -> dict[str, Any]:
        """Provenance, JSON-serialisable: checker, version, model, revision (hash of the weights), parameters,
        device, libraries (name to version), dimensions answered."""

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        """One prediction per input, in the order of the inputs."""


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """One setting of a checker: enough to derive a form field and to check a value."""

    name: str
    title: str
    # float | int | str | model (a name or folder) | bool; and, or empty: prompt | examples | endpoint (a name)
    kind: str
    default: float | int | str | bool
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    hint: str = ""
    must_hold: str = ""  # a place-holder that a text must have


@dataclass(frozen=True, slots=True)
class ScoreInfo:
    """One number that a checker gives in addition to its labels. low and high are the ends of its range, None where
    open."""

    name: str
    title: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Package:
    """A package that must be importable as `module`; `requirement` is what pip installs."""

    module: str
    requirement: str


@dataclass(frozen=True, slots=True)
class CheckerInfo:
    """What is known about a checker without loading it."""

    slug: str
    version: str  # raised whenever the same input may get another answer
    kind: str  # lexical | embedding | fake | ...
    title: str
    summary: str
    roles: tuple[str, ...]
    needs: str  # cpu | gpu | server: also the queue its work belongs to
    packages: tuple[Package, ...] = ()
    model: str = ""  # the default model; empty where there is none
    licence: str = ""
    parameters: tuple[ParameterInfo, ...] = ()
    scores: tuple[ScoreInfo, ...] = ()
    # labels, with scores or without; or scores alone, whatever the question; or pieces of a text
    # (`extractors.contracts`), of the kinds that `roles` then names; or rankings of passages (`retrieval.contracts`);
    # or answers to questions (`generators.contracts`).
    gives: str = "labels"  # labels | scores | pieces | rankings | texts

    @property
    def gives_scores(self) -> bool:
        """Whether it gives scores alone, and is asked no question."""
        return self.gives == "scores"


class CheckerError(Exception):
    """Base of everything that stops a checker from being loaded or run. `predictions` are those that it had made before
    it was stopped, and that hold all the same."""

    predictions: tuple[Prediction, ...] = ()


class UnknownCheckerError(CheckerError):
    pass


class SpaceError(CheckerError):
    """A label space is malformed, or asks what the checker cannot answer."""


class ModelError(CheckerError):
    """A model cannot be loaded, or must not be (no safetensors, code of its own)."""


class UnavailableError(CheckerError):
    """What the checker works with is away for now, such as its server: nothing is wrong with any input. `seconds`: how
    long, where that is known."""

    seconds: float = 0.0


class MissingPackageError(CheckerError):
    def __init__(self, slug: str, requirements: tuple[str, ...]) -> None:
        self.requirements = requirements
        super().__init__(f"{slug} needs a package that is not installed: pip install {' '.join(requirements)}")


class ParameterError(CheckerError):
    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        super().__init__(f"parameter {name!r}: {problem}")


class InputError(CheckerError):
    """One input cannot be answered. Raised inside checkers; callers meet it as `Prediction.error`."""

    def __init__(self, reason: str, message: str, permanent: bool = True) -> None:
        self.reason, self.message, self.permanent = reason, message, permanent
        super().__init__(message)
