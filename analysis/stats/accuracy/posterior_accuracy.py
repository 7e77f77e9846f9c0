"""A labeller against a truth that is itself uncertain: the posterior of Dawid-Skene or MACE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.stats.labels import code_column
from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide

NO_PAIR = "no unit has both a posterior and a label"


def expected_accuracy(
    posterior: np.ndarray,
    predicted: Sequence[int] | np.ndarray,
    cluster: Sequence[int] | np.ndarray | None = None,
) -> Estimate:
    """The mean probability, by the posterior, that the labeller's label is the true one.

    ``(1/n) sum_u posterior[u, predicted_u]``: the accuracy that is expected if each unit's truth is drawn from its
    posterior. Where all posteriors are 0 or 1 it is plain accuracy; where people are unsure, nobody can reach 1.

    Parameters
    ----------
    posterior : (n_units, n_categories) float array
        Rows add up to 1; nan rows where nobody labelled the unit.
    predicted : (n_units,) int array
        Codes, -1 for none.
    cluster : (n_units,) int array, optional

    Returns
    -------
    Estimate
        Undefined where no unit has both. The interval takes the posterior as known: what its own estimation adds is not
        in it.

    Raises
    ------
    ValueError
        Shapes that do not fit; codes outside the categories.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28(1), 20-28, for the posterior; doi:10.2307/2346806.

    Examples
    --------
    >>> posterior = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    >>> round(expected_accuracy(posterior, [0, 1, 0]).estimate, 4)
    0.7333
    """
    table = np.asarray(posterior, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"the posterior is a table of units by categories, not of {table.ndim} dimensions")
    codes = code_column(predicted, table.shape[1], "predicted")
    if len(codes) != len(table) or (cluster is not None and len(cluster) != len(table)):
        raise ValueError("posterior, predicted and cluster differ in length")
    known = ~np.isnan(table).any(axis=1)
    both = known & (codes >= 0)
    right = table[both, codes[both]]
    features = np.column_stack([right, np.ones(len(right))])
    group = None if cluster is None else np.asarray(cluster)[both]
    sample = SumSample(features, np.arange(len(right)), group, lambda sums: divide(sums[:, 0], sums[:, 1]))
    reasons = {"no posterior": int((~known).sum()), "no label": int((known & (codes < 0)).sum())}
    return Estimate(
        estimate=sample.value() if len(right) else np.nan,
        undefined="" if len(right) else NO_PAIR,
        n_units=len(codes),
        n_pairable=len(right),
        n_labels=len(right),
        left_out={reason: n for reason, n in reasons.items() if n},
        sample=sample,
    )
