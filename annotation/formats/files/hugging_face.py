"""What Hugging Face's features say of the columns of an Arrow or Parquet file: the names of labels."""

from __future__ import annotations

import json

from annotation.incoming import is_storable


def class_names(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """Column -> names of its labels, by number: what Hugging Face's features say of a `ClassLabel`."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    by_column = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        names = feature.get("names") if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" else None
        if isinstance(names, list) and all(isinstance(one, str) and is_storable(one) for one in names):
            by_column[column] = names
    return by_column


def named(cells: dict, names: dict[str, list[str]]) -> dict:
    """The row with labels instead of their numbers; -1 stands for a missing one."""
    for column, known in names.items():
        number = cells.get(column)
        if type(number) is int and number < len(known):
            cells[column] = known[number] if number >= 0 else None
    return cells
