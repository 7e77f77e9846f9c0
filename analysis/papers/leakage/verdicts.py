"""What a judge concluded about each claim from the first passages of a retrieval, and what its data set says.

Either the judge read the passages together, in a project that judges verdicts on claims, in its own labels; or it gave
the probabilities of three verdicts for each piece of evidence alone, and the mean counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.papers.leakage.choices import verdict_dimension
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.rankings import Retrieval
from annotation.machines.runs.retrieved import RETRIEVED
from annotation.models import UnitKind

CUTOFFS = (5, 10)
SCORES = {"True": "verdict_true", "None": "verdict_none", "False": "verdict_false"}
# What data sets call verdicts; what is none of these, nor a label of the project, is left out and counted.
NAMES = {
    "True": ("true", "supports", "supported", "support", "correct"),
    "False": ("false", "refutes", "refuted", "contradict", "contradicts", "contradiction", "incorrect"),
    "None": ("none", "nei", "not enough info", "not enough information", "not enough evidence", "unproven"),
    "Conflicting": ("conflicting evidence", "conflicting", "conflicting evidence/cherrypicking"),
}
VERDICT_OF = {name: verdict for verdict, names in NAMES.items() for name in names}


@dataclass(frozen=True, slots=True)
class Hit:
    document: str
    evidence: str | None
    start: int
    text: str


def _plain(words: str) -> str:
    return " ".join(words.lower().replace("_", " ").split())


def truth_of(claims: pd.DataFrame, labels: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """By claim the place of its verdict among `labels`, each with all of its names; -1 where it is none of them."""
    places: dict[str, int] = {}
    for names in (labels, [[VERDICT_OF.get(_plain(name), "") for name in known] for known in labels]):
        for place, known in enumerate(names):
            for name in filter(None, known):
                places.setdefault(_plain(name), place)
    return {
        key: places.get(plain := _plain(verdict), places.get(_plain(VERDICT_OF.get(plain, "")), -1))
        for key, verdict in zip(claims["key"], claims["verdict"].fillna(""), strict=True)
    }


@dataclass
class Judge(ABC):
    """`labels` are the verdicts that it can give, `truth` their places by claim, `name` is what judged."""

    name: str
    labels: tuple[str, ...]
    truth: dict[str, int]
    reads_together: bool

    def conclude(self, rows: pd.DataFrame, retrieval: Retrieval, by_query: dict[str, list[Hit]]) -> None:
        """Adds the verdict by the first passages, and the claim's own."""
        for k in CUTOFFS:
            rows[f"verdict@{k}"] = self.concluded(rows["query"].tolist(), retrieval, by_query, k)
        rows["verdict"] = [self.truth.get(query, -1) for query in rows["query"]]

    @abstractmethod
    def concluded(self, queries: list[str], retrieval: Retrieval, by_query: dict[str, list[Hit]], k: int) -> list[int]:
        """The place of each claim's verdict among the labels; -1 where there is none."""


@dataclass
class TogetherJudge(Judge):
    """Runs of one checker on claims, each by the first passages of one retrieval: (retrieval, how many) -> by claim."""

    verdicts: dict[tuple[str, int], dict[str, int]]

    @classmethod
    def of(cls, source: Source, claims: pd.DataFrame) -> TogetherJudge | None:
        """None where no run judged by passages of a retrieval. Of several checkers the one that ran last."""
        source, dimension = source.whole(), verdict_dimension(source.type)
        runs = [run for run in source.runs() if RETRIEVED in run.provenance and run.gives == "labels"]
        newest = max(runs, key=lambda run: (str(run.created_at), run.uuid), default=None)
        if newest is None:
            return None
        alike = [run for run in runs if _who(run) == _who(newest)]
        unit_keys = source.unit_frame(source.type.unit_kind).set_index("unit")["claim"]
        places = {label.value: place for place, label in enumerate(dimension.labels)}
        verdicts: dict[tuple[str, int], dict[str, int]] = {}
        for run in sorted(alike, key=lambda run: (str(run.created_at), run.uuid)):
            retrieved = run.provenance[RETRIEVED]
            labels = source.suggestion_frame(run)
            labels = labels[labels["dimension"] == dimension.slug]
            verdicts[retrieved["retrieval"], retrieved["first"]] = {
                unit_keys[unit]: places[label]
                for unit, label in zip(labels["unit"], labels["label"], strict=True)
                if unit in unit_keys.index and label in places
            }
        names = [(label.value, label.title) for label in dimension.labels]
        titles = tuple(label.title for label in dimension.labels)
        return cls(newest.name, titles, truth_of(claims, names), True, verdicts)

    def concluded(self, queries: list[str], retrieval: Retrieval, by_query: dict[str, list[Hit]], k: int) -> list[int]:
        verdicts = self.verdicts.get((retrieval.uuid, k), {})
        return [verdicts.get(query, -1) for query in queries]


def _who(run: Run) -> tuple:
    return run.checker, run.version, sorted((name, str(value)) for name, value in run.parameters.items())


@dataclass
class AloneJudge(Judge):
    """A run that says of a claim and one piece of evidence how probable each verdict is: by key of the evidence."""

    probabilities: dict[str, np.ndarray]
    evidence: pd.DataFrame

    @classmethod
    def of(cls, source: Source, claims: pd.DataFrame, evidence: pd.DataFrame) -> AloneJudge | None:
        """By the newest run that gives the probability of every verdict; None where there is none. Of all evidence:
        what was found for a claim that is looked at may be another claim's."""
        source = source.whole()
        runs = [run for run in source.runs() if set(SCORES.values()) <= set(run.scores)]
        run = max(runs, key=lambda run: str(run.created_at), default=None)
        if run is None:
            return None
        table = source.unit_frame(source.type.unit_kind)[["unit", "evidence"]].copy()
        for verdict, score in SCORES.items():
            table[verdict] = table["unit"].map(source.score_frame(run, score).set_index("unit")["value"])
        table = table.dropna(subset=[*SCORES, "evidence"]).set_index("evidence")[list(SCORES)]
        known = dict(zip(table.index, table.to_numpy(), strict=True))
        truth = truth_of(claims, [(verdict,) for verdict in SCORES])
        return cls(run.name, tuple(SCORES), truth, False, known, evidence)

    def concluded(self, queries: list[str], retrieval: Retrieval, by_query: dict[str, list[Hit]], k: int) -> list[int]:
        published, concluded = _published(retrieval, self.evidence), []
        for query in queries:
            keys = (
                published.get((query, hit.document, hit.start)) or hit.evidence for hit in by_query.get(query, [])[:k]
            )
            mine = [self.probabilities[key] for key in dict.fromkeys(keys) if key in self.probabilities]
            concluded.append(int(np.mean(mine, axis=0).argmax()) if mine else -1)
        return concluded


def _published(retrieval: Retrieval, evidence: pd.DataFrame) -> dict[tuple, str]:
    """(claim, document, start) -> key, of passages that were made evidence from this retrieval."""
    published = {}
    for row in evidence.itertuples():
        made = (row.metadata or {}).get("retrieval") or {}
        if made.get("run") == retrieval.uuid:
            published[row.claim, str(made.get("document")), made.get("start")] = row.key
    return published


def judge_of(source: Source) -> Judge | None:
    """The judge of a project that judges verdicts; None where none has run there."""
    claims = source.content("claim")
    if source.type.unit_kind == UnitKind.CLAIM:
        return TogetherJudge.of(source, claims)
    evidence = source.content("evidence")
    return AloneJudge.of(source, claims, evidence[evidence["claim"].notna()])
