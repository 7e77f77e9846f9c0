"""The one input of every agreement measure: who gave which label to what, in long form.

Long form (one row per label) knows no list positions, so any pattern of missing labels is as good as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    has_order : bool
        Whether the order of the categories is that of a scale. Where it was guessed from texts it is not, and ordinal
        measures are refused.

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
    has_order: bool = True

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

    @classmethod
    def from_long(
        cls,
        table: Mapping[str, Sequence],
        unit: str = "unit",
        rater: str = "rater",
        label: str = "label",
        *,
        categories: Sequence | None = None,
        cluster: str | None = None,
        exchangeable: bool = False,
    ) -> Labels:
        """A table with a row per label, such as a DataFrame.

        Parameters
        ----------
        table : DataFrame, or mapping of columns
        unit, rater, label, cluster : str
            Names of columns. A row whose label is missing (None, nan, an empty text) counts for its unit and gives no
            label.
        categories : sequence, optional
            In the scale's order. By default those that occur: numbers and truth values in their order, an ordered
            pandas categorical in its own. Texts are sorted, which is no scale, and ordinal measures then refuse.
        exchangeable : bool
            See `Labels`.

        Raises
        ------
        ValueError
            A missing column, or what `from_columns` refuses.

        Examples
        --------
        >>> table = {"unit": ["a", "a", "b"], "rater": ["x", "y", "x"], "label": [3, 1.0, None]}
        >>> labels = Labels.from_long(table)
        >>> labels.categories, labels.n_units, labels.n_labels
        (('1', '3'), 2, 2)
        """
        columns = {name: _column(table, name) for name in filter(None, (unit, rater, label, cluster))}
        values = [_label_text(value) for value in columns[label]]
        known, has_order = _categories(getattr(table[label], "dtype", None), columns[label], categories)
        places = [place for place, value in enumerate(values) if value is not None]
        made = cls.from_columns(
            [columns[unit][place] for place in places],
            [columns[rater][place] for place in places],
            [values[place] for place in places],
            known,
            exchangeable=exchangeable,
            units=columns[unit],
        )
        if cluster:
            code = {name: place for place, name in enumerate(dict.fromkeys(columns[unit]))}
            coded = np.array([code[name] for name in columns[unit]], dtype=np.int32)
            made = replace(made, cluster=_cluster_of_units(coded, columns[cluster], list(code)))
        return replace(made, has_order=has_order)

    @classmethod
    def from_wide(
        cls,
        table: Mapping[str, Sequence],
        raters: Sequence[str],
        *,
        unit: str | None = None,
        categories: Sequence | None = None,
        cluster: str | None = None,
        exchangeable: bool = False,
    ) -> Labels:
        """A table with a row per unit and a column per rater, such as a DataFrame.

        Parameters
        ----------
        table : DataFrame, or mapping of columns
        raters : sequence of str
            The columns with labels, which name the raters. Missing labels are None, nan or an empty text.
        unit, cluster : str, optional
            Columns that name the units and what they come in; without `unit`, units are called by their row, from 0.
        categories, exchangeable
            As in `from_long`.

        Examples
        --------
        >>> labels = Labels.from_wide({"ann": ["yes", "no"], "ben": ["yes", None]}, ["ann", "ben"])
        >>> labels.categories, labels.rater_names, labels.n_labels, labels.has_order
        (('no', 'yes'), ('ann', 'ben'), 3, False)
        """
        if not raters:
            raise ValueError("name the columns of at least one rater")
        columns = [_column(table, name) for name in raters]
        names = _column(table, unit) if unit else list(range(len(columns[0])))
        if len(set(map(str, names))) < len(names):
            raise ValueError(f"the column {unit!r} names a unit twice; a wide table has a row per unit")
        long = {
            "unit": names * len(columns),
            "rater": [name for name, column in zip(raters, columns, strict=True) for _ in column],
            "label": [value for column in columns for value in column],
        }
        dtypes = {str(getattr(table[name], "dtype", "")): getattr(table[name], "dtype", None) for name in raters}
        if categories is None and len(dtypes) == 1:
            categories = _ordered_categories(*dtypes.values())
        if cluster:
            long["cluster"] = _column(table, cluster) * len(columns)
        return cls.from_long(
            long, categories=categories, cluster="cluster" if cluster else None, exchangeable=exchangeable
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: Sequence[Sequence] | np.ndarray,
        *,
        categories: Sequence | None = None,
        cluster: Sequence | None = None,
        rater_names: Sequence[str] = (),
        exchangeable: bool = False,
    ) -> Labels:
        """A matrix of labels, (n_units, n_raters), missing ones nan or None; transpose one with a row per rater.

        Examples
        --------
        >>> labels = Labels.from_matrix([[1, 1], [2, np.nan], [3, 2]])
        >>> labels.categories, labels.n_units, labels.n_labels
        (('1', '2', '3'), 3, 5)
        """
        rows = [list(row) for row in matrix]
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise ValueError(f"the rows of the matrix have {sorted(widths)} labels; every rater has a column in each")
        names = list(rater_names) or [str(place) for place in range(widths.pop())]
        if len(names) != len(rows[0]):
            raise ValueError(f"{len(names)} names for {len(rows[0])} raters")
        table = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        if len(table) < len(names):
            raise ValueError(f"rater names repeat: {names}")
        made = cls.from_wide(table, names, categories=categories, exchangeable=exchangeable)
        if cluster is None:
            return made
        return replace(made, cluster=_cluster_of_units(np.arange(len(rows)), cluster, list(range(len(rows)))))

    @classmethod
    def of_two(
        cls,
        first: np.ndarray,
        second: np.ndarray,
        categories: tuple[str, ...],
        cluster: np.ndarray | None = None,
        rater_names: tuple[str, ...] = (),
    ) -> Labels:
        """Two raters' codes of the same units, -1 where there is no label.

        Examples
        --------
        >>> labels = Labels.of_two(np.array([0, 1, 1]), np.array([0, -1, 0]), ("no", "yes"))
        >>> labels.unit.tolist(), labels.rater.tolist()
        ([0, 1, 2, 0, 2], [0, 0, 0, 1, 1])
        """
        labelled = [np.flatnonzero(codes >= 0) for codes in (first, second)]
        return cls(
            unit=np.concatenate(labelled),
            rater=np.repeat([0, 1], [len(units) for units in labelled]),
            value=np.concatenate([first[labelled[0]], second[labelled[1]]]),
            n_units=len(first),
            categories=categories,
            cluster=cluster,
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

    def refuse_unordered(self, weights: str | None) -> None:
        """ValueError where the measure needs the scale's order and the categories' order was guessed."""
        if weights not in (None, "nominal") and not self.has_order:
            raise ValueError(
                f"{weights} distances need the categories in the scale's order, and these were guessed from texts: "
                f"give categories=, lowest first, in place of {list(self.categories)}"
            )

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
        raise ValueError(f"unknown label {shortened(repr(error.args[0]))}; known are {some_of(categories)}") from None


MOST_NAMED, MOST_CHARACTERS = 10, 60


def some_of(names: Iterable) -> str:
    """The first names of many, each in short: a message is no place for a data set.

    >>> some_of(["no", "yes"]), some_of(range(12))
    ("'no', 'yes'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    every = list(names)
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return f"{', '.join(shortened(repr(one)) for one in every[:MOST_NAMED])}{more}"


def shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."


def code_column(codes: Sequence[int] | np.ndarray, n_categories: int, name: str) -> np.ndarray:
    """Check a column of codes in which -1 means 'none', and return it as an int array."""
    column = _int_column(codes, name)
    if len(column) and (column.min() < -1 or column.max() >= n_categories):
        raise ValueError(f"{name} has codes outside -1..{n_categories - 1}")
    return column


def _column(table: Mapping[str, Sequence], name: str) -> list:
    """A column as a list of Python values, None where pandas has something missing."""
    if not hasattr(table, "keys"):
        raise ValueError(
            f"a table is a DataFrame or a dict of columns, not {type(table).__name__}; pandas.DataFrame(rows) makes one"
        )
    if name not in table:
        columns = some_of(table.keys())
        raise ValueError(f"there is no column {shortened(repr(name))}; the columns are {columns}")
    column = table[name]
    if hasattr(column, "isna"):
        return [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _label_text(value: object) -> str | None:
    """A label as text, None where it is missing. A column with gaps turns 3 into 3.0, which is the label 3."""
    if value is None or value != value:
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value) or None


def _ordered_categories(dtype: object) -> list | None:
    """Those of an ordered pandas categorical."""
    return list(dtype.categories) if getattr(dtype, "ordered", False) else None


def _categories(dtype: object, values: Sequence, categories: Sequence | None) -> tuple[tuple[str, ...], bool]:
    """The categories, and whether they are in a scale's order."""
    categories = categories if categories is not None else _ordered_categories(dtype)
    if categories is not None:
        return tuple(_label_text(one) or "" for one in categories), True
    by_text = {text: value for value in values if (text := _label_text(value)) is not None}
    are_numbers = all(isinstance(value, int | float | np.number | np.bool_) for value in by_text.values())
    order = sorted(by_text, key=by_text.__getitem__) if are_numbers else sorted(by_text)
    return tuple(order), are_numbers


def _number(names: Sequence, index: dict) -> np.ndarray:
    """Number names in order of appearance, adding to `index`."""
    names = names.tolist() if hasattr(names, "tolist") else names
    for name in dict.fromkeys(names):
        index.setdefault(name, len(index))
    return np.fromiter(map(index.__getitem__, names), dtype=np.int32, count=len(names))


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
