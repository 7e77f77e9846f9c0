"""Columns of a query, read in blocks and kept as numbers and codes: a large project has millions of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet
from django.db.models.sql.constants import MULTI

AT_ONCE = 2_000  # rows of a block, which a processor's cache holds


class NumberReader:
    """Whole numbers; none is missing."""

    def __init__(self):
        self.blocks: list[np.ndarray] = []

    def add(self, values: tuple) -> None:
        self.blocks.append(np.fromiter(values, dtype=np.int64, count=len(values)))

    def column(self) -> Any:
        return np.concatenate(self.blocks) if self.blocks else np.zeros(0, dtype=np.int64)


class CodeReader:
    """Few different values, as categories in their order; None is a missing one."""

    def __init__(self):
        self.codes: dict[Any, int] = {}
        self.blocks: list[np.ndarray] = []

    def add(self, values: tuple) -> None:
        for value in set(values).difference(self.codes):
            self.codes[value] = len(self.codes)
        self.blocks.append(np.fromiter(map(self.codes.__getitem__, values), dtype=np.int32, count=len(values)))

    def column(self) -> pd.Categorical:
        known = sorted(value for value in self.codes if value is not None)
        place = {value: code for code, value in enumerate(known)}
        renumbered = np.array([place.get(value, -1) for value in self.codes], dtype=np.int32)
        codes = renumbered[np.concatenate(self.blocks)] if self.blocks else np.zeros(0, dtype=np.int32)
        return pd.Categorical.from_codes(codes, categories=known)


class FlagReader(CodeReader):
    """Truth values, None where it is not known."""

    def column(self) -> np.ndarray:
        values = np.array([None if value is None else bool(value) for value in self.codes], dtype=object)
        column = values[np.concatenate(self.blocks)] if self.blocks else np.zeros(0, dtype=object)
        return column if None in self.codes else column.astype(bool)


class StringReader:
    """Texts, most of them different; missing ones are nan, or None where there is no other."""

    def __init__(self):
        self.blocks: list[Any] = []

    def add(self, values: tuple) -> None:
        self.blocks.append(pd.Series(values, dtype="str"))

    def column(self) -> pd.Series:
        column = pd.concat(self.blocks, ignore_index=True) if self.blocks else pd.Series([], dtype=object)
        return column.astype(object).where(column.notna(), None) if column.isna().all() else column


Kind = type[NumberReader] | type[CodeReader] | type[StringReader]


def read_columns(rows: QuerySet, paths: Mapping[str, Any], kinds: Mapping[str, Kind]) -> pd.DataFrame:
    """A frame with a column for each of `paths` (fields or expressions by name): of numbers, unless `kinds` says
    otherwise."""
    columns = {name: kinds.get(name, NumberReader)() for name in paths}
    for block in _blocks(rows.values_list(*paths.values())):
        for column, values in zip(columns.values(), zip(*block, strict=True), strict=True):
            column.add(values)
    return pd.DataFrame({name: column.column() for name, column in columns.items()}, copy=False)


def renamed(column: pd.Series, names: Mapping[Any, str]) -> pd.Series:
    """The categories by other names, no two the same, in their order."""
    called = column.cat.rename_categories(names)
    return called.cat.reorder_categories(sorted(called.cat.categories))


def _blocks(rows: QuerySet) -> Iterator[list[tuple]]:
    """Without Django's conversions, which take longer than reading."""
    compiler = rows.query.get_compiler(rows.db)
    yield from compiler.execute_sql(MULTI, chunked_fetch=True, chunk_size=AT_ONCE)
