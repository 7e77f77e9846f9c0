"""A source made of arrays: claims, evidence, stances and scores that a test plants, without a database."""

import numpy as np
import pandas as pd

from analysis.sources import base
from analysis.sources.base import Source
from analysis.sources.outline import Run
from annotation.task_types import task_type

SIX = ("refutes", "insufficient-refutes", "insufficient-contradictory", "insufficient-neutral", "insufficient-supports",
       "supports")  # fmt: skip
ANSWERS = ("false", "none", "true")


def empty(columns) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in columns})


class PlantedSource(Source):
    """`claim` numbers the claim of each pair; `labels` are one list per rater of what they say of each pair: a stance,
    `not_applicable` for evidence that is not relevant, or None. `scores` are lists of (checker, parameters, score name
    -> array)."""

    slug, title = "planted", "Planted evidence"
    overlap, multiple_share, prefill = 2, 1.0, "off"

    def __init__(self, claim, labels, scores=(), sources=None, identifier="claim-evidence/six-way/1", gold=None,
                 beside=()):  # fmt: skip
        self.task_type, self.type = identifier, task_type(identifier)
        self.claim, self.labels, self.gold = np.asarray(claim), labels, gold
        self.sources = sources if sources is not None else ["example.org"] * (int(self.claim.max(initial=-1)) + 1)
        self.beside = {source.slug: source for source in beside}
        self._scores = {}
        self._runs = []
        for place, (checker, parameters, found) in enumerate(scores):
            uuid = f"{place:08d}-0000-4000-8000-000000000000"
            run = Run(uuid, checker, "1", parameters, {}, "scores", tuple(sorted(found)))
            self._runs.append(run)
            self._scores |= {(uuid, name): np.asarray(values, dtype=float) for name, values in found.items()}

    def unit_frame(self, unit_kind):
        n = len(self.claim)
        keys = [f"c{claim:05d}/e{place:06d}" for place, claim in enumerate(self.claim)]
        claims = [f"c{claim:05d}" for claim in self.claim]
        frame = pd.DataFrame({name: [None] * n for name in base.UNIT_COLUMNS})
        frame = frame.assign(unit=np.arange(n), unit_key=keys, item=np.arange(n), item_key=keys, cluster=claims)
        return frame.assign(claim=claims, evidence=keys, source=[self.sources[claim] for claim in self.claim])

    def label_frame(self, units, *, every_revision=False):
        parts = []
        for rater, said in enumerate(self.labels):
            stance = np.array(said, dtype=object)
            place = np.flatnonzero([one is not None for one in said])
            relevant = stance[place] != "not_applicable"
            words = np.where(relevant, "relevant", "not_relevant")
            parts.append(pd.DataFrame({"unit": place, "dimension": "relevance", "label": words, "rater": f"r{rater}"}))
            own = place[relevant]
            parts.append(pd.DataFrame({"unit": own, "dimension": "stance", "label": stance[own], "rater": f"r{rater}"}))
        frame = pd.concat(parts) if parts else empty(("unit", "dimension", "label", "rater"))
        frame["annotation"] = frame["unit"].astype(str) + frame["rater"]
        frame = frame.assign(number=1, is_latest=True, suggestion_shown=False, rater_kind="external")
        return base.in_order(frame, units, self.type)

    def revision_frame(self):
        return empty(base.REVISION_COLUMNS)

    def content(self, kind):
        if kind == "claim":
            keys = [f"c{claim:05d}" for claim in range(len(self.sources))]
            verdicts = ["True" if claim % 3 else "False" for claim in range(len(self.sources))]
            return pd.DataFrame({"key": keys, "verdict": verdicts, "source": self.sources})
        units = self.unit_frame("evidence")
        return pd.DataFrame({"key": units["unit_key"], "is_gold": self.gold if self.gold is not None else None})

    def sibling(self, slug):
        return self.beside[slug]

    def siblings(self):
        return {slug: source.title for slug, source in self.beside.items()}

    def runs(self):
        return self._runs[::-1]

    def score_frame(self, run, name):
        return pd.DataFrame({"unit": np.arange(len(self.claim)), "value": self._scores[run.uuid, name]})

    def rater_frame(self):
        raters = [f"r{rater}" for rater in range(len(self.labels))]
        return pd.DataFrame({"rater": raters, "kind": "external", "name": raters, "group": ""})

    def answer_frame(self):
        return empty(base.ANSWER_COLUMNS)

    def exposure_frame(self):
        return empty(base.EXPOSURE_COLUMNS)

    def item_frame(self):
        return empty(base.ITEM_COLUMNS)

    def span_frame(self, units):
        return empty(base.SPAN_COLUMNS)

    def decision_frame(self, method):
        return empty(("unit", "dimension", "label"))

    def decision_methods(self):
        return []

    def suggestion_frame(self, run):
        return empty(base.SUGGESTION_COLUMNS)

    def probability_frame(self, run, dimension, labels):
        return empty(labels)

    def suggestion_rows(self, run):
        return iter(())

    def failure_frame(self, run):
        return empty(("unit", "reason"))


def answer_scores(without, with_evidence) -> dict:
    """Scores as `answer-probabilities` stores them, from (n, 3) tables in the order of ANSWERS."""
    sides = {"without": np.asarray(without), "with": np.asarray(with_evidence)}
    return {f"p_{name}_{mode}": table[:, place] for mode, table in sides.items() for place, name in enumerate(ANSWERS)}
