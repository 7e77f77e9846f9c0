"""A run's probabilities against the reference: whether they mean what they say, and how well they tell labels apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import RESAMPLES, figure, number, plain_figure
from analysis.sources import Run, Source
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

BINS = 10
# Curves sort every unit; above so many units fewer resamples say as much in a fraction of the time.
MANY_UNITS, FEWER_RESAMPLES = 20_000, 200
CURVE_POINTS = 200  # more than a picture can show apart


def probabilities(
    source: Source, dimension: Dimension, run: Run, code: np.ndarray, leave_out: np.ndarray, units: pd.DataFrame
) -> tuple[dict | None, dict[str, list[int]]]:
    """Calibration, areas and thresholds of a run's probabilities, and the units of every bin and in the
    order of each label's probability; None where it gave none.

    `code` are the reference's codes; units where `leave_out` holds (the checker found the question not to be asked)
    count as without probabilities.
    """
    import numpy as np

    from analysis.stats import areas, calibration, curve_points, threshold_sweep
    from analysis.stats.calibration import EMPTY_BIN

    given = source.probability_frame(run, dimension.slug, dimension.values)
    if given.empty:
        return None, {}
    table = given.reindex(units["unit"]).to_numpy(dtype=float, copy=True)
    table[leave_out | ~(table.sum(axis=1) > 0)] = np.nan
    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    found = calibration(code, table, cluster, BINS)
    n_resamples = RESAMPLES if found.brier.n_pairable <= MANY_UNITS else FEWER_RESAMPLES
    labels, orders = [], {}
    ids = units["unit"].to_numpy()
    for place, label in enumerate(dimension.labels):
        truth = np.where(code < 0, -1, code == place).astype(int)
        curve = areas(table[:, place], truth, cluster)
        sweep = threshold_sweep(table[:, place], truth, cluster)
        points = curve_points(table[:, place], truth).thinned(CURVE_POINTS)
        # Whatever threshold one takes, what reaches it comes first: one list stands for all of them.
        counted = np.flatnonzero((truth >= 0) & np.isfinite(table[:, place]))
        falling = np.argsort(-table[counted, place], kind="stable")
        orders[f"{dimension.slug}/taken/{label.value}/order"] = ids[counted[falling]].tolist()
        labels.append(
            {
                "label": label.value,
                "title": label.title,
                "share": number(curve.share),
                "roc_auc": figure(curve.roc_auc, n_resamples),
                "average_precision": figure(curve.average_precision, n_resamples),
                "curve": {
                    name: [round(value, 6) for value in getattr(points, name).tolist()]
                    for name in ("threshold", "false_positive_rate", "recall", "precision")
                },
                "f1": figure(sweep.f1),
                "accuracy": figure(sweep.accuracy),
                "chosen": list(sweep.chosen),
                "thresholds": [
                    {
                        "threshold": row.threshold,
                        "n_taken": row.n_taken,
                        **{name: number(getattr(row, name)) for name in ("precision", "recall", "f1", "accuracy")},
                    }
                    for row in sweep.rows
                ],
            }
        )
    behind = {
        f"{dimension.slug}/bin/{place}/units": ids[found.bin_of_unit == place].tolist()
        for place in range(len(found.bins))
    } | orders
    return {
        "ece": figure(found.ece, n_resamples),
        "brier": figure(found.brier, n_resamples),
        "bins": [
            {
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "confidence": number(one.confidence),
                "accuracy": plain_figure(one.accuracy, "" if one.n else EMPTY_BIN, one.n, interval),
            }
            for one, interval in zip(found.bins, found.bin_intervals(n_resamples), strict=True)
        ],
        "labels": labels,
    }, behind
