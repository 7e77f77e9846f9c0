"""A judge's labels by the values of a column, such as the prompt or the system: how good the judge is there, how common
each label is, and whether it is more common in one than in another ('which prompt is better').

What a judge says of a prompt is off where the judge is. The share of a label is therefore corrected by the people who
labelled some of the rows (prediction-powered; where nobody judged further rows, people's labels alone). Of a difference
each cluster, or row, contributes its part of both shares, so that systems that answered the same questions are compared
within the questions where these are the clusters:

    psi_c = sum over labelled rows of c: (Y - lambda F - m) / n  +  lambda sum over other rows of c: (F - m') / N

for one value of the column minus the same for the other, with m and m' the two means of the share, and variance
``C / (C - 2) * sum psi_c^2`` on C - 2 degrees of freedom, two means being estimated: of independent rows that people
labelled all, as many of each value, that is Student's test of two samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analysis.judge.table import TableProblem
from analysis.judge.verdict import JudgedColumn, Rate

if TYPE_CHECKING:
    from analysis.judge.scale import CorrectedMean
    from analysis.stats.scale.errors import ScaleError

MOST_VALUES = 12


@dataclass(frozen=True)
class SliceShare:
    """How common a label is: by the judge, and corrected by people's labels; `undefined` says why it cannot be."""

    label: str
    raw: float
    corrected: float
    low: float
    high: float
    undefined: str = ""


@dataclass(frozen=True)
class Slice:
    """The rows with one value of the column. `accuracy` is against people's labels; on a scale there are `error` and
    `mean` instead, and the only share is of the mean."""

    value: str
    n_rows: int
    accuracy: Rate | None
    shares: tuple[SliceShare, ...]
    error: ScaleError | None = None
    mean: CorrectedMean | None = None


@dataclass(frozen=True)
class SliceDifference:
    """The corrected share of a label with value `a` minus that with `b`; `p` is adjusted by Holm over all pairs and
    labels of the judge."""

    label: str
    a: str
    b: str
    estimate: float
    low: float
    high: float
    p: float
    undefined: str = ""


def slices_of(judged: JudgedColumn, values: Sequence[str]) -> tuple[tuple[Slice, ...], tuple[SliceDifference, ...]]:
    """By the values of a column, one for each row. TableProblem for too many of them, or a row without one."""
    if "" in values:
        raise TableProblem(f"Row {list(values).index('') + 1} has nothing in the column of --by")
    names, code_of_row = np.unique(np.asarray(values, dtype=object), return_inverse=True)
    if not 2 <= len(names) <= MOST_VALUES:
        raise TableProblem(f"The column of --by has {len(names)} different values; it takes 2 to {MOST_VALUES}")
    rows = [code_of_row == code for code in range(len(names))]
    parts = [[_share(judged, *measure, of) for of in rows] for measure in judged.measures]
    slices = tuple(
        Slice(
            str(name),
            int(of.sum()),
            shares=tuple(by_slice[place].share for by_slice in parts),
            **judged.quality(of),
        )
        for place, (name, of) in enumerate(zip(names, rows, strict=True))
    )
    # Of two labels one is what the other is not.
    asked = parts[-1:] if len(parts) == 2 else parts
    found = [
        _difference(str(names[a]), str(names[b]), by_slice[a], by_slice[b])
        for by_slice in asked
        for a, b in combinations(range(len(names)), 2)
    ]
    return slices, _adjusted(found)


@dataclass(frozen=True)
class _Part:
    """A share, what each cluster contributes to it, and the clusters with people's labels."""

    share: SliceShare
    psi: np.ndarray
    clusters: np.ndarray


def _share(judged: JudgedColumn, name: str, theirs: np.ndarray, mine: np.ndarray, of: np.ndarray) -> _Part:
    from analysis.stats.accuracy.prediction_powered import prediction_powered_mean

    columns = judged.columns
    both, only = judged.both & of, of & (judged.reference < 0) & (judged.predicted >= 0)
    cluster = np.arange(columns.n_rows) if columns.cluster is None else columns.cluster
    powered = prediction_powered_mean(
        theirs[both],
        mine[both],
        mine[only],
        None if columns.cluster is None else cluster[both],
        None if columns.cluster is None else cluster[only],
        power=None if only.any() else 0.0,
    )
    known = of & (judged.predicted >= 0)
    raw = float(mine[known].mean()) if known.any() else math.nan
    share = SliceShare(name, raw, powered.estimate, powered.low, powered.high, powered.undefined)
    psi = np.zeros(int(cluster.max(initial=-1)) + 1)
    if not powered.undefined:
        off = (theirs - powered.power * mine)[both]
        np.add.at(psi, cluster[both], (off - off.mean()) / len(off))
        if only.any() and powered.power:
            others = mine[only]
            np.add.at(psi, cluster[only], powered.power * (others - others.mean()) / len(others))
    return _Part(share, psi, np.unique(cluster[both]))


def _difference(a: str, b: str, one: _Part, other: _Part) -> SliceDifference:
    from scipy import stats

    estimate = one.share.corrected - other.share.corrected
    psi, n_clusters = one.psi - other.psi, len(np.union1d(one.clusters, other.clusters))
    undefined = one.share.undefined or other.share.undefined or ("too few rows" if n_clusters < 3 else "")
    if undefined or not psi.any():
        reason = undefined or "all labels are equal"
        return SliceDifference(one.share.label, a, b, estimate, math.nan, math.nan, math.nan, reason)
    error, freedom = math.sqrt(n_clusters / (n_clusters - 2) * float(psi @ psi)), n_clusters - 2
    reach = float(stats.t.ppf(0.975, freedom)) * error
    p = 2 * float(stats.t.sf(abs(estimate) / error, freedom))
    return SliceDifference(one.share.label, a, b, estimate, estimate - reach, estimate + reach, p)


def _adjusted(found: list[SliceDifference]) -> tuple[SliceDifference, ...]:
    from analysis.stats.resampling.multiplicity import holm

    p = np.array([one.p for one in found])
    p[~np.isnan(p)] = holm(p[~np.isnan(p)])
    return tuple(replace(one, p=float(adjusted)) for one, adjusted in zip(found, p, strict=True))
