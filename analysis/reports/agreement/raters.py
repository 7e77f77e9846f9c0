"""Whose labels reports on agreement look at."""

from __future__ import annotations

import pandas as pd

from analysis.sources.outline import MEMBER


def raters_of_group(raters: pd.DataFrame, group: str) -> pd.DataFrame:
    """The raters of a group, a key of GROUPS."""
    is_member = raters["kind"] == MEMBER
    return {"all": raters, "members": raters[is_member], "imported": raters[~is_member]}[group]
