"""A labeller's values mapped to people's by a rising step function, judged on rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.means import GroupedMeans, grouped_means

FOLDS = 5
LEAST_ROWS = 50
FEWEST_VALUES = 3
TOO_FEW = f"fewer than {LEAST_ROWS} rows (or {FOLDS} clusters) have both values"
TOO_FEW_VALUES = f"the labeller gives fewer than {FEWEST_VALUES} different values"


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaleCalibration:
    """`calibrated` has a value for each row with one of the labeller: out of fold where the row has a reference, else
    by all rows. `points` are the labeller's values and what each becomes by all rows. `means` are mean squared errors
    before and after, and after minus before, out of fold. Empty where `undefined` gives a reason."""

    calibrated: np.ndarray
    points: tuple[tuple[float, float], ...]
    means: GroupedMeans | None
    undefined: str = ""


def isotonic_calibration(
    labeller: np.ndarray, reference: np.ndarray, cluster: np.ndarray | None = None, seed: int = 0
) -> ScaleCalibration:
    """Isotonic regression of the reference on a labeller's values, out of fold.

    Rows, or whole clusters, are divided into FOLDS parts at random; each is calibrated by the other parts. Between the
    values that were fitted the function is linear, and beyond them constant.

    Parameters
    ----------
    labeller, reference : (n_rows,) float arrays
        nan where there is none.
    cluster : (n_rows,) array, optional
    seed : int

    Returns
    -------
    ScaleCalibration
        Undefined with fewer than LEAST_ROWS rows with both, with fewer clusters than folds, or FEWEST_VALUES values of
        the labeller.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk (1972), Statistical inference under order restrictions; Zadrozny and Elkan
    (2002), KDD, 694-699; doi:10.1145/775047.775151. The regression itself is scipy's.

    Examples
    --------
    >>> judge = np.tile([1.0, 2, 3, 4, 5], 20)
    >>> found = isotonic_calibration(judge, judge / 2)
    >>> found.points
    ((1.0, 0.5), (2.0, 1.0), (3.0, 1.5), (4.0, 2.0), (5.0, 2.5))
    """
    labeller, reference = np.asarray(labeller, dtype=float), np.asarray(reference, dtype=float)
    has = np.isfinite(labeller)
    both = has & np.isfinite(reference)
    rows = np.flatnonzero(both)
    member = np.arange(len(rows)) if cluster is None else np.unique(np.asarray(cluster)[both], return_inverse=True)[1]
    n_members = int(member.max(initial=-1)) + 1
    undefined = TOO_FEW if len(rows) < LEAST_ROWS or n_members < FOLDS else ""
    if not undefined and len(np.unique(labeller[both])) < FEWEST_VALUES:
        undefined = TOO_FEW_VALUES
    calibrated = np.full(len(labeller), np.nan)
    if undefined:
        return ScaleCalibration(calibrated=calibrated, points=(), means=None, undefined=undefined)
    known, fitted = _fitted(labeller[both], reference[both])
    calibrated[has] = np.interp(labeller[has], known, fitted)
    fold = np.random.default_rng(seed).permutation(n_members) % FOLDS
    for part in range(FOLDS):
        held, rest = rows[fold[member] == part], rows[fold[member] != part]
        calibrated[held] = np.interp(labeller[held], *_fitted(labeller[rest], reference[rest]))
    before, after = (labeller[both] - reference[both]) ** 2, (calibrated[both] - reference[both]) ** 2
    means = grouped_means(
        np.column_stack([before, after, after - before]), np.ones((len(rows), 1), dtype=bool),
        None if cluster is None else member,
    )  # fmt: skip
    points = tuple((float(value), float(one)) for value, one in zip(known, fitted, strict=True))
    return ScaleCalibration(calibrated=calibrated, points=points, means=means)


def _fitted(labeller: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labeller's distinct values, and the regression's value at each."""
    from scipy.optimize import isotonic_regression

    known, place, times = np.unique(labeller, return_inverse=True, return_counts=True)
    return known, isotonic_regression(np.bincount(place, reference) / times, weights=times).x
