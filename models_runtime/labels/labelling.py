"""From what a checker measures about a passage to labels of any label space.

A checker reads a passage as two numbers: `relevance` from 0 to 1, and `support` from -1 (it speaks against the claim)
to 1 (it speaks for it). The rule from there is the same for every checker and every label set:

- role relevance: the labels with polarity over 0.5 share the probability `relevance`, the others the rest.
- role coverage: the same with the size of `support`, since a text that denies something speaks of it too.
- role correctness: `support` from 0 to 1 is stretched over the scale from -1 to 1 (an answer that the text does not
  give is as wrong as one that it denies), and from there as for stance.
- roles stance and entailment: the label whose polarity is nearest to `support`; probabilities are proportional to
  exp(-(support - polarity)^2 / (2 * SPREAD^2)). Between two that are equally near, the one nearer to 0 is predicted.
- a label without a polarity has probability 0.
- a dimension that is asked only under some answers to another is answered only when those were predicted.
- several passages: entailed if any passage entails, else contradicted if any does, else neutral (RefChecker); the
  passage that decided is the one whose prediction is given. The same for the windows of a long passage. For relevance
  and coverage the passage with most of it decides, for correctness the one with the greatest support.
- several claims are alternatives: the one with the greatest support counts (for relevance and coverage, with most).
- a text that is no answer at all gets the label that the space has for that (`LabelSpace.no_answer`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..contracts import CheckerInput, LabelPrediction, LabelSpace, PredictedSpan, Prediction, ScoreInfo, SpaceError
from ..texts.abstention import is_abstention

# Two labels half a scale apart (0 and 0.5) are then 2 : 1 where support sits on one of them and 1 : 1 half-way.
SPREAD = 0.42
# Roles whose labels lie on one of two sides.
YES_OR_NO = ("relevance", "coverage")

# Scores of checkers that read a passage so.
CUE_MISMATCH = ScoreInfo("cue_mismatch", "Negation or contradiction in one of the two only", 0, 1)
SUPPORT = ScoreInfo("support", "Support", -1, 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a checker made of one passage. `rationale` is None where no part of it stands out."""

    relevance: float
    support: float
    scores: dict[str, float | None]
    rationale: PredictedSpan | None = None


def logistic(value: float, threshold: float, width: float) -> float:
    """1 / (1 + exp(-(value - threshold) / width)): 0.5 at the threshold, smooth around it."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, (value - threshold) / width))))


def check_spaces(spaces: Sequence[LabelSpace]) -> None:
    """SpaceError if a space cannot be answered from relevance and support."""
    for space in spaces:
        polarities = [polarity for _, polarity in space.labels if polarity is not None]
        if not polarities:
            raise SpaceError(f"{space.dimension}: no label has a polarity, so nothing can be predicted")
        if space.role in YES_OR_NO and len({polarity > 0.5 for polarity in polarities}) < 2:
            raise SpaceError(f"{space.dimension}: {space.role} needs a label over polarity 0.5 and one that is not")


def label(space: LabelSpace, relevance: float, support: float) -> LabelPrediction:
    """The label of `space` for a passage read so; the probabilities sum to 1."""
    if space.role in YES_OR_NO:
        share = relevance if space.role == "relevance" else abs(support)
        sides = {value: polarity > 0.5 for value, polarity in space.labels if polarity is not None}
        yes, no = sum(sides.values()), len(sides) - sum(sides.values())
        weights = {value: share / yes if side else (1 - share) / no for value, side in sides.items()}
        best = next(value for value, side in sides.items() if side == (share > 0.5))
    else:
        support = 2 * max(support, 0.0) - 1 if space.role == "correctness" else support
        scale = {value: polarity for value, polarity in space.labels if polarity is not None}
        weights = {value: math.exp(-((support - at) ** 2) / (2 * SPREAD**2)) for value, at in scale.items()}
        best = min(scale, key=lambda value: (round(abs(support - scale[value]), 9), abs(scale[value])))
    return prediction(space, weights, best)


def prediction(space: LabelSpace, weights: dict[str, float], best: str | None = None) -> LabelPrediction:
    """Weights of labels made to sum to 1; a label without one gets 0. `best` breaks ties, else the first wins."""
    total = sum(weights.values())
    probabilities = {value: weights.get(value, 0.0) / total for value in space.values}
    best = best or max(probabilities, key=probabilities.__getitem__)
    return LabelPrediction(best, probabilities[best], probabilities)


def answer(
    spaces: Sequence[LabelSpace], label_of: Callable[[LabelSpace], LabelPrediction]
) -> dict[str, LabelPrediction]:
    """The prediction for each dimension that is asked, conditions before what hangs on them.

    A condition on a dimension that is not among `spaces` is taken to hold: the caller asks, so it is asked.
    """
    present = {space.dimension for space in spaces}
    answers: dict[str, LabelPrediction] = {}
    for space in sorted(spaces, key=lambda space: space.asked_when is not None):
        if space.asked_when and space.asked_when[0] in present:
            dimension, labels = space.asked_when
            if dimension not in answers or answers[dimension].label not in labels:
                continue
        answers[space.dimension] = label_of(space)
    return answers


def deciding(spaces: Sequence[LabelSpace], readings: Sequence[Reading]) -> int:
    """Index of the reading, of those of one claim's passages, that decides."""
    space = leading(spaces)
    indices = range(len(readings))
    if space.role in ("stance", "entailment"):
        polarity = dict(space.labels)
        signs = [polarity[label(space, reading.relevance, reading.support).label] for reading in readings]
        if any(value > 0 for value in signs):
            return max((i for i in indices if signs[i] > 0), key=lambda i: readings[i].support)
        if any(value < 0 for value in signs):
            return min((i for i in indices if signs[i] < 0), key=lambda i: readings[i].support)
        return max(indices, key=lambda i: readings[i].relevance)
    return max(indices, key=lambda i: _weight(space, readings[i]))


def best_alternative(spaces: Sequence[LabelSpace], readings: Sequence[Reading]) -> Reading:
    """The reading that counts, of those that decided for each of several claims; the first of equals."""
    space = leading(spaces)
    return max(readings, key=lambda reading: _weight(space, reading))


def leading(spaces: Sequence[LabelSpace]) -> LabelSpace:
    """The question that readings are chosen for: the first about more than relevance, where there is one."""
    return next((space for space in spaces if space.role != "relevance"), spaces[0])


def _weight(space: LabelSpace, reading: Reading) -> float:
    if space.role == "relevance":
        return reading.relevance
    return abs(reading.support) if space.role == "coverage" else reading.support


def without_answer(spaces: Sequence[LabelSpace], item: CheckerInput, scores: Sequence[str]) -> Prediction | None:
    """The prediction where the text looked in is no answer at all and every question has a label for that. Nothing is
    measured then: the scores of these names are undefined."""
    text = item.fields.get("evidence")
    if not isinstance(text, str) or any(space.no_answer is None for space in spaces) or not is_abstention(text):
        return None
    labels = answer(spaces, lambda space: prediction(space, {space.no_answer: 1.0}))
    return Prediction(item.id, labels, dict.fromkeys(scores))


def kept_spans(
    spaces: Sequence[LabelSpace], answers: dict[str, LabelPrediction], span: PredictedSpan | None
) -> tuple[PredictedSpan, ...]:
    """The rationale, unless the answer that it belongs to was not given or has a label that carries none."""
    owners = [space for space in spaces if span and space.takes_spans_of(span.field)]
    if span is None:
        return ()
    if owners and not any(
        space.dimension in answers and space.may_carry(answers[space.dimension].label) for space in owners
    ):
        return ()
    return (span,)
