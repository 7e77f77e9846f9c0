"""The one input of every agreement measure: who gave which label to what, in long form.

Long form (one row per label) knows no list positions, so any pattern of missing labels is as good as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of units by raters, coded as integers.

    Parameters
    ----------
    unit, rater, value : (n_labels,) int arrays
        Row i says that rater ``rater[i]`` gave unit ``unit[i]`` the label ``categories[value[i]]``. The order of the
        rows carries no meaning.
    n_units : int
        Units there are, those without any label included.
    categories : tuple of str
        Every label that could have been given. For ordinal measures their order is the scale's order.
    cluster : (n_units,) int array, optional
        What the units come in (the claim of a claim-evidence pair). Intervals then resample clusters, because units of
        one cluster are not independent.
    exchangeable : bool
        The rater's number is only a slot (third vote of five) and names nobody. Figures about a particular rater are
        then refused.
    unit_names, rater_names : tuple of str, optional
        Names behind the codes, for messages and for picking a rater by name.

    Raises
    ------
    ValueError
        Columns of different lengths, codes out of range, repeated categories, or a unit labelled twice by one rater.
    """

    unit: np.ndarray
    rater: np.ndarray
    value: np.ndarray
    n_units: int
    categories: tuple[str, ...]
    cluster: np.ndarray | None = None
    exchangeable: bool = False
    unit_names: tuple[str, ...] = ()
    rater_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("unit", "rater", "value"):
            object.__setattr__(self, name, _int_column(getattr(self, name), name))
        if not len(self.unit) == len(self.rater) == len(self.value):
            raise ValueError("unit, rater and value differ in length")
        if len(set(self.categories)) != len(self.categories):
            raise ValueError(f"categories repeat: {list(self.categories)}")
        _check_range(self.unit, self.n_units, "unit")
        _check_range(self.value, len(self.categories), "value")
        _check_range(self.rater, self.n_raters, "rater")
        if self.cluster is not None:
            object.__setattr__(self, "cluster", _int_column(self.cluster, "cluster"))
            if len(self.cluster) != self.n_units:
                raise ValueError(f"cluster has {len(self.cluster)} entries for {self.n_units} units")
        self._refuse_duplicates()

    @classmethod
    def from_columns(
        cls,
        unit: Sequence,
        rater: Sequence,
        value: Sequence,
        categories: Sequence[str],
        cluster: Sequence | None = None,
        exchangeable: bool = False,
        units: Iterable | None = None,
    ) -> Labels:
        """Code parallel columns of strings or integers, one row per label.

        Parameters
        ----------
        unit, rater, value, cluster : sequences of equal length
            Names of any hashable kind. `value` is compared with `categories` as text, so the integer 3 is the label
            ``"3"``. `cluster` belongs to the row's unit and must be the same in all its rows.
        categories : sequence of str
            In the scale's order.
        units : iterable, optional
            Every unit there is, to count those that nobody labelled (their cluster is -1). By default the units are
            those with a row.

        Raises
        ------
        ValueError
            An unknown or missing label (leave out the row of a missing label), a missing unit or rater, two units or
            raters that are written alike (1 and "1"), a unit in two clusters, a unit outside `units`, or a unit
            labelled twice by one rater; each named.

        Examples
        --------
        >>> labels = Labels.from_columns(["a", "a", "b"], ["x", "y", "x"], ["yes", "no", "no"], ["no", "yes"])
        >>> labels.n_units, labels.n_raters, labels.value.tolist()
        (2, 2, [1, 0, 0])
        """
        categories = tuple(str(category) for category in categories)
        if not len(unit) == len(rater) == len(value):
            raise ValueError("unit, rater and value differ in length")
        coded_value = encode(value, categories)
        if len(coded_value) and coded_value.min() < 0:
            row = int(np.argmin(coded_value))
            raise ValueError(f"unit {unit[row]!r}, rater {rater[row]!r}: no label; leave the row out")
        known_units = dict.fromkeys(units) if units is not None else {}
        unit_index = {name: code for code, name in enumerate(known_units)}
        coded_unit = _number(unit, unit_index)
        if units is not None and len(unit_index) > len(known_units):
            raise ValueError(f"unit {list(unit_index)[len(known_units)]!r} is not among the units")
        rater_index: dict = {}
        coded_rater = _number(rater, rater_index)
        unit_names, rater_names = _names(unit_index, unit, "unit"), _names(rater_index, rater, "rater")
        return cls(
            unit=coded_unit,
            rater=coded_rater,
            value=coded_value,
            n_units=len(unit_index),
            categories=categories,
            cluster=None if cluster is None else _cluster_of_units(coded_unit, cluster, list(unit_index)),
            exchangeable=exchangeable,
            unit_names=unit_names,
            rater_names=rater_names,
        )

    @property
    def n_labels(self) -> int:
        return len(self.value)

    @property
    def n_raters(self) -> int:
        return max(len(self.rater_names), int(self.rater.max()) + 1 if len(self.rater) else 0)

    def rater_code(self, rater: int | str) -> int:
        """Code of a rater given by code or by name; ValueError where there is none or raters are exchangeable."""
        self.refuse_exchangeable()
        if isinstance(rater, str):
            if rater not in self.rater_names:
                raise ValueError(f"no rater {rater!r}")
            return self.rater_names.index(rater)
        if not 0 <= rater < self.n_raters:
            raise ValueError(f"no rater {rater}; there are {self.n_raters}")
        return int(rater)

    def refuse_exchangeable(self) -> None:
        """ValueError where a rater's number names nobody; called by figures about particular raters."""
        if self.exchangeable:
            raise ValueError("raters are exchangeable: a rater's number names nobody, so there is no figure per rater")

    def rater_name(self, code: int) -> str:
        return self.rater_names[code] if self.rater_names else str(code)

    def unit_name(self, code: int) -> str:
        return self.unit_names[code] if self.unit_names else str(code)

    def select_units(self, keep: np.ndarray) -> Labels:
        """Labels of some units only (one source, one stratum), the units numbered anew.

        Parameters
        ----------
        keep : (n_units,) bool array
        """
        keep = np.asarray(keep, dtype=bool)
        if keep.shape != (self.n_units,):
            raise ValueError(f"keep has shape {keep.shape}; there are {self.n_units} units")
        rows = keep[self.unit]
        return replace(
            self,
            unit=(np.cumsum(keep) - 1)[self.unit[rows]],
            rater=self.rater[rows],
            value=self.value[rows],
            n_units=int(keep.sum()),
            cluster=None if self.cluster is None else self.cluster[keep],
            unit_names=tuple(np.asarray(self.unit_names, dtype=object)[keep]) if self.unit_names else (),
            rater_names=self.rater_names or tuple(str(code) for code in range(self.n_raters)),
        )

    def _refuse_duplicates(self) -> None:
        pair = self.unit.astype(np.int64) * max(self.n_raters, 1) + self.rater
        # Counting beats sorting as long as the table of all units by all raters is not much larger than the labels.
        if self.n_units * self.n_raters <= 8 * self.n_labels + 1_000_000:
            times = np.bincount(pair)
            repeated = np.flatnonzero(times > 1)
        else:
            pairs, times = np.unique(pair, return_counts=True)
            repeated = pairs[times > 1]
        if len(repeated):
            unit, rater = divmod(int(repeated[0]), self.n_raters)
            more = f" (and {len(repeated) - 1} more)" if len(repeated) > 1 else ""
            raise ValueError(f"unit {self.unit_name(unit)!r} is labelled twice by {self.rater_name(rater)!r}{more}")


def encode(values: Sequence, categories: Sequence[str]) -> np.ndarray:
    """Codes of label values: positions in `categories`, -1 for None.

    Parameters
    ----------
    values : sequence of str, int or None
        Compared as text.
    categories : sequence of str

    Returns
    -------
    (n,) int32 array

    Raises
    ------
    ValueError
        A value that is not a category, with the known ones.

    Examples
    --------
    >>> encode(["yes", None, "no"], ["no", "yes"]).tolist()
    [1, -1, 0]
    """
    code: dict = {str(category): position for position, category in enumerate(categories)}
    code[None] = -1
    try:
        return np.fromiter((code[v if v is None else str(v)] for v in values), dtype=np.int32, count=len(values))
    except KeyError as error:
        raise ValueError(f"unknown label {error.args[0]!r}; known are {list(categories)}") from None


def code_column(codes: Sequence[int] | np.ndarray, n_categories: int, name: str) -> np.ndarray:
    """Check a column of codes in which -1 means 'none', and return it as an int array."""
    column = _int_column(codes, name)
    if len(column) and (column.min() < -1 or column.max() >= n_categories):
        raise ValueError(f"{name} has codes outside -1..{n_categories - 1}")
    return column


def _number(names: Sequence, index: dict) -> np.ndarray:
    """Number names in order of appearance, adding to `index`."""
    names = names.tolist() if isinstance(names, np.ndarray) else names
    return np.fromiter((index.setdefault(name, len(index)) for name in names), dtype=np.int32, count=len(names))


def _names(index: dict, column: Sequence, what: str) -> tuple[str, ...]:
    """Names as text. Missing ones, and two that only differ in kind, would tell apart what is the same."""
    names = tuple(str(name) for name in index)
    for name in index:
        if name is None or name != name:
            row = next(row for row, other in enumerate(column, 1) if other is name or other != other)
            raise ValueError(f"row {row} has no {what}")
    if len(set(names)) < len(names):
        first: dict[str, object] = {}
        for name, text in zip(index, names, strict=True):
            if first.setdefault(text, name) is not name:
                raise ValueError(f"{what} {first[text]!r} and {what} {name!r} are written alike; give names as text")
    return names


def _cluster_of_units(coded_unit: np.ndarray, cluster: Sequence, unit_names: list) -> np.ndarray:
    if len(cluster) != len(coded_unit):
        raise ValueError("cluster and unit differ in length")
    coded = _number(cluster, {})
    unit_cluster = np.full(len(unit_names), -1, dtype=np.int32)
    unit_cluster[coded_unit] = coded
    contradicting = np.flatnonzero(unit_cluster[coded_unit] != coded)
    if len(contradicting):
        raise ValueError(f"unit {unit_names[coded_unit[contradicting[0]]]!r} is in two clusters")
    return unit_cluster


def _int_column(column: Sequence[int] | np.ndarray, name: str) -> np.ndarray:
    array = np.asarray(column)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if array.size == 0:
        return array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integer codes, not {array.dtype}; see Labels.from_columns and encode")
    return array


def _check_range(column: np.ndarray, limit: int, name: str) -> None:
    if len(column) and (column.min() < 0 or column.max() >= limit):
        raise ValueError(f"{name} has codes outside 0..{limit - 1}")
