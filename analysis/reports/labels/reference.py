"""What a checker is compared with: one label per unit, by the majority of people or by decisions, never mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.figures.results import DecisionsLeftOut
from analysis.reports.common import DAWID_SKENE, FINAL, WITH_MODEL
from analysis.reports.estimates import coded_labels
from analysis.reports.labels.derived import derived_slug, with_derived_labels
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import checker_title
from analysis.sources.base import Source
from analysis.sources.final import FinalDecisions, final_decisions
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import untouched_decisions
from analysis.stats import LatentTruth, dawid_skene, encode, majority
from annotation.models import Decision
from annotation.task_types import Dimension, TaskType

EQUAL = 1e-9  # posteriors that differ by less are the same


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference of one dimension; arrays have one entry per unit.

    A unit without a code is tied, or not asked (the reference of the dimension it depends on says so), or has no label.
    """

    code: np.ndarray  # position in the dimension's labels, -1 for none
    tied: np.ndarray
    single: np.ndarray  # decided by one label alone
    not_asked: np.ndarray
    by_decision: np.ndarray | None = None  # whether a decision stands, also that there is no label; None: nobody looked

    def counts(self) -> dict[str, int]:
        decided, tied, not_asked = (int(mask.sum()) for mask in (self.code >= 0, self.tied, self.not_asked))
        return {
            "decided": decided,
            "tied": tied,
            "single": int(self.single.sum()),
            "not_asked": not_asked,
            "unlabelled": len(self.code) - decided - tied - not_asked,
        }


def as_answered(kind: TaskType, labels: pd.DataFrame) -> TaskType:
    """The task type without conditions that nobody answered, as where a file has stances and says nothing of relevance:
    what a checker says of them leaves out no unit of the question that hangs on them."""
    answered = set(labels["dimension"].unique())

    def is_open(dimension: Dimension) -> bool:
        condition = dimension.asked_when
        return condition is not None and dimension.slug in answered and condition.dimension not in answered

    dimensions = [replace(one, asked_when=None) if is_open(one) else one for one in kind.dimensions]
    return replace(kind, dimensions=tuple(dimensions))


def references(
    kind: TaskType,
    source: Source,
    name: str,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    against: Sequence[Run] = (),
    final: FinalDecisions | None = None,
) -> dict[str, Reference]:
    """By dimension of `kind`, the reference called `name` (a key of WITH_MODEL; anything else raises ValueError).

    `labels` are the human labels that count, derived ones among them where `kind` has derived dimensions. Decisions are
    left out whose people had been shown what the checkers of the runs `against` say. A dimension that is asked under a
    condition has no reference where the reference of the condition is another label, or is itself tied.

    FINAL is what exports have: the decision that stands, also that a unit has no label, and where nobody decided the
    majority of `labels`. `final` are these decisions where the caller has them.
    """
    if name not in WITH_MODEL:
        raise ValueError(f"reference is one of {', '.join(WITH_MODEL)}, not {name!r}")
    by_people = {"majority": _majority, DAWID_SKENE: _most_probable}
    decide, rows = by_people.get(name, _decided), labels
    if name == FINAL:
        decide = _Final(kind, final or final_decisions(source, against))
    elif name not in by_people:
        rows = with_derived_labels(kind, untouched_decisions(source, name, against))
    by_dimension: dict[str, Reference] = {}
    for dimension in kind.dimensions:
        plain = decide(dimension, units, rows)
        by_dimension[dimension.slug] = _where_asked(kind, dimension, plain, by_dimension)
    return by_dimension


class _Final:
    """Decides as exports do."""

    def __init__(self, kind: TaskType, final: FinalDecisions):
        decided = final.frame[final.frame["label"] != ""]
        self.decided = with_derived_labels(kind, decided[["unit", "dimension", "label"]])
        self.final = final
        # What follows from a question is open where that is.
        self.source_of = {
            derived_slug(one.slug, each.slug): one.slug for one in kind.dimensions for each in one.derived
        }

    def __call__(self, dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> Reference:
        question = self.source_of.get(dimension.slug, dimension.slug)
        frame, vote = self.final.frame, _majority(dimension, units, labels)
        here = frame.loc[frame["dimension"] == question, "unit"]
        is_decided = units["unit"].isin(here).to_numpy()
        if question in self.final.only:
            is_decided[:] = True
        code = np.where(is_decided, codes_of(dimension, units, self.decided), vote.code)
        return replace(
            vote, code=code, tied=vote.tied & ~is_decided, single=vote.single & ~is_decided, by_decision=is_decided
        )


def decisions_left_out(
    source: Source, name: str, units: pd.DataFrame, against: Sequence[Run]
) -> DecisionsLeftOut | None:
    """How many of the decisions about these units do not count against these runs, and why in a sentence; None where
    all do, or the reference is no decisions."""
    if not against or name not in (Decision.Method.IMPORTED, Decision.Method.ADJUDICATED, FINAL):
        return None
    if name == FINAL:
        frame = final_decisions(source, against).frame
        frame = frame[frame["unit"].isin(units["unit"]) & (frame["is_touched"] | (frame["label"] != ""))]
        n_all, n_left = len(frame), int((~frame["is_touched"]).sum())
    else:
        n_all, n_left = (
            int(decisions["unit"].isin(units["unit"]).sum())
            for decisions in (source.decision_frame(name), untouched_decisions(source, name, against))
        )
    n, checkers = n_all - n_left, " or ".join(dict.fromkeys(checker_title(run.checker) for run in against))
    words = (
        f"{n:,} of {n_of(n_all, 'decisions')} {either(n, 'is', 'are')} left out: the person who made "
        f"{either(n, 'it', 'them')} had been shown what {checkers} says of the item, or nobody knows whether they had."
    )
    return DecisionsLeftOut(n=n, n_all=n_all, words=words) if n else None


def _majority(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> Reference:
    mine = labels[labels["dimension"] == dimension.slug]
    coded = coded_labels(mine, units, dimension.values)
    vote = majority(coded)
    single = (vote.code >= 0) & (np.bincount(coded.unit, minlength=coded.n_units) == 1)
    return Reference(vote.code, vote.tied, single, np.zeros(len(units), dtype=bool))


def _most_probable(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> Reference:
    """The label with the greatest posterior by Dawid-Skene over people who have names; equal ones are tied."""
    mine = labels[labels["dimension"] == dimension.slug]
    people = mine[mine["rater_kind"] != SLOT]
    if len(mine) and not len(people):
        raise ValueError(
            "Dawid-Skene estimates the errors of each person, but the raters here are slots, not people; choose the "
            "majority as the reference"
        )
    fit = dawid_skene_of(dimension, units, people)
    best = np.nan_to_num(fit.posterior.max(axis=1), nan=-1.0)
    tied = (best >= 0) & ((fit.posterior >= best[:, None] - EQUAL).sum(axis=1) > 1)
    n_labels = units["unit"].map(people["unit"].value_counts()).fillna(0).to_numpy()
    code = np.where((best >= 0) & ~tied, fit.label, -1)
    return Reference(code, tied, (code >= 0) & (n_labels == 1), np.zeros(len(units), dtype=bool))


def dawid_skene_of(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> LatentTruth:
    """Dawid-Skene's model of one dimension's labels (rows without a person's name left out by the caller)."""
    mine = labels[labels["dimension"] == dimension.slug]
    return dawid_skene(coded_labels(mine, units, dimension.values))


def _decided(dimension: Dimension, units: pd.DataFrame, decisions: pd.DataFrame) -> Reference:
    nobody = np.zeros(len(units), dtype=bool)
    return Reference(codes_of(dimension, units, decisions), nobody, nobody, nobody)


def codes_of(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> np.ndarray:
    """Codes by unit of a frame with at most one label per unit and dimension; -1 for units that have none."""
    mine = labels[labels["dimension"] == dimension.slug].set_index("unit")["label"].reindex(units["unit"])
    return encode(mine.astype(object).where(mine.notna(), None).tolist(), dimension.values).astype(np.int64)


def asks_otherwise(kind: TaskType, dimension: Dimension, codes: np.ndarray) -> np.ndarray:
    """Where the labels of the dimension that this one depends on say that it is not asked."""
    condition = dimension.asked_when
    values = kind.dimension(condition.dimension).values
    return (codes >= 0) & ~np.isin(codes, [values.index(label) for label in condition.labels])


def checker_codes(
    kind: TaskType, units: pd.DataFrame, suggestions: pd.DataFrame
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By dimension, the checker's code of every unit (-1 for none), and where it judged that it is not to be asked."""
    plain = {dimension.slug: codes_of(dimension, units, suggestions) for dimension in kind.dimensions}
    codes = {}
    for dimension in kind.dimensions:
        not_asked = np.zeros(len(units), dtype=bool)
        if dimension.asked_when is not None:
            not_asked = asks_otherwise(kind, dimension, plain[dimension.asked_when.dimension])
        codes[dimension.slug] = (np.where(not_asked, -1, plain[dimension.slug]), not_asked)
    return codes


def _where_asked(
    kind: TaskType, dimension: Dimension, plain: Reference, by_dimension: dict[str, Reference]
) -> Reference:
    if dimension.asked_when is None:
        return plain
    condition = by_dimension[dimension.asked_when.dimension]
    not_asked = asks_otherwise(kind, dimension, condition.code) | condition.not_asked
    tied = condition.tied if plain.by_decision is None else condition.tied & ~plain.by_decision
    known = ~not_asked & ~tied
    return Reference(
        np.where(known, plain.code, -1),
        (plain.tied & known) | tied,
        plain.single & known,
        not_asked,
        plain.by_decision,
    )
