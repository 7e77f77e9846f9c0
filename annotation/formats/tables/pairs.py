"""Rows of a premise with a hypothesis: files for natural language inference.

Labels are three-way (entailment, neutral, contradiction) or two-way (entailment, non-entailment). Where a two-way task
type is wanted, neutral and contradiction of a three-way file are non-entailment; the other way round nothing is
guessed. Numbers are never guessed either, since 0 is entailment in some files and its opposite in others:
`Options.values` says what they mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from annotation.formats.cells import BadCell
from annotation.formats.files.tables import open_tables
from annotation.formats.records import DecisionRecord, PairRecord, Record, RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.mapping import PAIR_LABELS, THREE_WAY_PAIRS, TWO_WAY_PAIRS
from annotation.formats.tables.rows import Rows, hashed

LOOKED_AT = 10_000


class PairRows(Rows):
    own_labels = {"entailment": PAIR_LABELS}

    def start(self, file: str) -> None:
        self.seen.start(file)

    def records_of(self, line: int, cells: dict) -> list[Record]:
        premise, hypothesis = self.required(cells, "premise"), self.required(cells, "hypothesis")
        key = self.key(cells, "pair_id") or hashed("p", premise, hypothesis)
        label = self.entailment(cells)
        self.seen.add(key, self.column("pair_id" if "pair_id" in self.mapping else "hypothesis"), line)
        decisions = [DecisionRecord(key, "entailment", label)] if label else []
        return [PairRecord(key, premise, hypothesis, metadata=self.metadata(cells)), *decisions]

    def entailment(self, cells: dict) -> str | None:
        return self.label(cells, "label", "entailment") if "label" in self.mapping else None


def task_type_of(sources: list[SourceFile], options: Options) -> str:
    """The identifier of the task type whose labels the first rows have: two-way where one of them is non-entailment.

    Raises FormatError for a file that cannot be read.
    """
    if "label" not in options.mapping:
        return THREE_WAY_PAIRS
    rows = PairRows(options)
    for table in open_tables(sources, options):
        for row in islice(table.rows, LOOKED_AT):
            if isinstance(row, RowError):
                continue
            try:
                if rows.entailment(row[1]) == "non-entailment":
                    return TWO_WAY_PAIRS
            except BadCell:
                continue  # an unknown label tells nothing here and is a row error of the import
    return THREE_WAY_PAIRS


def pair_dicts(records: Iterable[Record]) -> Iterator[dict]:
    row: dict | None = None
    for record in records:
        match record:
            case PairRecord():
                if row is not None:
                    yield row
                row = {"pair_id": record.key, "premise": record.premise, "hypothesis": record.hypothesis}
            case DecisionRecord():
                row["label"] = record.label
    if row is not None:
        yield row
