"""The raters of reports on agreement."""

from __future__ import annotations

import pandas as pd

from analysis.reports.agreement.agreement.result import GROUPS
from analysis.sources.outline import GROUP, MEMBER, groups_in


def raters_of_group(raters: pd.DataFrame, group: str) -> pd.DataFrame:
    """The raters of a group: a key of GROUPS, or a group that a file names, after GROUP."""
    if group.startswith(GROUP):
        chosen = raters[raters["group"] == group.removeprefix(GROUP)]
        if not len(chosen):
            raise ValueError(f"there are no raters of the group {group.removeprefix(GROUP)!r}")
        return chosen
    if group not in GROUPS:
        raise ValueError(f"raters is one of {', '.join(GROUPS)}, or {GROUP} and the name of a group, not {group!r}")
    is_member = raters["kind"] == MEMBER
    return {"all": raters, "members": raters[is_member], "imported": raters[~is_member]}[group]


def groups_among(raters: pd.DataFrame) -> list[str]:
    """The groups that are taken together where all of these raters are; none where there are not several."""
    return groups_in(raters["group"])
