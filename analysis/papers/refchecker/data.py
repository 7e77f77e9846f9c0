"""What the RefChecker report is made from: responses, their pieces, and what people and checkers say of these."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.papers.refchecker.scale import NEEDS, judged_dimension, scale
from analysis.reports.labels.reference import checker_codes, references
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import first_present, label_counts
from annotation.task_types import Dimension, TaskType

# Codes of pieces besides the places of the labels on the scale.
NONE, OFF_SCALE = -1, -2
NO_SETTING, NO_MODEL = "no setting named", "no model named"


@dataclass(frozen=True, eq=False)
class Study:
    """A project whose units are pieces of models' answers, judged against reference passages.

    `responses` has a row per answer, abstained ones included (unless `abstained_unknown`): response, item (the question
    or claim that it answers, by which figures are resampled), model, setting, n_units, number (of its item in the
    source). `units` has a row per piece, with the `place` of its answer in `responses`. Codes of pieces are places in
    `labels`, which are those on the scale from best (entailment) to worst (contradiction); OFF_SCALE for a label that
    says that the piece itself is bad; NONE for none.
    """

    source: Source
    kind: TaskType
    dimension: Dimension
    responses: pd.DataFrame
    units: pd.DataFrame

    @property
    def abstained_unknown(self) -> str:
        """Why answers that abstained are not among the responses; empty where they are."""
        return self.source.why_without_units_are_unknown()

    @property
    def units_title(self) -> str:
        return self.source.units_title

    @property
    def unit_words(self) -> str:
        """In the middle of a sentence; the name of a set keeps its case."""
        title = self.kind.units_title
        return title.lower() + self.units_title.removeprefix(title)

    @property
    def labels(self) -> tuple[str, ...]:
        return scale(self.dimension)

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(self.dimension.label(label).title for label in self.labels)

    @property
    def polarities(self) -> list[float]:
        return [self.dimension.label(label).polarity for label in self.labels]

    @property
    def worst_first(self) -> list[int]:
        return list(range(len(self.labels)))[::-1]

    @property
    def settings(self) -> list[str]:
        return sorted(self.responses["setting"].unique())

    @property
    def models(self) -> list[str]:
        return sorted(self.responses["model"].unique())

    def item_codes(self) -> np.ndarray:
        """The item of each response as a number."""
        return self.responses["item"].astype("category").cat.codes.to_numpy()

    def people(self, labels: pd.DataFrame, reference: str, against: Sequence[Run] = ()) -> np.ndarray:
        """Codes of pieces by the reference, of these labels of people, as it counts against these runs."""
        reference_of = references(self.kind, self.source, reference, self.units, labels, against)
        return self._on_scale(reference_of[self.dimension.slug].code)

    def checker(self, run: Run) -> np.ndarray:
        """Codes of pieces by a run."""
        codes = checker_codes(self.kind, self.units, self.source.suggestion_frame(run))
        return self._on_scale(codes[self.dimension.slug][0])

    def _on_scale(self, code: np.ndarray) -> np.ndarray:
        values = self.dimension.values
        places = [self.labels.index(label) if label in self.labels else OFF_SCALE for label in values]
        return np.array([*places, NONE])[code]  # code -1 is the last

    def counts(self, codes: np.ndarray) -> np.ndarray:
        """How many pieces of each response have each label, (n_responses, n_labels)."""
        place = self.units["place"].to_numpy()
        return label_counts(np.maximum(codes, NONE), place, len(self.responses), len(self.labels))

    def complete(self, codes: np.ndarray) -> np.ndarray:
        """Which responses have pieces, and a label on each of them (bad pieces have one)."""
        open_pieces = np.bincount(self.units["place"].to_numpy()[codes == NONE], minlength=len(self.responses))
        return (self.responses["n_units"].to_numpy() > 0) & (open_pieces == 0)

    def worst_labels(self, codes: np.ndarray) -> np.ndarray:
        """The worst label among the pieces of each response, (n_responses,); NONE where one of them has no label, or
        none has one on the scale."""
        return first_present(np.where(self.complete(codes)[:, None], self.counts(codes), 0), self.worst_first)

    def aligned(self, people: np.ndarray, checker: np.ndarray) -> np.ndarray:
        """The checker's codes aligned with people's: a piece that people found bad is asked of nobody, and a
        label off the scale is no answer about any other."""
        return np.where(people == OFF_SCALE, OFF_SCALE, np.where(checker >= 0, checker, NONE))


def study_of(source: Source) -> Study:
    """ValueError for a project that does not judge pieces of answers against passages."""
    kind = source.type
    dimension = judged_dimension(kind)
    if dimension is None:
        raise ValueError(f"This {NEEDS.format(kind.title)}")
    responses = _responses(source)
    units = source.unit_frame(kind.unit_kind)
    place = {key: number for number, key in enumerate(responses["response"])}
    units = units[units["response"].isin(place)].reset_index(drop=True)
    units["place"] = units["response"].map(place).astype(int)
    of_response = responses.iloc[units["place"]].reset_index(drop=True)
    units = units.assign(model=of_response["model"], setting=of_response["setting"], cluster=of_response["item"])
    return Study(source, kind, dimension, responses, units)


def _responses(source: Source) -> pd.DataFrame:
    items = source.item_frame()
    frame = source.content("response").set_index("key").reindex(items["item_key"]).reset_index(names="response")
    frame = frame.rename(columns={"context_setting": "setting"}).assign(
        n_units=items["n_units"].to_numpy(), number=items["item"].to_numpy()
    )
    parents = frame["question"].where(frame["question"].notna(), frame["claim"])
    frame["item"] = parents.where(parents.notna(), frame["response"])
    frame["setting"] = frame["setting"].fillna("").replace("", NO_SETTING)
    frame["model"] = frame["model"].fillna("").replace("", NO_MODEL)
    return frame[["response", "item", "question", "claim", "model", "setting", "n_units", "number"]]


def distinct_runs(source: Source) -> list[tuple[Run, str]]:
    """Runs that give labels, and what tables call each: of equal checker, version and parameters the newest."""
    runs_by_name: dict[str, Run] = {}
    for run in source.labelling_runs():
        settings = json.dumps(run.parameters, sort_keys=True, default=str)
        runs_by_name.setdefault(f"{run.checker} {run.version} {settings}", run)
    runs = list(runs_by_name.values())[::-1]  # the oldest first, so that tables grow at their end
    names = [run.name + (f", {model}" if (model := _model(run)) else "") for run in runs]
    times = Counter(names)
    seen: Counter = Counter()
    titles = []
    for name in names:
        seen[name] += 1
        titles.append(f"{name} ({seen[name]})" if times[name] > 1 else name)
    return list(zip(runs, titles, strict=True))


def _model(run: Run) -> str:
    """The model that a run asked, where it is not the checker's only one."""
    named = run.provenance.get("model") or run.parameters.get("model") or run.parameters.get("endpoint") or ""
    return str(named).rstrip("/").rsplit("/", 1)[-1] if isinstance(named, str) else ""
