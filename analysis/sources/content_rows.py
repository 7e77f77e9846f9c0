"""Rows of content as frames: what the records of a file hold, in the order of keys."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.sources.project import published
from annotation.datasets.kinds import KIND_NAMED, PIECE_SET
from annotation.models import EVIDENCE_PARENTS, Evidence

NUMBERS = ("number", "gold_number")
LONG = ("text", "metadata")
AT_ONCE = 2_000


def content_columns(kind: str) -> tuple[str, ...]:
    """The columns of a kind's frame, in their order. Unknown kinds raise ValueError."""
    if kind not in KIND_NAMED:
        raise ValueError(f"there is no content {kind!r}; there are {', '.join(KIND_NAMED)}")
    content = KIND_NAMED[kind]
    return ("key", *content.parents, *content.columns, *(NUMBERS if content.model is Evidence else ()))


def content_parts(dataset_id: int, kind: str) -> Iterator[pd.DataFrame]:
    """`content_frame` in parts, for callers that need only some rows at a time: texts take memory."""
    columns = content_columns(kind)
    long = [name for name in LONG if name in columns]
    frame = content_frame(dataset_id, kind, ("pk", *(name for name in columns if name not in long)))
    for start in range(0, len(frame), AT_ONCE):
        part = frame.iloc[start : start + AT_ONCE]
        found = KIND_NAMED[kind].model.objects.filter(pk__in=part["pk"].tolist()).values_list("pk", *long)
        rows = {pk: values for pk, *values in found}
        texts = {name: [rows[pk][place] for pk in part["pk"].tolist()] for place, name in enumerate(long)}
        yield part.assign(**texts)[list(columns)]


def content_frame(dataset_id: int, kind: str, columns: tuple[str, ...] = ()) -> pd.DataFrame:
    """Published rows in their newest versions; dates as ISO 8601 texts, and no name of the unnamed set."""
    columns = columns or content_columns(kind)
    content = KIND_NAMED[kind]
    paths = {name: f"{name}__key" if name in content.parents else name for name in columns if name not in NUMBERS}
    rows = published(dataset_id, kind)
    if content.model is Evidence:
        rows = rows.in_order()
    frame = pd.DataFrame.from_records(
        rows.values_list(*paths.values()).iterator(chunk_size=AT_ONCE), columns=list(paths), coerce_float=False
    )
    if "date" in frame:
        frame["date"] = [None if day is None else day.isoformat() for day in frame["date"]]
    if content.has_sets:
        frame[PIECE_SET] = [name or None for name in frame[PIECE_SET]]
    if content.model is Evidence:
        # As pages number passages: below what they are about, in the order of rank.
        parent = [frame[name].fillna("") for name in EVIDENCE_PARENTS]
        frame["number"] = frame.groupby(parent).cumcount() + 1
        gold = frame["is_gold"].eq(True).fillna(False).astype(bool)
        frame["gold_number"] = frame[gold].groupby([part[gold] for part in parent]).cumcount() + 1
    return frame[list(columns)].sort_values("key", kind="stable", ignore_index=True)
