"""From entailment probabilities of premise segments to labels. Pure functions; the network is in `checkers/nli.py`.

A segment's own verdict is its most probable label; of equals neutral comes before contradiction, and that before
entailment. The verdicts of a claim's segments, over all its passages, merge by one of two rules:

- `refchecker`: entailment if any segment entails, else contradiction if any contradicts, else neutral (RefChecker).
- `max-entailment`: entailment if the greatest entailment probability is above a threshold (0.5 in ICAT, 0.05 for
  sufficient context), else contradiction if any segment's own verdict is that, else neutral.

The segment that decided is the most probable one of those with the merged verdict; for neutral the least neutral one.
Where a question knows no contradiction (two labels, or whether something is covered), entailment is distinguished from
the rest, and the segment with the greatest entailment probability decides where none entails.

Labels from there, with pE, pN and pC of the deciding segment:

- stance, entailment with labels at -1, 0 and 1: pC, pN and pE, and the merged verdict is the label
- stance, entailment with labels at 0 and 1: 1 - pE and pE, likewise
- stance, entailment with other scales: as in `labelling`, with a support of pE - pC
- coverage and relevance: pE for yes, shared between labels as in `labelling`; yes where the rule says entailment, and
  for relevance above one half or the threshold
- correctness: as in `labelling`, with a support of pE
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..contracts import LabelPrediction, LabelSpace, ModelError
from . import labelling

RULES = ("refchecker", "max-entailment")
ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
_NAMES = {
    ENTAILMENT: {"entailment", "entailed", "entails", "entail"},
    NEUTRAL: {"neutral"},
    CONTRADICTION: {"contradiction", "contradictory", "contradicts", "contradict"},
    "rest": {"notentailment", "nonentailment", "notentailed", "nonentailed"},
}


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """Which output of a model means what. A model of two labels has entailment only; the rest is one minus it."""

    entailment: int
    neutral: int | None = None
    contradiction: int | None = None

    @property
    def is_three_way(self) -> bool:
        return self.contradiction is not None


def read_label_order(id2label: Mapping[int, str]) -> LabelOrder:
    """The order from the names in a model's config; ModelError names those that are not understood.

    >>> read_label_order({0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"})
    LabelOrder(entailment=1, neutral=2, contradiction=0)
    """
    order: dict[str, int] = {}
    for place, name in id2label.items():
        plain = re.sub(r"[^a-z]", "", str(name).lower())
        meaning = next((meaning for meaning, names in _NAMES.items() if plain in names), None)
        if meaning is None or meaning in order or re.search(r"\d", str(name)):
            break
        order[meaning] = int(place)
    else:
        if set(order) == {ENTAILMENT, NEUTRAL, CONTRADICTION}:
            return LabelOrder(**order)
        if set(order) == {ENTAILMENT, "rest"}:
            return LabelOrder(order[ENTAILMENT])
    names = ", ".join(repr(name) for name in id2label.values())
    raise ModelError(
        f"the model's labels are {names}; what is needed is entailment, neutral and contradiction, or entailment and "
        "not_entailment. If it is such a model, write these names into id2label of its config.json, in its order"
    )


@dataclass(frozen=True, slots=True)
class NLIOutput:
    """Probabilities of one premise segment and one hypothesis. neutral and contradiction are None for models of two
    labels."""

    entailment: float
    neutral: float | None = None
    contradiction: float | None = None

    @property
    def verdict(self) -> str:
        if self.contradiction is None:
            return ENTAILMENT if self.entailment > 0.5 else NEUTRAL
        if self.neutral >= max(self.entailment, self.contradiction):
            return NEUTRAL
        return CONTRADICTION if self.contradiction >= self.entailment else ENTAILMENT

    @property
    def support(self) -> float:
        return self.entailment - (self.contradiction or 0.0)

    @property
    def takes_a_side(self) -> float:
        return self.entailment + (self.contradiction or 0.0)


@dataclass(frozen=True, slots=True)
class MergedVerdict:
    """The merged verdict of segments, the place of the one that decided, and the greatest entailment of all."""

    verdict: str
    place: int
    max_entailment: float


def decide(rule: str, threshold: float, segments: Sequence[NLIOutput], *, knows_contradiction: bool) -> MergedVerdict:
    """The merged verdict of one or more segments; see above."""
    places = range(len(segments))
    best = max(places, key=lambda place: segments[place].entailment)
    most = segments[best].entailment
    if rule == "max-entailment":
        entailing = [best] if most > threshold else []
    else:
        entailing = [place for place in places if segments[place].verdict == ENTAILMENT]
    if entailing:
        return MergedVerdict(ENTAILMENT, max(entailing, key=lambda place: segments[place].entailment), most)
    if not knows_contradiction:
        return MergedVerdict(NEUTRAL, best, most)
    opposing = [place for place in places if segments[place].verdict == CONTRADICTION]
    if opposing:
        return MergedVerdict(CONTRADICTION, max(opposing, key=lambda place: segments[place].contradiction), most)
    return MergedVerdict(NEUTRAL, max(places, key=lambda place: segments[place].takes_a_side), most)


def knows_contradiction(space: LabelSpace) -> bool:
    """Whether an answer can be that something speaks against the claim."""
    return space.role in ("stance", "entailment") and any(at is not None and at < 0 for _, at in space.labels)


def label_of(space: LabelSpace, verdict: str, judged: NLIOutput) -> LabelPrediction:
    """The label of `space` where segments merged to `verdict` and `judged` decided; not for relevance."""
    if space.role == "correctness":
        return labelling.label(space, 0.0, judged.entailment)
    if space.role in labelling.YES_OR_NO:
        return yes_or_no(space, judged.entailment, verdict == ENTAILMENT)
    at = {polarity: value for value, polarity in space.labels if polarity is not None}
    distinct = len(at) == sum(polarity is not None for _, polarity in space.labels)
    if distinct and set(at) == {-1.0, 0.0, 1.0}:
        weights = {at[1.0]: judged.entailment, at[0.0]: judged.neutral, at[-1.0]: judged.contradiction}
        chosen = {ENTAILMENT: at[1.0], NEUTRAL: at[0.0], CONTRADICTION: at[-1.0]}[verdict]
        return labelling.prediction(space, weights, chosen)
    if distinct and set(at) == {0.0, 1.0}:
        weights = {at[1.0]: judged.entailment, at[0.0]: 1 - judged.entailment}
        return labelling.prediction(space, weights, at[1.0 if verdict == ENTAILMENT else 0.0])
    return labelling.label(space, judged.takes_a_side, judged.support)


def yes_or_no(space: LabelSpace, share: float, is_yes: bool) -> LabelPrediction:
    """The first label of the side that `is_yes` names; labels of a side share its probability."""
    sides = {value: polarity > 0.5 for value, polarity in space.labels if polarity is not None}
    yes = sum(sides.values())
    weights = {value: share / yes if side else (1 - share) / (len(sides) - yes) for value, side in sides.items()}
    return labelling.prediction(space, weights, next(value for value, side in sides.items() if side == is_yes))
