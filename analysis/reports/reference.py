"""What a checker is held against: one label per unit, by the majority of people or by decisions, never mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.derived import with_derived_labels
from analysis.sources import Source
from annotation.models import Decision
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

REFERENCES = {
    "majority": "Majority of people, ties excluded",
    Decision.Method.IMPORTED.value: "Imported decisions",
    Decision.Method.ADJUDICATED.value: "Adjudicated decisions",
}


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference of one dimension; arrays have one entry per unit.

    A unit without a code is tied, or not asked (the reference of the dimension it depends on says so), or has no label.
    """

    code: np.ndarray  # position in the dimension's labels, -1 for none
    tied: np.ndarray
    single: np.ndarray  # decided by one label alone
    not_asked: np.ndarray

    def counts(self) -> dict[str, int]:
        decided, tied, not_asked = (int(found.sum()) for found in (self.code >= 0, self.tied, self.not_asked))
        return {
            "decided": decided,
            "tied": tied,
            "single": int(self.single.sum()),
            "not_asked": not_asked,
            "unlabelled": len(self.code) - decided - tied - not_asked,
        }


def references(
    kind: TaskType, source: Source, name: str, units: pd.DataFrame, labels: pd.DataFrame
) -> dict[str, Reference]:
    """By dimension of `kind`, the reference called `name` (a key of REFERENCES; anything else raises ValueError).

    `labels` are the human labels that count, derived ones among them where `kind` has derived dimensions. A dimension
    that is asked under a condition has no reference where the reference of the condition is another label, or is itself
    tied.
    """
    if name not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {name!r}")
    decisions = None if name == "majority" else with_derived_labels(kind, source.decision_frame(name))
    found: dict[str, Reference] = {}
    for dimension in kind.dimensions:
        plain = _majority(dimension, units, labels) if decisions is None else _decided(dimension, units, decisions)
        found[dimension.slug] = _where_asked(kind, dimension, plain, found)
    return found


def _majority(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> Reference:
    import numpy as np

    from analysis.stats import Labels, majority

    mine = labels[labels["dimension"] == dimension.slug]
    coded = Labels.from_columns(
        mine["unit"].tolist(),
        mine["rater"].tolist(),
        mine["label"].tolist(),
        dimension.values,
        units=units["unit"].tolist(),
    )
    vote = majority(coded)
    single = (vote.code >= 0) & (np.bincount(coded.unit, minlength=coded.n_units) == 1)
    return Reference(vote.code, vote.tied, single, np.zeros(len(units), dtype=bool))


def _decided(dimension: Dimension, units: pd.DataFrame, decisions: pd.DataFrame) -> Reference:
    import numpy as np

    nobody = np.zeros(len(units), dtype=bool)
    return Reference(codes_of(dimension, units, decisions), nobody, nobody, nobody)


def codes_of(dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame) -> np.ndarray:
    """Codes by unit of a frame with at most one label per unit and dimension; -1 for units that have none."""
    import numpy as np

    from analysis.stats import encode

    mine = labels[labels["dimension"] == dimension.slug].set_index("unit")["label"].reindex(units["unit"])
    return encode(mine.astype(object).where(mine.notna(), None).tolist(), dimension.values).astype(np.int64)


def asks_otherwise(kind: TaskType, dimension: Dimension, codes: np.ndarray) -> np.ndarray:
    """Where the labels of the dimension that this one depends on say that it is not asked."""
    import numpy as np

    condition = dimension.asked_when
    values = kind.dimension(condition.dimension).values
    return (codes >= 0) & ~np.isin(codes, [values.index(label) for label in condition.labels])


def checker_codes(
    kind: TaskType, units: pd.DataFrame, suggestions: pd.DataFrame
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By dimension, the checker's code of every unit (-1 for none), and where it judged that it is not to be asked."""
    import numpy as np

    plain = {dimension.slug: codes_of(dimension, units, suggestions) for dimension in kind.dimensions}
    found = {}
    for dimension in kind.dimensions:
        not_asked = np.zeros(len(units), dtype=bool)
        if dimension.asked_when is not None:
            not_asked = asks_otherwise(kind, dimension, plain[dimension.asked_when.dimension])
        found[dimension.slug] = (np.where(not_asked, -1, plain[dimension.slug]), not_asked)
    return found


def _where_asked(kind: TaskType, dimension: Dimension, plain: Reference, found: dict[str, Reference]) -> Reference:
    import numpy as np

    if dimension.asked_when is None:
        return plain
    condition = found[dimension.asked_when.dimension]
    not_asked = asks_otherwise(kind, dimension, condition.code) | condition.not_asked
    known = ~not_asked & ~condition.tied
    return Reference(
        np.where(known, plain.code, -1), (plain.tied & known) | condition.tied, plain.single & known, not_asked
    )
