"""What a language model answers before and after it is given evidence: shifts and conflicts (DRUID, 4.2, table 21).

The answer is the most probable of `usage.ANSWERS`. A *memory conflict* is an answer without evidence that is decided
(True or False) and opposed by the evidence. An *inter-context conflict* is a claim with one piece of evidence that says
that it is true and another that it is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.generation.usage import ANSWERS, desired_signs
from analysis.stats.labels import code_column

UNKNOWN, TIED = -1, -2
NO_PROBABILITY = "a probability is not known"
TIED_ANSWERS = "two answers are equally probable"
NO_STANCE = "the evidence has no stance"
AGAINST, FOR = "refutes", "supports"


@dataclass(frozen=True, eq=False)
class PredictionShifts:
    """Answers before and after evidence of each stance.

    Attributes
    ----------
    stances : tuple of str
    transitions : (n_stances, 3, 3) int array
        Pairs by stance, answer without and answer with the evidence, both in the order of ANSWERS.
    desired_moves : (n_stances,) int array
        ``sum_t D(t, stance) (after_t - before_t)``: the table's sum of changes in the desired direction minus those in
        the other. A pair that moves from an undesired to a desired answer counts 2.
    memory_conflicts : (n_stances,) int array
        Pairs whose answer without evidence the evidence opposes; 0 for stances that are not decided.
    left_out : dict of str to int
        Pairs that are in no row, by reason.
    """

    stances: tuple[str, ...]
    transitions: np.ndarray
    desired_moves: np.ndarray
    memory_conflicts: np.ndarray
    left_out: dict[str, int]

    @property
    def n_pairs(self) -> np.ndarray:
        """(n_stances,) pairs of each stance."""
        return self.transitions.sum(axis=(1, 2))

    @property
    def before(self) -> np.ndarray:
        """(n_stances, 3) pairs with each answer without the evidence."""
        return self.transitions.sum(axis=2)

    @property
    def after(self) -> np.ndarray:
        """(n_stances, 3) pairs with each answer with the evidence."""
        return self.transitions.sum(axis=1)

    @property
    def change(self) -> np.ndarray:
        """(n_stances, 3) what stands in brackets in the table: after minus before."""
        return self.after - self.before


@dataclass(frozen=True, eq=False)
class ContextConflicts:
    """Evidence for and against each claim.

    Attributes
    ----------
    n_for, n_against : (n_claims,) int arrays
        Pieces of evidence that support and that refute the claim.
    n_stances : (n_claims,) int array
        Pieces of evidence with a stance, whichever it is (`not_applicable` too).
    conflicting : (n_claims,) bool array
        At least one of either.
    """

    n_for: np.ndarray
    n_against: np.ndarray
    n_stances: np.ndarray
    conflicting: np.ndarray


def predicted_answers(probabilities: np.ndarray) -> np.ndarray:
    """The most probable answer of each row, as a position in ANSWERS.

    Parameters
    ----------
    probabilities : (n, 3) float array
        In the order of ANSWERS.

    Returns
    -------
    (n,) int array
        UNKNOWN where a probability is nan, TIED where the greatest belongs to more than one answer: which of them the
        model would give is then a matter of the order in which they are looked at.

    >>> predicted_answers([[0.2, 0.1, 0.7], [0.4, 0.2, 0.4], [0.1, float("nan"), 0.3]]).tolist()
    [2, -2, -1]
    """
    table = np.asarray(probabilities, dtype=float).reshape(-1, len(ANSWERS))
    unknown = np.isnan(table).any(axis=1)
    greatest = np.where(unknown[:, None], -1, table)
    tied = (greatest == greatest.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return np.where(unknown, UNKNOWN, np.where(tied, TIED, greatest.argmax(axis=1)))


def memory_conflict(without: np.ndarray, stances: Sequence[str | None]) -> np.ndarray:
    """Whether the evidence opposes what the model answers without it.

    Parameters
    ----------
    without : (n, 3) float array
        Probabilities of ANSWERS without the evidence.
    stances : n names of usage.DESIRED, or None

    Returns
    -------
    (n,) float array
        1 where the answer is True and the evidence refutes the claim, or the answer is False and it supports it; 0
        elsewhere, so also for the answer None and for evidence that is not decided, as the table has it; nan without an
        answer or a stance.

    >>> memory_conflict([[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]], ["refutes", "supports"]).tolist()
    [1.0, 0.0]
    """
    answer = predicted_answers(without)
    against, for_it = _is(stances, AGAINST), _is(stances, FOR)
    conflict = (against & (answer == ANSWERS.index("True"))) | (for_it & (answer == ANSWERS.index("False")))
    known = (answer >= 0) & np.array([stance is not None for stance in stances], dtype=bool)
    return np.where(known, conflict.astype(float), np.nan)


def desired_move(without: np.ndarray, with_evidence: np.ndarray, stances: Sequence[str | None]) -> np.ndarray:
    """D(answer with the evidence) - D(answer without it) of each pair: 2, 0 or -2; nan where undefined.

    >>> desired_move([[0.1, 0.8, 0.1]], [[0.7, 0.2, 0.1]], ["refutes"]).tolist()
    [2.0]
    """
    before, after = predicted_answers(without), predicted_answers(with_evidence)
    signs = desired_signs(stances)
    known = (before >= 0) & (after >= 0)
    rows = np.arange(len(before))
    return np.where(known, signs[rows, np.maximum(after, 0)] - signs[rows, np.maximum(before, 0)], np.nan)


def prediction_shifts(
    without: np.ndarray, with_evidence: np.ndarray, stances: Sequence[str | None], rows: Sequence[str]
) -> PredictionShifts:
    """Answers without and with evidence, by its stance.

    Parameters
    ----------
    without, with_evidence : (n, 3) float arrays
        Probabilities of ANSWERS; nan where not known.
    stances : n names of usage.DESIRED, or None
    rows : names of usage.DESIRED
        The stances to count, in the order of the result. Pairs of other stances are left out and counted.

    Raises
    ------
    ValueError
        Unknown stances, or shapes that do not fit.

    References
    ----------
    Hagström et al. (2024), A Reality Check on Context Utilisation for Retrieval-Augmented Generation, table 21
    (arXiv:2412.17031). Its row for undecided evidence leaves out `insufficient-supports`.

    Examples
    --------
    >>> without, with_evidence = [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]], [[0.5, 0.3, 0.2], [0.8, 0.1, 0.1]]
    >>> result = prediction_shifts(without, with_evidence, ["refutes", "refutes"], ["refutes"])
    >>> result.after.tolist(), result.change.tolist(), result.desired_moves.tolist(), result.memory_conflicts.tolist()
    ([[2, 0, 0]], [[1, 0, -1]], [2], [1])
    """
    n, q = len(stances), len(ANSWERS)
    before, after = predicted_answers(without), predicted_answers(with_evidence)
    if len(before) != n or len(after) != n:
        raise ValueError(f"{n} stances need probabilities of the shape {(n, q)}")
    signs = desired_signs(tuple(rows))
    place = {stance: code for code, stance in enumerate(rows)}
    desired_signs(stances)  # refuses unknown names
    row = np.array([-1 if stance is None else place.get(stance, -2) for stance in stances], dtype=int).reshape(n)
    unknown, tied = (before == UNKNOWN) | (after == UNKNOWN), (before == TIED) | (after == TIED)
    reasons = {
        NO_STANCE: row == -1,
        "another stance": row == -2,
        NO_PROBABILITY: (row >= 0) & unknown,
        TIED_ANSWERS: (row >= 0) & ~unknown & tied,
    }
    used = (row >= 0) & ~unknown & ~tied
    cell = (row[used] * q + before[used]) * q + after[used]
    transitions = np.bincount(cell, minlength=len(rows) * q * q).reshape(len(rows), q, q)
    change = transitions.sum(axis=1) - transitions.sum(axis=2)
    conflict = np.nan_to_num(memory_conflict(without, stances)).astype(int)
    return PredictionShifts(
        stances=tuple(rows),
        transitions=transitions,
        desired_moves=(signs * change).sum(axis=1).astype(int),
        memory_conflicts=np.bincount(row[used], weights=conflict[used], minlength=len(rows)).astype(int),
        left_out={reason: int(where.sum()) for reason, where in reasons.items() if where.any()},
    )


def inter_context_conflicts(claim: np.ndarray, n_claims: int, stances: Sequence[str | None]) -> ContextConflicts:
    """Claims that one piece of evidence supports and another refutes (DRUID, table 3).

    Parameters
    ----------
    claim : (n,) int array
        The claim of each piece of evidence, 0 to n_claims - 1.
    n_claims : int
    stances : n names, or None
        Only `supports` and `refutes` can conflict; leaning evidence cannot.

    >>> result = inter_context_conflicts([0, 0, 1, 1], 2, ["supports", "refutes", "supports", "insufficient-refutes"])
    >>> result.conflicting.tolist(), result.n_stances.tolist()
    ([True, False], [2, 2])
    """
    claim = code_column(claim, n_claims, "claim")
    if len(claim) != len(stances):
        raise ValueError(f"{len(stances)} stances and {len(claim)} claims of evidence")
    if (claim < 0).any():
        raise ValueError("every piece of evidence belongs to a claim")
    known = np.array([stance is not None for stance in stances], dtype=bool)
    n_for, n_against, n_stances = (
        np.bincount(claim[where], minlength=n_claims) for where in (_is(stances, FOR), _is(stances, AGAINST), known)
    )
    return ContextConflicts(n_for, n_against, n_stances, (n_for > 0) & (n_against > 0))


def _is(stances: Sequence[str | None], name: str) -> np.ndarray:
    return np.array([stance == name for stance in stances], dtype=bool)
