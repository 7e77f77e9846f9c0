"""Two sides that each label units yes or no, one of them the reference: choices, figures and cells."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from analysis.figures.results import Figure
from analysis.reports.estimates import to_figure
from analysis.stats import Detection, Labels, cohen_kappa

CELLS = ((1, 1), (0, 1), (1, 0), (0, 0))  # what the reference and the other side say


def check_split(by: str, run: str) -> None:
    """ValueError for options of a split that cannot be."""
    if by == "checker" and not run:
        raise ValueError("Name a run to split by its labels")


def detection_figures(detected: Detection, *, quick: bool) -> dict[str, Figure]:
    names = ("f1", "precision", "recall", "accuracy")
    return {name: to_figure(getattr(detected, name), quick=quick) for name in names}


def kappa_figure(reference: np.ndarray, other: np.ndarray, cluster: np.ndarray, *, quick: bool) -> Figure | None:
    """Cohen's kappa of codes 1, 0 and -1 (no label); None where no unit has both."""
    both = np.flatnonzero((reference >= 0) & (other >= 0))
    if not len(both):
        return None
    labels = Labels(
        unit=both.repeat(2),
        rater=np.tile([0, 1], len(both)),
        value=np.column_stack([reference[both], other[both]]).ravel().astype(np.int64),
        n_units=len(reference),
        categories=("no", "yes"),
        cluster=cluster,
    )
    return to_figure(cohen_kappa(labels, 0, 1), quick=quick)


def cross(reference: np.ndarray, other: np.ndarray, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Which units are in each of the `CELLS`, which have these names."""
    return {name: (reference == first) & (other == second) for name, (first, second) in zip(names, CELLS, strict=True)}
