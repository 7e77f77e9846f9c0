"""What language models answer before and after they are given evidence (DRUID, table 21)."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from analysis.figures.items import Items
from analysis.figures.results import Figure
from analysis.papers.druid.data import Pairs
from analysis.papers.druid.means import n_resamples
from analysis.papers.druid.models import AnsweringModel, desired, known_stances
from analysis.papers.druid.result import ANSWERS, DECIDED, AnswerShifts, ShiftsOfPaper, ShiftsOfStance
from analysis.reports.estimates import share_figure
from analysis.stats import prediction_shifts
from analysis.stats.generation.shifts import memory_conflict, predicted_answers

# Rows of the paper's table 21; the one in the middle leaves out evidence that leans in favour.
PAPER_ROWS = {
    "refutes": ("refutes",),
    "insufficient": ("insufficient-refutes", "insufficient-contradictory", "insufficient-neutral"),
    "supports": ("supports",),
}
NO_ANSWERS = "no pair has an answer without and with the evidence"
NOT_DECIDED = "0 by definition: evidence that is not decided opposes nothing"
TO = " to "  # between the answers without and with the evidence


def shifts(pairs: Pairs, model: AnsweringModel, items: Items, number: int) -> AnswerShifts:
    """Counts of answers before and after, by stance and by the paper's rows."""
    names = [name for name in pairs.names if desired(name)]
    predictions = prediction_shifts(model.without, model.with_evidence, known_stances(pairs), names)
    before, after = predicted_answers(model.without), predicted_answers(model.with_evidence)
    known = (before >= 0) & (after >= 0)
    _add_answers(items, number, model, before, np.where(known, after, -1))
    rows = [
        ShiftsOfStance(
            stance=stance,
            desired=desired(stance),
            n=int(predictions.n_pairs[place]),
            before=predictions.before[place].tolist(),
            after=predictions.after[place].tolist(),
            change=predictions.change[place].tolist(),
            transitions=predictions.transitions[place].tolist(),
            desired_moves=int(predictions.desired_moves[place]),
            memory_conflicts=int(predictions.memory_conflicts[place]),
        )
        for place, stance in enumerate(predictions.stances)
    ]
    in_conflict = memory_conflict(model.without, known_stances(pairs)) == 1
    return AnswerShifts(rows=rows, paper=_paper_rows(rows, pairs, known, in_conflict), left_out=predictions.left_out)


def _add_answers(items: Items, number: int, model: AnsweringModel, before: np.ndarray, after: np.ndarray) -> None:
    """The answer without the evidence; the one with it, and both, of pairs that have both."""
    names, run = [answer.capitalize() for answer in ANSWERS], model.run.uuid
    items.add(f"before{number}", f"Answer of {model.name} without evidence", before, ANSWERS, names, run)
    items.add(f"after{number}", f"Answer of {model.name} with the evidence", after, ANSWERS, names, run)
    title = f"Answer of {model.name} without and with the evidence"
    both = np.where(after >= 0, before * len(ANSWERS) + after, -1)
    values, titles = ([TO.join((a, b)) for a in of for b in of] for of in (ANSWERS, names))
    items.add(f"shift{number}", title, both, values, titles, run)


def _paper_rows(
    rows: list[ShiftsOfStance], pairs: Pairs, known: np.ndarray, in_conflict: np.ndarray
) -> list[ShiftsOfPaper]:
    """The three rows of table 21, where the task type has all of their stances."""
    by_name = {row.stance: row for row in rows}
    if not set(sum(PAPER_ROWS.values(), ())) <= set(by_name):
        return []
    shifts_of_papers = []
    for title, stances in PAPER_ROWS.items():
        mine = [by_name[stance] for stance in stances]
        after, change = (
            [sum(cells) for cells in zip(*(getattr(row, name) for row in mine), strict=True)]
            for name in ("after", "change")
        )
        # The row of undecided evidence is counted as if all of it wanted the answer None, which the paper does.
        signs = desired(stances[-1])
        here = known & pairs.has_stance(*stances)
        shifts_of_papers.append(
            ShiftsOfPaper(
                row=title,
                stances=list(stances),
                after=after,
                change=change,
                n=sum(row.n for row in mine),
                memory_conflicts=sum(row.memory_conflicts for row in mine),
                desired_moves=sum(sign * one for sign, one in zip(signs, change, strict=True)),
                memory_conflict=_share_in_conflict(pairs, stances, here, in_conflict),
            )
        )
    return shifts_of_papers


def _share_in_conflict(pairs: Pairs, stances: tuple[str, ...], here: np.ndarray, in_conflict: np.ndarray) -> Figure:
    """The share of the pairs of a row that are in conflict with memory."""
    drawn = n_resamples(pairs.n_claims)
    share = share_figure(in_conflict[here], pairs.cluster[here], quick=False, n_resamples=drawn, undefined=NO_ANSWERS)
    if share.undefined or DECIDED.keys() & set(stances):
        return share
    return replace(share, low=None, high=None, interval=replace(share.interval, undefined=NOT_DECIDED))
