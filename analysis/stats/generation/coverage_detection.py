"""Precision, recall and F1 of the aspects that a machine finds covered, against those that people find covered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_BOTH = "no aspect has both sides"
NONE_FOUND = "nothing was found covered by the machine"
NONE_TRUE = "people found nothing covered"
NONE_EITHER = "neither side found anything covered"
_FIGURES = ("precision", "recall", "f1")
_UNDEFINED = {"precision": NONE_FOUND, "recall": NONE_TRUE, "f1": NONE_EITHER}
_MISSING = {
    "precision": "nothing found covered by the machine",
    "recall": "nothing covered by people",
    "f1": "nothing covered by either side",
}


@dataclass(frozen=True, eq=False)
class CoverageDetection:
    """`pooled` is over aspects, `mean` over responses; each has precision, recall and f1 as Estimates. `n_both`,
    `n_only_machine`, `n_only_people` and `n_neither` count the aspects that have both sides."""

    pooled: dict[str, Estimate]
    mean: dict[str, Estimate]
    n_both: int
    n_only_machine: int
    n_only_people: int
    n_neither: int


def coverage_detection(
    people: Sequence[int] | np.ndarray,
    machine: Sequence[int] | np.ndarray,
    response: Sequence[int] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> CoverageDetection:
    """How well a machine finds the aspects that people find covered.

    With ``b`` aspects covered by both, ``m`` by the machine alone and ``p`` by people alone, precision is
    ``b / (b + m)``, recall ``b / (b + p)``, F1 ``2 b / (2 b + m + p)``. Pooled they are of all aspects together; the
    means are of the responses' own figures, a response without one (such as precision where the machine found nothing
    in it) being left out and counted. The F1 that ICAT prints (.835) is not the harmonic mean of its precision and
    recall (.903, .798: .847), so a mean over queries is what it must be.

    Parameters
    ----------
    people, machine : (n_units,) int arrays
        Per aspect in a response 1 where it is covered, 0 where it is not, -1 where that side says nothing; such units
        are left out and counted.
    response : (n_units,) int array
        The response of each unit.
    cluster : (n_units,) int array, optional
        The query of each unit; intervals then resample queries. Without it they resample units (pooled) or responses.

    Returns
    -------
    CoverageDetection
        Undefined where a denominator is 0.

    References
    ----------
    Samarinas et al. (2025), arXiv:2501.03545, appendix A.5 and table 8.

    Examples
    --------
    >>> result = coverage_detection([1, 1, 0, 1], [1, 0, 1, 1], [0, 0, 0, 1])
    >>> round(result.pooled["f1"].estimate, 4), result.mean["precision"].estimate, result.n_only_people
    (0.6667, 0.75, 1)
    """
    people_code, machine_code = code_column(people, 2, "people"), code_column(machine, 2, "machine")
    response = np.asarray(response)
    lengths = {len(people_code), len(machine_code), len(response)} | (set() if cluster is None else {len(cluster)})
    if len(lengths) > 1:
        raise ValueError("people, machine, response and cluster differ in length")
    known = (people_code >= 0) & (machine_code >= 0)
    left_out = {
        "without a label by people": int(((people_code < 0) & (machine_code >= 0)).sum()),
        "without a label by the machine": int(((people_code >= 0) & (machine_code < 0)).sum()),
        "without a label by either": int(((people_code < 0) & (machine_code < 0)).sum()),
    }
    truth, predicted = people_code[known].astype(bool), machine_code[known].astype(bool)
    cells = np.column_stack([truth & predicted, ~truth & predicted, truth & ~predicted]).astype(float)
    drawn_from = None if cluster is None else np.asarray(cluster)[known]
    response_code = np.unique(response[known], return_inverse=True)[1]
    counted = {reason: n for reason, n in left_out.items() if n}
    return CoverageDetection(
        pooled={name: _pooled(name, cells, drawn_from, len(known), counted) for name in _FIGURES},
        mean={name: _mean(name, cells, response_code, drawn_from) for name in _FIGURES},
        n_both=int((truth & predicted).sum()),
        n_only_machine=int((~truth & predicted).sum()),
        n_only_people=int((truth & ~predicted).sum()),
        n_neither=int((~truth & ~predicted).sum()),
    )


def _figure(name: str, cells: np.ndarray) -> np.ndarray:
    both, machine, people = cells.T
    if name == "precision":
        return divide(both, both + machine)
    if name == "recall":
        return divide(both, both + people)
    return divide(2 * both, 2 * both + machine + people)


def _pooled(name: str, cells: np.ndarray, cluster: np.ndarray | None, n_units: int, left_out: dict) -> Estimate:
    # Four kinds of unit: the cells and none of them.
    kind = np.where(cells.any(axis=1), cells.argmax(axis=1), 3)
    sample = SumSample(np.eye(4)[:, :3], kind, cluster, lambda sums: _figure(name, sums))
    value = sample.value()
    return Estimate(
        estimate=value,
        undefined="" if np.isfinite(value) else _UNDEFINED[name] if len(kind) else NO_BOTH,
        n_units=n_units,
        n_pairable=len(kind),
        n_labels=2 * len(kind),
        left_out=left_out,
        sample=sample,
    )


def _mean(name: str, cells: np.ndarray, response: np.ndarray, cluster: np.ndarray | None) -> Estimate:
    n_responses = int(response.max()) + 1 if len(response) else 0
    sums = np.zeros((n_responses, 3))
    np.add.at(sums, response, cells)
    values = _figure(name, sums)
    has = ~np.isnan(values)
    response_code = None
    if cluster is not None:
        response_code = np.zeros(n_responses, dtype=np.int64)
        response_code[response] = np.unique(cluster, return_inverse=True)[1]
    distinct, pattern = np.unique(values[has], return_inverse=True)
    sample = SumSample(
        np.column_stack([distinct, np.ones(len(distinct))]),
        pattern,
        None if response_code is None else response_code[has],
        lambda sums: divide(sums[:, 0], sums[:, 1]),
    )
    n_without = int((~has).sum())
    return Estimate(
        estimate=sample.value() if len(pattern) else np.nan,
        undefined="" if len(pattern) else _UNDEFINED[name] if n_responses else NO_BOTH,
        n_units=n_responses,
        n_pairable=len(pattern),
        n_labels=int(np.bincount(response, minlength=n_responses)[has].sum()) if n_responses else 0,
        left_out={_MISSING[name]: n_without} if n_without else {},
        sample=sample,
    )
