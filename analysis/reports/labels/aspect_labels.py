"""Answers whose aspects are judged, and labels of these aspects."""

from __future__ import annotations

import pandas as pd

from analysis.sources.base import Source
from analysis.stats import Labels
from annotation.task_types import Dimension


def response_frame(source: Source) -> pd.DataFrame:
    """Columns response, model, setting, query, text; one row per response, in the order of keys."""
    responses = source.content("response").set_index("key")
    questions = source.content("question").set_index("key")["text"]
    frame = responses.reindex(source.item_frame()["item_key"]).reset_index(names="response")
    frame = frame.assign(query=frame["question"], text=frame["question"].map(questions).fillna(""))
    return frame.rename(columns={"context_setting": "setting"})[["response", "model", "setting", "query", "text"]]


def coded_labels(
    source: Source, dimension: Dimension, reference: str, units: pd.DataFrame, labels: pd.DataFrame
) -> Labels:
    """Labels of the units: those that people `said`, or decisions as those of one."""
    if reference == "majority":
        frame, raters = labels, labels["rater"]
    else:
        frame = source.decision_frame(reference)
        frame = frame[frame["unit"].isin(units["unit"])]
        raters = frame["unit"].map(lambda unit: reference)
    mine = frame["dimension"] == dimension.slug
    return Labels.from_columns(
        frame.loc[mine, "unit"].tolist(),
        raters[mine].tolist(),
        frame.loc[mine, "label"].tolist(),
        dimension.values,
        units=units["unit"].tolist(),
    )
