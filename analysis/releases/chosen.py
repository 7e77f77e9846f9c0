"""A part of a project's labels, frozen as if there were no others: items and answers that a selection keeps, and the
texts that these are about."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from analysis.sources.database import DatabaseSource
from analysis.sources.parents import Parents
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.datasets.kinds import KINDS
from annotation.decisions.moments import ExportedPart
from annotation.models import Project

if TYPE_CHECKING:
    import pandas as pd


class ChosenSource(SelectedSource):
    def __init__(self, project: Project, filters: dict[str, str]):
        super().__init__(DatabaseSource(project), Selection.of(filters))

    def answer_frame(self) -> pd.DataFrame:
        answers = super().answer_frame()
        return answers[answers["item"].isin(self.item_frame()["item"])].reset_index(drop=True)

    def part(self) -> ExportedPart:
        """What an export reads."""
        items, answers = self.item_frame()["item"], self.answer_frame()["annotation"]
        return ExportedPart(frozenset(items.tolist()), frozenset(answers.tolist()))

    def content(self, kind: str) -> pd.DataFrame:
        frame = super().content(kind)
        return frame[frame["key"].isin(self._kept[kind])].reset_index(drop=True)

    @cached_property
    def _kept(self) -> dict[str, set[str]]:
        """By kind the keys of what is judged, what that belongs to, and what its pages show with it."""
        units, items = self.unit_frame(self.type.unit_kind), self.item_frame()
        parents = Parents.of(units)
        judged = {self.type.anchor_kind: set(items["item_key"]), self.type.unit_kind: set(units["unit_key"])}
        judged |= {"claim": set(parents.claims), "question": set(parents.questions)}
        kept: dict[str, set[str]] = {}
        for kind in KINDS:
            frame = super().content(kind.name)
            if kind.name in judged:
                kept[kind.name] = judged[kind.name]
                continue
            mask = frame["key"].isin([])
            for parent in kind.parents:
                if parent in kept and parent in frame:
                    mask |= frame[parent].isin(kept[parent])
            kept[kind.name] = set(frame["key"][mask])
        return kept
