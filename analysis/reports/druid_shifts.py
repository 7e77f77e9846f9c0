"""What language models answer before and after they are given evidence (DRUID, table 21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.behind_sets import UnitSets, key
from analysis.reports.druid_data import ANSWERS, Pairs, stance_dimension
from analysis.reports.druid_means import n_resamples
from analysis.reports.druid_models import Model, desired, known_stances
from analysis.reports.shares import share_of

if TYPE_CHECKING:
    import numpy as np

# Rows of the paper's table 21; the one in the middle leaves out evidence that leans in favour.
PAPER_ROWS = {
    "refutes": ("refutes",),
    "insufficient": ("insufficient-refutes", "insufficient-contradictory", "insufficient-neutral"),
    "supports": ("supports",),
}
DECIDED = {"refutes", "supports"}  # what can conflict with memory
TOGETHER = "+"  # between the stances of a row, in a key
NO_ANSWERS = "no pair has an answer without and with the evidence"
NOT_DECIDED = "0 by definition: evidence that is not decided opposes nothing"


def shifts(pairs: Pairs, model: Model, sets: UnitSets) -> dict:
    """Counts of answers before and after, by stance and by the paper's rows, with the pairs behind every cell."""
    from analysis.stats import prediction_shifts

    names = [name for name in pairs.names if desired(name)]
    found = prediction_shifts(model.without, model.with_evidence, known_stances(pairs), names)
    answers = _Answers(pairs, model, sets)
    rows = [
        {
            "stance": stance,
            "desired": desired(stance),
            "n": int(found.n_pairs[place]),
            "before": found.before[place].tolist(),
            "after": found.after[place].tolist(),
            "change": found.change[place].tolist(),
            "transitions": found.transitions[place].tolist(),
            "desired_moves": int(found.desired_moves[place]),
            "memory_conflicts": int(found.memory_conflicts[place]),
            "figures": answers.behind((stance,)),
        }
        for place, stance in enumerate(found.stances)
    ]
    paper = []
    for row in _paper_rows(rows):
        stances = tuple(row["stances"])
        of_row = {"figures": answers.behind(stances), "memory_conflict": answers.in_conflict(stances)}
        paper.append(row | of_row)
    return {"rows": rows, "paper": paper, "left_out": found.left_out}


class _Answers:
    """One model's answers, and the keys of the pairs in a row's cells."""

    def __init__(self, pairs: Pairs, model: Model, sets: UnitSets) -> None:
        from analysis.stats.shifts import predicted_answers

        self.pairs, self.model, self.sets = pairs, model, sets
        self.before, self.after = predicted_answers(model.without), predicted_answers(model.with_evidence)
        self.known = (self.before >= 0) & (self.after >= 0)

    def behind(self, stances: tuple[str, ...]) -> dict:
        """Of a row of one stance or several: all of its pairs, those of each answer, those that came to an answer or
        left it, those that moved towards or away from what is desired, and those in conflict with memory."""
        import numpy as np

        name, together = self.model.name, TOGETHER.join(stances)
        here = self.known & self.pairs.has_stance(*stances)
        whole = [key("usage", name, together), key("label", stance_dimension(self.pairs.kind).slug, together)]
        figures = {"all": self.sets.add(here, key("answered", name, together), *whole), "after": [], "change": []}
        for place, answer in enumerate(ANSWERS):
            is_now, was = self.after == place, self.before == place
            figures["after"].append(self._put(here & is_now, key("answer", name, together, answer)))
            figures["change"].append(self.sets.add(here & (is_now != was), key("moved", name, together, answer)))
        # Rows of several stances are counted as if all wanted what the last one does.
        signs = np.array(desired(stances[-1]))
        moved = here & (signs[self.after] != signs[self.before])
        figures["moves"] = self.sets.add(moved, key("desired", name, together))
        is_decided = bool(DECIDED & set(stances))
        figures["conflict"] = (
            self._put(here & self._in_conflict(), key("conflict", name, together)) if is_decided else ""
        )
        return figures

    def in_conflict(self, stances: tuple[str, ...]) -> dict:
        """The share of the pairs of a row that are in conflict with memory."""
        here = self.known & self.pairs.has_stance(*stances)
        drawn = n_resamples(self.pairs.n_claims)
        found = share_of(self._in_conflict()[here], self.pairs.cluster[here], drawn, NO_ANSWERS)
        if found["undefined"] or DECIDED & set(stances):
            return found
        return found | {"low": None, "high": None, "interval": found["interval"] | {"undefined": NOT_DECIDED}}

    def _put(self, where: np.ndarray, figure: str) -> str:
        self.sets.put(where, figure)
        return figure

    def _in_conflict(self) -> np.ndarray:
        from analysis.stats.shifts import AGAINST, FOR

        against, for_it = self.pairs.has_stance(AGAINST), self.pairs.has_stance(FOR)
        return against & (self.before == ANSWERS.index("true")) | for_it & (self.before == ANSWERS.index("false"))


def _paper_rows(rows: list[dict]) -> list[dict]:
    """The three rows of table 21, where the task type has all of their stances."""
    by_name = {row["stance"]: row for row in rows}
    if not set(sum(PAPER_ROWS.values(), ())) <= set(by_name):
        return []
    found = []
    for title, stances in PAPER_ROWS.items():
        mine = [by_name[stance] for stance in stances]
        summed = {
            name: [sum(cells) for cells in zip(*(row[name] for row in mine), strict=True)]
            for name in ("after", "change")
        }
        # The row of undecided evidence is counted as if all of it wanted the answer None, which the paper does.
        signs = desired(stances[-1])
        moves = sum(sign * change for sign, change in zip(signs, summed["change"], strict=True))
        counts = {name: sum(row[name] for row in mine) for name in ("n", "memory_conflicts")}
        found.append({"row": title, "stances": list(stances), **summed, **counts, "desired_moves": moves})
    return found
