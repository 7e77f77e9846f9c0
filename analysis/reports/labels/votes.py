"""People's labels as votes: the value of a unit is the share of its raters who give a label, so that ties count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.reports.labels.reference import Reference
from annotation.task_types import Dimension, TaskType


@dataclass(frozen=True, eq=False)
class Votes:
    """One entry per vote: its unit's place, its rater as a number, and its label's code; -1 where the rater found that
    the question does not apply, which is a vote for none of the labels."""

    unit: np.ndarray
    rater: np.ndarray
    code: np.ndarray
    n_units: int
    n_labels: int

    @classmethod
    def of_people(cls, kind: TaskType, dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> Votes:
        """Of every rater of `labels`, a frame with the columns unit, rater, dimension and label."""
        mine = labels[labels["dimension"] == dimension.slug]
        code = pd.Categorical(mine["label"], categories=list(dimension.values)).codes.astype(np.int64)
        others = _not_asked(kind, dimension, labels)
        rows = pd.concat([mine[["unit", "rater"]].assign(code=code), others.assign(code=-1)], ignore_index=True)
        rows = rows.drop_duplicates(["unit", "rater"])  # who gave a label asked the question
        place = pd.Index(units["unit"].to_numpy()).get_indexer(rows["unit"].to_numpy())
        known = place >= 0
        rater = pd.factorize(rows["rater"])[0]
        return cls(place[known], rater[known], rows["code"].to_numpy()[known], len(units), len(dimension.labels))

    @classmethod
    def of_decisions(cls, dimension: Dimension, decided: Reference) -> Votes:
        """A decision is the only vote."""
        unit = np.flatnonzero((decided.code >= 0) | decided.not_asked)
        return cls(unit, unit * 0, decided.code[unit], len(decided.code), len(dimension.labels))

    @property
    def n(self) -> np.ndarray:
        """Votes of each unit, (n_units,)."""
        return np.bincount(self.unit, minlength=self.n_units)

    def shares(self) -> np.ndarray:
        """The share of each label in a unit's votes, (n_units, n_labels); zeros where there is no vote."""
        counts = np.zeros((self.n_units, self.n_labels))
        has_label = self.code >= 0
        np.add.at(counts, (self.unit[has_label], self.code[has_label]), 1)
        return counts / np.maximum(self.n, 1)[:, None]


def _not_asked(kind: TaskType, dimension: Dimension, labels: pd.DataFrame) -> pd.DataFrame:
    """Unit and rater of every answer after which the question was not asked."""
    condition = dimension.asked_when
    if condition is None:
        return labels.iloc[:0][["unit", "rater"]]
    of_condition = labels[labels["dimension"] == condition.dimension]
    otherwise = of_condition.loc[~of_condition["label"].isin(condition.labels), ["unit", "rater"]]
    return pd.concat([otherwise, _not_asked(kind, kind.dimension(condition.dimension), labels)])
