"""The columns of the report's items: pieces, and answers without any, by what people and checkers say of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.papers.refchecker.data import NONE, Study
from analysis.papers.refchecker.result import KNOWLEDGE
from analysis.sources.outline import Run

SAME = {"same": "the same", "other": "another one"}
FACTUAL = {"both": "both", "people": "people only", "checker": "the checker only", "neither": "neither"}
UNMASKED, OTHERWISE = "unmasked", "otherwise"


class PieceItems:
    """Columns are given of the pieces; answers without any, which stand at the end, have setting and model alone."""

    def __init__(self, study: Study, decisions: str) -> None:
        self.study = study
        is_silent = (study.responses["n_units"] == 0).to_numpy() & (not study.abstained_unknown)
        silent = study.responses[is_silent]
        self.n_silent = len(silent)
        anchors = study.source.anchors(silent["number"].tolist()) if self.n_silent else []
        self.items = Items([*study.units["unit"].tolist(), *anchors], decisions=decisions)
        rows = pd.concat([study.units[["setting", "model", "response"]], silent[["setting", "model", "response"]]])
        for name in rows:
            codes, values = pd.factorize(rows[name], sort=True)
            self.items.add(name, "Answer" if name == "response" else name.capitalize(), codes, list(map(str, values)))
        where = np.arange(len(rows)) >= len(study.units)
        words = f"Answers without {study.unit_words}"
        self.items.add_flag("abstained", words, where)

    def add(self, name: str, title: str, codes: np.ndarray, values: list[str], titles: list[str], **of) -> None:
        self.items.add(name, title, np.append(codes, np.full(self.n_silent, NONE)), values, titles, **of)

    def add_labels(self, name: str, title: str, codes: np.ndarray, **of) -> None:
        """Labels on the scale; all else is none."""
        self.add(name, title, np.maximum(codes, NONE), list(self.study.labels), list(self.study.titles), **of)

    def add_people(self, people: np.ndarray, by_rule: dict[str, np.ndarray]) -> None:
        """Labels by people, of pieces and by each rule of their answers; and answers with any label."""
        place = self.study.units["place"].to_numpy()
        self.add_labels("people", "People", people)
        for rule, words in (("strict", "worst"), ("major", "most frequent")):
            self.add_labels(rule, f"The answer's {words} label by people", by_rule[rule][place])
        has_label = (self.study.counts(people).sum(axis=1) > 0)[place]
        self.add("soft", "Answers that people labelled in part or whole", has_label - 1, ["yes"], [""])

    def add_checker(
        self, number: int, title: str, run: Run, people: np.ndarray, checker: np.ndarray, clean: pd.Series
    ) -> None:
        """What people and a checker say of pieces, and by the worst label of answers that both label in full. `clean`
        are the units with a label that the checker had not touched."""
        study, name, of = self.study, f"c{number}", {"run": run.uuid}
        self.add_labels(name, title, checker, **of)
        is_clean = study.units["unit"].isin(clean).to_numpy()
        self.add(f"{name}.clean", f"With a label that {title} had not touched", is_clean - 1, ["yes"], [""], **of)
        self.add_labels(f"{name}.people", f"People, against {title}", people, **of)
        both = (people >= 0) & (checker >= 0)
        self._add_same(f"{name}.pieces", f"Label by {title} and by people", both, people == checker, **of)
        by_people, by_checker = (study.worst_labels(codes) for codes in (people, study.aligned(people, checker)))
        self.add_worst(name, title, by_people, by_checker, **of)
        place = study.units["place"].to_numpy()
        code = np.where(by_people == 0, np.where(by_checker == 0, 0, 1), np.where(by_checker == 0, 2, 3))
        code = np.where((by_people >= 0) & (by_checker >= 0), code, NONE)[place]
        self.add(
            f"{name}.factual", f"Factual by {title} and by people", code, list(FACTUAL), list(FACTUAL.values()), **of
        )

    def add_worst(self, name: str, title: str, by_people: np.ndarray, by_checker: np.ndarray, **of) -> None:
        """Whether the worst labels of answers are the same, of answers that have both."""
        both = (by_people >= 0) & (by_checker >= 0)
        place = self.study.units["place"].to_numpy()
        words = f"The answer's worst label by {title} and by people"
        self._add_same(f"{name}.worst", words, both[place], (by_people == by_checker)[place], **of)

    def _add_same(self, name: str, title: str, where: np.ndarray, is_same: np.ndarray, **of) -> None:
        codes = np.where(where, np.where(is_same, 0, 1), NONE)
        self.add(name, title, codes, list(SAME), list(SAME.values()), **of)

    def add_known(self, number: int, asked: str, run: Run, knows: np.ndarray) -> None:
        values = list(KNOWLEDGE.values())
        codes = np.select([knows == value for value in KNOWLEDGE], range(len(values)), default=NONE)
        self.add(f"knows{number}", f"{asked} knows it", codes, values, values, run=run.uuid)

    def add_masked(self, number: int, title: str, run: Run, polarity: np.ndarray) -> None:
        """The label where the reference does not tell: `polarity` of the pieces, nan where nothing was masked."""
        study = self.study
        labels = [polarity == value for value in study.polarities]
        codes = np.select([*labels, np.isnan(polarity)], range(len(labels) + 1), default=len(labels) + 1)
        titles = [*study.titles, "nothing was masked", "another label"]
        self.add(f"masked{number}", title, codes, [*study.labels, UNMASKED, OTHERWISE], titles, run=run.uuid)
