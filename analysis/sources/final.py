"""The one label of a unit as exports have it: the decision that stands, and where nobody decided, the majority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.sources.base import ADJUDICATED, Source
from analysis.sources.outline import MAJORITY, RULE_SET, Run
from analysis.sources.several import parts_of
from analysis.sources.touched import untouched_decisions
from annotation.decisions.moments import sets_in_order


@dataclass(frozen=True, eq=False)
class FinalDecisions:
    """`frame` has unit, dimension, label and method of the decision that stands for each place, one row each. An empty
    label: the unit is dropped or no answer is right, or, with `is_touched`, the person who decided had been shown what
    a checker says, so that the place counts neither by it nor by a majority. On questions in `only`, where nobody
    decided there is no label."""

    frame: pd.DataFrame
    only: frozenset[str] = frozenset()

    @property
    def n_touched(self) -> int:
        return int(self.frame["is_touched"].sum())


def final_decisions(source: Source, against: Sequence[Run] = ()) -> FinalDecisions:
    """The decisions that exports take; of a release that was frozen with one set, on its questions that set's and,
    where it is a rule's, what people decided before it."""
    chosen = source.decisions
    frames, only = [], frozenset()
    if chosen not in ("", MAJORITY):
        history = source.decision_history()
        only = frozenset(history.loc[history["method"] == chosen, "dimension"])
    for name in [] if chosen == MAJORITY else sets_in_order(source.decision_methods()):
        decided = source.decision_frame(name)
        known = untouched_decisions(source, name, against)[["unit", "dimension"]].assign(is_known=True)
        decided = decided.merge(known, on=["unit", "dimension"], how="left")
        decided["is_touched"] = decided.pop("is_known").isna()
        decided.loc[decided["is_touched"], "label"] = ""
        without = source.unanswered_frame(name).assign(label="", is_touched=False)
        both = pd.concat([decided, _per_label(source, without)], ignore_index=True).assign(method=name)
        frames.append(both)
    columns = ["unit", "dimension", "label", "method", "is_touched"]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    if only:
        wanted = {chosen} | ({ADJUDICATED} if chosen.startswith(RULE_SET) else set())
        frame = frame[~frame["dimension"].isin(only) | frame["method"].isin(wanted)]
    frame = frame.astype({"is_touched": bool}).drop_duplicates(["unit", "dimension"], keep="first")
    return FinalDecisions(frame[columns].reset_index(drop=True), only)


def _per_label(source: Source, rows: pd.DataFrame) -> pd.DataFrame:
    """A question that takes several labels has no answer on any of them."""
    asked, parts = source.asked, [rows]
    for dimension in asked.dimensions:
        mine = rows[rows["dimension"] == dimension.slug]
        if dimension.takes_several and len(mine):
            parts += [mine.assign(dimension=slug) for slug in parts_of(asked, dimension)]
    return pd.concat(parts, ignore_index=True)
