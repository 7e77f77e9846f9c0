"""What a checker says of a triplet once its subject or object is masked in the reference (RefChecker, appendix D.2).

The reference then cannot tell, and a label other than neutral comes from what the checker remembers.

| score | what it is | undefined |
|---|---|---|
| masked_label | 1 entailment, 0 neutral, -1 contradiction | nothing was masked |
| masked_entailment, masked_neutral, masked_contradiction | their probabilities | the same, or there are none |
| masked_places | how many stretches were masked | |

A stretch is masked where the element's words stand in a passage in their order, whatever their case, as whole words.
Elements that stand there in other words are missed; `masked_server` can have a language model find them, as RefChecker
does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..building import Entry, build_entry
from ..checkers import nli
from ..contracts import (
    CheckerError,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ParameterInfo,
    Prediction,
    ScoreInfo,
    Usage,
)
from ..inputs import check_text, failed, read_claim, read_passages
from ..packages import SPACY, TORCH, TRANSFORMERS

MASK = "####"
QUOTES = "\"'\u201c\u201d\u2018\u2019 "
ELEMENTS = {"subject": ("subject",), "object": ("object",), "both": ("subject", "object")}
SPACE = LabelSpace(
    "entailment",
    "entailment",
    (("entailment", 1.0), ("neutral", 0.0), ("contradiction", -1.0)),
    question="What do the passages say about it?",
    meanings=(
        ("entailment", "Entailment. At least one passage supports it."),
        ("neutral", "Neutral. No passage supports or contradicts it."),
        ("contradiction", "Contradiction. A passage says otherwise."),
    ),
)
SCORES = (
    ScoreInfo("masked_label", "Entailment (1), neutral (0), contradiction (-1)", -1, 1),
    ScoreInfo("masked_entailment", "P(entailment)", 0, 1),
    ScoreInfo("masked_neutral", "P(neutral)", 0, 1),
    ScoreInfo("masked_contradiction", "P(contradiction)", 0, 1),
    ScoreInfo("masked_places", "Stretches masked", 0),
)
MASK_PARAMETER = ParameterInfo(
    "mask",
    "Part to mask",
    "str",
    "object",
    choices=("subject", "object", "both"),
    hint="Masked wherever it occurs word for word in the passages. A triplet in which nothing is masked gets no label.",
)


def handed_on(reader: Entry, names: tuple[str, ...]) -> tuple[ParameterInfo, ...]:
    """These parameters of the checker that reads the masked reference, as they are there."""
    return tuple(parameter for parameter in reader.INFO.parameters if parameter.name in names)


INFO = CheckerInfo(
    slug="masked-reference",
    version="1",
    kind="nli",
    title="Masked references",
    summary="Reads passages in which a triplet's subject or object is masked. A label "
    "other than neutral then comes from the inference model's memory.",
    needs="cpu",
    packages=(TORCH, TRANSFORMERS, SPACY),
    model=nli.MODEL,
    licence="MIT",
    parameters=(MASK_PARAMETER, *handed_on(nli, ("model", "device", "dtype", "max_segment_tokens", "token_budget"))),
    roles=(),
    gives="scores",
    scores=SCORES,
)


def masked(text: str, elements: Sequence[str]) -> tuple[str, int]:
    """The text with each element in it masked, the longest first, and how many stretches that are.

    >>> masked("Lake Constance froze in 1963, and lake  constance thawed.", ["Lake Constance"])
    ('#### froze in 1963, and #### thawed.', 2)
    """
    total = 0
    for element in sorted((one.strip(QUOTES) for one in elements), key=len, reverse=True):
        words = r"\s+".join(re.escape(word) for word in element.split())
        if words:
            text, n = re.subn(rf"(?<!\w){words}(?!\w)", MASK, text, flags=re.IGNORECASE)
            total += n
    return text, total


@dataclass(frozen=True, slots=True)
class MaskedInput:
    """An input with masked passages, how many stretches that are, and what finding them cost."""

    item: CheckerInput
    places: int
    usage: Usage | None = None

    @classmethod
    def of(
        cls, item: CheckerInput, claim: str, found: Sequence[tuple[str, int]], usage: Usage | None = None
    ) -> MaskedInput:
        fields = {"claim": claim, "passages": tuple(text for text, _ in found)}
        return cls(CheckerInput(item.id, fields), sum(n for _, n in found), usage)


class MaskedReference:
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any], reader: Entry) -> None:
        self.info, self.parameters = info, parameters
        known = {parameter.name for parameter in reader.INFO.parameters}
        own = {name: value for name, value in parameters.items() if name in known}
        self.checker = build_entry(reader, own, (SPACE,))
        self.slice_at_least = getattr(self.checker, "slice_at_least", 1)

    def describe(self) -> dict[str, Any]:
        description = self.checker.describe()
        judged_by = {name: description[name] for name in ("checker", "version", "parameters")}
        own = {"checker": self.info.slug, "version": self.info.version, "parameters": dict(self.parameters)}
        return description | own | {"judged_by": judged_by, "dimensions": []}

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        predictions: dict[int, Prediction] = {}
        asked: dict[int, MaskedInput] = {}
        for place, one in enumerate(self._masked(inputs)):
            if isinstance(one, MaskedInput):
                asked[place] = one
            else:
                predictions[place] = one
        by_id = {one.item.id: one for one in asked.values()}
        try:
            answers = self.checker.predict([one.item for one in asked.values()]) if asked else []
        except CheckerError as error:
            error.predictions = tuple(_scored(answer, by_id[answer.id]) for answer in error.predictions)
            raise
        for (place, one), answer in zip(asked.items(), answers, strict=True):
            predictions[place] = _scored(answer, one)
        return [predictions[place] for place in range(len(inputs))]

    def _masked(self, inputs: Sequence[CheckerInput]) -> list[MaskedInput | Prediction]:
        """Each input masked, or the failure where that cannot be."""
        found: list[MaskedInput | Prediction] = []
        for item in inputs:
            try:
                claim, elements, texts = self.read(item)
                found.append(MaskedInput.of(item, claim, [masked(text, elements) for text in texts]))
            except InputError as error:
                found.append(failed(item, error))
        return found

    def read(self, item: CheckerInput) -> tuple[str, list[str], list[str]]:
        """The statement, its elements that are masked, and the passages."""
        claim, passages = read_claim(item), read_passages(item)
        elements = []
        for name in ELEMENTS[self.parameters["mask"]]:
            if name not in item.fields:
                raise InputError("missing-field", f"there is no {name} to be masked")
            elements.append(check_text(name, item.fields[name]))
        return claim, elements, [text for _, text in passages]


def _scored(answer: Prediction, one: MaskedInput) -> Prediction:
    usage = answer.usage if one.usage is None else one.usage + (answer.usage or Usage())
    return replace(answer, labels={}, spans=(), scores=_scores(answer, one.places), usage=usage)


def _scores(answer: Prediction, n: int) -> dict[str, float | None]:
    if answer.error:
        return {}
    answered = answer.labels[SPACE.dimension] if n else None
    polarity = dict(SPACE.labels)
    probabilities = answered.probabilities if answered else {}
    return {
        "masked_label": polarity[answered.label] if answered else None,
        **{f"masked_{label}": probabilities.get(label) for label in SPACE.values},
        "masked_places": float(n),
    }


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> MaskedReference:
    return MaskedReference(info, parameters, nli)
