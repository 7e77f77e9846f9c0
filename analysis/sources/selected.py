"""Another source, seen through a selection."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, time
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from analysis.sources import splits
from analysis.sources.base import Source
from analysis.sources.links import LINKS, ORIGINS
from analysis.sources.outline import GROUP, GeneratorRun, Run, groups_named
from analysis.sources.parents import Parents, are_shared
from analysis.sources.rankings import Retrieval
from analysis.sources.selection import ARMS, Selection, day_of
from analysis.sources.several import per_label, rows_per_label, with_answers
from analysis.sources.splits import source_name
from analysis.sources.wrong import WrongChoice
from annotation.task_types import TaskType

LISTED = 20


class SelectedSource(Source):
    """Another source, seen through a selection.

    Checkers are filtered as people are: where the selection keeps labels, the units are those that still have a label,
    and a checker's label with an arm or a time of its own has to fit as well.

    Where the selection keeps units by what they are, other projects keep those of the same claims and questions, and so
    do retrievals. `main` is the project whose claims and questions are kept here in that way.
    """

    def __init__(self, inner: Source, selection: Selection, main: SelectedSource | None = None):
        self.inner, self.selection, self.main = inner, selection, main
        self._units: dict[str, pd.DataFrame] = {}
        self.slug, self.title, self.task_type = inner.slug, inner.title, inner.task_type
        self.type, self.piece_set = per_label(inner.type), inner.piece_set
        self.overlap, self.multiple_share, self.prefill = inner.overlap, inner.multiple_share, inner.prefill
        self.decisions = inner.decisions
        selection.check(
            self.type,
            lambda: {*inner.everybody()["rater"], *groups_named(inner.rater_groups())},
            lambda: _arms_of(inner),
        )
        if selection.guidelines and inner.described()["kind"] == "table":
            raise WrongChoice("a table of labels names no versions of guidelines; leave guidelines empty", "guidelines")

    @property
    def asked(self) -> TaskType:
        return self.inner.asked

    def rater_groups(self) -> list[str]:
        return self.inner.rater_groups()

    def how_to_have_runs(self) -> str:
        return self.inner.how_to_have_runs()

    def described(self) -> dict:
        made = self.inner.described() | {"selection": self.selection.as_dict()}
        n_seen = len(self.inner.labels_seen()) if self.selection.labels_seen else 0
        return made | ({"labels_seen": {"answers": n_seen, "counted": True}} if n_seen else {})

    def whole(self) -> Source:
        return self.inner.whole()

    @property
    def _keeps_parents(self) -> bool:
        return bool(self.selection.source or self.selection.label or self.main)

    @property
    def _keeps_units(self) -> bool:
        return self._keeps_parents or self.selection.keeps_labels

    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        if unit_kind not in self._units:
            self._units[unit_kind] = self._selected_units(unit_kind)
        return self._units[unit_kind].copy()

    def _selected_units(self, unit_kind: str) -> pd.DataFrame:
        units = self.inner.unit_frame(unit_kind)
        if self.selection.split:
            units["source"] = sources_of(units, self.selection.split, self._groups)
        everything, units = units, self._of_source(units)
        if len(everything) and not len(units):
            self._refuse_unknown_source(everything)
        if self.selection.label and len(units):
            dimension, _, label = self.selection.label.partition(":")
            labels = rows_per_label(self.inner.type, self.inner.label_frame(units))
            with_it = labels[(labels["dimension"] == dimension) & (labels["label"] == label)]
            units = units[units["unit"].isin(with_it["unit"])]
        if self.selection.keeps_labels and len(units):
            by_people = set(self.label_frame(units)["unit"].tolist())
            units = units[units["unit"].isin(by_people | self._units_of_checkers)]
        return units.reset_index(drop=True)

    def _refuse_unknown_source(self, units: pd.DataFrame) -> None:
        """A slip of the pen would give figures of nothing. What has no units may still have the source."""
        known = sorted(units["source"].unique())
        chosen = self.selection.source
        if self.main or not chosen or chosen in known or (self.inner.item_frame()["n_units"] == 0).any():
            return
        more = f" and {len(known) - LISTED:,} more" if len(known) > LISTED else ""
        raise ValueError(f"no unit has the source {chosen!r}; there are {', '.join(known[:LISTED])}{more}")

    def _of_source(self, rows: pd.DataFrame) -> pd.DataFrame:
        if self.main and self.parents:
            rows = rows[self.parents.of_rows(rows)]
        return rows[rows["source"] == self.selection.source] if self.selection.source else rows

    @cached_property
    def _unit_numbers(self) -> set[int] | None:
        """None where all units count."""
        return set(self.unit_frame(self.type.unit_kind)["unit"].tolist()) if self._keeps_units else None

    def _about_units(self, rows: pd.DataFrame) -> pd.DataFrame:
        if self._unit_numbers is None:
            return rows
        return rows[rows["unit"].isin(self._unit_numbers)].reset_index(drop=True)

    def _fitting(self, run: Run) -> pd.Series:
        """By unit and dimension, whether the run's label fits; without those whose arm and time are not known."""
        origins = self.inner.suggestion_origins(run)
        fits, is_known = np.ones(len(origins), dtype=bool), np.zeros(len(origins), dtype=bool)
        for wanted, column in ((self.selection.arm, "arm"), (self._days, "submitted_at")):
            if wanted:
                has = origins[column].notna().to_numpy()
                right = (origins["arm"] == wanted).to_numpy() if column == "arm" else self._in_time(origins)
                fits, is_known = fits & (right | ~has), is_known | has
        index = pd.MultiIndex.from_frame(origins[["unit", "dimension"]])
        return pd.Series(fits, index=index)[is_known]

    @cached_property
    def _units_of_checkers(self) -> set[int]:
        """Units with a checker's label that is known to fit, labelled by people or not. What only people have decides
        about the others."""
        if self.selection.annotator or self.selection.guidelines:
            return set()
        fitting = [self._fitting(run) for run in self.inner.runs()]
        return {unit for one in fitting for unit, _ in one.index[one.to_numpy()].tolist()}

    def _of_run(self, rows: pd.DataFrame, run: Run) -> pd.DataFrame:
        """Rows of a run about units that count, without its labels that do not fit."""
        rows, fitting = self._about_units(rows), self._fitting(run)
        if fitting.all():
            return rows
        is_left_out = pd.MultiIndex.from_frame(rows[["unit", "dimension"]]).isin(fitting.index[~fitting.to_numpy()])
        return rows[~is_left_out].reset_index(drop=True)

    @cached_property
    def parents(self) -> Parents | None:
        """What must be behind something that counts; None where nothing is left out, as in another data set."""
        if self.main:
            return self.main.parents if are_shared(self.main.inner, self.inner) else None
        return Parents.of(self.unit_frame(self.type.unit_kind)) if self._keeps_parents else None

    @cached_property
    def _groups(self) -> dict[str, str]:
        """Read once: the content of a large data set takes longer than its units."""
        return groups_of(self.inner, self.selection.split)

    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        labels = rows_per_label(self.inner.type, self.inner.label_frame(units, every_revision=every_revision))
        return self._selected_labels(labels, every_revision)

    def unjudged_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        return self._selected_labels(self.inner.unjudged_frame(units), every_revision=False)

    def _selected_labels(self, labels: pd.DataFrame, every_revision: bool) -> pd.DataFrame:
        if self.selection.arm:
            arms = labels["annotation"].map(self.inner.arms()).astype(object)
            labels = labels[(arms == self.selection.arm).to_numpy()]
        if self.selection.guidelines or self.selection.since or self.selection.until:
            kept = labels[self._by_whom_and_when(self.with_moments(labels))]
            if every_revision:  # what was replaced under another version, or later, is not what anybody says now
                kept = kept[kept["annotation"].isin(kept.loc[kept["is_latest"].astype(bool), "annotation"])]
            return kept.reset_index(drop=True)
        return labels[self._by_whom_and_when(labels)].reset_index(drop=True)

    def revision_frame(self) -> pd.DataFrame:
        return self.inner.revision_frame()

    def _by_whom_and_when(self, rows: pd.DataFrame):
        """Where rater, guideline version and time are as wanted."""
        keep, chosen = np.ones(len(rows), dtype=bool), self.selection
        if chosen.annotator:
            keep &= rows["rater"].isin(self._chosen_raters).to_numpy()
        if chosen.guidelines:
            keep &= (rows["guideline_version"] == int(chosen.guidelines)).fillna(False).to_numpy(dtype=bool)
        return keep & self._in_time(rows) if self._days else keep

    @property
    def _days(self) -> bool:
        return bool(self.selection.since or self.selection.until)

    def _in_time(self, rows: pd.DataFrame):
        when = pd.to_datetime(rows["submitted_at"], utc=True)
        first, last = (day_of(name, getattr(self.selection, name)) for name in ("since", "until"))
        keep = when.notna()
        if first:
            keep &= when >= datetime.combine(first, time.min, UTC)
        if last:
            keep &= when <= datetime.combine(last, time.max, UTC)
        return keep.to_numpy()

    @cached_property
    def _chosen_raters(self) -> list[str]:
        name = self.selection.annotator
        if not name.startswith(GROUP):
            return [name]
        raters = self.inner.rater_frame()
        return raters.loc[raters["group"] == name.removeprefix(GROUP), "rater"].tolist()

    def answer_frame(self) -> pd.DataFrame:
        answers = self.inner.answer_frame()
        if self.selection.arm:
            answers = answers[(answers["arm"] == self.selection.arm).fillna(False).to_numpy(dtype=bool)]
        return answers[self._by_whom_and_when(answers)].reset_index(drop=True)

    def exposure_frame(self) -> pd.DataFrame:
        return self.inner.exposure_frame()

    def item_frame(self) -> pd.DataFrame:
        items = self.inner.item_frame()
        if not self._keeps_units:
            return items
        kept = items["item"].isin(self.unit_frame(self.type.unit_kind)["item"])
        without = items[items["n_units"] == 0]
        if len(without) and not self.why_without_units_are_unknown():
            kept |= items["item"].isin(without["item"][self._are_selected(without["item_key"].tolist())])
        return items[kept].reset_index(drop=True)

    def items_without_units(self) -> int:
        return super().items_without_units() if self._keeps_units else self.inner.items_without_units()

    def why_without_units_are_unknown(self) -> str:
        units, split = self.type.units_title.lower(), self.selection.split
        if self.selection.label or self.selection.keeps_labels:
            return f"what has no {units} has no label to be chosen by"
        if self.selection.source and split and split.partition(".")[0] not in splits.kinds_of(self.type.anchor_kind):
            return f"what has no {units} comes under no {splits.name_split(split)}"
        return ""

    def _are_selected(self, keys: list[str]):
        """Which of these items are of what is looked at, by what they are made from; they have no units to tell it."""
        rows = self._content_as_units(self.type.anchor_kind, keys)
        if self.selection.split:
            rows["source"] = sources_of(rows, self.selection.split, self._groups)
        return np.isin(np.arange(len(rows)), self._of_source(rows).index)

    def _content_as_units(self, kind: str, keys: list[str]) -> pd.DataFrame:
        """Rows of content as units have them: key, what each is made from, and its source."""
        content = self.inner.content(kind).set_index("key").reindex(keys).reset_index(drop=True)
        rows = pd.DataFrame({"unit_key": keys} | {link: content.get(link) for link in LINKS})
        if kind in LINKS:
            rows[kind] = keys
        if kind not in LINKS and "response" in content:
            answers = self.inner.content("response").set_index("key")
            rows[["claim", "question"]] = answers[["claim", "question"]].reindex(rows["response"]).to_numpy()
        column = (ORIGINS[kind].source or "").rpartition("__")[2] if kind in ORIGINS else ""
        sources = content[column].fillna("").tolist() if column in content else [""] * len(keys)
        return rows.assign(source=list(map(source_name, sources)))

    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        spans = self.inner.span_frame(units)
        labels = with_answers(self.asked, self.label_frame(units))[["unit", "rater", "dimension"]]
        return spans.merge(labels, on=["unit", "rater", "dimension"], how="inner")

    def rater_frame(self) -> pd.DataFrame:
        raters = self.inner.rater_frame()
        if not self.selection.annotator.startswith(GROUP):
            return raters
        return raters[raters["rater"].isin(self._chosen_raters)].reset_index(drop=True)

    def everybody(self) -> pd.DataFrame:
        return self.inner.everybody()

    def decision_frame(self, method: str) -> pd.DataFrame:
        return self._about_units(rows_per_label(self.inner.type, self.inner.decision_frame(method)))

    def acknowledgement_frame(self) -> pd.DataFrame:
        return self.inner.acknowledgement_frame()

    def unanswered_frame(self, method: str) -> pd.DataFrame:
        return self._about_units(self.inner.unanswered_frame(method))

    def decision_history(self) -> pd.DataFrame:
        return self._about_units(rows_per_label(self.inner.type, self.inner.decision_history()))

    def further(self) -> set[int]:
        return self.inner.further()

    def has_further(self) -> bool:
        return self.inner.has_further()

    def asked_under(self) -> tuple[dict[int, int], dict[int, TaskType]]:
        return self.inner.asked_under()

    def shown_orders(self) -> dict[int, tuple[str, ...]]:
        return self.inner.shown_orders()

    def has_checks(self) -> bool:
        return self.inner.has_checks()

    def key_result_frame(self) -> pd.DataFrame:
        return self.inner.key_result_frame()

    def skip_frame(self) -> pd.DataFrame:
        skips = self.inner.skip_frame()
        return skips[skips["item"].isin(self.item_frame()["item_key"])].reset_index(drop=True)

    def decision_methods(self) -> list[str]:
        return self.inner.decision_methods()

    def runs(self) -> list[Run]:
        return self.inner.runs()

    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        return self._of_run(rows_per_label(self.inner.type, self.inner.suggestion_frame(run)), run)

    def suggestion_origins(self, run: Run) -> pd.DataFrame:
        return self._of_run(self.inner.suggestion_origins(run), run)

    def stray_frame(self, run: Run) -> pd.DataFrame:
        return self._of_run(self.inner.stray_frame(run), run)

    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        frame = self.inner.probability_frame(run, dimension, labels)
        return frame if self._unit_numbers is None else frame[frame.index.isin(self._unit_numbers)]

    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        rows, kept, fitting = self.inner.suggestion_rows(run), self._unit_numbers, self._fitting(run)
        out = set(fitting.index[~fitting.to_numpy()].tolist())
        if kept is None and not out:
            return rows
        return (
            row for row in rows if (kept is None or row["unit"] in kept) and (row["unit"], row["dimension"]) not in out
        )

    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        return self._about_units(self.inner.score_frame(run, name))

    def failure_frame(self, run: Run) -> pd.DataFrame:
        return self._about_units(self.inner.failure_frame(run))

    def content(self, kind: str) -> pd.DataFrame:
        return self.inner.content(kind)

    def content_metadata(self, kind: str, name: str) -> dict[str, Any]:
        return self.inner.content_metadata(kind, name)

    def has_labels(self) -> bool:
        return self.inner.has_labels()

    def unit_numbers(self, units: list[int]) -> list[int | None]:
        return self.inner.unit_numbers(units)

    def anchors(self, items: list[int]) -> list[int]:
        return self.inner.anchors(items)

    def generations(self) -> list[GeneratorRun]:
        return self.inner.generations()

    def retrievals(self) -> list[Retrieval]:
        return self.inner.retrievals()

    def query_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self._searched(self.inner.query_frame(retrieval), retrieval)

    def ranking_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        return self._searched(self.inner.ranking_frame(retrieval), retrieval)

    def _searched(self, rows: pd.DataFrame, retrieval: Retrieval) -> pd.DataFrame:
        """Of what is looked at: nobody searched for the other claims as far as figures are concerned."""
        if not self.parents:
            return rows
        queries = self._content_as_units(retrieval.asks, rows["query"].unique().tolist())
        kept = queries["unit_key"][self.parents.of_rows(queries)]
        return rows[rows["query"].isin(kept)].reset_index(drop=True)

    def sibling(self, slug: str) -> Source:
        other, selection = self.inner.sibling(slug), self.selection.elsewhere()
        main = self if self._keeps_parents else None
        return SelectedSource(other, selection, main) if selection or main else other

    def siblings(self) -> dict[str, str]:
        return self.inner.siblings()


def _arms_of(source: Source) -> Collection[str]:
    """Those that a project may have; a table calls its own as it pleases."""
    return sorted(source.arms().unique()) if source.described()["kind"] == "table" else ARMS


def groups_of(source: Source, split: str) -> dict[str, str]:
    """Key of content -> what it comes under. ValueError names what there is where no row has the column.

    Addresses count by their site, numbers and truth values as text; several values are put in the order of the
    alphabet with '; ' between, so that the same ones are the same group. 'unknown' stands where there is none.
    """
    kind, _, name = split.partition(".")
    if source.described()["kind"] == "table":
        raise ValueError("a table of labels holds no content to split by; what its column `source` says is split by")
    content = source.content(kind)
    if name in splits.planned_columns(kind):
        values = content[name].tolist()
    else:
        metadata = [row or {} for row in content[splits.METADATA]]
        if metadata and not any(name in row for row in metadata):
            there = (f"{kind}.{one}" for one in splits.with_values(kind, content.to_dict("records")))
            raise ValueError(f"there is no {split}; there are {', '.join(there) or 'no such columns'}")
        values = [row.get(name) for row in metadata]
    texts = list(map(splits.as_text, values))
    names = {text: source_name(text) for text in set(texts)}
    return {key: names[text] for key, text in zip(content["key"].tolist(), texts, strict=True)}


def sources_of(units: pd.DataFrame, split: str, groups: dict[str, str]) -> list[str]:
    """The group that each unit comes under."""
    kind = split.partition(".")[0]
    unknown = source_name("")
    return [groups.get(key, unknown) for key in units[kind if kind in LINKS else "unit_key"]]
