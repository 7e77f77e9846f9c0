"""Columns of the items of the report: aspects in answers, by what people and machines say of them."""

from __future__ import annotations

import numpy as np

from analysis.papers.icat.data import CoverageStudy, Machine
from analysis.papers.icat.result import ANNOTATORS
from analysis.reports.labels.judgements import add_names, new_items

CELLS = {
    "both": "covered by both",
    "machine": "covered by the machine alone",
    "people": "covered by people alone",
    "neither": "covered by neither",
}
# Aspects from which precision and recall are computed; F1 is from those of either.
COUNTED = {"precision": ("both", "machine"), "recall": ("both", "people"), "f1": ("both", "machine", "people")}
KNOWN = {
    "people": "coverage by people",
    "factuality": "factuality",
    "coverage": "coverage by supported claims",
    "score": "an ICAT score",
}
WITH = "In answers with {}"


class AspectItems:
    def __init__(self, study: CoverageStudy, runs: list[str], decisions: str) -> None:
        self.study = study
        self.items = new_items(study.units, runs=runs, decisions=decisions)
        for name, column in (("model", "model"), ("answer", "response")):
            values = study.responses[column].to_numpy(dtype=object)[study.of_response]
            add_names(self.items, name, name.capitalize(), values)

    def add_labels(self, n_of_unit: np.ndarray) -> None:
        titles = {"fewer": "fewer than two", "two": "two", "three": "three or more"}
        self.items.add("labels", "Labels", np.clip(n_of_unit - 1, 0, ANNOTATORS - 1), titles)

    def add_known(self, name: str, answers: np.ndarray, run: str = "") -> None:
        """Aspects in answers that have a figure."""
        where = answers[self.study.of_response]
        self.items.add_flag(f"with.{name}", WITH.format(KNOWN[name]), where, run=run)

    def add_correlated(self, name: str, title: str, values: np.ndarray, people: np.ndarray, run: str) -> None:
        where = (~np.isnan(values) & ~np.isnan(people))[self.study.of_response]
        words = WITH.format(f"coverage by people and a value by {title}")
        self.items.add_flag(f"{name}.correlated", words, where, run=run)

    def add_detected(self, name: str, machine: Machine, people: np.ndarray, run: str) -> None:
        """What people and the machine say of aspects that both judged, and those in answers with a precision, ..."""
        covered, of_response = machine.covered, self.study.of_response
        known = (people >= 0) & (covered >= 0)
        code = np.where(people == 1, np.where(covered == 1, 0, 2), np.where(covered == 1, 1, 3))
        words = f"By people and by {machine.title}"
        self.items.add(f"{name}.cell", words, np.where(known, code, -1), CELLS, run=run)
        for figure, cells in COUNTED.items():
            counts = known & np.isin(code, [list(CELLS).index(cell) for cell in cells])
            where = known & np.isin(of_response, of_response[counts])
            words = f"Judged by people and by {machine.title}, in answers with {figure}"
            self.items.add_flag(f"{name}.{figure}", words, where, run=run)
