"""Labels of a source's frames as `analysis.stats` takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels


def coded_labels(
    labels: pd.DataFrame,
    units: pd.DataFrame,
    values: tuple[str, ...],
    *,
    by: str = "rater",
    exchangeable: bool = False,
) -> Labels:
    """What `Labels.from_columns` makes of the same rows, by whole columns: a large project's first figures wait for it.

    Parameters
    ----------
    labels : frame with the columns unit, label and `by`
    units : frame with the columns unit and cluster; units are numbered in its order
    values : every label there could be, in the order of the scale
    by : the column of who gave the label; people are numbered in the order in which they appear

    Raises
    ------
    ValueError
        A label that is not among `values`, or a unit that is not among `units`, named.
    """
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels

    unit = pd.Index(units["unit"].to_numpy()).get_indexer(labels["unit"].to_numpy())
    if (unit < 0).any():
        raise ValueError(f"unit {labels['unit'].iloc[int(np.argmin(unit))]!r} is not among the units")
    value = pd.Categorical(labels["label"], categories=list(values)).codes
    if (value < 0).any():
        raise ValueError(f"unknown label {labels['label'].iloc[int(np.argmin(value))]!r}; known are {list(values)}")
    rater, names = pd.factorize(labels[by])
    group = pd.factorize(units["cluster"], use_na_sentinel=False)[0]
    cluster = np.full(len(units), -1, dtype=np.int32)
    cluster[unit] = pd.factorize(group[unit])[0]
    return Labels(
        unit=unit.astype(np.int32),
        rater=rater.astype(np.int32),
        value=value.astype(np.int32),
        n_units=len(units),
        categories=tuple(values),
        cluster=cluster,
        exchangeable=exchangeable,
        unit_names=tuple(map(str, units["unit"].tolist())),
        rater_names=tuple(map(str, names)),
    )


def cluster_codes(units: pd.DataFrame) -> np.ndarray:
    """What every unit comes in, as a number: units of one claim or question are drawn together."""
    return units["cluster"].astype("category").cat.codes.to_numpy()
