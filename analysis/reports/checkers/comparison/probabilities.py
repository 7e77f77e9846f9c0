"""A run's probabilities against the reference: whether they mean what they say, and how well they tell labels apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.reports.checkers.comparison.result import (
    Bin,
    LabelCurve,
    LabelProbabilities,
    LabelThreshold,
    Probabilities,
)
from analysis.reports.estimates import RESAMPLES, cluster_codes, plain_figure, to_figure
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import Estimate, areas, calibration, curve_points, threshold_sweep
from analysis.stats.accuracy.calibration import EMPTY_BIN
from annotation.task_types import Dimension

BINS = 10
# Curves sort every unit; above so many units fewer resamples say as much in a fraction of the time.
MANY_UNITS, FEWER_RESAMPLES = 20_000, 200
CURVE_POINTS = 200  # more than a picture can show apart


def probabilities(
    items: Items,
    source: Source,
    dimension: Dimension,
    run: Run,
    code: np.ndarray,
    leave_out: np.ndarray,
    units: pd.DataFrame,
) -> Probabilities | None:
    """Calibration, areas and thresholds of a run's probabilities; None where it gave none.

    `code` are the reference's codes; units where `leave_out` holds (the checker found the question not to be asked)
    count as without probabilities. `items` get each unit's bin, and the greatest threshold that it reaches.
    """
    frame = source.probability_frame(run, dimension.slug, dimension.values)
    if frame.empty:
        return None
    table = frame.reindex(units["unit"]).to_numpy(dtype=float, copy=True)
    table[leave_out | ~(table.sum(axis=1) > 0)] = np.nan
    cluster = cluster_codes(units)
    calibrated = calibration(code, table, cluster, BINS)
    n_resamples = RESAMPLES if calibrated.brier.n_pairable <= MANY_UNITS else FEWER_RESAMPLES

    def figure(estimate: Estimate, n: int = n_resamples):
        return to_figure(estimate, quick=False, n_resamples=n)

    names = [f"{one.low:.1f} to {one.high:.1f}" for one in calibrated.bins]
    title = f"{dimension.title}: greatest probability"
    items.add(f"{dimension.slug}.bin", title, calibrated.bin_of_unit, list(map(str, range(len(names)))), names)
    labels = []
    for place, label in enumerate(dimension.labels):
        truth = np.where(code < 0, -1, code == place).astype(int)
        curve = areas(table[:, place], truth, cluster)
        sweep = threshold_sweep(table[:, place], truth, cluster)
        points = curve_points(table[:, place], truth).thinned(CURVE_POINTS)
        _add_thresholds(items, dimension, place, np.where(truth < 0, np.nan, table[:, place]), sweep.rows)
        labels.append(
            LabelProbabilities(
                label=label.value,
                title=label.title,
                share=number(curve.share),
                roc_auc=figure(curve.roc_auc),
                average_precision=figure(curve.average_precision),
                curve=LabelCurve(
                    **{
                        name: [round(value, 6) for value in getattr(points, name).tolist()]
                        for name in LabelCurve.__struct_fields__
                    }
                ),
                f1=figure(sweep.f1, RESAMPLES),
                accuracy=figure(sweep.accuracy, RESAMPLES),
                chosen=list(sweep.chosen),
                thresholds=[LabelThreshold.taking(row) for row in sweep.rows],
            )
        )
    return Probabilities(
        ece=figure(calibrated.ece),
        brier=figure(calibrated.brier),
        bins=[
            Bin.taking(one, accuracy=plain_figure(one.accuracy, "" if one.n else EMPTY_BIN, one.n, interval))
            for one, interval in zip(calibrated.bins, calibrated.bin_intervals(n_resamples), strict=True)
        ],
        labels=labels,
    )


def _add_thresholds(items: Items, dimension: Dimension, place: int, probability: np.ndarray, rows) -> None:
    """A column of the greatest threshold that each unit's probability of the label reaches; -1 below all of them."""
    thresholds = [row.threshold for row in rows]
    reached = np.searchsorted(thresholds, np.nan_to_num(probability, nan=-1.0), side="right") - 1
    label, named = dimension.labels[place], [f"{threshold:g}" for threshold in thresholds]
    title = f"{dimension.title}: probability of {label.title}, rounded down to a threshold"
    items.add(f"{dimension.slug}.probability.{label.value}", title, reached, named)
