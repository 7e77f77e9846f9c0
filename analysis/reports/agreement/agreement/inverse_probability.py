"""Agreement where some items were chosen for more judgements: on the random share, weighted by the inverse of the
chance to get more than one (Horvitz and Thompson 1952), and as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.agreement.agreement.result import Selected, SelectedRow
from analysis.reports.estimates import coded_labels, to_figure
from analysis.sources.base import Source
from analysis.sources.outline import MEMBER
from analysis.stats import Labels, krippendorff_alpha, percent_agreement, weighted_agreement
from annotation.task_types import Dimension

ROWS = {
    "random": "random share",
    "weighted": "all, weighted by inverse probability",
    "naive": "all, unweighted",
}


def chances_of_units(source: Source, units: pd.DataFrame) -> pd.DataFrame | None:
    """By place of unit: `drawn` for more than one judgement, `chosen` for an extra one, the `chance` to get more than
    one, and how many were `planned`. None where every item had the same chance, so that nothing needs weights.

    A chosen unit gets more than one in any case (chance 1); all others did by the draw.
    """
    items = source.item_frame().set_index("item")
    if not len(items) or not items["n_extra"].any():
        return None
    of_unit = items.reindex(units["item"])
    chosen = (of_unit["n_extra"] > 0).to_numpy()
    share = source.multiple_share if source.overlap > 1 else 0.0
    others = items.loc[~items["in_random_share"].astype(bool), "n_planned"]
    if len(others) and others.min() > 1:  # the draw decides about the third judgement
        share = 1.0
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
    dimension: Dimension,
    units: pd.DataFrame,
    labels: pd.DataFrame,
    chances: pd.DataFrame | None,
    items: Items,
    *,
    quick: bool,
) -> Selected | None:
    """Figures of one dimension; their units become columns of `items`. Only members' labels count: files know of no
    draw.

    Of items that were drawn and chosen only the judgements planned at first count, in the order in which they came,
    except in what is called 'as they are': an extra one asked for because two people differ must not decide anything.
    """
    if chances is None:
        return None
    mine = labels[(labels["dimension"] == dimension.slug) & (labels["rater_kind"] == MEMBER)]
    if mine.empty:
        return None
    level = dimension.level
    planned = coded_labels(mine[_as_planned(mine, chances)], units, dimension.values)
    everything = coded_labels(mine, units, dimension.values)
    drawn, chosen, chance = (chances[name].to_numpy() for name in ("drawn", "chosen", "chance"))
    parts = {"random": planned.select_units(drawn), "naive": everything}
    rows = []
    for name, title in ROWS.items():
        row: dict = {"name": name, "title": title}
        for key, measure in (
            ("percent_agreement", percent_agreement),
            ("alpha", lambda part: krippendorff_alpha(part, level)),
        ):
            if name == "weighted":
                weighted = weighted_agreement(measure, planned, chance)
                row["effective_n"] = round(weighted.effective_n, 1)
            else:
                weighted = measure(parts[name])
            row[key] = to_figure(weighted, quick=quick)
        rows.append(SelectedRow(**row))
    several, as_planned = _several(everything), _several(planned)
    sets = {
        "drawn": ("drawn for more than one judgement", several & drawn),
        "chosen": ("not drawn, and chosen for more than one judgement", several & chosen & ~drawn),
        "random": ("drawn for more than one judgement and with a pair of those planned at first", as_planned & drawn),
        "weighted": ("with a pair of the judgements planned at first", as_planned),
        "naive": ("with a pair of members' labels", several),
    }
    items.add_sets(dimension.slug, dimension.title, sets)
    return Selected(
        level=level,
        rows=rows,
        n_drawn=int((several & drawn).sum()),
        n_chosen=int((several & chosen & ~drawn).sum()),
        n_chosen_and_drawn=int((several & drawn & chosen).sum()),
    )


def _as_planned(labels: pd.DataFrame, chances: pd.DataFrame) -> np.ndarray:
    """Which labels are by the first so many people whom a drawn item was meant for; all labels of other items."""
    moment = labels["submitted_at"].to_numpy(dtype="datetime64[ns]")
    order = np.lexsort((labels["rater"].to_numpy(dtype=str), moment, labels["unit"].to_numpy()))
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = labels["unit"].iloc[order].groupby(labels["unit"].iloc[order]).cumcount().to_numpy()
    of_label = chances.loc[labels["unit"]]
    return (place < of_label["planned"].to_numpy()) | ~of_label["drawn"].to_numpy()


def _several(labels: Labels) -> np.ndarray:
    return np.bincount(labels.unit, minlength=labels.n_units) > 1
