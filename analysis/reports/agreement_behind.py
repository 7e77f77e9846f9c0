"""Units behind the figures of agreement: what is stored, and what is put together from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import pairs
from analysis.reports.agreement_figures import rows_of
from analysis.reports.opened import UNITS, Behind, by_code, in_order, of_pair, part_of, said, together
from analysis.sources.base import MEMBER, SLOT

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels


def of_all(units: pd.DataFrame, sources: list[str]) -> Behind:
    """All units, and those of each of these sources."""
    import numpy as np
    import pandas as pd

    ids = units["unit"].to_numpy()
    code = pd.Index(sources).get_indexer(units["source"]) if sources else np.full(len(ids), -1)
    names = [f"source/{part_of(name)}" for name in sources]
    return {UNITS: ids.tolist()} | by_code(ids, np.arange(len(ids)), code, names)


def of_dimension(found: dict, coded: Labels, labels: pd.DataFrame, ids: np.ndarray) -> Behind:
    """Units by what their labels say about agreement. `found` is the dimension's part of the report; `coded` and
    `labels` are the same rows."""
    import numpy as np

    slug, n = found["dimension"], np.bincount(coded.unit, minlength=coded.n_units)
    first = np.zeros(coded.n_units, dtype=coded.value.dtype)
    first[coded.unit] = coded.value
    other = np.zeros(coded.n_units, dtype=bool)
    other[coded.unit[coded.value != first[coded.unit]]] = True
    sides = {"agree": (n > 1) & ~other, "disagree": other, "single": n == 1, "unlabelled": n == 0}
    behind = {f"{slug}/{name}": ids[where].tolist() for name, where in sides.items()}
    behind |= by_code(ids, coded.unit, coded.value, [f"{slug}/label/{label}" for label in coded.categories])
    people = (labels["rater_kind"] != SLOT).to_numpy()
    behind |= said(f"{slug}/said", rows_of(coded, people), ids)
    for part, keep in _parts(found, labels).items():
        n = np.bincount(coded.unit[keep], minlength=coded.n_units)
        behind[f"{slug}/{part}"] = ids[n > 0].tolist()
        behind[f"{slug}/{part}/pair"] = ids[n > 1].tolist()
    return behind


def _parts(found: dict, labels: pd.DataFrame) -> dict[str, np.ndarray]:
    """Which labels belong to each part that the report sets apart."""
    parts = {f"arm/{row['arm']}": (labels["arm"] == row["arm"]).to_numpy() for row in found["by_arm"]}
    for row in found["by_version"]:
        mine = labels["guideline_version"].eq(row["version"]).fillna(False)
        parts[f"version/{row['version']}"] = mine.to_numpy(dtype=bool)
    if found["members_against_imported"]:
        is_member = (labels["rater_kind"] == MEMBER).to_numpy()
        parts |= {"group/members": is_member, "group/imported": ~is_member}
    return parts


def opened(behind: Behind, figure: str) -> list[int] | None:
    """Units of a figure that is not stored as it is; None where there is no such figure."""
    slug, *parts = figure.split("/")
    if f"{slug}/agree" not in behind:
        return None
    paired = [f"{slug}/agree", f"{slug}/disagree"]
    match parts:
        case ["paired"]:
            return together(behind, paired)
        case ["source", name] if f"source/{name}" in behind:
            return in_order(behind, set(behind[f"source/{name}"]).intersection(together(behind, paired)))
        case ["pair", a, b, way]:
            return of_pair(behind, f"{slug}/said", a, b, way)
        case ["pair", a, b, of_a, of_b]:
            return pairs.opened(behind, f"{slug}/said", a, b, of_a, of_b)
    return None
