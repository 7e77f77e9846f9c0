"""Agreement where some items were chosen for more judgements: on the random share, weighted, and as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.coding import coded_labels
from analysis.reports.figures import figure
from analysis.reports.intervals import estimate, intervals
from analysis.reports.numbers import either, n_of
from analysis.reports.tabular import Table, linked
from analysis.sources import Source
from analysis.sources.base import MEMBER
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels

ROWS = {
    "random": "random share",
    "weighted": "all, weighted by the inverse chance",
    "naive": "all, as they are",
}


def chances_of_units(source: Source, units: pd.DataFrame) -> pd.DataFrame | None:
    """By place of unit: `drawn` for more than one judgement, `chosen` for an extra one, the `chance` to get more than
    one, and how many were `planned`. None where every item had the same chance, so that nothing needs weights.

    Whoever is chosen gets more than one in any case (chance 1); everybody else did by the draw.
    """
    import numpy as np
    import pandas as pd

    items = source.item_frame().set_index("item")
    if not len(items) or not items["n_extra"].any():
        return None
    of_unit = items.reindex(units["item"])
    chosen = (of_unit["n_extra"] > 0).to_numpy()
    share = source.multiple_share if source.overlap > 1 else 0.0
    return pd.DataFrame(
        {
            "drawn": of_unit["in_random_share"].to_numpy(dtype=bool) & (share > 0),
            "chosen": chosen,
            "chance": np.where(chosen, 1.0, share),
            "planned": of_unit["n_planned"].to_numpy(),
        },
        index=units["unit"].to_numpy(),
    )


def selected(
    dimension: Dimension, units: pd.DataFrame, labels: pd.DataFrame, chances: pd.DataFrame | None
) -> tuple[dict | None, dict[str, list[int]]]:
    """Figures of one dimension, and the units behind them. Only members' labels count: files know of no draw.

    Of items that were drawn and chosen only the judgements planned at first count, in the order in which they came,
    except in what is called 'as they are': an extra one asked for because two people differ must not decide anything.
    """
    if chances is None:
        return None, {}
    mine = labels[(labels["dimension"] == dimension.slug) & (labels["rater_kind"] == MEMBER)]
    if mine.empty:
        return None, {}
    from analysis.stats import krippendorff_alpha, percent_agreement, weighted_agreement

    level = "nominal" if dimension.level == "nominal" else "ordinal"
    first = coded_labels(mine[_as_planned(mine, chances)], units, dimension.values)
    everything = coded_labels(mine, units, dimension.values)
    drawn, chance = chances["drawn"].to_numpy(), chances["chance"].to_numpy()
    rows = []
    for name, title in ROWS.items():
        row: dict = {"name": name, "title": title}
        for key, measure in (
            ("percent_agreement", percent_agreement),
            ("alpha", lambda part: krippendorff_alpha(part, level)),
        ):
            if name == "weighted":
                found = weighted_agreement(measure, first, chance)
                row["effective_n"] = round(found.effective_n, 1)
            else:
                found = measure(first.select_units(drawn) if name == "random" else everything)
            row[key] = figure(found)
        rows.append(row)
    several = _several(everything)
    groups = {"drawn": several & drawn, "chosen": several & chances["chosen"].to_numpy() & ~drawn}
    rows_behind = {"random": _several(first) & drawn, "weighted": _several(first), "naive": several}
    ids = units["unit"].to_numpy()
    return {
        "level": level,
        "rows": rows,
        **{f"n_{name}": int(where.sum()) for name, where in groups.items()},
        "n_chosen_and_drawn": int((several & drawn & chances["chosen"].to_numpy()).sum()),
    }, {
        f"{dimension.slug}/{name}": ids[where].tolist()
        for name, where in (groups | {f"selection/{row}": where for row, where in rows_behind.items()}).items()
    }


def _as_planned(labels: pd.DataFrame, chances: pd.DataFrame) -> np.ndarray:
    """Which labels are by the first so many people whom a drawn item was meant for; all labels of other items."""
    import numpy as np

    moment = labels["submitted_at"].to_numpy(dtype="datetime64[ns]")
    order = np.lexsort((labels["rater"].to_numpy(dtype=str), moment, labels["unit"].to_numpy()))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = labels["unit"].iloc[order].groupby(labels["unit"].iloc[order]).cumcount().to_numpy()
    of_label = chances.loc[labels["unit"]]
    return (place < of_label["planned"].to_numpy()) | ~of_label["drawn"].to_numpy()


def _several(labels: Labels) -> np.ndarray:
    import numpy as np

    return np.bincount(labels.unit, minlength=labels.n_units) > 1


def tables(dimension: dict) -> list[Table]:
    """The section of a dimension of the agreement report; none where there is no selection."""
    found = dimension["selected"]
    if not found:
        return []
    rows = []
    for row in found["rows"]:
        n = row["alpha"]["n_pairable"]
        cell = linked(n, f"{dimension['dimension']}/selection/{row['name']}")
        rows.append(
            (row["title"], cell, row.get("effective_n"))
            + (*estimate(row["percent_agreement"]), *estimate(row["alpha"]))
        )
    note = (
        f"{n_of(found['n_chosen'], 'units')} not drawn {either(found['n_chosen'], 'has', 'have')} more than one label "
        f"because somebody asked for one more judgement; so were {found['n_chosen_and_drawn']} of the "
        f"{found['n_drawn']} drawn ones, of which the judgements planned at first count. Weights suppose that what "
        "was asked for does not depend on the answers that are compared; the random share supposes nothing."
    )
    columns = ("Units", "With a pair", "Effective number", *intervals("Agreement", f"Alpha ({found['level']})"))
    return [Table(f"{dimension['title']}: without the choice of items", columns, rows, note)]


def methods(dimensions: list[dict]) -> str:
    """What was done about the choice of items, for a paper; empty where nobody chose any."""
    if not any(dimension["selected"] for dimension in dimensions):
        return ""
    return (
        "Since further judgements were asked for some items, agreement is also given on the items drawn at random for "
        "more than one judgement, and over all with each unit weighted by the inverse of its chance to get more than "
        "one (Horvitz and Thompson 1952; 1 for items asked for, the share drawn for the others)."
    )
