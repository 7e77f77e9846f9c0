"""Labels that were given blind: without answers given or changed after Assay had served their author others' labels.

Figures suppose that people judge independently of each other. So every report is made from this, unless the selection
says otherwise (`labels_seen`). Such an answer is left out whole, with its author's revisions before they looked.
"""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from analysis.sources.base import Source
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from analysis.sources.several import rows_per_label


def looked_at(source: Source, selection: Selection) -> Source:
    """The source as a selection has it. Marked answers are no part of it where they are not asked for."""
    source = source if selection.labels_seen else blind(source)
    return SelectedSource(source, selection) if selection else source


def blind(source: Source) -> Source:
    return source if isinstance(source, SelectedSource) else BlindSource(source)


class BlindSource(SelectedSource):
    """Another source without the answers that it marks."""

    def __init__(self, inner: Source):
        super().__init__(inner, Selection())

    @cached_property
    def _marked(self) -> set[int]:
        return self.inner.labels_seen()

    def labels_seen(self) -> set[int]:
        return set()

    def described(self) -> dict:
        left_out = {"labels_seen": {"answers": len(self._marked), "counted": False}} if self._marked else {}
        return self.inner.described() | left_out

    def _unmarked(self, rows: pd.DataFrame) -> pd.DataFrame:
        if not self._marked:
            return rows
        return rows[~rows["annotation"].isin(self._marked)].reset_index(drop=True)

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        labels = self.inner.label_frame(units, every_revision=every_revision)
        return rows_per_label(self.inner.type, self._unmarked(labels))

    def unjudged_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        return self._unmarked(self.inner.unjudged_frame(units))

    def revision_frame(self) -> pd.DataFrame:
        return self._unmarked(self.inner.revision_frame())

    def answer_frame(self) -> pd.DataFrame:
        return self._unmarked(self.inner.answer_frame())

    def exposure_frame(self) -> pd.DataFrame:
        return self._unmarked(self.inner.exposure_frame())

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        return super().span_frame(units) if self._marked else self.inner.span_frame(units)

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        return self.inner.unit_frame(unit_kind)

    def arms(self) -> pd.Series:
        arms = self.inner.arms()
        return arms[~arms.index.isin(self._marked)] if self._marked else arms

    def why_without_units_are_unknown(self) -> str:
        return self.inner.why_without_units_are_unknown()

    def sibling(self, slug: str) -> Source:
        return blind(self.inner.sibling(slug))
