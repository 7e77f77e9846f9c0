"""A project's runs of retrievers and generators, and its rankings, as the database has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter

import pandas as pd

from analysis.sources.rankings import PASSAGES, QUERY_COLUMNS, RANKING_COLUMNS, Retrieval
from annotation.models import Job, Project, QueryRanking, RankedPassage

AT_ONCE = 5_000


def finished_runs(project: Project, model: type, kind: type, **more: Callable) -> list:
    """The project's finished runs as `kind` describes them, oldest first; `more` reads what is no column of a run."""
    rows = model.objects.filter(project=project, job__state=Job.State.DONE).select_related("job")
    read = {field.name: attrgetter(field.name) for field in fields(kind)} | {"uuid": lambda row: str(row.uuid)} | more
    return [kind(**{name: of(row) for name, of in read.items()}) for row in rows.order_by("created_at", "uuid")]


def query_frame(retrieval: Retrieval) -> pd.DataFrame:
    rows = QueryRanking.objects.filter(run__uuid=retrieval.uuid)
    values = rows.values_list(f"{retrieval.asks}__key", "text", "expanded", "reason", "steps")
    return _without_empty(_frame(values, QUERY_COLUMNS, ["query"]), "steps")


def ranking_frame(retrieval: Retrieval) -> pd.DataFrame:
    rows = RankedPassage.objects.filter(ranking__run__uuid=retrieval.uuid, rank__lte=PASSAGES)
    columns = ("rank", "document", "evidence__key", "start", "end", "score", "text", "source")
    found = _frame(rows.values_list(f"ranking__{retrieval.asks}__key", *columns), RANKING_COLUMNS, ["query", "rank"])
    return _without_empty(found, "source")


def _without_empty(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """What says nothing is missing, so that releases of earlier retrievals stay as they were."""
    return frame.assign(**{column: pd.Series([value or None for value in frame[column]], dtype=object)})


def _frame(rows, columns: tuple[str, ...], order: list[str]) -> pd.DataFrame:
    """In the order of keys, which no database's collation decides."""
    frame = pd.DataFrame.from_records(rows.iterator(chunk_size=AT_ONCE), columns=list(columns))
    return frame.sort_values(order, kind="stable", ignore_index=True)
