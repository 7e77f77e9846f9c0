"""What DRUID's figures are made from: pairs of claim and evidence with a stance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.papers.druid.offered import relevance_dimension, stance_dimension
from analysis.papers.druid.result import NOT_RELEVANT
from analysis.reports.labels.reference import Reference, references
from analysis.sources.base import Source
from annotation.task_types import TaskType

# Sources beyond these are in no table of their own; figures over all are over all.
MAX_SOURCES = 50


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of claim and evidence, in the order of keys.

    Attributes
    ----------
    units : DataFrame
        The source's unit frame.
    labels : DataFrame
        What people say of them now.
    relevance, stance : Reference
        What the reference says of them; `relevance` is None where it is not asked.
    stances : list of str or None
        The stance's label of each pair, NOT_RELEVANT, or None where there is none.
    names, titles : of the stances that figures are split by, in the order of the scale, NOT_RELEVANT last if it occurs
    claims : the claims' keys, in their order
    cluster : (n,) int array
        The claim of each pair: its place in `claims`.
    """

    kind: TaskType
    units: pd.DataFrame
    labels: pd.DataFrame
    relevance: Reference | None
    stance: Reference
    stances: list[str | None]
    names: tuple[str, ...]
    titles: dict[str, str]
    claims: tuple[str, ...]
    cluster: np.ndarray

    @property
    def n_claims(self) -> int:
        return len(self.claims)

    @cached_property
    def sources(self) -> list[str]:
        """Those with most pairs first; none where all pairs come from one, which adds nothing to the figure of all."""
        sizes = self.units["source"].value_counts()
        if len(sizes) < 2:
            return []
        return sorted(sizes.index, key=lambda name: (-sizes[name], name))[:MAX_SOURCES]

    @cached_property
    def source_code(self) -> np.ndarray:
        """The place of each pair's source in `sources`; -1 for one that is not there."""
        return pd.Categorical(self.units["source"], categories=self.sources).codes

    @cached_property
    def _stance_code(self) -> np.ndarray:
        place = {name: code for code, name in enumerate(self.names)}
        return np.array([place.get(stance, -1) for stance in self.stances], dtype=int)

    def has_stance(self, *names: str) -> np.ndarray:
        """Pairs with any of the stances."""
        return np.isin(self._stance_code, [self.names.index(name) for name in names if name in self.names])

    def values(self, frame: pd.DataFrame) -> np.ndarray:
        """A score of each pair; nan where it is undefined, failed, or was not computed."""
        return frame.set_index("unit")["value"].reindex(self.units["unit"]).to_numpy(dtype=float)


def pairs_of(source: Source, reference: str) -> Pairs:
    """ValueError for a project that judges something else, or has no pairs yet."""
    kind = source.type
    dimension = stance_dimension(kind)
    if dimension is None:
        raise ValueError(f"DRUID's figures are about the stance of evidence; {kind.title!r} judges something else")
    units = source.unit_frame(kind.unit_kind)
    if not len(units):
        if len(source.whole().unit_frame(kind.unit_kind)):
            raise ValueError(f"no evidence of project {source.slug} is selected; widen the filters")
        raise ValueError(f"project {source.slug} has no evidence yet: add data, and make its items")
    labels = source.label_frame(units)
    reference_of = references(kind, source, reference, units, labels)
    stance, relevance = reference_of[dimension.slug], relevance_dimension(kind)
    label = np.array([*dimension.values, NOT_RELEVANT, None], dtype=object)
    code = np.where(stance.not_asked, len(dimension.values), stance.code)  # -1 finds the None at the end
    stances = label[code].tolist()
    names = [*dimension.values, *([NOT_RELEVANT] if stance.not_asked.any() else [])]
    titles = {one.value: one.title for one in dimension.labels} | {NOT_RELEVANT: "Not relevant"}
    claims, cluster = np.unique(units["cluster"].fillna(units["unit_key"]).to_numpy(dtype=str), return_inverse=True)
    return Pairs(
        kind=kind,
        units=units,
        labels=labels,
        relevance=reference_of[relevance.slug] if relevance is not None else None,
        stance=stance,
        stances=stances,
        names=tuple(names),
        titles=titles,
        claims=tuple(claims.tolist()),
        cluster=cluster,
    )
