"""Part of a project's labels: of some sources, arms, people, guideline versions, times, or units with one label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from analysis.sources.base import Run, Source
from analysis.sources.rankings import Retrieval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Selection:
    """What is looked at; an empty text is no condition.

    `source` keeps units of one source; `label` (``dimension:label``) units that somebody gave that label in the latest
    revision. `arm`, `annotator` (a pseudonym), `guidelines` (a version), `since` and `until` (days in UTC, both
    included) keep labels; labels of which the time, arm or version is not known are left out by such a condition.
    """

    source: str = ""
    label: str = ""
    arm: str = ""
    annotator: str = ""
    guidelines: str = ""
    since: str = ""
    until: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Selection:
        """From an address or a command. Wrong values raise ValueError."""
        found = cls(**{name: str(given[name]) for name in NAMES if given.get(name)})
        for name in ("since", "until"):
            _day(name, getattr(found, name))
        if found.guidelines and not found.guidelines.isdecimal():
            raise ValueError(f"guidelines is a version, such as 2, not {found.guidelines!r}")
        if found.label and ":" not in found.label:
            raise ValueError(f"label is dimension:label, such as stance:supports, not {found.label!r}")
        return found

    def as_dict(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}

    def __bool__(self) -> bool:
        return bool(self.as_dict())


NAMES = tuple(field.name for field in fields(Selection))


def argument_of(name: str) -> str:
    """What a command calls a condition; `label` alone would be read as anything."""
    return f"--only-{name}" if name in ("source", "label", "arm", "annotator", "guidelines") else f"--{name}"


def _day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ValueError(f"{name} is a day such as 2026-05-31, not {text!r}") from None


class SelectedSource(Source):
    """Another source, seen through a selection."""

    def __init__(self, inner: Source, selection: Selection):
        self.inner, self.selection = inner, selection
        self.slug, self.title, self.task_type, self.type = inner.slug, inner.title, inner.task_type, inner.type
        self.overlap, self.multiple_share, self.prefill = inner.overlap, inner.multiple_share, inner.prefill
        if selection.label:
            self._refuse_unknown_label()

    def _refuse_unknown_label(self) -> None:
        dimension, _, label = self.selection.label.partition(":")
        known = [f"{one.slug}:{value}" for one in self.type.dimensions for value in one.values]
        if f"{dimension}:{label}" not in known:
            raise ValueError(f"label is one of {', '.join(known)}, not {self.selection.label!r}")

    def described(self) -> dict:
        return self.inner.described() | {"selection": self.selection.as_dict()}

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        units = self.inner.unit_frame(unit_kind)
        if self.selection.source:
            units = units[units["source"] == self.selection.source]
        if self.selection.label and len(units):
            dimension, _, label = self.selection.label.partition(":")
            labels = self.inner.label_frame(units)
            with_it = labels[(labels["dimension"] == dimension) & (labels["label"] == label)]
            units = units[units["unit"].isin(with_it["unit"])]
        return units.reset_index(drop=True)

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        labels = self.inner.label_frame(units, every_revision=every_revision)
        if self.selection.arm:
            arms = labels["annotation"].map(self.inner.arms()).astype(object)
            labels = labels[(arms == self.selection.arm).to_numpy()]
        return labels[self._by_whom_and_when(labels)].reset_index(drop=True)

    def _by_whom_and_when(self, rows: pd.DataFrame):
        """Where rater, guideline version and time are as wanted."""
        import numpy as np
        import pandas as pd

        keep, chosen = np.ones(len(rows), dtype=bool), self.selection
        if chosen.annotator:
            keep &= (rows["rater"] == chosen.annotator).to_numpy()
        if chosen.guidelines:
            keep &= (rows["guideline_version"] == int(chosen.guidelines)).fillna(False).to_numpy(dtype=bool)
        if chosen.since or chosen.until:
            when = pd.to_datetime(rows["submitted_at"], utc=True)
            first, last = _day("since", chosen.since), _day("until", chosen.until)
            keep &= when.notna().to_numpy()
            if first:
                keep &= (when >= datetime.combine(first, time.min, UTC)).to_numpy()
            if last:
                keep &= (when < datetime.combine(last + timedelta(days=1), time.min, UTC)).to_numpy()
        return keep

    def answer_frame(self) -> pd.DataFrame:
        answers = self.inner.answer_frame()
        if self.selection.arm:
            answers = answers[(answers["arm"] == self.selection.arm).fillna(False).to_numpy(dtype=bool)]
        return answers[self._by_whom_and_when(answers)].reset_index(drop=True)

    def exposure_frame(self) -> pd.DataFrame:
        return self.inner.exposure_frame()

    def item_frame(self) -> pd.DataFrame:
        items = self.inner.item_frame()
        if not (self.selection.source or self.selection.label):
            return items
        # Items without units come from no unit's source and have no label.
        return items[items["item"].isin(self.unit_frame(self.type.unit_kind)["item"])].reset_index(drop=True)

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        spans = self.inner.span_frame(units)
        said = self.label_frame(units)[["unit", "rater", "dimension"]]
        return spans.merge(said, on=["unit", "rater", "dimension"], how="inner")

    def rater_frame(self) -> pd.DataFrame:
        return self.inner.rater_frame()

    def decision_frame(self, method: str) -> pd.DataFrame:
        return self.inner.decision_frame(method)

    def decision_methods(self) -> list[str]:
        return self.inner.decision_methods()

    def runs(self) -> list[Run]:
        return self.inner.runs()

    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        return self.inner.suggestion_frame(run)

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        return self.inner.probability_frame(run, dimension, labels)

    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        return self.inner.suggestion_rows(run)

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        return self.inner.score_frame(run, name)

    def failure_frame(self, run: Run) -> pd.DataFrame:
        return self.inner.failure_frame(run)

    def content(self, kind: str) -> pd.DataFrame:
        return self.inner.content(kind)

    def stored_units(self, behind: dict[str, list[int]]) -> dict[str, list[int]]:
        return self.inner.stored_units(behind)

    def retrievals(self) -> list[Retrieval]:
        return self.inner.retrievals()

    def query_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self.inner.query_frame(retrieval)

    def ranking_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self.inner.ranking_frame(retrieval)

    def sibling(self, slug: str) -> Source:
        return self.inner.sibling(slug)

    def siblings(self) -> dict[str, str]:
        return self.inner.siblings()
