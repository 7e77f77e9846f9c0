"""Shares of units as figures, with intervals that draw whole claims or questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analysis.reports.figures import RESAMPLES, figure

if TYPE_CHECKING:
    import numpy as np

NOTHING_COUNTED = "no unit counts"


def shares_of(
    parts: Mapping[str, np.ndarray],
    cluster: np.ndarray | None = None,
    n_resamples: int = RESAMPLES,
    undefined: str = NOTHING_COUNTED,
) -> dict[str, dict]:
    """The share of every part, of the units that are in any of them; no unit is in two.

    `cluster` numbers what units come in; without it they are drawn one by one. `undefined` is said where there is no
    unit at all.
    """
    import numpy as np

    from analysis.stats import outcome_shares

    names = list(parts)
    code = np.select(list(parts.values()), range(len(names)), -1).astype(np.int64)
    counted = outcome_shares(code, names, np.where(code < 0, -1, 0), ("all",), cluster)
    return {name: _with_reason(figure(counted.share(name, "all"), n_resamples), undefined) for name in names}


def share_of(
    is_so: np.ndarray,
    cluster: np.ndarray | None = None,
    n_resamples: int = RESAMPLES,
    undefined: str = NOTHING_COUNTED,
) -> dict:
    """The share of units of which something is so."""
    from analysis.stats import outcome_shares

    counted = outcome_shares(is_so.astype(int), ("not", "so"), is_so * 0, ("all",), cluster)
    return _with_reason(figure(counted.share("so", "all"), n_resamples), undefined)


def _with_reason(share: dict, undefined: str) -> dict:
    return share | {"undefined": undefined} if share["undefined"] else share
