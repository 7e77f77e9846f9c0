"""What the ICAT report reads: answers and their aspects, what people say of them, and what machines say.

A machine is one of three: a run of ICAT's scorer (which claims are supported, and which aspects these cover), results
of ICAT's own program that were imported, or a checker that says of each aspect whether the whole answer covers it,
supported or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.papers.icat.choices import VARIANTS, icat_runs, imported_results, titles
from analysis.reports.labels.aspect_labels import coded_labels, response_frame
from analysis.reports.labels.aspects import covering_labels
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import ResponseCoverage, response_coverage
from annotation.datasets.kinds import KIND_NAMED
from annotation.task_types import Dimension

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Machine:
    """`covered` has one entry per unit (1, 0, or -1 where it says nothing), the counts one per response (-1 where they
    are not known). `run` is None for what was imported."""

    key: str
    title: str
    run: Run | None
    covered: np.ndarray
    n_covered: np.ndarray
    n_aspects: np.ndarray
    n_supported: np.ndarray
    n_claims: np.ndarray
    failures: Mapping[str, int]

    @property
    def has_claims(self) -> bool:
        return bool((self.n_claims >= 0).any())

    @property
    def coverage(self) -> np.ndarray:
        """(n_responses,), nan where unknown or without aspects."""
        known = (self.n_covered >= 0) & (self.n_aspects > 0)
        return np.where(known, self.n_covered / np.where(known, self.n_aspects, 1), np.nan)


class CoverageStudy:
    """The project's answers in the order of keys, and its units with the place of their answer."""

    def __init__(self, source: Source, dimension: Dimension, reference: str, k: int, ties: str) -> None:
        self.source, self.dimension, self.reference, self.ties = source, dimension, reference, ties
        self.k = k if reference == "majority" else 1
        self.units = source.unit_frame(source.type.unit_kind)
        self.responses = response_frame(source)
        place = {key: row for row, key in enumerate(self.responses["response"])}
        self.of_response = self.units["response"].map(place).to_numpy(dtype=int)
        self.query = self.responses["query"].astype("category").cat.codes.to_numpy()
        self.query_of_unit = self.query[self.of_response]
        self.models = sorted(set(self.responses["model"].tolist()))
        self.labels = source.label_frame(self.units, every_revision=True)

    def people(self, labels: pd.DataFrame) -> tuple[ResponseCoverage, np.ndarray]:
        """Coverage by those labels, and per unit 1, 0, or -1 where they are tied or too few."""
        covered = response_coverage(
            coded_labels(self.source, self.dimension, self.reference, self.units, labels),
            self.of_response,
            len(self.responses),
            covering_labels(self.dimension),
            self.k,
            self.ties,
        )
        return covered, np.where(covered.verdict <= 1, covered.verdict, UNKNOWN)

    @cached_property
    def n_aspects(self) -> np.ndarray:
        return self.summed(self.units["unit"].notna().to_numpy())

    def summed(self, of_unit: np.ndarray) -> np.ndarray:
        sums = np.bincount(self.of_response, weights=of_unit.astype(float), minlength=len(self.responses))
        return sums.round().astype(int)

    def scores(self, run: Run, name: str) -> np.ndarray:
        """By unit; nan where there is none."""
        values = self.source.score_frame(run, name).set_index("unit")["value"]
        return values.reindex(self.units["unit"]).to_numpy(dtype=float)

    def by_response(self, of_unit: np.ndarray) -> np.ndarray:
        """What all units of an answer have alike; nan where none has it."""
        values = np.full(len(self.responses), np.nan)
        known = ~np.isnan(of_unit)
        values[self.of_response[known]] = of_unit[known]
        return values

    def content_of(self, kind: str, parent: str) -> Counter:
        """How many rows of content each parent has; of pieces those of the project's set."""
        rows = self.source.pieces(kind) if KIND_NAMED[kind].has_sets else self.source.content(kind)
        return Counter(rows[parent].dropna().tolist())

    def machines(self) -> list[Machine]:
        """Runs of ICAT's scorer, imported results, then the newest run of each checker."""
        machines = [self._scored(run) for run in icat_runs(self.source)]
        machines += [self._imported(variant, results) for variant, results in imported_results(self.source).items()]
        return machines + [self._checked(run) for run in self.source.newest_labelling_runs()]

    def _scored(self, run: Run) -> Machine:
        covered = self.scores(run, "covered")
        claims, supported = (self.by_response(self.scores(run, name)) for name in ("claims", "claims_supported"))
        return self._machine(
            run.uuid,
            titles(icat_runs(self.source))[run.uuid],
            run,
            np.where(np.isnan(covered), UNKNOWN, np.nan_to_num(covered)).astype(int),
            n_claims=np.nan_to_num(claims, nan=UNKNOWN).astype(int),
            n_supported=np.nan_to_num(supported, nan=UNKNOWN).astype(int),
        )

    def _checked(self, run: Run) -> Machine:
        frame = self.source.suggestion_frame(run)
        labels = frame[frame["dimension"] == self.dimension.slug].set_index("unit")["label"]
        by_unit = labels.reindex(self.units["unit"])
        covered = np.where(by_unit.isna(), UNKNOWN, by_unit.isin(covering_labels(self.dimension))).astype(int)
        return self._machine(run.uuid, run.name, run, covered)

    def _machine(self, key: str, title: str, run: Run | None, covered: np.ndarray, **counts: np.ndarray) -> Machine:
        """Where a machine says nothing of some aspect, the answer's coverage is not known."""
        unknown = np.full(len(self.responses), UNKNOWN)
        n_unknown = self.summed(covered == UNKNOWN)
        n_covered = np.where(n_unknown > 0, UNKNOWN, self.summed(covered == 1))
        failures = Counter(self.source.failure_frame(run)["reason"]) if run else Counter()
        counts = {"n_claims": unknown, "n_supported": unknown} | counts
        return Machine(key, title, run, covered, n_covered, self.n_aspects, failures=failures, **counts)

    def _imported(self, variant: str, results: dict[str, dict]) -> Machine:
        """Facts by what the results say of each atomic claim; aspects by the topics that they list as covered, or the
        share that they print. ICAT-A's topics are its own, so they say nothing of the units."""
        names = self.responses["response"].tolist()
        n_aspects, n_covered = np.full(len(names), UNKNOWN), np.full(len(names), UNKNOWN)
        topics: dict[int, set[int]] = {}
        for place, name in enumerate(names):
            row = results.get(name)
            if row is None:
                continue
            own = row.get("generated_topics")
            n_aspects[place] = self.n_aspects[place] if own is None else len(own)
            listed = topics_of(row)
            known = range(1, n_aspects[place] + 1)
            n_covered[place] = covered_of(row, n_aspects[place]) if listed is None else len(listed.intersection(known))
            if listed is not None and own is None:
                topics[place] = listed
        number = self.units["aspect"].map(self.source.content("aspect").set_index("key")["index"]).tolist()
        covered = [
            int(number[unit] + 1 in topics[place]) if place in topics else UNKNOWN
            for unit, place in enumerate(self.of_response.tolist())
        ]
        n_claims, n_supported = self._imported_claims(set(results))
        return Machine(
            f"imported-{variant.lower()}",
            VARIANTS[variant],
            None,
            np.array(covered, dtype=int),
            n_covered,
            n_aspects,
            n_supported,
            n_claims,
            {},
        )

    def _imported_claims(self, answers: set[str]) -> tuple[np.ndarray, np.ndarray]:
        claims = self.source.pieces("atomic_claim")
        entailed = [metadata.get("entailed") if isinstance(metadata, dict) else None for metadata in claims["metadata"]]
        claims = claims.assign(entailed=entailed)
        claims = claims[claims["entailed"].notna() & claims["response"].isin(answers)]
        n, supported = Counter(claims["response"]), Counter(claims["response"][claims["entailed"].astype(bool)])
        names = self.responses["response"].tolist()
        n_claims = np.array([n[name] if name in answers else UNKNOWN for name in names], dtype=int)
        return n_claims, np.where(n_claims >= 0, [supported[name] for name in names], UNKNOWN).astype(int)


def topics_of(results: dict) -> set[int] | None:
    """Numbers, from 1, of the topics that a row of results lists as covered; None where it has no list."""
    listed = results.get("covered_topics")
    if not isinstance(listed, list):
        return None
    numbers = {str(entry.get("topic_id") if isinstance(entry, dict) else entry) for entry in listed}
    return {int(number) for number in numbers if number.isdecimal()}


def covered_of(results: dict, n_aspects: int) -> int:
    """How many of so many aspects are covered by the share that a row of results prints; -1 where it prints none, or
    one of another number of aspects."""
    share = (results.get("metrics") or {}).get("coverage")
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        return UNKNOWN
    n = round(share * n_aspects)
    return n if abs(n - share * n_aspects) < 0.01 * max(n_aspects, 1) else UNKNOWN
