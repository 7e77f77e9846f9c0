"""The items behind figures: one table of units and one of judgements, by named columns, and filters on them.

A report stores both tables with its result. A figure is a `Filter`: conditions on a unit's columns, and on one or two
judgements of the unit. Its units, its count and its words follow from it; no report needs a list per figure.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, quote_plus

if TYPE_CHECKING:
    import numpy as np

    from annotation.task_types import Dimension

Values = str | tuple[str, ...]
MOST_CONDITIONS = 100  # they come from addresses
# Columns of the table of judgements that every report with people's labels has.
RATER, DIMENSION, LABEL, COUNTS = "rater", "dimension", "label", "counts"
JUDGEMENTS = "judgements"  # what is counted where a figure counts labels and not their units
COUNTED = "yes"  # in the column `counts`; any other value says why the label does not count
# Where each run is compared with labels of its own, each has a column `counts.<uuid>` as well; others,
# `counts.<name>`, are for columns of units whose figures count other labels than most (`Column.judged`).


@dataclass(frozen=True)
class Filter:
    """Which units a figure is about: those with these values in their columns (any of several), that have judgements
    with these values. Of two judgements on one unit, `pair` may ask for the same label or for another one; they are
    two judgements, so never the same row.

    >>> Filter({"setting": "noisy", "people": ("neutral", "entailment")}).encoded
    'setting=noisy&people=neutral&people=entailment'
    >>> Filter.decoded("stance=refutes&1.rater=a1&2.rater=b2&pair=other")
    Filter(units={'stance': ('refutes',)}, judgements=({'rater': ('a1',)}, {'rater': ('b2',)}), pair='other')
    """

    units: Mapping[str, Values] = field(default_factory=dict)
    judgements: tuple[Mapping[str, Values], ...] = ()
    pair: Literal["", "same", "other"] = ""

    @property
    def encoded(self) -> str:
        """The filter as the query of an address. Columns of units are called neither `pair` nor like `1.rater`."""
        conditions = [("", self.units), *((f"{place}.", one) for place, one in enumerate(self.judgements, 1))]
        conditions_by_name = [(before + name, value) for before, one in conditions for name, value in one.items()]
        if self.pair:
            conditions_by_name.append(("pair", self.pair))
        return "&".join(
            f"{_quoted(name)}={_quoted(one)}"
            for name, value in conditions_by_name
            for one in ((value,) if isinstance(value, str) else value)
        )

    @classmethod
    def decoded(cls, query: str) -> Filter:
        """The filter of an address. What is none raises ValueError."""
        units: dict[str, tuple[str, ...]] = {}
        judgements: tuple[dict[str, tuple[str, ...]], ...] = ({}, {})
        pair = ""
        for name, value in parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_CONDITIONS):
            if name == "pair":
                if value not in ("same", "other"):
                    raise ValueError(f"pair is same or other, not {value!r}")
                pair = value
                continue
            is_judgement = name[:2] in ("1.", "2.")
            place = judgements[int(name[0]) - 1] if is_judgement else units
            column = name[2:] if is_judgement else name
            place[column] = (*place.get(column, ()), value)
        return cls(units, tuple(one for one in judgements if one), pair)


# A page has thousands of filters of a few hundred words.
_quoted = lru_cache(maxsize=10_000)(quote_plus)

ALL = Filter()


def where(n: object, conditions: Mapping[str, Values]) -> Filter | None:
    """A filter of what there is any of."""
    return Filter(conditions) if n else None


def encoded(wanted: Filter | None) -> str:
    """What a place of a picture opens; empty where it opens nothing."""
    return wanted.encoded if wanted else ""


@dataclass(frozen=True)
class CodedColumn:
    """One column: `codes` are places in `values`, -1 where a row has none. `run` names the run that gave them,
    `decisions` the method of the decisions that did, `judged` the labels that its figures count where these are other
    ones than those of most."""

    title: str
    values: tuple[str, ...]
    titles: tuple[str, ...]
    codes: Sequence[int]
    run: str = ""
    decisions: str = ""
    judged: str = ""

    def title_of(self, value: str) -> str:
        return self.titles[self.values.index(value)]

    def places(self, wanted: Values) -> list[bool]:
        """Of every row whether it has one of the values; unknown ones raise KeyError."""
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        unknown = set(wanted) - set(self.values)
        if unknown:
            raise KeyError(f"{self.title} is never {', '.join(sorted(unknown))}")
        codes = {place for place, value in enumerate(self.values) if value in wanted}
        return [code in codes for code in self.codes]


class Items:
    """The two tables. `units` are the units' numbers in the order of work; `unit_of` the place of each judgement's
    unit among them. `runs` are the runs whose answers are shown with every item, `scores` the names of their scores
    that do; `decisions` is the method of the decisions that figures were made from, empty where people's labels are.
    With `quotes` the page shows what people marked; with `first` figures count what people answered at first. `parts`
    are columns of judgements that say which of them a figure counts, such as those of an arm."""

    def __init__(
        self,
        units: Sequence[int],
        *,
        runs: Iterable[str] = (),
        scores: Iterable[str] = (),
        decisions: str = "",
        quotes: bool = False,
        first: bool = False,
        parts: Iterable[str] = (),
    ):
        self.units = units
        self.columns: dict[str, CodedColumn] = {}
        self.unit_of: Sequence[int] = ()
        self.judgements: dict[str, CodedColumn] = {}
        self.runs, self.scores = tuple(filter(None, runs)), tuple(filter(None, scores))
        self.decisions, self.quotes, self.first, self.parts = decisions, quotes, first, tuple(parts)

    # ---- made by compute.py ----

    def add(
        self,
        name: str,
        title: str,
        codes: np.ndarray,
        values: Sequence[str] | Mapping[str, str],
        titles: Sequence[str] | None = None,
        run: str = "",
        decisions: str = "",
        judged: str = "",
    ) -> None:
        """A column of the units: a code (a place in `values`, which may be value -> title, or below 0 for none) for
        each of them. Names are neither `pair` nor begin with `1.` or `2.`."""
        if isinstance(values, Mapping):
            titles = tuple(values.values())
        if name in self.columns or name == "pair" or name[:2] in ("1.", "2."):
            raise ValueError(f"no column can be called {name!r}" + " twice" * (name in self.columns))
        self.columns[name] = self._column(title, codes, values, titles, len(self.units), run, decisions, judged)

    def add_labels(self, name: str, title: str, codes: np.ndarray, dimension: Dimension, **of: str) -> None:
        """A column of labels of a dimension; `of` as of `add`."""
        self.add(name, title, codes, {label.value: label.title for label in dimension.labels}, **of)

    def add_parts(
        self, name: str, title: str, parts: Mapping[str, np.ndarray], titles: Mapping[str, str], **of: str
    ) -> None:
        """The part that a unit is in, the first if it is in several; `of` as of `add`."""
        codes = next(iter(parts.values())) * 0 - 1
        for place, where in reversed([*enumerate(parts.values())]):
            codes[where] = place
        self.add(name, title, codes, {value: titles[value] for value in parts}, **of)

    def add_flag(self, name: str, title: str, where: np.ndarray, **of: str) -> None:
        """A column that some of the units are in (`name = yes`); `of` as of `add`."""
        self.add(name, title, where - 1, ("yes",), ("",), **of)

    def add_sets(self, name: str, title: str, sets: Mapping[str, tuple[str, np.ndarray]], run: str = "") -> None:
        """A column for each of some sets of units that may share units: value -> its title and which units are in it.
        They are filtered as `name.value = yes`."""
        for value, (words, where) in sets.items():
            self.add_flag(f"{name}.{value}", f"{title}: {words}" if title else words, where, run=run)

    def judge(
        self, unit_of: np.ndarray, columns: Mapping[str, tuple[str, np.ndarray, Sequence[str], Sequence[str], str]]
    ):
        """The table of judgements: the place of each one's unit, and columns (title, codes, values, titles, run)."""
        self.unit_of = unit_of
        self.judgements = {
            name: self._column(title, codes, values, titles, len(unit_of), run)
            for name, (title, codes, values, titles, run) in columns.items()
        }

    @staticmethod
    def _column(
        title, codes, values, titles, n: int, run: str = "", decisions: str = "", judged: str = ""
    ) -> CodedColumn:
        values = tuple(values)
        if len(codes) != n or len(set(values)) < len(values):
            raise ValueError(f"column {title!r}: {len(codes)} codes for {n} rows, or a value that stands there twice")
        return CodedColumn(title, values, values if titles is None else tuple(titles), codes, run, decisions, judged)

    # ---- stored ----

    def to_json(self) -> dict:
        return {
            "units": _packed(self.units),
            "columns": {name: _stored(column) for name, column in self.columns.items()},
            "unit_of": _packed(self.unit_of),
            "judgements": {name: _stored(column) for name, column in self.judgements.items()},
            "runs": list(self.runs),
            "scores": list(self.scores),
            "decisions": self.decisions,
            "quotes": self.quotes,
            "first": self.first,
            "parts": list(self.parts),
        }

    @classmethod
    def from_json(cls, data: dict) -> Items:
        more = {name: data[name] for name in ("runs", "scores", "decisions", "quotes", "first", "parts")}
        items = cls(_unpacked(data["units"]), **more)
        items.columns = {name: _read(column) for name, column in data["columns"].items()}
        items.unit_of = _unpacked(data["unit_of"])
        items.judgements = {name: _read(column) for name, column in data["judgements"].items()}
        return items

    @staticmethod
    def renumbered(data: dict, numbers: Callable[[list[int]], Iterable[int | None]]) -> dict:
        """What is stored, with other numbers of the units; None for a unit that is gone."""
        units = numbers(_unpacked(data["units"]))
        return data | {"units": _packed([-1 if unit is None else unit for unit in units])}

    # ---- asked ----

    def places(self, wanted: Filter) -> list[int]:
        """Places of the filter's units among `units`. What there is no column or value for raises KeyError."""
        keep: Iterable[int] = range(len(self.units))
        for name, values in wanted.units.items():
            has = self.columns[name].places(values)
            keep = [place for place in keep if has[place]]
        if wanted.judgements:
            judged = self._judged(wanted)
            keep = [place for place in keep if place in judged]
        return list(keep)

    def units_of(self, wanted: Filter) -> list[int]:
        """The units behind a figure, in the order of work; those that are gone (-1) are left out."""
        return [unit for place in self.places(wanted) if (unit := self.units[place]) >= 0]

    def count(self, wanted: Filter, of: str = "") -> int:
        """How many units are behind a figure; or how many values of a column they have, or how many judgements on them
        fit the figure's first condition on judgements."""
        places = self.places(wanted)
        if of == JUDGEMENTS:
            units = set(places)
            return sum(self.unit_of[row] in units for row in self._rows(next(iter(wanted.judgements), {})))
        return len({self.columns[of].codes[place] for place in places}) if of else len(places)

    def _judged(self, wanted: Filter) -> set[int]:
        sides = [self._rows(one) for one in wanted.judgements]
        if len(sides) == 1:
            return {self.unit_of[row] for row in sides[0]}
        labels = self.judgements[LABEL].codes
        by_unit: tuple[dict[int, list[int]], ...] = ({}, {})
        for judgements, rows in zip(by_unit, sides, strict=True):
            for row in rows:
                judgements.setdefault(self.unit_of[row], []).append(row)
        fits = {
            "": lambda a, b: a != b,
            "same": lambda a, b: a != b and labels[a] == labels[b],
            "other": lambda a, b: labels[a] != labels[b],
        }[wanted.pair]
        first, second = by_unit
        return {
            unit for unit in first.keys() & second.keys() if any(fits(a, b) for a in first[unit] for b in second[unit])
        }

    def _rows(self, conditions: Mapping[str, Values]) -> list[int]:
        rows: Iterable[int] = range(len(self.unit_of))
        for name, values in conditions.items():
            has = self.judgements[name].places(values)
            rows = [row for row in rows if has[row]]
        return list(rows)

    def words(self, wanted: Filter, names: Mapping[str, str] | None = None) -> str:
        """What the units of a figure have in common, in words; `names` are those of people, by their pseudonyms."""
        clauses = [self._condition(self.columns[name], values) for name, values in wanted.units.items()]
        for one in wanted.judgements:
            parts = [
                self._condition(self.judgements[name], values, names if name == RATER else None)
                for name, values in one.items()
                if name.partition(".")[0] != COUNTS
            ]
            clauses.append(f"a judgement with {', '.join(parts)}" if parts else "a judgement")
        if wanted.pair:
            clauses.append("of these two " + {"same": "the same label", "other": "different labels"}[wanted.pair])
        return "; ".join(clauses) or "all units"

    @staticmethod
    def _condition(column: CodedColumn, values: Values, names: Mapping[str, str] | None = None) -> str:
        values = (values,) if isinstance(values, str) else values
        if len(values) > 1 and set(values) == set(column.values):
            return column.title
        titles = [(names or {}).get(value) or column.title_of(value) for value in values]
        return f"{column.title}: {' or '.join(titles)}" if any(titles) else column.title

    def runs_of(self, wanted: Filter) -> list[str]:
        """UUIDs of the runs whose answers are shown with the figure's items."""
        return list(dict.fromkeys(filter(None, (*self.runs, *self._runs_named(wanted)))))

    def _runs_named(self, wanted: Filter) -> list[str]:
        of_units = [self.columns[name].run for name in wanted.units]
        return of_units + [self.judgements[name].run for one in wanted.judgements for name in one]

    def decisions_of(self, wanted: Filter) -> str:
        """The method of the decisions that are shown with the figure's items; empty for none."""
        named = (self.columns[name].decisions for name in wanted.units)
        return next(filter(None, named), self.decisions)

    def counting(self, wanted: Filter) -> str:
        """The column that says which judgements the figure counts: of the labels that its columns of units name, of the
        run that it names, or of the part of its judgements' columns (`closer.<part>`), where that has labels of its
        own."""
        judged = [self.columns[name].judged for name in wanted.units]
        parts = [name.partition(".")[2] for one in wanted.judgements for name in one]
        own = (f"{COUNTS}.{part}" for part in (*judged, *parts, *self._runs_named(wanted)))
        return next((name for name in own if name in self.judgements), COUNTS)

    @cached_property
    def _judgements_by_unit(self) -> dict[int, list[int]]:
        by_unit: dict[int, list[int]] = {}
        for row, place in enumerate(self.unit_of):
            by_unit.setdefault(place, []).append(row)
        return by_unit

    def judgements_on(self, unit: int, wanted: Filter = ALL) -> Iterator[dict[str, str]]:
        """Judgements on a unit, by column; a column that has no value for one is left out. Of a figure over some of the
        judgements, such as those of an arm, the others did not count and are left out."""
        parts = [{name: value for name, value in one.items() if name in self.parts} for one in wanted.judgements]
        for row in self._judgements_by_unit.get(self._place(unit), ()):
            by_judgement = {
                name: column.values[code]
                for name, column in self.judgements.items()
                if (code := column.codes[row]) >= 0
            }
            if not parts or any(_fits(by_judgement, part) for part in parts):
                yield by_judgement

    def _place(self, unit: int) -> int:
        return self._places_of_units[unit]

    @cached_property
    def _places_of_units(self) -> dict[int, int]:
        return {unit: place for place, unit in enumerate(self.units)}


def _fits(judgement: Mapping[str, str], conditions: Mapping[str, Values]) -> bool:
    return all(
        judgement.get(name) in ((values,) if isinstance(values, str) else values) for name, values in conditions.items()
    )


# ---- rows of whole numbers from -1 on, as text: little-endian bytes, compressed ----


def _packed(codes: Sequence[int]) -> list:
    if hasattr(codes, "astype"):  # an array of numpy, which only workers have
        shifted = codes.astype("q").clip(-1) + 1
        kind = _kind(int(shifted.max(initial=0)))
        content = shifted.astype(kind).tobytes()
    else:
        is_within = min(codes, default=0) >= -1
        shifted = [number + 1 for number in codes] if is_within else [max(number, -1) + 1 for number in codes]
        kind = _kind(max(shifted, default=0))
        content = array(kind, shifted).tobytes()
    return [kind, base64.b64encode(zlib.compress(content)).decode()]


def _kind(most: int) -> str:
    """The narrowest type of numbers, as `array` and numpy call it."""
    return next(kind for kind, size in (("B", 2**8), ("H", 2**16), ("Q", 2**64)) if most < size)


def _unpacked(packed: list) -> list[int]:
    kind, text = packed
    shifted = array(kind)
    shifted.frombytes(zlib.decompress(base64.b64decode(text)))
    return [number - 1 for number in shifted]


def _stored(column: CodedColumn) -> dict:
    stored = {"title": column.title, "values": list(column.values), "codes": _packed(column.codes), "run": column.run}
    stored |= {"decisions": column.decisions} if column.decisions else {}
    stored |= {"judged": column.judged} if column.judged else {}
    return stored | ({"titles": list(column.titles)} if column.titles != column.values else {})


def _read(data: dict) -> CodedColumn:
    values = tuple(data["values"])
    titles, codes = tuple(data.get("titles", values)), _unpacked(data["codes"])
    more = data["run"], data.get("decisions", ""), data.get("judged", "")
    return CodedColumn(data["title"], values, titles, codes, *more)
