"""Results of reports as typed objects, and the one way to JSON and back.

A report's result is a `Result` of its own. Fields that a kind of figure has no value for are `UNSET`, and are no keys
of its JSON. JSON has no number for what is undefined: such fields are None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

if TYPE_CHECKING:
    from annotation.task_types import Dimension

LEVEL, NORMAL = 0.95, NormalDist()
PENDING = "still being computed"  # why a first pass has no interval
# Raised when results get another shape between two versions of Assay.
SHAPE = 18

R = TypeVar("R", bound="Record")


class _Named(msgspec.StructMeta):
    """Makes all fields of all subclasses keywords, so that those without a default may follow those with one."""

    def __new__(mcs, name: str, bases: tuple, namespace: dict, **options):
        return super().__new__(mcs, name, bases, namespace, **{"kw_only": True, "frozen": True} | options)


class Record(msgspec.Struct, metaclass=_Named):
    """What results are made of: fields by name, in JSON as keys. Records do not change."""

    @classmethod
    def extending(cls, other: Record, /, **more) -> Self:
        """All that another record holds, such as a figure, and more."""
        return cls(**msgspec.structs.asdict(other), **more)

    @classmethod
    def taking(cls, source: object, /, **more) -> Self:
        """What an object of `analysis.stats` or of a source has under the names of the fields, as JSON can say it, and
        more."""
        names = [name for name in cls.__struct_fields__ if name not in more and hasattr(source, name)]
        return cls(**{name: _plain(getattr(source, name)) for name in names}, **more)


class Ends(Record):
    """How an interval came about, or why there is none (`undefined`)."""

    undefined: str
    method: str | UnsetType = UNSET
    level: float | UnsetType = UNSET
    n_resamples: int | UnsetType = UNSET
    n_undefined: int | UnsetType = UNSET
    n_clusters: int | None | UnsetType = UNSET
    note: str | UnsetType = UNSET


class Figure(Record):
    """An estimate with its interval, what it was made from, and the reason where there is none."""

    estimate: float | None
    undefined: str
    low: float | None = None
    high: float | None = None
    interval: Ends | UnsetType = UNSET
    n_units: int | UnsetType = UNSET
    n_pairable: int | UnsetType = UNSET
    n_labels: int | UnsetType = UNSET
    left_out: dict[str, int] | UnsetType = UNSET

    @property
    def is_defined(self) -> bool:
        return self.estimate is not None

    def written(self, digits: int = 3) -> str:
        """As a paper has it: 0.334 [0.313, 0.355], without the brackets where there is no interval."""
        if self.estimate is None:
            return "undefined"
        estimate = f"{self.estimate:z.{digits}f}"
        return estimate if self.low is None else f"{estimate} [{self.low:z.{digits}f}, {self.high:z.{digits}f}]"

    @property
    def level_noted(self) -> str:
        """What follows the figure in a sentence: the level of its interval, where it has one."""
        return "" if self.low is None else " (95 % interval)"

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, with 0 outside it."""
        return self.low is not None and (self.low > 0 or self.high < 0)

    def is_apart_from(self, value: float, n: int = 1) -> bool:
        """Whether the interval excludes a value, adjusted for `n` figures that this one was chosen from or is one of:
        each end is moved out, by normal theory, to where it is at the level that Bonferroni asks for."""
        if self.low is None or self.estimate is None:
            return False
        level = (self.interval.level or LEVEL) if self.interval else LEVEL
        wider = NORMAL.inv_cdf(1 - (1 - level) / (2 * max(n, 1))) / NORMAL.inv_cdf((1 + level) / 2)
        end = self.low if value < self.estimate else self.high
        return abs(value - self.estimate) > wider * abs(end - self.estimate)

    @property
    def why_no_interval(self) -> str:
        """Empty where there is an interval, and while it is still being computed."""
        why = self.interval.undefined if self.interval else ""
        return "" if self.low is not None or why == PENDING else why

    @property
    def left_out_words(self) -> str:
        """What did not enter the figure, and how much of it."""
        return "; ".join(f"{n:,} {reason}" for reason, n in (self.left_out or {}).items() if n)

    @property
    def note(self) -> str:
        """A note on the interval, such as that it rests on two units only."""
        return (self.interval.note or "") if self.interval else ""


class NamedFigure(Figure):
    name: str
    title: str


class NamedLabel(Record):
    label: str
    title: str

    @classmethod
    def of(cls, dimension: Dimension) -> list[Self]:
        """Of each label of a question."""
        return [cls(label=one.value, title=one.title) for one in dimension.labels]


class ReportedQuestion(Record):
    """What every report says of a question; `derived_from` is the one that its labels follow from."""

    dimension: str
    title: str
    derived_from: str | None


class ReferenceCounts(Record):
    """How many units have a reference label, and why the others have none."""

    decided: int
    tied: int
    single: int
    not_asked: int
    unlabelled: int


class EffectEnds(Record):
    """As `Ends`, of a regression; `n_clusters` are numbers of clusters, in each way in which they are taken."""

    method: str
    level: float
    n_clusters: list[int]
    undefined: str
    note: str


class EffectFigure(Figure):
    """An effect of a regression, over `n` rows."""

    interval: EffectEnds
    standard_error: float | None
    p_value: float | None
    n: int
    n_left_out: int


class DecisionsLeftOut(Record):
    """Decisions that do not count, of all that there are, and why in a sentence."""

    n: int
    n_all: int
    words: str


class Result(Record):
    """What every report's result has, filled in by `Report.compute`. `made_from` is what its source says of itself."""

    shape: int = SHAPE
    report: str = ""
    project: str = ""
    task_type: str = ""
    made_from: dict = msgspec.field(default_factory=dict)


class AgainstReference(Result):
    """A result that holds something against labels of people, or decisions."""

    reference: str
    reference_title: str


class RunAgainstReference(AgainstReference):
    """A result that holds a run against them. With `touched`, labels that the checker touched count too."""

    run: str
    checker: str
    version: str
    touched: bool
    decisions_left_out: DecisionsLeftOut | None


def to_json(result: Result) -> dict:
    """The result as JSON has it: dicts, lists, strings, finite numbers, None."""
    return msgspec.to_builtins(result)


def from_json(data: Mapping, kind: type[R]) -> R:
    """The result that `to_json` wrote. Anything else raises msgspec.ValidationError, which says where."""
    return msgspec.convert(data, kind)


def _plain(value: object) -> object:
    if isinstance(value, float):
        return number(value)
    return list(value) if isinstance(value, tuple) else value


def number(value: float | None) -> float | None:
    """None for what JSON cannot say (nan, infinity): an undefined figure has no number."""
    return None if value is None or not math.isfinite(value) else float(value)
