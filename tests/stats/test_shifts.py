"""Answers before and after evidence: by hand, and against the table of counts that DRUID's paper prints."""

import json
import re

import numpy as np
import pytest

from analysis.stats.generation.shifts import (
    NO_PROBABILITY,
    NO_STANCE,
    TIED,
    TIED_ANSWERS,
    UNKNOWN,
    desired_move,
    inter_context_conflicts,
    memory_conflict,
    predicted_answers,
    prediction_shifts,
)
from analysis.stats.generation.usage import ANSWERS

from .samples import shared

FALSE, NONE, TRUE = np.eye(3) * 0.8 + 0.1
HALF = np.full(3, 1 / 3)
GONE = np.array([0.5, np.nan, 0.2])


def test_the_most_probable_answer_and_what_has_none():
    assert predicted_answers([FALSE, NONE, TRUE, HALF, GONE]).tolist() == [0, 1, 2, TIED, UNKNOWN]
    assert predicted_answers([[0.4, 0.4, 0.2]]).tolist() == [TIED]
    assert predicted_answers([[0.2, 0.2, 0.6]]).tolist() == [2]  # a tie below the greatest is none
    assert predicted_answers([]).shape == (0,)


def test_a_memory_conflict_needs_two_decided_sides():
    stances = ["refutes", "supports", "refutes", "supports", "insufficient-refutes", None, "refutes", "supports"]
    found = memory_conflict([TRUE, FALSE, FALSE, NONE, TRUE, TRUE, HALF, GONE], stances)
    assert found[:5].tolist() == [1, 1, 0, 0, 0] and np.isnan(found[5:]).all()


def test_moves_towards_what_the_evidence_says_count_for_it():
    stances = ["refutes", "refutes", "refutes", "insufficient-supports", "supports", None]
    found = desired_move(
        [TRUE, FALSE, NONE, TRUE, FALSE, TRUE], [FALSE, TRUE, TRUE, NONE, FALSE, FALSE], stances
    )  # for refuting evidence neither None nor True is wanted; for leaning evidence both are
    assert found[:5].tolist() == [2, -2, 0, 0, 0] and np.isnan(found[5])


def test_what_is_left_out_is_counted_by_reason():
    stances = ["refutes", None, "supports", "refutes", "refutes", "refutes"]
    found = prediction_shifts([TRUE, TRUE, TRUE, HALF, GONE, TRUE], [FALSE] * 5 + [GONE], stances, ["refutes"])
    assert found.n_pairs.tolist() == [1]
    assert found.left_out == {NO_STANCE: 1, "another stance": 1, NO_PROBABILITY: 2, TIED_ANSWERS: 1}
    assert found.transitions[0, 2, 0] == 1 and found.memory_conflicts.tolist() == [1]
    empty = prediction_shifts([], [], [], ["refutes", "supports"])
    assert empty.n_pairs.tolist() == [0, 0] and empty.desired_moves.tolist() == [0, 0]
    with pytest.raises(ValueError, match="'neutral'"):
        prediction_shifts([TRUE], [TRUE], ["neutral"], ["refutes"])
    with pytest.raises(ValueError, match="shape"):
        prediction_shifts([TRUE], [TRUE, TRUE], ["refutes"], ["refutes"])


def test_the_sum_over_pairs_is_the_sum_over_the_tables_cells():
    rng = np.random.default_rng(3)
    stances = rng.choice(["refutes", "insufficient-supports", "supports"], 500).tolist()
    without, with_evidence = rng.dirichlet(np.ones(3), (2, 500))
    found = prediction_shifts(without, with_evidence, stances, ["supports", "refutes", "insufficient-supports"])
    moves = desired_move(without, with_evidence, stances)
    assert found.desired_moves.tolist() == [
        sum(move for move, one in zip(moves, stances, strict=True) if one == stance) for stance in found.stances
    ]
    assert found.change.sum() == 0 and found.n_pairs.sum() == 500


def test_claims_that_evidence_supports_and_refutes():
    claims = [0, 0, 0, 1, 1, 2, 2, 4]
    stances = ["supports", None, "refutes", "supports", "insufficient-refutes", "refutes", "refutes", "not_applicable"]
    found = inter_context_conflicts(claims, 5, stances)
    assert found.conflicting.tolist() == [True, False, False, False, False]
    assert (found.n_for.tolist(), found.n_against.tolist()) == ([1, 1, 0, 0, 0], [1, 0, 2, 0, 0])
    assert found.n_stances.tolist() == [2, 2, 2, 0, 1]
    with pytest.raises(ValueError, match="belongs to a claim"):
        inter_context_conflicts([0, -1], 1, ["supports", "refutes"])


def test_claims_in_conflict_are_those_that_climate_fever_calls_disputed():
    """Diggelmann et al. (2020) label a claim as disputed if some of its evidence supports and some refutes it."""
    stance_of = {"SUPPORTS": "supports", "REFUTES": "refutes", "NOT_ENOUGH_INFO": "not_enough_info"}
    lines = shared("climate_fever", "climate-fever.jsonl").read_text(encoding="utf-8").splitlines()
    claims = [json.loads(line) for line in lines]
    said = [(place, stance_of[one["evidence_label"]]) for place, row in enumerate(claims) for one in row["evidences"]]
    found = inter_context_conflicts([place for place, _ in said], len(claims), [stance for _, stance in said])
    disputed = [row["claim_label"] == "DISPUTED" for row in claims]
    assert found.conflicting.tolist() == disputed and sum(disputed) == 154


ROW = re.compile(
    r"<td>(False|None|True) <math>[^\n]*</td>\s*((?:<td>[\d,]+ \([+-]?[\d,]+\)</td>\s*){3})"
    r"<td>(-?[\d,]+)</td>\s*<td>([\d.]+)</td>"
)
STANCE_OF_ROW = {"False": "refutes", "None": "insufficient-neutral", "True": "supports"}


MISPRINTED = 14358  # the cells beside it add up to 14,368


def test_the_papers_table_of_predictions():
    """Its rows are stances of evidence and its columns answers, the other way round than its header says: the rows
    add up to the numbers of pairs with each stance. What stands in brackets gives back the answers without evidence.
    All of Pythia's rows lack a few answers, without evidence or with it, which the paper counts as no conflict; there
    only the conflicts can be remade."""
    text = shared("..", "seeds", "druid.txt").read_text(encoding="utf-8")
    table = text[: text.index("Table 21: Model predictions")].rpartition("<table")[2]
    rows, n_complete = ROW.findall(table), 0
    assert len(rows) == 14
    for name, cells, moves, share in rows:
        stance, row = STANCE_OF_ROW[name], ANSWERS.index(name)
        numbers = [int(number.replace(",", "")) for number in re.findall(r"[+-]?[\d,]+", cells)]
        after, change = np.array(numbers[::2]), np.array(numbers[1::2])
        before = after - change
        sides = [np.eye(3)[np.repeat(np.arange(3), counts)] for counts in (before, after)]
        conflict = memory_conflict(sides[0], [stance] * before.sum())
        n_pairs = max(before.sum(), after.sum())
        assert round(100 * conflict.sum() / n_pairs, 2) == float(share), (name, cells)
        if change.sum():
            continue
        n_complete += 1
        found = prediction_shifts(*sides, [stance] * before.sum(), list(STANCE_OF_ROW.values()))
        assert found.after[row].tolist() == after.tolist() and found.change[row].tolist() == change.tolist()
        assert found.memory_conflicts[row] == conflict.sum()
        printed = int(moves.replace(",", ""))
        assert found.desired_moves[row] == printed + 10 * (printed == MISPRINTED), (name, cells)
    assert n_complete == 7
