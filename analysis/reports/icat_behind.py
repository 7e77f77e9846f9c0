"""Aspects in answers behind the figures of the ICAT report, and what they are in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.behind_sets import UnitSets, either, joined, key, parts_of
from analysis.reports.icat_data import BASELINES, VARIANTS, Study
from analysis.reports.opened import UNITS, Behind
from annotation.task_types import TaskType

if TYPE_CHECKING:
    import numpy as np

# Of aspects that both judged, what people and what the machine says.
CELLS = {"both": (1, 1), "machine": (0, 1), "people": (1, 0), "neither": (0, 0)}
BY_MACHINE, BY_PEOPLE = either("both", "machine"), either("both", "people")
JUDGED = "aspects that people and the machine judged"


class Opened:
    """Collects the aspects behind figures; those of answers are all aspects in them."""

    def __init__(self, study: Study) -> None:
        import numpy as np

        self.study, self.sets = study, UnitSets(study.units["unit"].to_numpy())
        self.sets.put(np.ones(len(study.units), dtype=bool), UNITS)

    @property
    def behind(self) -> Behind:
        return self.sets.behind

    def of_model(self, figure: str, answers: np.ndarray, model: str, *, is_all: bool) -> str:
        """Of a model's answers, or all, those that have a figure; all of them without one."""
        where, whole = answers[self.study.of_response], UNITS if is_all else key("model", model)
        if figure:
            return self.sets.add(where, key("known", figure, *(() if is_all else (model,))), whole)
        if not is_all:
            self.sets.put(where, whole)
        return whole if where.any() else ""

    def labelled(self, where: np.ndarray, name: str) -> str:
        return self.sets.add(where, key("labels", name), UNITS)

    def correlated(self, values: np.ndarray, people: np.ndarray, name: str) -> str:
        """Beside a machine other labels of people may count than elsewhere, so its name stands in its keys."""
        import numpy as np

        known = ~np.isnan(values) & ~np.isnan(people)
        return self.sets.add(known[self.study.of_response], key("correlated", name))

    def compared(self, people: np.ndarray, machine: np.ndarray, name: str) -> dict[str, dict[str, str]]:
        """Keys of precision, recall and F1, of aspects together and as means of answers that have them."""
        import numpy as np

        for cell, (by_people, by_machine) in CELLS.items():
            self.sets.put((people == by_people) & (machine == by_machine), key("cell", cell, name))
        known = (people >= 0) & (machine >= 0)
        named = {"precision": known & (machine == 1), "recall": known & (people == 1)}
        named["f1"] = named["precision"] | named["recall"]
        judged = self.sets.add(known, key("judged", name))
        means = {}
        for figure, where in named.items():
            answers = np.unique(self.study.of_response[where])
            within = known & np.isin(self.study.of_response, answers)
            means[figure] = self.sets.add(within, key("mean", figure, name), judged)
        cells = {"precision": BY_MACHINE, "recall": BY_PEOPLE}
        pooled = {figure: key("cell", part, name) if named[figure].any() else "" for figure, part in cells.items()}
        return {"mean": means, "pooled": pooled | {"f1": judged}}

    def answer(self, place: int, response: str) -> str:
        return self.sets.add(self.study.of_response == place, key("answer", response))


def opened(behind: Behind, figure: str) -> list[int] | None:
    return joined(behind, figure, 2)


CELL_WORDS = {
    "both": "aspects that people and the machine find covered",
    "machine": "aspects that the machine finds covered and people do not",
    "people": "aspects that people find covered and the machine does not",
    "neither": "aspects that neither people nor the machine find covered",
    BY_MACHINE: "aspects that the machine finds covered, judged by people",
    BY_PEOPLE: "aspects that people find covered, judged by the machine",
}
LABEL_WORDS = {"two": "aspects with two labels or more", "three": "aspects with three labels or more"}
FIGURE_WORDS = {
    "people": "coverage by people",
    "factuality": "factuality",
    "coverage": "coverage by supported claims",
    "score": "an ICAT score",
}
MEAN_WORDS = {"precision": "precision", "recall": "recall", "f1": "F1"}
NO_NAME = "a model without a name"


def in_words(kind: TaskType, figure: str) -> str:
    """What the units behind a figure are, for the head of their page."""
    of, *parts = parts_of(figure)
    if of == UNITS:
        return "all aspects in answers"
    if of == "model":
        return f"aspects in answers by {parts[0] or NO_NAME}"
    if of == "known":
        by = f" by {parts[1] or NO_NAME}" if len(parts) > 1 else ""
        return f"aspects in answers{by} with {FIGURE_WORDS[parts[0]]}"
    if of == "labels":
        return LABEL_WORDS[parts[0]]
    if of == "correlated":
        measure = BASELINES.get(parts[0]) or VARIANTS.get(parts[0].rpartition("-")[2].upper()) or "the machine"
        return f"aspects in answers with coverage by people and a value by {measure}"
    if of == "judged":
        return JUDGED
    if of == "mean":
        return f"{JUDGED}, in answers with {MEAN_WORDS[parts[0]]}"
    if of == "answer":
        return f"aspects in {parts[0]}"
    return CELL_WORDS.get(parts[0], figure)
