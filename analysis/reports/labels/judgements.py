"""People's labels as the table of judgements that is stored with a report's result (`analysis.figures.items`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.figures.items import COUNTED, COUNTS, DIMENSION, LABEL, RATER, Items
from analysis.sources.base import Source
from analysis.sources.outline import Run
from annotation.task_types import TaskType

AFTER = "given after the suggestion"
UNKNOWN = "nobody knows whether a suggestion was seen"
ROW = ["unit", "rater", "dimension"]


def new_items(units: pd.DataFrame, **about) -> Items:
    """Tables for these units (`Source.unit_frame`), without columns; `about` as in `Items`."""
    return Items(units["unit"].tolist(), **about)


def add_names(items: Items, name: str, title: str, column: pd.Series) -> None:
    """A column of names, such as those of models, in the order in which they come; units without one are in none."""
    codes, names = pd.factorize(column)
    items.add(name, title, codes, {str(one): str(one) or "no name" for one in names})


def add_source(items: Items, units: pd.DataFrame, title: str, listed: Sequence[str]) -> None:
    """The column `source`, as figures are split by it: of the sources that have figures."""
    items.add("source", title, pd.Index(listed).get_indexer(units["source"]), listed)


def without_further(source: Source, labels: pd.DataFrame, counts: bool) -> tuple[pd.DataFrame, int]:
    """Labels without those of answers that were asked for because the answers of an item differed, unless these
    count; and how many such answers there are among them."""
    is_further = labels["annotation"].isin(source.further())
    if not is_further.any():
        return labels, 0
    n = int(labels.loc[is_further, "annotation"].nunique())
    return (labels if counts else labels[~is_further].reset_index(drop=True)), n


def add_judgements(
    items: Items,
    kind: TaskType,
    counted: pd.DataFrame,
    last: pd.DataFrame | None = None,
    columns: Mapping[str, tuple[str, Mapping[str, str]]] = {},
    of_runs: Mapping[Run | str, pd.DataFrame] = {},
) -> None:
    """The table of judgements: the labels that figures count, and of `last` (everybody's last labels) those of people
    whose labels of the unit do not count, with the reason.

    Parameters
    ----------
    counted, last : frames with unit, rater, dimension, label; at most one row for each unit, rater and dimension.
        `last` also has `suggestion_shown`, or `counts`: the reasons
    columns : further columns of `counted`, or of the frames `of_runs`, to filter by: their titles ({} is the run), and
        titles of values that differ from these; labels that do not count have none
    of_runs : the labels that the figures of each run, or of a part of the report, count where these are others. They
        have columns of their own: `counts.<uuid or part>`, and each of `columns` with that after it
    """
    ends = {"": ""} | {f".{part.uuid if isinstance(part, Run) else part}": part for part in of_runs}
    rows = counted
    for end, of in ends.items():
        part = _with_left(of_runs[of] if of else counted, last)
        named = {name: f"{name}{end}" for name in (COUNTS, *columns) if name in part}
        part = part[[*ROW, "label", *named]].rename(columns=named)
        rows = rows.merge(part, on=[*ROW, "label"], how="outer", sort=False) if of else part
    place = pd.Index(items.units).get_indexer(rows["unit"])
    # In the order of units: merging frames leaves rows in that of the source's numbers.
    kept = np.argsort(place, kind="stable")[(place < 0).sum() :]
    rows, place = rows.iloc[kept], place[kept]
    titles = {label.value: label.title for dimension in kind.dimensions for label in dimension.labels}
    of_dimension = {dimension.slug: dimension.title for dimension in kind.dimensions}
    about = {
        RATER: ("Annotator", rows["rater"], {}, ""),
        DIMENSION: ("Question", rows["dimension"], of_dimension, ""),
        LABEL: ("Label", rows["label"], titles, ""),
    }
    for end, of in ends.items():
        uuid, called = (of.uuid, of.name) if isinstance(of, Run) else ("", "")
        about |= {
            f"{name}{end}": (title.format(called), rows[f"{name}{end}"], known, uuid)
            for name, (title, known) in {COUNTS: ("Counts", {}), **columns}.items()
            if f"{name}{end}" in rows
        }
    added = {}
    for name, (title, column, known, run) in about.items():
        codes, there = pd.factorize(column)
        values = list(dict.fromkeys([*known, *map(str, there)]))  # a figure may ask for a label that nobody gave
        coded = np.array([*map(values.index, map(str, there)), -1])
        added[name] = (title, coded[codes], values, [known.get(value, value) for value in values], run)
    items.judge(place, added)


def _with_left(counted: pd.DataFrame, last: pd.DataFrame | None) -> pd.DataFrame:
    """The labels that count, and last labels of people who have none of the unit that does."""
    rows = counted.assign(**{COUNTS: COUNTED})
    if last is None or not len(last):
        return rows
    there = pd.MultiIndex.from_frame(counted[["unit", "rater"]])
    left = last[~pd.MultiIndex.from_frame(last[["unit", "rater"]]).isin(there)]
    if COUNTS not in left:
        shown = left["suggestion_shown"].eq(True).fillna(False).to_numpy(dtype=bool)
        left = left.assign(**{COUNTS: np.where(shown, AFTER, UNKNOWN)})
    return pd.concat([rows, left[[*ROW, "label", COUNTS]]], ignore_index=True)
