"""How far a language model uses a piece of evidence: accumulated context usage (DRUID, equations 1 and 2).

For each answer t of ANSWERS the probability without and with the evidence is compared, as a share of how far it could
have moved: dP(t) = (with - without) / (1 - without) if with >= without, else (with - without) / without. Evidence of a
stance should move each answer up or down: DESIRED has the signs D(t, stance).

The paper defines the *mean* of the three signed changes (-1 to 1), and so does its public notebook; the tables that it
prints (11, 15 to 20 and 22) have their *sum* (-3 to 3). Both are here, under names of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ANSWERS = ("False", "None", "True")
# D(t, stance) in the order of ANSWERS.
DESIRED = {
    "refutes": (1, -1, -1),
    "insufficient-refutes": (1, 1, -1),
    "insufficient-contradictory": (-1, 1, -1),
    "insufficient-neutral": (-1, 1, -1),
    "insufficient-supports": (-1, 1, 1),
    "supports": (-1, -1, 1),
    "not_applicable": (-1, 1, -1),
    # Three-way label sets know one kind of insufficient evidence, with the desired change of the neutral kind.
    "not_enough_info": (-1, 1, -1),
}
UNKNOWN_PROBABILITY = "a probability is not known"
CERTAIN_WITHOUT = "an answer is certain without the evidence, and stays so"
NO_STANCE = "the evidence has no stance"
# What adding up probabilities of many continuations may miss.
ROUNDING = 1e-6
REASONS = (UNKNOWN_PROBABILITY, CERTAIN_WITHOUT, NO_STANCE)


@dataclass(frozen=True, eq=False)
class ContextUsage:
    """Context usage of each pair of claim and evidence.

    Attributes
    ----------
    change : (n, 3) float array
        dP(t), in the order of ANSWERS; nan where undefined.
    acu_mean, acu_sum : (n,) float arrays
        Mean (-1 to 1) and sum (-3 to 3) of D(t, stance) dP(t); nan where a dP or the stance is undefined.
    reason : (n,) int array
        Position in REASONS of why they are undefined, -1 where they are defined.
    """

    change: np.ndarray
    acu_mean: np.ndarray
    acu_sum: np.ndarray
    reason: np.ndarray

    def why_undefined(self, pair: int) -> str:
        """The reason of one pair; empty where its usage is defined."""
        return REASONS[self.reason[pair]] if self.reason[pair] >= 0 else ""


def scaled_change(without: np.ndarray, with_evidence: np.ndarray) -> np.ndarray:
    """dP of probabilities, element by element (equation 1), from -1 to 1.

    Undefined, and nan, where a probability is nan, and where the denominator is 0: an answer that is certain without
    the evidence and stays so had nowhere to move. (A fall from 0 cannot be, so the other denominator is never 0.)
    ValueError for what is no probability; sums of probabilities that rounding took out of 0 to 1 by less than a
    millionth are taken as the end that they passed.

    >>> scaled_change(np.array([0.5, 0.5, 1.0, 0.0]), np.array([0.75, 0.25, 1.0, 0.0])).tolist()
    [0.5, -0.5, nan, 0.0]
    """
    before, after = (_probabilities(values) for values in (without, with_evidence))
    difference = after - before
    room = np.where(difference >= 0, 1 - before, before)
    return np.divide(difference, room, out=np.full(difference.shape, np.nan), where=room > 0)


def _probabilities(values: np.ndarray) -> np.ndarray:
    shares = np.asarray(values, dtype=float)
    if np.any((shares < -ROUNDING) | (shares > 1 + ROUNDING)):
        raise ValueError("probabilities lie between 0 and 1")
    return shares.clip(0, 1)


def desired_signs(stances: Sequence[str | None]) -> np.ndarray:
    """D(t, stance) of n stances, (n, 3) in the order of ANSWERS; nan where a stance is None.

    ValueError for a stance that DESIRED does not have.

    >>> desired_signs(["insufficient-supports", None]).tolist()
    [[-1.0, 1.0, 1.0], [nan, nan, nan]]
    """
    for stance in set(stances) - {None}:
        if stance not in DESIRED:
            raise ValueError(f"there is no stance {stance!r}; there are {', '.join(DESIRED)}")
    unknown = (np.nan,) * len(ANSWERS)
    signs = [DESIRED[one] if one is not None else unknown for one in stances]
    return np.array(signs, dtype=float).reshape(len(stances), len(ANSWERS))


def context_usage(without: np.ndarray, with_evidence: np.ndarray, stances: Sequence[str | None]) -> ContextUsage:
    """Context usage of n pairs.

    Parameters
    ----------
    without, with_evidence : (n, 3) arrays
        Probabilities of ANSWERS, in that order, before and after the evidence was given; nan where not known.
    stances : n names of DESIRED, or None
        What the evidence says about the claim; `not_applicable` for evidence that is not relevant.

    Raises
    ------
    ValueError
        For an unknown stance, shapes that do not fit, or what is no probability.

    >>> result = context_usage([[0.5, 0.25, 0.25]], [[0.25, 0.25, 0.5]], ["supports"])
    >>> result.change.round(3).tolist(), result.acu_sum.round(3).tolist(), result.acu_mean.round(3).tolist()
    ([[-0.5, 0.0, 0.333]], [0.833], [0.278])
    """
    before, after = np.asarray(without, dtype=float), np.asarray(with_evidence, dtype=float)
    shape = (len(stances), len(ANSWERS))
    if before.reshape(-1, len(ANSWERS)).shape != shape or after.reshape(-1, len(ANSWERS)).shape != shape:
        raise ValueError(f"{len(stances)} stances need probabilities of the shape {shape}")
    before, after = before.reshape(shape), after.reshape(shape)
    signs = desired_signs(stances)
    change = scaled_change(before, after)
    total = (signs * change).sum(axis=1)
    is_unknown = np.isnan(before).any(axis=1) | np.isnan(after).any(axis=1)
    cases = [is_unknown, np.isnan(change).any(axis=1), np.isnan(signs).any(axis=1)]
    return ContextUsage(change, total / len(ANSWERS), total, np.select(cases, [0, 1, 2], -1))
