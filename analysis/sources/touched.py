"""Which labels of people a checker's suggestions touched. `labels` holds every revision (`Source.label_frame`)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.sources.base import ADJUDICATED, Source
from analysis.sources.outline import MEMBER, Run


def latest(labels: pd.DataFrame) -> pd.DataFrame:
    """What everybody says now."""
    return labels[labels["is_latest"].astype(bool)]


def untouched(source: Source, labels: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Each rater's latest label before a suggestion of this run's checker was shown to them on the item.

    A first answer given before the suggestion appeared counts; an answer changed after it does not. Labels whose
    suggestion is known to be another checker's count too. What is not known does not count: a member's answer without
    its trace, an imported one that saw a suggestion of nobody knows which checker. Imported labels that say nothing
    about suggestions were made elsewhere, without this checker, and count.
    """
    shown = labels["suggestion_shown"]
    lost = shown.isna() & (labels["rater_kind"] == MEMBER)
    touched = shown.eq(True).fillna(False).astype(bool) | lost
    if touched.any():
        touched &= ~labels["annotation"].isin(_shown_only_other_checkers(source, run))
    clean = labels[~touched]
    newest = clean.groupby("annotation")["number"].transform("max")
    return clean[clean["number"] == newest]


def untouched_by_all(source: Source, labels: pd.DataFrame, runs: list[Run]) -> pd.DataFrame:
    """Each rater's latest label before a suggestion of any of these runs' checkers was shown; see `untouched`."""
    for run in runs:
        newest = untouched(source, labels, run).groupby("annotation")["number"].max()
        labels = labels[labels["number"] <= labels["annotation"].map(newest)]
    newest = labels.groupby("annotation")["number"].transform("max")
    return labels[labels["number"] == newest]


def untouched_decisions(source: Source, method: str, runs: Sequence[Run]) -> pd.DataFrame:
    """Decisions in force (unit, dimension, label) whose people had been shown nothing by the checkers of these runs.

    Of an adjudication it must be known what its person had been shown: until that was stored, the page that they decide
    on showed what every checker says. Decisions that a file brought without saying were made elsewhere.
    """
    decided = source.decision_frame(method)
    if not runs or not len(decided):
        return decided
    checkers = {run.checker for run in runs}
    history = source.decision_history()
    newest = history[history["method"] == method].drop_duplicates(["unit", "dimension"], keep="last")
    touched = [_has_seen(seen, method, checkers) for seen in newest["seen"]]
    places = set(newest.loc[touched, ["unit", "dimension"]].itertuples(index=False, name=None))
    kept = [place not in places for place in decided[["unit", "dimension"]].itertuples(index=False, name=None)]
    return decided[kept].reset_index(drop=True)


def _has_seen(seen: object, method: str, checkers: set[str]) -> bool:
    if not isinstance(seen, dict):
        return method == ADJUDICATED
    return any(one.get("checker") in (*checkers, None) for one in seen.get("runs", ()))


def _shown_only_other_checkers(source: Source, run: Run) -> set[int]:
    """Annotations with a known exposure that has none of this run's checker's."""
    exposures = source.exposure_frame()
    exposures = exposures[exposures["shown_at"].notna()]
    is_this = exposures["checker"].fillna(run.checker) == run.checker
    return set(exposures["annotation"]) - set(exposures.loc[is_this, "annotation"])
