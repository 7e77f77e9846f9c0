"""What each rule makes of labels: arrays in, an outcome per unit out. Nothing here asks the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps

import numpy as np

from analysis.rules.kinds import (
    COMPETENCE,
    DROP,
    FIRST,
    LABEL,
    LAST,
    LOWER,
    MACE,
    MEDIAN,
    UNDECIDED,
    UPPER,
)
from analysis.stats.agreement import krippendorff_alpha
from analysis.stats.annotators import dawid_skene, mace, majority
from analysis.stats.labels import Labels
from annotation.task_types import Dimension
from annotation.task_types.base import number_text

NONE, DROPPED = -1, -2
EQUAL = 1e-9  # what differs by less is the same
POSTERIOR_DIGITS = 3  # further ones change whenever anybody adds a label


@dataclass(frozen=True, eq=False)
class LabelsOfQuestion:
    """The labels that count of one question, in long form. `unit` and `rater` are places; `value` is the place of a
    label in `values`, which stand in the scale's order."""

    dimension: Dimension
    unit: np.ndarray
    rater: np.ndarray
    value: np.ndarray
    values: tuple[str, ...]
    n_units: int
    has_slots: bool = False  # a rater has no name, and so no competence

    def coded(self) -> Labels:
        return Labels(self.unit, self.rater, self.value, self.n_units, self.values)

    def n_labels(self) -> np.ndarray:
        return np.bincount(self.unit, minlength=self.n_units)


@dataclass(eq=False)
class Outcome:
    """`code` of every unit is the place of its label in `values`, NONE or DROPPED; `why` counts what was left open."""

    code: np.ndarray
    values: tuple[str, ...]
    posterior: np.ndarray | None = None
    tied: np.ndarray | None = None
    why: Counter[str] = field(default_factory=Counter)
    agreement: dict = field(default_factory=dict)


def of_each_question(decide: Callable[[LabelsOfQuestion, Mapping], Outcome]):
    """The function of a rule's table entry: for all questions that it decides, by slug."""

    @wraps(decide)
    def decided(labels: Mapping[str, LabelsOfQuestion], parameters: Mapping, objected: Callable) -> dict[str, Outcome]:
        return {slug: decide(one, parameters) for slug, one in labels.items() if len(one.unit)}

    return decided


@of_each_question
def by_majority(labels: LabelsOfQuestion, parameters: Mapping) -> Outcome:
    vote = majority(labels.coded(), parameters["at_least"])
    code, ties = vote.code.copy(), np.flatnonzero(vote.tied)
    why = Counter({"tied": len(ties), "with too few labels": vote.n_too_few})
    if len(ties) and parameters["ties"] != UNDECIDED:
        if parameters["ties"] == LABEL:
            values = labels.values
            if parameters["tie_label"] in values:
                code[ties] = values.index(parameters["tie_label"])
            elif labels.dimension.takes(parameters["tie_label"]):  # an answer of several labels that nobody gave
                code[ties], values = len(values), (*values, parameters["tie_label"])
            return Outcome(code, values, tied=vote.tied, why=why)
        counts = _counts(labels, ties)
        top = counts == counts.max(axis=1, keepdims=True)
        at = top.argmax(axis=1) if parameters["ties"] == FIRST else top.shape[1] - 1 - top[:, ::-1].argmax(axis=1)
        assert parameters["ties"] in (FIRST, LAST)
        code[ties] = at
    return Outcome(code, labels.values, tied=vote.tied, why=why)


def _counts(labels: LabelsOfQuestion, units: np.ndarray) -> np.ndarray:
    """How often each of these units has each label, (len(units), n_values)."""
    place = np.full(labels.n_units, -1)
    place[units] = np.arange(len(units))
    rows = place[labels.unit] >= 0
    flat = place[labels.unit[rows]] * len(labels.values) + labels.value[rows]
    return np.bincount(flat, minlength=len(units) * len(labels.values)).reshape(len(units), -1)


@of_each_question
def by_weight(question: LabelsOfQuestion, parameters: Mapping) -> Outcome:
    labels = question.coded()
    fit = mace(labels, seed=parameters["seed"]) if parameters["model"] == MACE else dawid_skene(labels)
    best = np.nan_to_num(fit.posterior.max(axis=1, initial=-1.0), nan=-1.0)
    tied = (best >= 0) & ((fit.posterior >= best[:, None] - EQUAL).sum(axis=1) > 1)
    sure = best >= parameters["minimum"] - EQUAL
    why = Counter(
        {"equally probable": int(tied.sum()), "not probable enough": int(((best >= 0) & ~tied & ~sure).sum())}
    )
    posterior = np.round(best, POSTERIOR_DIGITS)
    code = np.where((best >= 0) & ~tied & sure, fit.label, NONE)
    return Outcome(code, question.values, posterior=posterior, tied=tied, why=why)


@of_each_question
def by_centre(labels: LabelsOfQuestion, parameters: Mapping) -> Outcome:
    """On a scale, the middle of the labels' places; of numbers, the middle itself where it is an answer."""
    is_number = labels.dimension.takes_number
    scale = np.array([float(value) for value in labels.values] if is_number else range(len(labels.values)), dtype=float)
    n, order = labels.n_labels(), np.lexsort((scale[labels.value], labels.unit))
    sorted_values = scale[labels.value][order]
    start = np.concatenate([[0], np.cumsum(n)[:-1]]).astype(int)
    enough = n >= parameters["at_least"]
    known = enough & (n > 0)
    centre = np.full(labels.n_units, np.nan)
    if parameters["centre"] == MEDIAN:
        low = sorted_values[start[known] + (n[known] - 1) // 2]
        centre[known] = (low + sorted_values[start[known] + n[known] // 2]) / 2
    else:
        sums = np.bincount(labels.unit, weights=scale[labels.value], minlength=labels.n_units)
        centre[known] = sums[known] / n[known]
    why = Counter({"with too few labels": int(((n > 0) & ~enough).sum())})
    if is_number:
        return _numbers(labels.dimension, centre, why)
    below = np.floor(centre + EQUAL)
    between = known & (np.abs(centre - below - 0.5) < 1e-6)
    nearest = np.where(known, np.rint(np.nan_to_num(centre)), NONE)
    nearest[between] = {LOWER: below[between], UPPER: below[between] + 1}.get(parameters["between"], NONE)
    why["halfway between two labels"] = int(between.sum())
    return Outcome(nearest.astype(np.int64), labels.values, tied=between, why=why)


def _numbers(dimension: Dimension, centre: np.ndarray, why: Counter) -> Outcome:
    texts = [None if np.isnan(value) else number_text(round(float(value), 6)) for value in centre]
    fits = [text is not None and dimension.takes(text) for text in texts]
    why["between two numbers that can be answered"] = sum(text is not None for text in texts) - sum(fits)
    values = tuple(sorted({text for text, fit in zip(texts, fits, strict=True) if fit}, key=float))
    place = {text: index for index, text in enumerate(values)}
    code = np.array([place[text] if fit else NONE for text, fit in zip(texts, fits, strict=True)], dtype=np.int64)
    return Outcome(code, values, why=why)


def by_druid(
    labels: Mapping[str, LabelsOfQuestion], parameters: Mapping, objected: Callable[[], np.ndarray]
) -> dict[str, Outcome]:
    """Both questions of DRUID. `objected`: units that an annotator noted to be of bad quality."""
    by_role = {one.dimension.role: one for one in labels.values()}
    relevance, stance = by_role["relevance"], by_role["stance"]
    dropped = objected() & (parameters["quality"] == DROP)
    rel = _by_competence(relevance, parameters["seed"])
    split = rel.tied
    why_rel: Counter[str] = Counter({"dropped for their quality": int(dropped.sum())})
    if parameters["relevance"] == DROP:
        why_rel["dropped: relevance"] = int((split & ~dropped).sum())
        dropped = dropped | split
    elif parameters["relevance"] == UNDECIDED:
        rel.code[split] = NONE
    else:
        assert parameters["relevance"] == COMPETENCE
    far = _distance(stance) >= parameters["threshold"]
    by_stance = _by_competence(stance, parameters["seed"])
    why_rel["dropped: stances far apart"] = int((far & ~dropped).sum())
    dropped = dropped | far
    for outcome in (rel, by_stance):
        outcome.code[dropped] = DROPPED
        outcome.why["equally competent, or relevance left open"] = int((outcome.tied & (outcome.code == NONE)).sum())
    rel.why.update(why_rel)
    by_stance.agreement = {
        "all": _alpha(stance, np.ones(stance.n_units, dtype=bool)),
        "without what was dropped": _alpha(stance, ~dropped),
    }
    return {relevance.dimension.slug: rel, stance.dimension.slug: by_stance}


def _distance(labels: LabelsOfQuestion) -> np.ndarray:
    """Steps of the scale between the outermost labels of each unit."""
    low, high = np.full(labels.n_units, len(labels.values)), np.full(labels.n_units, -1)
    np.minimum.at(low, labels.unit, labels.value)
    np.maximum.at(high, labels.unit, labels.value)
    return np.where(high >= 0, high - low, 0)


def _by_competence(labels: LabelsOfQuestion, seed: int) -> Outcome:
    """Where people agree, what they say; elsewhere what the most competent of them says, by MACE. `tied` is where they
    do not agree."""
    distance = _distance(labels)
    code = np.full(labels.n_units, NONE)
    code[labels.unit] = labels.value
    split = distance > 0
    code[split] = NONE
    if split.any():
        competence = np.nan_to_num(mace(labels.coded(), seed=seed).competence, nan=-1.0)
        theirs = competence[labels.rater]
        most = np.full(labels.n_units, -np.inf)
        np.maximum.at(most, labels.unit, theirs)
        best = split[labels.unit] & (theirs >= most[labels.unit] - EQUAL)
        low, high = np.full(labels.n_units, len(labels.values)), np.full(labels.n_units, -1)
        np.minimum.at(low, labels.unit[best], labels.value[best])
        np.maximum.at(high, labels.unit[best], labels.value[best])
        one = split & (low == high)
        code[one] = low[one]
    return Outcome(code, labels.values, tied=split)


def _alpha(labels: LabelsOfQuestion, units: np.ndarray) -> float | None:
    """Krippendorff's alpha of these units at the question's level, rounded; None where it is undefined."""
    kept = units[labels.unit]
    part = Labels(labels.unit[kept], labels.rater[kept], labels.value[kept], labels.n_units, labels.values)
    value = krippendorff_alpha(part, labels.dimension.level).estimate
    return None if np.isnan(value) else round(float(value), 4)
