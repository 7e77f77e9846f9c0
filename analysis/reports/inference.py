"""Pairs of premise and hypothesis as entailed or not: by people, and by a checker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.reports.labels.dimensions import against, entailing_labels
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.touched import latest, untouched, untouched_decisions
from analysis.stats import Labels, majority
from annotation.task_types import Dimension

UNLABELLED, TIED = "without a label", "tied"


@dataclass(frozen=True, slots=True)
class Entailed:
    """What people, or a checker, say of pairs.

    Attributes
    ----------
    code : (n_pairs,) int array
        1 where a pair is entailed, 0 where it is not, -1 where nothing is decided.
    missing : str
        What a pair without any label is called.
    n_tied : int
        Pairs that are undecided because people are divided.
    """

    code: np.ndarray
    missing: str
    n_tied: int = 0

    def counts(self) -> dict:
        n_open = int((self.code < 0).sum())
        left_out = {self.missing: n_open - self.n_tied} | ({TIED: self.n_tied} if self.n_tied else {})
        return {"entailed": int((self.code == 1).sum()), "other": int((self.code == 0).sum()), "left_out": left_out}


def counted_labels(source: Source, pairs: pd.DataFrame, checker: Run | None, touched: bool) -> pd.DataFrame:
    """People's labels of the pairs that count, compared with this checker."""
    labels = source.label_frame(pairs, every_revision=True)
    return latest(labels) if checker is None or touched else untouched(source, labels, checker)


def by_people(
    source: Source,
    dimension: Dimension,
    reference: str,
    pairs: pd.DataFrame,
    checker: Run | None,
    touched: bool,
) -> Entailed:
    if reference != "majority":
        known = untouched_decisions(source, reference, against(checker, touched))
        return Entailed(decided(known, dimension, pairs), UNLABELLED)
    labels = counted_labels(source, pairs, checker, touched)
    mine = labels[labels["dimension"] == dimension.slug]
    says = mine["label"].isin(entailing_labels(dimension)).map({True: "entailed", False: "other"})
    units, raters = mine["unit"].tolist(), mine["rater"].tolist()
    coded = Labels.from_columns(units, raters, says.tolist(), ("other", "entailed"), units=pairs["unit"].tolist())
    vote = majority(coded)
    return Entailed(vote.code, UNLABELLED, int(vote.tied.sum()))


def decided(labels: pd.DataFrame, dimension: Dimension, pairs: pd.DataFrame) -> np.ndarray:
    """Codes as in `Entailed` of a frame with at most one label per unit and dimension."""
    mine = labels[labels["dimension"] == dimension.slug].set_index("unit")["label"].reindex(pairs["unit"])
    return np.where(mine.isna(), -1, mine.isin(entailing_labels(dimension)))
