"""The claims and questions that units come from, by which what is looked at in one project is found in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.sources.base import Source


@dataclass(frozen=True, slots=True)
class Parents:
    """Keys of claims and of questions."""

    claims: frozenset[str]
    questions: frozenset[str]

    @classmethod
    def of(cls, units: pd.DataFrame) -> Parents:
        return cls(*(frozenset(units[name].dropna().tolist()) for name in ("claim", "question")))

    def of_rows(self, rows: pd.DataFrame) -> np.ndarray:
        """Which rows (columns claim and question) come from one of these."""
        return (rows["claim"].isin(self.claims) | rows["question"].isin(self.questions)).to_numpy(dtype=bool)


def are_shared(source: Source, other: Source) -> bool:
    """Whether two projects have any claim or question in common: releases may be of different data sets."""
    return any(
        not set(source.content(kind)["key"]).isdisjoint(other.content(kind)["key"]) for kind in ("claim", "question")
    )
