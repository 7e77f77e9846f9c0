"""Which format a file has, told from the columns of its first rows."""

from __future__ import annotations

from itertools import islice

from .records import FormatError, RowError
from .sources import Options, Source
from .tables import open_tables

# Columns that only this format has together; the first match wins.
SIGNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("assay", frozenset({"item", "annotator", "judgements"})),
    ("climate-fever", frozenset({"claim_id", "claim", "evidences"})),
    ("druid", frozenset({"id", "claim_id", "claim", "evidence", "evidence_source", "factcheck_verdict"})),
)
LOOKED_AT = 5


def slug_of_columns(columns) -> str:
    columns = set(columns)
    for slug, signs in SIGNS:
        if signs <= columns:
            return slug
    if "response" in columns and any(str(column).endswith("_response_kg") for column in columns):
        return "refchecker"
    return "table"


def detect(source: Source) -> str | None:
    try:
        for table in open_tables([source], Options()):
            if table.columns is not None:
                return slug_of_columns(table.columns)
            for row in islice(table.rows, LOOKED_AT):
                if not isinstance(row, RowError):
                    return slug_of_columns(row[1])
    except FormatError:
        pass
    return None
