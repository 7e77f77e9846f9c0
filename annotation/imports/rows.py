"""What an import says about a file: counts per kind, labels per dimension, bad rows, and rows that carry judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

from annotation.formats.cells import shorten
from annotation.formats.records import LostRecord, OddRecord, RowError

KEPT = 1000  # bad rows that are listed; all of them are counted
KEPT_LABELS, OTHERS = 100, "others"

CREATED, CHANGED, UNCHANGED = "created", "changed", "unchanged"


@dataclass(slots=True)
class Findings:
    """Grows while a file is read, and is stored as the job's result."""

    content: dict[str, Counter] = field(default_factory=dict)  # kind -> created, changed, unchanged
    sets: dict[str, Counter] = field(default_factory=dict)  # kind of piece -> set -> how many of the file
    labels: dict[str, Counter] = field(default_factory=dict)  # dimension -> label -> how often it stands in the file
    annotations: int = 0
    decisions: int = 0
    raters: set[str] = field(default_factory=set)
    slots: set[str] = field(default_factory=set)  # those of them that are places of people without a name
    from_checkers: Counter = field(default_factory=Counter)  # checker elsewhere -> scores and labels of it
    lost: list[LostRecord] = field(default_factory=list)  # what the file has and Assay cannot hold
    odd: list[OddRecord] = field(default_factory=list)  # rows that are neither right nor wrong
    chosen_count: int = 0  # rows that are left out by choice
    error_count: int = 0
    errors: list[RowError] = field(default_factory=list)
    read_as: list[str] = field(default_factory=list)  # what the columns were read as, in sentences
    left_out: Callable[[RowError], None] | None = None  # called with every row that is not imported
    judged_count: int = 0
    judged: list[dict] = field(default_factory=list)  # changed rows whose content carries judgements

    def count(self, kind: str, what: str, number: int = 1) -> None:
        self.content.setdefault(kind, Counter())[what] += number

    def add_piece(self, kind: str, piece_set: str) -> None:
        self.sets.setdefault(kind, Counter())[piece_set] += 1

    def add_error(self, error: RowError) -> None:
        if error.is_chosen:
            self.chosen_count += 1
        else:
            self.error_count += 1
        if self.left_out is not None:
            self.left_out(error)
        if error.is_chosen:
            return
        if len(self.errors) < KEPT:
            self.errors.append(error)

    def add_problem(self, column: str, value: object, reason: str) -> None:
        """A problem found after reading the file: its reader knew the line, the tables know the key."""
        self.add_error(RowError("", None, column, shorten(value), reason))

    def add_judged(self, kind: str, key: str, columns: Iterable[str]) -> None:
        self.judged_count += 1
        if len(self.judged) < KEPT:
            self.judged.append({"kind": kind, "key": key, "columns": sorted(columns)})

    def add_label(self, dimension: str, label: str) -> None:
        """Answers in words and numbers can all be different: the first of them are listed."""
        found, shown = self.labels.setdefault(dimension, Counter()), shorten(label)
        found[shown if shown in found or len(found) < KEPT_LABELS else OTHERS] += 1

    def total(self, what: str) -> int:
        return sum(counts[what] for counts in self.content.values())

    def as_json(self) -> dict:
        return {
            "read_as": self.read_as,
            "content": {kind: dict(counts) for kind, counts in self.content.items()},
            "sets": {kind: dict(sorted(counts.items())) for kind, counts in self.sets.items() if any(counts)},
            "labels": {dimension: dict(counts) for dimension, counts in self.labels.items()},
            "annotations": self.annotations,
            "decisions": self.decisions,
            "raters": len(self.raters),
            "from_checkers": dict(self.from_checkers),
            "lost": [{"what": one.what, "number": one.number, "first": one.first} for one in self.lost[:KEPT]],
            "odd": [asdict(one) for one in self.odd[:KEPT]],
            "chosen_count": self.chosen_count,
            "error_count": self.error_count,
            "errors": [
                {"file": e.file, "line": e.line, "column": e.column, "value": e.value, "reason": e.reason}
                for e in self.errors
            ],
            "judged_count": self.judged_count,
            "judged": self.judged,
            "is_unchanged": not self.total(CREATED) and not self.total(CHANGED),
        }


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
