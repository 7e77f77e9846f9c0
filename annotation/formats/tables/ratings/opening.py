"""The rows of a table of ratings with the columns of its mapping: what is inside others is taken apart, and lists of
judged texts are a row for each entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from annotation.formats.cells import BadCell, row_error
from annotation.formats.files.tables import listed, open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.nested import base_of, lists_in, opened, stem_of, unfolded

Row = tuple[str, int | None, "OpenRow | RowError"]


@dataclass(frozen=True, slots=True)
class OpenRow:
    """One row. `place` says which entry of the file's own row it is, where that has several texts."""

    cells: dict[str, object]
    place: tuple[int, ...] = ()


class Opening:
    """Goes through the rows; `without` counts those whose list of texts is empty, by list, with the first of them."""

    def __init__(self, sources: list[SourceFile], options: Options, has_places: bool):
        self.sources, self.mapped = sources, [*options.mapping.values()]
        # Places are counted in the text as the file has it, so its line ends must be seen.
        self.options = replace(options, keeps_line_ends=has_places, plain_quotes=True)
        self.texts = [options.mapping[role] for role in ("text", "marked", "context") if role in options.mapping]
        self.without: dict[str, list] = {}

    def __iter__(self) -> Iterator[Row]:
        with closing(open_tables(self.sources, self.options)) as tables:
            for table in tables:
                known = table.columns
                inside = [one for one in self.mapped if one not in (known or ())]
                absent = [one for one in inside if known and base_of(one) not in known]
                if absent:
                    raise FormatError(f"{table.name}: missing columns: {', '.join(absent)}. Found: {listed(known)}")
                lists, units = lists_in(inside), lists_in(one for one in self.texts if one in inside)
                apart = {stem_of(one) for one in inside} - {*self.mapped}
                for row in table.rows:
                    if isinstance(row, RowError):
                        yield table.name, None, row
                    else:
                        yield from self._rows_of(table.name, *row, lists, units, apart)

    def _rows_of(
        self, file: str, line: int, cells: dict, lists: frozenset, units: frozenset, apart: set
    ) -> Iterator[Row]:
        if not lists or any(mark in name for name in cells for mark in lists):
            yield file, line, OpenRow(unfolded(cells, apart) if apart else cells)
            return
        found = False
        try:
            for place, row in opened(cells, lists, units):
                found = True
                yield file, line, OpenRow(unfolded(row, apart) if apart else row, place)
        except BadCell as problem:
            yield file, line, replace(row_error(file, line, problem), cells=cells)
            return
        if not found:
            self.without.setdefault(max(units), [0, f"{file}, line {line:,}"])[0] += 1
